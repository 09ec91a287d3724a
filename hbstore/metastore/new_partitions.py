"""Partitions on their way into a table: checked, located, completed as Hive completes them, and added, all or none.

Folders are made before the partitions are there, and removed again if the call fails and nothing is in them. So a
crash leaves at worst empty folders, which the next try takes for its own.

Values are kept whatever their column's type makes of them, as HMS keeps them: a text that is none of that type is
listed and found by its name. They are compared by type: ``hour=05`` is there already if ``hour=5`` is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from hbstore.errors import AlreadyExists, hinting
from hbstore.keys import text_cell
from hbstore.metastore.calls import Call
from hbstore.metastore.environment import DDL_TIME, now
from hbstore.metastore.naming import database_name
from hbstore.metastore.normal_form import lowered_storage
from hbstore.metastore.protocol import THRIFT, GivenPartition
from hbstore.metastore.quick_statistics import created_partition_parameters
from hbstore.metastore.table_locations import located_table
from hbstore.model import Column, FrozenDict, Partition, StorageDescriptor, Table
from hbstore.names import partition_name, partition_namer
from hbstore.structs import PartitionEncoder, partition_values

Identity: TypeAlias = tuple[bytes, ...]
"""What a table's partitions differ in: their values by type."""


@dataclass(frozen=True, slots=True)
class Added:
    """What an addition did.

    Attributes:
        table: the table as it was.
        partitions: what was asked for and was not there.
        number: how many of them were added; fewer than those only where others added some in the same moment.
    """

    table: Table
    partitions: Sequence[Partition]
    number: int


def add_partitions(
    call: Call,
    database: str | None,
    name: str | None,
    given: Sequence[GivenPartition],
    *,
    if_not_exists: bool = False,
    properties: Mapping[str, str] | None = None,
) -> Added:
    """Add partitions, all or none. O(number), in one request to the store and one folder for each.

    Args:
        call: what is answered.
        database: the table's database, as the client names it.
        name: the table's name.
        given: what to add.
        if_not_exists: pass over those that are there already.
        properties: the call's environment context.

    Raises:
        AlreadyExistsException: one is there already, unless ``if_not_exists``.
        InvalidObjectException: there is no such table, or it has no partition columns.
        MetaException: one stands twice in the batch, is another table's, or has too many or too few values; a folder
            cannot be made.
    """
    target = database_name(database)
    call.note(table=f"{target}.{name}")
    table = located_table(call, target, name or "")
    new = _distinct(table, given)
    if if_not_exists:
        present = call.store.get_payloads(table.database, table.name, [one.values for one in new.values()])
        there = set(map(identity_of(table), map(partition_values, present)))
        new = {identity: one for identity, one in new.items() if identity not in there}
    # Otherwise the store finds out what is there: it finishes first what a dead writer left half done.
    locations = _locations(call, table, new.values())
    with call.warehouse.making_folders([place for place in locations if place is not None]) as made:
        ready = _completed(call, new.values(), locations, made, properties or {})
        with hinting(AlreadyExists, "Values are compared by type: 05 and 5 are the same int"):
            number = call.store.add_partitions(table.database, table.name, ready, if_not_exists, invalid_values="keep")
    call.note(partitions=number)
    return Added(table, ready, number)


def with_columns(given: Sequence[GivenPartition], columns: Sequence[Column]) -> list[GivenPartition]:
    """Partitions whose columns a client of Hive 4 sends once, beside them."""
    storages: dict[StorageDescriptor, StorageDescriptor] = {}
    complete = []
    for one in given:
        storage = one.partition.storage or StorageDescriptor()
        shared = storages.setdefault(storage, replace(storage, columns=tuple(columns)))
        complete.append(replace(one, partition=replace(one.partition, storage=shared)))
    return complete


