"""The queries that one server runs: its queue, what it gives to Spark, and what Spark says of it.

    submit ──> the queue ──> Run to Spark ──> Started … Done, Failed, Cancelled ──> the store

The store holds the truth about each query. In memory are only the queue and the queries that run here, so that readers
see each progress at once.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from threading import Event, RLock
from typing import Final, Protocol

from hbstore.errors import (
    CommitStateUnknown,
    ConcurrentChange,
    FileOperationFailed,
    HbstoreError,
    SparkLost,
    StoreUnavailable,
)
from hbstore.query_service.changes import Changes
from hbstore.query_service.limits import Limits
from hbstore.query_service.messages import (
    Alive,
    Cancel,
    Cancelled,
    CloseSession,
    Done,
    Failed,
    FromSpark,
    Planned,
    Progressed,
    Ready,
    Run,
    Started,
)
from hbstore.query_service.observing import UNOBSERVED, QueryObserver, SparkState
from hbstore.query_service.query import Query, QueryProblem, QueryProgress, QueryResult, State
from hbstore.query_service.results import Results
from hbstore.query_service.stored_queries import StoredQueries, ended

_LOG: Final = logging.getLogger("hbstore.query_service")
_TOLD_EVERY: Final = 2.0
"""Seconds between two writes of a query's progress, which readers at other servers see."""

_AGAIN_AFTER: Final = 1.0
"""Seconds between two attempts to write what Spark said, while the store does not answer."""

STARTS: Final = 3
"""Attempts to start Spark, one after the other, that fail before those who wait are told so."""

_DIED: Final = "the Spark that ran the query died or did not answer any more"
_WAIT: Final = "Queries wait until it runs; the server's log says more"
_EXECUTOR: Final = SparkLost("Spark has no executor for the queries that run", hint="See whether its cluster has room")
_ANOTHER: Final = "Ask again; the server starts another Spark"
_NO_START: Final = "See why in the server's log; it needs Java 17, and a right --spark-master and --spark-conf"
_PASSING: Final = (StoreUnavailable, CommitStateUnknown, ConcurrentChange)
"""Errors of the store that may be gone at the next attempt."""


class Spark(Protocol):
    """Where statements run. What comes of them it says by calling `Runner.heard` and `Runner.lost`, in one thread."""

    def wake(self) -> None:
        """Start, as queries come, and say `Ready`."""

    def run(self, run: Run) -> None:
        """Run a statement."""

    def cancel(self, cancel: Cancel) -> None:
        """Cancel it."""

    def close_session(self, close: CloseSession) -> None:
        """Forget a session."""


@dataclass(slots=True)
class _Running:
    """A query that Spark runs.

    Attributes:
        query: as it is now, with its progress.
        began: when Spark got it, by the monotonic clock.
        told: when the store was last told its progress.
        reason: why it is being cancelled, where no user asked for that.
    """

    query: Query
    began: float
    told: float = 0.0
    reason: HbstoreError | None = None


