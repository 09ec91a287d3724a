"""How far a statement is, as lines of a log and as the bar that beeline draws."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from hbstore.query_service.query import Query, QueryProgress, State

SHOWN_AFTER: Final = 1.0
"""Seconds that a statement runs before its progress is told."""

HEADERS: Final = ("STAGES", "ATTEMPT", "STATUS", "TOTAL", "COMPLETED", "RUNNING", "PENDING", "FAILED", "")
"""Of the bar. beeline needs nine."""


@dataclass(frozen=True, slots=True)
class ProgressBar:
    """A bar of progress.

    Attributes:
        rows: cells below `HEADERS`.
        part: how much is done, from 0 to 1.
        summary: what stands left of the bar.
        started: when the statement began, in milliseconds since 1970.
    """

    rows: tuple[tuple[str, ...], ...]
    part: float
    summary: str
    started: int


@dataclass(slots=True)
class StatementLog:
    """The log of a statement, as far as its client has it.

    Attributes:
        warnings: how many of the query's warnings the client has.
        progress: what it has last.
        began: whether it has the first line.
    """

    warnings: int = 0
    progress: QueryProgress = field(default_factory=QueryProgress)
    began: bool = False

    def lines(self, query: Query) -> list[str]:
        """The lines that are new, of a query as it is now."""
        new = [] if self.began else [f"query {query.id}"]
        new += query.warnings[self.warnings :]
        if query.progress != self.progress and _is_long(query):
            new.append(_summary(query.progress))
            self.progress = query.progress
        self.began, self.warnings = True, len(query.warnings)
        return new


def bar(query: Query) -> ProgressBar | None:
    """The bar of a query that runs; None of others, and at its beginning, as most are over soon."""
    if not _is_long(query) or query.started_at is None:
        return None
    progress = query.progress
    left = progress.tasks - progress.tasks_done
    cells = ("Spark", "0", "RUNNING", str(progress.tasks), str(progress.tasks_done), "", str(left), "0", "")
    part = progress.tasks_done / progress.tasks if progress.tasks else 0.0
    summary = f"STAGES: {progress.stages_done:02d}/{progress.stages:02d}"
    return ProgressBar((cells,), part, summary, int(query.started_at.timestamp() * 1000))


def _is_long(query: Query) -> bool:
    if query.state is not State.RUNNING or query.started_at is None:
        return False
    return (datetime.now(UTC) - query.started_at).total_seconds() >= SHOWN_AFTER


def _summary(progress: QueryProgress) -> str:
    return (
        f"stages {progress.stages_done} of {progress.stages}, tasks {progress.tasks_done} of {progress.tasks}, "
        f"{progress.rows:,} rows read"
    )
