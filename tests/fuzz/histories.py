"""Random histories of two databases, beside a model: processes die, connections break, and others act in between.

After each change the store is what it was before, or what the model makes of it: the change says which, or nobody can
tell and the store must be one of the two. Where others change the store within a change, at any of its calls to the
rows, it comes before all of theirs or behind them, or is refused; a read answers what was there before or behind them.
What is compared is all that a reader sees: tables, partitions with their locations, columns and marks, names, counts,
totals and timelines.
"""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest

from hbstore.errors import CommitStateUnknown, HbstoreError, StoreUnavailable
from hbstore.store import packing
from hbstore.store.partition_store import PartitionStore
from hbstore.transactions import templates
from tests.fuzz.changes import DATABASES, DAYS, Changes, Model, Read, Refused, Shelf, listed, times
from tests.store.faults import Crash, Fault, FaultyRows
from tests.store.stepping import InterruptedRows
from tests.store.strikes import make_impatient

STEPS = 14
FAULTS = [fault for fault in Fault if fault is not Fault.LATE]


def counts(store, place, days):
    assert store.count_partitions(*place) == store.totals(*place).partitions == len(days)
    for day in DAYS[::4]:
        assert store.count_partitions(*place, f"ds = '{day}'") == days.count(day)


def names(store, place, days):
    assert store.partition_names(*place) == [f"ds={day}" for day in days]


def timeline(store, place, days):
    assert times(store, place) == days


WAYS = (counts, names, timeline)
"""Other ways to read a table's partitions; each asserts that it agrees with the list of them."""


def seen(store, random=None):
    """All that a reader sees, in the model's form; asserts that all ways of reading agree, or a random one or none."""
    tables = {}
    for database in store.database_names():
        for name in store.table_names(database):
            place = (database, name)
            table = store.get_table(*place)
            partitions = listed(store, place)
            for agrees in WAYS if random is None else random.sample(WAYS, random.randrange(2)):
                agrees(store, place, list(partitions))
            columns = tuple(column.name for column in table.columns)
            tables[place] = Shelf(table.location, columns, partitions)
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
        self.changes = Changes(self.random)
        self.model = Model()
        self.steps = []
        store = PartitionStore(rows)
        for database in DATABASES:
            store.drop_database(database, cascade=True, if_exists=True)
            store.create_database(database)
        store.repair_catalog()

    def run(self):
        """Do all steps; AssertionError where the store is not what it may be."""
        kinds = (
            (self._alone,) if self.rows.atomic else (self._alone, self._struck, self._struck, self._among, self._among)
        )
        for _ in range(STEPS):
            kind = self.random.choice(kinds)
            may_be = kind(self.changes.any_change(self.model))
            store = PartitionStore(self.rows)
            if kind == self._struck or self.random.random() < 0.1:  # before it, part of a batch may be seen
                store.repair_catalog()
            tables = seen(store, self.random)  # all ways would take longer than the step
            assert tables in [model.tables for model in may_be], (tables, may_be)
            self.model = Model(tables)
            for database in DATABASES:
                store.create_database(database, if_not_exists=True)
        self._check()

    def _alone(self, change):
        self.steps.append(change.text)
        change.call(PartitionStore(self.rows))
        return [change.effect(self.model)]

    def _struck(self, change):
        """It is struck by a fault at one of its writes, or ends before."""
        fault = self.random.choice(FAULTS)
        rows = FaultyRows(self.rows, fault, int(20 * self.random.random() ** 2))
        self.steps.append(f"{change.text} {fault}")
        after = change.effect(self.model)
        try:
            change.call(PartitionStore(rows))
        except StoreUnavailable:
            assert rows.struck
            return [self.model]
        except (Crash, CommitStateUnknown):
            assert rows.struck
            return [self.model, after]
        return [after]

    def _among(self, change):
        """Others change the store within it, or within a read."""
        act = self.random.choice((change, self.changes.any_look(self.model) or change))
        at = int(2 ** (6 * self.random.random())) - 1  # most acts make 3 to 20 calls, a repair 100
        others, store, acted = [], PartitionStore(self.rows), False

        def act_within():
            nonlocal acted
            acted, model = True, self.model
            swap = self.changes.swap(model) if self.random.random() < 0.3 else []
            for _ in range(max(len(swap), self.random.randint(1, 3))):
                other = swap.pop(0) if swap else self.changes.any_change(model)
                try:
                    other.call(store)
                except HbstoreError as error:
                    self.steps[-1] += f"; {other.text}: {type(error).__name__}"
                    return
                self.steps[-1] += f"; {other.text}"
                others.append(other)
                model = other.effect(model)

        self.steps.append(f"{act.text}, and at call {at}")
        answers, refused = [], False
        try:
            answers.append(act.call(PartitionStore(InterruptedRows(self.rows, at, act_within))))
        except HbstoreError as error:
            if not acted:
                raise
            self.steps[-1] += f"; the first one: {type(error).__name__}"
            refused = True
        behind = _after(others, self.model)
        if isinstance(act, Read):
            for answer in answers:
                assert answer in list(_answers(act, [self.model, *behind])), answer
            return behind
        orders = others if refused else [act, *others], others if refused else [*others, act]
        return [model for order in orders for model in _after(order, self.model)]

    def _check(self):
        """Whether nothing of the store is wrong, and nothing is left over."""
        store = PartitionStore(self.rows)
        store.repair_catalog()
        tables = self.model.tables
        assert seen(store) == tables
        for place in tables:
            assert [problem for problem in store.check(*place) if problem] == []
            assert store.timelines.check(".".join(place)) == []
        assert [str(problem) for _, _, problem in store.check_catalog() if problem] == []
        expected = sum(len(shelf.partitions) for shelf in tables.values())
        assert sum(1 for _ in self.rows.whole_rows(b"\2", b"\xff")) == expected


def _after(changes, model):
    """What changes make of a model in their order; nothing where the store would refuse one of them there."""
    try:
        for change in changes:
            model = change.effect(model)
    except Refused:
        return []
    return [model]


def _answers(read, models):
    """What a read may return; None where it may not, as there is no such table."""
    for model in models:
        with suppress(Refused):
            yield read.answer(model)


def run_history(seed, rows):
    """One history, in which nobody waits and drops purge in their own process; an error has its steps as a note."""
    with pytest.MonkeyPatch.context() as patch:
        make_impatient(patch)
        patch.setattr(templates, "MOST_RELOCATIONS", 2)  # then rows are written anew
        patch.setattr(packing, "_AT_ONCE", 2)
        history = History(seed, rows)
        try:
            history.run()
        except Exception as error:
            error.add_note("\n".join((f"seed {seed}:", *history.steps)))
            raise
