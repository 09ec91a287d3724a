"""Exchanges with files while others read, write, exchange or tidy up."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import partial

import pytest

from hbstore import Partition, PartitionStore
from hbstore.ddl import execute
from hbstore.errors import (
    AlreadyExists,
    ConcurrentChange,
    FileOperationFailed,
    PartitionNotFound,
    PublicationLost,
    WriteConflict,
)
from hbstore.files.warehouse import Warehouse
from hbstore.publishing import Publisher
from hbstore.publishing.beside_writes import after_writes
from hbstore.publishing.exchange_files import ExchangeFiles
from hbstore.publishing.exchanger import exchange_partitions
from tests.publishing.dying import much_later, recover_later
from tests.publishing.exchanges import (
    AFTER,
    BEFORE,
    OLD,
    SALES,
    STATEMENT,
    both,
    come_to,
    deaths,
    job,
    leases,
    manifests,
    meanwhile,
    run,
)
from tests.store.faults import Crash


def test_two_processes_exchange_the_same(store, tmp_path, monkeypatch):
    """The second comes while the first has leased the partitions, and takes them."""
    meanwhile(monkeypatch, before=lambda other: run(other, tmp_path))
    with pytest.raises((AlreadyExists, PartitionNotFound)):
        run(store, tmp_path)
    assert both(store) == AFTER
    assert leases(store) == 0


def test_partitions_that_were_read_on_their_way_are_not_exchanged_back_as_they_were(store, tmp_path, monkeypatch):
    """Else they would stay in the folder of the other table, where the next partition of the name has its files."""
    with monkeypatch.context() as patch:
        patch.setattr(ExchangeFiles, "fetch", lambda *_: {"": FileOperationFailed("not yet", hint="Wait")})
        run(store, tmp_path)
    names, warehouse = (("a", "1"), ("a", "2")), Warehouse(str(tmp_path))
    tables = [store.get_table(*table) for table in (OLD, SALES)]
    on_their_way = store.get_partitions(*OLD, names)
    with pytest.raises(ConcurrentChange, match="elsewhere"):
        exchange_partitions(store, warehouse, *tables, on_their_way)
    assert both(store) == AFTER
    assert leases(store) == 0
    exchange_partitions(store, warehouse, *tables, store.get_partitions(*OLD, names))
    places = [one.location for one in store.get_partitions(*SALES, names)]
    assert places == [f"file:{tmp_path}/shop.db/sales/ds={ds}/hour={hour}" for ds, hour in names]


def test_an_exchange_of_other_partitions_is_left_alone(store, tmp_path, monkeypatch):
    statement = "ALTER TABLE attic.old EXCHANGE PARTITION (ds = 'b') WITH TABLE shop.sales"

    def exchange(other):
        execute(other, statement, warehouse=str(tmp_path))
        assert leases(other) == 2

    meanwhile(monkeypatch, before=exchange)
    assert run(store, tmp_path).changed == 4
    assert both(store)[0] == {}


def test_several_finish_it_at_once(store, tmp_path, monkeypatch):
    """Readers come between every two steps of the one who exchanges."""
    looked = []

    def between(name):
        real = getattr(Warehouse, name)

        def first_look(self, *arguments, **options):
            if not looked or looked[-1] != "busy":
                looked.append("busy")
                come_to(store, OLD)
                looked.append(name)
            return real(self, *arguments, **options)

        monkeypatch.setattr(Warehouse, name, first_look)

    between("move")
    between("delete_empty_parents")
    assert run(store, tmp_path).notes == ()
    assert looked.count("move") > 1
    assert both(store) == AFTER
    assert leases(store) == 0


def test_what_somebody_else_finishes_is_noted_as_made_first(url, tmp_path, monkeypatch):
    """So that no job takes the leases of the dead one away while folders move."""
    real = Warehouse.move
    moves = []
    for _, store, _ in deaths(url, tmp_path):

        def move(self, *arguments, _store=store, **options):
            for table in (SALES, OLD):
                moves.extend(one.decided for one in _store.publications.of(_store.publications.row(*table)))
            return real(self, *arguments, **options)

        with monkeypatch.context() as patch:
            patch.setattr(Warehouse, "move", move)
            come_to(store, OLD)
    assert len(moves) > 20
    assert all(moves)


def test_who_comes_late_moves_nothing(store, tmp_path, monkeypatch):
    manifests_of_exchanges = []
    real = ExchangeFiles.close
    monkeypatch.setattr(ExchangeFiles, "close", lambda files: (manifests_of_exchanges.append(files), real(files)))
    run(store, tmp_path)
    (late,) = manifests_of_exchanges
    old = tmp_path / "shop.db/sales/ds=a/hour=1"
    old.mkdir(parents=True)
    moved = store.get_partition(*OLD, ("a", "1"))
    store.alter_partitions(*OLD, [replace(moved, location=f"file:{old}")])
    shutil.rmtree(tmp_path / "attic.db/old/ds=a/hour=1")
    late.fetch(Warehouse(str(tmp_path)))
    assert old.exists()


def test_two_may_move_a_folder_in_the_same_moment(store, tmp_path, monkeypatch):
    real = Warehouse.move

    def move(self, *arguments, **options):
        real(self, *arguments, **options)
        raise FileOperationFailed("it was not there any more")

    monkeypatch.setattr(Warehouse, "move", move)
    store.drop_partitions(*SALES, [("c", "1")])
    (result,) = execute(store, STATEMENT.replace("(ds = 'c'), ", ""), warehouse=str(tmp_path))
    assert result.notes == ()
    assert both(store)[1] == {values: text for values, text in AFTER[1].items() if values[0] != "c"}


@pytest.mark.parametrize("table", [SALES, OLD])
def test_a_partition_that_a_job_is_writing_is_not_exchanged(store, tmp_path, table):
    Publisher(store).lease(".".join(table), job(("a", "1")))
    with pytest.raises(WriteConflict, match="ds=a/hour=1"):
        run(store, tmp_path)
    assert both(store) == BEFORE
    assert leases(store) == 1


def test_a_job_cannot_write_what_is_being_exchanged(store, tmp_path, monkeypatch):
    def write(other):
        for table in (SALES, OLD):
            with pytest.raises(WriteConflict):
                Publisher(other).lease(".".join(table), job(("a", "2")))

    meanwhile(monkeypatch, before=write)
    run(store, tmp_path)
    assert both(store) == AFTER


@pytest.mark.parametrize("table", [SALES, OLD])
def test_a_process_that_was_taken_for_dead_changes_nothing(store, tmp_path, monkeypatch, table):
    meanwhile(monkeypatch, before=lambda other: recover_later(other, table))
    with pytest.raises(PublicationLost):
        run(store, tmp_path)
    assert both(store) == BEFORE
    assert leases(store) == 0


def test_what_a_job_has_hidden_keeps_no_folder_away(store, tmp_path, monkeypatch):
    """Of a job that was given up, until that is cleared away: else the partition stays in the other table's folder."""

    def leave(_):
        folder = tmp_path / "attic.db/old/ds=a/hour=1"
        folder.mkdir(parents=True)
        (folder / ".left").write_text("by a job")

    meanwhile(monkeypatch, before=leave)
    assert run(store, tmp_path).notes == ()
    assert both(store) == AFTER


