"""The server of drivers: a listening socket, and a thread for each connection.

Drivers send one call at a time and wait for its reply, and some calls wait for Spark. So a connection has a thread of
its own.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Final, Self

from hbstore.errors import HbstoreError, TooManyQueries
from hbstore.hiveserver2.calls import DriverEndpoint
from hbstore.hiveserver2.connection import DriverConnection, DriverConnectionLimits
from hbstore.metastore.server.server import listening_socket
from hbstore.query_service.access import Access
from hbstore.thrift.budget import Budget
from hbstore.thrift.complaints import Complaints
from hbstore.thrift.threads import TaskThreads

MAX_CONNECTIONS: Final = 200
MESSAGE_MEMORY: Final = 128 * 1024 * 1024
"""Bytes for the large messages of all connections."""

GRACE: Final = 10.0
"""Seconds that calls under way have to end when the server stops."""

_TURNED_AWAY: Final = 16
"""Connections beyond the limit that are told so at the same time; still more are closed without a word."""

_LOG: Final = logging.getLogger("hbstore.hiveserver2.server")
_BACKLOG: Final = 512
_PAUSE: Final = 0.1
_TURNED_AWAY_LIMITS: Final = DriverConnectionLimits(login_seconds=5.0, http_idle=5.0, write_timeout=5.0)


@dataclass(frozen=True, slots=True)
class DriverServerLimits:
    """What all drivers together may do.

    Attributes:
        connections: at once.
        message_memory: bytes of memory for their large messages.
        connection: what each may do.
    """

    connections: int = MAX_CONNECTIONS
    message_memory: int = MESSAGE_MEMORY
    connection: DriverConnectionLimits = field(default_factory=DriverConnectionLimits)


class DriverServer:
    """Serves an endpoint at an address. It is a context manager: inside, it serves.

    Args:
        endpoint: answers the calls.
        access: who may log in.
        host: a name or an address of this machine.
        port: 0 for a free one; see `port`.
        limits: what drivers may do.
        shared_port: another process of this user holds the port.

    Raises:
        AddressUnavailable: the port is taken, or the address cannot be used.
    """

    def __init__(
        self,
        endpoint: DriverEndpoint[Any],
        access: Access,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        limits: DriverServerLimits | None = None,
        shared_port: bool = False,
    ) -> None:
        self._endpoint = endpoint
        self._access = access
        self._limits = limits or DriverServerLimits()
        self._budget = Budget(self._limits.message_memory)
        self._listener = listening_socket(host, port, shared_port=shared_port)
        self._port = int(self._listener.getsockname()[1])
        self._connections: set[DriverConnection] = set()
        self._turned_away = 0
        self._changed = threading.Condition()
        self._closed = False
        self._complaints = Complaints(_LOG)
        self._threads = TaskThreads(self._refuse_thread)

    @property
    def port(self) -> int:
        """The port that drivers reach it at."""
        return self._port

    @property
    def connections(self) -> int:
        """How many drivers are connected."""
        return len(self._connections)

    def start(self) -> Self:
        """Begin to serve."""
        self._listener.listen(_BACKLOG)
        threading.Thread(target=self._accept_all, name="hbstore-drivers", daemon=True).start()
        return self

    def stop(self, grace: float = GRACE) -> bool:
        """Accept nothing more, let calls under way be answered, and end the connections.

        Args:
            grace: seconds that they have; what is not over then is cut.

        Returns:
            Whether nothing had to be cut.
        """
        with self._changed:
            self._closed = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # Linux: it wakes the thread that accepts
        self._listener.close()
        for connection in self._now():
            connection.end()
        with self._changed:
            over = self._changed.wait_for(lambda: not self._connections, grace)
        for connection in self._now():
            connection.cut()
        self._threads.close()
        return over

    def __enter__(self) -> Self:
        """Started."""
        return self.start()

    def __exit__(self, *_: object) -> None:
        """Stopped."""
        self.stop()

    def _now(self) -> list[DriverConnection]:
        with self._changed:
            return list(self._connections)

    def _accept_all(self) -> None:
        while not self._closed:
            try:
                sock, address = self._listener.accept()
            except ConnectionAbortedError:
                continue  # it has gone again
            except OSError as error:
                if not self._closed:
                    self._complaints.say("cannot accept a connection", why=error.strerror or str(error))
                    time.sleep(_PAUSE)
                continue
            try:
                self._take(sock, f"{address[0]}:{address[1]}")
            except OSError:
                sock.close()  # the client is gone

    def _take(self, sock: socket.socket, address: str) -> None:
        """Let a connection have a thread, in which it is served or turned away."""
        refused: HbstoreError | None = None
        limits = self._limits.connection
        with self._changed:
            if len(self._connections) - self._turned_away >= self._limits.connections:
                self._complaints.say("too many connections: the server refuses more", limit=self._limits.connections)
                refused, limits = _too_many(self._limits.connections), _TURNED_AWAY_LIMITS
            if self._closed or (refused is not None and self._turned_away >= _TURNED_AWAY):
                sock.close()
                return
            connection = DriverConnection(sock, address, self._endpoint, self._access, limits, self._budget, refused)
            self._connections.add(connection)
            self._turned_away += refused is not None
        self._threads.run(lambda: self._serve(connection, is_refused=refused is not None))

    def _serve(self, connection: DriverConnection, *, is_refused: bool) -> None:
        try:
            connection.serve()
        finally:
            with self._changed:
                self._connections.discard(connection)
                self._turned_away -= is_refused
                self._changed.notify_all()

    def _refuse_thread(self, why: str) -> None:
        self._complaints.say("cannot start a thread", why=why, connections=len(self._connections))


def _too_many(limit: int) -> HbstoreError:
    return TooManyQueries(
        "the server has too many connections", limit=limit, hint="Close connections that are not needed, or come later"
    )
