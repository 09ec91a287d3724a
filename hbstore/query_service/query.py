"""Queries: what a user asked, how far it is, and what came of it.

    queued ──> running ──> succeeded ──> expired
       │          ├──────> failed
       └──────────┴──────> cancelled

A query is a value. The store keeps it as JSON (`records`), and each change of its state is one compare-and-put along
these arrows, so what is final stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from hbstore.errors import HbstoreError, TextError, error_of
from hbstore.keys.partition_names import DEFAULT_DATABASE

ANONYMOUS: Final = "anonymous"
"""The user of a query that names none."""

MAX_NAME: Final = 1_000
"""Characters of what a user calls a query."""

MAX_TEXT: Final = 1_000_000
"""Characters of a statement."""


class State(StrEnum):
    """How far a query is."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"

    @property
    def is_final(self) -> bool:
        """Whether the query has ended.

        >>> State.RUNNING.is_final, State.EXPIRED.is_final
        (False, True)
        """
        return self not in (State.QUEUED, State.RUNNING)

    def may_become(self, other: State) -> bool:
        """Whether a query in this state may go over into another one.

        >>> State.SUCCEEDED.may_become(State.EXPIRED), State.SUCCEEDED.may_become(State.FAILED)
        (True, False)
        """
        return other in _NEXT[self]


_NEXT: Final = {
    State.QUEUED: {State.RUNNING, State.FAILED, State.CANCELLED},
    State.RUNNING: {State.SUCCEEDED, State.FAILED, State.CANCELLED},
    State.SUCCEEDED: {State.EXPIRED},
    State.FAILED: set[State](),
    State.CANCELLED: set[State](),
    State.EXPIRED: set[State](),
}


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class QuerySession(_Value):
    """The session of a driver: what SET, USE and temporary views leave in it is there for its next statement.

    Settings may hold secrets, so only the id is written into the store, and shown to others.

    Attributes:
        id: names it.
        database: its current database when it begins.
        settings: those of Spark that are set when it begins.
        fresh: whether no statement of it that Spark began has ended yet, so that a Spark which does not have it may
            begin it.

    >>> QuerySession(id="5f", settings={"spark.hadoop.fs.s3a.secret.key": "…"}).model_dump()
    {'id': '5f'}
    """

    id: str
    database: str = Field(default=DEFAULT_DATABASE, exclude=True)
    settings: Mapping[str, str] = Field(default_factory=dict, exclude=True, repr=False)
    fresh: bool = Field(default=False, exclude=True)


class Request(_Value):
    """What a user asks.

    Attributes:
        text: a cube query, a statement of Spark SQL, or one of hbstore's own.
        database: the current database of the statement.
        user: who asks.
        name: what the user calls it.
        partial: whether a cube query is answered from the partitions that exist.
        now: what relative times of a cube query are relative to; None: the time when the query starts.
        options: those of a cube query by name; `hbstore.cubes.query.options` has them.
        session: the session of the statement, whose current database counts then; None: it has one of its own.
        settings: Spark's, for this statement alone. They may hold secrets, so they are written nowhere.
    """

    text: str = Field(min_length=1, max_length=MAX_TEXT)
    database: str = DEFAULT_DATABASE
    user: str = ANONYMOUS
    name: str | None = Field(default=None, max_length=MAX_NAME)
    partial: bool = False
    now: datetime | None = None
    options: Mapping[str, str] = Field(default_factory=dict)
    session: QuerySession | None = None
    settings: Mapping[str, str] = Field(default_factory=dict, exclude=True, repr=False)


class QueryProgress(_Value):
    """How far Spark is: the stages and tasks that it has planned so far, those that are done, and the rows read."""

    stages: int = 0
    stages_done: int = 0
    tasks: int = 0
    tasks_done: int = 0
    rows: int = 0


class QueryProblem(_Value):
    """An error as other processes and programs see it.

    Attributes:
        error: the name of its class.
        text: what went wrong, in words that do not vary.
        fields: what the text is about.
        hint: what to do about it.
        highlight: the offending line with a caret below it; empty where there is none.
    """

    error: str
    text: str
    fields: Mapping[str, str] = Field(default_factory=dict)
    hint: str | None = None
    highlight: str = ""

    @staticmethod
    def of(error: HbstoreError) -> QueryProblem:
        """An error of hbstore as a document.

        >>> from hbstore import QueryLost
        >>> QueryProblem.of(QueryLost("the server died", query="5f")).fields
        {'query': '5f'}
        """
        fields = {name: str(value) for name, value in error.fields.items()}
        highlight = error.highlight if isinstance(error, TextError) else ""
        return QueryProblem(
            error=type(error).__name__, text=error.text, fields=fields, hint=error.hint, highlight=highlight
        )

    def as_error(self) -> HbstoreError:
        """The error again, of its class where this release has one of that name.

        >>> from hbstore import QueryLost
        >>> QueryProblem.of(QueryLost("the server died", query="5f")).as_error()
        QueryLost('the server died')
        """
        return error_of(self.error, self.text, self.fields, self.hint, self.highlight)


class ResultColumn(_Value):
    """A column of a result: its name, which others may have too, and its type in Spark's words: ``decimal(10,2)``."""

    name: str
    type: str


class QueryResult(_Value):
    """What a statement gave.

    Attributes:
        columns: in their order; none: the statement has no rows, as CREATE TABLE has not.
        rows: how many.
        size: bytes of its files.
        time_zone: the session's, in which Spark would show the result's timestamps.
    """

    columns: tuple[ResultColumn, ...] = ()
    rows: int = 0
    size: int = 0
    time_zone: str = "UTC"


class Query(_Value):
    """A query as the store keeps it.

    Attributes:
        id: 32 hexadecimal digits.
        request: what was asked.
        state: how far it is.
        server: the id of the server that runs it.
        submitted_at: when the server took it.
        started_at: when Spark began.
        ended_at: when its state became final.
        expires_at: when the result is removed.
        cancel_requested: whether a user asked to cancel it, perhaps at another server.
        progress: how far Spark is.
        result: what came of it.
        problem: why nothing came of it.
        plan: of a cube query, what it reads and why: as `hbstore.cubes.Rewritten.to_dict`.
        warnings: what the user should know about the answer.
    """

    id: str
    request: Request
    state: State = State.QUEUED
    server: str
    submitted_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    expires_at: datetime | None = None
    cancel_requested: bool = False
    progress: QueryProgress = QueryProgress()
    result: QueryResult | None = None
    problem: QueryProblem | None = None
    plan: dict[str, Any] | None = None
    warnings: tuple[str, ...] = ()

    def changed(self, **fields: object) -> Query:
        """The query with other values of these fields."""
        return self.model_copy(update=fields)

    def __repr__(self) -> str:
        return f"<Query {self.id[:8]}: {self.state}>"
