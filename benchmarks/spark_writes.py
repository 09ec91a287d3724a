"""Spark jobs: writing a million rows into 400 partitions, and planning a read of a few of many, beside Spark's own way.

Spark's own write is ``partitionBy`` Parquet into a table's folder, then MSCK REPAIR TABLE on hbstore's endpoint, as
otherwise nobody knows the partitions. Both write the same rows, which Spark keeps in memory, into new tables. Its own
way to plan is SQL on a table of the metastore that comes with Spark, an embedded Derby, in another process.

Each way is timed in turn, and the best of its times counts: a job takes seconds, in which other programs come and go.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

import hbstore
from benchmarks.metastore.servers import hbstore as endpoint
from benchmarks.metastore.servers import scratch
from benchmarks.spark_derby import TABLE, plan_seconds, spark_on_derby
from benchmarks.spark_session import endpoint_settings, spark_session
from benchmarks.timing import Figure, Report, seconds
from hbstore import Partition
from hbstore.spark import read_table, write_table

CORES = 2
MASTER = f"local[{CORES}]"
ROWS = 1_000_000
DAYS, HOURS = 20, 20
MANY_DAYS, MANY_HOURS = 1_000, 20
WRITES = 5
PLANS = 20
LARGE_DAYS = 50
LARGE_PLANS = 3


def run() -> Iterator[Report]:
    """Both tables."""
    with scratch() as folder:
        url = f"sqlite://{folder / 'catalog.db'}"
        hbstore.connect(url).close()
        with endpoint(folder, "SQLite", url) as server:
            settings = endpoint_settings(server.port, server.warehouse)
            with spark_session(MASTER, folder, settings) as spark:
                spark.sql("CREATE DATABASE bench")
                yield _writes(spark, url, folder)
                yield _reads(spark, url, folder)


def _writes(spark: SparkSession, url: str, folder: Path) -> Report:
    rows = _rows(spark).persist(StorageLevel.MEMORY_ONLY)
    rows.count()

    def ours(name: str) -> None:
        write_table(rows, url, f"bench.{name}")

    def theirs(name: str) -> None:
        rows.write.partitionBy("ds", "hour").mode("append").parquet(f"{folder}/tables/{name}")
        spark.sql(f"MSCK REPAIR TABLE bench.{name}")

    times: dict[Callable[[str], None], list[float]] = {ours: [], theirs: []}
    for number in range(WRITES + 1):
        for way, found in times.items():
            name = f"{way.__name__}{number}"
            _create(spark, name, folder)
            took = seconds(way, name)
            with hbstore.connect(url) as store:
                assert store.count_partitions("bench", name) == DAYS * HOURS
            shutil.rmtree(folder / "tables" / name)
            if number:  # the first of each warms Java up
                found.append(took)
    rows.unpersist()
    report = Report(f"Spark on {CORES} cores: {ROWS:,} rows into {DAYS * HOURS} partitions")
    note = f"best of {WRITES}; raw: partitionBy, then MSCK REPAIR TABLE on the endpoint"
    report.figures.append(Figure("write_table", min(times[ours]), min(times[theirs]), "1.1 x", note))
    return report


def _reads(spark: SparkSession, url: str, folder: Path) -> Report:
    root = folder / "tables" / "many"
    days = PLANS + 1
    _folders(spark, root, days)
    _create(spark, "many", folder)
    with hbstore.connect(url) as store:
        given = [Partition((_day(day), str(hour))) for day in range(MANY_DAYS) for hour in range(MANY_HOURS)]
        store.add_partitions("bench", "many", given)
    ours, through_endpoint, theirs = [], [], []
    large, large_theirs = [], []

    def planned(where: str) -> DataFrame:
        frame = read_table(spark, url, "bench.many", where)
        frame._jdf.queryExecution().executedPlan()  # noqa: SLF001
        return frame

    with spark_on_derby(folder / "derby", root) as (there, plan_on_derby):
        assert there == len(given)
        for day in range(days):  # another day each time, as Spark remembers what it listed
            where = f"ds = '{_day(day)}' and hour in (1, 2, 3)"
            ours.append(seconds(planned, where))
            through_endpoint.append(plan_seconds(spark, "bench.many", where))
            theirs.append(plan_on_derby(where))
        assert sorted(row.hour for row in planned(where).collect()) == [1] * 10 + [2] * 10 + [3] * 10
        for first in range(days, days + LARGE_PLANS * LARGE_DAYS, LARGE_DAYS):
            where = f"ds >= '{_day(first)}' and ds < '{_day(first + LARGE_DAYS)}'"
            large.append(seconds(planned, where))
            large_theirs.append(plan_on_derby(where))
    report = Report(f"Spark on {CORES} cores: planning a read of 3 of {len(given):,} partitions, files listed")
    note = f"best of {PLANS}; raw: Spark SQL on Derby"
    report.figures.append(Figure("read_table", min(ours[1:]), min(theirs[1:]), "100 ms", note))
    report.figures.append(Figure("Spark SQL on hbstore's endpoint", min(through_endpoint[1:]), min(theirs[1:]), ""))
    note = f"best of {LARGE_PLANS}; raw: Spark SQL on Derby"
    figure = Figure(f"read_table of {LARGE_DAYS * MANY_HOURS:,} partitions", min(large), min(large_theirs), "", note)
    report.figures.append(figure)
    return report


def _rows(spark: SparkSession) -> DataFrame:
    return spark.range(ROWS).select(
        "id",
        f.concat(f.lit("name "), f.col("id") % 1000).alias("name"),
        (f.col("id") / 7).alias("amount"),
        f.format_string("2013-01-%02d", (f.col("id") % DAYS + 1).cast("int")).alias("ds"),
        (f.floor(f.col("id") / DAYS) % HOURS).cast("int").alias("hour"),
    )


def _folders(spark: SparkSession, root: Path, days: int) -> None:
    """All folders of the table, with ten rows in some hours of the first days."""
    rows = spark.range(10).select("id", f.lit("a").alias("name"), f.lit(1.0).alias("amount"))
    made = root.with_name("rows")
    rows.coalesce(1).write.parquet(str(made))
    (file,) = made.glob("*.parquet")
    for day in range(MANY_DAYS):
        for hour in range(MANY_HOURS):
            (folder := root / f"ds={_day(day)}" / f"hour={hour}").mkdir(parents=True)
            if day < days and hour in (1, 2, 3):
                shutil.copy(file, folder)


def _day(number: int) -> str:
    return f"d{number:04}"


def _create(spark: SparkSession, name: str, folder: Path) -> None:
    spark.sql(f"CREATE TABLE bench.{name} {TABLE} LOCATION '{folder}/tables/{name}'")
