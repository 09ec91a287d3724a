"""The server: a listening socket, and a thread for each connection.

Threads wait for connections themselves: the one that a client reaches serves it, after it has seen to it that another
one waits. So a connection costs no hand-over, and programs that open one for each call meet threads that are warm, with
a connection to the store of their own.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Self

from hbstore.errors import AddressUnavailable
from hbstore.metastore.budget import BUDGET, Budget
from hbstore.metastore.calls import Endpoint
from hbstore.metastore.connection import Connection, ConnectionLimits
from hbstore.metastore.framing import PIECE

DEFAULT_PORT: Final = 9083
"""The Hive Metastore's."""

MAX_CONNECTIONS: Final = 2000
GRACE: Final = 30.0
"""Seconds that calls under way have to end when the server stops."""

_LOG: Final = logging.getLogger("hbstore.metastore.server")
_BACKLOG: Final = 1024
_STACK: Final = 1024 * 1024
"""Bytes of a thread's stack: an eighth of the usual, as there may be thousands."""

_SPARE: Final = 16
"""Threads that stay when their connections are over."""

_PAUSE: Final = 0.1
_MINUTE: Final = 60.0


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """What all clients together may do.

    Attributes:
        connections: at once.
        message_memory: bytes of memory for their large messages.
        connection: what each may do.
    """

    connections: int = MAX_CONNECTIONS
    message_memory: int = BUDGET
    connection: ConnectionLimits = field(default_factory=ConnectionLimits)


class MetastoreServer:
    """Serves an endpoint at an address.

    Args:
        endpoint: answers the calls.
        host: a name or an address of this machine.
        port: 0 for a free one; see `port`.
        limits: what clients may do.
        shared_port: other processes listen at the same port (SO_REUSEPORT).
        watch: hears 1 for each connection that begins and -1 for each that ends.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        limits: ServerLimits | None = None,
        shared_port: bool = False,
        watch: Callable[[int], object] = lambda _: None,
    ) -> None:
        self._endpoint = endpoint
        self._host = host
        self._limits = limits or ServerLimits()
        self._watch = watch
        self._budget = Budget(self._limits.message_memory)
        self._listener = listening_socket(host, port, shared_port=shared_port)
        self._port = int(self._listener.getsockname()[1])
        self._changed = threading.Condition(threading.RLock())
        self._connections: set[Connection] = set()
        self._waiting = 0
        self._closed = False
        self._complaints = _Complaints()

    @property
    def port(self) -> int:
        """The port that clients reach it at."""
        return self._port

    @property
    def connections(self) -> int:
        """How many clients are connected."""
        return len(self._connections)

    def start(self) -> Self:
        """Begin to serve."""
        self._listener.listen(_BACKLOG)
        self._add_thread()
        return self

    def close(self) -> None:
        """Accept nothing more, let idle connections end, and calls that are under way be answered."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            connections = list(self._connections)
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the threads that wait
        self._listener.close()
        for connection in connections:
            connection.end()

    def join(self, timeout: float | None = None) -> bool:
        """Wait for the end of all connections, after `close`; whether they are over."""
        with self._changed:
            return self._changed.wait_for(lambda: self._closed and not self._connections, timeout)

    def cut(self) -> int:
        """End all connections at once; how many had a call under way."""
        with self._changed:
            connections = list(self._connections)
        for connection in connections:
            connection.cut()
        return sum(connection.answering for connection in connections)

    def stop(self, grace: float = GRACE) -> bool:
        """`close`, and `cut` what is not over after some seconds; whether nothing had to be cut."""
        self.close()
        if self.join(grace):
            return True
        self.cut()
        return False

    def __enter__(self) -> Self:
        """Started."""
        return self.start()

    def __exit__(self, *_: object) -> None:
        """Stopped."""
        self.stop()

    # Threads

    def _add_thread(self) -> None:
        """One more thread that waits for a connection."""
        with self._changed:
            before = threading.stack_size(_STACK)
            try:
                threading.Thread(target=self._work, name="hbstore-connection", daemon=True).start()
                self._waiting += 1
            except RuntimeError as error:  # the system has no more; the next one waits when a connection is over
                self._complaints.say("cannot start a thread", why=str(error), connections=len(self._connections))
            finally:
                threading.stack_size(before)

    def _work(self) -> None:
        """What each thread does: wait for a connection, serve it, wait again."""
        buffer = bytearray(PIECE)
        while (accepted := self._accept()) is not None:
            self._serve(*accepted, buffer)
            del accepted
            with self._changed:
                if self._waiting >= _SPARE:
                    return
                self._waiting += 1

    def _accept(self) -> tuple[socket.socket, str] | None:
        """The next connection, once another thread waits for the one after it; None when the server is closed."""
        while True:
            try:
                sock, address = self._listener.accept()
            except OSError as error:
                if self._closed:
                    return None
                self._complaints.say("cannot accept a connection", why=error.strerror or str(error))
                time.sleep(_PAUSE)
                continue
            with self._changed:
                self._waiting -= 1
                if not self._waiting and not self._closed:
                    self._add_thread()
            return sock, f"{address[0]}:{address[1]}"

    def _serve(self, sock: socket.socket, client: str, buffer: bytearray) -> None:
        connection = Connection(sock, client, self._endpoint, self._limits.connection, self._budget, buffer)
        if not self._admit(connection):
            sock.close()
            return
        self._watch(1)
        try:
            connection.serve()
        finally:
            self._watch(-1)
            with self._changed:
                self._connections.remove(connection)
                self._changed.notify_all()

    def _admit(self, connection: Connection) -> bool:
        with self._changed:
            if self._closed:
                return False
            if len(self._connections) < self._limits.connections:
                self._connections.add(connection)
                return True
        self._complaints.say("too many connections: more are refused", limit=self._limits.connections)
        return False


class _Complaints:
    """Warnings that are said once a minute at most, each."""

    __slots__ = ("_said",)

    def __init__(self) -> None:
        self._said: dict[str, float] = {}

    def say(self, text: str, **fields: object) -> None:
        now = time.monotonic()
        if now - self._said.get(text, -_MINUTE) >= _MINUTE:
            self._said[text] = now
            _LOG.warning(text, extra={"fields": fields})


def listening_socket(host: str, port: int, *, shared_port: bool = False) -> socket.socket:
    """A socket that is bound to an address and does not listen yet.

    Args:
        host: a name or an address of this machine.
        port: 0 for a free one.
        shared_port: let other processes of this user bind to it too, if they ask for it as well (SO_REUSEPORT).

    Raises:
        AddressUnavailable: there is no such address here, the port is taken, or it may not be used.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        sock = socket.socket(family, kind, protocol)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if shared_port:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            sock.bind(address)
        except BaseException:
            sock.close()
            raise
    except (OSError, OverflowError) as error:
        raise AddressUnavailable(
            "the server cannot listen here",
            address=f"{host}:{port}",
            reason=getattr(error, "strerror", None) or error,
            hint="Choose another with --host and --port; port 0 is any that is free",
        ) from error
    return sock
