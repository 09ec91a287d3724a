"""Copying the partitions of one table in either direction, and comparing both sides afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from hbstore.errors import (
    InvalidInput,
    InvalidName,
    InvalidPartitionValue,
    InvalidType,
    MetastoreRefused,
    TimelineError,
)
from hbstore.keys.partition_names import name_reader
from hbstore.model.objects import Table
from hbstore.model.structs import partitions_from_payloads
from hbstore.plans.scan_plan import MultiScanPlan
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import TableRow
from hbstore.transfer.checksum import Checksum, Payloads
from hbstore.transfer.listing import Identities, Identity, TableListing
from hbstore.transfer.scope import Progress, partition_conflict
from hbstore.transfer.work import Outcome, Page, Work, Workers

IMPOSSIBLE: Final = (InvalidInput, InvalidName, InvalidPartitionValue, InvalidType, MetastoreRefused, TimelineError)
"""What says that one thing cannot be copied, and nothing about others."""


def copied(
    workers: Workers, work: Work, table: Table, pages: Sequence[Page], progress: Progress, label: str = ""
) -> Outcome:
    """Have the pages of a table copied.

    Args:
        workers: the threads that do it.
        work: what is done.
        table: the table.
        pages: names of partitions.
        progress: is told how it gets on.
        label: what it is told for; the table by default.

    Raises:
        TransferConflict: some are there already and differ, and that is an error.
        HbstoreError: what ended the work; ``fields["copied"]`` says how many partitions are right by then.
    """
    total, done = sum(map(len, pages)), 0

    def told(number: int) -> None:
        nonlocal done
        done += number
        progress(label or str(table), done, total)

    outcome = workers.run(work, pages, told)
    if outcome.error is not None:
        outcome.error.fields["copied"] = f"{outcome.checksum.count:,} of {total:,} partitions of {table}"
        raise outcome.error
    if outcome.conflicts:
        raise partition_conflict(table, outcome.conflicts)
    return replace(outcome, error=None)


def verified(
    workers: Workers, work: Work, table: Table, pages: Sequence[Page], outcome: Outcome, progress: Progress
) -> Outcome:
    """Have those partitions looked at that are to be in the target as they are in the source."""
    others = {*outcome.kept, *outcome.gone, *(name for name, _ in outcome.refused)}
    left = [[name for name in page if name not in others] for page in pages] if others else pages
    return copied(workers, work, table, [page for page in left if page], progress, f"{table}: comparing")


def expected(table: Table, listed: TableListing, outcome: Outcome) -> set[Identity]:
    """The identities of partitions that are in the store as they are in the source."""
    identities, read = Identities(table), name_reader(table.partition_column_names)
    others = [*outcome.kept, *outcome.gone, *(name for name, _ in outcome.refused)]
    return listed.names.keys() - {identities.of(read(name)) for name in others}


def summed(store: PartitionStore, table: Table, identities: set[Identity], hoped: Checksum) -> tuple[Checksum, int]:
    """The checksum of a store's partitions of some identities, and how many others there are. O(partitions).

    Mostly the stored bytes of all partitions have the checksum that is hoped for, and nothing is looked at any closer.
    """

    def consume(_: TableRow, __: MultiScanPlan, batches: Iterator[Sequence[bytes]]) -> tuple[Checksum, int]:
        return sum((Payloads.of(batch) for batch in batches), Checksum()), 0

    def look_closer(_: TableRow, __: MultiScanPlan, batches: Iterator[Sequence[bytes]]) -> tuple[Checksum, int]:
        identify, payloads = Identities(table).of, Payloads(table)
        checksum, others = Checksum(), 0
        for batch in batches:
            partitions = [
                partition for partition in partitions_from_payloads(batch) if identify(partition.values) in identities
            ]
            others += len(batch) - len(partitions)
            checksum += payloads.of(map(payloads.payload, partitions))
        return checksum, others

    at_once = store.read_payloads(table.database, table.name, None, consume)
    return at_once if at_once[0] == hoped else store.read_payloads(table.database, table.name, None, look_closer)
