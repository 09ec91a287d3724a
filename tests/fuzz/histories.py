"""Random histories of two databases, in which processes die and connections break at any write, beside a model.

After each change the store is what it was before, or what the model makes of it: the change says which, or nobody can
tell and the store must be one of the two. What is compared is all that a reader sees: tables, partitions with their
locations, columns and marks, names, counts, totals and timelines.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date
from random import Random

import pytest

from hbstore import Column, Partition, Table
from hbstore.errors import CommitStateUnknown, StoreUnavailable
from hbstore.store.packing import pack_store
from hbstore.store.partition_store import PartitionStore
from hbstore.timelines import UpdatePeriod
from tests.calls import TIMED
from tests.store.faults import Crash, Fault, FaultyRows
from tests.store.strikes import make_impatient

STEPS = 14
DATABASES = ("shop", "attic")
NAMES = ("sales", "sold", "old")
DAYS = [date(2013, 1, day).isoformat() for day in range(1, 10)]
FOLDERS = ("s3://a", "s3://a/b", "s3://c")
FAULTS = [fault for fault in Fault if fault is not Fault.LATE]


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
    partitions: dict[str, Kept] = field(default_factory=dict)


def columns_of(names):
    return tuple(Column(name, "int") for name in names)


def table_of(place, shelf):
    keys = (Column("ds", "date"),)
    return Table(
        *place,
        partition_columns=keys,
        columns=columns_of(shelf.columns),
        location=shelf.location,
        parameters=TIMED,
        create_time=5,
    )


def counts(store, place, days):
    assert store.count_partitions(*place) == store.totals(*place).partitions == len(days)
    for day in DAYS[::4]:
        assert store.count_partitions(*place, f"ds = '{day}'") == days.count(day)


def names(store, place, days):
    assert store.partition_names(*place) == [f"ds={day}" for day in days]


def timeline(store, place, days):
    (timeline,) = store.timelines.read(".".join(place)).values()
    ranges = timeline.index_ranges(0, UpdatePeriod.DAILY.limit)
    assert [UpdatePeriod.DAILY.format_index(at) for start, stop in ranges for at in range(start, stop)] == days


WAYS = (counts, names, timeline)
"""Other ways to read a table's partitions; each asserts that it agrees with the list of them."""


def seen(store, random=None):
    """All that a reader sees, in the model's form; asserts that all ways of reading agree, or a random one or none."""
    tables = {}
    for database in store.database_names():
        for name in store.table_names(database):
            table = store.get_table(database, name)
            listed = store.get_partitions_by_filter(database, name, None)
            days = [partition.values[0] for partition in listed]
            for agrees in WAYS if random is None else random.sample(WAYS, random.randrange(2)):
                agrees(store, (database, name), days)
            partitions = {
                day: Kept(
                    partition.location,
                    tuple(column.name for column in partition.storage.columns),
                    partition.parameters["mark"],
                )
                for day, partition in zip(days, listed, strict=True)
            }
            columns = tuple(column.name for column in table.columns)
            tables[database, name] = Shelf(table.location, columns, partitions)
    return tables


