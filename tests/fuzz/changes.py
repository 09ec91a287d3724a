"""Random changes of a store with what each makes of a model, and reads with what each answers of it.

What a change makes is a function of a model, so it can be said of any order of changes, and of one that comes late.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from hbstore import Column, Partition, Table
from hbstore.store.packing import pack_store
from hbstore.store.partition_store import PartitionStore
from hbstore.timelines import UpdatePeriod
from tests.calls import TIMED

DATABASES = ("shop", "attic")
NAMES = ("sales", "sold", "old")
PLACES = [(database, name) for database in DATABASES for name in NAMES]
DAYS = [date(2013, 1, day).isoformat() for day in range(1, 10)]
FOLDERS = ("s3://a", "s3://a/b", "s3://c")


class Refused(Exception):
    """The store refuses a change, or a read, where this is the state."""


@dataclass(frozen=True)
class Kept:
    """A partition as the model has it."""

    location: str
    columns: tuple[str, ...]
    mark: str


@dataclass(frozen=True)
class Shelf:
    """A table as the model has it."""

    location: str
    columns: tuple[str, ...]
    partitions: Mapping[str, Kept] = field(default_factory=dict)

    def without(self, days):
        """It without some partitions, all of which must be there."""
        if not set(days) <= self.partitions.keys():
            raise Refused
        return replace(self, partitions={day: one for day, one in self.partitions.items() if day not in days})

    def plus(self, partitions):
        """It with more partitions, none of which may be there."""
        if not self.partitions.keys().isdisjoint(partitions):
            raise Refused
        return replace(self, partitions={**self.partitions, **partitions})


@dataclass(frozen=True)
class Model:
    """Tables by their places, and the databases that are not there."""

    tables: Mapping[tuple[str, str], Shelf] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()

    def table(self, place):
        """A table that must be there."""
        if place not in self.tables:
            raise Refused
        return self.tables[place]

    def put(self, place, shelf):
        """It with a table in a place."""
        return replace(self, tables={**self.tables, place: shelf})

    def moved(self, place, shelf):
        """It with a table in a place that must be free, in a database that must be there."""
        if place in self.tables or place[0] in self.gone:
            raise Refused
        return self.put(place, shelf)

    def without(self, place):
        """It without a table, which must be there."""
        self.table(place)
        return replace(self, tables={one: shelf for one, shelf in self.tables.items() if one != place})


@dataclass(frozen=True)
class Change:
    """A change.

    Attributes:
        text: for people.
        call: makes it.
        effect: what it makes of a model; Refused where the store makes no change.
    """

    text: str
    call: Callable[[PartitionStore], object]
    effect: Callable[[Model], Model]


@dataclass(frozen=True)
class Read:
    """A read.

    Attributes:
        text: for people.
        call: reads.
        answer: what it returns where this is the model; Refused where there is no such table.
    """

    text: str
    call: Callable[[PartitionStore], Any]
    answer: Callable[[Model], Any]


class Changes:
    """Random changes and reads.

    Args:
        random: decides which.
    """

    def __init__(self, random):
        self._random = random
        self._number = 0

    def any_change(self, model):
        """A change that the store makes where this is the model."""
        places = [one for one in PLACES if one[0] not in model.gone]
        if not places:
            return self._pack(None, None, None)
        if model.tables and self._random.random() < 0.7:
            places = sorted(model.tables)
        place = self._random.choice(places)
        shelf = model.tables.get(place)
        if shelf is None:
            return self._create(place)
        kinds = [self._add, self._add, self._drop, self._mark, self._rename, self._rename, self._cascade, self._alter]
        kinds += [self._rename_partition, self._exchange, self._drop_table, self._drop_database, self._pack]
        while not (change := self._random.choice(kinds)(place, shelf, model)):
            pass
        return change

    def _create(self, place):
        shelf = Shelf(self._random.choice(FOLDERS), self._columns("c"))
        table = table_of(place, shelf.location, shelf.columns)
        return Change(
            f"create {place}", lambda store: store.create_table(table), lambda model: model.moved(place, shelf)
        )

    def _columns(self, letter):
        return tuple(f"{letter}{at}" for at in range(self._random.randint(1, 3)))

    def _mark_number(self):
        self._number += 1
        return str(self._number)

    def _add(self, place, shelf, _):
        days = [day for day in self._random.sample(DAYS, 4) if day not in shelf.partitions]
        marks = {day: self._mark_number() for day in days}
        partitions = [Partition((day,), parameters={"mark": mark}, create_time=7) for day, mark in marks.items()]

        def effect(model):
            table = model.table(place)
            kept = {day: Kept(f"{table.location}/ds={day}", table.columns, mark) for day, mark in marks.items()}
            return model.put(place, table.plus(kept))

        return days and Change(f"add {days} {place}", lambda store: store.add_partitions(*place, partitions), effect)

    def _drop(self, place, shelf, _):
        days = self._random.sample(sorted(shelf.partitions), min(2, len(shelf.partitions)))
        values = [(day,) for day in days]
        effect = lambda model: model.put(place, model.table(place).without(days))  # noqa: E731
        return (
            Change(f"drop {days} {place}", lambda store: store.drop_partitions(*place, values), effect)
            if days
            else None
        )

    def _mark(self, place, shelf, _):
        if not shelf.partitions:
            return None
        day, mark = self._random.choice(sorted(shelf.partitions)), self._mark_number()
        location = self._random.choice(FOLDERS)
        partition = Partition((day,), parameters={"mark": mark}, location=location, create_time=7)

        def effect(model):
            table = model.table(place)
            return model.put(place, table.without([day]).plus({day: Kept(location, table.columns, mark)}))

        return Change(f"alter {day} {place}", lambda store: store.alter_partitions(*place, [partition]), effect)

    def _rename(self, place, shelf, model):
        free = free_places(model)
        return free and self._renamed(place, shelf, self._random.choice(free))

    def swap(self, model):
        """Changes that give the name of one table to another one; none where there are no two, or no other name."""
        free = free_places(model)
        if len(model.tables) < 2 or not free:
            return []
        first, second = self._random.sample(sorted(model.tables), 2)
        away = self._renamed(first, model.tables[first], self._random.choice(free))
        return [away, self._renamed(second, model.tables[second], first)]

    def _renamed(self, place, shelf, target):
        folder = self._random.choice((*FOLDERS, None))
        location, columns = folder or shelf.location, shelf.columns
        relocated = None if folder is None else (shelf.location, folder)

        def effect(model):
            partitions = {
                day: replace(one, location=_moved(one.location, *relocated)) if relocated else one
                for day, one in model.table(place).partitions.items()
            }
            return model.without(place).moved(target, Shelf(location, columns, partitions))

        table = table_of(target, location, columns)
        call = lambda store: store.rename_table(*place, table, relocated=relocated)  # noqa: E731
        return Change(f"rename to {target} {folder} {place}", call, effect)

    def _cascade(self, place, shelf, _):
        location, columns = shelf.location, self._columns("c")
        table = table_of(place, location, columns)

        def effect(model):
            partitions = {day: replace(one, columns=columns) for day, one in model.table(place).partitions.items()}
            return model.put(place, Shelf(location, columns, partitions))

        return Change(f"cascade {place}", lambda store: store.alter_table(table, cascade=True), effect)

    def _alter(self, place, shelf, _):
        location, columns = shelf.location, self._columns("d")
        table = table_of(place, location, columns)

        def effect(model):
            return model.put(place, Shelf(location, columns, model.table(place).partitions))

        return Change(f"alter {place}", lambda store: store.alter_table(table), effect)

    def _rename_partition(self, place, shelf, _):
        free = [day for day in DAYS if day not in shelf.partitions]
        if not (free and shelf.partitions):
            return None
        old, new = self._random.choice(sorted(shelf.partitions)), self._random.choice(free)

        def effect(model):
            table = model.table(place)
            return model.put(place, table.without([old]).plus({new: table.partitions[old]}))

        call = lambda store: store.rename_partition(*place, (old,), (new,))  # noqa: E731
        return Change(f"rename {old} to {new} {place}", call, effect)

    def _exchange(self, place, shelf, model):
        others = [one for one in model.tables if one != place]
        if not others:
            return None
        other = self._random.choice(others)
        days = [day for day in sorted(shelf.partitions)[:2] if day not in model.tables[other].partitions]

        def effect(model):
            table = model.table(place)
            left = table.without(days)
            return model.put(place, left).put(
                other, model.table(other).plus({day: table.partitions[day] for day in days})
            )

        values = [(day,) for day in days]
        call = lambda store: store.exchange_partitions(place, other, values)  # noqa: E731
        return Change(f"exchange {days} with {other} {place}", call, effect) if days else None

    def _drop_table(self, place, _, __):
        return Change(f"drop table {place}", lambda store: store.drop_table(*place), lambda model: model.without(place))

    def _drop_database(self, place, _, __):
        if self._random.random() < 0.7:
            return None
        database = place[0]

        def effect(model):
            if database in model.gone:
                raise Refused
            left = {one: shelf for one, shelf in model.tables.items() if one[0] != database}
            return Model(left, model.gone | {database})

        return Change(f"drop database {place}", lambda store: store.drop_database(database, cascade=True), effect)

    def _pack(self, _, __, ___):
        return Change("pack", lambda store: pack_store(store._tables), lambda model: model)

    def any_look(self, model):
        """A read, or upkeep, which changes nothing that is seen; None where there is no table."""
        if not model.tables:
            return None
        place = self._random.choice(sorted(model.tables))
        day = self._random.choice(DAYS)
        return self._random.choice(
            (
                Read(f"list {place}", lambda store: listed(store, place), lambda model: model.table(place).partitions),
                Read(
                    f"names {place}",
                    lambda store: store.partition_names(*place),
                    lambda model: [f"ds={day}" for day in sorted(model.table(place).partitions)],
                ),
                Read(
                    f"count {place}",
                    lambda store: store.count_partitions(*place, f"ds >= '{day}'"),
                    lambda model: sum(one >= day for one in model.table(place).partitions),
                ),
                Read(
                    f"timeline {place}",
                    lambda store: times(store, place),
                    lambda model: sorted(model.table(place).partitions),
                ),
                Read(
                    f"tables {place[0]}",
                    lambda store: store.table_names(place[0]),
                    lambda model: sorted(name for database, name in model.tables if database == place[0]),
                ),
                Read(f"check {place}", lambda store: list(filter(None, store.check(*place))), lambda _: []),
                Read("check", lambda store: [one for *_, one in store.check_catalog() if one], lambda _: []),
                Change("repair", lambda store: store.repair_catalog(), lambda model: model),
                self._pack(None, None, None),
                Change(f"recount {place}", lambda store: store.repair(*place), lambda model: model),
                Change(f"build {place}", lambda store: store.timelines.rebuild(".".join(place)), lambda model: model),
            )
        )


def free_places(model):
    """Where a table may come to."""
    return [one for one in PLACES if one not in model.tables and one[0] not in model.gone]


def table_of(place, location, columns):
    """A table with a column of days, of which there are timelines."""
    return Table(
        *place,
        partition_columns=(Column("ds", "date"),),
        columns=tuple(Column(name, "int") for name in columns),
        location=location,
        parameters=TIMED,
        create_time=5,
    )


def listed(store, place):
    """A table's partitions as the model has them."""
    return {
        one.values[0]: Kept(one.location, tuple(column.name for column in one.storage.columns), one.parameters["mark"])
        for one in store.get_partitions_by_filter(*place, None)
    }


def times(store, place):
    """The days of a table's timeline."""
    (timeline,) = store.timelines.read(".".join(place)).values()
    ranges = timeline.index_ranges(0, UpdatePeriod.DAILY.limit)
    return [UpdatePeriod.DAILY.format_index(at) for start, stop in ranges for at in range(start, stop)]


def _moved(location, old, new):
    return new + location[len(old) :] if f"{location}/".startswith(f"{old}/") else location
