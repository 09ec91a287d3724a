"""Rows of large tables that were dropped are noted, and removed behind the drop, whatever happens meanwhile."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from threading import Event

import pytest

from hbstore import CorruptRow, connect
from hbstore.files.warehouse import Warehouse
from hbstore.keys.row_key import prefix_in, successor
from hbstore.retention.keeper import keep_once
from hbstore.store import purge
from hbstore.store.partition_store import PartitionStore
from hbstore.store.purge import noted, noted_in
from hbstore.store.table_row import table_key
from tests.backends import BACKENDS
from tests.interleaved import Between
from tests.processes import Process, say
from tests.store import lives
from tests.store.faults import Crash, FaultyRows
from tests.store.lives import SALES, days, keys, prefix


@pytest.fixture(params=BACKENDS)
def store(request, tmp_path):
    with lives.opened(request, tmp_path) as store:
        yield store


@pytest.fixture
def few(monkeypatch):
    """Ten rows are many, and a batch; nothing is removed in the background."""
    monkeypatch.setattr(purge, "FEW", 10)
    monkeypatch.setattr(purge, "_BATCH", 10)
    monkeypatch.setattr(purge.Purger, "begin", lambda _: None)


def many(store, number=35):
    store.create_table(SALES)
    store.add_partitions("lives", "sales", days(*(f"{at:02}" for at in range(number))))


@pytest.mark.usefixtures("few")
def test_the_rows_of_a_large_table_are_noted_and_removed(store):
    many(store)
    old = prefix(store)
    store.drop_table("lives", "sales")
    assert len(keys(store)) == 35
    assert list(noted(store._tables.transactions)) == [(table_key("lives", "sales"), [old])]
    assert [str(problem) for _, _, problem in store.check_catalog() if problem] == []
    many(store)
    store.drop_table("lives", "sales")
    many(store, 12)
    assert store.repair_catalog() == 1
    assert [prefix_in(key) for key in keys(store)] == [prefix(store)] * 12
    assert list(noted(store._tables.transactions)) == []
    assert store.repair_catalog() == 0


@pytest.mark.usefixtures("few")
def test_a_purge_at_each_of_whose_steps_others_make_and_drop_tables_removes_what_is_noted_alone(monkeypatch):
    for at in range(200):
        store = connect("memory://?atomic=false")
        store.create_database("lives")
        many(store)
        store.rename_table("lives", "sales", replace(SALES, name="old"))
        store.drop_table("lives", "old")
        other = PartitionStore(store.rows)

        def again(other=other):
            many(other, 20)
            other.rename_table("lives", "sales", replace(SALES, name="old"))
            many(other, 3)
            other.drop_table("lives", "old")
            many(other, 1) if "sales" not in other.table_names("lives") else None

        between = Between(at, again)
        with monkeypatch.context() as patch:
            for call in ("write", "scan", "get", "compare_and_put", "put_cells", "scan_catalog"):
                patch.setattr(type(store.rows), call, between.around(getattr(type(store.rows), call)))
            purge.purge(store._tables.transactions)
        if between.left >= 0:
            break
        assert store.partition_names("lives", "sales") == ["ds=00", "ds=01", "ds=02"]
        purge.purge(store._tables.transactions)
        assert keys(store) == keys(store, prefix(store), successor(prefix(store)))
        assert [str(problem) for _, _, problem in store.check_catalog() if problem] == []
    assert at > 10


@pytest.mark.usefixtures("few")
def test_a_server_removes_what_a_dead_process_has_left(tmp_path):
    store = connect("memory://")
    store.create_database("lives")
    many(store)
    store.drop_table("lives", "sales")
    keep_once(store, Warehouse(str(tmp_path)), datetime.now(UTC), Event())
    assert keys(store) == []


@pytest.mark.usefixtures("few")
def test_a_purge_that_dies_goes_on_where_it_was():
    for at in count():
        store = connect("memory://?atomic=false")
        store.create_database("lives")
        many(store)
        store.drop_table("lives", "sales")
        faulty = FaultyRows(store.rows, at=at)
        try:
            purge.purge(PartitionStore(faulty)._tables.transactions)
        except Crash:
            many(store, 1)
            store.repair_catalog()
            assert keys(store) == keys(store, prefix(store), successor(prefix(store)))
        else:
            break
    assert at > 4


def test_a_store_that_is_closed_has_removed_what_it_dropped(tmp_path):
    url = f"sqlite://{tmp_path}/store.db"
    with connect(url) as store:
        store.create_database("lives")
        many(store, 0)
        store.add_partitions("lives", "sales", days(*map(str, range(20_000))))
        store.drop_database("lives", cascade=True)
        store.create_database("lives")
    with connect(url) as store:
        assert keys(store) == []
        assert list(noted(store._tables.transactions)) == []


def drop_in_process(url):
    with connect(url) as store:
        say("opened")
        store.drop_table("lives", "sales")
        say("dropped")


@pytest.mark.parametrize("lines", [1, 2])
def test_a_process_that_is_killed_in_a_drop_leaves_the_table_or_none(tmp_path, lines):
    url = f"sqlite://{tmp_path}/store.db"
    with connect(url) as store:
        store.create_database("lives")
        many(store, 0)
        store.add_partitions("lives", "sales", days(*map(str, range(20_000))))
    process = Process("tests.store.test_purge", "drop_in_process", url)
    process.heard(lines)
    process.kill()
    with connect(url) as store:
        there = store.table_names("lives")
        if there:
            assert store.count_partitions("lives", "sales") == 20_000
            store.drop_table("lives", "sales")
        many(store, 2)
        store.repair_catalog()
        assert len(keys(store)) == 2
        assert store.partition_names("lives", "sales") == ["ds=00", "ds=01"]


def test_what_is_noted_to_be_removed_and_damaged_is_named():
    with pytest.raises(CorruptRow, match="the rows to be removed of a dropped table cannot be decoded"):
        noted_in(b"[1]")
    assert noted_in(None) == []


def test_a_look_for_rows_of_no_table_asks_for_nothing_that_was_purged_until_it_is_repaired(store, few, monkeypatch):  # noqa: ARG001
    many(store)
    purged = [prefix(store)]
    store.drop_table("lives", "sales")
    many(store)
    store.drop_partitions("lives", "sales", [[f"{at:02}"] for at in range(35)])
    empty = prefix(store)
    store.purge_dropped_tables()
    store.rename_table("lives", "sales", replace(SALES, name="old"))
    asked = []
    rows = type(store.rows)

    def noting(own):
        def asks(self, start, stop, *others, **named):
            asked.append((start, stop))
            return own(self, start, stop, *others, **named)

        return asks

    for call in ("scan", "first_key"):
        monkeypatch.setattr(rows, call, noting(getattr(rows, call)))

    def met(*prefixes):
        return [one for one in prefixes if any(start < successor(one) and one < stop for start, stop in asked)]

    if store.rows.atomic:
        purged = []
    for look in (lambda: list(store.check_catalog()), store.repair_catalog):
        asked.clear()
        look()
        assert asked
        assert met(*purged, empty) == []
    asked.clear()
    store.repair_catalog()
    assert met(*purged, empty) == purged
