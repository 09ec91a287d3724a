"""How far Spark is with the jobs of a group."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from hbstore.query_service.query import QueryProgress

_SETTLING: Final = 1_000
"""Milliseconds."""


@dataclass(slots=True)
class Tracking:
    """Asks Spark about a group of jobs. What has ended is remembered, as Spark forgets it before long.

    Attributes:
        spark: the session.
        group: the group's id.
    """

    spark: SparkSession
    group: str
    _jobs: dict[int, QueryProgress] = field(default_factory=dict)
    _rows: dict[int, int] = field(default_factory=dict)
    _ended_jobs: set[int] = field(default_factory=set)
    _ended_stages: set[int] = field(default_factory=set)

    def settle(self) -> None:
        """Wait until Spark has counted what its jobs did, which it does after they have ended; a second at most."""
        if self.spark.sparkContext.statusTracker().getJobIdsForGroup(self.group):
            bus: Any = self.spark.sparkContext._jsc.sc().listenerBus()  # noqa: SLF001  nothing public waits for it
            with suppress(Py4JJavaError):  # it has too much to hear: what is known then is shown
                bus.waitUntilEmpty(_SETTLING)

    def look(self) -> QueryProgress:
        """How far Spark is now. O(jobs and stages that have not ended)."""
        context = self.spark.sparkContext
        status: Any = context._jsc.sc().statusStore()  # noqa: SLF001  the public tracker knows no rows
        for job in context.statusTracker().getJobIdsForGroup(self.group):
            if job not in self._ended_jobs:
                self._look_at(status, job)
        jobs = self._jobs.values()
        return QueryProgress(
            stages=sum(one.stages for one in jobs),
            stages_done=sum(one.stages_done for one in jobs),
            tasks=sum(one.tasks for one in jobs),
            tasks_done=sum(one.tasks_done for one in jobs),
            rows=sum(self._rows.values()),
        )

    def _look_at(self, status: Any, number: int) -> None:
        try:
            job = status.job(number)
        except Py4JJavaError:  # it has just begun
            return
        stages = job.stageIds()
        for place in range(stages.size()):
            stage = stages.apply(place)
            if stage not in self._ended_stages:
                self._look_at_stage(status, stage)
        self._jobs[number] = QueryProgress(
            stages=stages.size() - job.numSkippedStages(),
            stages_done=job.numCompletedStages(),
            tasks=job.numTasks() - job.numSkippedTasks(),
            tasks_done=job.numCompletedTasks(),
        )
        if job.status().toString() in {"SUCCEEDED", "FAILED"}:
            self._ended_jobs.add(number)

    def _look_at_stage(self, status: Any, number: int) -> None:
        try:
            stage = status.lastStageAttempt(number)
        except Py4JJavaError:  # it has not begun
            return
        self._rows[number] = stage.inputRecords()
        if stage.status().toString() in {"COMPLETE", "SKIPPED"}:
            self._ended_stages.add(number)
