"""Hypothesis strategies that all tests share: column types, texts of values, tables, partitions."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from functools import cache

from hypothesis import strategies as st

from hbstore.keys.row_key import NULL_PARTITION
from hbstore.keys.types import (
    BooleanType,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    StringType,
    TimestampType,
    parse_type,
)
from hbstore.model.objects import (
    Column,
    Database,
    Grant,
    Order,
    Partition,
    Privileges,
    SerDe,
    Skew,
    StorageDescriptor,
    Table,
)

TYPE_TEXTS = (
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "string",
    "varchar(5)",
    "char(3)",
    "date",
    "timestamp",
    "boolean",
    "float",
    "double",
    "decimal(10,0)",
    "decimal(10,2)",
    "decimal(38,0)",
    "decimal(38,38)",
)

unicode_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
"""Any text that UTF-8 can carry."""

key_text = st.text(st.sampled_from(["\0", "\x01", "\x04", "a", "b", "é", "\uffff", "\U0010ffff"]), max_size=5)
"""Texts made of few characters at the edges of the encoding, so that prefixes of each other are common."""

names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
optional_text = st.none() | unicode_text
int32s = st.integers(-(2**31), 2**31 - 1)

column_types = st.sampled_from(TYPE_TEXTS).map(parse_type)

# Strategies are made once: a new one is validated and analysed at its first draw, which takes longer than to draw.


@cache
def valid_texts(column_type: ColumnType) -> st.SearchStrategy[str]:  # noqa: PLR0911  one for each type
    """Texts that parse as the type, canonical or not."""
    match column_type:
        case IntegerType(_, bits):
            return _integer_texts(bits)
        case StringType(_, limit):
            texts = key_text | unicode_text
            return texts.map(lambda text: text[:limit]).filter(lambda text: text != NULL_PARTITION)
        case DateType():
            return st.dates().map(str) | st.dates().map(lambda day: f"{day.year:04d}-{day.month}-{day.day}")
        case TimestampType():
            return _timestamp_texts()
        case BooleanType():
            return st.sampled_from(["true", "false", "TRUE", "False"])
        case DecimalType(precision, scale):
            return _decimal_texts(precision, scale)
        case FloatType():
            return _float_texts()
        case _:
            raise AssertionError(column_type)


@cache
def invalid_texts(column_type: ColumnType) -> st.SearchStrategy[str]:
    """Texts that do not parse as the type, and are not the null partition. Empty for string: all texts parse."""
    some = st.sampled_from([" ", "null", "1 ", "2013-13-01", "1e", "--1", "300000000000000000000", "9" * 60, "x\0"])
    return (some | key_text | unicode_text).filter(
        lambda text: text not in ("", NULL_PARTITION) and not _parses(column_type, text)
    )


_SPELLINGS: dict[str, list[str]] = {
    "date": ["{} 00:00:00", "{}T05:06:07", " {}", "{} "],
    "timestamp": [" {}", "{} "],
    "boolean": [" {}", "{}\n", "t", "f", "YES", "n", "1", "0"],
    "int": ["{}.0", "{}.5", "{}.", " {}", "{}\n"],
}


@cache
def respelled_texts(column_type: ColumnType) -> st.SearchStrategy[str]:
    """Texts that do not parse as the type, of which engines read a value all the same. Empty for text types."""
    if isinstance(column_type, StringType):
        return st.nothing()
    spellings = _SPELLINGS.get("int" if isinstance(column_type, IntegerType) else column_type.name, [" {}", "{} "])
    written = st.builds(str.format, st.sampled_from(spellings), valid_texts(column_type))
    return written.filter(lambda text: not _parses(column_type, text) and column_type.read(text) is not None)


@cache
def texts(column_type: ColumnType) -> st.SearchStrategy[str]:
    """Any text of a partition value: mostly valid, sometimes respelled or none, sometimes the null partition."""
    valid = valid_texts(column_type)
    others = st.sampled_from([NULL_PARTITION, ""]) | respelled_texts(column_type)
    if column_type.name != "string":
        others |= invalid_texts(column_type)
    return st.one_of(valid, valid, valid, others)


def _parses(column_type: ColumnType, text: str) -> bool:
    try:
        column_type.parse(text)
    except ValueError:
        return False
    return True


def _integer_texts(bits: int) -> st.SearchStrategy[str]:
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    edges = st.sampled_from([low, low + 1, -1, 0, 1, high - 1, high])
    numbers = st.integers(low, high) | edges
    signed = numbers.filter(lambda number: number >= 0).map(lambda number: f"+{number}")
    padded = st.builds(
        lambda number, zeros: f"{'-' * (number < 0)}{'0' * zeros}{abs(number)}", numbers, st.integers(0, 30)
    )
    return st.one_of(numbers.map(str), signed, padded)


def _timestamp_texts() -> st.SearchStrategy[str]:
    moments = st.datetimes(min_value=dt.datetime(1, 1, 1), max_value=dt.datetime(9999, 12, 31))  # noqa: DTZ001
    nanoseconds = st.integers(1, 999_999_999).map(lambda number: f"{number:09d}")
    plain = moments.map(lambda moment: moment.replace(microsecond=0).isoformat(" "))
    exact = st.builds(lambda text, decimals: f"{text}.{decimals}", plain, nanoseconds)
    return st.one_of(plain, exact, plain.map(lambda text: text.replace(" ", "T")), st.dates().map(str))


def _decimal_texts(precision: int, scale: int) -> st.SearchStrategy[str]:
    limit = 10**precision - 1
    unscaled = st.integers(-limit, limit) | st.sampled_from([-limit, -1, 0, 1, limit])

    def plain(number: int) -> str:
        digits = str(abs(number)).rjust(scale + 1, "0")
        whole, decimals = digits[: len(digits) - scale], digits[len(digits) - scale :]
        return f"{'-' * (number < 0)}{whole}{'.' * (scale > 0)}{decimals}"

    return unscaled.map(plain) | unscaled.map(lambda number: f"{number}E-{scale}")


def _float_texts() -> st.SearchStrategy[str]:
    edges = st.sampled_from(
        ["NaN", "Infinity", "-Infinity", "-0.0", "0", "1e-320", "-1e400", "3.4028235e38", ".5", "5."]
    )
    return (
        st.floats(allow_nan=False, allow_infinity=False).map(repr)
        | st.floats(width=32, allow_nan=False, allow_infinity=False).map(repr)
        | edges
    )


@cache
def tables(min_columns: int = 0, max_columns: int = 4) -> st.SearchStrategy[Table]:
    """Tables with that many partition columns, of any types, and nothing else but a location."""
    types = st.lists(st.sampled_from(TYPE_TEXTS), min_size=min_columns, max_size=max_columns)
    columns = types.map(lambda some: [Column(f"p{at}", text) for at, text in enumerate(some)])
    return st.builds(Table, names, names, partition_columns=columns, location=st.sampled_from([None, "s3://b/t"]))


def partition_values(table: Table) -> st.SearchStrategy[tuple[str, ...]]:
    """Values of one partition of a table."""
    return _values_of(tuple(table.key_types))


@cache
def _values_of(types: tuple[ColumnType, ...]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.tuples(*map(texts, types))


parameters = st.dictionaries(unicode_text, unicode_text, max_size=3)
columns = st.builds(Column, names, st.sampled_from(["int", "array<string>", "struct<a:int,b:string>"]), optional_text)
serdes = st.builds(SerDe, optional_text, optional_text, parameters)
skews = st.builds(
    Skew,
    st.lists(names, max_size=2),
    st.lists(st.lists(unicode_text, max_size=2), max_size=2),
    st.dictionaries(st.lists(unicode_text, max_size=2).map(tuple), unicode_text, max_size=2),
)
grants = st.builds(Grant, unicode_text, int32s, optional_text, st.none() | st.integers(1, 3), st.booleans())
_granted = st.dictionaries(unicode_text, st.lists(grants, max_size=2), max_size=2)
privileges = st.builds(Privileges, _granted, _granted, _granted)
storages = st.builds(
    StorageDescriptor,
    columns=st.lists(columns, max_size=3),
    input_format=optional_text,
    output_format=optional_text,
    compressed=st.booleans(),
    num_buckets=int32s,
    serde=serdes,
    bucket_columns=st.lists(names, max_size=2),
    sort_columns=st.lists(st.builds(Order, names, st.integers(0, 1)), max_size=2),
    parameters=parameters,
    skew=st.none() | skews,
    stored_as_sub_directories=st.booleans(),
)
databases = st.builds(
    Database,
    names,
    description=optional_text,
    location=optional_text,
    parameters=parameters,
    owner=optional_text,
    owner_type=st.none() | st.integers(1, 3),
    privileges=st.none() | privileges,
)


_data_columns = st.lists(columns, max_size=3, unique_by=lambda column: column.name).filter(
    lambda some: not {column.name for column in some} & {"p0", "p1", "p2", "p3"}
)
_table_types = st.sampled_from(["MANAGED_TABLE", "EXTERNAL_TABLE", "VIRTUAL_VIEW"])
_optional_storages = st.none() | storages
_optional_privileges = st.none() | privileges
_optional_flags = st.none() | st.booleans()


@st.composite
def full_tables(draw: st.DrawFn, min_columns: int = 0) -> Table:
    """Tables with every field drawn."""
    table = draw(tables(min_columns))
    data = draw(_data_columns)
    return Table(
        table.database,
        table.name,
        table.partition_columns,
        data,
        location=draw(optional_text),
        parameters=draw(parameters),
        owner=draw(optional_text),
        table_type=draw(_table_types),
        storage=replace(draw(storages), columns=()),
        create_time=draw(int32s),
        last_access_time=draw(int32s),
        retention=draw(int32s),
        view_original_text=draw(optional_text),
        view_expanded_text=draw(optional_text),
        privileges=draw(_optional_privileges),
        temporary=draw(st.booleans()),
        rewrite_enabled=draw(_optional_flags),
    )


@st.composite
def full_partitions(draw: st.DrawFn, table: Table) -> Partition:
    """Partitions of a table with every field drawn."""
    return Partition(
        draw(partition_values(table)),
        location=draw(optional_text),
        parameters=draw(parameters),
        create_time=draw(int32s),
        last_access_time=draw(int32s),
        storage=draw(_optional_storages),
        privileges=draw(_optional_privileges),
    )
