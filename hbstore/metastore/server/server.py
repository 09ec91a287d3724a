"""The server: a listening socket, its connections, a thread that waits for all of them, and threads for long calls.

One thread waits for whatever comes first: a client that connects, a call, the end of a connection. It answers short
calls (`hbstore.metastore.short_calls`) itself, one after the other: Python runs one thread at a time, and a call lets
go of its lock several times, so that threads of their own would hand the lock from core to core within each call.

That thread never waits for one client. A call that may take long, one that has come in part only, and a reply that the
client does not take go to another thread, together with the connection. It gives the connection back when that is
served, so that the calls of one client are answered in their order.
"""

from __future__ import annotations

import contextlib
import logging
import selectors
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Self, cast

from hbstore.errors import AddressUnavailable
from hbstore.metastore.calls import Endpoint
from hbstore.metastore.server.connection import ConnectionLimits, ServedConnection
from hbstore.metastore.short_calls import SHORT_CALLS, mark_selector
from hbstore.thrift.budget import BUDGET, Budget
from hbstore.thrift.complaints import Complaints
from hbstore.thrift.threads import TaskThreads

DEFAULT_PORT: Final = 9083
"""The Hive Metastore's."""

MAX_CONNECTIONS: Final = 2000
GRACE: Final = 30.0
"""Seconds that calls under way have to end when the server stops."""

_LOG: Final = logging.getLogger("hbstore.metastore.server.server")
_BACKLOG: Final = 1024
_MANY: Final = 4096
_LOOKS: Final = 4
"""How often in the time that a client may be idle the server looks for such clients."""

