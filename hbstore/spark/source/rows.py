"""Partitions as Spark's rows: the columns, their types, and Arrow batches made from stored bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import types as spark_types

from hbstore.keys.types import (
    BooleanType,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    StringType,
)
from hbstore.model.layouts import STRINGS, SharedStorage
from hbstore.model.name_lists import partition_names
from hbstore.model.objects import Table
from hbstore.model.structs import UNREADABLE, decode_partition
from hbstore.store.arrow_table import MICROSECONDS, STATISTICS, Cell, arrow_type, cell_reader, count, free_names
from hbstore.thrift.wire import I32, STRING, MapOf, Struct

OWN: Final[dict[str, spark_types.DataType]] = {
    "location": spark_types.StringType(),
    "parameters": spark_types.MapType(spark_types.StringType(), spark_types.StringType()),
    "create_time": spark_types.TimestampType(),
    **dict.fromkeys(STATISTICS, spark_types.LongType()),
    "partition_name": spark_types.StringType(),
}
"""The columns behind the partition columns."""
_OWN_IN_ARROW: Final[dict[str, pa.DataType]] = {
    "location": pa.string(),
    "parameters": pa.map_(pa.string(), pa.string()),
    "create_time": pa.timestamp("us", "UTC"),
    **dict.fromkeys(STATISTICS, pa.int64()),
    "partition_name": pa.string(),
}
"""The same as Spark takes them; what PySpark has to translate types changes from version to version."""
PLAN: Final = "hbstore_plan"
"""The column that says how its row was read, where it is asked for."""

_INTEGERS: Final = {
    8: spark_types.ByteType(),
    16: spark_types.ShortType(),
    32: spark_types.IntegerType(),
    64: spark_types.LongType(),
}
_FLOATS: Final = {4: spark_types.FloatType(), 8: spark_types.DoubleType()}
_MAP: Final = MapOf(STRING, STRING)
_FIELDS: Final[Struct[dict[str, Any]]] = Struct(
    dict, {1: ("values", STRINGS), 4: ("create_time", I32), 6: ("storage", SharedStorage()), 7: ("parameters", _MAP)}
)
"""What is read of a Partition struct: the rest is passed over, and no objects are made."""


def source_schema(table: Table, *, plan: bool) -> spark_types.StructType:
    """The partition columns, then the source's own, which give way: ``hbstore_location`` beside a column ``location``.

    >>> from hbstore.model.objects import Column
    >>> table = Table("shop", "stores", partition_columns=[Column("Location", "string"), Column("hour", "int")])
    >>> source_schema(table, plan=False).names[:4]
    ['Location', 'hour', 'hbstore_location', 'parameters']
    """
    fields = [
        spark_types.StructField(one.name, _spark_type(kind))
        for one, kind in zip(table.partition_columns, table.key_types, strict=True)
    ]
    own = OWN | ({PLAN: spark_types.StringType()} if plan else {})
    free = free_names([one.name for one in fields], own)
    return spark_types.StructType([*fields, *map(spark_types.StructField, free, own.values())])


def _spark_type(kind: ColumnType) -> spark_types.DataType:  # noqa: PLR0911  one line for each type
    match kind:
        case IntegerType():
            return _INTEGERS[kind.bits]
        case StringType():
            return spark_types.StringType()
        case DateType():
            return spark_types.DateType()
        case BooleanType():
            return spark_types.BooleanType()
        case DecimalType():
            return spark_types.DecimalType(kind.precision, kind.scale)
        case FloatType():
            return _FLOATS[kind.width]
        case _:
            return spark_types.TimestampNTZType()


@dataclass(frozen=True, slots=True)
class ArrowRows:
    """Makes Arrow batches of stored partitions.

    Attributes:
        table: the table.
        plan: how they are read, for the column of that name; None where there is no such column.
    """

    table: Table
    plan: str | None = None
    _schema: pa.Schema = field(init=False, repr=False, compare=False)
    _known: list[dict[str, Cell]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = source_schema(self.table, plan=self.plan is not None).names
        types = [*map(arrow_type, self.table.key_types), *_OWN_IN_ARROW.values()]
        types += [pa.string()] * (len(names) - len(types))  # the plan
        object.__setattr__(self, "_schema", pa.schema(zip(names, types, strict=True)))
        object.__setattr__(self, "_known", [{} for _ in self.table.partition_columns])

    def batch(self, payloads: Sequence[bytes]) -> pa.RecordBatch:
        """One batch. O(bytes).

        Raises:
            CorruptRow: one of the payloads is no Partition struct.
        """
        rows = [_fields(payload) for payload in payloads]
        parameters = [row.get("parameters") or {} for row in rows]
        types = self._schema.types
        columns = [self._values(at, [row["values"] for row in rows]) for at in range(len(self._known))]
        at = len(columns)
        columns.append(pa.array([row.get("storage", (None, None))[1] for row in rows], types[at]))
        columns.append(_maps(parameters, types[at + 1]))
        times = [row.get("create_time", 0) * MICROSECONDS or None for row in rows]
        columns.append(pa.array(times, types[at + 2]))
        columns += [pa.array([count(one.get(name)) for one in parameters], pa.int64()) for name in STATISTICS.values()]
        columns.append(pa.array(partition_names(self.table.partition_column_names, payloads), pa.string()))
        if self.plan is not None:
            columns.append(pa.repeat(pa.scalar(self.plan, pa.string()), len(rows)))
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)

    def _values(self, column: int, values: Sequence[Sequence[str]]) -> pa.Array:
        """A partition column; the same few texts come again and again."""
        cached, read = self._known[column], cell_reader(self.table.key_types[column])
        cells: list[Cell] = []
        for row in values:
            text = row[column]
            if text not in cached:
                cached[text] = read(text)
            cells.append(cached[text])
        return pa.array(cells, self._schema.types[column])


def _fields(payload: bytes) -> dict[str, Any]:
    """The fields of a Partition struct that are wanted."""
    try:
        fields, end = _FIELDS.read(payload, 0)
    except UNREADABLE:
        fields, end = {}, -1
    if end != len(payload) or "values" not in fields:
        decode_partition(payload)  # raises CorruptRow, which says what is wrong
    return fields


def _maps(parameters: Sequence[dict[str, str]], kind: pa.DataType) -> pa.Array:
    keys: list[str] = []
    items: list[str] = []
    offsets = [0]
    for one in parameters:
        keys += one.keys()
        items += one.values()
        offsets.append(len(keys))
    return pa.MapArray.from_arrays(
        pa.array(offsets, pa.int32()), pa.array(keys, pa.string()), pa.array(items, pa.string()), type=kind
    )
