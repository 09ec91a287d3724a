"""Spark's source: a million partitions on SQLite read by one task and by four.

Both read the same file in the same run, in turn, and the better of their times counts.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.data import HOURS, REGIONS, sales_table
from benchmarks.metastore.servers import scratch
from benchmarks.spark_session import spark_session
from benchmarks.timing import Figure, Report
from hbstore import Partition, connect
from hbstore.spark import register_source

PARTITIONS = 1_000_000
BATCH = 20_000
RUNS = 2
PARAMETERS = {"numRows": "100000", "totalSize": "12345678", "numFiles": "4", "transient_lastDdlTime": "1390000000"}
TASKS = (1, 4)
MASTER = f"local[{max(TASKS)}]"


def run() -> Iterator[Report]:
    """The table."""
    with scratch() as folder, spark_session(MASTER, folder, {}) as spark:
        register_source(spark)
        yield _reads(spark, folder / "catalog.db")


def _reads(spark: SparkSession, file: Path) -> Report:
    url = f"sqlite://{file}"
    _fill(url)
    best = dict.fromkeys(TASKS, float("inf"))
    _read(spark, url, PARTITIONS // 20)  # warms Spark and the file
    for _ in range(RUNS):
        for tasks in TASKS:
            # A little more than its share, so that the last task is not a rest.
            seconds, counted = _read(spark, url, PARTITIONS * 5 // (4 * tasks))
            assert counted == tasks
            best[tasks] = min(best[tasks], seconds)
    one, four = best[1], best[4]
    size = file.stat().st_size / 1e9
    report = Report(f'spark.read.format("hbstore"): {PARTITIONS:,} partitions on SQLite ({size:.2f} GB)')
    note = f"best of {RUNS}; {PARTITIONS / four:,.0f} and {PARTITIONS / one:,.0f} partitions a second"
    report.figures.append(Figure("4 input partitions (raw: 1)", four, one, "faster with 4 than with 1", note))
    return report


def _read(spark: SparkSession, url: str, rows_per_task: int) -> tuple[float, int]:
    """Seconds from ``load()`` to the sum of a column, planning included, and the number of tasks."""
    began = time.perf_counter()
    options = {"url": url, "table": "bench.sales", "rows_per_task": str(rows_per_task)}
    frame = spark.read.format("hbstore").options(**options).load()
    (row,) = frame.selectExpr("count(location) locations", "sum(num_files) files").collect()
    seconds = time.perf_counter() - began
    assert (row.locations, row.files) == (PARTITIONS, 4 * PARTITIONS)
    return seconds, frame.rdd.getNumPartitions()


def _fill(url: str) -> None:
    with connect(url) as store:
        store.create_database("bench")
        store.create_table(sales_table())
        for start in range(0, PARTITIONS, BATCH):
            given = [
                Partition(_values(number), parameters=PARAMETERS, create_time=1_390_000_000)
                for number in range(start, start + BATCH)
            ]
            store.add_partitions("bench", "sales", given)


def _values(number: int) -> tuple[str, str, str]:
    rest, region = divmod(number, len(REGIONS))
    day, hour = divmod(rest, len(HOURS))
    return f"d{day:06d}", str(HOURS[hour]), REGIONS[region]
