"""Sessions of drivers: who asks, with which settings, and the operations that the session has open."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from hbstore.errors import OperationNotFound, SessionLost, SessionNotFound, TooManyQueries
from hbstore.hiveserver2.operations import Operation
from hbstore.hiveserver2.protocol import Handle
from hbstore.hiveserver2.quick_replies import QuickReplies
from hbstore.query_service import query as values

MAX_SESSIONS: Final = 1_000
MAX_OPERATIONS: Final = 200
"""Operations of one session that are open."""

IDLE: Final = 3_600.0
"""Seconds after which a session is closed that no connection holds, as those over HTTP."""


@dataclass(slots=True)
class DriverSession:
    """A driver's session.

    Attributes:
        handle: names it.
        user: who asks.
        database: the current database at its beginning.
        settings: those of Spark that the client gave at its beginning.
        held: whether it is closed with the connection that opened it.
        used_at: when the last call came, by the monotonic clock.
        fresh: no statement has ended, so that nothing is lost if another Spark begins the session.
        lost: the Spark that had the session is gone.
    """

    handle: Handle
    user: str
    database: str
    settings: Mapping[str, str] = field(repr=False)
    held: bool = True
    used_at: float = field(default_factory=time.monotonic)
    fresh: bool = True
    lost: bool = False

    def check(self) -> None:
        """See that the session is still as its client left it.

        Raises:
            SessionLost: the Spark that had the session is gone.
        """
        if self.lost:
            raise SessionLost(
                "the Spark of the session died, and with it what SET, USE and temporary views left",
                session=self.handle.text,
                hint="Connect again",
            )

    def in_spark(self) -> values.QuerySession:
        """The session as statements name it."""
        return values.QuerySession(
            id=self.handle.text, database=self.database, settings=dict(self.settings), fresh=self.fresh
        )


@dataclass(slots=True)
class Sessions:
    """The sessions of a server, and their operations, by handle.

    Attributes:
        quick: keeps replies about operations that are open.
    """

    quick: QuickReplies = field(default_factory=QuickReplies)
    _sessions: dict[bytes, DriverSession] = field(default_factory=dict)
    _operations: dict[bytes, tuple[DriverSession, Operation]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def open(self, user: str, database: str, settings: Mapping[str, str], *, held: bool) -> DriverSession:
        """Begin a session.

        Raises:
            TooManyQueries: there are too many.
        """
        session = DriverSession(Handle.new(), user, database, settings, held)
        with self._lock:
            if len(self._sessions) >= MAX_SESSIONS:
                raise TooManyQueries(
                    "the server has too many sessions", limit=MAX_SESSIONS, hint="Close connections, or connect later"
                )
            self._sessions[session.handle.guid] = session
        return session

    def get(self, handle: Handle) -> DriverSession:
        """The session of a handle.

        Raises:
            SessionNotFound: there is none, as after it was closed.
        """
        session = self._sessions.get(handle.guid)
        if session is None or not handle.opens(session.handle):
            raise SessionNotFound("Invalid SessionHandle", session=handle.text, hint="Connect again")
        session.used_at = time.monotonic()
        return session

    def add(self, session: DriverSession, operation: Operation) -> None:
        """Take an operation of a session.

        Raises:
            TooManyQueries: the session has too many open.
        """
        with self._lock:
            if sum(owner is session for owner, _ in self._operations.values()) >= MAX_OPERATIONS:
                raise TooManyQueries(
                    "the session has too many operations open", limit=MAX_OPERATIONS, hint="Close statements that ended"
                )
            self._operations[operation.handle.guid] = (session, operation)
            self.quick.allow(operation.handle)

    def operation(self, handle: Handle) -> tuple[DriverSession, Operation]:
        """The operation of a handle, and its session.

        Raises:
            OperationNotFound: there is none, as after it was closed.
        """
        session, operation = self._operations.get(handle.guid, (None, None))
        if session is None or operation is None or not handle.opens(operation.handle):
            hint = "Execute the statement again"
            raise OperationNotFound("Invalid OperationHandle", operation=handle.text, hint=hint)
        session.used_at = time.monotonic()
        return session, operation

    def close_operation(self, handle: Handle) -> None:
        """Close an operation.

        Raises:
            OperationNotFound: there is none.
        """
        _, operation = self.operation(handle)
        with self._lock:
            self._remove(handle)
        operation.close()

    def close(self, session: DriverSession) -> None:
        """Close a session and its operations; nothing happens if it is closed."""
        with self._lock:
            self._sessions.pop(session.handle.guid, None)
            operations = [operation for owner, operation in self._operations.values() if owner is session]
            for operation in operations:
                self._remove(operation.handle)
        for operation in operations:
            operation.close()

    def _remove(self, handle: Handle) -> None:
        self._operations.pop(handle.guid, None)
        self.quick.remove(handle)

    def lose(self) -> None:
        """The Spark of all sessions died: those that had run statements are no longer what their clients think."""
        with self._lock:
            for session in self._sessions.values():
                session.lost = session.lost or not session.fresh

    def idle(self) -> list[DriverSession]:
        """The sessions that no connection holds and that nobody has used for a while."""
        before = time.monotonic() - IDLE
        with self._lock:
            sessions = self._sessions.values()
            return [session for session in sessions if not session.held and session.used_at < before]
