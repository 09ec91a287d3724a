"""Reading while others write: what a DataFrame is of is all or nothing of each write."""

from __future__ import annotations

import threading

import pytest

from hbstore import Column, PartitionStore, Table, connect
from hbstore.errors import StoreBusy
from hbstore.files.warehouse import Warehouse
from hbstore.publishing import Publisher
from hbstore.spark import read_table, reads, write_table
from hbstore.transactions.waiting import Patience

SECONDS = 60
SCHEMA = "id int, ds string"


@pytest.fixture
def store(tmp_path):
    with connect("memory://") as opened:
        opened.create_database("shop")
        parameters = {"spark.sql.sources.provider": "parquet"}
        columns = [Column("ds", "string")], [Column("id", "int")]
        opened.create_table(Table("shop", "sales", *columns, location=f"file:{tmp_path}/sales", parameters=parameters))
        yield opened


@pytest.fixture
def write(spark, store):
    """Writes rows into partitions, two files in each."""
    return lambda *days, mode="append": write_table(
        spark.createDataFrame([(at, day) for day in days for at in range(10)], SCHEMA).repartition(2),
        store,
        "shop.sales",
        mode,
    )


def counts(frame):
    return {row["ds"]: row["count"] for row in frame.groupBy("ds").count().collect()}


def beside(monkeypatch, act, times=1):
    """Have somebody else act while a read lists folders, the first times that it does so."""
    real, left = reads.frame_of, [act] * times

    def listing(*arguments, **options):
        end = left.pop()() if left else None
        made = real(*arguments, **options)
        if end is not None:
            end()
        return made

    monkeypatch.setattr(reads, "frame_of", listing)


def half_shown(monkeypatch, write):
    """A write in another thread that has shown one of its files; what is returned lets it go on to its end."""
    shown, go_on = threading.Event(), threading.Event()
    real = Warehouse.bring

    def one_then_wait(self, *arguments, **options):
        real(self, *arguments, **options)
        if not shown.is_set():
            shown.set()
            assert go_on.wait(SECONDS)

    monkeypatch.setattr(Warehouse, "bring", one_then_wait)
    writer = threading.Thread(target=write)
    writer.start()
    assert shown.wait(SECONDS)

    def end():
        go_on.set()
        writer.join(SECONDS)

    return end


def test_a_write_that_is_shown_meanwhile_is_read_wholly(spark, store, write, monkeypatch):
    write("a", "b")
    beside(monkeypatch, lambda: half_shown(monkeypatch, lambda: write("a", "b")))
    assert counts(read_table(spark, store, "shop.sales")) == {"a": 20, "b": 20}


def test_partitions_that_are_dropped_meanwhile_are_not_missed(spark, store, write, monkeypatch):
    write("a", "b")
    nothing = spark.createDataFrame([], SCHEMA)
    beside(monkeypatch, lambda: write_table(nothing, store, "shop.sales", "overwrite", overwrite="static") and None)
    assert counts(read_table(spark, store, "shop.sales")) == {}


def test_writes_to_other_partitions_do_not_disturb_a_read(spark, store, write, monkeypatch):
    write("a", "b")
    beside(monkeypatch, lambda: write("b") and None, times=100)
    assert counts(read_table(spark, store, "shop.sales", "ds = 'a'")) == {"a": 10}


def test_a_table_that_is_written_all_the_time_is_told(spark, store, write, monkeypatch):
    write("a")
    monkeypatch.setattr(PartitionStore, "patience", Patience(total=0))
    beside(monkeypatch, lambda: write("a") and None, times=100)
    with pytest.raises(StoreBusy, match="kept changing"):
        read_table(spark, store, "shop.sales")


def test_what_nobody_can_finish_keeps_no_reader_waiting(spark, store, write, monkeypatch):
    write("a")
    with monkeypatch.context() as patch:
        patch.setattr(Publisher, "_show", lambda *_: None)
        write("a")
    monkeypatch.setattr(Publisher, "roll_forward_before_use", lambda *_: None)  # as where its files cannot be moved
    assert counts(read_table(spark, store, "shop.sales")) == {"a": 10}
