"""Progress on stderr, where stderr is a terminal: bars of what a command counts, and of the stages of Spark's jobs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Final

from hbstore.servers.threads import beside

if TYPE_CHECKING:  # imported by the command that runs Spark
    from pyspark.sql import SparkSession

_EVERY: Final = 0.1
"""Seconds between two looks of the bar: rich takes some microseconds for each, rows pass faster."""

_ASKED_EVERY: Final = 0.2
"""Seconds between two questions how far Spark is."""


@contextmanager
def progress(text: str, total: int | None, *, in_bytes: bool = False) -> Iterator[Callable[[int], None]]:
    """A progress bar; call what it yields with how much is done so far.

    Args:
        text: what is being done.
        total: of how much; None if nobody knows.
        in_bytes: whether both are bytes.
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    amount = DownloadColumn() if in_bytes else MofNCompleteColumn()
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), amount, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(text, total=total)
        shown = 0.0

        def show(done: int) -> None:
            nonlocal shown
            now = time.monotonic()
            if now - shown >= _EVERY:
                shown = now
                bar.update(task, completed=done)

        yield show


@contextmanager
def bars() -> Iterator[Callable[[str, int, int | None], None]]:
    """Progress bars, one after the other; call what it yields with what is being done, how much so far, of how much."""
    with ExitStack() as bar:
        shown: dict[str, Callable[[int], None]] = {}

        def show(text: str, done: int, total: int | None) -> None:
            if text not in shown:
                bar.close()
                shown.clear()
                shown[text] = bar.enter_context(progress(text, total))
            shown[text](done)

        yield show


@contextmanager
def stages(spark: SparkSession, text: str) -> Iterator[None]:
    """Inside, a bar shows how many tasks of Spark's first active stage are done.

    Args:
        spark: the session whose jobs run inside.
        text: what is being done.
    """
    if not sys.stderr.isatty():
        yield
        return
    with beside(partial(_watch, spark, text), "progress"):
        yield


def _watch(spark: SparkSession, text: str, over: Event) -> None:
    tracker = spark.sparkContext.statusTracker()
    with bars() as show:
        show(text, 0, None)
        while not over.wait(_ASKED_EVERY):
            stage = min(tracker.getActiveStageIds(), default=None)
            info = None if stage is None else tracker.getStageInfo(stage)
            if info is not None:
                show(f"{text}: stage {stage}, tasks", info.numCompletedTasks, info.numTasks)
