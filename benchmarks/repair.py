"""Finding the partitions of folders that are there already, beside Spark's MSCK REPAIR TABLE on its own metastore.

`python -m benchmarks.repair [--folders 20000]`: one Spark, one tree of folders. hbstore in threads and as a Spark job,
each into a new SQLite store, before and after MSCK into a new table of an embedded Derby.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table as Shown

import hbstore
from hbstore.repair import sync_partitions
from hbstore.spark import sync_partitions as sync_by_jobs

INNER = 50
THREADS, JOB, MSCK = "hbstore, threads", "hbstore, Spark job", "MSCK REPAIR TABLE, Derby"


@dataclass
class Times:
    """Seconds by who took them and what was done."""

    found: dict[tuple[str, str], list[float]] = field(default_factory=dict)

    def take(self, who: str, what: str, call: Callable[[], object]) -> None:
        began = time.perf_counter()
        call()
        self.found.setdefault((who, what), []).append(time.perf_counter() - began)
        print(f"{who}: {what}: {self.found[who, what][-1]:.2f} s", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.repair", description=__doc__)
    parser.add_argument("--folders", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=2, help="of hbstore, before and after MSCK")
    arguments = parser.parse_args()
    times = Times()
    with tempfile.TemporaryDirectory() as place:
        root = Path(place, "sales")
        number = make_folders(root, arguments.folders)
        spark = start_spark(place)
        try:
            spark.range(10).count()  # the first job of a session starts Python's workers
            spark.sparkContext.parallelize(range(8), 4).map(str).collect()
            for run in range(arguments.runs):
                run_hbstore(spark, times, root, f"{place}/{run}", number)
            run_msck(spark, times, root, number)
            for run in range(arguments.runs):
                run_hbstore(spark, times, root, f"{place}/again{run}", number)
        finally:
            spark.stop()
    show(times, number)


def make_folders(root: Path, number: int) -> int:
    """Partition folders with a file each; how many."""
    outer = max(1, number // INNER)
    for one in range(outer):
        for two in range(INNER):
            folder = root / f"ds=d{one:05}" / f"hour={two}"
            folder.mkdir(parents=True)
            (folder / "part-0.parquet").write_bytes(b"x" * 100)
    return outer * INNER


def start_spark(place: str) -> SparkSession:
    """A local Spark with a Hive Metastore in an embedded Derby."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.local.dir": place,
        "spark.sql.warehouse.dir": f"{place}/warehouse",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={place}/derby;create=true",
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={place}",
    }
    builder = SparkSession.builder.master("local[4]").appName("repair").enableHiveSupport()
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def run_hbstore(spark: SparkSession, times: Times, root: Path, place: str, number: int) -> None:
    for who in (THREADS, JOB):
        with hbstore.connect(f"sqlite://{place}{len(who)}.db") as store:
            store.create_database("shop")
            columns = [hbstore.Column("ds", "string"), hbstore.Column("hour", "int")]
            store.create_table(hbstore.Table("shop", "sales", columns, location=f"file:{root}"))

            def repair(mode: str, *, dry_run: bool = False, who: str = who, store: object = store) -> None:
                if who == JOB:
                    sync_by_jobs(spark, store, "shop.sales", mode, dry_run=dry_run)
                else:
                    sync_partitions(store, "shop.sales", mode, dry_run=dry_run)

            times.take(who, "look only (dry run)", lambda: repair("add", dry_run=True))
            times.take(who, "find and add all", lambda: repair("add"))
            assert store.count_partitions("shop", "sales") == number
            times.take(who, "find nothing new", lambda: repair("add"))
            times.take(who, "find nothing new, none gone", lambda: repair("sync"))


def run_msck(spark: SparkSession, times: Times, root: Path, number: int) -> None:
    spark.sql(
        "CREATE EXTERNAL TABLE sales (x INT) PARTITIONED BY (ds STRING, hour INT) "
        f"STORED AS PARQUET LOCATION 'file:{root}'"
    )
    times.take(MSCK, "find and add all", lambda: spark.sql("MSCK REPAIR TABLE sales"))
    assert spark.sql("SHOW PARTITIONS sales").count() == number
    times.take(MSCK, "find nothing new", lambda: spark.sql("MSCK REPAIR TABLE sales"))
    times.take(MSCK, "find nothing new, none gone", lambda: spark.sql("MSCK REPAIR TABLE sales SYNC PARTITIONS"))


def show(times: Times, number: int) -> None:
    whos = (THREADS, JOB, MSCK)
    table = Shown("seconds, best of all runs", *whos, title=f"{number:,} partition folders", title_justify="left")
    for what in dict.fromkeys(what for _, what in times.found):
        shown = [times.found.get((who, what)) for who in whos]
        table.add_row(what, *("" if one is None else f"{min(one):.2f} ({len(one)} runs)" for one in shown))
    console = Console(width=130)
    console.print(f"Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    console.print(table)


if __name__ == "__main__":
    main()
