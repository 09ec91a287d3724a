"""One thread's connection to a SQLite file: opened when first needed, safe to fork around, closed by who leaves last.

A connection may be closed from outside, by `Connections.close` in another thread or before a fork. It is never closed
while a statement runs on it: entering counts `running` and then looks at `ready`; closing clears `ready` and then
looks at `running`. One of the two always sees the other.

Forking: SQLite keeps a process-wide list of the files it has open and of the locks on them. A child inherits the list
but not the locks, so that a connection it opens believes in locks that nobody holds. Therefore all connections are
closed before a fork, and opened again when next used; statements that run are waited for, as a mutex that one of them
holds stays locked in the child forever. What cannot be closed (a transaction or snapshot is open on it) is inherited,
and the child lets it be, as closing it would release what it does not own.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Final, Literal, TypeAlias

from hbstore.errors import CorruptRow, StoreUnavailable
from hbstore.rows.predicate import Predicate
from hbstore.rows.sqlite.errors import named_error
from hbstore.rows.sqlite.file import SqliteFile, unmap
from hbstore.rows.sqlite.predicate import FIRST_COLUMNS, CellTest, WhereCondition, condition

Span: TypeAlias = Literal["transaction", "snapshot"]

LONG_READ: Final = 0.02
"""Seconds of a snapshot after which its pages leave this process's memory, about 10,000 rows, if other connections
have them as well: each has a mapping of its own. To map 100,000 rows anew takes 15 ms of 100."""


class CellTests:
    """The SQL function ``cell_test``: runs the numbered tests of the condition that is being executed."""

    def __init__(self) -> None:
        self.tests: Sequence[CellTest] = ()
        self.failure: Exception | None = None

    def __call__(self, number: int, *cells: bytes) -> bool:
        """Whether the cells pass; a failure is kept, as SQLite only reports that there was one."""
        try:
            return self.tests[number](*cells)
        except Exception as error:
            self.failure = error
            raise


class ThreadConnection:
    """One thread's connection, used as ``with connection as sqlite:``, which also names SQLite's errors."""

    __slots__ = (
        "__weakref__",
        "_began",
        "_condition",
        "_tests",
        "owner",
        "ready",
        "running",
        "span",
        "sqlite",
        "trips",
    )

    def __init__(self, owner: Connections) -> None:
        self.owner = owner
        self._tests = CellTests()
        self._condition: tuple[Predicate | None, WhereCondition | None] = (None, None)
        self.sqlite: sqlite3.Connection | None = None
        self.ready = False
        self.running = 0
        self.span: Span | None = None
        self._began = 0.0
        self.trips = 0

    def __enter__(self) -> sqlite3.Connection:
        self.running += 1
        while not self.ready:
            self.running -= 1
            self._make_ready()
            self.running += 1
        self.trips += 1
        return self.sqlite  # type: ignore[return-value]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.running -= 1
        self._close_if_last()
        if isinstance(error, sqlite3.Error):
            failure, self._tests.failure = self._tests.failure, None
            if failure is not None:
                hint = "Run `hbstore check`: it lists all damaged rows"
                raise CorruptRow(
                    "the cells of a row cannot be decoded", path=self.owner.file.path, hint=hint
                ) from failure
            raise named_error(error, self.owner.file.path) from error

    def __del__(self) -> None:
        """The thread ended. A SQLite connection is part of a cycle and would stay until garbage is collected."""
        self._shut()

    def begin(self, span: Span) -> None:
        """Open a transaction that may write, or a snapshot; the connection stays open until `end`."""
        with self as sqlite:
            sqlite.execute("BEGIN IMMEDIATE" if span == "transaction" else "BEGIN")
            try:
                if span == "snapshot":  # BEGIN reads nothing yet; the first read fixes the state
                    sqlite.execute("SELECT 1 FROM catalog LIMIT 1").fetchall()
            except BaseException:
                sqlite.execute("ROLLBACK")
                raise
            self.span = span
            self._began = time.monotonic()

    def end(self, *, commit: bool) -> None:
        """Commit or roll back; what fails to commit is rolled back."""
        read_long = self.span == "snapshot" and time.monotonic() - self._began > LONG_READ and len(_CONNECTIONS) > 1
        try:
            with self as sqlite:
                self.span = None  # not before: a fork in between would close a connection that nothing is open on
                if commit:
                    self._commit(sqlite)
                elif sqlite.in_transaction:
                    sqlite.execute("ROLLBACK")
                if read_long:
                    unmap(sqlite)
        finally:
            self.span = None  # also where the store was closed meanwhile
            self._close_if_last()

    def _commit(self, sqlite: sqlite3.Connection) -> None:
        self.check_open(sqlite)
        try:
            sqlite.execute("COMMIT")
        except BaseException:
            if sqlite.in_transaction:
                sqlite.execute("ROLLBACK")
            raise

    def check_open(self, sqlite: sqlite3.Connection) -> None:
        """After an error that was swallowed, or in a forked child, there is no transaction to go on with."""
        if not sqlite.in_transaction:
            hint = "An error rolled the transaction back, or the process forked. Repeat the whole transaction"
            raise StoreUnavailable("the transaction has ended", path=self.owner.file.path, hint=hint)

    def where(self, sqlite: sqlite3.Connection, residual: Predicate) -> WhereCondition:
        """The condition of a residual; the last one is kept, as a plan's scans share theirs."""
        kept_residual, where_condition = self._condition
        if kept_residual is not residual or where_condition is None:
            where_condition = condition(residual)
            if where_condition.width > FIRST_COLUMNS:
                where_condition = condition(residual, cell_columns(sqlite))
            else:
                self._condition = (residual, where_condition)
        self._tests.tests = where_condition.tests
        return where_condition

    def release(self) -> bool:
        """Close the connection if nothing is open on it; whether it is closed."""
        self.ready = False
        if self.running or self.span:
            return False
        self._shut()
        return True

    def leave_behind(self) -> None:
        """In a forked child: forget the connection without ever closing it.

        At the end of a process Python frees all objects and so closes connections, except those of threads that still
        wait.
        """
        if self.sqlite is not None:
            threading.Thread(target=_hold, args=(self.sqlite,), daemon=True).start()
            self.sqlite = None

    def _make_ready(self) -> None:
        with _GATE:  # waits for a fork that is under way
            self.owner.check_open()
            if self.sqlite is None:
                self.sqlite = self.owner.file.open()
                self.sqlite.create_function("cell_test", -1, self._tests, deterministic=True)
                self._condition = (None, None)
                _CONNECTIONS.add(self)
            self.ready = True

    def _close_if_last(self) -> None:
        if self.owner.closed and not self.running and not self.span:
            self._shut()

    def _shut(self) -> None:
        sqlite, self.sqlite = self.sqlite, None
        if sqlite is not None:
            sqlite.close()


