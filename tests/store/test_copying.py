"""Backups of stores without transactions, and restores of them: one moment of what writers do, whole or refused."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing, suppress
from itertools import count
from random import Random

import pytest

from hbstore import (
    Column,
    ColumnStatistic,
    CorruptRow,
    Database,
    Grant,
    InvalidInput,
    NotAStore,
    Partition,
    Privileges,
    StoreBusy,
    Table,
    connect,
)
from hbstore.rows import connect as connect_rows
from hbstore.rows.format_number import FORMAT_KEY, ensure_format
from hbstore.rows.interface import CatalogCell
from hbstore.store import copying
from hbstore.store.copying import StoreCopy, back_up, restore
from hbstore.store.partition_store import PartitionStore
from hbstore.timelines.factory import PRESENT
from hbstore.transactions.log import LOG, Log
from hbstore.transactions.transaction import RestartError, RowView
from hbstore.transactions.transactions import Transactions
from hbstore.transactions.waiting import Patience
from tests import hbase_server
from tests.amounts import amount
from tests.pauses import SECONDS, until
from tests.processes import ROOT
from tests.rows.test_sqlite_backup import WRITER, WRITERS, values
from tests.services.documents import put as put_document
from tests.store import timelines
from tests.store.faults import Crash, FaultyRows
from tests.store.stepping import FOREVER, play
from tests.store.strikes import make_impatient

NONATOMIC = "memory://?atomic=false"
SCHEDULES = amount(100, 2_000)


def tables(store, number=2):
    store.create_database(Database("shop", owner="ann"))
    for at in range(number):
        store.create_table(table(f"t{at}"))


def table(name):
    return Table("shop", name, partition_columns=[Column("n", "int")], columns=[Column("v", "int")])


def numbers(store, name):
    return [int(one.values[0]) for one in store.table(f"shop.{name}").partitions()]


ABOUT = ColumnStatistic("v", "int", b"")
STEPS = [
    *(
        lambda store, name=name, number=number: store.table(f"shop.{name}").add([Partition((str(number),))])
        for number in range(3)
        for name in ("t0", "t1")
    ),
    lambda store: store.column_statistics.write_table("shop", "t0", [ABOUT]),
    lambda store: store.create_table(table("t2")),
    lambda store: store.column_statistics.write_table("shop", "t2", [ABOUT]),
    lambda store: store.exchange_partitions("shop.t0", "shop.t2", [("0",)]),
    lambda store: store.drop_table("shop", "t1"),
    lambda store: store.rename_table("shop", "t2", table("t1")),
    lambda store: store.rename_table("shop", "t0", table("t9")),
]
"""Each number comes into one table and then into the other; one moves on; tables get names before and behind theirs."""


def write(store):
    for step in STEPS:
        step(store)


def looked_at(store):
    """All that the writer changes, and whether the rows are sound."""
    assert [one for name in store.table_names("shop") for one in store.check("shop", name) if one is not None] == []
    found = {name: numbers(store, name) for name in store.table_names("shop")}
    assert all(store.totals("shop", name).partitions == len(found[name]) for name in found)
    return {name: (found[name], store.column_statistics.read_table("shop", name)) for name in found}


def moments():
    """What the writer leaves after each of its steps."""
    store = PartitionStore(connect_rows(NONATOMIC))
    tables(store)
    seen = [looked_at(store)]
    for step in STEPS:
        step(store)
        seen.append(looked_at(store))
    return seen


@pytest.mark.parametrize("rounds", [1, copying._ROUNDS])
def test_a_copy_beside_a_writer_is_one_moment_of_its_history(rounds, monkeypatch):
    """With one round, what the writer changes is locked while it is copied."""
    monkeypatch.setattr(copying, "_ROUNDS", rounds)
    make_impatient(monkeypatch)
    history = moments()
    targets = []

    def copy(store):
        targets.append(connect_rows("memory://"))
        StoreCopy(store._tables.transactions, targets[-1]).make()

    def played(schedule):
        rows = connect_rows(NONATOMIC)
        tables(PartitionStore(rows))
        results, calls = play(rows, [copy, write], schedule)
        assert results == [None, None], schedule
        with PartitionStore(targets[-1]) as found:
            moment = looked_at(found)
        assert moment in history, schedule
        return history.index(moment), calls

    _, calls = played([(0, FOREVER)])
    random = Random(rounds)
    seen = set()
    for _ in range(SCHEDULES):
        turns = [random.randrange(2) + at for at in range(random.randint(2, 6))]
        schedule = [(turn % 2, 1 + int(calls[turn % 2] * random.random() ** 2)) for turn in turns]
        seen.add(played(schedule)[0])
    assert len(seen) > len(history) / 2


def test_a_table_that_is_never_left_alone_is_named(monkeypatch):
    make_impatient(monkeypatch)
    store, numbers_left = PartitionStore(connect_rows(NONATOMIC)), count()
    tables(store)
    put = StoreCopy._put

    def put_beside_a_writer(copy, key, *rest):
        put(copy, key, *rest)
        if key == b"Tshop\0t1":
            store.table("shop.t1").add([(next(numbers_left),)])

    monkeypatch.setattr(StoreCopy, "_put", put_beside_a_writer)
    copy = StoreCopy(Transactions(store.rows, Patience(total=0.0, undecided=0.0)), connect_rows("memory://"))
    with pytest.raises(StoreBusy, match=r"writers leave no moment .*: changing=T shop t1") as busy:
        copy.make()
    assert "Copy it while these rest" in busy.value.hint


def test_what_was_copied_before_a_restart_is_copied_again(monkeypatch):
    rows, target = connect_rows(NONATOMIC), connect_rows("memory://")
    store = PartitionStore(rows)
    tables(store)
    copy = StoreCopy(Transactions(rows), target)
    copy._round()
    keys = [store.table_row("shop", name).key for name in ("t0", "t1")]
    for name in ("t0", "t1"):
        store.table(f"shop.{name}").add([Partition(("1",))])
    settle, times = RowView.settle, count()

    def unsettled(view):
        if view.key == keys[1] and next(times) == 0:
            raise RestartError(view.key)
        settle(view)

    monkeypatch.setattr(RowView, "settle", unsettled)
    assert copy._locked(keys) == []
    assert next(times) > 1
    assert looked_at(PartitionStore(target)) == {name: ([1], []) for name in ("t0", "t1")}


def filled():
    """A store with a row of each kind, on rows without transactions."""
    store = PartitionStore(connect_rows(NONATOMIC))
    tables(store)
    store.table("shop.t0").add([Partition((str(number),)) for number in range(2_500)])
    rights = Privileges(users={"ann": [Grant("SELECT")]})
    declared = timelines.declared("DAILY", "ds") | {PRESENT: "true"}
    days = Table("shop", "t2", partition_columns=[Column("ds", "date")], parameters=declared)
    store.create_table(days, grants=rights)
    store.table("shop.t2").add([Partition((f"2024-01-0{day}",)) for day in (1, 2, 4)])
    store.records.create("note", "one", "{}")
    put_document(store, "shop", "note", "two", "{}")
    store.drop_table("shop", "t1")
    store.create_table(Table("shop", "t1", partition_columns=[Column("n", "int")], location="s3://shop/t1"))
    store.table("shop.t1").add([Partition(("1",))])
    renamed = Table("shop", "old", partition_columns=[Column("n", "int")], location="s3://shop/old")
    store.rename_table("shop", "t1", renamed, relocated=("s3://shop/t1", "s3://shop/old"))
    store.create_table(Table("shop", "t1", partition_columns=[Column("n", "int")]))
    store.table("shop.t1").add([Partition(("2",))])
    return store


def contents(rows):
    """All that rows hold but what belongs to transactions under way, and the numbers of changes."""
    catalog = {}
    for key, _ in rows.scan_catalog(b"A", b"["):
        if key != FORMAT_KEY:
            cells = {name: cell for name, cell in rows.get_all(key).items() if cell}
            log = Log.decode(cells.pop(LOG, None))
            catalog[key] = cells, log.sequence, log.state
    return catalog, list(rows.whole_rows(b"\0", b"\xff"))


def test_all_comes_back(tmp_path):
    source = filled()
    folder = tmp_path / "a?b=c%20d#e"
    folder.mkdir()
    copied = back_up(Transactions(source.rows), "shop", folder)
    assert copied.path.name.startswith("shop-")
    assert [path.name for path in folder.iterdir()] == [copied.path.name]
    target = connect_rows(NONATOMIC)
    restore(copied.path, target)
    assert contents(target) == contents(source.rows)
    again = PartitionStore(target)
    assert again.drop_partitions("shop", "t0", [("7",)]) == 1
    again.table("shop.t0").add([Partition(("9999",))])
    assert len(numbers(again, "t0")) == 2_500
    with pytest.raises(InvalidInput, match="there already"):
        restore(copied.path, target)


def test_a_backup_does_not_leave_out_the_rows_of_a_damaged_table(tmp_path):
    source = filled()
    row = source.table_row("shop", "old")
    source.rows.put_cells([CatalogCell(row.key, "d:def", b"damaged")], row.log.sequence)
    with pytest.raises(CorruptRow):
        back_up(Transactions(source.rows), "shop", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_restore_that_is_broken_off_leaves_a_store_that_nobody_opens(tmp_path):
    source = PartitionStore(connect_rows(NONATOMIC))
    tables(source)
    backup = back_up(Transactions(source.rows), "shop", tmp_path / "copy.db").path
    for at in count():
        rows = connect_rows(NONATOMIC)
        ensure_format(rows)
        faulty = FaultyRows(rows, at=at)
        with suppress(Crash):
            restore(backup, faulty)
        if not faulty.struck:
            break
        if contents(rows)[0]:
            with pytest.raises(NotAStore, match="broken off"):
                ensure_format(rows)
    ensure_format(rows)
    assert at > 5


@pytest.mark.hbase
def test_a_backup_of_hbase_under_writers_is_one_moment_of_their_history(hbase_server_url, tmp_path):
    with hbase_server.own_tables(hbase_server_url) as url, hbase_server.own_tables(hbase_server_url) as other:
        with connect(url) as store:
            tables(store, WRITERS)
            code = WRITER.replace('connect(f"sqlite://{path}")', "connect(path)")
            writers = [
                subprocess.Popen([sys.executable, "-c", code, str(number), url], cwd=ROOT) for number in range(WRITERS)
            ]
            # Writers give up the locks of who has had them for a second, which may happen often on a busy machine.
            source = Transactions(store.rows, Patience(total=SECONDS))
            try:
                backups = []
                for number in range(3):
                    until(lambda: store.table("shop.t3").count() > 3 * number)  # noqa: B023  called here
                    backups.append(back_up(source, "shop", tmp_path / f"{number}.db").path)
            finally:
                for writer in writers:
                    writer.kill()
                    writer.wait()
        seen = []
        for backup in backups:
            found = values(backup)
            counts = [len(one) for one in found]
            assert found == [list(range(number)) for number in counts]
            assert counts == sorted(counts, reverse=True)
            assert counts[0] - counts[-1] <= 1
            seen.append(sum(counts))
        assert seen == sorted(seen)
        assert len(set(seen)) > 1
        with closing(connect_rows(other)) as rows:
            restore(backups[-1], rows)
        with connect(other) as store:
            assert [numbers(store, f"t{number}") for number in range(WRITERS)] == values(backups[-1])
            store.table("shop.t0").add([Partition(("100000",))])
            assert not [one for number in range(WRITERS) for one in store.check("shop", f"t{number}") if one]
