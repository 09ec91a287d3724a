"""One filter asked twice: over the folders that hbstore selects, and over all folders with the filter left to Spark."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as f
from rich.console import Console
from rich.table import Table as TextTable

from hbstore import PartitionStore

SHOWN_CARRIERS: Final = 3


class Timed(NamedTuple):
    """A query's answer, and the seconds that it took."""

    answer: list[Row]
    seconds: float


@dataclass(frozen=True, slots=True)
class Questions:
    """Asks about flights, both ways.

    Attributes:
        spark: who reads files.
        store: who knows the partitions of demo.flights.
        root: the folder of all flights.
        tries: how often each query runs, the two in turns; the fastest run of each counts.
        console: where the answers are shown.
    """

    spark: SparkSession
    store: PartitionStore
    root: str
    tries: int
    console: Console

    def ask(self, title: str, text: str) -> bool:
        """Ask one filter both ways and show both; whether the answers are equal."""
        self.console.print()
        self.console.rule(f"[bold]{title}", align="left")
        self.console.print(str(self.store.explain("demo", "flights", text, analyze=True)), markup=False)

        selected, everything = [], []
        for _ in range(self.tries):
            selected.append(timed(lambda: self.over_selected_folders(text)))
            everything.append(timed(lambda: self.over_all_folders(text)))
        ours, theirs = (min(runs, key=lambda run: run.seconds) for runs in (selected, everything))
        equal = all(run.answer == ours.answer for run in (*selected, *everything))

        kept = self.store.count_partitions("demo", "flights", text)
        partitions = self.store.count_partitions("demo", "flights")
        self.console.print(f"\nkept    {kept:,} of {partitions:,} partitions")
        self.console.print(f"answer  {_summary(ours.answer)}\n")
        self.console.print(_comparison((kept, ours), (partitions, theirs), equal=equal))
        return equal

    def over_selected_folders(self, text: str) -> list[Row]:
        """The query over the folders that hbstore selects; asking hbstore is part of it."""
        locations = [str(one.location) for one in self.store.get_partitions_by_filter("demo", "flights", text)]
        if not locations:
            return []
        # basePath lets Spark find day and origin in the folders' names, although it is not given their root.
        return delays_by_carrier(self.spark.read.option("basePath", self.root).parquet(*locations), text)

    def over_all_folders(self, text: str) -> list[Row]:
        """The same query by Spark alone: it lists all folders, then leaves out what the filter does not select."""
        return delays_by_carrier(self.spark.read.parquet(self.root), text)


def delays_by_carrier(flights: DataFrame, text: str) -> list[Row]:
    """Flights and mean delay of each carrier, in the order of their codes."""
    delay = f.round(f.avg("dep_delay"), 2)
    grouped = flights.where(text).groupBy("carrier").agg(f.count("*").alias("flights"), delay.alias("delay"))
    return grouped.orderBy("carrier").collect()


def timed(query: Callable[[], list[Row]]) -> Timed:
    """Run a query, and measure it with its planning and its listing of folders."""
    started = time.perf_counter()
    answer = query()
    return Timed(answer, time.perf_counter() - started)


def _comparison(ours: tuple[int, Timed], theirs: tuple[int, Timed], *, equal: bool) -> TextTable:
    table = TextTable(box=None, padding=(0, 3, 0, 0))
    table.add_column("the Spark query over")
    for header in ("folders", "flights", "seconds"):
        table.add_column(header, justify="right")
    named = (("the folders that hbstore selects", ours), ("all folders, the filter left to Spark", theirs))
    for name, (folders, run) in named:
        counted = sum(row.flights for row in run.answer)
        table.add_row(name, f"{folders:,}", f"{counted:,}", f"{run.seconds:.3f}")
    gain = theirs[1].seconds / ours[1].seconds
    answers = "[green]equal answers[/]" if equal else "[bold red]DIFFERENT ANSWERS[/]"
    table.add_row(answers, "", "", f"{gain:.1f} times faster" if gain > 1 else "not faster")
    return table


def _summary(answer: list[Row]) -> str:
    busiest = sorted(answer, key=lambda row: -row.flights)[:SHOWN_CARRIERS]
    shown = "; ".join(f"{row.carrier} {row.flights:,} flights, {row.delay} min late" for row in busiest)
    return f"{len(answer)} carriers: {shown}{'; …' if len(answer) > SHOWN_CARRIERS else ''}"
