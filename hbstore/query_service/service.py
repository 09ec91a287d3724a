"""The query service: takes queries, lets Spark run them in turn, and keeps their results for a while.

    submit ──> the store: queued ──> the queue ──> Run to Spark ──> Started … Done, Failed, Cancelled ──> the store

The store holds the truth about each query. In memory are only the queue and the queries that run here, so that readers
see each progress at once. A keeper thread renews the lease of this server, ends what runs too long or writes too
much, cancels what was cancelled at another server, and removes results when their time is over.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Condition, Event, Thread
from typing import Final, Protocol

import pyarrow as pa

from hbstore.cubes.cubes import Cubes
from hbstore.cubes.query.options import QueryOptions
from hbstore.cubes.query.rewriting import Rewritten
from hbstore.errors import (
    FileOperationFailed,
    HbstoreError,
    QueryLost,
    QueryNotFinished,
    ResultExpired,
    SparkLost,
    TooManyQueries,
)
from hbstore.query_service.limits import Limits
from hbstore.query_service.messages import (
    Cancel,
    Cancelled,
    Done,
    Failed,
    FromSpark,
    Planned,
    Progressed,
    Ready,
    Run,
    Started,
)
from hbstore.query_service.positions import FIRST, Position
from hbstore.query_service.query import Problem, Progress, Query, Request, State
from hbstore.query_service.results import Results
from hbstore.query_service.servers import RENEWED_EVERY, Servers
from hbstore.query_service.stored_queries import StoredQueries, ended
from hbstore.store.partition_store import PartitionStore

_LOG: Final = logging.getLogger("hbstore.query_service")
_TICK: Final = 0.5
"""Seconds between two looks of the keeper."""

_TOLD_EVERY: Final = 2.0
"""Seconds between two writes of a query's progress, which readers at other servers see."""

_SWEPT_EVERY: Final = 30.0
"""Seconds between two looks for results whose time is over, and for queries of dead servers."""

_AGAIN: Final = "Ask again; the server starts another Spark"


class Spark(Protocol):
    """Where statements run. What comes of them it says by calling `QueryService.heard` and `QueryService.lost`."""

    def run(self, run: Run) -> None:
        """Run a statement."""

    def cancel(self, cancel: Cancel) -> None:
        """Cancel it."""


