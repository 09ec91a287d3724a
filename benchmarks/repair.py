"""Finding the partitions of folders that are there already, beside Spark's MSCK REPAIR TABLE on its own metastore.

One tree of folders: hbstore into a new SQLite store, before and after MSCK into a new table of an embedded Derby. The
best of the runs counts; MSCK has one. Then more folders, for which MSCK would take hours: beside hbstore Python walks
through them and does nothing else.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

from pyspark.sql import SparkSession

import hbstore
from benchmarks.metastore.servers import scratch
from benchmarks.spark_session import derby_settings, spark_session
from benchmarks.timing import Figure, Report, seconds
from hbstore.repair import Mode, sync_partitions

CORES = 4
MASTER = f"local[{CORES}]"
OUTER, INNER = 400, 50
MORE = 2000
"""Outer folders of the larger tree."""
RUNS = 2
HBSTORE, MSCK, WALK = "hbstore", "MSCK", "walk"
LOOK, ADD, NOTHING, SYNC = "look only (dry run)", "find and add all", "find nothing new", "find nothing new, none gone"


class Times(dict[tuple[str, str], float]):
    """The best seconds by what was done and who took them."""

    def take(self, what: str, who: str, call: Callable[[], object]) -> None:
        """Time a call."""
        took = seconds(call)
        self[what, who] = min(took, self.get((what, who), took))


def run() -> Iterator[Report]:
    """A table for each tree of folders."""
    with scratch() as folder, spark_session(MASTER, folder, derby_settings(folder)) as spark:
        spark.range(10).count()
        yield _beside_msck(spark, folder)
        yield _beside_a_walk(folder)


def _beside_msck(spark: SparkSession, folder: Path) -> Report:
    times = Times()
    root = folder / "sales"
    _make_folders(root, OUTER)
    for number in range(RUNS):
        _hbstore(times, root, folder / f"before{number}", OUTER * INNER)
    _msck(spark, times, root)
    for number in range(RUNS):
        _hbstore(times, root, folder / f"after{number}", OUTER * INNER)
    return _report(times, OUTER * INNER, MSCK, f"best of {2 * RUNS}; raw: MSCK REPAIR TABLE on Derby")


def _beside_a_walk(folder: Path) -> Report:
    times = Times()
    root = folder / "more"
    _make_folders(root, MORE)
    for number in range(RUNS):
        times.take(LOOK, WALK, lambda: deque(os.walk(root), maxlen=0))
        _hbstore(times, root, folder / f"more{number}", MORE * INNER)
    return _report(times, MORE * INNER, WALK, f"best of {RUNS}; raw: os.walk through the folders")


def _report(times: Times, folders: int, other: str, note: str) -> Report:
    report = Report(f"Repair of {folders:,} partition folders, MSCK on {CORES} cores")
    for what in (LOOK, ADD, NOTHING, SYNC):
        report.figures.append(Figure(what, times[what, HBSTORE], times.get((what, other)), "", note))
    return report


def _make_folders(root: Path, number: int) -> None:
    """Partition folders with a file each."""
    for outer in range(number):
        for inner in range(INNER):
            folder = root / f"ds=d{outer:05}" / f"hour={inner}"
            folder.mkdir(parents=True)
            (folder / "part-0.parquet").write_bytes(b"x" * 100)


def _hbstore(times: Times, root: Path, place: Path, folders: int) -> None:
    with hbstore.connect(f"sqlite://{place}.db") as store:
        store.create_database("shop")
        columns = [hbstore.Column("ds", "string"), hbstore.Column("hour", "int")]
        store.create_table(hbstore.Table("shop", "sales", columns, location=f"file:{root}"))

        def repair(mode: Mode, *, dry_run: bool = False) -> None:
            sync_partitions(store, "shop.sales", mode, dry_run=dry_run)

        times.take(LOOK, HBSTORE, lambda: repair("add", dry_run=True))
        times.take(ADD, HBSTORE, lambda: repair("add"))
        assert store.count_partitions("shop", "sales") == folders
        times.take(NOTHING, HBSTORE, lambda: repair("add"))
        times.take(SYNC, HBSTORE, lambda: repair("sync"))


def _msck(spark: SparkSession, times: Times, root: Path) -> None:
    spark.sql(
        "CREATE EXTERNAL TABLE sales (x INT) PARTITIONED BY (ds STRING, hour INT) "
        f"STORED AS PARQUET LOCATION 'file:{root}'"
    )
    times.take(ADD, MSCK, lambda: spark.sql("MSCK REPAIR TABLE sales"))
    assert spark.sql("SHOW PARTITIONS sales").count() == OUTER * INNER
    times.take(NOTHING, MSCK, lambda: spark.sql("MSCK REPAIR TABLE sales"))
    times.take(SYNC, MSCK, lambda: spark.sql("MSCK REPAIR TABLE sales SYNC PARTITIONS"))