_PAUSE: Final = 0.1


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
        short: methods that the thread that waits for clients answers itself; none where each call waits for another
            machine.
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
        short: frozenset[str] = SHORT_CALLS,
        watch: Callable[[int], object] = lambda _: None,
    ) -> None:
        self._endpoint = endpoint
        self._host = host
        self._limits = limits or ServerLimits()
        self._short = short
        self._watch = watch
        self._budget = Budget(self._limits.message_memory, advice=": raise --message-memory")
        self._listener = listening_socket(host, port, shared_port=shared_port)
        self._port = int(self._listener.getsockname()[1])
        self._connections: dict[socket.socket, ServedConnection] = {}  # changed by the selecting thread alone
        self._selector = selectors.DefaultSelector()
        self._waking, self._waker = socket.socketpair()
        self._woken = False
        self._returned: deque[tuple[socket.socket, bool]] = deque()
        self._threads = TaskThreads(self._refuse_thread)
        self._accepts_at: float | None = None  # when to accept again, after the system had no room
        self._started = self._closing = self._closed = False
        self._idle_looked = 0.0
        self._over = threading.Event()
        self._complaints = Complaints(_LOG)

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
        self._listener.setblocking(False)
        self._waking.setblocking(False)
        self._waker.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._waking, selectors.EVENT_READ)
        self._threads.start()
        self._started = True
        threading.Thread(target=self._select, name="hbstore-selector", daemon=True).start()
        return self

    def close(self) -> None:
        """Accept nothing more, let idle connections end, and calls that are under way be answered."""
        if self._closed:
            return
        self._closed = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # Linux: nobody listens any more, before it is closed
        if self._started:
            self._wake()
        else:
            self._let_go()

    def join(self, timeout: float | None = None) -> bool:
        """Wait for the end of all connections, after `close`; whether they are over."""
        return self._over.wait(timeout)

    def cut(self) -> int:
        """End all connections at once; how many had a call under way."""
        connections = list(self._connections.values())
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

    # What the selecting thread does

    def _select(self) -> None:
        """Wait for all clients, until the server is closed and its last connection is over."""
        mark_selector()
        while not (self._closed and self._end()):
            for key, _ in self._selector.select(self._patience()):
                sock = cast("socket.socket", key.fileobj)
                if sock is self._listener:
                    self._accept()
                elif sock is self._waking:
                    self._take_back()
                else:
                    self._serve(sock, self._connections[sock])
            self._look_at_clock()
        self._let_go()

    def _serve(self, sock: socket.socket, connection: ServedConnection) -> None:
        """Serve a connection of which there is something to read: here if it is short, else by a thread of its own."""
        goes_on = None
        if self._short:
            try:
                goes_on = connection.serve_short(self._short)
            except BaseException:  # noqa: BLE001  a bug: it ends this connection, and the server goes on
                _LOG.exception("a connection failed")
                goes_on = False
        if goes_on:
            return
        self._selector.unregister(sock)
        if goes_on is None:
            self._threads.run(lambda: self._serve_long(sock, connection))
        else:
            self._forget(sock)

    def _take_back(self) -> None:
        """Wait again for connections that a thread has served."""
        self._waking.recv(_MANY)
        self._woken = False  # before the queue is read, so that what comes into it from here on wakes this thread anew
        while self._returned:
            sock, goes_on = self._returned.popleft()
            if goes_on:
                self._selector.register(sock, selectors.EVENT_READ)
            else:
                self._forget(sock)

    def _accept(self) -> None:
        """Let a client in."""
        if self._closed:
            return
        try:
            sock, address = self._listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return  # it has gone again
        except OSError as error:
            self._complaints.say("cannot accept a connection", why=error.strerror or str(error))
            self._selector.unregister(self._listener)
            self._accepts_at = time.monotonic() + _PAUSE
            return
        if len(self._connections) >= self._limits.connections:
            sock.close()
            self._complaints.say("too many connections: the server refuses more", limit=self._limits.connections)
            return
        client = f"{address[0]}:{address[1]}"
        try:
            connection = ServedConnection(sock, client, self._endpoint, self._limits.connection, self._budget)
        except OSError:
            sock.close()  # the client is gone
            return
        self._connections[sock] = connection
        self._selector.register(sock, selectors.EVENT_READ)
        self._watch(1)

    def _forget(self, sock: socket.socket) -> None:
        """A connection is over, and nobody waits for it any more."""
        self._connections.pop(sock).close()
        self._watch(-1)

    def _patience(self) -> float | None:
        """Seconds until there is something to do even if no client comes."""
        if self._accepts_at is not None:
            return max(0.0, self._accepts_at - time.monotonic())
        idle = self._limits.connection.read.idle_timeout
        return None if idle is None else idle / _LOOKS

    def _look_at_clock(self) -> None:
        """Accept again after a pause, and end the connections of clients that have been silent for too long."""
        if self._accepts_at is not None and time.monotonic() >= self._accepts_at and not self._closed:
            self._accepts_at = None
            self._selector.register(self._listener, selectors.EVENT_READ)
        idle = self._limits.connection.read.idle_timeout
        if idle is not None and time.monotonic() >= self._idle_looked + idle / _LOOKS:
            self._idle_looked = time.monotonic()
            for connection in self._connections.values():
                connection.end_if_idle(idle)

    def _end(self) -> bool:
        """Let connections end, once the server is closed; whether all have."""
        if not self._closing:
            self._closing = True
            if self._accepts_at is None:
                self._selector.unregister(self._listener)
            self._accepts_at = None
            self._listener.close()
            for connection in self._connections.values():
                connection.end()
        return not self._connections

    def _let_go(self) -> None:
        self._listener.close()
        self._selector.close()
        self._waking.close()
        self._waker.close()
        self._threads.close()
        self._over.set()

    # What other threads do

    def _serve_long(self, sock: socket.socket, connection: ServedConnection) -> None:
        """Serve a connection, and give it back to the selecting thread, whatever happens."""
        goes_on = False
        try:
            goes_on = connection.serve()
        finally:
            self._returned.append((sock, goes_on))
            self._wake()

    def _wake(self) -> None:
        """Let the selecting thread look at what has changed."""
        if not self._woken:
            self._woken = True
            with contextlib.suppress(OSError):  # full: it will wake; closed: it is over
                self._waker.send(b"\0")

    def _refuse_thread(self, why: str) -> None:
        self._complaints.say("cannot start a thread", why=why, connections=len(self._connections))


def port_can_be_shared() -> bool:
    """Whether the system spreads connections over processes that listen at one port.

    macOS and the BSDs have the option SO_REUSEPORT, too, but let all connections go to one of the processes.
    """
    return sys.platform == "linux" and hasattr(socket, "SO_REUSEPORT")


def listening_socket(host: str, port: int, *, shared_port: bool = False, option: str = "--port") -> socket.socket:
    """A socket that is bound to an address and does not listen yet.

    Args:
        host: a name or an address of this machine.
        port: 0 for a free one.
        shared_port: let other processes of this user bind to it too, if they ask for it as well, where a port can be
            shared (SO_REUSEPORT).
        option: by which users choose the port, for hints.

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
            if shared_port and port_can_be_shared():
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            sock.bind(address)
        except BaseException:
            sock.close()
            raise
    except (OSError, OverflowError) as error:
        raise AddressUnavailable(
            "the server cannot listen at this address",
            address=f"{host}:{port}",
            reason=getattr(error, "strerror", None) or error,
            hint=f"Choose another with --host and {option}; port 0 takes any free port",
        ) from error
    return sock
