"""hbstore analyze: statistics by a Spark job."""

from __future__ import annotations

import json
import sys

import pyarrow as pa
import pytest
from pyarrow import parquet

import hbstore


@pytest.fixture
def logs(make_logs):
    """The folder of shop.logs, with 10 rows in one partition and 20 in another; the folder of a third is not there."""
    data = [hbstore.Column("id", "bigint"), hbstore.Column("name", "string")]
    root = make_logs((1, 2, 3), "5", columns=data, parameters={"spark.sql.sources.provider": "parquet"})
    for day in (1, 2):
        folder = root / f"ds=2013-01-0{day}" / "hour=5"
        folder.mkdir(parents=True)
        rows = {"id": list(range(10 * day)), "name": ["x" * day] * (10 * day)}
        parquet.write_table(pa.table(rows), folder / "a.parquet")
    return root


def parameters(url):
    with hbstore.connect(url) as store:
        return [dict(one.parameters) for one in store.get_partitions_by_filter("shop", "logs", None)]


@pytest.mark.spark
def test_rows_and_bytes_are_kept_and_told(spawn_with_spark, url, logs):
    done = spawn_with_spark("analyze", "Shop.logs", "--columns", "ID, name")
    assert done.returncode == 0, done.stderr
    size = sum(file.stat().st_size for file in logs.rglob("*.parquet"))
    assert done.stdout == (
        "empty ds=2013-01-03/hour=5: its folder does not exist\n"
        f"shop.logs: 3 partitions analyzed, 30 rows, 2 files, {size:,} bytes\n"
    )
    assert [one["numRows"] for one in parameters(url)] == ["10", "20", "0"]
    with hbstore.connect(url) as store:
        found = store.column_statistics.read_partitions("shop", "logs", [("2013-01-02", "5")])
        assert [one.column for one in found[("2013-01-02", "5")]] == ["id", "name"]
        assert store.get_table("shop", "logs").parameters["spark.sql.statistics.numRows"] == "30"


@pytest.mark.spark
def test_only_missing_of_a_filter_as_json(spawn_with_spark, url, logs):
    with hbstore.connect(url) as store:
        known = store.get_partition("shop", "logs", ("2013-01-01", "5"))
        counts = {"numRows": "10", "numFiles": "1", "totalSize": "5"}
        store.alter_partitions(
            "shop", "logs", [hbstore.Partition(known.values, location=known.location, parameters=counts)]
        )
    done = spawn_with_spark("analyze", "shop.logs", "--filter", "ds < '2013-01-03'", "--only-missing", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "table": "shop.logs",
        "columns": [],
        "partitions": 1,
        "passed_over": 1,
        "rows": 20,
        "files": 1,
        "size": (logs / "ds=2013-01-02/hour=5/a.parquet").stat().st_size,
        "missing": [],
        "changed": [],
        "whole": False,
    }
    assert [one.get("numRows") for one in parameters(url)] == ["10", "20", None]


@pytest.mark.spark
def test_a_file_that_cannot_be_read_is_a_message_and_no_traceback(spawn_with_spark, url, logs):
    bad = logs / "ds=2013-01-02/hour=5/bad.parquet"
    bad.write_text("this is no Parquet")
    done = spawn_with_spark("analyze", "shop.logs", "--all-columns")
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    assert "Spark could not read the files of a partition" in line
    assert "partition=ds=2013-01-02/hour=5" in line
    assert str(bad) in line
    assert parameters(url) == [{}, {}, {}]


def test_nothing_selected_needs_no_spark(run, run_json, monkeypatch, shop):
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    said = run("analyze", "shop.returns").stdout
    assert said == "shop.returns: 0 partitions analyzed, 0 rows, 0 files, 0 bytes\n"
    found = run_json("analyze", "shop.sales", "--filter", "ds = '1999-01-01'")
    assert (found["table"], found["partitions"], found["missing"], found["whole"]) == ("shop.sales", 0, [], False)
    assert shop


def test_mistakes(run, shop, monkeypatch):
    both = run("analyze", "shop.sales", "--columns", "amount", "--all-columns", code=2)
    assert "the two options exclude each other" in both.stderr
    assert "the text is not a table name" in run("analyze", "sales", code=2).stderr
    assert "the table does not exist" in run("analyze", "shop.nothing", code=2).stderr
    assert "amount" in run("analyze", "shop.sales", "--filter", "amount = 5", code=2).stderr
    monkeypatch.delitem(sys.modules, "hbstore.spark.starting", raising=False)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    assert "is not installed: missing=pyspark" in run("analyze", "shop.sales", code=2).stderr
    remote = run("analyze", "shop.sales", code=2, env={"SPARK_REMOTE": "sc://there"})
    assert "this command does not work with Spark Connect: SPARK_REMOTE=sc://there" in remote.stderr
    assert shop
