"""Registering partitions by a Spark job: values, batches, tasks that fail or run again, errors."""

from __future__ import annotations

import datetime as dt
import os
from decimal import Decimal

import pytest
from pyspark import TaskContext

import hbstore
from hbstore.spark import register_partitions

pytestmark = pytest.mark.spark

NULL = hbstore.NULL_PARTITION
ODD = ["a b", "a/b=c", "100%", "é 中 🎉", "'quoted\"", "line\nbreak", "[x]{y}", "\\", "~", "ÿ", "a\tb", "__x"]


def names(store, filter=None):
    return store.partition_names("shop", "sales", filter)


def values(store):
    return [one.values for one in store.get_partitions_by_filter("shop", "sales", None)]


@pytest.mark.parametrize(
    "case",
    [
        (("string", "string"), ["x", "", None], [NULL, "x"]),
        (("string", "date"), ["2013-01-02", "2013-1-1"], ["2013-1-1", "2013-01-02"]),
        (("date", "date"), [dt.date(2013, 1, 2), dt.date(1, 1, 1), None], [NULL, "0001-01-01", "2013-01-02"]),
        (("boolean", "boolean"), [True, False, None], [NULL, "false", "true"]),
        (("tinyint", "tinyint"), [5, -128], ["-128", "5"]),
        (("int", "bigint"), [10, 9, -1, None], [NULL, "-1", "9", "10"]),
        (("bigint", "bigint"), [2**63 - 1, -(2**63)], [str(-(2**63)), str(2**63 - 1)]),
        (
            ("decimal(20,10)", "decimal(20,10)"),
            [Decimal("1e-10"), Decimal(0), Decimal("-12.5"), None],
            [NULL, "-12.5000000000", "0.0000000000", "0.0000000001"],
        ),
        (("decimal(38,0)", "decimal(38,0)"), [Decimal(10**37 + 7), Decimal(-1)], ["-1", f"1{'7':0>37}"]),
        (("double", "double"), [1e10, -0.5, float("inf"), float("nan")], ["-0.5", "1.0E10", "Infinity", "NaN"]),
        (("float", "float"), [0.1], ["0.1"]),
        (
            ("timestamp_ntz", "timestamp"),
            [dt.datetime(2013, 1, 1, 5), dt.datetime(2013, 1, 1, 5, 0, 0, 120_000)],  # noqa: DTZ001
            ["2013-01-01 05:00:00", "2013-01-01 05:00:00.12"],
        ),
        (("timestamp", "timestamp"), [dt.datetime(2013, 7, 1, tzinfo=dt.UTC), None], [NULL, "2013-07-01 00:00:00"]),
        (("void", "string"), [None], [NULL]),
    ],
)
def test_values_become_the_texts_that_hive_writes(spark, url, make_table, case):
    (spark_type, hive_type), given, stored = case
    store = make_table(p=hive_type)
    frame = spark.createDataFrame([(one,) for one in given], f"p {spark_type}")
    assert register_partitions(frame, url, "shop.sales") == len(stored)
    assert values(store) == [(text,) for text in stored]


def test_decimals_are_plain_without_ansi_mode_too(spark, url, make_table):
    store = make_table(p="decimal(20,10)")
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        frame = spark.createDataFrame([(Decimal("1e-10"),)], "p decimal(20,10)")
        register_partitions(frame, url, "shop.sales")
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")
    assert values(store) == [("0.0000000001",)]


def test_timestamps_are_written_in_the_session_s_time_zone(spark, url, make_table):
    store = make_table(p="timestamp")
    frame = spark.createDataFrame([(dt.datetime(2013, 7, 1, tzinfo=dt.UTC),)], "p timestamp")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        register_partitions(frame, url, "shop.sales")
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert values(store) == [("2013-06-30 20:00:00",)]


def test_odd_texts_are_kept_and_found(spark, url, make_table):
    store = make_table(p="string", q="int")
    frame = spark.createDataFrame([(text, at) for at, text in enumerate(ODD)], "p string, q int")
    assert register_partitions(frame, url, "shop.sales") == len(ODD)
    assert sorted(values(store)) == sorted((text, str(at)) for at, text in enumerate(ODD))
    for at, text in enumerate(ODD):
        assert store.get_partition("shop", "sales", (text, str(at))).location.startswith("/warehouse/sales/p=")


