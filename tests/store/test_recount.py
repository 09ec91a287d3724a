"""Counting a table anew while others change it: `hbstore repair` comes to an end, and what it counts is right."""

from __future__ import annotations

import random

import pytest

from hbstore import Column, Partition, Table, connect
from hbstore.keys.row_key import split_key, successor
from hbstore.model.totals import NOTHING, Totals
from hbstore.store import recount
from hbstore.store.partition_store import PartitionStore
from hbstore.store.sketch import Sketch
from hbstore.store.table_row import STATISTICS, statistics_of, table_key, totals_state
from hbstore.transactions.transactions import Transactions
from tests.backends import BACKENDS, backend_url

DAYS = [f"20{year:02}-{month:02}-01" for year in range(10, 60) for month in range(1, 13)]


def partitions(days):
    return [Partition([day], parameters={"numRows": str(int(day[2:4]))}) for day in days]


@pytest.fixture(params=BACKENDS)
def rows(request, tmp_path, monkeypatch):
    monkeypatch.setattr(recount, "_BATCH", 200)
    monkeypatch.setattr(recount, "_FEWEST", 20)
    with connect(backend_url(request, tmp_path)) as store:
        store.drop_database("shop", cascade=True, if_exists=True)
        store.create_database("shop")
        for name in ("sales", "sold"):
            store.create_table(Table("shop", name, [Column("ds", "date")], location=f"s3://shop/{name}"))
        store.add_partitions("shop", "sales", partitions(DAYS))
        yield store.rows
        store.drop_database("shop", cascade=True)


def miscount(store):
    """Give the table totals and statistics that are wrong."""

    def step(transaction):
        view = transaction.row(table_key("shop", "sales"))
        view.set_state(totals_state(Totals(7, 7, 7)))
        view.put_cell(STATISTICS, Sketch.empty(1).encode())

    store._tables.transactions.run(step)


def counted(store, name="sales"):
    """Totals and statistics of a table by its rows."""
    row = store.table_row("shop", name)
    found = list(row.unpacked(store.rows).whole_rows(row.definition.prefix, successor(row.definition.prefix)))
    sketch = Sketch.empty(1).add(split_key(row.key, 1)[1] for row in found)
    return Totals.of(row.payload for row in found), sketch.statistics()


def is_right(store, name="sales"):
    row = store.table_row("shop", name)
    assert (row.totals, statistics_of(row)) == counted(store, name)
    assert recount.RECOUNT not in row.cells


class Between:
    """Rows of which somebody changes partitions whenever so many were scanned of the table."""

    def __init__(self, rows, change, every):
        self._rows, self._change, self._every, self._scanned, self._busy = rows, change, every, 0, False

    def __getattr__(self, name):
        return getattr(self._rows, name)

    def scan(self, start, stop, residual=None, limit=None):
        for batch in self._rows.scan(start, stop, residual, limit):
            for row in batch:
                self._scanned += 1
                if not self._busy and self._scanned % self._every == 0:
                    self._busy = True
                    self._change()
                    self._busy = False
                yield [row]


def test_repair_ends_beside_somebody_who_adds_partitions_all_the_time(rows):
    if rows.atomic:
        pytest.skip("writers wait for each other there")
    other, days = (
        PartitionStore(rows),
        iter(f"19{year}-{month:02}-01" for year in range(10, 99) for month in range(1, 13)),
    )
    store = PartitionStore(
        Between(rows, lambda: other.add_partitions("shop", "sales", partitions([next(days)])), 60), 1.0
    )
    miscount(store)
    assert store.repair("shop", "sales").miscounted
    is_right(store)
    assert store.totals("shop", "sales").partitions > len(DAYS) + 5


class Writer:
    """Changes partitions at random."""

    def __init__(self, store, seed):
        self.store, self.pick, self.there = store, random.Random(seed), set(DAYS)

    def change(self):
        day = self.pick.choice(sorted(self.there))
        new = f"{self.pick.choice([19, 20])}{self.pick.randrange(70, 99)}-0{self.pick.randrange(1, 9)}-15"
        if new in self.there:
            return
        kind = self.pick.choice(["add", "drop", "alter", "rename", "exchange"])
        if kind == "add":
            self.store.add_partitions("shop", "sales", partitions([new]))
        elif kind == "drop":
            self.store.drop_partitions("shop", "sales", [[day]])
        elif kind == "alter":
            self.store.alter_partitions("shop", "sales", [Partition([day], parameters={"numFiles": "3"})])
        elif kind == "rename":
            self.store.rename_partition("shop", "sales", [day], [new])
        else:
            self.store.exchange_partitions("shop.sales", "shop.sold", [[day]])
        self.there = set(self.there) | ({new} if kind in {"add", "rename"} else set())
        self.there -= {day} if kind in {"drop", "rename", "exchange"} else set()


@pytest.mark.parametrize("seed", range(3))
def test_changes_of_all_kinds_between_the_steps_are_counted(rows, monkeypatch, seed):
    store = PartitionStore(rows)
    miscount(store)
    writer, steps, count_on = Writer(PartitionStore(rows), seed), [], recount._count_on
    run = Transactions.run

    def between(self, step):
        result = run(self, step)
        if self is store._tables.transactions:
            steps.append(step)
            for _ in range(3):
                writer.change()
        return result

    monkeypatch.setattr(recount, "_count_on", lambda view, _: count_on(view, 50))
    monkeypatch.setattr(Transactions, "run", between)
    assert store.repair("shop", "sales").miscounted
    monkeypatch.undo()
    assert len(steps) > 8
    assert store.totals("shop", "sales") == counted(store)[0]
    assert not store.repair("shop", "sales").miscounted
    is_right(store)  # only now without the keys of what was dropped while it was counted


def test_what_a_dead_repair_has_left_stays_right_and_is_taken_up(rows, monkeypatch):
    store = PartitionStore(rows)
    count_on = recount._count_on

    def dying(view, batch):
        if recount.Recount.decode(view.cells[recount.RECOUNT], 1).reached:
            raise KeyboardInterrupt
        return count_on(view, batch)

    monkeypatch.setattr(recount, "_count_on", dying)
    with pytest.raises(KeyboardInterrupt):
        store.repair("shop", "sales")
    monkeypatch.setattr(recount, "_count_on", count_on)
    store.drop_partitions("shop", "sales", [[DAYS[0]], [DAYS[-1]]])
    row = store.table_row("shop", "sales")
    left = recount.Recount.decode(row.cells[recount.RECOUNT], 1)
    assert left.totals.partitions == 199
    store.rename_table("shop", "sales", Table("shop", "renamed", [Column("ds", "date")]))
    assert not store.repair("shop", "renamed").miscounted
    is_right(store, "renamed")
    store.drop_table("shop", "renamed")
    assert store.totals("shop", "sold") == NOTHING


def test_a_damaged_recount_keeps_no_writer_back(rows):
    store = PartitionStore(rows)
    for damage in (b"x", b'["", [0, 0, 0, 0, 0, 0, 0]]\n\x01\x00\x01\x00'):
        store._tables.transactions.run(
            lambda transaction, cell=damage: transaction.row(table_key("shop", "sales")).put_cell(recount.RECOUNT, cell)
        )
        store.add_partitions("shop", "sales", partitions([f"2001-01-0{len(damage) % 7 + 1}"]))
        store.repair("shop", "sales")
        assert store.totals("shop", "sales").partitions == len(store.partition_names("shop", "sales"))