@dataclass(slots=True)
class Runner:
    """The queries of one server that wait or run.

    Attributes:
        queries: those of the store.
        results: where the rows of results are.
        limits: what is allowed.
        clock: the time now.
        changes: what it says when a query changes.
        spark: where queries run; None: nowhere yet.
        observer: hears what happens to queries.
    """

    queries: StoredQueries
    results: Results
    limits: Limits
    clock: Callable[[], datetime]
    changes: Changes
    spark: Spark | None = None
    observer: QueryObserver = UNOBSERVED
    _lock: RLock = field(default_factory=RLock)
    _waiting: list[Query] = field(default_factory=list)
    _running: dict[str, _Running] = field(default_factory=dict)
    _coming: int = 0
    _state: SparkState = SparkState.ABSENT
    _failed_starts: int = 0
    _problem: HbstoreError | None = None
    _closed: Event = field(default_factory=Event)
    _left: set[str] = field(default_factory=set)

    @property
    def is_ready(self) -> bool:
        """Whether Spark takes queries now; otherwise they wait."""
        return self._state is SparkState.RUNNING

    @property
    def state(self) -> SparkState:
        """How Spark is now."""
        return self._state

    @property
    def problem(self) -> HbstoreError | None:
        """Why Spark did not start last; None: it did, or was not asked to."""
        return self._problem

    def take(self, create: Callable[[], tuple[Query, bool]]) -> Query:
        """Create a query, if one more may wait, and put it into the queue, if it is new.

        Raises:
            TooManyQueries: the queue is full.
        """
        with self._lock:
            self.limits.check_queue(len(self._waiting) + self._coming)
            self._coming += 1
        try:
            query, new = create()
            if new:
                with self._lock:
                    self._waiting.append(query)
                    self._tell_queue()
        finally:
            with self._lock:
                self._coming -= 1
        self._wake()
        self._dispatch()
        return query

    def find(self, id_: str) -> Query | None:
        """A query that runs here, as it is now; None: it does not."""
        with self._lock:
            found = self._running.get(id_)
            return None if found is None else found.query

    def under_way(self) -> list[Query]:
        """The queries that run or wait here, as they are now. O(of these)."""
        with self._lock:
            return [*(running.query for running in self._running.values()), *self._waiting]

    def cancel(self, id_: str, reason: HbstoreError | None = None) -> bool:
        """Cancel a query, if it waits or runs here; whether it does.

        Args:
            id_: which.
            reason: why, where no user asked for that; the query fails by it.
        """
        now = self.clock()
        with self._lock:
            waits = any(queued.id == id_ for queued in self._waiting)
            self._waiting = [queued for queued in self._waiting if queued.id != id_]
            self._tell_queue()
            running = self._running.get(id_)
            if running is not None:
                running.reason = running.reason or reason
                running.query = running.query.changed(cancel_requested=reason is None or running.query.cancel_requested)
        if waits and reason is not None:
            self._fail(id_, reason)
        elif waits:
            query = self.queries.change(id_, lambda stored: ended(stored, State.CANCELLED, now))
            self.observer.ended(query)
            self.changes.tell()
        elif running is not None:
            self.changes.tell()
            if self.spark is not None:
                self.spark.cancel(Cancel(id_))
        return waits or running is not None

    def close_session(self, id_: str) -> None:
        """Cancel the queries of a session that wait or run here, and have Spark forget it."""
        for query in self.under_way():
            if query.request.session is not None and query.request.session.id == id_:
                self.cancel(query.id)
        if self.spark is not None:
            self.spark.close_session(CloseSession(id_))

    def close(self) -> list[Query]:
        """Run no more queries; those that have not ended."""
        self._closed.set()
        with self._lock:
            left = [*self._waiting, *(one.query for one in self._running.values())]
            self._waiting.clear()
            self._running.clear()
            self._tell_queue()
        return left

    # What Spark says

    def heard(self, message: FromSpark) -> None:
        """Take what Spark says. While the store does not answer, nothing else of Spark's is taken."""
        self._surely(lambda: self._take(message))
        self._surely(self._dispatch)

    def lost(self, reason: HbstoreError | None = None) -> None:
        """Take it that Spark died, or did not start; it says `Ready` when another has started.

        Args:
            reason: why it cannot start; those who wait fail by it. None: another attempt may succeed.
        """
        self._failed_starts = 0 if self.is_ready else self._failed_starts + 1
        if self._state is not SparkState.FAILED:  # one that was ready is started again without being asked
            self._spark_is(SparkState.STARTING if self.is_ready else SparkState.ABSENT)
        if reason is None:
            self.observer.spark_lost()
        if self._failed_starts == 0:
            self._problem = SparkLost("Spark died or did not answer, and is started again", hint=_WAIT)
        with self._lock:
            ids = list(self._running)
        for id_ in ids:
            self._surely(partial(self._fail, id_, SparkLost(_DIED, query=id_, hint=_ANOTHER)))
        if reason is None and self._failed_starts >= STARTS:
            reason = SparkLost("Spark does not start", hint=_NO_START)
        if reason is not None:
            self._problem = reason
            self._failed_starts = 0
            self._spark_is(SparkState.FAILED)
            self._fail_those_who_wait(reason)
        with self._lock:
            others_wait = bool(self._waiting)
        if others_wait:
            self._wake()

    def _spark_is(self, state: SparkState) -> None:
        self._state = state
        self.observer.spark(state)

    def _wake(self) -> None:
        """Start Spark, unless it runs or starts."""
        if self.spark is not None:
            if self._state is SparkState.ABSENT:
                self._spark_is(SparkState.STARTING)
            self.spark.wake()

    def _fail_those_who_wait(self, error: HbstoreError) -> None:
        with self._lock:
            ids = {one.id for one in self._waiting}
        for id_ in ids:
            self._surely(partial(self._fail, id_, error))
        with self._lock:
            self._waiting = [one for one in self._waiting if one.id not in ids]
            self._tell_queue()

    def _take(self, message: FromSpark) -> None:
        now = self.clock()
        match message:
            case Ready():
                self._problem = None
                self._spark_is(SparkState.RUNNING)
            case Alive(has_executor):
                self._problem = None if has_executor else _EXECUTOR
            case Started(id_):
                self._store(id_, lambda query: query.changed(state=State.RUNNING, started_at=now))
            case Planned(id_, plan, warnings):
                self._store(id_, lambda query: query.changed(plan=plan, warnings=warnings))
            case Progressed(id_, progress):
                self._show(id_, lambda query: query.changed(progress=progress))
            case Done(id_, result, notes):
                self._succeed(id_, result, notes)
            case Failed(id_, problem):
                self._end(id_, lambda query: ended(query, State.FAILED, now, problem=problem))
            case Cancelled(id_):
                self._cancelled(id_, now)

    def _cancelled(self, id_: str, now: datetime) -> None:
        with self._lock:
            running = self._running.get(id_)
        if running is not None and running.reason is not None:
            self._fail(id_, running.reason)
        else:
            self._end(id_, lambda query: ended(query, State.CANCELLED, now))

    def _surely(self, step: Callable[[], None]) -> None:
        """Do a step, again and again while the store does not answer; each step may be repeated."""
        while True:
            try:
                step()
            except _PASSING as error:
                _LOG.warning("what Spark said is not written yet", extra={"fields": {"error": str(error)}})
                if self._closed.wait(_AGAIN_AFTER):
                    return
            else:
                return

    # The queue

    def _dispatch(self) -> None:
        """Give Spark the queries that may run now."""
        while True:
            with self._lock:
                if not self.is_ready or self._closed.is_set():
                    return
                at = self.limits.next_of(
                    [one.request.user for one in self._waiting],
                    [one.query.request.user for one in self._running.values()],
                )
                if at is None:
                    return
                query = self._waiting.pop(at)
                self._running[query.id] = _Running(query, time.monotonic())
                self._tell_queue()
            assert self.spark is not None  # as it said that it is ready
            self.spark.run(Run(query.id, query.request, self.results.location(query.id)))

    def _tell_queue(self) -> None:
        """Tell how many wait and run, in the order of the changes: the lock is held."""
        self.observer.queue(len(self._waiting), len(self._running))

    # Queries that run

    def watch(self) -> None:
        """End what runs too long or writes too much; write progress; cancel what was cancelled at another server."""
        with self._lock:
            all_ = [replace(running) for running in self._running.values()]
            waiting = [queued.id for queued in self._waiting]
        for running in all_:
            id_, now = running.query.id, time.monotonic()
            reason = self.limits.passed(timedelta(seconds=now - running.began), self.results.size(id_))
            if reason is not None and running.reason is None:
                self.cancel(id_, reason)
            elif now - running.told >= _TOLD_EVERY:
                self._write_progress(id_, running.query.progress)
        for id_ in [*waiting, *(running.query.id for running in all_)]:
            query = self.queries.find(id_)
            if query is not None and query.cancel_requested and not query.state.is_final:
                self.cancel(id_)

    def _write_progress(self, id_: str, progress: QueryProgress) -> None:
        self._store(id_, lambda one: one.changed(progress=progress))

    def _store(self, id_: str, step: Callable[[Query], Query]) -> None:
        """Change a query in the store and here."""
        stored = self.queries.change(id_, step)
        # A cancel may have come since the store was read: what is seen here once stays seen.
        self._show(
            id_,
            lambda one: stored.changed(
                progress=one.progress, cancel_requested=one.cancel_requested or stored.cancel_requested
            ),
            written=True,
        )

    def _show(self, id_: str, step: Callable[[Query], Query], *, written: bool = False) -> None:
        """Change a query here; `watch` writes it into the store."""
        with self._lock:
            running = self._running.get(id_)
            if running is None:
                return
            running.query = step(running.query)
            running.told = time.monotonic() if written else running.told
        self.changes.tell()

    def _succeed(self, id_: str, result: QueryResult, notes: tuple[str, ...]) -> None:
        over = self.limits.passed(timedelta(), result.size)
        if over is not None:
            self._fail(id_, over)
            return
        now = self.clock()
        until = now + self.limits.keep_results

        def succeeded(one: Query) -> Query:
            warnings = (*one.warnings, *notes)
            return ended(one, State.SUCCEEDED, now, result=result, expires_at=until, warnings=warnings)

        self._end(id_, succeeded)

    def _fail(self, id_: str, error: HbstoreError) -> None:
        now, problem = self.clock(), QueryProblem.of(error)
        self._end(id_, lambda one: ended(one, State.FAILED, now, problem=problem))

    def _end(self, id_: str, step: Callable[[Query], Query]) -> None:
        """Change a query to what it ended as; without a result, its files go."""
        shown = self.find(id_)
        progress = None if shown is None else shown.progress
        query = self.queries.change(id_, lambda one: step(one if progress is None else one.changed(progress=progress)))
        self.observer.ended(query)  # before anybody sees it here
        with self._lock:
            self._running.pop(id_, None)
            self._tell_queue()
        self.changes.tell()
        if query.state is not State.SUCCEEDED:
            self.remove(id_)

    # Files

    def remove(self, id_: str) -> None:
        """Remove what there is of a result; where Spark still writes, `remove_what_is_left` tries again."""
        try:
            self.results.remove(id_)
        except FileOperationFailed:
            self._left.add(id_)
        else:
            self._left.discard(id_)

    def remove_what_is_left(self) -> None:
        """Remove the files that could not be removed before."""
        for id_ in list(self._left):
            self.remove(id_)