@dataclass(slots=True)
class _Running:
    """A query that Spark runs for this server.

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
class QueryService:
    """The queries of a store, some of which this server runs.

    Attributes:
        store: where cubes and the queries themselves are.
        results: where the rows of results are.
        servers: this server among those of the store.
        limits: what is allowed.
        clock: the time now.
    """

    store: PartitionStore
    results: Results
    servers: Servers
    limits: Limits = field(default_factory=Limits)
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    _queries: StoredQueries = field(init=False)
    _spark: Spark | None = None
    _changed: Condition = field(default_factory=Condition)
    _waiting: list[Query] = field(default_factory=list)
    _coming: int = 0
    _running: dict[str, _Running] = field(default_factory=dict)
    _ready: bool = False
    _left: set[str] = field(default_factory=set)
    _closed: Event = field(default_factory=Event)
    _keeper: Thread | None = None

    def __post_init__(self) -> None:
        self._queries = StoredQueries(self.store.records)

    def open(self, spark: Spark) -> None:
        """Begin to take queries, which this Spark runs as soon as it says that it is ready."""
        self._spark = spark
        self.servers.enter()
        self._keeper = Thread(target=self._keep, name="hbstore-query-keeper", daemon=True)
        self._keeper.start()

    def close(self) -> None:
        """Take no more queries; those that have not ended are lost."""
        self._closed.set()
        if self._keeper is not None:
            self._keeper.join()
        with self._changed:
            left = [*self._waiting, *(one.query for one in self._running.values())]
            self._waiting.clear()
            self._running.clear()
        for query in left:
            self._lose(query, "the server was stopped before the query had run")
        self.servers.leave()

    @property
    def is_ready(self) -> bool:
        """Whether Spark takes queries now; otherwise they wait."""
        return self._ready

    # What users ask

    def submit(self, request: Request, *, key: str | None = None) -> Query:
        """Take a query.

        Args:
            request: what is asked.
            key: an idempotency key: two requests of a user with one key are one query.

        Raises:
            TooManyQueries: the queue is full, or the server is about to stop.
            InvalidInput: the key is that of another request, or an option is none.
        """
        QueryOptions.of(request.options)
        with self._changed:
            if self._closed.is_set():
                raise TooManyQueries("the server is about to stop", hint="Ask again when it runs again")
            self.limits.check_queue(len(self._waiting) + self._coming)
            self._coming += 1
        try:
            query, new = self._queries.create(request, self.servers.id, self.clock(), key)
        finally:
            with self._changed:
                self._coming -= 1
        if new:
            with self._changed:
                self._waiting.append(query)
            self._dispatch()
        return query

    def get(self, id_: str) -> Query:
        """A query as it is now. One read, where this server does not run it.

        Raises:
            QueryNotFound: there is none of that id.
        """
        with self._changed:
            if id_ in self._running:
                return self._running[id_].query
        return self._seen(self._queries.get(id_))

    def wait(self, id_: str, seconds: float, beyond: Query | None = None) -> Query:
        """A query when it has ended, or the time is over; or when it is no more as it was.

        Args:
            id_: which.
            seconds: how long to wait at most.
            beyond: as it was.

        Raises:
            QueryNotFound: there is none of that id.
        """
        until = time.monotonic() + seconds
        while True:
            with self._changed:
                query = self.get(id_)
                left = until - time.monotonic()
                if query.state.is_final or left <= 0 or (beyond is not None and query != beyond):
                    return query
                self._changed.wait(min(left, _TICK))

    def cancel(self, id_: str) -> Query:
        """Cancel a query; one that has ended stays as it is.

        Raises:
            QueryNotFound: there is none of that id.
        """
        asked = self._queries.change(id_, lambda one: one if one.state.is_final else one.changed(cancel_requested=True))
        self._cancel_own(id_)
        return self._seen(self._queries.get(id_)) if asked.server != self.servers.id else self.get(id_)

    def list(
        self,
        *,
        user: str | None = None,
        states: Sequence[State] = (),
        before: str | None = None,
        limit: int = 100,
    ) -> Sequence[Query]:
        """Queries, the newest first.

        Args:
            user: whose; None: everybody's.
            states: in which states; none: in any.
            before: only those that were submitted before the query of this id.
            limit: how many at most.
        """
        found: list[Query] = []
        for query in self._queries.all(before):
            if len(found) >= limit:
                break
            seen = self._seen(query)
            if (user is None or seen.request.user == user) and (not states or seen.state in states):
                found.append(seen)
        return found

    def fetch(
        self, id_: str, *, page: str | None = None, rows: int | None = None
    ) -> tuple[Query, Iterator[tuple[pa.RecordBatch, Position | None]]]:
        """A query that has succeeded, and its rows as `Results.batches` gives them.

        Args:
            id_: which.
            page: the token of the first row; None: from the beginning.
            rows: how many rows at most; None: all.

        Raises:
            QueryNotFound: there is none of that id.
            QueryNotFinished: it has not ended, or ended without a result.
            ResultExpired: its result was removed.
            InvalidInput: the token is none of this result.
        """
        query = self.get(id_)
        if query.state is State.EXPIRED:
            raise ResultExpired("the result is no longer there", query=id_, hint="Ask the query again")
        if query.result is None:
            raise QueryNotFinished(
                "the query has no result", query=id_, state=query.state, hint="Its state says why, or when to ask again"
            )
        start = FIRST if page is None else Position.of_token(page, id_)
        return query, self.results.batches(id_, start=start, rows=rows) if query.result.columns else iter(())

    def explain(self, request: Request) -> Rewritten:
        """What a cube query would read and why, and the Spark SQL that it becomes. Needs no Spark.

        Raises:
            CubeQueryError, NoCandidate: as `Cubes.rewrite`.
        """
        options = QueryOptions.of(request.options)
        cubes = Cubes(self.store, request.database)
        return cubes.rewrite(request.text, now=request.now, partial=request.partial, options=options)

    # What Spark says

    def heard(self, message: FromSpark) -> None:
        """Take what Spark says."""
        now = self.clock()
        match message:
            case Ready():
                self._ready = True
            case Started(id_):
                self._store(id_, lambda one: one.changed(state=State.RUNNING, started_at=now))
            case Planned(id_, plan, warnings):
                self._store(id_, lambda one: one.changed(plan=plan, warnings=warnings))
            case Progressed(id_, progress):
                self._progress(id_, lambda one: one.changed(progress=progress))
            case Done(id_, result):
                over = self.limits.passed(timedelta(), result.size)
                if over is None:
                    until = now + self.limits.keep_results
                    self._end(id_, lambda one: ended(one, State.SUCCEEDED, now, result=result, expires_at=until))
                else:
                    self._fail(id_, over)
            case Failed(id_, problem):
                self._end(id_, lambda one: ended(one, State.FAILED, now, problem=problem))
            case Cancelled(id_):
                with self._changed:
                    running = self._running.get(id_)
                if running is not None and running.reason is not None:
                    self._fail(id_, running.reason)
                else:
                    self._end(id_, lambda one: ended(one, State.CANCELLED, now))
        self._dispatch()

    def lost(self) -> None:
        """Take it that Spark died; it says `Ready` when another has started."""
        self._ready = False
        with self._changed:
            ids = list(self._running)
        for id_ in ids:
            self._fail(id_, SparkLost("the Spark that ran the query died", query=id_, hint=_AGAIN))

    # The queue

    def _dispatch(self) -> None:
        """Give Spark the queries that may run now."""
        while True:
            with self._changed:
                if not self._ready or self._closed.is_set():
                    return
                at = self.limits.next_of(
                    [one.request.user for one in self._waiting],
                    [one.query.request.user for one in self._running.values()],
                )
                if at is None:
                    return
                query = self._waiting.pop(at)
                self._running[query.id] = _Running(query, time.monotonic())
            assert self._spark is not None  # as it said that it is ready
            self._spark.run(Run(query.id, query.request, self.results.location(query.id)))

    def _cancel_own(self, id_: str, reason: HbstoreError | None = None) -> None:
        """Cancel a query of this server, if it has not ended."""
        now = self.clock()
        with self._changed:
            waits = any(one.id == id_ for one in self._waiting)
            self._waiting = [one for one in self._waiting if one.id != id_]
            running = self._running.get(id_)
            if running is not None:
                running.reason = running.reason or reason
        if waits:
            self._queries.change(id_, lambda one: ended(one, State.CANCELLED, now))
            self._tell()
        elif running is not None and self._spark is not None:
            self._spark.cancel(Cancel(id_))

    # Queries that run here

    def _store(self, id_: str, step: Callable[[Query], Query]) -> None:
        """Change a query in the store and here."""
        stored = self._queries.change(id_, step)
        self._progress(id_, lambda one: stored.changed(progress=one.progress), told=True)

    def _progress(self, id_: str, step: Callable[[Query], Query], *, told: bool = False) -> None:
        """Change a query here; the keeper tells the store."""
        with self._changed:
            running = self._running.get(id_)
            if running is not None:
                running.query = step(running.query)
                running.told = time.monotonic() if told else running.told
                self._changed.notify_all()

    def _end(self, id_: str, step: Callable[[Query], Query]) -> None:
        """Change a query to what it ended as; without a result, its files go."""
        with self._changed:
            running = self._running.get(id_)
        progress = None if running is None else running.query.progress
        query = self._queries.change(id_, lambda one: step(one if progress is None else one.changed(progress=progress)))
        with self._changed:
            self._running.pop(id_, None)
            self._changed.notify_all()
        if query.state is not State.SUCCEEDED:
            self._remove(id_)

    def _fail(self, id_: str, error: HbstoreError) -> None:
        now, problem = self.clock(), Problem.of(error)
        self._end(id_, lambda one: ended(one, State.FAILED, now, problem=problem))

    def _tell(self) -> None:
        with self._changed:
            self._changed.notify_all()

    # Queries of other servers

    def _seen(self, query: Query) -> Query:
        """A query as the store has it; one that its server lost is said to have failed, from now on for all readers."""
        if query.state.is_final or self.servers.is_alive(query.server):
            return query
        return self._lose(query, "the server that took the query died before it had run")

    def _lose(self, query: Query, text: str) -> Query:
        now, problem = self.clock(), Problem.of(QueryLost(text, query=query.id, hint="Ask again"))
        lost = self._queries.change(query.id, lambda one: ended(one, State.FAILED, now, problem=problem))
        if lost.problem == problem:
            self._remove(query.id)
        return lost

    def _remove(self, id_: str) -> None:
        """Remove what there is of a result; where Spark still writes, the keeper tries again."""
        try:
            self.results.remove(id_)
        except FileOperationFailed:
            self._left.add(id_)
        else:
            self._left.discard(id_)

    # The keeper

    def _keep(self) -> None:
        renewed = swept = 0.0
        while not self._closed.wait(_TICK):
            now = time.monotonic()
            try:
                if now - renewed >= RENEWED_EVERY:
                    self.servers.renew()
                    renewed = now
                self._watch()
                if now - swept >= _SWEPT_EVERY:
                    self._sweep()
                    swept = now
            except HbstoreError as error:  # the store does not answer, and may do so later
                _LOG.warning("the keeper of queries failed", extra={"fields": {"error": str(error)}})

    def _watch(self) -> None:
        """Look after the queries that run here."""
        with self._changed:
            all_ = [replace(one) for one in self._running.values()]
        for one in all_:
            id_, now = one.query.id, time.monotonic()
            reason = self.limits.passed(timedelta(seconds=now - one.began), self.results.size(id_))
            if reason is not None:
                if one.reason is None:
                    self._cancel_own(id_, reason)
            elif now - one.told >= _TOLD_EVERY:
                progress = one.query.progress
                self._store(id_, partial(_with_progress, progress=progress))
        for query in self._own_in_store(all_):
            if query.cancel_requested:
                self._cancel_own(query.id)

    def _own_in_store(self, running: Sequence[_Running]) -> Iterator[Query]:
        """The queries of this server that have not ended, as the store has them."""
        with self._changed:
            ids = [one.id for one in self._waiting] + [one.query.id for one in running]
        for id_ in ids:
            query = self._queries.find(id_)
            if query is not None and not query.state.is_final:
                yield query

    def _sweep(self) -> None:
        """Remove results whose time is over, and forget queries twice that long; see which queries were lost."""
        now = self.clock()
        for id_ in list(self._left):
            self._remove(id_)
        for query in self._queries.all():
            seen = self._seen(query)
            if seen.state is State.SUCCEEDED and seen.expires_at is not None and seen.expires_at <= now:
                self._remove(seen.id)
                self._queries.change(seen.id, lambda one: one.changed(state=State.EXPIRED))
            elif seen.ended_at is not None and seen.ended_at + 2 * self.limits.keep_results <= now:
                self._queries.drop(seen.id)


def _with_progress(query: Query, progress: Progress) -> Query:
    return query.changed(progress=progress)
