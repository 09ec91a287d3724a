"""Partition names: ``ds=2013-01-01/hour=5``, with Hive's escapes.

A partition name is the partition spec as a relative path. Hive writes the characters that a path cannot hold as % and
two hex digits (``FileUtils.escapePathName``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final, TypeVar

from hbstore.errors import InvalidInput, InvalidName, InvalidPartitionValue, did_you_mean
from hbstore.keys.row_key import NULL_PARTITION

T = TypeVar("T")

DEFAULT_DATABASE: Final = "default"
"""The database of those who name none, as in Hive; its folder is the warehouse itself."""

_ESCAPED = re.compile("[\x00-\x1f\"#%'*/:=?\\\\\x7f{\\[\\]^]")
_ESCAPES = re.compile("(?:%[89a-fA-F][0-9a-fA-F])+|%[0-7][0-9a-fA-F]")
_IDENTIFIER = re.compile(r"[A-Za-z0-9_]+\Z")


def escape_name(text: str) -> str:
    """A column name or value as it stands in a path.

    >>> escape_name("2013-01-01 00:00")
    '2013-01-01 00%3A00'
    """
    return _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", text)


def unescape_name(text: str) -> str:
    """The text that `escape_name` wrote, or another program.

    Arrow, DuckDB and Polars escape the bytes of UTF-8. Hive escapes no character from U+0080 on, so escapes that are
    UTF-8 together can be nothing else.

    >>> unescape_name("00%3A00"), unescape_name("caf%C3%A9")
    ('00:00', 'café')
    """
    return _ESCAPES.sub(_unescaped, text) if "%" in text else text


def _unescaped(escapes: re.Match[str]) -> str:
    data = bytes.fromhex(escapes[0].replace("%", ""))
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")  # as Hive reads all of them: each is a character


def partition_name(columns: Sequence[str], values: Sequence[str]) -> str:
    """The partition name of values, one for each column; an empty value is the null partition's.

    >>> partition_name(["ds", "hour"], ["2013-01-01", "5"])
    'ds=2013-01-01/hour=5'
    >>> partition_name(["ds"], [""])
    'ds=__HIVE_DEFAULT_PARTITION__'
    """
    return partition_namer(columns)(values)


def partition_namer(columns: Sequence[str]) -> Callable[[Sequence[str]], str]:
    """A function that gives partition names for these columns; a listing of names makes one and calls it often."""
    names = [escape_name(column) for column in columns]
    template = "/".join(f"{name.replace('%', '%%')}=%s" for name in names)

    def name_of(values: Sequence[str]) -> str:
        if _ESCAPED.search("".join(values)) is not None:
            values = [escape_name(value) for value in values]
        if "" in values:
            values = [value or NULL_PARTITION for value in values]
        if len(values) != len(names):
            raise ValueError(f"{len(values)} values for {len(names)} partition columns")
        return template % tuple(values)

    return name_of


def parse_partition_name(name: str) -> dict[str, str]:
    """Columns and values of a partition name, in its order; a partial one is taken too.

    Raises:
        InvalidPartitionValue: a part has no ``=`` or no value, or a column stands there twice.

    >>> parse_partition_name("ds=2013-01-01/hour=5")
    {'ds': '2013-01-01', 'hour': '5'}
    """
    spec: dict[str, str] = {}
    for part in name.strip("/").split("/"):
        column, found, value = part.partition("=")
        column = unescape_name(column)
        if not found or not column or column in spec:
            raise InvalidPartitionValue(
                "the text is not a partition name", name=name, part=part, hint="Write column=value/column=value"
            )
        if not value:
            raise InvalidPartitionValue(
                "incomplete partition name",
                name=name,
                missing=column,
                hint=f"Write {column}=value; the null partition is {column}={NULL_PARTITION}",
            )
        spec[column] = unescape_name(value)
    return spec


def name_reader(columns: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
    """A function that gives the values in a partition name, in the order of the partition columns.

    It raises InvalidPartitionValue where a name is malformed, or does not give all columns a value, once each, in any
    order and case.

    >>> read = name_reader(["ds", "hour"])
    >>> read("ds=2013-01-01/hour=5"), read("HOUR=5/ds=2013-01-01")
    (('2013-01-01', '5'), ('2013-01-01', '5'))
    """
    usual = re.compile("/".join(f"{re.escape(escape_name(column))}=([^/=%]+)" for column in columns))

    def read(name: str) -> tuple[str, ...]:
        found = usual.fullmatch(name)
        if found is not None and columns:
            return found.groups()
        values = spec_values(columns, parse_partition_name(name))
        missing = [column for column, value in zip(columns, values, strict=True) if value is None]
        if missing:
            raise InvalidPartitionValue(
                "the partition name is incomplete",
                name=name,
                missing=missing[0],
                hint="Write column=value/column=value",
            )
        return tuple(value for value in values if value is not None)

    return read


def named_values(columns: Sequence[str], names: Iterable[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Partition names with the values in them. Texts that are no whole names are left out: no partition has one.

    >>> list(named_values(["ds", "hour"], ["ds=a/hour=5", "ds=a", "<UNPARTITIONED>", ""]))
    [('ds=a/hour=5', ('a', '5'))]
    """
    read = name_reader(columns)
    for name in names:
        with suppress(InvalidPartitionValue):
            yield name, read(name)


