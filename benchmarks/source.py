"""Spark's source: a million partitions on SQLite read by one task and by four. `python -m benchmarks.source`.

Both read the same file in the same run, in turn, and the better of their times counts.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table as Shown

from benchmarks.data import HOURS, REGIONS, sales_table
from hbstore import Partition, connect
from hbstore.spark import register_source

BATCH = 20_000
PARAMETERS = {"numRows": "100000", "totalSize": "12345678", "numFiles": "4", "transient_lastDdlTime": "1390000000"}
TASKS = (1, 4)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.source", description=__doc__)
    parser.add_argument("--partitions", type=int, default=1_000_000, help="how many there are")
    parser.add_argument("--runs", type=int, default=2, help="how often each way is timed")
    arguments = parser.parse_args()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master("local[4]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "2g")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    register_source(spark)
    try:
        with tempfile.TemporaryDirectory(prefix="hbstore-bench-") as folder:
            _run(spark, f"sqlite://{folder}/catalog.db", arguments.partitions, arguments.runs)
    finally:
        spark.stop()


def _run(spark: SparkSession, url: str, partitions: int, runs: int) -> None:
    began = time.perf_counter()
    _fill(url, partitions)
    filled = time.perf_counter() - began
    size = Path(url.removeprefix("sqlite://")).stat().st_size
    best = dict.fromkeys(TASKS, float("inf"))
    counted = dict.fromkeys(TASKS, 0)
    _read(spark, url, partitions // 20, partitions)  # warms Spark and the file
    for _ in range(runs):
        for tasks in TASKS:
            # A little more than its share, so that the last task is not a rest.
            seconds, counted[tasks] = _read(spark, url, partitions * 5 // (4 * tasks), partitions)
            best[tasks] = min(best[tasks], seconds)
    table = Shown("input partitions", title=f"{partitions:,} partitions, {size / 1e9:.2f} GB")
    for heading in ("seconds", "partitions a second", "1 : this"):
        table.add_column(heading, justify="right")
    for tasks, seconds in best.items():
        table.add_row(str(counted[tasks]), f"{seconds:.1f}", f"{partitions / seconds:,.0f}", f"{best[1] / seconds:.2f}")
    console = Console(width=110)
    console.print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; "
        f"best of {runs}; filled in {filled:.0f} s"
    )
    console.print(table)


def _read(spark: SparkSession, url: str, rows_per_task: int, partitions: int) -> tuple[float, int]:
    """Seconds from ``load()`` to the sum of a column, planning included, and the number of tasks."""
    began = time.perf_counter()
    options = {"url": url, "table": "bench.sales", "rows_per_task": str(rows_per_task)}
    frame = spark.read.format("hbstore").options(**options).load()
    (row,) = frame.selectExpr("count(location) locations", "sum(num_files) files").collect()
    seconds = time.perf_counter() - began
    assert (row.locations, row.files) == (partitions, 4 * partitions)
    return seconds, frame.rdd.getNumPartitions()


def _fill(url: str, partitions: int) -> None:
    with connect(url) as store:
        store.create_database("bench")
        store.create_table(sales_table())
        batch = []
        for one in _values(partitions):
            batch.append(Partition(one, parameters=PARAMETERS, create_time=1_390_000_000))
            if len(batch) == BATCH:
                store.add_partitions("bench", "sales", batch)
                batch = []
        store.add_partitions("bench", "sales", batch)


def _values(partitions: int) -> Iterator[tuple[str, str, str]]:
    for number in range(partitions):
        rest, region = divmod(number, len(REGIONS))
        day, hour = divmod(rest, len(HOURS))
        yield f"d{day:06d}", str(HOURS[hour]), REGIONS[region]


if __name__ == "__main__":
    main()
