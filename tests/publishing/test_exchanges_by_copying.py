"""Exchanges on file systems where a folder is not renamed in one step, but copied."""

from __future__ import annotations

import time

import pytest

from hbstore import Column, Partition, PartitionStore, Table
from hbstore.errors import ConcurrentChange
from hbstore.files.warehouse import Warehouse
from hbstore.publishing import Publisher
from hbstore.publishing.exchanger import exchange_partitions
from hbstore.rows import connect as connect_rows
from hbstore.transactions.waiting import Patience
from tests.files.warehouses import world
from tests.publishing.dying import much_later
from tests.publishing.exchanges import OLD, SALES, come_to, job, leases
from tests.store.faults import Crash


@pytest.fixture
def copied(url, monkeypatch):
    """An exchange on such a file system whose process died while it copied: the store and the warehouse."""
    place = world("memory", None)
    root = place.warehouse.root
    with PartitionStore(connect_rows(url)) as store:
        columns = [Column("ds", "string"), Column("hour", "int")]
        for database, name in (SALES, OLD):
            store.create_database(database)
            store.create_table(Table(database, name, columns, location=f"{root}/{name}"))
        store.add_partitions(*SALES, [Partition(("a", "1"))])
        for name in ("one", "two"):
            place.write(f"{root}/sales/ds=a/hour=1/{name}", name.encode())

        def dies(_self, _source, target, **_):
            place.write(f"{target}/one", b"one")
            raise Crash

        tables = [store.get_table(*one) for one in (SALES, OLD)]
        found = store.get_partitions_by_filter(*SALES, None)
        with monkeypatch.context() as patch:
            patch.setattr(Warehouse, "move", dies)
            with pytest.raises(Crash):
                exchange_partitions(store, place.warehouse, *tables, found)
        yield store, place


def test_who_copies_is_left_alone_while_alive(copied):
    store, place = copied
    before = place.files()
    for table in (SALES, OLD):
        come_to(store, table)
    assert place.files() == before
    assert store.get_partition(*OLD, ("a", "1")).location.endswith("/sales/ds=a/hour=1")


def test_a_job_waits_for_who_copies(copied, monkeypatch):
    store, _ = copied
    monkeypatch.setattr(PartitionStore, "patience", Patience(total=0))
    (found,) = store.publications.of(row := store.publications.row(*OLD))
    store.publications.extend(row, found.id, time.time() + 1000)
    with much_later():
        for table in (SALES, OLD):
            with pytest.raises(ConcurrentChange):
                Publisher(store).lease(".".join(table), job(("a", "1")))
    assert leases(store) == 2


def test_what_was_copied_half_is_finished_later(copied):
    store, place = copied
    with much_later():
        come_to(store, OLD)
    assert store.get_partition(*OLD, ("a", "1")).location.endswith("/old/ds=a/hour=1")
    assert place.files() == {"wh/old/ds=a/hour=1/one": b"one", "wh/old/ds=a/hour=1/two": b"two"}
    assert leases(store) == 0


def test_who_copies_says_so(copied, monkeypatch):
    store, place = copied
    row = store.publications.row(*OLD)
    (found,) = store.publications.of(row)
    untils = []
    move_once = Warehouse.move_once

    def looking(self, *places, **named):
        untils.extend(one.until for one in store.publications.of(store.publications.row(*OLD)))
        return move_once(self, *places, **named)

    monkeypatch.setattr(Warehouse, "move_once", looking)
    with much_later():
        come_to(store, OLD)
    assert all(until > found.until for until in untils)
    assert untils
    assert leases(store) == 0
    assert len(place.files()) == 2
