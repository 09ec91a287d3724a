"""Timing: hbstore and its reference in turn, and a table of both."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median

from rich.console import Console
from rich.table import Table

WARM_UP = 5
"""Runs before those that count."""


@dataclass
class Figure:
    """One line of the table; times are medians in seconds, rates are per second."""

    name: str
    ours: float
    reference: float | None
    target: str
    note: str = ""
    rate: bool = False


@dataclass
class Report:
    """A table of figures."""

    title: str
    figures: list[Figure] = field(default_factory=list)
    headings: tuple[str, str] = ("hbstore", "raw")

    def compare(
        self,
        name: str,
        ours: Callable[[int], object],
        reference: Callable[[int], object] | None = None,
        *,
        target: str,
        runs: int = 200,
        rows: int | None = None,
        note: str = "",
    ) -> None:
        """Time both in turn, A B A B …, so that a change of the machine's speed meets both alike.

        With ``rows``, which a run reads or writes, the figures are rows a second.
        """
        for run in range(min(WARM_UP, runs)):
            ours(run)
            if reference is not None:
                reference(run)
        gc.collect()
        times: list[float] = []
        reference_times: list[float] = []
        for run in range(runs):
            times.append(seconds(ours, run))
            if reference is not None:
                reference_times.append(seconds(reference, run))
        took, reference_took = median(times), median(reference_times) if reference_times else None
        if rows is None:
            self.figures.append(Figure(name, took, reference_took, target, note))
        else:
            self.rate(name, rows / took, rows / reference_took if reference_took else None, target=target, note=note)

    def rate(self, name: str, ours: float, reference: float | None, *, target: str, note: str = "") -> None:
        """A number per second."""
        self.figures.append(Figure(name, ours, reference, target, note, rate=True))

    def show(self, console: Console) -> None:
        """Print it."""
        table = Table("figure", title=self.title, title_justify="left")
        for heading in (*self.headings, " : ".join(self.headings)):
            table.add_column(heading, justify="right")
        table.add_column("aim")
        table.add_column("note")
        for one in self.figures:
            shown = _rate if one.rate else _time
            reference = "" if one.reference is None else shown(one.reference)
            ratio = "" if one.reference is None else f"{one.ours / one.reference:.2f}"
            table.add_row(one.name, shown(one.ours), reference, ratio, one.target, one.note)
        console.print(table)


def seconds(call: Callable[..., object], *given: object) -> float:
    """How long a call takes."""
    began = time.perf_counter()
    call(*given)
    return time.perf_counter() - began


def _time(took: float) -> str:
    return f"{took * 1e6:,.1f} µs" if took < 1e-3 else f"{took * 1e3:,.2f} ms"


def _rate(number: float) -> str:
    return f"{number:,.0f} /s"
