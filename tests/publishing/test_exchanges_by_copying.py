"""Exchanges on file systems where a folder is not renamed in one step, but copied."""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from itertools import count

import pytest

from hbstore import Column, Partition, PartitionStore, Table
from hbstore.errors import ConcurrentChange
from hbstore.files.remote_files import RemoteFiles
from hbstore.publishing import Publisher
from hbstore.publishing.exchanger import exchange_partitions
from hbstore.rows import connect as connect_rows
from hbstore.transactions.transactions import Transactions
from hbstore.transactions.waiting import Patience
from tests.files.warehouses import world
from tests.interleaved import Between
from tests.publishing.dying import much_later, recover_later
from tests.publishing.exchanges import OLD, SALES, come_to, job, leases
from tests.store.faults import Crash


@contextmanager
def prepared(url):
    """Two tables on such a file system; one has a partition with two files."""
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
        yield store, place


def exchange(store, place):
    tables = [store.get_table(*one) for one in (SALES, OLD)]
    return exchange_partitions(store, place.warehouse, *tables, store.get_partitions_by_filter(*SALES, None))


@pytest.fixture
def copied(url, monkeypatch):
    """An exchange whose process died while it copied: the store and the warehouse."""
    with prepared(url) as (store, place):

        def dies(_self, _source, target, **_):
            place.write(f"memory://bucket{target}/one", b"one")
            raise Crash

        with monkeypatch.context() as patch:
            patch.setattr(RemoteFiles, "copy", dies)
            with pytest.raises(Crash):
                exchange(store, place)
        yield store, place


STEPS = [(Transactions, "run"), *((RemoteFiles, name) for name in ("copy", "move", "delete"))]


def at_each_step(url, come):
    """Exchange, and have something happen before or after one step of it, for each step."""
    for at in count():
        with prepared(url) as (store, place), pytest.MonkeyPatch.context() as patch:
            process = Between(at, lambda store=store, place=place: come(store, place))
            for owner, name in STEPS:
                patch.setattr(owner, name, process.around(getattr(owner, name)))
            with suppress(Crash):
                exchange(store, place)
            patch.undo()
            if process.left >= 0:
                return at
            yield store, place
            for database, _ in (SALES, OLD):
                store.drop_database(database, cascade=True)


def read(store, place):
    """The texts of the files at the places that the catalog names."""
    root = place.warehouse.root.rpartition("/")[0] + "/"
    named = [
        one.location.removeprefix(root) + "/"
        for name in (SALES, OLD)
        for one in store.get_partitions(*name, [("a", "1")])
    ]
    return sorted(text.decode() for path, text in place.files().items() if path.startswith(tuple(named)))


def test_rows_are_read_at_each_step(url):
    texts = []
    list(at_each_step(url, lambda *both: texts.append(read(*both))))
    assert len(texts) > 10
    assert set(map(tuple, texts)) == {("one", "two")}


def test_who_dies_at_any_step_leaves_the_rows_and_no_copy_once_it_is_finished(url):
    def dies(*_):
        raise Crash

    for store, place in at_each_step(url, dies):
        assert read(store, place) == ["one", "two"]
        recover_later(store, SALES, OLD)
        assert read(store, place) == ["one", "two"]
        assert len(place.files()) == 2
        assert leases(store) == 0


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
    copy = RemoteFiles.copy

    def looking(self, *places, **named):
        untils.extend(one.until for one in store.publications.of(store.publications.row(*OLD)))
        return copy(self, *places, **named)

    monkeypatch.setattr(RemoteFiles, "copy", looking)
    with much_later():
        come_to(store, OLD)
    assert all(until > found.until for until in untils)
    assert untils
    assert leases(store) == 0
    assert len(place.files()) == 2
