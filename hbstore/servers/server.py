"""A server: a listening socket, its connections, a thread that waits for all of them, and threads for long calls.

One thread waits for whatever comes first: a client that connects, a call, the end of a connection. It answers short
calls itself, one after the other: Python runs one thread at a time, and a call lets go of its lock several times, so
that threads of their own would hand the lock from core to core within each call.

That thread never waits for one client. A call that may take long, one of which a large part has come, and a reply that
the client does not take go to another thread, together with the connection. It gives the connection back when that is
served, so that the calls of one client are answered in their order. What has come of a small call waits where it is, so
that thousands of clients that stop in the middle of one need no threads.
"""

from __future__ import annotations

import contextlib
import logging
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Self, TypeAlias, cast

from hbstore.servers.bounds import UNWATCHED, Bound, DoorWatch
from hbstore.servers.connection import ClientSocket, Dialogue
from hbstore.servers.limits import ServerLimits
from hbstore.servers.logs import REFUSALS, Complaints
from hbstore.servers.threads import TaskThreads

if TYPE_CHECKING:  # which needs what a metastore does without
    from hbstore.servers.http import HttpServer

GRACE: Final = 30.0
"""Seconds that calls under way have to end when the server stops."""

_LOG: Final = logging.getLogger("hbstore.servers.server")
_BACKLOG: Final = 4096
"""Clients that may wait to be accepted, as many as Linux allows by default: where a crowd that was cut off comes again
at once and fills it, the system repeats another client's beginning only after 1, 3 and 7 s."""

_MANY: Final = 4096
_LOOKS: Final = 4
"""How often in the time that a client may be silent the server looks for such clients."""

_PAUSE: Final = 0.1
_REFUSED: Final = 16
"""Clients beyond the limit that are told so at the same time; still more are disconnected without a word."""


Speaks: TypeAlias = Callable[[ClientSocket], Dialogue]
"""Begins the dialogue of a new connection, without waiting for its client."""


