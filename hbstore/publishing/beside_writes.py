"""Changes of partitions beside jobs that write files into them: what a job has decided is finished first.

The store refuses to drop, rename or relocate a partition into which files are on their way (`hbstore.store.leases`). A
change that is refused so finishes what is decided, clears away what dead jobs left, waits for living ones, and tries
again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Final, TypeVar

from hbstore.errors import StoreBusy, WriteConflict
from hbstore.model.objects import Partition, Table
from hbstore.publishing.lease import Lease
from hbstore.publishing.manifest import new_publication_id
from hbstore.publishing.publisher import Publisher
from hbstore.store.manifest import TRUNCATIONS, Manifest, PartitionWrite
from hbstore.store.partition_store import PartitionStore
from hbstore.transactions.waiting import Waiting

T = TypeVar("T")

_OUTRUN: Final = "jobs kept writing the partitions"


def after_writes(store: PartitionStore, table: Table, change: Callable[[], T]) -> T:
    """What a change returns, once no job is in its way.

    Args:
        store: the catalog.
        table: the table.
        change: called again where it raises WriteConflict.

    Raises:
        StoreBusy: jobs were in the way for as long as the store waits; nothing was changed.
    """
    waiting: Waiting | None = None
    attempt = finishing_writes(store, table, change)
    while True:
        try:
            return attempt()
        except WriteConflict as conflict:
            waiting = waiting or Waiting(store.patience)
            waiting.pause(_OUTRUN, conflict.hint or "Try again", conflict, table=table)


def finishing_writes(store: PartitionStore, table: Table, change: Callable[[], T]) -> Callable[[], T]:
    """A change that finishes what jobs have decided where it raises WriteConflict, so that it may be tried again."""

    @wraps(change)
    def attempt() -> T:
        try:
            return change()
        except StoreBusy:
            raise
        except WriteConflict:
            Publisher(store).recover_before_write(f"{table.database}.{table.name}")
            raise

    return attempt


@contextmanager
def leased(store: PartitionStore, table: Table, partitions: Sequence[Partition]) -> Iterator[Lease]:
    """Partitions whose files are truncated: no job writes them meanwhile, and nobody drops, renames or relocates them.

    Raises:
        StoreBusy: jobs kept writing them; nothing was changed.
    """
    writes = tuple(PartitionWrite(one.values, one.location or "") for one in partitions)
    manifest = Manifest(TRUNCATIONS + new_publication_id(), "", writes)
    row = after_writes(store, table, lambda: Publisher(store).lease(f"{table.database}.{table.name}", manifest))
    try:
        yield Lease(store, row, manifest.id)
    finally:
        store.publications.withdraw(row, manifest.id)