def test_columns_are_found_by_name_whatever_their_order_and_case(spark, url, make_table):
    store = make_table(DS="date", hour="int")
    frame = spark.createDataFrame(
        [(5, "2013-01-01", {"numRows": "7"}, "/x")],
        "HOUR int, Ds string, parameters map<string,string>, location string",
    )
    assert register_partitions(frame, url, "shop.sales") == 1
    found = store.get_partition("shop", "sales", ("2013-01-01", "5"))
    assert (found.location, dict(found.parameters)) == ("/x", {"numRows": "7"})


def test_a_partition_column_may_be_called_location_or_hold_dots(spark, url, make_table):
    store = make_table(**{"location": "string", "a.b": "int"})
    frame = spark.createDataFrame([("Berlin", 1)], ["location", "a.b"])
    assert register_partitions(frame, url, "shop.sales") == 1
    assert values(store) == [("Berlin", "1")]


@pytest.mark.parametrize("if_not_exists", [True, False])
def test_many_partitions_from_several_processes_at_once(spark, url, make_table, if_not_exists):
    store = make_table(n="int", worker="string")
    workers, each = 8, 1_000
    frame = spark.range(0, workers * each, numPartitions=workers).selectExpr(
        "cast(id as int) n", "cast(id % 3 as string) worker"
    )
    assert register_partitions(frame, url, "shop.sales", batch=100, if_not_exists=if_not_exists) == workers * each
    assert store.count_partitions("shop", "sales") == workers * each
    assert names(store, "n = 4321") == ["n=4321/worker=1"]
    assert not [problem for problem in store.check("shop", "sales") if problem is not None]


def test_registering_again_adds_nothing_and_changes_nothing(spark, url, make_table):
    store = make_table(n="int")
    first = spark.range(0, 50).selectExpr("cast(id as int) n", "'/first' location")
    more = spark.range(0, 60).selectExpr("cast(id as int) n", "'/second' location")
    assert register_partitions(first, url, "shop.sales") == 50
    assert register_partitions(first, url, "shop.sales") == 0
    assert register_partitions(more, url, "shop.sales") == 10
    assert store.get_partition("shop", "sales", ("7",)).location == "/first"


def test_no_rows_are_no_partitions(spark, url, make_table):
    make_table(n="int")
    assert register_partitions(spark.createDataFrame([], "n int"), url, "shop.sales") == 0


def test_one_that_is_there_is_an_error_when_asked_for(spark, url, make_table):
    store = make_table(n="int")
    store.add_partitions("shop", "sales", [hbstore.Partition(("7",))])
    frame = spark.range(0, 20, numPartitions=2).selectExpr("cast(id as int) n")
    with pytest.raises(hbstore.AlreadyExists, match="n=7") as raised:
        register_partitions(frame, url, "shop.sales", batch=5, if_not_exists=False)
    # The first task had added one batch when it met the partition; the second task went on.
    assert raised.value.fields["added_all_the_same"] == 15 == store.count_partitions("shop", "sales") - 1


def break_after(rows_before, attempts):
    """A step before the registering that breaks off behind some rows, in a task's first attempts."""

    def run(rows):
        for at, row in enumerate(rows):
            if at == rows_before and TaskContext.get().attemptNumber() < attempts:
                os._exit(1)  # as a machine that is gone
            yield row

    return run


def breaking(spark, rows, rows_before, attempts):
    frame = spark.range(0, rows, numPartitions=1).selectExpr("cast(id as int) n", "concat('/at/', id) location")
    return spark.createDataFrame(frame.rdd.mapPartitions(break_after(rows_before, attempts)), frame.schema)


