"""Exchanges with files: killed anywhere, no partition is ever in both tables or in none, and no file is lost."""

from __future__ import annotations

import shutil
from dataclasses import replace
from itertools import count

import pytest

from hbstore import PartitionStore
from hbstore.errors import (
    AlreadyExists,
    FileOperationFailed,
    HbstoreError,
    InvalidInput,
    PartitionNotFound,
    StoreUnavailable,
)
from hbstore.files.warehouse import Warehouse
from hbstore.publishing import Publisher
from hbstore.publishing.exchanger import exchange_partitions
from hbstore.publishing.unfinished import UNFINISHED
from hbstore.rows import connect as connect_rows
from hbstore.warehouse.tables import drop_table
from tests.publishing.dying import recover_later
from tests.publishing.exchanges import (
    AFTER,
    BEFORE,
    OLD,
    SALES,
    both,
    come_to,
    deaths,
    leases,
    manifests,
    meanwhile,
    prepare,
    run,
)
from tests.store.faults import Fault, FaultyRows


def test_all_specs_are_one_change(store, tmp_path):
    result = run(store, tmp_path)
    assert (result.changed, result.notes) == (4, ())
    assert both(store) == AFTER
    assert leases(store) == 0
    assert not (tmp_path / "shop.db/sales/ds=a").exists()
    assert (tmp_path / "far/own/rows").exists()
    assert all("/shop.db/" not in one.location for one in store.get_partitions_by_filter(*OLD, None))


@pytest.mark.parametrize("first", [SALES, OLD], ids=["the source", "the target"])
def test_whoever_comes_to_either_table_finishes_what_a_dead_process_left(url, first, tmp_path):
    made = []
    for at, store, _root in deaths(url, tmp_path):
        here, there = both(store)
        assert (here.keys(), there.keys()) in [tuple(one.keys() for one in state) for state in (BEFORE, AFTER)], at
        expected = BEFORE if here.keys() == BEFORE[0].keys() else AFTER
        made.append(expected is AFTER)
        missing = [values for values, text in there.items() if text != expected[1][values]]
        assert here == expected[0], at
        assert len(missing) <= 2, "more than those that move at once"
        come_to(store, first)
        assert both(store) == expected, at
        recover_later(store, first)
        assert both(store) == expected, at
        left = [one for one in store.get_partitions_by_filter(*OLD, None) if "/shop.db/" in one.location]
        assert left == [], at
        recover_later(store, SALES, OLD)
        assert leases(store) == 0, at
    assert made == sorted(made), "before it is decided nothing is changed, after it all"
    assert made[0] is False
    assert made[-1] is True


def test_the_statement_may_be_repeated_at_once(url, tmp_path):
    for at, store, root in deaths(url, tmp_path):
        try:
            run(store, root)
        except PartitionNotFound:
            assert both(store)[0] == AFTER[0]
        assert both(store) == AFTER, at
        assert leases(store) == 0, at


@pytest.mark.parametrize("fault", [one for one in Fault if one not in (Fault.LATE, Fault.CRASH, Fault.CRASH_AFTER)])
def test_what_it_says_is_true(url, fault, tmp_path):
    for at in count():
        root = tmp_path / str(at)
        store = PartitionStore(connect_rows(url))
        prepare(store, root)
        faulty = FaultyRows(store.rows, fault, at)
        ended = None
        try:
            run(PartitionStore(faulty), root)
        except HbstoreError as error:
            ended = error
        come_to(store, OLD)
        if ended is None:
            assert both(store) == AFTER, at
        elif isinstance(ended, StoreUnavailable):
            assert both(store) == BEFORE, at
        else:
            assert both(store) in (BEFORE, AFTER), at
        recover_later(store, SALES, OLD)
        assert leases(store) == 0, at
        there = store.get_partitions_by_filter(*OLD, None)
        assert all("/shop.db/" not in one.location for one in there), at
        if not faulty.struck:
            assert at > 10
            return


def test_what_is_in_the_way_refuses_all(store, tmp_path):
    (tmp_path / "attic.db/old/ds=a/hour=2").mkdir(parents=True)
    with pytest.raises(FileOperationFailed, match="already exists"):
        run(store, tmp_path)
    assert both(store) == BEFORE
    assert leases(store) == 0


