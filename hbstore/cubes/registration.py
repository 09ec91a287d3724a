"""Registering partitions: of facts, whose timelines the store keeps, and of dimension tables, which have a `latest`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import NoneType
from typing import Final

from hbstore.cubes.concepts import Cube
from hbstore.cubes.descriptions import OTHERS, PartitionDesc, other_texts, values_of
from hbstore.cubes.latest import FullLoads, updated
from hbstore.cubes.logical_tables import DimTable, Fact, LogicalTable, StorageTable
from hbstore.cubes.stored_model import Model
from hbstore.cubes.values import bounds_of
from hbstore.errors import (
    AlreadyExists,
    ConcurrentChange,
    InvalidInput,
    InvalidPartitionValue,
    ModelNotFound,
    NoStorageTables,
    OutsideValidity,
    PartitionNotFound,
    did_you_mean,
    hinting,
)
from hbstore.keys.partition_names import partition_name
from hbstore.model.objects import Partition, Table
from hbstore.model.structs import partition_from_payload
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_step import TableStep
from hbstore.texts.arguments import expect, expect_dict, expect_flags, expect_many
from hbstore.timelines import parse_time
from hbstore.timelines.declaration import LATEST, PARTITION_UPDATE_PERIOD

_DESCS: Final = 'Give a list of PartitionDescs, such as [PartitionDesc("DAILY", {"dt": "2015-01-29"})]'


@dataclass(frozen=True, slots=True)
class Registration:
    """Registers partitions on the storage tables of a model.

    Attributes:
        model: the facts and dimension tables.
    """

    model: Model

    def add(
        self, name: str, storage: str, descs: Iterable[PartitionDesc], now: datetime, *, if_not_exists: bool
    ) -> int:
        """Add partitions, all or none; how many, where those that are there are passed over."""
        expect_flags(if_not_exists=if_not_exists)
        place = self._place(name, storage)
        partitions = place.partitions(descs, self._validity(place.logical, now))

        def add(new: Sequence[Partition]) -> int:
            if place.loads is not None:
                place.loads.add(new)
            else:
                with hinting(InvalidPartitionValue, "Nothing was added. Correct the partition"):
                    place.store.add_partitions(place.table.database, place.table.name, new)
            return len(new)

        def add_missing() -> int:
            new = place.missing(partitions)
            try:
                return add(new) if new else 0
            except AlreadyExists as error:
                raise ConcurrentChange(
                    "another writer added the partition", table=place.table, hint="Try again"
                ) from error

        if if_not_exists:
            text = "other writers kept adding the same partitions"
            return place.store.patience.retry(add_missing, text=text, table=place.table)
        try:
            return add(partitions)
        except AlreadyExists:
            place.missing(partitions)  # the error for one of another update period says more
            raise

    def alter(self, name: str, storage: str, descs: Iterable[PartitionDesc], now: datetime) -> int:
        """Replace location and parameters of partitions, all or none; how many."""
        place = self._place(name, storage)
        partitions = place.partitions(descs, self._validity(place.logical, now))
        if place.loads is not None:
            place.loads.replace(partitions)
        else:
            place.change(partitions, drop=False)
        return len(partitions)

    def drop(self, name: str, storage: str, descs: Iterable[PartitionDesc]) -> int:
        """Drop partitions, all or none; how many."""
        place = self._place(name, storage)
        partitions = place.distinct(place.partitions(descs, _Validity()))
        if place.loads is not None:
            place.loads.drop([one.values for one in partitions])
        else:
            place.change(partitions, drop=True)
        return len(partitions)

    def latest(self, name: str, storage: str, other: Mapping[str, str | None]) -> Partition | None:
        """The newest partition of a dimension table in a combination of the other columns; None if there is none."""
        place = self._place(name, storage)
        if place.loads is None:
            raise ModelNotFound(
                "the name is not a dimension table with an update period on that storage",
                name=name,
                storage=storage,
                hint="Name such a dimension table and one of its storages",
            )
        expect_dict("other", other, str, NoneType, hint=OTHERS)
        texts = other_texts(place.on, other)
        values = [texts.get(column, LATEST) for column in place.table.partition_column_names]
        found = place.store.get_partitions(place.table.database, place.table.name, [place.loads.latest_values(values)])
        return found[0] if found else None

    def _place(self, name: str, storage: str) -> _Place:
        logical = self.model.tabled(name)
        on = storage_table_of(logical, storage)
        table = self.model.store.get_table(self.model.database, logical.table_name(storage))
        return _Place(self.model.store, logical, on, table)

    def _validity(self, logical: LogicalTable, now: datetime) -> _Validity:
        if not isinstance(logical, Fact) or (logical.start_time is None and logical.end_time is None):
            return _Validity()
        cube = self.model.get("cube", logical.cube)
        columns = frozenset(cube.time_dimensions.values()) if isinstance(cube, Cube) else frozenset()
        start, end = validity(logical, now)
        return _Validity(start, end, columns)


def only_storage_of(logical: LogicalTable) -> str:
    """The storage of a fact or a dimension table that is on no other.

    Raises:
        NoStorageTables: it is on no storage.
        InvalidInput: it is on several.
    """
    storages = [one.storage for one in logical.storage_tables]
    if not storages:
        raise NoStorageTables(
            "the fact or dimension table is on no storage",
            name=logical.name,
            hint="Add a storage table to the fact or dimension table",
        )
    if len(storages) > 1:
        raise InvalidInput(
            "the fact or dimension table is on several storages",
            name=logical.name,
            storages=", ".join(storages),
            hint="Name one of them",
        )
    return storages[0]


def storage_table_of(logical: LogicalTable, storage: str) -> StorageTable:
    """What a fact or a dimension table is on a storage.

    Raises:
        ModelNotFound: it is not on that storage.
    """
    expect("storage", storage, str, hint="Give the name of a storage")
    on = next((table for table in logical.storage_tables if table.storage == storage.lower()), None)
    if on is None:
        raise ModelNotFound(
            f"the {logical.kind} is not on that storage",
            name=logical.name,
            storage=storage,
            storages=", ".join(table.storage for table in logical.storage_tables) or "none",
            hint=did_you_mean(
                storage,
                (table.storage for table in logical.storage_tables),
                "Name one of its storages, or alter it to use this storage",
            ),
        )
    return on


def validity(fact: Fact, now: datetime) -> tuple[datetime | None, datetime | None]:
    """From when up to when a fact holds data; None: always."""
    starts, ends = (
        [] if text is None else [parse_time(one, now) for one in bounds_of(text)]
        for text in (fact.start_time, fact.end_time)
    )
    return max(starts, default=None), min(ends, default=None)


@dataclass(frozen=True, slots=True)
class _Validity:
    """When the data of a fact are from, and which partition columns say so: all, if there are none."""

    start: datetime | None = None
    end: datetime | None = None
    columns: frozenset[str] = frozenset()

    def check(self, logical: LogicalTable, on: StorageTable, desc: PartitionDesc) -> None:
        """See that a partition is not wholly outside, in any column.

        Raises:
            OutsideValidity: it is.
        """
        columns = [name for name in on.time_partition_columns if not self.columns or name in self.columns]
        if columns and (self.start or self.end) and all(self._is_outside(desc, column) for column in columns):
            period = desc.period
            assert period is not None
            raise OutsideValidity(
                "the partition is outside the validity of the fact",
                name=logical.name,
                column=columns[0],
                time=period.format(desc.begins(columns[0])),
                start=None if self.start is None else self.start.isoformat(),
                end=None if self.end is None else self.end.isoformat(),
                hint="Leave the partition out, or alter the fact's start or end",
            )

    def _is_outside(self, one: PartitionDesc, column: str) -> bool:
        period, begin = one.period, one.begins(column)
        assert period is not None
        after = period.next(begin)
        return (self.end is not None and begin >= self.end) or (self.start is not None and after <= self.start)


@dataclass(frozen=True, slots=True)
class _Place:
    """A storage table and what it belongs to."""

    store: PartitionStore
    logical: LogicalTable
    on: StorageTable
    table: Table

    @property
    def loads(self) -> FullLoads | None:
        """What keeps `latest`, where there is one."""
        return FullLoads.of(self.store, self.table, self.on) if isinstance(self.logical, DimTable) else None

    def partitions(self, descs: Iterable[PartitionDesc], valid: _Validity) -> list[Partition]:
        """Partitions as the store takes them; every one is checked before anything is changed."""
        partitions, now = [], int(time.time())
        for desc in expect_many("descs", descs, PartitionDesc, hint=_DESCS):
            values = values_of(self.on, desc)
            valid.check(self.logical, self.on, desc)
            own = {} if desc.period is None else {PARTITION_UPDATE_PERIOD: desc.period.name}
            partitions.append(
                Partition(values, location=desc.location, parameters={**desc.parameters, **own}, create_time=now)
            )
        return partitions

    def missing(self, meant: Iterable[Partition]) -> list[Partition]:
        """Those of some partitions that are not there.

        Raises:
            AlreadyExists: one of the same values is there, of another update period.
        """
        distinct = self.distinct(meant)
        payloads = self.store.get_payloads(
            self.table.database, self.table.name, [partition.values for partition in distinct]
        )
        stored = {partition.values: partition for partition in map(partition_from_payload, payloads)}
        new = []
        for partition in distinct:
            existing = stored.get(partition.values)
            if existing is None:
                new.append(partition)
            elif not _is_of_period(existing, partition):
                raise AlreadyExists(
                    "a partition of another update period has the same values",
                    table=self.table,
                    partition=partition_name(self.table.partition_column_names, partition.values),
                    update_period=partition.parameters.get(PARTITION_UPDATE_PERIOD),
                    found=existing.parameters.get(PARTITION_UPDATE_PERIOD),
                    hint="Both periods write this time alike: register them on different storages",
                )
        return new

    def change(self, meant: Sequence[Partition], *, drop: bool) -> None:
        """Update or drop partitions that are there, of the very update period that is meant.

        Months and quarters are written alike, and so a partition's values do not say which it is.
        """

        def change(step: TableStep) -> None:
            stored = {one.values: one for one in step.partitions([partition.values for partition in meant])}
            pairs = [(partition, stored.get(partition.values)) for partition in meant]
            matching = [
                (partition, existing)
                for partition, existing in pairs
                if existing is not None and _is_of_period(existing, partition)
            ]
            if len(matching) < len(pairs):
                partition, existing = next(pair for pair in pairs if pair not in matching)
                raise PartitionNotFound(
                    "the partition does not exist",
                    table=self.table,
                    partition=partition_name(self.table.partition_column_names, partition.values),
                    update_period=partition.parameters.get(PARTITION_UPDATE_PERIOD),
                    found="nothing" if existing is None else existing.parameters.get(PARTITION_UPDATE_PERIOD),
                    hint=f"List the partitions with `hbstore partitions {self.table}`",
                )
            step.change(
                put=() if drop else [updated(existing, partition) for partition, existing in matching],
                drop=[existing.values for _, existing in matching] if drop else (),
            )

        self.store.change(str(self.table), change)

    def distinct(self, partitions: Iterable[Partition]) -> list[Partition]:
        """Partitions without those that stand there twice."""
        return list({one.values: one for one in partitions}.values())


def _is_of_period(stored: Partition, meant: Partition) -> bool:
    """Whether a stored partition is of the update period that is meant; one that names none may be of any."""
    period = stored.parameters.get(PARTITION_UPDATE_PERIOD)
    return period is None or period == meant.parameters.get(PARTITION_UPDATE_PERIOD)