class Server:
    """Serves clients at an address. It is a context manager: inside, it serves.

    Args:
        listener: bound to the address; see `hbstore.servers.listening.listening_socket`.
        speaks: what clients speak.
        limits: what they may do.
        patience: seconds after which a client ends that sends nothing; None: never. A dialogue may change its own.
        tells_refused: whether clients beyond the limit get a dialogue, which says so; the others are disconnected.
        grace: seconds that calls under way have to end when the context ends.
        watch: hears of connections, and of bounds that end them.
        http: serves connections that dialogues hand over to it; it starts and stops with this server.
    """

    def __init__(
        self,
        listener: socket.socket,
        speaks: Speaks,
        limits: ServerLimits,
        *,
        patience: float | None = None,
        tells_refused: bool = False,
        grace: float = GRACE,
        watch: DoorWatch = UNWATCHED,
        http: HttpServer | None = None,
    ) -> None:
        self._listener = listener
        self._speaks = speaks
        self._limits = limits
        self._patience = patience
        waits = limits.read.read_timeout if patience is None else min(patience, limits.read.read_timeout)
        self._looks_every = waits / _LOOKS
        self._refuses = _REFUSED if tells_refused else 0
        self._grace = grace
        self._watch = watch
        self._http = http
        self._port = int(listener.getsockname()[1])
        # Changed by the selecting thread alone, like `_refused`: how many of them are beyond the limit.
        self._connections: dict[socket.socket, tuple[ClientSocket, Dialogue]] = {}
        self._refused = 0
        self._selector = selectors.DefaultSelector()
        self._waking, self._waker = socket.socketpair()
        self._woken = False
        self._returned: deque[tuple[socket.socket, bool]] = deque()
        self._threads = TaskThreads(self._refuse_thread)
        self._accepts_at: float | None = None  # when to accept again, after the system had no room
        self._started = self._closing = self._closed = False
        self._looked = 0.0
        self._over = threading.Event()
        self._complaints = Complaints(_LOG)
        self._refusals = Complaints(logging.getLogger("hbstore.servers.connection"), REFUSALS)

    @property
    def port(self) -> int:
        """The port that clients reach it at."""
        return self._port

    @property
    def connections(self) -> int:
        """How many clients are connected."""
        return len(self._connections) + (0 if self._http is None else self._http.connections)

    def start(self) -> Self:
        """Begin to serve."""
        if self._http is not None:
            self._http.start()
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
        until = None if timeout is None else time.monotonic() + timeout
        if not self._over.wait(timeout):
            return False
        left = None if until is None else max(0.0, until - time.monotonic())
        return self._http is None or not self._started or self._http.join(left)

    def cut(self) -> int:
        """End all connections at once; how many had a call under way."""
        clients = [client for client, _ in self._connections.values()]
        for client in clients:
            client.cut()
        if self._http is not None and self._started:
            self._http.close()
            self._http.cut()
        return sum(client.answering for client in clients)

    def stop(self, grace: float | None = None) -> bool:
        """`close`, and `cut` what is not over after some seconds; whether nothing had to be cut."""
        self.close()
        if self.join(self._grace if grace is None else grace):
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
        while not (self._closed and self._end()):
            for key, _ in self._selector.select(self._until_next_look()):
                sock = cast("socket.socket", key.fileobj)
                if sock is self._listener:
                    self._accept()
                elif sock is self._waking:
                    self._take_back()
                else:
                    self._serve(sock, *self._connections[sock])
            self._look_at_clock()
        self._let_go()

    def _serve(self, sock: socket.socket, client: ClientSocket, dialogue: Dialogue) -> None:
        """Serve a connection of which there is something to read: here if it is short, else by a thread of its own."""
        goes_on = client.serve_short(dialogue)
        if goes_on:
            return
        self._selector.unregister(sock)
        if goes_on is None:
            self._threads.run(lambda: self._serve_long(sock, client, dialogue))
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
        refused = self.connections - self._refused >= self._limits.connections and not self._make_room()
        if refused:
            self._complaints.say("too many connections: the server refuses more", limit=self._limits.connections)
            self._watch.ended(Bound.CONNECTIONS)
            if self._refused >= self._refuses:
                sock.close()
                return
        limits = self._limits
        try:
            client = ClientSocket(
                sock,
                f"{address[0]}:{address[1]}",
                limits.write_timeout,
                self._patience,
                least_rate=limits.read.least_rate,
                refused=refused,
                complaints=self._refusals,
                watch=self._watch,
            )
            dialogue = self._speaks(client)
        except OSError:
            sock.close()  # the client is gone
            return
        self._connections[sock] = client, dialogue
        self._refused += refused
        self._selector.register(sock, selectors.EVENT_READ)
        self._watch.connected(1)

    def _make_room(self) -> bool:
        """End the client that has been silent longest, if that is long; whether there was one."""
        longest = max(
            (client for client, _ in self._connections.values()), key=lambda one: one.silent_for, default=None
        )
        if longest is None or longest.silent_for <= self._limits.room_after:
            return False
        self._complaints.say("too many connections: silent ones make room", limit=self._limits.connections)
        longest.end_in_favour_of_another()
        return True

    def _forget(self, sock: socket.socket) -> None:
        """A connection is over, and nobody waits for it any more."""
        client, _ = self._connections.pop(sock)
        client.close()
        self._refused -= client.refused
        self._watch.connected(-1)

    def _until_next_look(self) -> float:
        """Seconds until there is something to do even if no client comes."""
        return self._looks_every if self._accepts_at is None else max(0.0, self._accepts_at - time.monotonic())

    def _look_at_clock(self) -> None:
        """Accept again after a pause, and end the connections of clients that have been silent for too long."""
        if self._accepts_at is not None and time.monotonic() >= self._accepts_at and not self._closed:
            self._accepts_at = None
            self._selector.register(self._listener, selectors.EVENT_READ)
        if time.monotonic() >= self._looked + self._looks_every:
            self._looked = time.monotonic()
            for client, _ in self._connections.values():
                client.end_if_silent()

    def _end(self) -> bool:
        """Let connections end, once the server is closed; whether all have."""
        if not self._closing:
            self._closing = True
            if self._accepts_at is None:
                self._selector.unregister(self._listener)
            self._accepts_at = None
            self._listener.close()
            for client, _ in self._connections.values():
                client.end()
        return not self._connections

    def _let_go(self) -> None:
        if self._http is not None and self._started:
            self._http.close()  # only now: it has all connections that were handed over
        self._listener.close()
        self._selector.close()
        self._waking.close()
        self._waker.close()
        self._threads.close()
        self._over.set()

    # What other threads do

    def _serve_long(self, sock: socket.socket, client: ClientSocket, dialogue: Dialogue) -> None:
        """Serve a connection, and give it back to the selecting thread."""
        self._returned.append((sock, client.serve(dialogue)))
        self._wake()

    def _wake(self) -> None:
        """Let the selecting thread look at what has changed."""
        if not self._woken:
            self._woken = True
            with contextlib.suppress(OSError):  # full: it will wake; closed: it is over
                self._waker.send(b"\0")

    def _refuse_thread(self, why: str) -> None:
        self._complaints.say("cannot start a thread", why=why, connections=len(self._connections))