class Snapshot:
    """A snapshot as a context, which a question of 100 µs should not wait for: a generator takes twice as long."""

    __slots__ = ("_connection",)

    def __init__(self, connection: ThreadConnection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.begin("snapshot")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.end(commit=kind is None)


class Connections:
    """The connections of all threads to one file."""

    def __init__(self, file: SqliteFile) -> None:
        self.file = file
        self.closed = False
        self._local = threading.local()

    def mine(self) -> ThreadConnection:
        """This thread's."""
        try:
            connection: ThreadConnection = self._local.connection
        except AttributeError:
            connection = self._local.connection = ThreadConnection(self)
        return connection

    def check_open(self) -> None:
        """StoreUnavailable once closed."""
        if self.closed:
            raise StoreUnavailable("the store is closed", path=self.file.path, hint="Connect again")

    def close(self) -> None:
        """Close all connections; a statement that another thread is in is interrupted and its thread closes."""
        with _GATE:
            self.closed = True
            for connection in _of_all_threads():
                if connection.owner is self and not connection.release():
                    sqlite = connection.sqlite
                    if sqlite is not None:
                        sqlite.interrupt()


def cell_columns(sqlite: sqlite3.Connection) -> int:
    """How many cell columns the table of partitions has by now."""
    return int(sqlite.execute("SELECT count(*) - 2 FROM pragma_table_info('partitions')").fetchone()[0])


class Baton:
    """Held while one thread reads many rows, as SQLite lets go of Python's lock at each of them.

    Threads that read long pages at once would wake each other's cores for each row: 16 that read 100,000 rows each took
    27 seconds, and 5 one after the other. Short reads do without.
    """

    __slots__ = ("lock",)

    def __init__(self) -> None:
        self.lock = threading.Lock()


BATON: Final = Baton()

_GATE: Final = threading.RLock()
"""Held while a connection is opened, and from before a fork until after it."""

_PATIENCE: Final = 5.0
"""Seconds that a fork waits for other threads' statements."""

_GLANCE: Final = 0.0005
_CONNECTIONS: Final[weakref.WeakSet[ThreadConnection]] = weakref.WeakSet()
_inherited: list[ThreadConnection] = []


def _hold(_: sqlite3.Connection) -> None:
    """Keep a connection from being freed until the process is gone."""
    threading.Event().wait()


def _of_all_threads() -> list[ThreadConnection]:
    return list(_CONNECTIONS)


def _before_fork() -> None:
    _GATE.acquire()
    connections = _of_all_threads()
    for connection in connections:
        connection.ready = False
    until = time.monotonic() + _PATIENCE
    while any(connection.running for connection in connections) and time.monotonic() < until:
        time.sleep(_GLANCE)
    # Kept here over the fork: the child drops what belongs to other threads, which would close their connections.
    _inherited.extend(connection for connection in connections if not connection.release())


def _after_fork_in_parent() -> None:
    _inherited.clear()
    _GATE.release()


def _after_fork_in_child() -> None:
    BATON.lock = threading.Lock()  # the thread that held it is not in this process
    _GATE.release()
    for connection in _inherited:
        connection.leave_behind()
    _inherited.clear()


_HOOKS: Final[dict[str, Callable[[], Any]]] = {
    "before": _before_fork,
    "after_in_parent": _after_fork_in_parent,
    "after_in_child": _after_fork_in_child,
}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(**_HOOKS)
