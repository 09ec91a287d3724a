"""Every public change of a store: struck by every fault at each of its writes, and with every other one at each step.

`CHANGES` of `tests.store.public_changes` is the table. A public method that changes rows and is not in it is an error.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from itertools import product

import pytest

from hbstore import HbstoreError, connect
from hbstore.rows.memory import MemoryRows
from hbstore.store.partition_store import PartitionStore
from hbstore.transactions import attempt
from tests.amounts import WHOLE
from tests.calls import OBJECTS
from tests.store.faults import Crash, Fault, FaultyRows
from tests.store.public_changes import CHANGES, UNSEEN, fresh, prepared, repair, result_of, seen
from tests.store.stepping import InterruptedRows, WatchedRows
from tests.store.strikes import check_outcome, make_impatient, struck

MADE_OF_OTHERS = ("cubes", "table handle", "timelines of a table")
"""Objects above the store, whose changes are those of others; tests/cubes has faults and interleavings of its own."""

BUILDING = {f"timelines.{name}" for name in ("of", "read", "read_with_totals", "check", "export")}
"""Readers of timelines that have them built, as `timelines.rebuild` does, where nobody has read them before."""

REPAIRING = {"store.repair"}
"""What finishes changes of others and counts anew; tests/store/test_recount.py interleaves it and lets it die."""


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    make_impatient(monkeypatch)


def after(*names):
    """What is seen after some changes, of which some may be refused, and what they returned."""
    rows = fresh().rows
    results = [result_of(CHANGES[name], rows) for name in names]
    return results, seen(rows)


@pytest.mark.parametrize("owner", [owner for owner in OBJECTS if owner not in MADE_OF_OTHERS])
def test_every_public_method_that_changes_rows_is_in_the_table(owner, monkeypatch):
    make, calls = OBJECTS[owner]
    writes = []
    for name in ("compare_and_put", "put_cells", "remove_row", "write"):
        method = getattr(MemoryRows, name)
        monkeypatch.setattr(MemoryRows, name, lambda *arguments, m=method: writes.append(m) or m(*arguments))
    in_table = {name.split()[0] for name in CHANGES}
    changing = set()
    for method, arguments in calls.items():
        made = make()
        writes.clear()
        with suppress(HbstoreError):
            getattr(made, method)(**arguments)
        if writes:
            changing.add(f"{owner.replace(' ', '_')}.{method}")
    assert changing - BUILDING - REPAIRING <= in_table


STRIKES = [
    (name, fault, listed)
    for number, name in enumerate(CHANGES)
    for place, (fault, listed) in enumerate(product(Fault, (attempt.MAX_LISTED, 0)))
    if WHOLE or place == 0 or (number + place) % 4 == 0
]
"""Each change dies at each of its writes; of the other faults, which transactions meet in the same way whatever is
changed (tests/transactions/test_crashes.py), each meets every fourth change."""


@pytest.mark.parametrize(("name", "fault", "listed"), STRIKES)
def test_a_change_is_made_or_not_and_its_answer_says_so(name, fault, listed, monkeypatch):
    """By what is there after a repair, after the next try, and after a write that arrives late."""
    monkeypatch.setattr(attempt, "MAX_LISTED", listed)  # what it writes stands in the log, or in a payload row
    act = CHANGES[name]
    nothing, once, twice = after()[1], after(name)[1], after(name, name)[1]
    assert (once != nothing) is (name not in UNSEEN)
    for store, faulty, ended in struck(fresh, act, fault):
        repair(store.rows)
        made = seen(store.rows)
        check_outcome(made, ended, nothing, once)
        result_of(act, store.rows)
        again = seen(store.rows)
        assert again == (once if made == nothing else twice)
        faulty.arrive()
        repair(store.rows)
        assert seen(store.rows) == again, "a late write undoes a later one"


@pytest.mark.parametrize("first", CHANGES)
def test_a_change_within_another_one_is_before_or_behind_it(first):
    """At each call that the first one makes to the rows, some others are made wholly that share a row with it.

    Each other one is at every fourth call, with `WHOLE` at all.
    """
    for number, second in enumerate(CHANGES):
        if not (watched(first).is_seen_by(watched(second)) or watched(second).is_seen_by(watched(first))):
            continue
        (one, other), one_first = after(first, second)
        (other_before, one_after), other_first = after(second, first)
        orders = [(one, other, one_first), (one_after, other_before, other_first)]
        step = 1 if WHOLE else min(4, watched(first).calls)
        at = number % step
        while (outcome := interrupted(first, second, at)) is not None:
            assert outcome in orders, (second, at, outcome[:2], [order[:2] for order in orders])
            at += step
        assert at >= step


@cache
def watched(name):
    """The rows that a change alone reads and writes."""
    rows = WatchedRows(fresh().rows)
    result_of(CHANGES[name], rows)
    return rows


def interrupted(first, second, at):
    """What both return and what is seen then, with the second one within the n-th call of the first; None behind it."""
    rows, others = fresh().rows, []
    one = result_of(CHANGES[first], InterruptedRows(rows, at, lambda: others.append(result_of(CHANGES[second], rows))))
    return (one, *others, seen(rows)) if others else None


ON_HBASE = [
    name
    for name in CHANGES
    if name.split(".")[0] in ("store", "column_statistics", "functions", "documents", "publications")
]
KEPT_APART = ("locks", "transactions", "roles", "records")
"""What is not of a database, and so is not as new where a store is used again."""


@pytest.mark.hbase
@pytest.mark.parametrize("name", ON_HBASE[:: 1 if WHOLE else 16])
def test_a_change_on_hbase_is_made_or_not(name, hbase_url):
    """It dies at the write in the middle."""
    rows, act = anew(hbase_url), CHANGES[name]
    nothing, whole = of_databases(rows), FaultyRows(rows)
    act(PartitionStore(whole))
    once = of_databases(rows)
    rows = anew(hbase_url)
    with pytest.raises(Crash):
        act(PartitionStore(FaultyRows(rows, Fault.CRASH, whole.writes // 2)))
    repair(rows)
    assert of_databases(rows) in (nothing, once)


@pytest.mark.hbase
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("store.alter_table and partitions", "store.rename_partition"),
        ("store.rename_partition", "store.alter_table and partitions"),
        ("store.rename_table away", "store.add_partitions"),
        ("store.drop_database with all", "functions.alter to a database"),
        ("store.exchange_partitions", "column_statistics.write_partitions"),
    ],
)
def test_a_change_within_another_one_on_hbase_is_before_or_behind_it(first, second, hbase_url):
    """After half of the calls of the first one."""
    outcomes, watched = [], WatchedRows(anew(hbase_url))
    result_of(CHANGES[first], watched)
    for order in ([first, second], [second, first]):
        rows = anew(hbase_url)
        outcomes.append(({name: result_of(CHANGES[name], rows) for name in order}, of_databases(rows)))
    rows, results = anew(hbase_url), {}

    def interrupt():
        results[second] = result_of(CHANGES[second], rows)

    results[first] = result_of(CHANGES[first], InterruptedRows(rows, watched.calls // 2, interrupt))
    assert (results, of_databases(rows)) in outcomes


def anew(url):
    """The rows of a store in which each change has something to change, whatever was there."""
    store = connect(url)
    for database in store.database_names():
        store.drop_database(database, cascade=True)
    for role in {"old", "new"} & set(store.hive.roles.names()):
        store.hive.roles.drop(role)
    for record, _ in list(store.records.list("note")):
        store.records.drop("note", record)
    return prepared(store).rows


def of_databases(rows):
    return {part: value for part, value in seen(rows).items() if part not in KEPT_APART}
