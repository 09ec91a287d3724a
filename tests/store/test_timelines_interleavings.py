"""Writers, helpers, builders and readers of one table's timelines, step by step, in many orders.

Whatever the order: the timelines are what the partitions are once all is finished, and a reader meanwhile gets every
time that had a partition before and has one afterwards, and none that had no partition at any moment.
"""

from __future__ import annotations

import time
from contextlib import suppress
from random import Random
from types import SimpleNamespace

import pytest

from hbstore import HbstoreError, connect
from hbstore.rows import memory
from hbstore.store.partition_store import PartitionStore
from hbstore.store.timelines import stored_timelines
from hbstore.timelines.factory import PRESENT, STORAGE_CLASS, property_prefix
from hbstore.times.update_period import UpdatePeriod
from hbstore.transactions import attempt
from tests.store import timelines as tl
from tests.store.copies import copies_of
from tests.store.faults import Crash, Fault, FaultyRows
from tests.store.stepping import play, schedules
from tests.store.strikes import make_impatient
from tests.store.timelines import FACT, TWIN, partition

OLD = ("shop", "s9_sales")
MOST = 50
"""Orders of one pair."""


@pytest.fixture(autouse=True)
def _fine_grained(monkeypatch):
    later = SimpleNamespace(time=lambda: time.time() + 60, sleep=lambda _seconds: None)
    monkeypatch.setattr(stored_timelines, "time", later)  # so that nobody waits for a builder
    monkeypatch.setattr(memory, "_BATCH", 1)
    make_impatient(monkeypatch)


@copies_of
def fresh():
    """Day 1 by two partitions, days 2 and 3 by one; processing times of days 1, 5 and 6."""
    store = tl.prepared(connect("memory://?atomic=false"), FACT, TWIN)
    store.add_partitions(
        *FACT,
        [
            partition("2015-01-01", "2015-01-05"),
            partition("2015-01-01", "2015-01-06", region="us"),
            partition("2015-01-02", "2015-01-05"),
            partition("2015-01-03", "2015-01-01"),
        ],
    )
    return store


def adding(*added):
    return lambda store: store.add_partitions(*FACT, added, if_not_exists=True)


def dropping(*gone):
    return lambda store: store.drop_partitions(*FACT, [one.values for one in gone], if_exists=True)


def moving(old, new):
    return lambda store: store.rename_partition(*FACT, old.values, new)


def exchanging(source, target, *some):
    return lambda store: store.exchange_partitions(source, target, [one.values for one in some])


def in_turn(*acts):
    """One after the other; what is not there by then is passed over."""

    def act(store):
        for one in acts:
            with suppress(HbstoreError):
                one(store)

    return act


def reading(store):
    with suppress(HbstoreError):
        return tl.kept(store)


def rebuilding(store):
    store.timelines.rebuild(".".join(FACT))


def converting(store):
    store.timelines.convert(".".join(FACT), UpdatePeriod.DAILY, "dt", "StoreAllPartitionTimeline")


def repairing(store):
    tl.repair(store)


def renaming_table(store):
    store.rename_table(*FACT, tl.table(OLD))


def renaming_back(store):
    store.rename_table(*OLD, tl.table(FACT))


def declaring(**given):
    """As a client does that read the table before: the flag stays what it was."""
    parameters = {**(tl.declared(**given) if given else {}), PRESENT: "true"}
    return lambda store: store.alter_table(tl.table(parameters=parameters))


def lowering_flag(store):
    store.alter_table(tl.table(parameters={**tl.declared(), PRESENT: "false"}))


ONE, OTHER = partition("2015-01-01", "2015-01-05"), partition("2015-01-01", "2015-01-06", region="us")
SECOND, THIRD = partition("2015-01-02", "2015-01-05"), partition("2015-01-03", "2015-01-01")
SAME_DAY, SAME_PT = partition("2015-01-02", "2015-01-07", region="us"), partition("2015-01-08", "2015-01-01")
THERE_AND_BACK = in_turn(renaming_table, renaming_back)
UNDECLARED_FOR_A_WHILE = in_turn(declaring(), declaring(periods="HOURLY,DAILY"))
OTHERS_FOR_A_WHILE = in_turn(declaring(periods="DAILY", columns="pt"), reading, declaring(periods="HOURLY,DAILY"))

