"""One filter asked twice: as SQL on the table, pruned by the metastore, and over all files without one."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from pyspark.sql import DataFrame, Row, SparkSession
from rich.console import Console
from rich.table import Table as TextTable

from endpoint import Endpoint
from hbstore.texts.wording import plural

SHOWN_CARRIERS: Final = 3
PRUNING_CALL: Final = "get_partitions_by_filter"


class Run(NamedTuple):
    """One run of a query: its answer, how long it took with planning and listing, how many folders were read."""

    answer: list[Row]
    seconds: float
    folders: int


@dataclass(frozen=True, slots=True)
class Questions:
    """Asks about flights, both ways.

    Attributes:
        spark: who runs the queries.
        endpoint: Spark's metastore.
        table: what is asked about.
        tries: how often each query runs, the two in turns; the fastest run of each counts.
        console: where the answers are shown.
    """

    spark: SparkSession
    endpoint: Endpoint
    table: str
    tries: int
    console: Console

    def ask(self, title: str, text: str) -> bool:
        """Ask one filter both ways and show both; whether the answers are equal."""
        self.console.print()
        self.console.rule(f"[bold]{title}", align="left")
        self.console.print(f"SELECT … FROM {self.table} WHERE {text}", markup=False)
        position = self.endpoint.position()
        pruned, everything = [self.on_the_table(text)], [self.without_metastore(text)]
        self._show_pruning(self.endpoint.calls_after(position), pruned[0])
        for _ in range(1, self.tries):
            pruned.append(self.on_the_table(text))
            everything.append(self.without_metastore(text))
        ours, theirs = (min(runs, key=lambda run: run.seconds) for runs in (pruned, everything))
        equal = all(run.answer == ours.answer for run in (*pruned, *everything))
        self.console.print(f"answer     {_summary(ours.answer)}\n")
        self.console.print(_comparison(ours, theirs, equal=equal))
        return equal

    def on_the_table(self, text: str) -> Run:
        """The query on the table: Spark asks its metastore which partitions to read."""
        self.spark.catalog.refreshTable(self.table)  # else Spark remembers the files that it listed the last time
        return _run(lambda: self._delays(self.table, text))

    def without_metastore(self, text: str) -> Run:
        """The same query on the same files: Spark lists all folders, then leaves out what is not selected."""
        return _run(lambda: self._delays(f"parquet.`{self._folder()}`", text))

    def _delays(self, source: str, text: str) -> DataFrame:
        """Flights and mean delay of each carrier, in the order of their codes."""
        return self.spark.sql(
            f"SELECT carrier, count(*) AS flights, round(avg(dep_delay), 2) AS delay FROM {source} WHERE {text}"
            " GROUP BY carrier ORDER BY carrier"
        )

    def _folder(self) -> str:
        database, name = self.table.split(".")
        return str(self.endpoint.warehouse / f"{database}.db" / name)

    def _show_pruning(self, calls: list[dict[str, Any]], run: Run) -> None:
        """What Spark asked and what hbstore did, from the server's own log."""
        for call in calls:
            if call["method"] == PRUNING_CALL:
                self.console.print(f"Spark asks {PRUNING_CALL}({self.table}, {call['filter']})", markup=False)
                for number, scan in enumerate(call["scans"], start=1):
                    self.console.print(f"  scan {number}   {scan}", markup=False)
                kept, rows, milliseconds = call["partitions"], call["rows_read"], call["seconds"] * 1000
                self.console.print(
                    f"  answer   {plural(kept, 'partition')}, {plural(rows, 'row')} read, {milliseconds:.2f} ms"
                )
        self.console.print(f"Spark reads {plural(run.folders, 'partition')}")


def _run(query: Callable[[], DataFrame]) -> Run:
    """Run a query, and measure it with its planning."""
    started = time.perf_counter()
    frame = query()
    answer = frame.collect()
    seconds = time.perf_counter() - started
    scan = frame._jdf.queryExecution().executedPlan().collectLeaves().apply(0)  # noqa: SLF001  no public way to it
    return Run(answer, seconds, scan.metrics().apply("numPartitions").value())


def _comparison(ours: Run, theirs: Run, *, equal: bool) -> TextTable:
    table = TextTable(box=None, padding=(0, 3, 0, 0))
    table.add_column("the same query")
    for header in ("flights", "seconds"):
        table.add_column(header, justify="right")
    for name, run in (("with hbstore as metastore", ours), ("without: Spark lists all folders", theirs)):
        table.add_row(name, f"{sum(row.flights for row in run.answer):,}", f"{run.seconds:.3f}")
    gain = theirs.seconds / ours.seconds
    answers = "[green]equal answers[/]" if equal else "[bold red]DIFFERENT ANSWERS[/]"
    table.add_row(answers, "", f"{gain:.1f} times faster" if gain > 1 else "not faster")
    return table


def _summary(answer: list[Row]) -> str:
    busiest = sorted(answer, key=lambda row: -row.flights)[:SHOWN_CARRIERS]
    shown = "; ".join(f"{row.carrier} {row.flights:,} flights, {row.delay} min late" for row in busiest)
    return f"{len(answer)} carriers: {shown}{'; …' if len(answer) > SHOWN_CARRIERS else ''}"
