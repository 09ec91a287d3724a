"""Dropping partitions. The catalog changes first, then files are deleted: `file_removal` says why."""

from __future__ import annotations

from collections.abc import Sequence

from hbstore.files.warehouse import Warehouse
from hbstore.model import Partition, Table
from hbstore.store.partition_store import PartitionStore
from hbstore.structs import partition_values, partitions_from_payloads
from hbstore.warehouse.file_removal import check_partition_files, remove_partition_files
from hbstore.warehouse.table_kinds import is_external, is_purged


def drop_partitions(
    store: PartitionStore,
    warehouse: Warehouse,
    table: Table,
    payloads: Sequence[bytes],
    *,
    delete: bool,
    purge: bool = False,
    unchanged: bool = False,
) -> tuple[str, ...]:
    """Drop partitions that were read, all or none, then delete their files.

    Args:
        store: the catalog.
        warehouse: where files are.
        table: the table, with a location unless it is a view.
        payloads: stored bytes of what is dropped.
        delete: whether their files are deleted, unless the table is external.
        purge: whether files pass the trash, even where the table does not say so.
        unchanged: only if all of them are still what was read.

    Returns:
        Locations whose files could not be deleted.

    Raises:
        PartitionNotFound: one is not there any more.
        ConcurrentChange: one is not what was read; nothing was dropped.
        OutsideWarehouse: files are to be deleted where the warehouse's roots do not allow it.
    """
    partitions: list[Partition] = partitions_from_payloads(payloads)
    places = [one.location for one in partitions] if delete and not is_external(table) else []
    check_partition_files(warehouse, table, places)
    values = [partition_values(one) for one in payloads]
    if unchanged:
        read: dict[tuple[str | None, ...], bytes | None] = dict(zip(values, payloads, strict=True))
        store.change_partitions(table.database, table.name, drop=values, expected=read)
    else:
        store.drop_partitions(table.database, table.name, values)
    return remove_partition_files(warehouse, table, places, purge=purge or is_purged(table))