PAIRS = {
    "the last of a day goes, another comes": (dropping(SECOND), adding(SAME_DAY)),
    "the last of a processing time goes, another comes": (dropping(THIRD), adding(SAME_PT)),
    "the last two of a day go": (dropping(ONE), dropping(OTHER)),
    "the last two of a processing time go": (dropping(ONE), dropping(SECOND)),
    "it goes and comes, and another goes": (in_turn(dropping(SECOND), adding(SECOND)), dropping(ONE, SECOND)),
    "one moves away, another comes": (moving(SECOND, SAME_PT), adding(SAME_DAY)),
    "one moves backwards, another of its time goes": (
        moving(SECOND, partition("2014-01-01", "2015-01-05")),
        dropping(ONE),
    ),
    "out of the table, and another comes": (exchanging(FACT, TWIN, SECOND), adding(SAME_DAY)),
    "out of the table and in again, and another goes": (
        in_turn(exchanging(FACT, TWIN, SECOND), exchanging(TWIN, FACT, SECOND)),
        dropping(ONE),
    ),
    "build and add": (rebuilding, adding(SAME_DAY, SAME_PT)),
    "build and drop": (rebuilding, dropping(SECOND, THIRD)),
    "build and move": (rebuilding, moving(THIRD, partition("2014-01-01", "2015-01-01"))),
    "build and exchange": (rebuilding, in_turn(exchanging(FACT, TWIN, ONE, SECOND), exchanging(TWIN, FACT, SECOND))),
    "build twice": (rebuilding, rebuilding),
    "build and rename the table to and fro": (in_turn(rebuilding), THERE_AND_BACK),
    "convert and add": (in_turn(converting), adding(SAME_DAY, SAME_PT)),
    "convert and drop": (in_turn(converting), dropping(ONE, SECOND)),
    "convert and build": (in_turn(converting), rebuilding),
    "rename the table and add": (THERE_AND_BACK, in_turn(adding(SAME_DAY), dropping(ONE), adding(ONE))),
    "rename the table and drop": (THERE_AND_BACK, in_turn(dropping(SECOND, THIRD))),
    "rename the table twice at once": (THERE_AND_BACK, in_turn(renaming_table, dropping(SECOND), renaming_back)),
    "declare nothing for a while, and add": (UNDECLARED_FOR_A_WHILE, in_turn(adding(SAME_DAY, SAME_PT))),
    "declare nothing for a while, and drop": (UNDECLARED_FOR_A_WHILE, in_turn(dropping(ONE, SECOND))),
    "declare nothing for a while, and build": (UNDECLARED_FOR_A_WHILE, in_turn(rebuilding, dropping(THIRD))),
    "declare nothing for a while, and rename the table": (
        in_turn(UNDECLARED_FOR_A_WHILE, adding(SAME_DAY)),
        THERE_AND_BACK,
    ),
    "declare others for a while, and add": (OTHERS_FOR_A_WHILE, in_turn(adding(SAME_DAY, SAME_PT))),
    "declare others for a while, and drop": (OTHERS_FOR_A_WHILE, in_turn(dropping(ONE, SECOND), rebuilding)),
    "lower the flag, and add": (lowering_flag, in_turn(adding(SAME_DAY), reading)),
}


