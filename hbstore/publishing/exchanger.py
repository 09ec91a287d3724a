"""Exchanging partitions with their files: they leave one table and come to another, all at once.

1. *Lease* the partitions in both tables: no job writes them meanwhile.
2. *Exchange* them in the store, with the locations that they have, if the leases are still there. This decides: from
   now on nobody takes the leases away, and every process that comes to either table goes on where a dead process ended.
3. Have their folders follow (`hbstore.publishing.exchange_files`), and take the leases off.

A process that dies before 2 has changed nothing; its leases end after half a minute.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from hbstore.errors import (
    CommitStateUnknown,
    ConcurrentChange,
    FileOperationFailed,
    HbstoreError,
    InvalidInput,
    StoreBusy,
)
from hbstore.files.locations import parse_location
from hbstore.files.warehouse import Warehouse
from hbstore.model.objects import Partition, Table
from hbstore.publishing.exchange_files import ExchangeFiles
from hbstore.publishing.manifest import new_publication_id
from hbstore.publishing.publisher import Publisher
from hbstore.publishing.removal import holds_table
from hbstore.store.manifest import EXCHANGES, Exchange, Manifest, PartitionWrite
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import TableRow, check_same_table
from hbstore.transactions.outcome import decided


@dataclass(frozen=True, slots=True)
class Exchanged:
    """What was exchanged.

    Attributes:
        partitions: what the partitions are in the table that they came to, in key order.
        left: why folders stay where they were: a text for each.
    """

    partitions: tuple[Partition, ...]
    left: tuple[str, ...]


def exchange_partitions(
    store: PartitionStore, warehouse: Warehouse, source: Table, target: Table, partitions: Sequence[Partition]
) -> Exchanged:
    """Move partitions from one table to another, all or none, and their folders from the one's folder to the other's.

    A folder that is not in the source's stays. One that cannot be moved once the partitions are is read where it is;
    the exchange is finished when it can, or given up by `hbstore.publishing.publisher.Publisher.abandon`.

    Raises:
        InvalidInput: it is one table, the partition columns differ, or the files of one are those of the whole table.
        PartitionNotFound: one is not in the source.
        AlreadyExists: one is in the target.
        FileOperationFailed: there is something where a folder would go, or the tables are in different file systems.
        OutsideWarehouse: folders would move where the warehouse's roots do not allow it.
        WriteConflict: a job is writing one of them.
        ConcurrentChange: a table or a partition has another location than when it was read.
        PublicationLost: it took so long that it was taken for dead, or another exchange took the partitions. After all
            of these nothing was changed.
        CommitStateUnknown: the connection broke. The next process finishes it or gives it up.
    """
    source_name, target_name = (source.database, source.name), (target.database, target.name)
    if source_name == target_name:
        raise InvalidInput("source and target are the same table", table=source, hint="Name two different tables")
    writes = tuple(PartitionWrite(partition.values, partition.location or "") for partition in partitions)
    exchange = Exchange(source_name, target_name, source.location, target.location)
    files = ExchangeFiles(store, Manifest(EXCHANGES + new_publication_id(), "", writes, exchange=exchange), exchange)
    leased_rows = _lease(Publisher(store), files)
    try:
        for row, table in zip(leased_rows, (target, source), strict=True):
            check_same_table(row, table)  # else folders would come to where another table of its name is
        _check_places(warehouse, files, source)  # which nobody changes now
        values = [partition.values for partition in partitions]
        store.exchange_partitions(source_name, target_name, values, publication=files.manifest.id)
    except CommitStateUnknown:
        raise  # it may yet be made, so the leases stay
    except HbstoreError:
        with suppress(HbstoreError):
            files.withdraw()
        raise
    with decided(
        "the partitions are exchanged, but the store became unavailable before their files were moved", table=target
    ):
        try:
            left = _follow(warehouse, files)
        except StoreBusy as busy:
            text = "the partitions are exchanged, but others kept moving folders of the table"
            hint = "The next reader or writer of the table has their files follow"
            raise CommitStateUnknown(text, table=target, publication=files.manifest.id, hint=hint) from busy
        there = store.get_partitions(*target_name, [partition.values for partition in partitions])
    return Exchanged(tuple(there), tuple(left))


def _lease(publisher: Publisher, files: ExchangeFiles) -> list[TableRow]:
    """Lease the partitions in the target, then in the source; the rows of both."""
    tables = (files.exchange.target, files.exchange.source)
    try:
        return [publisher.lease(".".join(table), files.manifest) for table in tables]
    except HbstoreError:
        with suppress(HbstoreError):
            files.withdraw()
        raise


def _follow(warehouse: Warehouse, files: ExchangeFiles) -> list[str]:
    """Have the files follow; why folders stay where they are.

    Then the exchange stays open, so that the next process goes on, and nobody deletes or renames the source meanwhile,
    in whose folder they are.
    """
    failed = files.fetch(warehouse)
    if not failed:
        files.close()
    return [f"the files in {source} are read there until they can follow: {error}" for source, error in failed.items()]


def _check_places(warehouse: Warehouse, files: ExchangeFiles, source: Table) -> None:
    """See that folders are where they were when the partitions were read, and can follow."""
    writes = files.manifest.partitions
    partitions = files.store.get_partitions(*files.exchange.source, [write.values for write in writes])
    places = {partition.values: partition.location or "" for partition in partitions}
    for write in writes:
        if places.get(write.values, write.location) != write.location:  # another exchange was under way then
            raise ConcurrentChange(
                "a partition is elsewhere than when it was read",
                source=write.location,
                location=places[write.values],
                hint="Nothing was changed; read the partitions again",
            )
        if holds_table(source, write.location):
            raise InvalidInput(
                "the files of a partition are the files of the whole table, with which they would be dropped",
                source=write.location,
                hint="Nothing was changed. Move the files into a folder, and give the partition that location",
            )
        place = files.exchange.place(write.location)
        if place is None:
            continue
        if parse_location(place).file_system != parse_location(write.location).file_system:
            raise FileOperationFailed(
                "hbstore does not move files from one file system to another",
                source=write.location,
                target=place,
                hint="Nothing was changed. Copy the files yourself, and add the partitions to the other table",
            )
        for location in (write.location, place):
            warehouse.check_under_roots(location)
        if warehouse.exists(place) and (warehouse.exists(write.location) or warehouse.data_files(place)):
            if files.store.get_partitions(*files.exchange.target, [write.values]):
                return  # which the exchange itself refuses
            raise FileOperationFailed(
                "the new folder of a partition already exists",
                source=write.location,
                target=place,
                hint="Nothing was changed. Remove that folder, or give the partition another location",
            )
