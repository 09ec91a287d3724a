"""Two writers, or a writer and a reader, in all interleavings with two changes of turn.

What comes out must be what one of the two orders, one call behind the other, would have given: the results of both
calls, and what is there afterwards.
"""

from __future__ import annotations

from dataclasses import replace
from math import isqrt
from random import Random

import pytest

from hbstore import AlreadyExists, connect
from hbstore.rows import memory
from hbstore.store.partition_store import PartitionStore
from tests.amounts import amount
from tests.store import operations
from tests.store.conftest import sales_table
from tests.store.copies import copies_of
from tests.store.operations import DAY, marked
from tests.store.stepping import InterruptedRows, play, schedules
from tests.store.strikes import make_impatient


@pytest.fixture(autouse=True)
def _fine_grained(monkeypatch):
    monkeypatch.setattr(memory, "_BATCH", 1)
    make_impatient(monkeypatch)


@copies_of
def fresh():
    return operations.prepared(connect("memory://?atomic=false"))


def adding(*hours, mark="first", skip=False):
    return lambda store: store.add_partitions("shop", "sales", [marked(hour, mark) for hour in hours], skip)


def dropping(*hours, skip=False):
    return lambda store: store.drop_partitions("shop", "sales", [(DAY, hour) for hour in hours], if_exists=skip)


def altering(*hours, mark):
    return lambda store: store.alter_partitions("shop", "sales", [marked(hour, mark) for hour in hours])


def renaming(old, new):
    return lambda store: store.rename_partition("shop", "sales", (DAY, old), marked(new, "renamed"))


def listing(store):
    return tuple(store.partition_names("shop", "sales", "hour < 100"))


def counting(store):
    return store.count_partitions("shop", "sales", "hour in (2, 3, 9)")


def dropping_table(store):
    store.drop_table("shop", "sales")


def creating_table(store):
    store.create_table(sales_table(create_time=5))


def repairing(store):
    store.repair("shop", "sales")


PLACES, TURNS = amount(60, 200), amount(15, 40)
"""About how many places of the two changes of turn are tried for a pair, and how many orders with more turns."""

PAIRS = {
    "add and add the same": (adding("7", "8"), adding("8", "9", mark="second")),
    "add and add others": (adding("7"), adding("9", mark="second")),
    "add and add if not there": (adding("7", "8"), adding("8", "9", mark="second", skip=True)),
    "add and drop": (adding("7", "8", skip=True), dropping("7", "2", skip=True)),
    "drop and add again": (dropping("2"), adding("2")),
    "drop and drop": (dropping("2", "3"), dropping("3", "4")),
    "alter and alter": (altering("2", "3", mark="first"), altering("2", "3", mark="second")),
    "alter and drop": (altering("2", "3", mark="first"), dropping("3")),
    "rename and drop": (renaming("2", "9"), dropping("2")),
    "rename and add there": (renaming("2", "9"), adding("9")),
    "rename and rename on": (renaming("2", "9"), renaming("9", "1")),
    "rename and rename to one": (renaming("2", "9"), renaming("3", "9")),
    "rename forwards and list": (renaming("2", "9"), listing),
    "rename backwards and list": (renaming("4", "1"), listing),
    "rename and count": (renaming("2", "9"), counting),
    "add one and list": (adding("7"), listing),
    "drop one and list": (dropping("3"), listing),
    "drop the table and add": (dropping_table, adding("7", "8")),
    "drop the table and drop": (dropping_table, dropping("2")),
    "drop the table and rename": (dropping_table, renaming("2", "9")),
    "drop the table twice": (dropping_table, dropping_table),
    "add and repair": (adding("7", "8"), repairing),
    "rename and repair": (renaming("2", "9"), repairing),
}


def outcome(store, results):
    return tuple(results), operations.seen(store)


def serial_outcomes(first, second):
    """What both orders give; errors by their names."""
    found = []
    for order in ((0, 1), (1, 0)):
        store = fresh()
        results = [None, None]
        for number in order:
            results[number] = play(store.rows, [(first, second)[number]], [])[0][0]
        found.append(outcome(store, results))
    return found


def lengths(first, second):
    """How many calls each makes when alone, and a few more, as it may have to start again."""
    return [play(fresh().rows, [act], [])[1][0] + 2 for act in (first, second)]


def check(first, second, schedule, allowed):
    store = fresh()
    results, _ = play(store.rows, [first, second], schedule)
    found = outcome(store, results)
    assert found in allowed, f"{schedule}\n{found}\nallowed:\n{allowed}"
    if found[1] is not None:
        assert operations.is_clean(store), schedule