def orders(acts, name, most=MOST):
    """Orders with two changes of turn, not all of them, and random ones with many."""
    calls = [play(fresh().rows, [act], [])[1][0] + 2 for act in acts]
    step = 1
    while 2 * (calls[0] // step + 1) * (calls[1] // step + 1) > most:
        step += 1
    yield from schedules(calls[:2], step)
    random = Random(name)
    for _ in range(most // 2):
        yield [(at % len(acts), random.randint(0, 7)) for at in range(4 * len(acts))]


def assert_finished(store, schedule):
    tl.repair(store)
    with suppress(HbstoreError):
        renaming_back(store)
    try:
        tl.assert_true(store, *tl.keeping(store))
    except AssertionError as error:
        raise AssertionError(f"{schedule}\n{error}") from None


@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name):
    acts = PAIRS[name]
    for schedule in orders(acts, name):
        store = fresh()
        results, _ = play(store.rows, acts, schedule)
        assert not any(isinstance(one, str) for one in results), (schedule, results)
        assert_finished(store, schedule)


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_beside_a_reader_and_a_helper(name):
    acts = [*PAIRS[name], in_turn(reading, reading), repairing]
    random = Random(name)
    for _ in range(10):
        store = fresh()
        schedule = [(random.randrange(len(acts)), random.randint(0, 9)) for _ in range(16)]
        play(store.rows, acts, schedule)
        assert_finished(store, schedule)


READ = {
    "drop": dropping(SECOND, THIRD),
    "drop one of two": dropping(ONE, SECOND),
    "add": adding(SAME_DAY, SAME_PT),
    "move": moving(THIRD, partition("2014-01-01", "2015-01-01")),
    "exchange": exchanging(FACT, TWIN, ONE, SECOND),
    "build": rebuilding,
    "convert": converting,
    "lower the flag": lowering_flag,
}


@pytest.mark.parametrize("name", READ)
def test_a_reader_beside_a_writer(name):
    before = tl.kept(fresh())
    store = fresh()
    READ[name](store)
    after = tl.naive(store)
    for schedule in orders([READ[name], reading], name):
        store = fresh()
        results, _ = play(store.rows, [READ[name], reading], schedule)
        assert_read(results[1], before, after, schedule)
        assert_finished(store, schedule)


def assert_read(found, before, after, schedule):
    assert found is not None, schedule
    for timeline, listed in found.items():
        assert listed <= before[timeline] | after[timeline], (schedule, timeline, listed)
        assert listed >= before[timeline] & after[timeline], (schedule, timeline, listed)


def test_a_builder_looks_for_partitions_while_the_table_has_another_name():
    """It comes back with the cells that it had, and the builder has seen but some of its partitions."""
    alone = play(fresh().rows, [in_turn(renaming_table)], [])[1][0]
    for begun in range(6, 16):
        for away in range(1, 7):
            store = fresh()
            acts = [in_turn(rebuilding), in_turn(renaming_table), in_turn(renaming_back)]
            play(store.rows, acts, [(0, begun), (1, alone + 30), (0, away), (2, 10_000)])
            assert_finished(store, (begun, away))


@pytest.mark.parametrize(("listed", "writes"), [(attempt.MAX_LISTED, 4), (0, 5)], ids=["listed", "stored"])
@pytest.mark.parametrize("made", [adding(SAME_DAY), dropping(SECOND), moving(SECOND, SAME_PT)])
def test_a_helper_that_comes_late(made, listed, writes, monkeypatch):
    """A writer died; one helper stands still at every step, while others finish it, take it back, and do it again."""
    monkeypatch.setattr(attempt, "MAX_LISTED", listed)  # what it writes stands in the log, or in a payload row
    back = in_turn(
        repairing, dropping(SAME_DAY, SAME_PT), adding(SECOND), reading, in_turn(made), dropping(SAME_DAY, SECOND)
    )
    for at in range(40):
        store = fresh()
        broken = FaultyRows(store.rows, Fault.CRASH, at)
        with suppress(Crash):
            made(PartitionStore(broken))
        if not broken.struck:
            assert at >= writes
            return
        if not store._tables.open(*FACT).log.commits:
            continue
        for calls in range(0, 40, 2):
            store = fresh()
            with suppress(Crash):
                made(PartitionStore(FaultyRows(store.rows, Fault.CRASH, at)))
            play(store.rows, [repairing, back], [(0, calls), (1, 10_000)])
            assert_finished(store, (at, calls))


def test_a_class_that_is_named_while_another_builds():
    """Whoever names a class and lowers the flag gets it, however far others have come with building."""
    parameter = f"{property_prefix(UpdatePeriod.DAILY, 'dt')}{STORAGE_CLASS}"

    def naming(store):
        named = {parameter: "StoreAllPartitionTimeline", PRESENT: "false"}
        store.alter_table(tl.table(parameters={**tl.declared(), **named}))

    for schedule in orders([rebuilding, naming], "class"):
        store = fresh()
        results, _ = play(store.rows, [rebuilding, naming], schedule)
        assert results == [None, None], (schedule, results)
        (found,) = store.timelines.of(".".join(FACT), UpdatePeriod.DAILY, "dt")
        assert type(found).__name__ == "StoreAllPartitionTimeline", schedule
        assert_finished(store, schedule)


def test_two_changes_that_expect_what_the_other_one_changes():
    """One of them finds that it is too late."""
    one, two = partition("2015-02-01"), partition("2015-02-02")

    def changing(put, seen):
        def act(store):
            expected = {seen.values: None}
            store.change_partitions(*FACT, put=[put], expected=expected)
            return True

        return act

    acts = [changing(one, two), changing(two, one)]
    for schedule in orders(acts, "skew"):
        store = fresh()
        results, _ = play(store.rows, acts, schedule)
        assert sorted(map(str, results)) == ["ConcurrentChange", "True"], (schedule, results)
        assert_finished(store, schedule)
