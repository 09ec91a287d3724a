"""Repairing partitions by a Spark job: the same as in Python, from many folders, and errors of tasks."""

from __future__ import annotations

import os
import shutil

import pytest

import hbstore
from hbstore.errors import FileOperationFailed, InvalidInput, TableFolderMissing
from hbstore.repair import sync_partitions as in_python
from hbstore.spark import sync_partitions
from hbstore.spark.repair import _gone, _List
from hbstore.spark.tasks import run_tasks

pytestmark = pytest.mark.spark

DAYS, HOURS = 100, 20


@pytest.fixture
def table(url, tmp_path):
    """An open store with shop.sales by ds and hour, and its folder."""
    root = tmp_path / "sales"
    root.mkdir()
    with hbstore.connect(url) as store:
        store.create_database("shop")
        columns = [hbstore.Column("ds", "string"), hbstore.Column("hour", "int")]
        store.create_table(hbstore.Table("shop", "sales", columns, location=f"file:{root}"))
        yield store, root


def test_two_thousand_folders_become_partitions(spark, url, table):
    store, root = table
    for day in range(DAYS):
        for hour in range(HOURS):
            (root / f"ds=d{day:03}%3A" / f"hour={hour}").mkdir(parents=True)
    (root / "ds=d000%3A" / "hour=x").mkdir()
    (root / "other").mkdir()
    told = []
    expected = in_python(store, "shop.sales", "sync", dry_run=True)
    repair = sync_partitions(spark, url, "shop.sales", progress=lambda *step: told.append(step))
    assert (repair.added, repair.add, repair.foreign) == (DAYS * HOURS, expected.add, expected.foreign)
    assert [one.folder for one in repair.foreign] == ["ds=d000%3A/hour=x", "other"]
    assert told[-1] == ("add", 2000, 2000)
    one = store.get_partition("shop", "sales", ("d007:", "13"))
    assert one.location == f"file:{root}/ds=d007%3A/hour=13"
    again = sync_partitions(spark, store, "shop.sales", "sync")
    assert (again.add, again.drop, again.added, again.dropped) == ((), (), 0, 0)

    for day in range(60):  # more than the driver would look for by itself
        shutil.rmtree(root / f"ds=d{day:03}%3A")
    assert sync_partitions(spark, store, "shop.sales", "drop", dry_run=True).dropped == 0
    assert sync_partitions(spark, store, "shop.sales", "drop").dropped == 60 * HOURS
    assert store.count_partitions("shop", "sales") == 40 * HOURS


@pytest.mark.parametrize("slices", [1, 3, 1000])
def test_one_level_many_levels_and_specs(spark, url, table, slices):
    store, root = table
    for hour in range(7):
        (root / "ds=a" / f"hour={hour}").mkdir(parents=True)
        (root / "ds=b" / f"hour={hour}").mkdir(parents=True)
    repair = sync_partitions(spark, url, "shop.sales", spec={"ds": "b"}, slices=slices)
    assert {one.values for one in repair.add} == {("b", str(hour)) for hour in range(7)}
    columns = [hbstore.Column("ds", "string")]
    store.create_table(hbstore.Table("shop", "days", columns, location=f"file:{root}"))
    assert sync_partitions(spark, url, "shop.days", slices=slices).added == 2


def test_an_empty_table_needs_no_job(spark, url, table):
    store, root = table
    assert sync_partitions(spark, url, "shop.sales", "sync").added == 0
    store.add_partitions("shop", "sales", [hbstore.Partition(("a", "1"))])
    root.rmdir()
    with pytest.raises(TableFolderMissing):
        sync_partitions(spark, url, "shop.sales", "sync")
    with pytest.raises(InvalidInput):
        sync_partitions(spark, url, "shop.sales", slices=0)
    assert store.count_partitions("shop", "sales") == 1


def test_an_error_in_a_task_comes_back_by_its_name(spark, table):
    store, root = table
    (root / "ds=a" / "hour=1").mkdir(parents=True)

    def refusing(_):
        real = os.scandir

        def scandir(path):
            raise PermissionError(13, "Permission denied", path)

        os.scandir = scandir
        try:
            return _List(f"file:{root}", shape)([hbstore.repair.Folder("ds=a", ("a",))])
        finally:
            os.scandir = real

    shape = hbstore.repair.Shape.of(store.get_table("shop", "sales"))
    with pytest.raises(FileOperationFailed, match=r"location=file:.*/ds=a.*Permission denied"):
        run_tasks(spark, refusing, [1, 2])
    with pytest.raises(FileOperationFailed) as raised:
        run_tasks(spark, _gone, [["nosuch://bucket/x"]])
    assert all(isinstance(value, str) for value in raised.value.fields.values())
