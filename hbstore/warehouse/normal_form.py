"""Tables and partitions as Hive keeps them: names of columns in lower case, columns of types that Hive has.

Clients count on it: Spark, which tells upper case from lower, keeps its own spelling in a table's parameters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from hbstore.model import Column, Skew, StorageDescriptor, Table
from hbstore.warehouse.table_kinds import settled_type

_TYPES: Final = frozenset(
    {
        "array",
        "bigint",
        "binary",
        "boolean",
        "char",
        "date",
        "datetime",
        "decimal",
        "double",
        "float",
        "int",
        "interval_day_time",
        "interval_year_month",
        "map",
        "smallint",
        "string",
        "struct",
        "timestamp",
        "tinyint",
        "uniontype",
        "varchar",
        "void",
    }
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


def _lowered(columns: Sequence[Column]) -> Sequence[Column]:
    if all(column.name == column.name.lower() for column in columns):
        return columns
    return tuple(replace(column, name=column.name.lower()) for column in columns)
