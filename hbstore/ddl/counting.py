"""ANALYZE TABLE … NOSCAN: files and their bytes are counted, and none is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from hbstore.ddl.results import Result
from hbstore.ddl.selection import conditions_of, selected_names
from hbstore.ddl.statements import AnalyzeTable
from hbstore.errors import DdlRefused, PartitionNotFound
from hbstore.files.warehouse import Warehouse
from hbstore.keys.partition_names import name_reader, partition_name
from hbstore.model.objects import Partition, Table
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_step import TableStep
from hbstore.warehouse.partition_changes import update_partitions
from hbstore.warehouse.quick_statistics import ACCURATE, NUM_FILES, TOTAL_SIZE
from hbstore.warehouse.table_kinds import is_view

_BATCH: Final = 1_000
_SPARK: Final = "spark.sql.statistics."
_SPARKS_SIZE: Final = f"{_SPARK}totalSize"
_OF_ROWS: Final = ("numRows", "rawDataSize", ACCURATE)
_COLUMNS: Final = ("table", "partitions", "files", "bytes")
_NOTHING: Final = (0, 0)


def count_files(store: PartitionStore, warehouse: Warehouse, table: Table, statement: AnalyzeTable) -> Result:
    """Count the files of a table, or of the partitions that a spec selects, and keep the numbers with them. O(files).

    What was known of rows and columns stays where files and bytes are what they were, and goes where they are not. A
    table that is counted as a whole gets the bytes of its partitions, by which Spark's optimizer chooses joins.

    Raises:
        PartitionNotFound: the spec selects none.
        DdlRefused: the table is a view.
    """
    if is_view(table):
        raise DdlRefused("a view has no files", table=table, hint="Name a table")
    if not table.partition_columns:
        counts = _counted(warehouse, table.location)
        _write_table(store, table, _named(counts))
        return Result(statement, _COLUMNS, ((str(table), 0, *counts),))
    names = selected_names(store, table, conditions_of(table, statement.spec))
    if not names and statement.spec is not None:
        raise PartitionNotFound(
            "the partition does not exist",
            table=table,
            partition=str(statement.spec),
            hint=f"SHOW PARTITIONS {table} lists the partitions",
        )
    files = size = 0
    notes: list[str] = []
    values = list(map(name_reader(table.partition_column_names), names))
    for begin in range(0, len(values), _BATCH):
        partitions = store.get_partitions(table.database, table.name, values[begin : begin + _BATCH])
        counts_by_values = {partition.values: _counts_of(warehouse, partition) for partition in partitions}
        notes += [
            f"{partition_name(table.partition_column_names, one)} has no folder"
            for one, counts in counts_by_values.items()
            if counts is None
        ]
        _write_partitions(store, table, partitions, counts_by_values)
        files += sum(counts[0] for counts in counts_by_values.values() if counts)
        size += sum(counts[1] for counts in counts_by_values.values() if counts)
    if statement.spec is None:
        _write_table(store, table, {_SPARKS_SIZE: str(size)})
    return Result(statement, _COLUMNS, ((str(table), len(names), files, size),), notes=tuple(notes))


def _counts_of(warehouse: Warehouse, partition: Partition) -> tuple[int, int] | None:
    """The files and bytes of a partition; None where it has no folder."""
    return None if partition.location is None else warehouse.quick_statistics(partition.location)


def _counted(warehouse: Warehouse, location: str | None) -> tuple[int, int]:
    return (warehouse.quick_statistics(location) if location is not None else None) or _NOTHING


def _named(counts: tuple[int, int]) -> dict[str, str]:
    return {NUM_FILES: str(counts[0]), TOTAL_SIZE: str(counts[1]), _SPARKS_SIZE: str(counts[1])}


def _write_partitions(
    store: PartitionStore,
    table: Table,
    partitions: Sequence[Partition],
    found: Mapping[tuple[str, ...], tuple[int, int] | None],
) -> None:
    """Keep counts with partitions that are still in the folders that were counted."""
    locations = {partition.values: partition.location for partition in partitions}

    def changed(now: Partition) -> Partition | None:
        if now.location != locations.get(now.values):
            return None
        parameters = _with(now.parameters, _named(found[now.values] or _NOTHING))
        return None if parameters == now.parameters else replace(now, parameters=parameters)

    update_partitions(store, table, partitions, changed)


def _write_table(store: PartitionStore, table: Table, counts: Mapping[str, str]) -> None:
    def write(step: TableStep) -> None:
        parameters = _with(step.table.parameters, counts)
        if parameters != step.table.parameters:
            step.alter(replace(step.table, parameters=parameters))

    store.change(str(table), write)


def _with(parameters: Mapping[str, str], counts: Mapping[str, str]) -> dict[str, str]:
    """Parameters with counts, without what is known of rows and columns if that is of other files."""
    basis = (NUM_FILES, TOTAL_SIZE) if NUM_FILES in counts else (_SPARKS_SIZE,)
    if all(parameters.get(name) == counts[name] for name in basis):
        return {**parameters, **counts}
    gone = _OF_ROWS if NUM_FILES in counts else ()
    kept = {name: text for name, text in parameters.items() if name not in gone and not name.startswith(_SPARK)}
    return {**kept, **counts}
