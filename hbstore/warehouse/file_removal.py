"""Deleting the files of what was dropped.

A drop whose files the server may not delete is refused before anything is changed: `hbstore.files.bounds` says which
those are. Then the catalog changes first, and files are deleted afterwards: a crash between leaves a record that names
files, and never a table or partition whose files are gone. So what turns out not to be deletable then is no error for
the client, to whom the drop is done; the log says what stays, and why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hbstore.errors import FileOperationFailed
from hbstore.files.locations import is_below
from hbstore.files.warehouse import Warehouse
from hbstore.model.objects import Table
from hbstore.model.structs import partitions_from_payloads
from hbstore.plans.scan_plan import MultiScanPlan
from hbstore.publishing.dropped_files import DroppedFolder
from hbstore.publishing.publisher import Publisher
from hbstore.publishing.removal import holds_table
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import TableRow
from hbstore.warehouse.table_kinds import is_purged, is_view, keeps_files


@dataclass(frozen=True, slots=True)
class TableFiles:
    """Where a table and its partitions have their files.

    Attributes:
        own: the table's own location, in which files may be deleted; none of a view.
        removed: what is to be deleted: the table's location, and those of partitions elsewhere.
        kept: the same of a table whose files stay.
        purge: whether they pass the trash.
    """

    own: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    purge: bool = False


def table_files(store: PartitionStore, warehouse: Warehouse, table: Table, *, delete: bool) -> TableFiles:
    """Where a table's files are, read before it is dropped. O(partitions) if they are to be deleted.

    Args:
        store: the catalog.
        warehouse: where files are.
        table: the table, with a location.
        delete: whether files are to be deleted; those of an external table stay unless they are purged.

    Raises:
        FileOperationFailed: partitions were exchanged, and their folders could not follow yet, so that the table's
            folder may hold files of another one's partitions.
        OutsideWarehouse: files are to be deleted where the server may not.
    """
    if table.location is None or is_view(table) or not delete:
        return TableFiles()
    places = (table.location, *_locations_elsewhere(store, table, table.location))
    if keeps_files(table):
        return TableFiles((table.location,), kept=places)
    if Publisher(store).has_moving_folders(f"{table.database}.{table.name}"):
        raise FileOperationFailed(
            "the folders of exchanged partitions are not all moved yet",
            table=table,
            hint="Nothing was dropped. Try again. If the error stays, the log says why the folders cannot be moved",
        )
    for place in places:
        warehouse.check_under_roots(place)
    return TableFiles((table.location,), removed=places, purge=is_purged(table))


def dropped_folders(files: TableFiles, *, purge: bool = False) -> list[DroppedFolder]:
    """What is to be deleted of a dropped table: partitions elsewhere first, then its folder."""
    return [DroppedFolder(place, files.own, purge or files.purge) for place in reversed(files.removed)]


def check_partition_files(warehouse: Warehouse, table: Table, locations: Iterable[str | None]) -> None:
    """See that the files of partitions may be deleted, before the partitions are dropped.

    Of those in the table's folder only one is looked at: the others share its roots. Where a link below the table leads
    one of them elsewhere, its files stay.

    Raises:
        OutsideWarehouse: they may not.
    """
    below = None if table.location is None else table.location.rstrip("/") + "/"
    is_checked = False
    for location in locations:
        if location is None or holds_table(table, location):
            continue
        if below is not None and location.startswith(below) and "/.." not in location:
            if is_checked:
                continue
            is_checked = True
        warehouse.check_under_roots(location)


def _locations_elsewhere(store: PartitionStore, table: Table, home: str) -> list[str]:
    """The locations of partitions that are not in the table's folder, and do not hold it."""
    if not table.partition_columns:
        return []
    below = home.rstrip("/") + "/"

    def collect(_: TableRow, __: MultiScanPlan, batches: Iterator[Sequence[bytes]]) -> list[str]:
        locations = []
        for batch in batches:
            for partition in partitions_from_payloads(batch):
                place = partition.location
                if place is not None and not place.startswith(below) and not is_below(place, home):
                    locations.append(place)
        return [place for place in locations if not holds_table(table, place)]

    return store.read_payloads(table.database, table.name, None, collect)
