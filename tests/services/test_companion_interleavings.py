"""Statistics written while their partition or table is dropped, in all interleavings with two changes of turn."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hbstore import Column, HbstoreError, Partition, PartitionStore, StoreUnavailable, Table, connect
from hbstore.transactions import attempt
from tests.pauses import without_patience, without_pauses
from tests.services.conftest import Clock, Services
from tests.services.test_column_statistics import FIVE, SIX, about, columns_of
from tests.store import operations
from tests.store.conftest import hours, sales_table
from tests.store.copies import copies_of
from tests.store.faults import Crash, Fault, FaultyRows
from tests.store.stepping import play, schedules


@pytest.fixture(autouse=True)
def _fine_grained(monkeypatch):
    without_patience(monkeypatch)
    without_pauses(monkeypatch)
    monkeypatch.setattr(attempt, "MAX_LISTED", 0)  # few rows stand for many, which payload rows hold


@copies_of
def prepared():
    store = connect("memory://?atomic=false")
    store.create_database("shop")
    store.create_table(sales_table())
    store.create_table(replace(sales_table(), name="sold"))
    store.add_partitions("shop", "sales", hours(1, 5, 6))
    return store


def writing(*columns, values=FIVE):
    return lambda store: Services(store, Clock()).statistics.write_partitions(
        "shop", "sales", {values: about(*columns), SIX: about("kept")}
    )


def dropping(store):
    store.drop_partitions("shop", "sales", [FIVE])


def marking(store):
    Services(store, Clock()).marks.mark("shop", "sales", {"ds": FIVE[0], "hour": FIVE[1]})


def dropping_table(store):
    store.drop_table("shop", "sales")


def making_anew(store):
    store.drop_table("shop", "sales")
    store.create_table(sales_table())
    store.add_partitions("shop", "sales", hours(1, 5, 6))


def seen(store):
    services = Services(store, Clock())
    marked = services.marks.is_marked("shop", "sales", {"ds": FIVE[0], "hour": FIVE[1]})
    return columns_of(services.statistics.read_partitions("shop", "sales", [FIVE, SIX])), marked


def renaming(store):
    store.rename_partition("shop", "sales", FIVE, (FIVE[0], "9"))


def exchanging(store):
    store.exchange_partitions(("shop", "sales"), ("shop", "sold"), [FIVE])


def deleting_a_column(store):
    Services(store, Clock()).statistics.delete_partition("shop", "sales", FIVE, "a")


@copies_of
def with_statistics():
    store = prepared()
    writing("a", "b")(store)
    return store


def runs(first, second, begin=prepared):
    """Each interleaving's results, and the store after it."""
    alone = [play(begin().rows, [act], [])[1][0] for act in (first, second)]
    for schedule in schedules(alone):
        store = begin()
        results, _ = play(store.rows, [first, second], schedule)
        assert operations.payloads(store) == [], schedule
        yield schedule, results, store


def test_what_is_written_while_its_partition_is_dropped_is_not_shown_on_the_next():
    for schedule, (written, dropped), store in runs(writing("a"), dropping):
        assert dropped is None, schedule
        assert written in (None, "PartitionNotFound"), schedule
        store.add_partitions("shop", "sales", [Partition(FIVE)])
        expected = {SIX: ["kept"]} if written is None else {}
        assert seen(store) == (expected, False), schedule


def test_a_mark_that_is_set_while_its_partition_is_dropped_is_of_before_or_after():
    outcomes = set()
    for schedule, results, store in runs(marking, dropping):
        assert results == [None, None], schedule
        outcomes.add(seen(store)[1])
    assert outcomes == {True, False}


@pytest.mark.parametrize("leave", [renaming, exchanging])
def test_what_is_written_while_its_partition_leaves_is_not_shown_on_the_next(leave):
    for schedule, (written, left), store in runs(writing("c"), leave, with_statistics):
        assert left is None, schedule
        assert written in (None, "PartitionNotFound"), schedule
        store.add_partitions("shop", "sales", [Partition(FIVE)])
        assert seen(store) == ({SIX: ["kept"]}, False), schedule


@pytest.mark.parametrize("leave", [dropping, renaming, exchanging])
@pytest.mark.parametrize("act", [marking, deleting_a_column])
def test_what_else_is_changed_while_a_partition_leaves_brings_its_statistics_not_back(act, leave):
    for schedule, results, store in runs(act, leave, with_statistics):
        assert results == [None, None], schedule
        store.add_partitions("shop", "sales", [Partition(FIVE)])
        assert seen(store)[0] == {SIX: ["kept"]}, schedule


def test_what_is_written_while_its_table_is_dropped_is_not_shown_on_the_next():
    for schedule, (written, dropped), store in runs(writing("a"), dropping_table):
        assert dropped is None, schedule
        assert written in (None, "TableNotFound", "PartitionNotFound"), schedule
        store.create_table(sales_table())
        store.add_partitions("shop", "sales", hours(1, 5, 6))
        assert seen(store) == ({}, False), schedule


def test_what_is_written_while_its_table_is_made_anew_is_of_one_of_them():
    outcomes = set()
    for schedule, (written, made), store in runs(writing("a"), making_anew):
        assert made is None, schedule
        assert written in (None, "TableNotFound", "PartitionNotFound", "ConcurrentChange"), schedule
        found = seen(store)[0]
        assert found in ({}, {FIVE: ["a"], SIX: ["kept"]} if written is None else {}), schedule
        outcomes.add((written, bool(found)))
    assert {(None, True), (None, False)} <= outcomes


def test_two_that_write_at_once_lose_nothing():
    for schedule, results, store in runs(writing("a"), writing("b")):
        assert results == [None, None], schedule
        assert seen(store)[0] == {FIVE: ["a", "b"], SIX: ["kept"]}, schedule


@pytest.mark.parametrize("fault", Fault)
def test_whatever_goes_wrong_all_are_written_or_none(fault):
    before = {FIVE: ["a", "b"], SIX: ["kept"]}
    after = {FIVE: ["a", "b", "c"], SIX: ["kept"]}
    outcomes = set()
    for at in range(100):
        store = with_statistics()
        rows = FaultyRows(store.rows, fault, at)
        outcome = None
        try:
            writing("c")(PartitionStore(rows))
        except (Crash, HbstoreError) as error:
            outcome = type(error)
        if not rows.struck:
            break
        rows.arrive()
        store.repair("shop", "sales")
        found = seen(store)[0]
        assert found in (before, after), at
        if outcome is None:
            assert found == after, at
        elif outcome is StoreUnavailable:
            assert found == before, at
        outcomes.add(len(found[FIVE]))
        writing("c")(store)
        assert seen(store)[0] == after, at
    assert at > 3
    assert 3 in outcomes


def test_another_table_is_not_touched():
    store = prepared()
    store.create_table(Table("shop", "sales2", partition_columns=[Column("ds", "date"), Column("hour", "int")]))
    store.add_partitions("shop", "sales2", hours(1, 5))
    writing("a")(store)
    assert Services(store, Clock()).statistics.read_partitions("shop", "sales2", [FIVE]) == {}
    store.drop_table("shop", "sales2")
    assert seen(store)[0] == {FIVE: ["a"], SIX: ["kept"]}