def stored_bytes(call: Call, added: Added) -> list[bytes]:
    """The stored bytes of what was added, for a reply."""
    table = added.table
    encode = PartitionEncoder(table).encode
    encoded = [encode(one) for one in added.partitions]
    if added.number == len(encoded):
        return encoded
    # Another writer added some of them meanwhile; those that are stored as given are this call's.
    found = call.store.get_payloads(table.database, table.name, [one.values for one in added.partitions])
    return [payload for payload in found if payload in encoded]


def identity_of(table: Table) -> Callable[[Sequence[str]], Identity]:
    """A function that gives the identity of a partition's values.

    It raises MetaException where there are too many or too few of them.

    >>> from hbstore.model import Column
    >>> identify = identity_of(Table("shop", "sales", partition_columns=[Column("hour", "int")]))
    >>> identify(["05"]) == identify(["5"])
    True
    """
    types = table.key_types

    def identify(values: Sequence[str]) -> Identity:
        if len(values) != len(types) or not types:
            keys = ", ".join(table.partition_column_names)
            raise THRIFT.MetaException(f"Invalid partition key & values; keys [{keys}], values [{', '.join(values)}]")
        return tuple(map(text_cell, types, values))

    return identify


def default_location(table: Table, values: Sequence[str]) -> str | None:
    """Where a partition has its folder if nothing else is said: below its table's, by its name."""
    if table.location is None:
        return None
    return f"{table.location.rstrip('/')}/{partition_name(table.partition_column_names, values)}"


def _distinct(table: Table, given: Iterable[GivenPartition]) -> dict[Identity, Partition]:
    """The partitions of a batch by their identities, if they are all different and all the table's."""
    identify = identity_of(table)
    by_identity: dict[Identity, Partition] = {}
    for one in given:
        if database_name(one.database).lower() != table.database or (one.table or "").lower() != table.name:
            raise THRIFT.MetaException(
                f"Partition does not belong to target table {table}: it is one of {one.database}.{one.table}"
            )
        identity = identify(one.partition.values)
        if identity in by_identity:
            name = partition_name(table.partition_column_names, one.partition.values)
            raise THRIFT.MetaException(f"Duplicate partitions in the list: {name}")
        by_identity[identity] = one.partition
    return by_identity


def _locations(call: Call, table: Table, partitions: Iterable[Partition]) -> list[str | None]:
    """Where partitions have their folders; those of a view have none."""
    name_of = partition_namer(table.partition_column_names)
    home = None if table.location is None else table.location.rstrip("/")
    locations: list[str | None] = []
    for one in partitions:
        if home is None and one.location:
            raise THRIFT.MetaException("Cannot specify location for a view partition")
        if one.location:
            locations.append(call.warehouse.qualify(one.location))
        else:
            locations.append(None if home is None else f"{home}/{name_of(one.values)}")
    return locations


def _completed(
    call: Call,
    partitions: Iterable[Partition],
    locations: Sequence[str | None],
    made: Iterable[bool],
    properties: Mapping[str, str],
) -> list[Partition]:
    """The partitions as they are stored: created now, files counted where a folder was there before."""
    created = now()
    folders = iter(made)
    lowered = _lowering()
    ready = []
    for one, location in zip(partitions, locations, strict=True):
        parameters: Mapping[str, str] = one.parameters
        if location is not None and not next(folders):
            parameters = created_partition_parameters(call.warehouse, parameters, location, properties)
        if DDL_TIME not in parameters:
            parameters = {**parameters, DDL_TIME: str(created)}
        ready.append(
            replace(
                one,
                location=location,
                storage=lowered(one.storage),
                parameters=FrozenDict(parameters),
                create_time=created,
            )
        )
    return ready


def _lowering() -> Callable[[StorageDescriptor | None], StorageDescriptor | None]:
    """A function that puts storages into their normal form; what is the same object is so afterwards."""
    known: dict[int, tuple[StorageDescriptor, StorageDescriptor]] = {}

    def lowered(storage: StorageDescriptor | None) -> StorageDescriptor | None:
        if storage is None:
            return None
        if id(storage) not in known:
            known[id(storage)] = storage, lowered_storage(storage)
        return known[id(storage)][1]

    return lowered