def spec_values(columns: Sequence[str], spec: Mapping[str, T], *, whole: bool = False) -> tuple[T | None, ...]:
    """Values in column order from a spec in any order and case; None where the spec leaves a column out.

    Args:
        columns: the names of the partition columns.
        spec: values by column.
        whole: whether the spec must name all columns.

    Raises:
        InvalidPartitionValue: the spec names a column that is not a partition column, one of them twice, or not all.

    >>> spec_values(["ds", "hour"], {"HOUR": "5", "ds": "2013-01-01"}, whole=True)
    ('2013-01-01', '5')
    """
    by_column: dict[str, T] = {}
    for column, value in spec.items():
        if not isinstance(column, str):
            raise InvalidPartitionValue(
                "a key of the partition spec is not a column name",
                key=repr(column),
                type=type(column).__name__,
                hint='Write {"ds": "2013-01-01", "hour": "5"}',
            )
        if column.lower() in by_column:
            raise InvalidPartitionValue(
                "a partition spec names a column twice",
                column=column,
                hint="Name it once; upper and lower case are the same",
            )
        by_column[column.lower()] = value
    unknown = set(by_column) - {column.lower() for column in columns}
    if unknown:
        raise InvalidPartitionValue(
            "the column is not a partition column",
            column=min(unknown),
            hint=did_you_mean(min(unknown), columns, f"The partition columns are {', '.join(columns)}"),
        )
    missing = [column for column in columns if column.lower() not in by_column] if whole else []
    if missing:
        raise InvalidPartitionValue(
            "the partition spec leaves out columns",
            spec=dict(spec),
            missing=", ".join(missing),
            hint=f"Name all of {', '.join(columns)}",
        )
    return tuple(by_column.get(column.lower()) for column in columns)


def table_name(text: str) -> tuple[str, str]:
    """Database and table of ``database.table``.

    Raises:
        InvalidInput: it is not written so.

    >>> table_name("shop.sales")
    ('shop', 'sales')
    """
    database, dot, name = text.partition(".") if isinstance(text, str) else ("", "", "")
    if not (database and dot and name) or "." in name:
        raise InvalidInput("the text is not a table name", name=repr(text), hint="Write it as database.table")
    return database, name


def identifier(kind: str, name: str) -> str:
    """The lower-case form of a database or table name; Hive's names are letters, digits and underscores.

    Raises:
        InvalidName: another character, nothing at all, or more than 128 characters; a table's name may have 256.
    """
    longest = 256 if kind == "table" else 128  # as of Hive 3
    if not isinstance(name, str) or len(name) > longest or not _IDENTIFIER.match(name):
        raise InvalidName(
            f"the {kind} name is invalid",
            name=repr(name),
            hint=f"Use letters, digits and underscores, at most {longest} of them",
        )
    return name.lower()
