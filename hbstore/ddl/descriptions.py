"""Statements that describe tables, partitions and columns: rows of a name, a type or a value, and a comment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from hbstore.ddl.constraint_texts import constraint_state, constraint_text
from hbstore.ddl.results import Result, Row
from hbstore.ddl.selection import whole_values
from hbstore.ddl.statements import Describe, ShowTableExtended
from hbstore.errors import UnknownColumnError, did_you_mean
from hbstore.files.warehouse import Warehouse
from hbstore.model.constraints import Constraint
from hbstore.model.objects import Column, Partition, StorageDescriptor, Table
from hbstore.store.partition_store import PartitionStore
from hbstore.times.moments import sql_text
from hbstore.warehouse.name_patterns import NamePattern
from hbstore.warehouse.table_kinds import settled_type

_COLUMNS: Final = ("col_name", "data_type", "comment")
_BLANK: Final[Row] = ("", "", "")
_COMMENT: Final = "comment"


def describe(store: PartitionStore, table: Table, statement: Describe) -> Result:
    """The columns of a table or of a partition, or one column; with EXTENDED all else that is known of it.

    Raises:
        PartitionNotFound: there is no such partition.
        UnknownColumnError: there is no such column.
    """
    partition = None
    if statement.spec is not None:
        partition = store.get_partition(table.database, table.name, whole_values(table, statement.spec))
    if statement.column is not None:
        from hbstore.ddl.column_facts import UNKNOWN, column_facts  # which read the description of Hive's service

        column = _column(table, statement.column)
        comment = UNKNOWN if column.comment is None else column.comment
        facts = {"col_name": column.name, "data_type": column.type, "comment": comment}
        if statement.extended:
            facts |= column_facts(store, table, partition, column)
        return Result(statement, ("info_name", "info_value"), tuple(facts.items()))
    rows = [*_columns(table)]
    if statement.extended:
        rows += [_BLANK, *(_table_facts(table) if partition is None else _partition_facts(table, partition))]
        if partition is None and (constraints := store.hive.constraints.of(table.database, table.name)):
            rows += [_BLANK, ("# Constraints", "", ""), *map(_constraint_row, constraints)]
    return Result(statement, _COLUMNS, tuple(rows))


def show_table_extended(
    store: PartitionStore, warehouse: Warehouse | None, database: str, statement: ShowTableExtended
) -> Result:
    """What is known of the tables whose names match, or of one partition: a row for each fact.

    Files are counted where a warehouse is given.

    Raises:
        TableNotFound, PartitionNotFound: a spec is given, and there is no such table or partition.
    """
    rows: list[Row] = []
    for table, partition in _described(store, database, statement):
        storage = table.storage if partition is None else partition.storage or table.storage
        location = table.location if partition is None else partition.location
        facts = {**_facts(table, storage, location), **_files(warehouse, location)}
        rows += [(table.database, table.name, name, value) for name, value in facts.items() if value is not None]
    return Result(statement, ("database", "table", "name", "value"), tuple(rows))


def _described(
    store: PartitionStore, database: str, statement: ShowTableExtended
) -> Iterator[tuple[Table, Partition | None]]:
    if statement.spec is not None:
        table = store.get_table(database, statement.pattern)
        yield table, store.get_partition(table.database, table.name, whole_values(table, statement.spec))
        return
    matches = NamePattern.of_hive(statement.pattern).matches
    yield from ((table, None) for table in store.tables(database) if matches(table.name))


def _columns(table: Table) -> Iterator[Row]:
    for column in (*table.columns, *table.partition_columns):
        yield column.name, column.type, column.comment
    if table.partition_columns:
        yield "# Partition Information", "", ""
        yield tuple(f"# {_COLUMNS[0]}" if name == _COLUMNS[0] else name for name in _COLUMNS)
        for column in table.partition_columns:
            yield column.name, column.type, column.comment


def _column(table: Table, name: str) -> Column:
    for column in (*table.columns, *table.partition_columns):
        if column.name.lower() == name.lower():
            return column
    names = [column.name for column in (*table.columns, *table.partition_columns)]
    raise UnknownColumnError(
        "the column does not exist",
        column=name,
        table=table,
        columns=", ".join(names),
        hint=did_you_mean(name, names, "Name one of the table's columns"),
    )


def _table_facts(table: Table) -> Iterator[Row]:
    parameters = {name: value for name, value in table.parameters.items() if name != _COMMENT}
    yield "# Detailed Table Information", "", ""
    yield from _named(
        {
            "Database": table.database,
            "Table": table.name,
            "Owner": table.owner,
            "Created Time": _time(table.create_time),
            "Last Access": _time(table.last_access_time),
            "Type": settled_type(table).removesuffix("_TABLE"),
            "Comment": table.parameters.get(_COMMENT),
            "Table Properties": _mapping(parameters),
            "Location": table.location,
            **_storage(table.storage),
        }
    )


def _constraint_row(constraint: Constraint) -> Row:
    return constraint.name, f"{constraint_text(constraint)} {constraint_state(constraint)}", ""


def _partition_facts(table: Table, partition: Partition) -> Iterator[Row]:
    yield "# Detailed Partition Information", "", ""
    values = dict(zip(table.partition_column_names, partition.values, strict=True))
    yield from _named(
        {
            "Database": table.database,
            "Table": table.name,
            "Partition Values": _mapping(values),
            "Location": partition.location,
            **_storage(partition.storage or table.storage),
            "Partition Parameters": _mapping(partition.parameters),
            "Created Time": _time(partition.create_time),
            "Last Access": _time(partition.last_access_time),
        }
    )


def _storage(storage: StorageDescriptor) -> dict[str, str | None]:
    return {
        "Serde Library": storage.serde.library,
        "InputFormat": storage.input_format,
        "OutputFormat": storage.output_format,
        "Num Buckets": str(storage.num_buckets) if storage.num_buckets > 0 else None,
        "Storage Properties": _mapping(storage.serde.parameters) if storage.serde.parameters else None,
    }


def _named(facts: Mapping[str, str | None]) -> Iterator[Row]:
    """Rows of names and values; what is not known is left out."""
    for name, value in facts.items():
        if value is not None:
            yield name, value, ""


def _facts(table: Table, storage: StorageDescriptor, location: str | None) -> dict[str, str | None]:
    return {
        "owner": table.owner,
        "location": location,
        "inputformat": storage.input_format,
        "outputformat": storage.output_format,
        "columns": ", ".join(f"{one.name} {one.type}" for one in table.columns),
        "partitioned": str(bool(table.partition_columns)).lower(),
        "partitionColumns": ", ".join(f"{one.name} {one.type}" for one in table.partition_columns),
    }


def _files(warehouse: Warehouse | None, location: str | None) -> dict[str, str | None]:
    found = None if warehouse is None or location is None else warehouse.data_files(location)
    if found is None:
        return {}
    sizes = [size for _, size in found]
    return {
        "totalNumberFiles": str(len(sizes)),
        "totalFileSize": str(sum(sizes)),
        "maxFileSize": str(max(sizes, default=0)),
        "minFileSize": str(min(sizes, default=0)),
    }


def _mapping(values: Mapping[str, str]) -> str:
    return f"[{', '.join(f'{name}={value}' for name, value in values.items())}]"


def _time(seconds: int) -> str:
    return f"{sql_text(datetime.fromtimestamp(seconds, UTC))} UTC" if seconds else "UNKNOWN"
