"""Spark jobs: writing a million rows into 400 partitions, and reading a few of many, beside Spark's own way.

Spark's own write is ``partitionBy`` Parquet into a table's folder, then MSCK REPAIR TABLE on hbstore's endpoint, as
otherwise nobody knows the partitions. Both write the same rows, which Spark keeps in memory.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

import hbstore
from benchmarks.metastore.servers import hbstore as endpoint
from benchmarks.metastore.servers import scratch
from benchmarks.timing import Report
from hbstore import Partition
from hbstore.spark import read_table, write_table
from hbstore.spark.reads import pruned_read

ROWS = 1_000_000
DAYS, HOURS = 20, 20
MANY = 20_000
RUNS = 5


def run() -> list[Report]:
    """Both tables."""
    with scratch() as folder:
        store_url = f"sqlite://{folder / 'catalog.db'}"
        hbstore.connect(store_url).close()
        with endpoint(folder, "SQLite", store_url) as server, _session(server.port, server.warehouse, folder) as spark:
            return [_writes(spark, store_url, folder), _reads(spark, store_url, folder)]


def _writes(spark: SparkSession, url: str, folder: Path) -> Report:
    report = Report(
        f"Spark on {spark.sparkContext.defaultParallelism} cores: {ROWS:,} rows into {DAYS * HOURS} partitions"
    )
    rows = _rows(spark).persist(StorageLevel.MEMORY_ONLY)
    rows.count()
    spark.sql("CREATE DATABASE IF NOT EXISTS bench")

    def ours(number: int) -> None:
        name = f"ours{number}"
        _table(spark, name, folder)
        write_table(rows, url, f"bench.{name}")

    def theirs(number: int) -> None:
        name = f"theirs{number}"
        _table(spark, name, folder)
        rows.write.partitionBy("ds", "hour").mode("append").parquet(f"{folder}/tables/{name}")
        spark.sql(f"MSCK REPAIR TABLE bench.{name}")

    report.compare("write_table", ours, theirs, target="1.1 x", runs=RUNS, note="raw: partitionBy, then MSCK")
    with hbstore.connect(url) as store:
        for name in ("ours0", "theirs0"):
            assert store.count_partitions("bench", name) == DAYS * HOURS
    assert read_table(spark, url, "bench.ours0").count() == ROWS
    return report


def _reads(spark: SparkSession, url: str, folder: Path) -> Report:
    report = Report(f"Spark: 3 of {MANY:,} partitions")
    location = f"file:{folder}/tables/many"
    spark_rows = spark.range(10).select("id", f.lit("a").alias("name"), f.lit(1.0).alias("amount"))
    wanted = [("d0001", str(hour)) for hour in (1, 2, 3)]
    _table(spark, "many", folder)
    with hbstore.connect(url) as store:
        given = [Partition((f"d{day:04}", str(hour))) for day in range(MANY // 20) for hour in range(20)]
        store.add_partitions("bench", "many", given)
    for ds, hour in wanted:
        spark_rows.write.parquet(f"{location}/ds={ds}/hour={hour}")

    def planned(_: int) -> DataFrame:
        return read_table(spark, url, "bench.many", "ds = 'd0001' and hour in (1, 2, 3)")

    def through_endpoint(_: int) -> None:
        spark.catalog.refreshTable("bench.many")
        frame = spark.sql("SELECT id FROM bench.many WHERE ds = 'd0001' AND hour IN (1, 2, 3)")
        frame.explain()

    assert planned(0).count() == 30
    with hbstore.connect(url) as store:
        assert len(pruned_read(store, "bench.many", "ds = 'd0001' and hour in (1, 2, 3)").partitions) == 3
    report.compare(
        "planning read_table", planned, through_endpoint, target="100 ms", runs=20, note="raw: Spark SQL's own"
    )
    return report


def _rows(spark: SparkSession) -> DataFrame:
    return spark.range(ROWS).select(
        "id",
        f.concat(f.lit("name "), f.col("id") % 1000).alias("name"),
        (f.col("id") / 7).alias("amount"),
        f.format_string("2013-01-%02d", (f.col("id") % DAYS + 1).cast("int")).alias("ds"),
        (f.floor(f.col("id") / DAYS) % HOURS).cast("int").alias("hour"),
    )


def _table(spark: SparkSession, name: str, folder: Path) -> None:
    location = f"{folder}/tables/{name}"
    spark.sql(f"DROP TABLE IF EXISTS bench.{name}")
    shutil.rmtree(location, ignore_errors=True)
    spark.sql(
        f"CREATE TABLE bench.{name} (id BIGINT, name STRING, amount DOUBLE, ds STRING, hour INT) USING parquet"
        f" PARTITIONED BY (ds, hour) LOCATION '{location}'"
    )


@contextmanager
def _session(port: int, warehouse: str, folder: Path) -> Iterator[SparkSession]:
    settings = {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.hive.metastore.uris": f"thrift://127.0.0.1:{port}",
        "spark.sql.warehouse.dir": warehouse,
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "3g",
        "spark.local.dir": str(folder),
    }
    builder = SparkSession.builder.master("local[2]").appName("hbstore benchmarks")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()
