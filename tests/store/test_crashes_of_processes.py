"""Real processes: writers that are killed at any moment, and writers that run at once, on SQLite and on HBase."""

from __future__ import annotations

from random import Random

import pytest

from hbstore import Column, Partition, Table, connect
from tests.amounts import amount
from tests.pauses import let_go_on
from tests.processes import Process
from tests.store.writers import apply, batch_of, steps, write_beside_others, write_until_killed

ROUNDS = amount({"sqlite": 5, "hbase": 2}, {"sqlite": 50, "hbase": 10})
"""How often a writer is killed: on HBase a sample, as test_crashes_at_every_write.py has every write without it."""

SIZES = {"sqlite": 40, "hbase": 1_200}
"""Partitions of a batch: on HBase more than one request holds."""

WRITERS, BATCHES = 4, 12
MODULE = "tests.store.writers"


@pytest.fixture(params=["sqlite", pytest.param("hbase", marks=pytest.mark.hbase)])
def url(request, tmp_path):
    return f"sqlite://{tmp_path}/store.db" if request.param == "sqlite" else request.getfixturevalue("hbase_url")


@pytest.fixture
def store(url):
    with connect(url) as store:
        store.create_database("d", if_not_exists=True)
        yield store


@pytest.fixture
def new_table(store):
    def create(name):
        table = Table("d", name, partition_columns=[Column("ds", "date"), Column("hour", "int")])
        store.drop_table("d", name, if_exists=True)
        store.create_table(table)
        return name

    return create


def listed(store, table):
    return [one.values for one in store.get_partitions_by_filter("d", table, None)]


def test_writers_that_are_killed_leave_whole_batches_and_all_that_they_acknowledged(url, store, new_table):
    random = Random(url)
    backend = url.partition(":")[0]
    size = SIZES[backend]
    unfinished = 0
    for turn in range(ROUNDS[backend]):
        table = new_table(f"killed{turn}")
        writer = Process(MODULE, write_until_killed.__name__, url, table, size)
        writer.heard(random.randint(1, 4))
        let_go_on(random, 0.25)
        acknowledged = writer.kill()
        taken = steps()
        state = set()
        for said in acknowledged:
            step, number = next(taken)
            assert said == [step, str(number)]
            state = apply(state, step, number, size)
        step, number = next(taken)
        beyond = apply(state, step, number, size)
        affected = state ^ beyond
        now = listed(store, table)
        assert set(now) - affected == state - affected, "before the repair"
        repaired = store.repair("d", table)
        assert not repaired.miscounted
        unfinished += repaired.finished
        now = listed(store, table)
        assert len(now) == len(set(now))
        assert set(now) in (state, beyond), f"{step} {number} is half there"
        assert store.count_partitions("d", table) == len(now)
        assert all(problem is None for problem in store.check("d", table))
        store.drop_table("d", table)
    assert unfinished == 0 or not store.rows.atomic


def test_the_next_writer_needs_no_repair(url, store, new_table):
    random = Random(f"next {url}")
    size = SIZES[url.partition(":")[0]]
    for turn in range(4):
        table = new_table(f"next{turn}")
        writer = Process(MODULE, write_until_killed.__name__, url, table, size)
        writer.heard(1)
        let_go_on(random, 0.1)
        acknowledged = writer.kill()
        days = 1 + max(int(number) for step, number in acknowledged if step == "add")
        again = [Partition(values) for values in batch_of(days, size)]
        assert store.add_partitions("d", table, again, if_not_exists=True) in (0, size, 1), "a batch is half there"
        there = {hour for day, hour in listed(store, table) if day == again[0].values[0]}
        assert {one.values[1] for one in again} - there == set()
        assert all(problem is None for problem in store.check("d", table))


def test_four_writers_at_once_lose_nothing_and_double_nothing(url, store, new_table):
    table = new_table("together")
    writers = [Process(MODULE, write_beside_others.__name__, url, table, at, BATCHES) for at in range(WRITERS)]
    _watch(store, table, writers)
    said = [writer.wait() for writer in writers]
    expected = {("1999-01-01", str(number)) for number in range(BATCHES)}
    for at, lines in enumerate(said):
        assert [line for line in lines if line[0] == "own"] == [["own", str(number)] for number in range(BATCHES)]
        for number in range(BATCHES):
            expected |= {(f"{2000 + at}-01-{number + 1:02d}", str(hour)) for hour in range(5 * (number % 3 == 2), 25)}
    found = listed(store, table)
    assert len(found) == len(set(found))
    assert set(found) == expected
    winners = {number: at for at, lines in enumerate(said) for word, number in lines if word == "won"}
    assert sum(line[0] == "won" for lines in said for line in lines) == BATCHES, "each prize is won once"
    for number, at in winners.items():
        assert store.get_partition("d", table, ("1999-01-01", number)).parameters["by"] == str(at)
    assert all(problem is None for problem in store.check("d", table))
    assert store.repair("d", table).finished == 0


def _watch(store, table, writers):
    """While they write, each listing holds what was acknowledged before it began."""
    for number in range(1, 60, 6):
        before = [(at, line) for at, writer in enumerate(writers) for line in writer.heard(number)]
        gone = {(at, line[1]) for at, line in before if line[0] == "dropped"}
        found = listed(store, table)
        assert len(found) == len(set(found))
        present = set(found)
        for at, (word, batch) in before:
            if word == "won":
                assert ("1999-01-01", batch) in present
            elif word == "own":
                day = f"{2000 + at}-01-{int(batch) + 1:02d}"
                assert {(day, str(hour)) for hour in range(5, 25)} <= present
                assert (at, batch) not in gone or (day, "0") not in present


def test_what_is_dropped_and_added_at_once_is_there_at_once(store, new_table):
    """On HBase a delete hides a put of the same millisecond that has no timestamp (rows/test_hbase_writes.py)."""
    table = new_table("again")
    values = ("2013-01-01", "1")
    store.add_partitions("d", table, [Partition(values, parameters={"turn": "0"})])
    for turn in range(1, 501):
        store.drop_partitions("d", table, [values])
        assert store.get_partitions("d", table, [values]) == []
        store.add_partitions("d", table, [Partition(values, parameters={"turn": str(turn)})])
        assert store.get_partition("d", table, values).parameters["turn"] == str(turn)
    assert store.count_partitions("d", table) == 1
    assert listed(store, table) == [values]