@pytest.mark.parametrize("if_not_exists", [True, False])
def test_a_task_that_runs_again_goes_on_where_it_was_lost(spark, url, make_table, if_not_exists):
    store = make_table(n="int")
    frame = breaking(spark, rows=1_000, rows_before=777, attempts=2)
    register_partitions(frame, url, "shop.sales", batch=50, if_not_exists=if_not_exists)
    assert store.count_partitions("shop", "sales") == 1_000
    assert store.get_partition("shop", "sales", ("5",)).location == "/at/5"


def test_a_task_that_fails_for_good_leaves_whole_batches(spark, url, make_table):
    from py4j.protocol import Py4JJavaError

    store = make_table(n="int")
    with pytest.raises(Py4JJavaError):
        register_partitions(breaking(spark, rows=1_000, rows_before=777, attempts=99), url, "shop.sales", batch=50)
    left = store.count_partitions("shop", "sales")
    assert left % 50 == 0
    assert left < 777
    assert not [problem for problem in store.check("shop", "sales") if problem is not None]
    assert register_partitions(spark.range(1_000).selectExpr("cast(id as int) n"), url, "shop.sales") == 1_000 - left


def test_a_value_that_does_not_fit_is_named(spark, url, make_table):
    store = make_table(n="int")
    frame = spark.createDataFrame([(str(n),) for n in range(10)] + [("ten",)], "n string").coalesce(1)
    with pytest.raises(hbstore.InvalidPartitionValue, match="column=n, type=int, value='ten'") as raised:
        register_partitions(frame, url, "shop.sales", batch=4)
    assert raised.value.fields["added_all_the_same"] == 8 == store.count_partitions("shop", "sales")


@pytest.mark.parametrize(
    ("select", "text"),
    [
        (["id as hour"], "missing=ds, unknown=none"),
        (["'x' as ds", "id as hour", "1 as minute"], "missing=none, unknown=minute"),
        (["'x' as ds", "id as hour", "id as HOUR"], "two columns of the same name"),
        (["array(1) as ds", "id as hour"], "type=array<int>"),
        (["binary('x') as ds", "id as hour"], "type=binary"),
    ],
)
def test_columns_that_do_not_fit_are_named(spark, url, make_table, select, text):
    make_table(ds="string", hour="int")
    with pytest.raises(hbstore.InvalidInput, match=text):
        register_partitions(spark.range(1).selectExpr(*select), url, "shop.sales")


def test_mistakes_are_found_before_a_job_starts(spark, url, make_table, tmp_path):
    make_table()
    frame = spark.range(1).selectExpr("id as n")
    with pytest.raises(hbstore.InvalidUrl, match="memory"):
        register_partitions(frame, "memory://", "shop.sales")
    with pytest.raises(hbstore.TableNotPartitioned):
        register_partitions(frame, url, "shop.sales")
    with pytest.raises(hbstore.TableNotFound):
        register_partitions(frame, url, "shop.other")
    with pytest.raises(hbstore.DatabaseNotFound):
        register_partitions(frame, url, "other.sales")
    with pytest.raises(hbstore.InvalidInput, match="batch=0"):
        register_partitions(frame, url, "shop.sales", batch=0)
    with pytest.raises(hbstore.StoreUnavailable):
        register_partitions(frame, str(tmp_path / "none" / "catalog.db"), "shop.sales")


def test_a_relative_path_is_the_drivers(spark, make_table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = make_table("sqlite://some where.db", n="int")
    frame = spark.range(10).selectExpr("cast(id as int) n")
    assert register_partitions(frame, "sqlite://some where.db", "shop.sales") == 10
    assert store.count_partitions("shop", "sales") == 10


@pytest.mark.hbase
def test_hbase_from_several_processes(spark, hbase_url, make_table):
    store = make_table(hbase_url, n="int", p="string")
    frame = spark.range(0, 2_000, numPartitions=4).selectExpr("cast(id as int) n", "if(id % 2 = 0, null, 'odd') p")
    assert register_partitions(frame, hbase_url, "shop.sales", batch=200) == 2_000
    assert register_partitions(frame, hbase_url, "shop.sales", batch=500) == 0
    assert store.count_partitions("shop", "sales", "p = 'odd'") == 1_000
    assert names(store, "n = 42") == [f"n=42/p={NULL}"]
