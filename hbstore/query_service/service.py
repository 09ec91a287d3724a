"""The query service: queries of users, which the servers of a store run by Spark, and their results.

What a server runs itself is with its `Runner`. A keeper thread renews the lease of this server, looks after the queries
that run, says which queries dead servers lost, and removes results when their time is over.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import InitVar, dataclass, field
from datetime import UTC, datetime
from threading import Event, Thread
from typing import Final

import pyarrow as pa

from hbstore.cubes.cubes import Cubes
from hbstore.cubes.query.options import QueryOptions
from hbstore.cubes.query.rewriting import Rewritten
from hbstore.errors import HbstoreError, QueryLost, QueryNotFinished, ResultExpired, TooManyQueries
from hbstore.query_service.changes import Changes
from hbstore.query_service.limits import Limits
from hbstore.query_service.observing import UNOBSERVED, QueryObserver
from hbstore.query_service.page_tokens import FIRST, Position
from hbstore.query_service.query import Query, QueryProblem, Request, State
from hbstore.query_service.results import Results
from hbstore.query_service.runner import Runner, Spark
from hbstore.query_service.servers import RENEWED_EVERY, Servers
from hbstore.query_service.stored_queries import StoredQueries, ended
from hbstore.store.partition_store import PartitionStore

_LOG: Final = logging.getLogger("hbstore.query_service")
_LOOKED_EVERY: Final = 0.5
"""Seconds between two looks of a thread that waits for a query which another server may run."""

_SWEPT_EVERY: Final = 30.0
"""Seconds between two looks for results whose time is over, and for queries of dead servers."""


@dataclass(slots=True)
class QueryService:
    """The queries of a store, some of which this server runs.

    Attributes:
        store: where cubes and the queries themselves are.
        results: where the rows of results are.
        servers: this server among those of the store.
        limits: what is allowed.
        clock: the time now.
        changes: says when a query of this server changes.
        observer: hears what happens to queries.
        runner: the queries that wait and run here; Spark tells it what comes of them.
    """

    store: PartitionStore
    results: Results
    servers: Servers
    limits: InitVar[Limits]
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    changes: Changes = field(default_factory=Changes)
    observer: QueryObserver = UNOBSERVED
    runner: Runner = field(init=False)
    _released: deque[str] = field(default_factory=deque)
    _closed: Event = field(default_factory=Event)
    _keeper: Thread | None = None

    def __post_init__(self, limits: Limits) -> None:
        queries = StoredQueries(self.store.records)
        self.runner = Runner(queries, self.results, limits, self.clock, self.changes, observer=self.observer)

    def open(self, spark: Spark) -> None:
        """Begin to take queries, which this Spark runs as soon as it says that it is ready."""
        self.runner.spark = spark
        self.servers.enter()
        self._keeper = Thread(target=self._keep, name="hbstore-query-keeper", daemon=True)
        self._keeper.start()

    def close(self) -> None:
        """Take no more queries; those that have not ended are lost."""
        self._closed.set()
        if self._keeper is not None:
            self._keeper.join()
        for query in self.runner.close():
            self._lose(query, "the server was stopped before the query had run")
        self.servers.leave()

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
        if self._closed.is_set():
            raise TooManyQueries("the server is about to stop", hint="Ask again when it runs again")
        return self.runner.take(lambda: self._queries.create(request, self.servers.id, self.clock(), key))

    def get(self, id_: str) -> Query:
        """A query as it is now. One read, where this server does not run it.

        Raises:
            QueryNotFound: there is none of that id.
        """
        return self.runner.find(id_) or self._seen(self._queries.get(id_))

    def wait(self, id_: str, seconds: float, beyond: Query | None = None) -> Query:
        """A query when it has ended or is to be cancelled, or the time is over; or when it is no more as it was.

        Args:
            id_: which.
            seconds: how long to wait at most.
            beyond: as it was.

        Raises:
            QueryNotFound: there is none of that id.
        """
        until = time.monotonic() + seconds
        while True:
            number = self.changes.number
            query = self.get(id_)
            left = until - time.monotonic()
            over = query.state.is_final or query.cancel_requested or left <= 0
            if over or (beyond is not None and query != beyond):
                return query
            self.changes.wait(number, min(left, _LOOKED_EVERY))

    def cancel(self, id_: str, reason: HbstoreError | None = None) -> Query:
        """Cancel a query; one that has ended stays as it is.

        Args:
            id_: which.
            reason: what it fails by, if this server runs it; None: it is cancelled.

        Raises:
            QueryNotFound: there is none of that id.
        """
        if reason is None or not self.runner.cancel(id_, reason):
            self._queries.change(id_, lambda one: one if one.state.is_final else one.changed(cancel_requested=True))
            self.runner.cancel(id_)
        return self.get(id_)

    def release(self, id_: str) -> None:
        """Nobody fetches the rows of a query any more: it is cancelled, if it runs, and its result soon expires.

        Raises:
            QueryNotFound: there is none of that id.
        """
        if not self.get(id_).state.is_final:
            self.cancel(id_)
        self._released.append(id_)

    def close_session(self, id_: str) -> None:
        """End a session: its queries that wait or run here are cancelled, and Spark forgets it."""
        self.runner.close_session(id_)

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
        queries: list[Query] = []
        for query in self._queries.all(before):
            if len(queries) >= limit:
                break
            seen = self._seen(query)
            if (user is None or seen.request.user == user) and (not states or seen.state in states):
                queries.append(seen)
        return queries

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
        batches = self.results.batches(id_, start=start, rows=rows) if query.result.columns else iter(())
        return query, self._observed(batches)

    def explain(self, request: Request) -> Rewritten:
        """What a cube query would read and why, and the Spark SQL that it becomes. Needs no Spark.

        Raises:
            CubeQueryError, NoCandidate: as `Cubes.rewrite`.
        """
        options = QueryOptions.of(request.options)
        cubes = Cubes(self.store, request.database)
        return cubes.rewrite(request.text, now=request.now, partial=request.partial, options=options)

    def _observed(
        self, batches: Iterator[tuple[pa.RecordBatch, Position | None]]
    ) -> Iterator[tuple[pa.RecordBatch, Position | None]]:
        for batch, behind in batches:
            self.observer.fetched(batch.num_rows, batch.nbytes)
            yield batch, behind

    @property
    def _queries(self) -> StoredQueries:
        return self.runner.queries

    # Queries of other servers

    def _seen(self, query: Query) -> Query:
        """A query as the store has it; one that its server lost is said to have failed, from now on for all readers."""
        if query.state.is_final or self.servers.is_alive(query.server):
            return query
        return self._lose(query, "the server that took the query died before it had run")

    def _lose(self, query: Query, text: str) -> Query:
        now, problem = self.clock(), QueryProblem.of(QueryLost(text, query=query.id, hint="Ask again"))
        lost = self._queries.change(query.id, lambda one: ended(one, State.FAILED, now, problem=problem))
        if lost.problem == problem:
            self.runner.remove(query.id)
            self.observer.ended(lost)
        return lost

    # The keeper

    def _keep(self) -> None:
        swept = 0.0
        while not self._closed.wait(RENEWED_EVERY):
            try:
                self.servers.renew()
                self.runner.watch()
                if time.monotonic() - swept >= _SWEPT_EVERY:
                    self._sweep()
                    swept = time.monotonic()
            except HbstoreError as error:  # the store does not answer, and may do so later
                _LOG.warning("the keeper of queries failed", extra={"fields": {"error": str(error)}})

    def _sweep(self) -> None:
        """Remove results whose time is over, and forget queries twice that long; see which queries were lost.

        With queries go their idempotency keys; leases of dead servers go when their queries are said to be lost.
        """
        now, kept = self.clock(), set()
        forgotten = now - 2 * self.runner.limits.keep_results
        self.runner.remove_what_is_left()
        released = {self._released.popleft() for _ in range(len(self._released))}
        for query in self._queries.all():
            seen = self._seen(query)
            over = seen.id in released or (seen.expires_at is not None and seen.expires_at <= now)
            if seen.state is State.SUCCEEDED:  # as long as its result is there, whatever this server would keep
                if over:
                    self.runner.remove(seen.id)
                    self._queries.change(seen.id, lambda one: one.changed(state=State.EXPIRED))
            elif seen.ended_at is not None and seen.ended_at <= forgotten:
                self._queries.drop(seen.id)
                continue
            kept.add(seen.id)
        self._queries.drop_keys(kept, forgotten)
        self.servers.forget_the_dead()
