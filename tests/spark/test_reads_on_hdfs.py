"""Reads and analyses of partitions on a real HDFS, whose files Spark names with another scheme and a host."""

from __future__ import annotations

import pytest

import hbstore
from hbstore import Column, Partition, Table
from hbstore.spark import analyze_table, read_table
from tests.hdfs_server import real_hdfs

pytestmark = [pytest.mark.spark, pytest.mark.hbase, pytest.mark.slow]
PLACES = ("home/ds=a", "other/b", "other/b/below", "other/a b%+ü")


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory):
    with real_hdfs(tmp_path_factory.mktemp("hdfs")) as server:
        yield server


@pytest.fixture
def store(spark, hdfs):
    """A table with a partition in each of the places, of as many rows as its number among them says."""
    settings = spark.sparkContext._jsc.hadoopConfiguration()
    for name, value in hdfs.spark_conf.items():
        settings.set(name.removeprefix("spark.hadoop."), value)
    with hbstore.connect("memory://") as store:
        store.create_database("shop")
        parameters = {"spark.sql.sources.provider": "parquet"}
        columns = [Column("ds", "string")], [Column("id", "bigint")]
        store.create_table(Table("shop", "sales", *columns, location=f"{hdfs.url}/home", parameters=parameters))
        for number, (ds, place) in enumerate(zip("abcd", PLACES, strict=True), 1):
            spark.range(number).coalesce(1).write.parquet(f"{hdfs.url}/{place}")
            store.add_partitions("shop", "sales", [Partition([ds], location=f"{hdfs.url}/{place}")])
        yield store


def test_partitions_on_hdfs_are_read_and_analyzed(spark, store):
    rows = {"a": 1, "b": 2 + 3, "c": 3, "d": 4}  # what is below a partition's folder belongs to it
    grouped = read_table(spark, store, "shop.sales").groupBy("ds").count().collect()
    assert {row["ds"]: row["count"] for row in grouped} == rows
    for columns in (None, ["id"]):
        analyze_table(spark, store, "shop.sales", columns=columns)
        partitions = store.get_partitions_by_filter("shop", "sales", None)
        assert {one.values[0]: int(one.parameters["numRows"]) for one in partitions} == rows
