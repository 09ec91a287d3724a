"""Tables and partitions as Hive keeps them: names of columns in lower case, columns of types that Hive has.

Clients count on it: Spark, which tells upper case from lower, keeps its own spelling in a table's parameters.

Which types a column may change to is a rule of a metastore with Hive's
``hive.metastore.disallow.incompatible.col.type.changes``. Columns are compared place by place, not by name: files of
text and of some other formats are read by places. A type may become itself, or a primitive one into which Hive converts
it unasked. Table formats such as Iceberg keep the history of their columns themselves, and alter tables in ways that
this rule refuses: so it is off here by default.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from hbstore.errors import DdlRefused
from hbstore.model.objects import Column, Skew, StorageDescriptor, Table, partition_value_texts
from hbstore.warehouse.refusals import refusal
from hbstore.warehouse.table_kinds import settled_type

_NUMBERS: Final = ("tinyint", "smallint", "int", "bigint", "decimal", "float", "double")
"""Each may become one further to the right."""

_TEXTS: Final = frozenset({"string", "varchar", "char"})
_TO_TEXT: Final = frozenset({*_NUMBERS, *_TEXTS, "date", "timestamp"})
_ANY: Final = "void"
_COMPLEX: Final = frozenset({"array", "map", "struct", "uniontype"})
"""They become nothing but themselves."""

_TYPES: Final = frozenset(
    (
        *(*_NUMBERS, *_TEXTS, *_COMPLEX, _ANY),
        *("binary", "boolean", "date", "datetime", "interval_day_time", "interval_year_month", "timestamp"),
    )
)
"""What a column's type may begin with."""

_DERIVED: Final = "<derived from deserializer>"
_FIRST_WORD: Final = re.compile(r"\w+")


def lowered_table(table: Table) -> Table:
    """A table with lower-case names of columns, and the type that its parameters ask for."""
    return replace(
        table,
        columns=_lowered(table.columns),
        partition_columns=_lowered(table.partition_columns),
        storage=lowered_storage(table.storage),
        table_type=settled_type(table),
    )


def lowered_storage(storage: StorageDescriptor) -> StorageDescriptor:
    """A storage with lower-case names of columns; the same object where they are, as partitions share it.

    >>> lowered_storage(StorageDescriptor(columns=[Column("Amount", "int")])).columns[0].name
    'amount'
    """
    columns = _lowered(storage.columns)
    orders = tuple(replace(order, column=order.column.strip().lower()) for order in storage.sort_columns)
    if columns == storage.columns and orders == storage.sort_columns:
        return storage
    return replace(storage, columns=columns, sort_columns=orders)


def invalid_type(columns: Sequence[Column]) -> str | None:
    """The first type that Hive does not have, such as a client's own; None if all are Hive's.

    >>> invalid_type([Column("a", "array<int>"), Column("b", "timestamp_ntz")])
    'timestamp_ntz'
    """
    for column in columns:
        first = _FIRST_WORD.match(column.type)
        if column.type != _DERIVED and (first is None or first[0] not in _TYPES):
            return column.type
    return None


def invalid_skew(skew: Skew | None, columns: Sequence[Column]) -> str | None:
    """A column of the skew that is none of the table's; None if all are."""
    names = {column.name.lower() for column in columns}
    return next((name for name in (skew.columns if skew else ()) if name.lower() not in names), None)


def incompatible_columns(before: Sequence[Column], after: Sequence[Column]) -> list[str]:
    """The names of columns, as they are given, whose types the columns in their places cannot become.

    >>> before = [Column("a", "int"), Column("b", "string"), Column("c", "date")]
    >>> incompatible_columns(before, [Column("a", "bigint"), Column("b", "int"), Column("d", "string")])
    ['b']
    """
    pairs = zip(before, after, strict=False)
    return [new.name for old, new in pairs if not may_become(old.type, new.type)]


def may_become(before: str, after: str) -> bool:
    """Whether a type may become another.

    >>> may_become("int", "decimal(10,2)"), may_become("bigint", "int"), may_become("date", "varchar(10)")
    (True, False, True)
    """
    if before.lower() == after.lower():
        return True
    old, new = (text.lower().partition("(")[0].partition("<")[0].strip() for text in (before, after))
    if old in _COMPLEX or new in _COMPLEX:
        return False
    if old in (new, _ANY):
        return True
    if new in _TEXTS:
        return old in _TO_TEXT
    if old in _TEXTS:
        return new == "double"
    return old in _NUMBERS and new in _NUMBERS and _NUMBERS.index(old) < _NUMBERS.index(new)


def checked_values(table: Table, values: Sequence[str]) -> tuple[str, ...]:
    """The texts in which the partitions of a table differ.

    Raises:
        DdlRefused: there are too many or too few values, or the table has no partition columns.

    >>> from hbstore.model.objects import Column
    >>> checked_values(Table("shop", "sales", partition_columns=[Column("hour", "int")]), [""])
    ('__HIVE_DEFAULT_PARTITION__',)
    """
    columns = table.partition_column_names
    if len(values) != len(columns) or not columns:
        reason = f"Invalid partition key & values; keys [{', '.join(columns)}], values [{', '.join(values)}]"
        raise refusal(DdlRefused, reason)
    return partition_value_texts(values)


def _lowered(columns: Sequence[Column]) -> Sequence[Column]:
    if all(column.name == column.name.lower() for column in columns):
        return columns
    return tuple(replace(column, name=column.name.lower()) for column in columns)