class History:
    """One history.

    Args:
        seed: decides all of it.
        rows: where it happens; what is there of its databases goes.
    """

    def __init__(self, seed, rows):
        self.random = Random(seed)
        self.rows = rows
        self.model = {}
        self.steps = []
        self.number = 0
        store = PartitionStore(rows)
        for database in DATABASES:
            store.drop_database(database, cascade=True, if_exists=True)
            store.create_database(database)
        store.repair_catalog()

    def run(self):
        """Do all steps; AssertionError where the store is not what it may be."""
        for _ in range(STEPS):
            call, after = self._change()
            self._step(call, after)
        store = PartitionStore(self.rows)
        store.repair_catalog()
        assert seen(store) == self.model
        for place in self.model:
            assert [problem for problem in store.check(*place) if problem] == []
            assert store.timelines.check(".".join(place)) == []
        assert [str(problem) for _, _, problem in store.check_catalog() if problem] == []
        expected = sum(len(shelf.partitions) for shelf in self.model.values())
        assert sum(1 for _ in self.rows.whole_rows(b"\2", b"\xff")) == expected

    def _step(self, call, after):
        random = self.random
        fault = random.choice(FAULTS) if random.random() < 0.6 and not self.rows.atomic else None
        rows = self.rows if fault is None else FaultyRows(self.rows, fault, int(20 * random.random() ** 2))
        self.steps[-1] += f" {fault}" if fault else ""
        may_be = [after]
        try:
            call(PartitionStore(rows))
        except StoreUnavailable:
            assert rows.struck
            may_be = [self.model]
        except (Crash, CommitStateUnknown):
            assert rows.struck
            may_be = [self.model, after]
        store = PartitionStore(self.rows)
        if fault is not None or random.random() < 0.1:  # before it, part of a batch may be seen
            store.repair_catalog()
        self.model, before = seen(store, random), self.model  # all ways would take longer than the step
        assert self.model in may_be, (self.model, before)
        for database in DATABASES:
            store.create_database(database, if_not_exists=True)

    def _change(self):
        """A change that can be made: a call, and what the model is after it."""
        random = self.random
        place = random.choice(DATABASES), random.choice(NAMES)
        shelf = self.model.get(place)
        if shelf is None:
            folder = random.choice(FOLDERS)
            shelf = Shelf(folder, tuple(f"c{at}" for at in range(random.randint(1, 3))))
            self.steps.append(f"create {place}")
            return lambda store: store.create_table(table_of(place, shelf)), {**self.model, place: shelf}
        kinds = [self._add, self._add, self._drop, self._mark, self._rename, self._rename, self._cascade, self._alter]
        kinds += [self._rename_partition, self._exchange, self._drop_table, self._drop_database, self._pack]
        while (made := random.choice(kinds)(place, shelf)) is None:
            pass
        text, call, changed = made
        self.steps.append(f"{text} {place}")
        return call, {**{name: one for name, one in self.model.items() if name not in changed}, **_there(changed)}

    def _partition(self, day, shelf):
        self.number += 1
        mark = str(self.number)
        kept = Kept(f"{shelf.location}/ds={day}", shelf.columns, mark)
        return Partition((day,), parameters={"mark": mark}, create_time=7), kept

    def _add(self, place, shelf):
        days = [day for day in self.random.sample(DAYS, 4) if day not in shelf.partitions]
        if not days:
            return None
        made = {day: self._partition(day, shelf) for day in days}
        after = replace(shelf, partitions={**shelf.partitions, **{day: kept for day, (_, kept) in made.items()}})
        given = [partition for partition, _ in made.values()]
        return f"add {days}", lambda store: store.add_partitions(*place, given), {place: after}

    def _drop(self, place, shelf):
        days = self.random.sample(sorted(shelf.partitions), min(2, len(shelf.partitions)))
        after = replace(shelf, partitions={day: one for day, one in shelf.partitions.items() if day not in days})
        values = [(day,) for day in days]
        return (
            None if not days else (f"drop {days}", lambda store: store.drop_partitions(*place, values), {place: after})
        )

    def _mark(self, place, shelf):
        if not shelf.partitions:
            return None
        day = self.random.choice(sorted(shelf.partitions))
        self.number += 1
        kept = Kept(self.random.choice(FOLDERS), shelf.columns, str(self.number))
        given = Partition((day,), parameters={"mark": kept.mark}, location=kept.location, create_time=7)
        after = replace(shelf, partitions={**shelf.partitions, day: kept})
        return f"alter {day}", lambda store: store.alter_partitions(*place, [given]), {place: after}

    def _rename(self, place, shelf):
        free = [(one, name) for one in DATABASES for name in NAMES if (one, name) not in self.model]
        if not free:
            return None
        target, folder = self.random.choice(free), self.random.choice((*FOLDERS, None))
        after, relocated = shelf, None
        if folder is not None:
            relocated = shelf.location, folder
            moved = {
                day: replace(one, location=_moved(one.location, *relocated)) for day, one in shelf.partitions.items()
            }
            after = replace(shelf, location=folder, partitions=moved)
        table = table_of(target, after)
        text = f"rename to {target} {folder}"
        call = lambda store: store.rename_table(*place, table, relocated=relocated)  # noqa: E731
        return text, call, {place: None, target: after}

    def _cascade(self, place, shelf):
        columns = tuple(f"c{at}" for at in range(self.random.randint(1, 3)))
        partitions = {day: replace(one, columns=columns) for day, one in shelf.partitions.items()}
        after = replace(shelf, columns=columns, partitions=partitions)
        return "cascade", lambda store: store.alter_table(table_of(place, after), cascade=True), {place: after}

    def _alter(self, place, shelf):
        after = replace(shelf, columns=tuple(f"d{at}" for at in range(self.random.randint(1, 3))))
        return "alter", lambda store: store.alter_table(table_of(place, after)), {place: after}

    def _rename_partition(self, place, shelf):
        free = [day for day in DAYS if day not in shelf.partitions]
        if not (free and shelf.partitions):
            return None
        old, new = self.random.choice(sorted(shelf.partitions)), self.random.choice(free)
        partitions = {day: one for day, one in shelf.partitions.items() if day != old}
        after = replace(shelf, partitions={**partitions, new: shelf.partitions[old]})
        return (
            f"rename {old} to {new}",
            lambda store: store.rename_partition(*place, (old,), (new,)),
            {place: after},
        )

    def _exchange(self, place, shelf):
        others = [one for one in self.model if one != place]
        if not others:
            return None
        other = self.random.choice(others)
        days = [day for day in sorted(shelf.partitions)[:2] if day not in self.model[other].partitions]
        if not days:
            return None
        left = {day: one for day, one in shelf.partitions.items() if day not in days}
        came = {**self.model[other].partitions, **{day: shelf.partitions[day] for day in days}}
        after = {place: replace(shelf, partitions=left), other: replace(self.model[other], partitions=came)}
        values = [(day,) for day in days]
        return f"exchange {days} with {other}", lambda store: store.exchange_partitions(place, other, values), after

    def _drop_table(self, place, _):
        return "drop table", lambda store: store.drop_table(*place), {place: None}

    def _drop_database(self, place, _):
        if self.random.random() < 0.7:
            return None
        gone = {one: None for one in self.model if one[0] == place[0]}

        return "drop database", lambda store: store.drop_database(place[0], cascade=True), gone

    @staticmethod
    def _pack(_, __):
        return "pack", lambda store: pack_store(store._tables), {}


def _moved(location, old, new):
    return new + location[len(old) :] if f"{location}/".startswith(f"{old}/") else location


def _there(changed):
    return {name: shelf for name, shelf in changed.items() if shelf is not None}


def run_history(seed, rows):
    """One history, in which nobody waits and drops purge in their own process; AssertionError with its steps."""
    with pytest.MonkeyPatch.context() as patch:
        make_impatient(patch)
        history = History(seed, rows)
        try:
            history.run()
        except AssertionError as error:
            error.add_note("\n".join((f"seed {seed}:", *history.steps)))
            raise
