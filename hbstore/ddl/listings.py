"""Statements that list databases, tables and partitions, and that explain."""

from __future__ import annotations

from hbstore.ddl.results import Result
from hbstore.ddl.selection import conditions_of, selected_names
from hbstore.ddl.statements import ExplainPartitions, ShowColumns, ShowDatabases, ShowPartitions, ShowTables
from hbstore.keys.partition_names import name_reader, spec_values
from hbstore.keys.row_key import text_cell
from hbstore.model.objects import Table
from hbstore.store.partition_store import PartitionStore
from hbstore.warehouse.name_patterns import NamePattern


def show_partitions(store: PartitionStore, table: Table, statement: ShowPartitions) -> Result:
    """The names of partitions in alphabetical order: ``hour=10`` before ``hour=9``; ORDER BY compares by type.

    Raises:
        InvalidPartitionValue: the spec or the order names no partition column.
    """
    names = sorted(selected_names(store, table, conditions_of(table, statement.spec), statement.filter))
    columns = [name.lower() for name in table.partition_column_names]
    values_of = name_reader(table.partition_column_names)
    for column, falls in reversed(statement.order):
        spec_values(table.partition_column_names, {column.lower(): ""})  # which says where there is no such column
        at = columns.index(column.lower())
        cells = {name: text_cell(table.key_types[at], values_of(name)[at]) for name in names}
        names.sort(key=cells.__getitem__, reverse=falls)
    return Result(statement, ("partition",), tuple((name,) for name in names[: statement.limit]))


def show_columns(table: Table, statement: ShowColumns) -> Result:
    """The names of a table's columns, those of partitions last."""
    return Result(statement, ("col_name",), tuple((one.name,) for one in (*table.columns, *table.partition_columns)))


def show_tables(store: PartitionStore, database: str, statement: ShowTables) -> Result:
    """The names of a database's tables that match, in order."""
    matches = NamePattern.of_hive(statement.pattern).matches
    names = [name for name in store.table_names(database) if matches(name)]
    return Result(statement, ("database", "table"), tuple((database.lower(), name) for name in names))


def show_databases(store: PartitionStore, statement: ShowDatabases) -> Result:
    """The names of the databases that match, in order."""
    matches = NamePattern.of_hive(statement.pattern).matches
    return Result(statement, ("database",), tuple((name,) for name in store.database_names() if matches(name)))


def explain_partitions(store: PartitionStore, table: Table, statement: ExplainPartitions) -> Result:
    """The scans that a filter becomes, as `hbstore explain` prints them."""
    text = str(store.explain(table.database, table.name, statement.filter))
    return Result(statement, ("plan",), tuple((line,) for line in text.split("\n")))
