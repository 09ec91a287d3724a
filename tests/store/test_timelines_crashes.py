"""One write goes wrong, for every write of every change of a table that keeps timelines, in every way.

Before anybody repairs anything readers' promises hold: no time without a partition, none missed that was acknowledged.
After a repair the timelines are what the partitions are.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest

from hbstore import Column, HbstoreError, StoreUnavailable, TableNotFound, connect
from hbstore.store.partition_store import PartitionStore
from hbstore.timelines.factory import PRESENT
from hbstore.times.update_period import UpdatePeriod
from tests.amounts import amount
from tests.store import strikes
from tests.store import timelines as tl
from tests.store.copies import copies_of
from tests.store.faults import Crash, Fault, FaultyRows
from tests.store.strikes import MOST, ids, make_impatient
from tests.store.timelines import FACT, TWIN, days, partition

OLD = ("shop", "s9_sales")


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    make_impatient(monkeypatch)


def prepared(url="memory://?atomic=false"):
    """Days 1 to 3 by two partitions, day 5 by one, hours of day 6; and another table with day 8."""
    store = connect(url)
    store.drop_database("shop", cascade=True, if_exists=True)
    tl.prepared(store, FACT, TWIN)
    store.add_partitions(*FACT, days(1, 2, 3) + days(1, 2, 3, 5, region="us"))
    store.add_partitions(*FACT, [partition("2015-01-06-05", "2015-01-06-07"), partition("2015-01-09", "2015-01-05")])
    store.add_partitions(*TWIN, days(8))
    tl.assert_true(store, FACT, TWIN)
    return store


fresh = copies_of(prepared)


def values(*partitions):
    return [one.values for one in partitions]


def add(store):
    store.add_partitions(*FACT, days(3, 4, 7, region="asia"))


def drop(store):
    """Day 3 is left by the second, day 5 remains as a processing time only."""
    store.drop_partitions(*FACT, values(*days(3), *days(3, 5, region="us")))


def alter(store):
    store.alter_partitions(*FACT, [replace(days(1)[0], parameters={"a": "b"}), *days(2, region="us", period="DAILY")])


def rename(store):
    store.rename_partition(*FACT, days(5, region="us")[0].values, days(4, region="us")[0].values)


def rename_of_another_time(store):
    store.rename_partition(*FACT, ("2015-01-09", "eu", "2015-01-05"), ("2015-01-01", "eu", "2015-01-05"))


def change(store):
    gone = values(*days(3), *days(3, region="us"))
    there = days(5, region="us")[0].values
    expected = {there: store.get_payloads(*FACT, [there])[0]}
    store.change_partitions(*FACT, add=days(7), put=days(2, 10), drop=gone, expected=expected)


def exchange(store):
    store.exchange_partitions(FACT, TWIN, values(*days(3), *days(3, 5, region="us")))


def rename_table(store):
    store.rename_table(*FACT, tl.table(OLD))


def cascade(store):
    store.alter_table(tl.table(columns=[Column("price", "int")]), cascade=True)


def redeclare(store):
    store.alter_table(tl.table(parameters=tl.declared("DAILY", "pt")))


def flag(store):
    store.alter_table(tl.table(parameters={**tl.declared(), PRESENT: "false"}))


def rebuild(store):
    store.timelines.rebuild(".".join(FACT))


def convert(store):
    store.timelines.convert(".".join(FACT), UpdatePeriod.DAILY, "dt", "RangesPartitionTimeline")


CHANGES = [add, drop, alter, rename, rename_of_another_time, change, exchange]
OTHERS = [rename_table, cascade, redeclare, flag, rebuild, convert]


def struck(operation, fault):
    return strikes.struck(fresh, operation, fault)


def names(store):
    return [("shop", name) for name in store.table_names("shop")]


def times(store):
    """The times of all tables together, as their partitions have them."""
    return {name: tl.naive(store, name) for name in names(store)}


def before_and_after(operation):
    store = fresh()
    before = times(store)
    operation(store)
    tl.assert_true(store, *names(store))
    return before, times(store)


def assert_promises(store, before, after):
    """Timelines have no time without a partition, and all that partitions had before and have afterwards."""
    found = {name: tl.kept(store, name) for name in names(store)}
    for name, kept in found.items():
        there = tl.naive(store, name)
        for timeline, listed in kept.items():
            assert listed <= there[timeline], (name, timeline, "has a time without a partition")
            if name in before and name in after:
                constant = before[name].get(timeline, set()) & after[name].get(timeline, set())
                assert constant <= listed, (name, timeline, "lacks a time that has a partition all along")


@pytest.mark.parametrize("fault", Fault)
@pytest.mark.parametrize("operation", CHANGES + OTHERS, **ids)
def test_readers_promises_hold_before_a_repair_and_all_is_true_after_it(operation, fault):
    before, after = before_and_after(operation)
    for store, _, ended in struck(operation, fault):
        if ended is None:
            assert {name: tl.kept(store, name) for name in names(store)} == after, "acknowledged, and not there"
        assert_promises(PartitionStore(store.rows), before, after)
        tl.repair(store)
        tl.assert_true(store, *names(store))
        assert times(store) in ((before, after) if ended is not StoreUnavailable else (before,))


@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.GONE, Fault.LOST_ANSWER])
@pytest.mark.parametrize("operation", CHANGES + OTHERS, **ids)
def test_the_next_writer_needs_no_repair(operation, fault):
    """Somebody drops all that they find and adds other days; what was open before is finished on the way."""
    for store, _, _ in struck(operation, fault):
        writer = PartitionStore(store.rows)
        for name in names(writer):
            with suppress(TableNotFound):  # it has another name by now
                writer.timelines.read(".".join(name))
                gone = values(*writer.get_partitions_by_filter(*name, "region in ('eu', 'us')"))
                writer.drop_partitions(*name, gone, if_exists=True)
                writer.add_partitions(*name, days(2, 20), if_not_exists=True)
                kept, there = tl.kept(writer, name), tl.naive(writer, name)
                assert all(listed <= there[timeline] for timeline, listed in kept.items())
                assert {"2015-01-02", "2015-01-20"} <= kept["DAILY", "pt"]
        tl.repair(store)
        tl.assert_true(store, *names(store))


@pytest.mark.parametrize("fault", [Fault.LATE, Fault.CRASH, Fault.LOST_ANSWER])
@pytest.mark.parametrize("operation", CHANGES + OTHERS, **ids)
def test_writes_that_arrive_late_change_nothing(operation, fault):
    for store, faulty, _ in struck(operation, fault):
        tl.repair(store)
        for name in names(store):
            store.timelines.read(".".join(name))
            gone = values(*store.get_partitions_by_filter(*name, None))[::2]
            store.drop_partitions(*name, gone)
            store.add_partitions(*name, days(2, 21), if_not_exists=True)
        faulty.arrive()
        tl.assert_true(store, *names(store))


@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.LATE])
def test_a_table_that_is_made_anew_takes_nothing_of_the_one_that_was_dropped(fault):
    for store, faulty, _ in struck(lambda store: store.drop_table(*FACT), fault):
        store.drop_table(*FACT, if_exists=True)
        store.create_table(tl.table())
        store.add_partitions(*FACT, days(11))
        store.timelines.read(".".join(FACT))
        store.repair_catalog()  # what the process that purged has left open
        faulty.arrive()
        tl.assert_true(store, *names(store))


@pytest.mark.parametrize("operation", [drop, change, exchange, rename_table], **ids)
def test_repair_of_a_repair_that_died(operation):
    before, after = before_and_after(operation)
    for at in range(0, MOST, 2):
        store = fresh()
        broken = FaultyRows(store.rows, Fault.CRASH, at)
        with suppress(Crash):
            operation(PartitionStore(broken))
        for again in range(MOST):
            faulty = FaultyRows(store.rows, Fault.CRASH, again)
            with suppress(Crash, HbstoreError):
                tl.repair(PartitionStore(faulty))
            assert_promises(PartitionStore(store.rows), before, after)
            if not faulty.struck:
                break
        tl.assert_true(store, *names(store))
        if not broken.struck:
            return
    raise AssertionError("the operation does not end")


@pytest.mark.hbase
@pytest.mark.parametrize("operation", [drop, change, exchange, rename_table], **ids)
def test_on_hbase(operation, hbase_url):
    """At some of the writes only, and by one reader and one repair."""
    before, after = before_and_after(operation)
    for at in range(1, MOST, amount(10, 5)):
        store = prepared(hbase_url)
        faulty = FaultyRows(store.rows, Fault.CRASH, at)
        with suppress(Crash):
            operation(PartitionStore(faulty))
        assert_promises(store, before, after)
        tl.repair(store)
        tl.assert_true(store, *names(store))
        assert times(store) in (before, after)
        store.close()
        if not faulty.struck:
            return
    raise AssertionError("the operation does not end")
