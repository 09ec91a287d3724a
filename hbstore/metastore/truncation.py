"""truncate_table: the files of a table or of some partitions are deleted, what they belong to stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.data_removal import check_partition_files, holds_table
from hbstore.metastore.environment import DDL_TIME, now
from hbstore.metastore.naming import database_name
from hbstore.metastore.partition_names import name_reader
from hbstore.metastore.protocol import THRIFT
from hbstore.metastore.quick_statistics import truncated_parameters
from hbstore.metastore.table_kinds import is_external, is_purged, is_view
from hbstore.metastore.table_locations import located_table
from hbstore.model import Partition, Table

handlers = Handlers()


@handlers.answers("truncate_table", writes=True)
def truncate_table(call: Call) -> None:
    """Delete the files of a table, or of some of its partitions, and set their counts to 0.

    Partitions by partition; where that breaks off, those before are empty and their counts are as they were, which
    another call mends.

    Raises:
        MetaException: there is no such table or partition, or the files are not the table's own: it is external.
    """
    given = call.arguments
    table = located_table(call, database_name(given.dbName), given.tableName or "")
    call.note(table=str(table))
    if is_external(table) or is_view(table):
        raise THRIFT.MetaException(f"Cannot truncate non-managed table {table}: the metastore does not own its files")
    changed_at = {DDL_TIME: str(now())}
    if not table.partition_columns:
        _empty(call, table, table.location)
        call.store.alter_table(replace(table, parameters={**truncated_parameters(table.parameters), **changed_at}))
        return
    partitions = _partitions(call, table, given.partNames)
    shared = next((one.location for one in partitions if one.location and holds_table(call, table, one.location)), None)
    if shared is not None:
        raise THRIFT.MetaException(
            f"Cannot truncate a partition of {table} whose files are the files of the whole table: {shared}"
        )
    check_partition_files(call, table, [one.location for one in partitions])
    for partition in partitions:
        _empty(call, table, partition.location)
    emptied = [replace(one, parameters={**truncated_parameters(one.parameters), **changed_at}) for one in partitions]
    call.store.alter_partitions(table.database, table.name, emptied)
    call.note(partitions=len(emptied))


def _partitions(call: Call, table: Table, names: Sequence[str] | None) -> list[Partition]:
    if names is None:
        return call.store.get_partitions_by_filter(table.database, table.name, None)
    read = name_reader(table)
    found = call.store.get_partitions(table.database, table.name, [read(name) for name in names])
    if len(found) < len(set(names)):
        raise THRIFT.MetaException(f"one of these partitions of {table} does not exist: {', '.join(names)}")
    return found


def _empty(call: Call, table: Table, location: str | None) -> None:
    if location is None:
        return
    inside = () if table.location is None else (table.location,)
    call.warehouse.delete(location, inside=inside, purge=is_purged(table, {}))
    call.warehouse.make_folder(location)
