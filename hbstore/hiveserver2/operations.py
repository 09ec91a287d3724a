"""Operations: what a session runs and fetches rows of.

A statement is a query of the query service. A listing of the catalog has its rows from the beginning.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Final, Protocol

import pyarrow as pa

from hbstore.errors import QueryNotFinished, QueryTimedOut
from hbstore.hiveserver2.cursor import Cursor
from hbstore.hiveserver2.progress import StatementLog
from hbstore.hiveserver2.protocol import Handle, OperationState
from hbstore.hiveserver2.statement_kinds import has_rows, hive_shape
from hbstore.query_service.query import Query, QueryProblem, ResultColumn, State
from hbstore.query_service.service import QueryService

_LONG: Final = 30.0
"""Seconds between two looks at a statement whose client waits for its end."""

NO_ROWS: Final = (ResultColumn(name="Result", type="string"),)
"""The columns of a statement without rows whose client fetches all the same."""


_STATES: Final = {
    State.QUEUED: OperationState.PENDING,
    State.RUNNING: OperationState.RUNNING,
    State.SUCCEEDED: OperationState.FINISHED,
    State.EXPIRED: OperationState.FINISHED,
    State.FAILED: OperationState.ERROR,
    State.CANCELLED: OperationState.CANCELED,
}


@dataclass(frozen=True, slots=True)
class OperationStatus:
    """How far an operation is.

    Attributes:
        state: where it stands.
        has_rows: whether it has rows, or will have as far as its text tells.
        problem: why it failed.
        query: the query of a statement.
    """

    state: OperationState
    has_rows: bool = True
    problem: QueryProblem | None = None
    query: Query | None = None

    @property
    def is_final(self) -> bool:
        """Whether the operation has ended."""
        return self.state not in (OperationState.RUNNING, OperationState.PENDING)

    def check(self) -> None:
        """See that the operation did not fail.

        Raises:
            HbstoreError: why it failed.
        """
        if self.problem is not None:
            raise self.problem.as_error()


@dataclass(frozen=True, slots=True)
class Page:
    """Rows that are fetched at once.

    Attributes:
        start: the number of the first, from 0 on.
        columns: what they are.
        arrays: a column each.
        time_zone: in which timestamps are written.
    """

    start: int
    columns: Sequence[ResultColumn]
    arrays: Sequence[pa.Array]
    time_zone: str = "UTC"


class Operation(Protocol):
    """What a session runs and fetches rows of."""

    @property
    def handle(self) -> Handle:
        """Names it."""

    def status(self, seconds: float) -> OperationStatus:
        """How far it is, at its end or when so many seconds are over."""

    def columns(self) -> tuple[ResultColumn, ...]:
        """The columns of its rows.

        Raises:
            HbstoreError: it has not ended, or ended without rows.
        """

    def page(self, rows: int, *, from_start: bool) -> Page:
        """The next rows, or the first.

        Raises:
            HbstoreError: it has not ended, or ended without rows.
        """

    def log(self) -> list[str]:
        """The lines of its log that the client does not have yet."""

    def cancel(self) -> None:
        """Cancel it; nothing happens if it has ended."""

    def close(self) -> None:
        """Cancel it, if it runs, and let go of its rows."""


@dataclass(slots=True)
class StatementOperation:
    """A statement of a session.

    Attributes:
        service: whose query it is.
        id: the query's.
        text: the statement's.
        timeout: seconds that it may run; None: as long as the server allows.
        handle: names it.
    """

    service: QueryService
    id: str
    text: str
    timeout: float | None = None
    handle: Handle = field(default_factory=Handle.new)
    _began: float = field(default_factory=time.monotonic)
    _overdue: QueryProblem | None = None
    _cursor: Cursor | None = None
    _log: StatementLog = field(default_factory=StatementLog)
    _lock: Lock = field(default_factory=Lock)

    def status(self, seconds: float) -> OperationStatus:
        """How far it is, at its end or when so many seconds are over."""
        left = None if self.timeout is None else max(0.0, self._began + self.timeout - time.monotonic())
        query = self.service.wait(self.id, seconds if left is None else min(seconds, left))
        if left is not None and left <= seconds and not query.state.is_final:
            self._cancel_late()
        return self._status_of(query)

    def columns(self) -> tuple[ResultColumn, ...]:
        """The columns of its rows, `NO_ROWS` where it has none.

        Raises:
            QueryNotFinished: it has not ended.
            HbstoreError: why it failed.
        """
        return hive_shape(self.text, self._result_columns())[0] or NO_ROWS

    def page(self, rows: int, *, from_start: bool) -> Page:
        """The next rows, or the first.

        Raises:
            QueryNotFinished: it has not ended.
            ResultExpired: the rows were removed.
            HbstoreError: why it failed.
        """
        with self._lock:
            query = self._ended()
            assert query.result is not None
            columns, chosen = hive_shape(self.text, query.result.columns)
            if not columns:
                return Page(0, NO_ROWS, [pa.array([], pa.string())])
            if self._cursor is None:
                self._cursor = Cursor(self._batches)
            elif from_start:
                self._cursor.restart()
            start = self._cursor.row
            table = self._cursor.page(rows)
            whole = _arrays(table) or [pa.nulls(0, pa.string()) for _ in query.result.columns]
            return Page(start, columns, [whole[at] for at in chosen], query.result.time_zone)

    def at_its_end(self) -> OperationStatus:
        """How it ended, when it has."""
        while not (status := self.status(_LONG)).is_final:
            pass
        return status

    def log(self) -> list[str]:
        """What happened since the last call, a line for each."""
        return self._log.lines(self.service.get(self.id))

    def cancel(self) -> None:
        """Cancel it; nothing happens if it has ended."""
        self.service.cancel(self.id)

    def close(self) -> None:
        """Cancel it, if it runs, and let go of its rows, which nobody can fetch any more."""
        with self._lock:
            if self._cursor is not None:
                self._cursor.close()
        self.service.release(self.id)

    def _status_of(self, query: Query) -> OperationStatus:
        if self._overdue is not None and query.state is not State.SUCCEEDED:
            return OperationStatus(OperationState.TIMED_OUT, has_rows(self.text), self._overdue, query)
        if query.cancel_requested and not query.state.is_final:  # Spark ends it while the client need not wait
            return OperationStatus(OperationState.CANCELED, has_rows(self.text), None, query)
        if query.result is not None:
            return OperationStatus(OperationState.FINISHED, bool(query.result.columns), None, query)
        state = _STATES[query.state]
        if query.problem is not None and query.problem.error == QueryTimedOut.__name__:
            state = OperationState.TIMED_OUT
        return OperationStatus(state, has_rows(self.text), query.problem, query)

    def _cancel_late(self) -> None:
        text = f"Query timed out after {self.timeout:g} seconds"
        error = QueryTimedOut(text, query=self.id, hint="Give the statement more time by setQueryTimeout")
        self._overdue = QueryProblem.of(error)
        self.service.cancel(self.id, error)

    def _ended(self) -> Query:
        query = self.service.get(self.id)
        if query.problem is not None:
            raise query.problem.as_error()
        if query.result is None:
            raise QueryNotFinished(
                "the statement has no rows", query=self.id, state=query.state, hint="Wait until it has ended"
            )
        return query

    def _result_columns(self) -> tuple[ResultColumn, ...]:
        query = self._ended()
        return () if query.result is None else query.result.columns

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for batch, _ in self.service.fetch(self.id)[1]:
            yield batch


@dataclass(slots=True)
class ListingOperation:
    """Rows that are there already.

    Attributes:
        described: the columns.
        rows: the rows.
        handle: names it.
    """

    described: tuple[ResultColumn, ...]
    rows: pa.RecordBatch
    handle: Handle = field(default_factory=Handle.new)
    _cursor: Cursor = field(init=False)
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._cursor = Cursor(lambda: iter([self.rows]))

    def status(self, seconds: float) -> OperationStatus:  # noqa: ARG002  there is nothing to wait for
        """It has ended."""
        return OperationStatus(OperationState.FINISHED)

    def columns(self) -> tuple[ResultColumn, ...]:
        """The columns of its rows."""
        return self.described

    def page(self, rows: int, *, from_start: bool) -> Page:
        """The next rows, or the first."""
        with self._lock:
            if from_start:
                self._cursor.restart()
            start = self._cursor.row
            return Page(start, self.described, _arrays(self._cursor.page(rows)))

    def log(self) -> list[str]:
        """Nothing."""
        return []

    def cancel(self) -> None:
        """It has ended."""

    def close(self) -> None:
        """Let go of the rows."""
        self._cursor.close()


def _arrays(table: pa.Table) -> list[pa.Array]:
    """The columns of a page, each in one piece."""
    columns = table.combine_chunks().columns
    return [column.chunk(0) if column.num_chunks == 1 else column.combine_chunks() for column in columns]