@pytest.mark.parametrize("table", [SALES, OLD])
def test_others_may_finish_what_a_slow_process_has_exchanged(store, tmp_path, monkeypatch, table):
    meanwhile(monkeypatch, after=lambda other: recover_later(other, table))
    result = run(store, tmp_path)
    assert (result.changed, result.notes) == (4, ())
    assert both(store) == AFTER
    assert leases(store) == 0
    assert manifests(store) == []
    assert all("/shop.db/" not in one.location for one in store.get_partitions_by_filter(*OLD, None))


def test_a_partition_that_others_alter_meanwhile_keeps_what_they_did(store, tmp_path, monkeypatch):
    real = PartitionStore.change_partitions

    def late(self, *arguments, **options):
        monkeypatch.setattr(PartitionStore, "change_partitions", real)
        found = self.get_partition(*OLD, ("a", "1"))
        self.alter_partitions(*OLD, [replace(found, parameters={"by": "others"})])
        return real(self, *arguments, **options)

    monkeypatch.setattr(PartitionStore, "change_partitions", late)
    run(store, tmp_path)
    assert both(store) == AFTER
    assert store.get_partition(*OLD, ("a", "1")).parameters == {"by": "others"}


def test_a_partition_that_only_looks_exchanged_keeps_its_files(store, tmp_path, monkeypatch):
    """Somebody adds one to the other table, in the very folder; the exchange was not made."""

    def add_and_die(other):
        other.add_partitions(*OLD, [other.get_partition(*SALES, ("a", "1"))])
        raise Crash

    meanwhile(monkeypatch, before=add_and_die)
    with pytest.raises(Crash):
        run(store, tmp_path)
    recover_later(store, OLD)
    assert both(store)[0] == BEFORE[0]
    assert leases(store) == 0


@pytest.mark.parametrize("table", [SALES, OLD])
def test_a_job_that_comes_after_a_death_has_the_files_follow_first(url, tmp_path, table):
    """Else it would write into a folder that still is another partition's."""
    made = 0
    for at, store, _ in deaths(url, tmp_path):
        with much_later():
            Publisher(store).lease(".".join(table), job(("a", "1")))
        there = store.get_partitions_by_filter(*OLD, None)
        made += len(there) > 1
        assert all("/shop.db/" not in one.location for one in there), at
        assert len(store.publications.of(store.publications.row(*table))) == 1
    assert made > 3


def test_what_was_dropped_and_altered_meanwhile_stays_so(url, tmp_path):
    """Between the death of a process and the next one who may move files."""
    dropped = 0
    for at, store, _root in deaths(url, tmp_path):
        if ("a", "1") not in both(store)[1]:
            continue
        store.alter_partitions(*OLD, [Partition(("a", "2"), location="file:/own/place")])
        after_writes(store, store.get_table(*OLD), partial(store.drop_partitions, *OLD, [("a", "1")]))
        dropped += 1
        come_to(store, OLD)
        recover_later(store, OLD)
        assert ("a", "1") not in both(store)[1], at
        assert store.get_partition(*OLD, ("a", "2")).location == "file:/own/place"
    assert dropped > 3


def test_a_table_that_is_dropped_meanwhile_leaves_no_lease(url, tmp_path):
    for at, store, _root in deaths(url, tmp_path):
        dropped, left = (SALES, OLD) if at % 2 else (OLD, SALES)
        store.drop_table(*dropped)
        recover_later(store, left)
        assert store.publications.of(store.publications.row(*left)) == [], at
