"""Partitions as clients send them, on their way into a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from hbstore.metastore.naming import database_name
from hbstore.metastore.protocol import THRIFT, SentPartition
from hbstore.model.objects import Column, Partition, StorageDescriptor, Table


def partitions_of(table: Table, sent_partitions: Iterable[SentPartition]) -> Iterator[Partition]:
    """The partitions of a batch, if they are all the table's; each is looked at when it is taken.

    Raises:
        MetaException: one is another table's.
    """
    for sent_partition in sent_partitions:
        if (
            database_name(sent_partition.database).lower() != table.database
            or (sent_partition.table or "").lower() != table.name
        ):
            raise THRIFT.MetaException(
                f"Partition does not belong to target table {table}: "
                f"it is one of {sent_partition.database}.{sent_partition.table}"
            )
        yield sent_partition.partition


def with_columns(sent_partitions: Sequence[SentPartition], columns: Sequence[Column]) -> list[SentPartition]:
    """Partitions whose columns a client of Hive 4 sends once, beside them."""
    storages: dict[StorageDescriptor, StorageDescriptor] = {}
    complete = []
    for sent_partition in sent_partitions:
        storage = sent_partition.partition.storage or StorageDescriptor()
        shared = storages.setdefault(storage, replace(storage, columns=tuple(columns)))
        complete.append(replace(sent_partition, partition=replace(sent_partition.partition, storage=shared)))
    return complete
