"""Spelling locations alike: ``file:/x``, ``file:///x`` and ``/x`` are one place, and clients write all three.

When a table's folder moves, the store replaces the beginning of its partitions' locations, letter by letter. So those
that are in the folder and spelt otherwise are first written as the table's own location is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from hbstore.errors import FileOperationFailed
from hbstore.files.locations import parse_location
from hbstore.model import Partition, Table
from hbstore.plans.scan_plan import MultiScanPlan
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import TableRow
from hbstore.structs import partitions_from_payloads
from hbstore.warehouse.partition_updates import update_partitions


def spelt_alike(location: str, home: str) -> str:
    """A location, written as another one is if it is in it.

    >>> spelt_alike("file:///wh/sales/ds=1", "/wh/sales/"), spelt_alike("file:/wh/visits", "/wh/sales")
    ('/wh/sales/ds=1', 'file:/wh/visits')
    """
    below = home.rstrip("/") + "/"
    if location.startswith(below):
        return location
    try:
        place, around = parse_location(location), parse_location(home)
    except FileOperationFailed:
        return location
    return below + "/".join(place.parts[len(around.parts) :]) if place.is_below(around) else location


def spell_partitions_alike(store: PartitionStore, table: Table) -> None:
    """Write the locations of a table's partitions as its own is written. O(partitions)."""
    if table.location is None or not table.partition_columns:
        return

    def collect(_: TableRow, __: MultiScanPlan, batches: Iterator[Sequence[bytes]]) -> list[Partition]:
        partitions = (one for batch in batches for one in partitions_from_payloads(batch))
        return [partition for partition in partitions if respelt(partition, table) is not None]

    partitions = store.read_payloads(table.database, table.name, None, collect)
    update_partitions(store, table, partitions, lambda partition: respelt(partition, table))


def respelt(partition: Partition, table: Table) -> Partition | None:
    """A partition with its location spelt as the table's is; None if it is spelt so."""
    if partition.location is None or table.location is None:
        return None
    alike = spelt_alike(partition.location, table.location)
    return None if alike == partition.location else replace(partition, location=alike)
