"""Partitions that somebody changes while they are analyzed never get numbers of what they were."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hbstore import connect
from hbstore.errors import StoreUnavailable
from hbstore.publishing import Publisher
from hbstore.spark import analyze_table, write_table
from hbstore.spark.analysis import analyze
from hbstore.spark.analysis.analyze import ATTEMPTS
from hbstore.store.table_step import TableStep
from tests.spark.analyzing import (
    DATA,
    VALUES,
    assert_counted,
    on_disk,
    parameters,
    rows_of,
    statistics,
    table_parameters,
)

pytestmark = pytest.mark.spark

ONE = VALUES[1]
NAME = "ds=2013-01-01/region=us%3D1%2Fa b"


@pytest.fixture
def meanwhile(monkeypatch):
    """Does something before or after files are listed, the first time or more often."""

    def arrange(action, *, before=False, times=1):
        listing = analyze.files_of
        left = [times]

        def listed(*given):
            left[0] -= 1
            if before and left[0] >= 0:
                action()
            found = listing(*given)
            if not before and left[0] >= 0:
                action()
            return found

        monkeypatch.setattr(analyze, "files_of", listed)

    return arrange


def alter(store, **more):
    known = store.get_partition("shop", "sales", ONE)
    store.alter_partitions("shop", "sales", [replace(known, parameters={**known.parameters, **more})])


def add_file(spark, root, stop=5):
    rows_of(spark, 0, stop).select("id").write.mode("append").parquet(str(root / NAME))


@pytest.mark.parametrize("columns", [None, ["id"]])
def test_a_partition_that_was_altered_is_analyzed_again(spark, store, filled, meanwhile, columns):
    root = filled(data=DATA[:1])
    meanwhile(lambda: (alter(store, note="new"), add_file(spark, root)))
    done = analyze_table(spark, store, "shop.sales", columns=columns)
    assert (done.partitions, done.changed, done.rows) == (6, (), 635)
    assert parameters(store)[ONE]["note"] == "new"
    assert_counted(store, root)
    assert table_parameters(store)["numRows"] == "635"


def test_a_partition_that_keeps_changing_is_left_alone_and_told(spark, store, filled, meanwhile):
    root = filled(data=DATA[:1])
    count = iter(range(1000))
    meanwhile(lambda: alter(store, note=str(next(count))), times=1000)
    done = analyze_table(spark, store, "shop.sales", columns="all")
    assert (done.partitions, done.changed, done.whole) == (5, (NAME,), False)
    assert next(count) >= ATTEMPTS
    assert parameters(store)[ONE].keys() == {"note"}
    assert statistics(store, ONE) == {}
    assert table_parameters(store) == {}
    assert on_disk(root)[0] == 12


def test_a_partition_that_changes_after_its_columns_were_written_loses_them(spark, store, filled, monkeypatch):
    filled(data=DATA[:1])
    writing = type(store.column_statistics).write_partitions
    count = iter(range(1000))

    def write(*given):
        writing(*given)
        if ONE in given[3]:
            alter(store, note=str(next(count)))

    monkeypatch.setattr(type(store.column_statistics), "write_partitions", write)
    done = analyze_table(spark, store, "shop.sales", columns="all")
    assert (done.partitions, done.changed) == (5, (NAME,))
    assert (parameters(store)[ONE], statistics(store, ONE)) == ({"note": str(ATTEMPTS - 1)}, {})
    assert statistics(store, VALUES[0])["id"].highValue == 29


def test_files_that_come_while_others_are_read_are_counted(spark, store, filled, meanwhile):
    root = filled("parquet", DATA[:1])
    meanwhile(lambda: add_file(spark, root))
    done = analyze_table(spark, store, "shop.sales", columns=["id"])
    assert (done.partitions, done.rows) == (6, 635)
    assert_counted(store, root)


def test_files_that_go_while_they_are_to_be_read_are_not_counted(spark, store, filled, meanwhile):
    root = filled(data=DATA[:1])

    def remove():
        for file in (root / NAME).glob("part-*"):
            file.unlink()
        add_file(spark, root, 7)

    meanwhile(remove)
    done = analyze_table(spark, store, "shop.sales", columns=["id"])
    assert (done.partitions, done.rows, done.changed) == (6, 630 - 60 + 7, ())
    assert_counted(store, root)


def test_a_partition_that_is_dropped_is_left_out(spark, store, filled, meanwhile):
    filled(data=DATA[:1])
    meanwhile(lambda: store.drop_partitions("shop", "sales", [ONE]))
    done = analyze_table(spark, store, "shop.sales", columns=["id"])
    assert (done.partitions, done.rows, done.changed, done.whole) == (5, 570, (), True)


def decide(spark, store, monkeypatch):
    """A job that is killed when its partition is changed and its files are hidden."""
    static = dict(zip(("ds", "region"), ONE, strict=True))
    with monkeypatch.context() as patch:
        patch.setattr(Publisher, "_show", lambda *_: None)
        write_table(rows_of(spark, 0, 9).select("id"), store, "shop.sales", static=static)


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_files_of_what_is_decided_are_counted_once(spark, store, filled, meanwhile, monkeypatch, when):
    root = filled(data=DATA[:1])
    if when == "before":
        decide(spark, store, monkeypatch)
    else:
        meanwhile(lambda: decide(spark, store, monkeypatch), before=True)
    done = analyze_table(spark, store, "shop.sales")
    assert (done.partitions, done.rows) == (6, 639)
    assert_counted(store, root)
    assert "hbstore.publication" in parameters(store)[ONE]


def test_files_that_another_process_shows_behind_the_listing_are_counted(spark, store, filled, meanwhile, monkeypatch):
    root = filled(data=DATA[:1])
    decide(spark, store, monkeypatch)
    meanwhile(lambda: Publisher(store).recover("shop.sales"))
    monkeypatch.setattr(Publisher, "roll_forward_before_use", lambda *_: None)  # as where files cannot be moved
    done = analyze_table(spark, store, "shop.sales")
    assert (done.partitions, done.rows, done.changed) == (6, 639, ())
    assert_counted(store, root)


def test_a_batch_is_written_wholly_and_the_next_call_does_the_rest(spark, store, filled, monkeypatch):
    root = filled(data=DATA[:1])
    changing = TableStep.change
    count = iter(range(1000))

    def change(*given, **named):
        if next(count) == 1:
            raise StoreUnavailable("gone")
        changing(*given, **named)

    monkeypatch.setattr(TableStep, "change", change)
    with pytest.raises(StoreUnavailable):
        analyze_table(spark, store, "shop.sales", columns="all", batch=2)
    assert sum("numRows" in one for one in parameters(store).values()) == 2
    done = analyze_table(spark, store, "shop.sales", columns="all", batch=2, only_missing=True)
    assert (done.passed_over, done.partitions) == (2, 4)
    assert_counted(store, root)


@pytest.mark.hbase
def test_on_hbase(spark, hbase_url, filled, meanwhile):
    with connect(hbase_url) as store:
        store.drop_database("shop", cascade=True, if_exists=True)  # of tests that use the same HBase
        store.create_database("shop")
        root = filled(data=DATA[:2], into=store)
        meanwhile(lambda: (alter(store, note="new"), store.drop_partitions("shop", "sales", [VALUES[0]])))
        done = analyze_table(spark, hbase_url, "shop.sales", columns="all", batch=4)
        assert (done.partitions, done.rows, done.changed, done.whole) == (5, 600, (), True)
        assert parameters(store)[ONE]["note"] == "new"
        assert_counted(store, root)
        assert statistics(store, ONE)["id"].highValue == 89
        assert table_parameters(store)["colStats.id.max"] == "629"
        assert analyze_table(spark, store, "shop.sales", columns="all", only_missing=True).passed_over == 5
        store.drop_database("shop", cascade=True)
