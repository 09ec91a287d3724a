"""Backups beside writers who never rest, of tables that take longer to copy than a lock of them is left alone."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing, suppress
from dataclasses import replace
from itertools import count
from random import Random

import pytest

from hbstore import Column, Database, Partition, Table, connect
from hbstore.rows import connect as connect_rows
from hbstore.store import copying
from hbstore.store.copying import StoreCopy, back_up, restore
from hbstore.store.noted_tables import end_noting
from hbstore.store.partition_store import PartitionStore
from hbstore.transactions import noted_changes
from hbstore.transactions.noted_changes import NOTING
from hbstore.transactions.transactions import Transactions
from hbstore.transactions.waiting import Patience
from tests import hbase_server
from tests.amounts import amount
from tests.pauses import SECONDS, until
from tests.processes import ROOT
from tests.rows.test_sqlite_backup import WRITER, WRITERS, values
from tests.store.faults import Crash, FaultyRows
from tests.store.strikes import make_impatient

NONATOMIC = "memory://?atomic=false"
HISTORIES = amount(15, 400)
SIZE = 300
ONCE_IN = 100
"""Rows that are read between two changes: a lock under which a table were copied whole would not hold."""
NAMES = ("t0", "t1", "t2")


def table(name):
    columns = [Column("v", "int")]
    return Table("shop", name, partition_columns=[Column("n", "int")], columns=columns, location=f"s3://shop/{name}")


def filled(size=SIZE):
    store = PartitionStore(connect_rows(NONATOMIC))
    store.create_database(Database("shop", owner="ann"))
    for name in NAMES:
        store.create_table(table(name))
        store.table(f"shop.{name}").add([Partition((str(number),), location="s3://old") for number in range(size)])
    return store


def state(store):
    """All partitions of all tables."""
    return {
        name: {one.values[0]: (one.location, len(one.storage.columns)) for one in handle.partitions()}
        for name, handle in ((name, store.table(f"shop.{name}")) for name in store.table_names("shop"))
    }


def looked_at(store):
    """The same, and whether the rows are sound."""
    assert [one for name in store.table_names("shop") for one in store.check("shop", name) if one is not None] == []
    assert [problem for *_, problem in store.check_catalog() if problem is not None] == []
    found = state(store)
    assert [store.totals("shop", name).partitions for name in found] == [len(one) for one in found.values()]
    return found


class Writer:
    """Changes one table after the other, in ways that a seed decides; each change is a moment of the history."""

    def __init__(self, store, seed, acts=("add", "drop", "alter", "many", "exchange", "cascade", "rename")):
        self.store, self.random, self.acts = store, Random(seed), acts
        self.history, self.at = [state(store)], count()

    def act(self):
        random, at = self.random, next(self.at)
        name = sorted(self.store.table_names("shop"))[at % len(NAMES)]
        handle = self.store.table(f"shop.{name}")
        here = [one.values[0] for one in handle.partitions()]
        kind = random.choice(self.acts) if at % 12 == 11 else random.choice(self.acts[:4])
        if kind == "add":
            handle.add([Partition((str(10_000 + at),), location=f"s3://new/{at}")])
        elif kind == "many":
            handle.add([Partition((str(100_000 + 10 * at + one),), location="s3://many") for one in range(7)])
        elif kind == "drop":
            self.store.drop_partitions("shop", name, [(value,) for value in random.sample(here, 2)])
        elif kind == "alter":
            value = random.choice(here)
            self.store.alter_partitions("shop", name, [Partition((value,), location=f"s3://altered/{at}")])
        elif kind == "exchange":
            other = next(one for one in self.store.table_names("shop") if one != name)
            there = {one.values[0] for one in self.store.table(f"shop.{other}").partitions()}
            moving = [(value,) for value in here if value not in there][:3]
            if moving:
                self.store.exchange_partitions(f"shop.{name}", f"shop.{other}", moving)
        elif kind == "rename":
            self.store.rename_table("shop", name, table(f"r{at}_{name[-2:]}"))
        else:
            now = self.store.get_table("shop", name)
            self.store.alter_table(replace(now, columns=[*now.columns, Column(f"c{at}", "int")]), cascade=True)
        self.history.append(state(self.store))


class BusyRows:
    """`Rows` whose reader is never alone: a writer acts each time that so many rows were read."""

    def __init__(self, rows, act, once_in=ONCE_IN):
        self._rows, self._act, self._once_in, self._left = rows, act, once_in, once_in
        self.url, self.atomic, self.costs = rows.url, rows.atomic, rows.costs

    def __getattr__(self, name):
        found = getattr(self._rows, name)

        def call(*arguments, **named):
            result = found(*arguments, **named)
            return self._counted(result) if name in ("whole_rows", "scan", "scan_catalog") else result

        return call

    def _counted(self, rows):
        for row in rows:
            self._left -= 1
            if not self._left:
                self._left = self._once_in
                self._act()
            yield row


def impatient(rows):
    return Transactions(rows, Patience(total=0.0, decided=0.0, undecided=0.0))


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_a_copy_beside_a_writer_who_never_rests_is_one_moment_of_its_history(seed, monkeypatch):
    make_impatient(monkeypatch)
    store = filled()
    writer = Writer(store, seed)
    target = connect_rows("memory://")
    StoreCopy(impatient(BusyRows(store.rows, writer.act)), target).make()
    assert len(writer.history) > 10
    assert looked_at(PartitionStore(target)) in writer.history
    assert leavings(store) == leavings(PartitionStore(target)) == []
    assert looked_at(store) == writer.history[-1]


def leavings(store):
    """What copying left: marks of tables whose changes are noted, and notes."""
    marks = [key for key, _ in Transactions(store.rows).scan_cell(b"T", b"U", NOTING)]
    return marks + [row.key for row in store.rows.whole_rows(b"\x01", b"\x02")]


def test_after_a_copy_that_died_writers_go_on_and_the_next_one_copies(monkeypatch):
    make_impatient(monkeypatch)
    for at in count():
        store = filled(30)
        writer = Writer(store, at, acts=("add", "drop", "alter", "many"))
        faulty = FaultyRows(store.rows, at=at)
        busy = BusyRows(faulty, writer.act, once_in=25)
        with suppress(Crash):
            StoreCopy(impatient(busy), connect_rows("memory://")).make()
        for _ in range(3):
            writer.act()
        assert looked_at(store) == writer.history[-1]
        target = connect_rows("memory://")
        StoreCopy(impatient(BusyRows(store.rows, writer.act, once_in=25)), target).make()
        assert looked_at(PartitionStore(target)) in writer.history
        assert leavings(store) == []
        if not faulty.struck:
            break
    assert at > 5


def test_notes_that_a_dead_copy_wants_come_to_an_end(monkeypatch):
    make_impatient(monkeypatch)
    monkeypatch.setattr(noted_changes, "MOST", 5)
    store = filled(10)
    writer = Writer(store, 0)
    copy = StoreCopy(impatient(store.rows), connect_rows("memory://"))
    copy._round()
    writer.act()
    copy._round()
    assert leavings(store)
    for _ in range(10 * len(NAMES)):
        writer.act()
    assert 0 < len(leavings(store)) <= 6 * len(NAMES)
    for _ in range(2):
        copy._round()
    assert looked_at(PartitionStore(copy.target)) == writer.history[-1]
    target = connect_rows("memory://")
    StoreCopy(impatient(BusyRows(store.rows, writer.act, once_in=60)), target).make()
    assert looked_at(PartitionStore(target)) in writer.history
    assert leavings(store) == []


def test_a_writer_who_notes_nothing_is_noticed(monkeypatch):
    """As one of an earlier version, or one that began a copy of its own meanwhile and ended it."""
    make_impatient(monkeypatch)
    monkeypatch.setattr(copying, "_ROUNDS", 3)
    store = filled(20)
    rows, target = store.rows, connect_rows("memory://")
    copy = StoreCopy(impatient(rows), target)
    writer = Writer(store, 1, acts=("add", "drop", "alter", "many"))
    copy._round()
    for _ in NAMES:
        writer.act()
    copy._round()
    writer.act()
    end_noting(Transactions(rows))
    for _ in range(9):
        writer.act()
    assert copy._locked(set()) != []
    copy._round()
    assert looked_at(PartitionStore(target)) == writer.history[-1]


def test_repair_ends_what_a_dead_copy_left(monkeypatch):
    make_impatient(monkeypatch)
    store = filled(10)
    copy = StoreCopy(impatient(store.rows), connect_rows("memory://"))
    writer = Writer(store, 2, acts=("add", "drop", "alter", "many"))
    for _ in range(2):
        copy._round()
        for _ in NAMES:
            writer.act()
    assert leavings(store)
    assert looked_at(store) == writer.history[-1]
    store.repair_catalog()
    assert leavings(store) == []
    writer.act()
    assert leavings(store) == []


@pytest.mark.hbase
def test_a_backup_of_large_tables_on_hbase_under_writers_is_one_moment_of_their_history(hbase_server_url, tmp_path):
    """Its writers leave a lock alone for less time than it takes to copy the tables."""
    before = 5_000
    with hbase_server.own_tables(hbase_server_url) as url, hbase_server.own_tables(hbase_server_url) as other:
        with connect(url) as store:
            store.create_database("shop")
            for number in range(WRITERS):
                store.create_table(Table("shop", f"t{number}", partition_columns=[Column("n", "int")]))
                store.table(f"shop.t{number}").add([Partition((str(one - before),)) for one in range(before)])
            code = WRITER.replace('connect(f"sqlite://{path}")', "connect(path)")
            code = f"{IMPATIENT}{code}"
            writers = [
                subprocess.Popen([sys.executable, "-c", code, str(number), url], cwd=ROOT) for number in range(WRITERS)
            ]
            try:
                until(lambda: store.table("shop.t3").count("n >= 0") > 0)
                backup = back_up(Transactions(store.rows, Patience(total=SECONDS)), "shop", tmp_path / "copy.db").path
            finally:
                for writer in writers:
                    writer.kill()
                    writer.wait()
        found = values(backup)
        counts = [len(one) - before for one in found]
        assert found == [list(range(-before, number)) for number in counts]
        assert counts == sorted(counts, reverse=True)
        assert 0 < counts[0] <= counts[-1] + 1
        with closing(connect_rows(other)) as rows:
            restore(backup, rows)
        with connect(other) as store:
            assert [store.table(f"shop.t{number}").count() - before for number in range(WRITERS)] == counts


IMPATIENT = """
from hbstore.store import partition_store
from hbstore.transactions.waiting import Patience
partition_store.Patience = lambda total: Patience(total, undecided=0.3)
"""
