"""Which old partitions are kept because of their files: these cannot move, or other partitions have them as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from hbstore.errors import FileOperationFailed, OutsideWarehouse
from hbstore.files.locations import location_or_none
from hbstore.files.warehouse import Warehouse
from hbstore.keys.partition_names import partition_name
from hbstore.model.objects import Table
from hbstore.model.structs import partitions_from_payloads
from hbstore.plans.scan_plan import MultiScanPlan
from hbstore.publishing.removal import holds_table
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import TableRow
from hbstore.warehouse.locations import located
from hbstore.warehouse.table_kinds import is_purged, keeps_files

Place: TypeAlias = tuple[tuple[str, str], tuple[str, ...]]
"""A file system, and the names from its root down."""


def own_trash(warehouse: Warehouse) -> str:
    """Where the files of expired partitions rest: in the warehouse's trash or, without one, in a hidden folder.

    >>> own_trash(Warehouse("/wh")), own_trash(Warehouse("/wh", trash="/trash"))
    ('file:/wh/.Trash/expired', 'file:/trash/expired')
    """
    return f"{warehouse.trash or warehouse.root + '/.Trash'}/expired"


def parted(
    store: PartitionStore, warehouse: Warehouse, table: Table, payloads: Sequence[bytes]
) -> tuple[list[bytes], dict[str, str]]:
    """Part old partitions into those whose files can go, and the others. O(partitions of the table).

    Args:
        store: the catalog.
        warehouse: where files are.
        table: their table.
        payloads: the stored bytes of the partitions.

    Returns:
        The bytes of the first, and why the others are kept, by their names.

    >>> old = store.get_payloads("shop", "sales", [("2013-01-01", "5")])
    >>> movable, kept = parted(store, Warehouse("/wh", also_under=()), sales.definition, old)
    >>> movable, list(kept)
    ([], ['ds=2013-01-01/hour=5'])
    """
    if keeps_files(table) or not payloads:
        return list(payloads), {}
    table = located(store, warehouse, table)
    trash = None if is_purged(table) else own_trash(warehouse)
    shared = shared_places(store, table, frozenset(payloads))
    movable, kept = [], {}
    for payload, partition in zip(payloads, partitions_from_payloads(payloads), strict=True):
        reason = None
        if partition.location and not holds_table(table, partition.location):
            reason = _why_kept(warehouse, partition.location, trash, shared)
        if reason is None:
            movable.append(payload)
        else:
            kept[partition_name(table.partition_column_names, partition.values)] = reason
    return movable, kept


def _why_kept(warehouse: Warehouse, location: str, trash: str | None, shared: set[Place]) -> str | None:
    if shared.intersection(places_of(location)):
        return "a partition that stays has files there"
    try:
        warehouse.check_under_roots(location)
        if trash is not None:
            warehouse.check_reach(location, trash)
    except (OutsideWarehouse, FileOperationFailed) as error:
        return str(error)
    return None


def shared_places(store: PartitionStore, table: Table, old: frozenset[bytes]) -> set[Place]:
    """The locations of old partitions at or below which other partitions of the table are. O(partitions of the table).

    Args:
        store: the catalog.
        table: their table.
        old: the stored bytes of the old partitions.
    """
    places = {place for partition in partitions_from_payloads(list(old)) for place in places_of(partition.location)}

    def collect(_: TableRow, __: MultiScanPlan, batches: Iterator[Sequence[bytes]]) -> set[Place]:
        shared: set[Place] = set()
        for batch in batches:
            for partition in partitions_from_payloads([payload for payload in batch if payload not in old]):
                for file_system, parts in places_of(partition.location):
                    around = ((file_system, parts[:depth]) for depth in range(1, len(parts) + 1))
                    shared |= places.intersection(around)
        return shared

    return store.read_payloads(table.database, table.name, None, collect)


def places_of(location: str | None) -> set[Place]:
    """The one place that a location names; none where it names none."""
    place = location_or_none(location)
    return set() if place is None else {(place.file_system, place.parts)}