@pytest.mark.parametrize("name", PAIRS)
def test_every_interleaving_is_one_of_the_two_orders(name):
    first, second = PAIRS[name]
    allowed = serial_outcomes(first, second)
    played = 0
    calls = lengths(first, second)
    for schedule in schedules(calls, step=1 + isqrt(calls[0] * calls[1] // PLACES)):
        check(first, second, schedule, allowed)
        played += 1
    assert played > PLACES // 2


@pytest.mark.parametrize("name", PAIRS)
def test_many_changes_of_turn_give_one_of_the_two_orders(name):
    first, second = PAIRS[name]
    allowed = serial_outcomes(first, second)
    random = Random(name)
    for _ in range(TURNS):
        check(first, second, [(at % 2, random.randint(0, 4)) for at in range(20)], allowed)


@pytest.mark.parametrize("adder", [adding("7", "8"), adding("2", "8", skip=True)])
def test_a_table_made_anew_takes_nothing_of_the_old_one(adder):
    """The table is dropped and made with other columns, or with the same, while a writer is at work on it."""
    for table in (sales_table(create_time=5), operations.other_table()):

        def replace_table(store, table=table):
            store.drop_table("shop", "sales")
            store.create_table(table)

        for schedule in schedules(lengths(adder, replace_table), step=3):
            store = fresh()
            results, _ = play(store.rows, [adder, replace_table], schedule)
            assert results[1] is None, (schedule, results)
            assert results[0] in (2, 1, "TableNotFound", "ConcurrentChange", "InvalidPartitionValue"), results
            assert operations.is_clean(store), schedule
            found = operations.seen(store)
            assert {values for values, _ in found} <= {(DAY, "7"), (DAY, "8"), (DAY, "2")}, (schedule, found)
            assert found == () or isinstance(results[0], int), (schedule, results, found)


def test_a_drop_that_falls_behind_does_not_drop_the_table_that_came_after():
    """As soon as the name is free, a table of that very definition is made again, and stays."""
    made_anew = marked("7", "new")

    def create_again(store):
        for _ in range(30):
            try:
                store.create_table(sales_table(create_time=5))
            except AlreadyExists:
                continue
            store.add_partitions("shop", "sales", [made_anew])
            return "made"
        return "never"

    made = 0
    for schedule in schedules([16, 20], step=2):
        store = connect("memory://?atomic=false")
        store.create_database("shop")
        store.create_table(sales_table(create_time=5))
        store.add_partitions("shop", "sales", [marked("2", "old"), marked("3", "old")])
        results, _ = play(store.rows, [dropping_table, create_again], schedule)
        assert results[0] is None
        if results[1] == "made":
            made += 1
            assert operations.seen(store) == ((made_anew.values, made_anew.parameters),), schedule
            assert operations.is_clean(store)
        else:
            assert results[1] == "never", (schedule, results)
            assert operations.seen(store) is None
    assert made > 20


def test_new_values_that_can_be_read_once_survive_another_try():
    for at in range(40):
        store, happened = fresh(), []
        rows = InterruptedRows(store.rows, at, lambda store=store, done=happened: done.append(adding("7")(store)))
        PartitionStore(rows).rename_partition("shop", "sales", (DAY, "2"), iter((DAY, "9")))
        assert {"ds=2013-01-01/hour=9"} == set(store.partition_names("shop", "sales", "hour = 9"))
        if not happened:
            break
    assert 3 < at < 39


def test_an_exchange_of_values_that_can_be_read_once_survives_another_try():
    for at in range(60):
        store, happened = fresh(), []
        store.create_table(replace(sales_table(), name="sold"))
        rows = InterruptedRows(store.rows, at, lambda store=store, done=happened: done.append(adding("7")(store)))
        moved = PartitionStore(rows).exchange_partitions("shop.sales", "shop.sold", iter([iter((DAY, "2"))]))
        assert [one.values for one in moved] == [(DAY, "2")]
        if not happened:
            break
    assert 3 < at < 59


def test_two_that_create_one_table():
    for schedule in schedules([8, 8]):
        store = connect("memory://?atomic=false")
        store.create_database("shop")
        results, _ = play(store.rows, [creating_table, creating_table], schedule)
        assert sorted(map(str, results)) == ["AlreadyExists", "None"], schedule
        assert operations.seen(store) == ()


def test_a_table_is_not_left_in_a_database_that_was_dropped():
    for schedule in schedules([8, 10]):
        store = connect("memory://?atomic=false")
        store.create_database("shop")
        results, _ = play(store.rows, [creating_table, lambda store: store.drop_database("shop")], schedule)
        there = [one.name for one in store.databases()]
        if there:
            assert results == [None, "DatabaseNotEmpty"], (schedule, results)
            assert operations.seen(store) == ()
        else:
            assert results[0] == "DatabaseNotFound", (schedule, results)
            store.create_database("shop")
            assert store.tables("shop") == [], schedule
