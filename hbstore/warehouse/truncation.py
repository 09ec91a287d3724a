"""Truncation: the files of a table or of some partitions are deleted, what they belong to stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from hbstore.errors import DdlRefused
from hbstore.files.warehouse import Warehouse
from hbstore.keys.partition_names import name_reader
from hbstore.model.objects import Partition, Table
from hbstore.publishing.beside_writes import leased
from hbstore.publishing.held_folder import all_held
from hbstore.publishing.removal import holds_table
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import check_same_table
from hbstore.store.table_step import TableStep
from hbstore.warehouse.change_times import DDL_TIME, now
from hbstore.warehouse.file_removal import check_partition_files
from hbstore.warehouse.partition_changes import update_partitions
from hbstore.warehouse.quick_statistics import truncated_parameters
from hbstore.warehouse.refusals import refusal
from hbstore.warehouse.table_kinds import is_purged, is_view, keeps_files


def truncate_table(
    store: PartitionStore, warehouse: Warehouse, table: Table, names: Sequence[str] | None = None
) -> int | None:
    """Delete the files of a table, or of some of its partitions, and set their counts to 0.

    Partition by partition, beside no job that writes them; where that breaks off, those before are empty and their
    counts are as they were, which another call mends.

    Args:
        store: the catalog.
        warehouse: where files are.
        table: the table, with a location unless it is a view.
        names: of partitions; None for all.

    Returns:
        How many partitions were emptied; None of a table without partition columns.

    Raises:
        DdlRefused: one of the partitions is not there, or the files are not the table's own: it is external.
        OutsideWarehouse, FileOperationFailed: files cannot be deleted.
        ConcurrentChange: the table was given another location, or another table got its name; nothing was changed.
        TableNotFound: the table was renamed after its files were deleted; the counts are what they were.
        StoreBusy: jobs were writing the partitions, or another process held a folder, for as long as the store waits.
    """
    if keeps_files(table) or is_view(table):
        reason = f"Cannot truncate non-managed table {table}: the metastore does not own its files"
        raise refusal(DdlRefused, reason)
    changed_at = {DDL_TIME: str(now())}
    if not table.partition_columns:
        row = store.table_row(table.database, table.name)
        check_same_table(row, table)

        def check() -> None:
            check_same_table(store.table_row(table.database, table.name), row)

        _empty(store, warehouse, table, table.location, check)

        def table_without_counts(step: TableStep) -> None:
            step.alter(replace(step.table, parameters={**truncated_parameters(step.table.parameters), **changed_at}))

        store.change(str(table), table_without_counts, same_as=row)
        return None
    partitions = _partitions(store, table, names)
    _check_places(warehouse, table, partitions)
    with leased(store, table, partitions) as lease:
        check_same_table(lease.row, table)
        partitions = store.get_partitions(table.database, table.name, [one.values for one in partitions])
        lease.check()  # else they are another table's, which has got the name since
        _check_places(warehouse, table, partitions)
        for partition in partitions:
            lease.keep()
            _empty(store, warehouse, table, partition.location, lease.check)

        def without_counts(partition: Partition) -> Partition:
            return replace(partition, parameters={**truncated_parameters(partition.parameters), **changed_at})

        update_partitions(store, table, partitions, without_counts, same_as=lease.row)
    return len(partitions)


def _check_places(warehouse: Warehouse, table: Table, partitions: Sequence[Partition]) -> None:
    """See that the files of partitions are theirs alone, and may be deleted."""
    places = [partition.location for partition in partitions]
    shared = next((place for place in places if place and holds_table(table, place)), None)
    if shared is not None:
        reason = f"Cannot truncate a partition of {table} whose files are the files of the whole table: {shared}"
        raise refusal(DdlRefused, reason)
    check_partition_files(warehouse, table, places)


def _partitions(store: PartitionStore, table: Table, names: Sequence[str] | None) -> list[Partition]:
    if names is None:
        return store.get_partitions_by_filter(table.database, table.name, None)
    read = name_reader(table.partition_column_names)
    partitions = store.get_partitions(table.database, table.name, [read(name) for name in names])
    if len(partitions) < len(set(names)):
        raise refusal(DdlRefused, f"one of these partitions of {table} does not exist: {', '.join(names)}")
    return partitions


def _empty(
    store: PartitionStore, warehouse: Warehouse, table: Table, location: str | None, check: Callable[[], None]
) -> None:
    """Delete the files at a location, if a check says then that it still is the table's."""
    if location is None:
        return
    inside = () if table.location is None else (table.location,)
    with all_held(warehouse, [location], store.patience):
        identity = warehouse.identity(location)
        check()
        warehouse.delete(location, inside=inside, purge=is_purged(table), identity=identity)
    warehouse.make_folder(location)
