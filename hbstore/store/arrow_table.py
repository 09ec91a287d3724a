"""Partitions as rows of Arrow: their values in the types of the partition columns, and what they say of their files."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Final, TypeAlias

from hbstore.extras import check_extra
from hbstore.keys.row_key import NULL_PARTITION
from hbstore.keys.types import (
    BooleanType,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    StringType,
    read_value,
)
from hbstore.model.objects import Partition, Table

if TYPE_CHECKING:
    import pyarrow as pa

Cell: TypeAlias = "str | int | float | bool | Decimal | dt.date | None"
"""A value as Arrow takes it; a timestamp is in microseconds since 1970-01-01 00:00:00."""

STATISTICS: Final = {"num_rows": "numRows", "total_size": "totalSize", "num_files": "numFiles"}
"""Columns and the parameters that they are read from."""
MICROSECONDS: Final = 1_000_000
_MICROSECOND: Final = 1_000  # nanoseconds
_MAX_LONG: Final = (1 << 63) - 1


def arrow_table(table: Table, partitions: Sequence[Partition]) -> pa.Table:
    """A row for each partition: its values, then location, create_time and `STATISTICS`. O(n).

    Columns that have the name of a partition column give way, as `free_names` says. The null partition, what is no
    value of its column's type, and what a partition does not say are null.

    Raises:
        MissingPackage: pyarrow is not installed.

    >>> arrow_table(sales.definition, []).column_names
    ['ds', 'hour', 'location', 'create_time', 'num_rows', 'total_size', 'num_files']
    """
    check_extra("client", "a table of Arrow")
    import pyarrow as pa

    types = [arrow_type(kind) for kind in table.key_types] + [pa.string(), pa.timestamp("s", "UTC")]
    types += [pa.int64()] * len(STATISTICS)
    columns = [
        _values(kind, (partition.values[at] for partition in partitions)) for at, kind in enumerate(table.key_types)
    ]
    columns.append([partition.location for partition in partitions])
    columns.append([partition.create_time or None for partition in partitions])
    columns += [[count(partition.parameters.get(name)) for partition in partitions] for name in STATISTICS.values()]
    names = table.partition_column_names
    names += tuple(free_names(names, ("location", "create_time", *STATISTICS)))
    return pa.table(list(map(pa.array, columns, types)), schema=pa.schema(zip(names, types, strict=True)))


def free_names(taken: Iterable[str], names: Iterable[str]) -> Iterator[str]:
    """Names of columns beside partition columns, before which they give way.

    >>> list(free_names(["Location", "hour"], ["location", "num_rows"]))
    ['hbstore_location', 'num_rows']
    """
    lowered = {name.lower() for name in taken}
    for name in names:
        free = name
        while free in lowered:
            free = f"hbstore_{free}"
        lowered.add(free)
        yield free


def cell_reader(kind: ColumnType) -> Callable[[str], Cell]:
    """What reads a column's texts as Arrow takes them; None for the null partition and what is no value.

    >>> from hbstore.keys.types import parse_type
    >>> read = cell_reader(parse_type("decimal(10,2)"))
    >>> read("5"), read("five")
    (Decimal('5.00'), None)
    """

    def read(text: str) -> Cell:
        if text == NULL_PARTITION:
            return None
        value = read_value(kind, text)
        if value is None:
            return None
        if isinstance(kind, DecimalType):
            value = kind.decode(kind.encode(value))  # with all the decimals of the type
        if isinstance(value, tuple):
            return value[0] * MICROSECONDS + value[1] // _MICROSECOND
        return value

    return read


def count(text: str | None) -> int | None:
    """A number of rows, bytes or files; None for what is no such number, as Hive's -1.

    >>> count("7"), count("-1"), count(None)
    (7, None, None)
    """
    if text is None or not (text.isascii() and text.isdecimal()):
        return None
    number = int(text) if len(text) <= len(str(_MAX_LONG)) else _MAX_LONG + 1
    return number if number <= _MAX_LONG else None


def _values(kind: ColumnType, texts: Iterable[str]) -> list[Cell]:
    """A partition column; the same few texts come again and again."""
    read, by_text = cell_reader(kind), dict[str, Cell]()
    cells: list[Cell] = []
    for text in texts:
        if text not in by_text:
            by_text[text] = read(text)
        cells.append(by_text[text])
    return cells


def arrow_type(kind: ColumnType) -> pa.DataType:  # noqa: PLR0911  one line for each type
    """The type of a partition column in Arrow.

    >>> from hbstore.keys.types import parse_type
    >>> arrow_type(parse_type("decimal(10,2)"))
    Decimal128Type(decimal128(10, 2))
    """
    import pyarrow as pa

    match kind:
        case IntegerType():
            return {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[kind.bits]
        case StringType():
            return pa.string()
        case DateType():
            return pa.date32()
        case BooleanType():
            return pa.bool_()
        case DecimalType():
            return pa.decimal128(kind.precision, kind.scale)
        case FloatType():
            return {4: pa.float32(), 8: pa.float64()}[kind.width]
        case _:
            return pa.timestamp("us")
