"""The server: a listening socket, its connections, and threads that wait for all of them.

A connection belongs to no thread. Those whose turn it is (`hbstore.metastore.turns`) wait for whatever comes first: a
client that connects, a call, the end of a connection. They serve it themselves, so that it costs no hand-over, and what
comes next meets threads that are warm, with a connection to the store of their own. While a thread serves a
connection nobody waits for it: the system is told to report each socket once (EPOLLONESHOT), and again afterwards.
"""

from __future__ import annotations

import contextlib
import logging
import select
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
from hbstore.metastore.turns import Lead, SideBySide, Turns

DEFAULT_PORT: Final = 9083
"""The Hive Metastore's."""

MAX_CONNECTIONS: Final = 2000
GRACE: Final = 30.0
"""Seconds that calls under way have to end when the server stops."""

_LOG: Final = logging.getLogger("hbstore.metastore.server")
_BACKLOG: Final = 1024
_STACK: Final = 1024 * 1024
"""Bytes of a thread's stack: an eighth of the usual, as there may be thousands."""

_ONCE: Final = select.EPOLLIN | select.EPOLLONESHOT
_LOOKS: Final = 4
"""How often in the time that a client may be idle the server looks for such clients."""

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
        side_by_side: answering a call takes a request to another machine.
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
        side_by_side: bool = False,
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
        self._connections: dict[int, Connection] = {}
        self._ready = select.epoll()
        self._turns: Turns = (SideBySide if side_by_side else Lead)(self._add_thread)
        self._threads = 0
        self._closed = False
        self._over = threading.Event()
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
        self._listener.setblocking(False)
        self._ready.register(self._listener, _ONCE)
        self._turns.start()
        if self._limits.connection.read.idle_timeout is not None:
            threading.Thread(target=self._send_idle_away, name="hbstore-idle", daemon=True).start()
        return self

    def close(self) -> None:
        """Accept nothing more, let idle connections end, and calls that are under way be answered."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            connections = list(self._connections.values())
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # nobody listens any more
        for connection in connections:
            connection.end()
        self._end_if_over()

    def join(self, timeout: float | None = None) -> bool:
        """Wait for the end of all connections, after `close`; whether they are over."""
        with self._changed:
            return self._changed.wait_for(lambda: self._closed and not self._connections, timeout)

    def cut(self) -> int:
        """End all connections at once; how many had a call under way."""
        with self._changed:
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

    # Threads

    def _add_thread(self) -> bool:
        """One more thread; whether the system has one."""
        with self._changed:
            self._threads += 1
        before = threading.stack_size(_STACK)
        try:
            threading.Thread(target=self._work, name="hbstore-calls", daemon=True).start()
        except RuntimeError as error:
            self._leave()
            self._complaints.say("cannot start a thread", why=str(error), connections=len(self._connections))
            return False
        finally:
            threading.stack_size(before)
        return True

    def _work(self) -> None:
        """What each thread does: wait until its turn has come, then serve whom it meets."""
        turns, ready = self._turns, self._ready
        try:
            while turns.wait():
                goes_on = True
                while goes_on:
                    ((number, _),) = ready.poll(maxevents=1)
                    turns.begin()
                    self._serve(number)
                    goes_on = turns.end()
        finally:
            self._leave()

    def _leave(self) -> None:
        """A thread is over; the last one of all lets go of what they waited for."""
        with self._changed:
            self._threads -= 1
            if self._over.is_set() and not self._threads:
                self._let_go()

    def _let_go(self) -> None:
        self._listener.close()
        self._ready.close()

    def _serve(self, number: int) -> None:
        """Serve the socket of a number, of which there is something to read."""
        connection = self._connections.get(number)
        if connection is None:
            self._accept()
            return
        stays = False
        try:
            stays = connection.serve()
        finally:
            if stays:
                self._ready.modify(number, _ONCE)
            else:
                self._forget(number, connection)

    def _accept(self) -> None:
        """Let a client in, and wait for the next one."""
        if self._closed:
            return
        try:
            sock, address = self._listener.accept()
        except BlockingIOError:
            pass  # it has gone again
        except OSError as error:
            if not self._closed:
                self._complaints.say("cannot accept a connection", why=error.strerror or str(error))
                time.sleep(_PAUSE)
        else:
            self._admit(sock, f"{address[0]}:{address[1]}")
        with self._changed:
            if not self._closed:
                self._ready.modify(self._listener, _ONCE)

    def _admit(self, sock: socket.socket, client: str) -> None:
        sock.setblocking(True)
        with self._changed:
            full = len(self._connections) >= self._limits.connections
            if full or self._closed or not self._keep(sock, client):
                sock.close()
        if full:
            self._complaints.say("too many connections: more are refused", limit=self._limits.connections)

    def _keep(self, sock: socket.socket, client: str) -> bool:
        """Begin a connection; whether the client is still there."""
        number = sock.fileno()
        try:
            self._connections[number] = Connection(sock, client, self._endpoint, self._limits.connection, self._budget)
            self._ready.register(number, _ONCE)
        except OSError:
            self._connections.pop(number, None)
            return False
        self._watch(1)
        return True

    def _forget(self, number: int, connection: Connection) -> None:
        """A connection is over."""
        with self._changed:
            del self._connections[number]  # before it is closed, as the next one may have its number
            connection.close()
            self._watch(-1)
            self._changed.notify_all()
        self._end_if_over()

    def _end_if_over(self) -> None:
        """Once the server is closed and its last connection is over, the threads end."""
        with self._changed:
            if not self._closed or self._connections or self._over.is_set():
                return
            self._over.set()
        self._turns.close()  # without the lock, which turns take while they have their own, to add a thread
        with self._changed:
            if self._threads:
                self._ready.modify(self._listener, select.EPOLLIN)  # wakes all of them, as it was shut down
            else:
                self._let_go()

    def _send_idle_away(self) -> None:
        """End the connections of clients that have been silent for too long."""
        longest = self._limits.connection.read.idle_timeout or 0
        while not self._over.wait(longest / _LOOKS):
            with self._changed:
                connections = list(self._connections.values())
            for connection in connections:
                connection.end_if_idle(longest)


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
