"""Registering partitions: of facts, whose timelines the store keeps, and of dimension tables, which have a `latest`."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import NoneType
from typing import Final

from hbstore.cubes.concepts import Cube
from hbstore.cubes.descriptions import OTHERS, PartitionDesc, other_texts, values_of
from hbstore.cubes.latest import FullLoads
from hbstore.cubes.logical_tables import DimTable, Fact, LogicalTable, StorageTable
from hbstore.cubes.stored_model import Model
from hbstore.cubes.values import bounds_of
from hbstore.errors import (
    AlreadyExists,
    ConcurrentChange,
    InvalidInput,
    ModelNotFound,
    NoStorageTables,
    OutsideValidity,
    PartitionNotFound,
    did_you_mean,
)
from hbstore.keys.partition_names import partition_name
from hbstore.model.objects import Partition, Table
from hbstore.store.partition_store import PartitionStore
from hbstore.store.puts import already_exists
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
        distinct = place.distinct(partitions)
        if len(distinct) < len(partitions) and not if_not_exists:
            counts = Counter(partition.values for partition in partitions)
            twice = next(values for values, count in counts.items() if count > 1)
            raise already_exists(place.table, twice, "occurs twice in the batch", adding=True)

        def adding(step: TableStep) -> int:
            stored = place.stored(step, distinct) if if_not_exists else {}
            new = [partition for partition in distinct if partition.values not in stored]
            try:
                place.change(step, add=new)
            except AlreadyExists as error:
                place.stored(step, distinct)  # whose error for one of another update period says more
                if not if_not_exists:
                    raise
                raise ConcurrentChange(
                    "another writer added the partition", table=place.table, hint="Try again"
                ) from error
            return len(new)

        return place.store.change(str(place.table), adding)

    def alter(self, name: str, storage: str, descs: Iterable[PartitionDesc], now: datetime) -> int:
        """Replace location and parameters of partitions, all or none; how many."""
        place = self._place(name, storage)
        partitions = place.partitions(descs, self._validity(place.logical, now))

        def altering(step: TableStep) -> int:
            pairs = zip(partitions, place.existing(step, partitions), strict=True)
            place.change(step, put=[_updated(existing, partition) for partition, existing in pairs])
            return len(partitions)

        return place.store.change(str(place.table), altering)

    def drop(self, name: str, storage: str, descs: Iterable[PartitionDesc]) -> int:
        """Drop partitions, all or none; how many."""
        place = self._place(name, storage)
        partitions = place.distinct(place.partitions(descs, _Validity()))

        def dropping(step: TableStep) -> int:
            place.change(step, drop=[existing.values for existing in place.existing(step, partitions)])
            return len(partitions)

        return place.store.change(str(place.table), dropping)

    def latest(self, name: str, storage: str, other: Mapping[str, str | None]) -> Partition | None:
        """The newest partition of a dimension table in a combination of the other columns; None if there is none."""
        place = self._place(name, storage)
        loads = place.loads
        if loads is None:
            raise ModelNotFound(
                "the name is not a dimension table with an update period on that storage",
                name=name,
                storage=storage,
                hint="Name such a dimension table and one of its storages",
            )
        expect_dict("other", other, str, NoneType, hint=OTHERS)
        texts = other_texts(place.on, other)
        values = [texts.get(column, LATEST) for column in place.table.partition_column_names]
        newest = place.store.get_partitions(place.table.database, place.table.name, [loads.latest_values(values)])
        return newest[0] if newest else None

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
    storages = [table.storage for table in logical.storage_tables]
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
        return FullLoads.of(self.table, self.on) if isinstance(self.logical, DimTable) else None

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

    def change(
        self,
        step: TableStep,
        *,
        add: Sequence[Partition] = (),
        put: Sequence[Partition] = (),
        drop: Sequence[tuple[str, ...]] = (),
    ) -> None:
        """Change partitions, and `latest` with them where there is one."""
        if self.loads is None:
            step.change(add=add, put=put, drop=drop)
        else:
            self.loads.change(step, add, put, drop)

    def stored(self, step: TableStep, meant: Iterable[Partition]) -> dict[tuple[str, ...], Partition]:
        """Those of some partitions that are there, by their values.

        Raises:
            AlreadyExists: one of the same values is there, of another update period.
        """
        by_values = {partition.values: partition for partition in meant}
        stored = {existing.values: existing for existing in step.partitions(list(by_values))}
        for values, existing in stored.items():
            if not _is_of_period(existing, by_values[values]):
                raise AlreadyExists(
                    "a partition of another update period has the same values",
                    **self._told(by_values[values], existing),
                    hint="Both periods write this time alike: register them on different storages",
                )
        return stored

    def existing(self, step: TableStep, meant: Sequence[Partition]) -> list[Partition]:
        """Some partitions as they are stored, of the very update period that is meant.

        Months and quarters are written alike, and so a partition's values do not say which it is.

        Raises:
            PartitionNotFound: one is not there.
        """
        stored = {existing.values: existing for existing in step.partitions([partition.values for partition in meant])}
        for partition in meant:
            existing = stored.get(partition.values)
            if existing is None or not _is_of_period(existing, partition):
                raise PartitionNotFound(
                    "the partition does not exist",
                    **self._told(partition, existing),
                    hint=f"List the partitions with `hbstore partitions {self.table}`",
                )
        return [stored[partition.values] for partition in meant]

    def _told(self, meant: Partition, existing: Partition | None) -> dict[str, object]:
        """The fields of an error for what is stored in the place of the partition that is meant."""
        return {
            "table": self.table,
            "partition": partition_name(self.table.partition_column_names, meant.values),
            "update_period": meant.parameters.get(PARTITION_UPDATE_PERIOD),
            "found": "nothing" if existing is None else existing.parameters.get(PARTITION_UPDATE_PERIOD),
        }

    def distinct(self, partitions: Iterable[Partition]) -> list[Partition]:
        """Partitions without those that stand there twice."""
        return list({partition.values: partition for partition in partitions}.values())


def _updated(stored: Partition, meant: Partition) -> Partition:
    """A stored partition with other parameters, and with another location where one is given."""
    location = stored.location if meant.location is None else meant.location
    return replace(stored, location=location, parameters=meant.parameters)


def _is_of_period(stored: Partition, meant: Partition) -> bool:
    """Whether a stored partition is of the update period that is meant; one that names none may be of any."""
    period = stored.parameters.get(PARTITION_UPDATE_PERIOD)
    return period is None or period == meant.parameters.get(PARTITION_UPDATE_PERIOD)
