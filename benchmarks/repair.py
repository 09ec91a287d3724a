"""Finding the partitions of folders that are there already, beside Spark's MSCK REPAIR TABLE on its own metastore.

One Spark, one tree of folders: hbstore in threads and as a Spark job, each into a new SQLite store, before and after
MSCK into a new table of an embedded Derby. The best of the runs counts; MSCK has one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from pyspark.sql import SparkSession

import hbstore
from benchmarks.metastore.servers import scratch
from benchmarks.spark_session import derby_settings, spark_session
from benchmarks.timing import Figure, Report
from hbstore.repair import sync_partitions
from hbstore.spark import sync_partitions as sync_by_jobs

CORES = 4
MASTER = f"local[{CORES}]"
OUTER, INNER = 400, 50
RUNS = 2
THREADS, JOB, MSCK = "threads", "Spark job", "MSCK"
LOOK, ADD, NOTHING, SYNC = "look only (dry run)", "find and add all", "find nothing new", "find nothing new, none gone"


class Times(dict[tuple[str, str], float]):
    """The best seconds by what was done and who took them."""

    def take(self, what: str, who: str, call: Callable[[], object]) -> None:
        """Time a call."""
        began = time.perf_counter()
        call()
        seconds = time.perf_counter() - began
        self[what, who] = min(seconds, self.get((what, who), seconds))


def run() -> Iterator[Report]:
    """The table."""
    times = Times()
    with scratch() as folder, spark_session(MASTER, folder, derby_settings(folder)) as spark:
        root = folder / "sales"
        _make_folders(root)
        spark.range(10).count()
        spark.sparkContext.parallelize(range(8), CORES).map(str).collect()  # the first job starts Python's workers
        for number in range(RUNS):
            _hbstore(spark, times, root, folder / f"before{number}")
        _msck(spark, times, root)
        for number in range(RUNS):
            _hbstore(spark, times, root, folder / f"after{number}")
    report = Report(f"Repair of {OUTER * INNER:,} partition folders, Spark on {CORES} cores")
    for what in (LOOK, ADD, NOTHING, SYNC):
        for who in (THREADS, JOB):
            note = f"best of {2 * RUNS}; raw: MSCK REPAIR TABLE on Derby"
            report.figures.append(Figure(f"{what}, {who}", times[what, who], times.get((what, MSCK)), "", note))
    yield report


def _make_folders(root: Path) -> None:
    """Partition folders with a file each."""
    for outer in range(OUTER):
        for inner in range(INNER):
            folder = root / f"ds=d{outer:05}" / f"hour={inner}"
            folder.mkdir(parents=True)
            (folder / "part-0.parquet").write_bytes(b"x" * 100)


def _hbstore(spark: SparkSession, times: Times, root: Path, place: Path) -> None:
    for who in (THREADS, JOB):
        with hbstore.connect(f"sqlite://{place}-{who[0]}.db") as store:
            store.create_database("shop")
            columns = [hbstore.Column("ds", "string"), hbstore.Column("hour", "int")]
            store.create_table(hbstore.Table("shop", "sales", columns, location=f"file:{root}"))

            def repair(mode: str, *, dry_run: bool = False, who: str = who, store: object = store) -> None:
                if who == JOB:
                    sync_by_jobs(spark, store, "shop.sales", mode, dry_run=dry_run)
                else:
                    sync_partitions(store, "shop.sales", mode, dry_run=dry_run)

            times.take(LOOK, who, lambda: repair("add", dry_run=True))
            times.take(ADD, who, lambda: repair("add"))
            assert store.count_partitions("shop", "sales") == OUTER * INNER
            times.take(NOTHING, who, lambda: repair("add"))
            times.take(SYNC, who, lambda: repair("sync"))


def _msck(spark: SparkSession, times: Times, root: Path) -> None:
    spark.sql(
        "CREATE EXTERNAL TABLE sales (x INT) PARTITIONED BY (ds STRING, hour INT) "
        f"STORED AS PARQUET LOCATION 'file:{root}'"
    )
    times.take(ADD, MSCK, lambda: spark.sql("MSCK REPAIR TABLE sales"))
    assert spark.sql("SHOW PARTITIONS sales").count() == OUTER * INNER
    times.take(NOTHING, MSCK, lambda: spark.sql("MSCK REPAIR TABLE sales"))
    times.take(SYNC, MSCK, lambda: spark.sql("MSCK REPAIR TABLE sales SYNC PARTITIONS"))
