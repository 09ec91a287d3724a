"""Exchanging partitions: they leave one table and come to another, with their folders."""

from __future__ import annotations

from collections.abc import Sequence

from hbstore.errors import DdlRefused
from hbstore.files.warehouse import Warehouse
from hbstore.model import Column, Partition, Table
from hbstore.publishing import exchanger
from hbstore.publishing.exchanger import Exchanged
from hbstore.store.partition_store import PartitionStore
from hbstore.warehouse.locations import located
from hbstore.warehouse.partition_updates import update_partitions
from hbstore.warehouse.spelling import respelt


def exchange_partitions(
    store: PartitionStore, warehouse: Warehouse, source: Table, target: Table, partitions: Sequence[Partition]
) -> Exchanged:
    """Move partitions that were read, with the folders that are in the source's, all or none.

    Raises:
        DdlRefused: the tables' columns differ.
        HbstoreError: as of `hbstore.publishing.exchanger.exchange_partitions`.
    """
    if not (_alike(source.columns, target.columns) and _alike(source.partition_columns, target.partition_columns)):
        raise DdlRefused(
            "The tables have different schemas. Their partitions cannot be exchanged.",
            source=source,
            target=target,
            hint="Give both tables the same columns and partition columns",
        )
    source, target = located(store, warehouse, source), located(store, warehouse, target)
    spelt = update_partitions(store, source, partitions, lambda partition: respelt(partition, source))
    by_values = {partition.values: partition for partition in spelt}
    alike = [by_values.get(partition.values, partition) for partition in partitions]
    return exchanger.exchange_partitions(store, warehouse, source, target, alike)


def _alike(left: Sequence[Column], right: Sequence[Column]) -> bool:
    """Whether columns have the same names and types, whatever their case and their comments."""
    one, other = ([(column.name.lower(), column.type.lower()) for column in columns] for columns in (left, right))
    return one == other
