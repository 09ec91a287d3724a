"""Whether Spark still does its work: that its Java is there is no sign of it.

A Java may be stopped or hang, so that no call returns. Its Spark may have been ended from outside, as a cluster does
with an application. On one machine the executor is a part of Java, and its threads may be dead alone; Spark offers it
tasks for ever then. On a cluster there may be no executor, for as long as there is no room for one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from pyspark.sql import SparkSession

EVERY: Final = 2.0
"""Seconds between two looks."""

_SURE: Final = 10
"""Looks in a row that see no executor: one that starts, or changes its threads, is not lost."""

_WORKERS: Final = "Executor task launch worker"
"""What the names of threads begin with that run tasks."""


class Pulse(StrEnum):
    """How Spark is."""

    WELL = "well"
    NO_EXECUTOR = "no executor"
    """Stages wait, and a cluster gives no executor."""
    EXECUTOR_DEAD = "the executor is dead"
    STOPPED = "Spark was stopped"


@dataclass(slots=True)
class PulseTaker:
    """Looks again and again.

    Attributes:
        spark: the session.
    """

    spark: SparkSession
    _without: int = 0

    def look(self, groups: Iterable[str]) -> Pulse:
        """How Spark is now. It does not return while Java does not answer.

        Args:
            groups: of jobs, of the queries that run and are not to end. Stages of others are no sign: Spark counts some
                that were cancelled among those that run, for good.
        """
        context = self.spark.sparkContext
        scala: Any = context._jsc.sc()  # noqa: SLF001  there is no public way to it
        if scala.isStopped():
            return Pulse.STOPPED
        is_local = scala.isLocal()
        waits = any(map(self._runs, groups))
        self._without = self._without + 1 if waits and not self._has_executor(scala, is_local=is_local) else 0
        if self._without < _SURE:
            return Pulse.WELL
        return Pulse.EXECUTOR_DEAD if is_local else Pulse.NO_EXECUTOR

    def _runs(self, group: str) -> bool:
        """Whether a job of a group runs."""
        tracker = self.spark.sparkContext.statusTracker()
        jobs = map(tracker.getJobInfo, tracker.getJobIdsForGroup(group))
        return any(job is not None and job.status == "RUNNING" for job in jobs)

    def _has_executor(self, scala: Any, *, is_local: bool) -> bool:
        if is_local:
            jvm: Any = self.spark._jvm  # noqa: SLF001
            return _WORKERS in str(jvm.java.lang.Thread.getAllStackTraces().keySet())
        return int(scala.getExecutorMemoryStatus().size()) > 1  # one is the driver