def test_what_is_in_the_way_of_a_partition_without_a_folder_refuses_all(store, tmp_path):
    """Else its rows were those of other files."""
    folder = tmp_path / "attic.db/old/ds=c/hour=1"
    folder.mkdir(parents=True)
    (folder / "rows").write_text("c/1")
    with pytest.raises(FileOperationFailed, match="the new folder of a partition already exists"):
        run(store, tmp_path)
    assert (both(store), leases(store)) == (BEFORE, 0)


def test_a_partition_at_its_tables_own_folder_stays_in_its_table(store, tmp_path):
    """Else a drop of that table would take along the files of a partition of another one."""
    far = store.get_partition(*SALES, ("far", "1"))
    store.alter_partitions(*SALES, [replace(far, location=store.get_table(*SALES).location)])
    with pytest.raises(InvalidInput, match="the files of the whole table"):
        run(store, tmp_path)
    assert len(store.get_partitions_by_filter(*SALES, None)) == len(BEFORE[0])
    assert leases(store) == 0


def test_what_the_store_refuses_leaves_no_lease(store, tmp_path):
    found = store.get_partitions_by_filter(*SALES, None)
    store.drop_partitions(*SALES, [("c", "1")])
    tables = [store.get_table(*place) for place in (SALES, OLD)]
    with pytest.raises(PartitionNotFound):
        exchange_partitions(store, Warehouse(str(tmp_path)), *tables, found)
    store.add_partitions(*OLD, [store.get_partition(*SALES, ("b", "1"))])
    with pytest.raises(AlreadyExists):
        exchange_partitions(store, Warehouse(str(tmp_path)), *tables, found[:3])
    assert leases(store) == 0
    assert manifests(store) == []


def test_a_folder_that_comes_shortly_before_the_lease_refuses_it(store, tmp_path, monkeypatch):
    lease, theirs = Publisher.lease, tmp_path / "attic.db/old/ds=a/hour=2/theirs"

    def after_others(self, *arguments):
        theirs.parent.mkdir(parents=True, exist_ok=True)
        theirs.write_text("of others")
        return lease(self, *arguments)

    monkeypatch.setattr(Publisher, "lease", after_others)
    with pytest.raises(FileOperationFailed, match="already exists"):
        run(store, tmp_path)
    assert both(store) == BEFORE
    assert leases(store) == 0


def test_a_folder_that_cannot_move_any_more_is_read_there_and_its_table_is_not_dropped(store, tmp_path, monkeypatch):
    theirs = tmp_path / "attic.db/old/ds=a/hour=2/theirs"

    def write(_):
        theirs.parent.mkdir(parents=True)
        theirs.write_text("of others")

    meanwhile(monkeypatch, after=write)
    result = run(store, tmp_path)
    assert result.changed == 4
    place = f"{tmp_path}/shop.db/sales/ds=a/hour=2"
    assert [note.split(":")[1] for note in result.notes] == [f"{place} are read there until they can follow"]
    assert both(store) == AFTER
    with pytest.raises(FileOperationFailed, match="not all moved"):
        drop_table(store, Warehouse(str(tmp_path)), *SALES, delete=True)
    theirs.unlink()
    theirs.parent.rmdir()
    monkeypatch.setattr(UNFINISHED, "_tries", {})  # a process that has not tried yet
    come_to(store, SALES)
    assert both(store) == AFTER
    assert leases(store) == 0
    drop_table(store, Warehouse(str(tmp_path)), *SALES, delete=True)
    assert any((tmp_path / "attic.db/old/ds=a/hour=2").iterdir())


def test_what_cannot_be_finished_here_is_read_where_it_is(url, tmp_path, caplog, monkeypatch):
    blocked = 0
    for at, store, root in deaths(url, tmp_path):
        here, there = root / "shop.db/sales/ds=a/hour=2", root / "attic.db/old/ds=a/hour=2"
        before = both(store)
        if there.exists() or ("a", "2") not in before[1]:
            continue
        there.mkdir(parents=True)
        (there / "theirs").write_text("of others")
        come_to(store, OLD)
        assert both(store) == AFTER, at
        assert leases(store) > 0 or not here.exists(), at
        blocked += here.exists()
        shutil.rmtree(there)
        monkeypatch.setattr(UNFINISHED, "_tries", {})  # a process that has not tried yet
        come_to(store, SALES)
        assert both(store) == AFTER, at
        assert leases(store) == 0, at
    assert blocked > 1
    assert "could not be finished" in caplog.text
