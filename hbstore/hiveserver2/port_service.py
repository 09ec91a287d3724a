"""What all calls of the SQL port share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hbstore.hiveserver2.calls import Client
from hbstore.hiveserver2.operations import Operation
from hbstore.hiveserver2.protocol import THRIFT, Handle
from hbstore.hiveserver2.sessions import DriverSession, Sessions
from hbstore.query_service.access import Access
from hbstore.query_service.service import QueryService
from hbstore.store.partition_store import PartitionStore


@dataclass(frozen=True, slots=True)
class PortService:
    """What all calls share.

    Attributes:
        queries: runs statements.
        access: who may ask.
        sessions: those of drivers.
    """

    queries: QueryService
    access: Access
    sessions: Sessions = field(default_factory=Sessions)

    @property
    def store(self) -> PartitionStore:
        """Databases, tables, cubes."""
        return self.queries.store

    def user_of(self, client: Client, user: str | None, password: str | None) -> str | None:
        """Who opens a session: the login of the connection, or without one what the session says.

        Raises:
            AccessRefused: the server asks for tokens, and the password is none of this user.
        """
        if client.user is not None:
            return client.user
        login = (user or "", password or "")
        own = self.access.login(*login)
        client.logins.add(login)
        return own

    def session(self, handle: Any, *, alive: bool = True) -> DriverSession:
        """The session of a handle as clients send it.

        Args:
            handle: a TSessionHandle.
            alive: whether the session must be as its client left it.

        Raises:
            SessionNotFound: there is none.
            SessionLost: its Spark died.
        """
        session = self.sessions.get(handle_of(handle.sessionId))
        if alive:
            session.check()
        return session

    def operation(self, handle: Any) -> tuple[DriverSession, Operation]:
        """The operation of a handle as clients send it (a TOperationHandle), and its session.

        Raises:
            OperationNotFound: there is none.
        """
        return self.sessions.operation(handle_of(handle.operationId))

    def operation_handle(self, operation: Operation, kind: int, *, has_rows: bool) -> Any:
        """A TOperationHandle."""
        identifier = THRIFT.THandleIdentifier(guid=operation.handle.guid, secret=operation.handle.secret)
        return THRIFT.TOperationHandle(operationId=identifier, operationType=kind, hasResultSet=has_rows)

    def close(self, session: DriverSession) -> None:
        """Close a session, with what it runs, here and in Spark."""
        self.sessions.close(session)
        self.queries.close_session(session.handle.text)

    def close_idle(self) -> None:
        """Close the sessions that nobody uses any more."""
        for session in self.sessions.idle():
            self.close(session)


def handle_of(identifier: Any) -> Handle:
    """The handle that a THandleIdentifier is."""
    return Handle(identifier.guid or b"", identifier.secret or b"")
