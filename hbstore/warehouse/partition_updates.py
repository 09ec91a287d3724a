"""Replacing partitions that were read, where other writers may change some of them meanwhile: what they write stays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from hbstore.errors import ConcurrentChange
from hbstore.model import Partition, Table
from hbstore.store.partition_store import PartitionStore
from hbstore.store.writer import Expected

OUTRUN: Final = "other writers kept changing the partitions"


def update_partitions(
    store: PartitionStore,
    table: Table,
    partitions: Iterable[Partition],
    change: Callable[[Partition], Partition | None],
) -> list[Partition]:
    """Replace partitions by what a function makes of them, all or none. O(n log rows).

    Args:
        store: the catalog.
        table: their table.
        partitions: as they were read. Where another writer was faster, they are read again; those that are gone then
            are left out.
        change: makes of a partition what it becomes, with the same values; None leaves it as it is.

    Returns:
        What was written.

    Raises:
        StoreBusy: other writers kept changing them.
    """
    current = list(partitions)

    def update() -> list[Partition]:
        nonlocal current
        changed = {old.values: new for old in current if (new := change(old)) is not None}
        expected: Expected = {old.values: old.payload for old in current if old.values in changed}
        try:
            store.alter_partitions(table.database, table.name, changed.values(), expected=expected)
        except ConcurrentChange:
            current = store.get_partitions(table.database, table.name, [old.values for old in current])
            raise
        return list(changed.values())

    return store.patience.retry(update, text=OUTRUN, table=table)
