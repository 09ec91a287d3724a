"""The partition folders below a table's root."""

from __future__ import annotations

import datetime as dt

import pytest

import hbstore
from hbstore.spark import folders_frame, partition_folders, register_partitions

NULL = hbstore.NULL_PARTITION


def make(root, *folders):
    for folder in folders:
        (root / folder).mkdir(parents=True)


def test_values_are_unescaped_and_locations_are_not(tmp_path):
    make(tmp_path, "ds=2013-01-01/at=00%3A30", f"ds=2013-01-01/at={NULL}", "ds=2012-12-31/at=a b")
    found = list(partition_folders(tmp_path, ["ds", "at"]))
    assert [one.values for one in found] == [("2012-12-31", "a b"), ("2013-01-01", "00:30"), ("2013-01-01", NULL)]
    assert found[1].location == f"{tmp_path}/ds=2013-01-01/at=00%3A30"


def test_what_spark_passes_over_is_passed_over(tmp_path):
    make(tmp_path, "_temporary/0", ".hive-staging/x", "ds=1", "DS=2", "ds=3/below/it")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "ds=4").touch()
    assert [one.values for one in partition_folders(tmp_path, ["ds"])] == [("2",), ("1",), ("3",)]


def test_a_column_may_begin_with_an_underscore(tmp_path):
    make(tmp_path, "_ds=1")
    assert [one.values for one in partition_folders(tmp_path, ["_ds"])] == [("1",)]


@pytest.mark.parametrize("folder", ["other", "hour=5", "ds=1/day=5", "ds=1/5"])
def test_other_folders_are_named(tmp_path, folder):
    make(tmp_path, folder)
    with pytest.raises(hbstore.InvalidInput, match=folder.replace("ds=1/", "")):
        list(partition_folders(tmp_path, ["ds", "hour"]))


@pytest.mark.parametrize("form", ["{}", "{}/", "file:{}", "file://{}/", "FILE:{}"])
def test_locations_begin_with_the_root_as_it_was_given(tmp_path, form):
    make(tmp_path, "ds=1")
    root = form.format(tmp_path)
    assert [one.location for one in partition_folders(root, ["ds"])] == [f"{root.rstrip('/')}/ds=1"]


def test_a_relative_root_becomes_absolute(tmp_path, monkeypatch):
    make(tmp_path, "t/ds=1")
    monkeypatch.chdir(tmp_path)
    assert [one.location for one in partition_folders("t", ["ds"])] == [f"{tmp_path}/t/ds=1"]


@pytest.mark.parametrize("root", ["s3://bucket/table", "hdfs://name/table", "/no/such/folder", "file:/no/such/folder"])
def test_a_root_that_is_no_local_folder_is_named(root):
    with pytest.raises(hbstore.InvalidInput, match=root):
        list(partition_folders(root, ["ds"]))


def test_a_table_without_partition_columns_has_none(tmp_path):
    with pytest.raises(hbstore.InvalidInput, match="no partition columns"):
        list(partition_folders(tmp_path, []))


@pytest.mark.spark
def test_what_spark_writes_is_found_registered_and_read_again(spark, url, make_table, tmp_path):
    rows = [
        (1, dt.date(2013, 1, 1), "a/b"),
        (2, dt.date(2013, 1, 1), None),
        (3, None, "50% off: [x] {y}"),
        (4, dt.date(2013, 1, 2), ""),
        (5, dt.date(2013, 1, 2), "é 中"),
    ]
    root = tmp_path / "data of a table"
    spark.createDataFrame(rows, "x int, day date, p string").write.partitionBy("day", "p").parquet(str(root))
    store = make_table(day="date", p="string")
    assert register_partitions(folders_frame(spark, root, ["day", "p"]), url, "shop.sales") == len(rows)

    def read(filter):
        locations = [one.location for one in store.get_partitions_by_filter("shop", "sales", filter)]
        return sorted(row.x for row in spark.read.parquet(*locations).collect())

    assert read("day = '2013-01-01'") == [1, 2]
    assert read("p = '50% off: [x] {y}'") == [3]
    assert read("p = 'a/b' or p > 'z'") == [1, 5]
    assert read(f"p = '{NULL}'") == [2, 4]
    assert read(f"day = '{NULL}'") == [3]


@pytest.mark.spark
def test_registering_the_columns_and_the_folders_is_the_same(spark, url, make_table, tmp_path):
    frame = spark.range(40).selectExpr("id", "date_add(date'2013-01-01', cast(id % 9 as int)) day", "id % 4 = 1 as big")
    frame.write.partitionBy("day", "big").parquet(str(tmp_path / "t"))
    make_table(day="date", big="boolean")
    assert register_partitions(folders_frame(spark, tmp_path / "t", ["day", "big"]), url, "shop.sales") == 18
    assert register_partitions(frame.select("day", "big").distinct(), url, "shop.sales") == 0
