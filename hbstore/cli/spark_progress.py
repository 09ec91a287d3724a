"""Progress of Spark's jobs on stderr, where stderr is a terminal: a bar for the stage that runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from hbstore.cli.progress import bars

if TYPE_CHECKING:  # imported by the command that runs Spark
    from pyspark.sql import SparkSession

_EVERY: Final = 0.2
"""Seconds between two questions how far Spark is."""


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
    over = Event()
    watching = Thread(target=_watch, args=(spark, text, over), name="hbstore-progress", daemon=True)
    watching.start()
    try:
        yield
    finally:
        over.set()
        watching.join()


def _watch(spark: SparkSession, text: str, over: Event) -> None:
    tracker = spark.sparkContext.statusTracker()
    with bars() as show:
        show(text, 0, None)
        while not over.wait(_EVERY):
            stage = min(tracker.getActiveStageIds(), default=None)
            info = None if stage is None else tracker.getStageInfo(stage)
            if info is not None:
                show(f"{text}: stage {stage}, tasks", info.numCompletedTasks, info.numTasks)
