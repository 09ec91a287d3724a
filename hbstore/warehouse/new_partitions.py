"""Partitions on their way into a table: checked, located, completed as Hive completes them, and added, all or none.

Folders are made before the partitions are there. If the call fails, local ones in which nothing is are removed again,
unless the catalog names them by then. So a crash leaves at worst empty folders, which the next try takes for its own.

Values are kept whatever their column's type makes of them, as HMS keeps them: a text that is none of that type is
listed and found by its name, and ``hour=05`` is another partition than ``hour=5``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count

from hbstore.errors import AlreadyExists, DatabaseNotFound, DdlRefused, TableNotFound, hinting
from hbstore.files.new_folders import making_folders
from hbstore.files.warehouse import Warehouse
from hbstore.keys.partition_names import partition_name, partition_namer
from hbstore.model.frozen import FrozenDict
from hbstore.model.objects import Partition, StorageDescriptor, Table
from hbstore.model.structs import partition_values
from hbstore.publishing.beside_writes import after_writes
from hbstore.publishing.dropped_files import after_deletion
from hbstore.store.partition_store import PartitionStore
from hbstore.warehouse.change_times import DDL_TIME, now
from hbstore.warehouse.locations import elsewhere
from hbstore.warehouse.normal_form import checked_values, lowered_storage
from hbstore.warehouse.quick_statistics import created_partition_parameters
from hbstore.warehouse.refusals import refusal


@dataclass(frozen=True, slots=True)
class Addition:
    """What an addition did.

    Attributes:
        partitions: what was asked for and was not there, as it is stored.
        number: how many of them were added; fewer than those only where others added some in the same moment.
    """

    partitions: Sequence[Partition]
    number: int


def add_partitions(
    store: PartitionStore,
    warehouse: Warehouse,
    table: Table,
    partitions: Iterable[Partition],
    *,
    if_not_exists: bool = False,
    properties: Mapping[str, str] | None = None,
) -> Addition:
    """Add partitions, all or none. O(number), in one request to the store and one folder for each.

    Args:
        store: the catalog.
        warehouse: where files are.
        table: the table, with a location unless it is a view.
        partitions: what to add; they are taken one after the other, so that what raises an error on the way says which
            of them is wrong.
        if_not_exists: pass over those that are there already.
        properties: what Hive's clients say about statistics: `hbstore.warehouse.quick_statistics`.

    Raises:
        AlreadyExists: one is there already, unless ``if_not_exists``.
        TableNotFound, TableNotPartitioned: the table is not there any more, or has no partition columns.
        DdlRefused: one stands twice in the batch, or has too many or too few values.
        FileOperationFailed: a folder cannot be made.
        StoreBusy: the files of a table that was dropped at the location of one are being deleted.
        ConcurrentChange: the table is not where it was when it was read; nothing was changed.
    """
    new = _distinct(table, partitions)
    if if_not_exists:
        present = store.get_payloads(table.database, table.name, [partition.values for partition in new.values()])
        there = set(map(partition_values, present))
        new = {values: partition for values, partition in new.items() if values not in there}
    # Otherwise the store finds out what is there: it finishes first what a dead writer left half done.
    locations = _locations(warehouse, table, new.values())
    folders = [place for place in locations if place is not None]
    if far := elsewhere(folders, table):
        after_deletion(store, *far)
    with making_folders(warehouse, folders, lambda: _named(store, table, new)) as folders_made:
        ready = _completed(warehouse, new.values(), locations, folders_made, properties or {})
        with hinting(AlreadyExists, "Drop it first, or give other values"):
            tries = count()

            def add() -> int:
                if next(tries):  # the files of dropped partitions were being deleted: perhaps with the new folders
                    folders_made[:] = [False] * len(folders_made)
                names = (table.database, table.name)
                return store.add_partitions(*names, ready, if_not_exists, invalid_values="keep", same_as=table)

            number = after_writes(store, table, add)
    return Addition(ready, number)


def _named(store: PartitionStore, table: Table, values: Iterable[tuple[str, ...]]) -> list[str | None]:
    """Where those of some partitions have their folders that are in the catalog."""
    with suppress(TableNotFound, DatabaseNotFound):
        return [one.location for one in store.get_partitions(table.database, table.name, list(values))]
    return []


def _distinct(table: Table, partitions: Iterable[Partition]) -> dict[tuple[str, ...], Partition]:
    """The partitions of a batch by their values, if they are all different."""
    by_values: dict[tuple[str, ...], Partition] = {}
    for partition in partitions:
        values = checked_values(table, partition.values)
        if values in by_values:
            name = partition_name(table.partition_column_names, values)
            raise refusal(DdlRefused, f"Duplicate partitions in the list: {name}")
        by_values[values] = partition
    return by_values


def _locations(warehouse: Warehouse, table: Table, partitions: Iterable[Partition]) -> list[str | None]:
    """Where partitions have their folders; those of a view have none."""
    name_of = partition_namer(table.partition_column_names)
    home = None if table.location is None else table.location.rstrip("/")
    locations: list[str | None] = []
    for partition in partitions:
        if home is None and partition.location:
            raise refusal(DdlRefused, "Cannot specify location for a view partition")
        if partition.location:
            locations.append(warehouse.qualify(partition.location))
        else:
            locations.append(None if home is None else f"{home}/{name_of(partition.values)}")
    return locations


def _completed(
    warehouse: Warehouse,
    partitions: Iterable[Partition],
    locations: Sequence[str | None],
    folders_made: Iterable[bool],
    properties: Mapping[str, str],
) -> list[Partition]:
    """The partitions as they are stored: created now, files counted where a folder was there before."""
    created = now()
    folders = iter(folders_made)
    lowered = _lowering()
    ready = []
    for partition, location in zip(partitions, locations, strict=True):
        parameters: Mapping[str, str] = partition.parameters
        if location is not None and not next(folders):
            parameters = created_partition_parameters(warehouse, parameters, location, properties)
        if DDL_TIME not in parameters:
            parameters = {**parameters, DDL_TIME: str(created)}
        ready.append(
            replace(
                partition,
                location=location,
                storage=lowered(partition.storage),
                parameters=FrozenDict(parameters),
                create_time=created,
            )
        )
    return ready


def _lowering() -> Callable[[StorageDescriptor | None], StorageDescriptor | None]:
    """A function that puts storages into their normal form; what is the same object is so afterwards."""
    storages: dict[int, tuple[StorageDescriptor, StorageDescriptor]] = {}

    def lowered(storage: StorageDescriptor | None) -> StorageDescriptor | None:
        if storage is None:
            return None
        if id(storage) not in storages:
            storages[id(storage)] = storage, lowered_storage(storage)
        return storages[id(storage)][1]

    return lowered
