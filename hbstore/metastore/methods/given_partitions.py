"""Partitions as clients send them, on their way into a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from hbstore.metastore.naming import database_name
from hbstore.metastore.protocol import THRIFT, GivenPartition
from hbstore.model import Column, Partition, StorageDescriptor, Table


def partitions_of(table: Table, given_partitions: Iterable[GivenPartition]) -> Iterator[Partition]:
    """The partitions of a batch, if they are all the table's; each is looked at when it is taken.

    Raises:
        MetaException: one is another table's.
    """
    for given_partition in given_partitions:
        if (
            database_name(given_partition.database).lower() != table.database
            or (given_partition.table or "").lower() != table.name
        ):
            raise THRIFT.MetaException(
                f"Partition does not belong to target table {table}: "
                f"it is one of {given_partition.database}.{given_partition.table}"
            )
        yield given_partition.partition


def with_columns(given_partitions: Sequence[GivenPartition], columns: Sequence[Column]) -> list[GivenPartition]:
    """Partitions whose columns a client of Hive 4 sends once, beside them."""
    storages: dict[StorageDescriptor, StorageDescriptor] = {}
    complete = []
    for given_partition in given_partitions:
        storage = given_partition.partition.storage or StorageDescriptor()
        shared = storages.setdefault(storage, replace(storage, columns=tuple(columns)))
        complete.append(replace(given_partition, partition=replace(given_partition.partition, storage=shared)))
    return complete
