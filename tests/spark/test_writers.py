"""The three writers by what Spark does for each, and jobs that write into one table at once."""

from __future__ import annotations

import re
from threading import Barrier, Thread

import pytest
from pyspark.sql import functions as f

from hbstore import Column, Table, connect
from hbstore.errors import WriteConflict
from hbstore.publishing import Publisher
from hbstore.spark import read_table, write_table

DAYS, REGIONS = 6, 5
SETTING = "spark.sql.maxConcurrentOutputFileWriters"


@pytest.fixture
def store(tmp_path):
    with connect("memory://") as store:
        store.create_database("shop")
        columns = [Column("ds", "string"), Column("region", "string")]
        provider = {"spark.sql.sources.provider": "parquet"}
        location = f"file:{tmp_path}/sales"
        store.create_table(
            Table("shop", "sales", columns, [Column("id", "bigint")], location=location, parameters=provider)
        )
        yield store


def rows(spark, number=120, tasks=2, day=None):
    """Rows whose partitions come in turn: who does not sort meets all of them again and again."""
    ds = f.concat(f.lit("d"), (f.col("id") % DAYS).cast("string")) if day is None else f.lit(day)
    region = f.concat(f.lit("r"), (f.col("id") % REGIONS).cast("string"))
    return spark.range(0, number, numPartitions=tasks).select("id", ds.alias("ds"), region.alias("region"))


def last_plan(spark):
    """The plan of the last job that wrote."""
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    store = spark._jsparkSession.sharedState().statusStore()
    plans = [store.executionsList().apply(at).physicalPlanDescription() for at in range(store.executionsList().size())]
    return [plan for plan in plans if "InsertIntoHadoopFsRelationCommand" in plan][-1].partition("== Physical Plan ==")[
        2
    ]


def sorted_by(plan):
    """What the rows are sorted by before they are written; None if they are not."""
    found = re.search(r"\) Sort.*?Arguments: \[(.*?)\]", plan.replace("\n", " "))
    return None if found is None else re.findall(r"(\w+)#\d+ ASC", found[1])


@pytest.mark.parametrize(
    ("writer", "static", "order", "files"),
    [
        (None, {}, ["ds", "region"], 2 * DAYS * REGIONS),
        ("grouped", {"ds": "d0"}, ["region"], 2 * REGIONS),
        ("ungrouped", {}, None, 2 * DAYS * REGIONS),
        (None, {"ds": "d0", "region": "r0"}, None, 2),
        ("single", {"region": "r0", "ds": "d0"}, None, 2),
    ],
)
def test_rows_are_sorted_where_a_task_has_one_file_open(spark, store, writer, static, order, files):
    before = spark.conf.get(SETTING, None)
    done = write_table(rows(spark).drop(*static), store, "shop.sales", static=static, writer=writer)
    assert sorted_by(last_plan(spark)) == order
    assert (done.files, done.rows) == (files, 120)
    assert spark.conf.get(SETTING, None) == before


def test_overwriting_all_without_static_values_is_the_whole_table(spark, store, tmp_path):
    write_table(rows(spark), store, "shop.sales")
    done = write_table(rows(spark, 1), store, "shop.sales", "overwrite", overwrite="static")
    assert (done.partitions, len(done.dropped)) == (("ds=d0/region=r0",), DAYS * REGIONS - 1)
    assert [tuple(row) for row in read_table(spark, store, "shop.sales").collect()] == [(0, "d0", "r0")]
    assert [path.name for path in (tmp_path / "sales").glob("ds=*/*")] == ["region=r0"]
    assert store.totals("shop", "sales").partitions == 1


def at_once(*calls):
    """What each of some calls raised, or None, when they begin in the same moment."""
    gate, ended = Barrier(len(calls)), [None] * len(calls)

    def run(at, call):
        gate.wait(60)
        try:
            call()
        except WriteConflict as error:
            ended[at] = error

    threads = [Thread(target=run, args=one) for one in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ended


def test_jobs_on_different_partitions_all_succeed_at_once(spark, store, tmp_path):
    def job(day):
        return lambda: write_table(rows(spark, day=day), store, "shop.sales", "overwrite")

    assert at_once(*(job(f"d{day}") for day in range(4))) == [None] * 4
    assert read_table(spark, store, "shop.sales").count() == 4 * 120
    assert store.count_partitions("shop", "sales") == 4 * REGIONS
    assert store.totals("shop", "sales").rows == 4 * 120
    assert not list((tmp_path / "sales/_hbstore").iterdir())


def test_of_jobs_on_one_partition_each_writes_all_or_gets_a_conflict(spark, store, monkeypatch):
    """Both have leased, or tried to, before either goes on."""
    gate = Barrier(2)
    real = Publisher.lease

    def lease(*given):
        try:
            return real(*given)
        finally:
            gate.wait(60)

    monkeypatch.setattr(Publisher, "lease", lease)
    ended = at_once(*[lambda: write_table(rows(spark, day="d0"), store, "shop.sales")] * 2)
    (conflict,) = [one for one in ended if one is not None]
    assert conflict.fields["partition"].startswith("ds=d0/region=r")
    assert "try again when that job is done" in conflict.hint
    assert read_table(spark, store, "shop.sales").count() == 120
    assert store.publications.of(store.publications.row("shop", "sales")) == []
