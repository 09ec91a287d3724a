"""Serving an ASGI application in a thread of this process, by uvicorn. Its connections come from another server.

That one accepts them, as far as there is room, and hands each over with the head of its first request (`HttpDialogue`).
"""

from __future__ import annotations

import asyncio
import logging
import socket
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any, Final, Self

import uvicorn
import uvloop
from starlette.types import ASGIApp, Scope

from hbstore.errors import HbstoreError
from hbstore.servers.bounds import UNWATCHED, Bound, DoorWatch
from hbstore.servers.connection import REFUSED_SECONDS, ClientSocket, no_room
from hbstore.servers.heads import RequestHead
from hbstore.servers.http_bounds import BoundedRequests
from hbstore.servers.limits import ServerLimits
from hbstore.servers.logs import REFUSALS, Complaints
from hbstore.servers.sockets import close_after_last_words, send

GRACE: Final = 10
"""Seconds that requests under way have when the server stops."""

MAX_HEAD: Final = 64 * 1024
"""Bytes of a request's line and headers; what came last with them is not cut."""

_LOG: Final = logging.getLogger("hbstore.servers.http")
_LOOK_SECONDS: Final = 1.0
_NO_ROOM: Final = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"


class HttpServer:
    """Serves an application.

    Args:
        app: which.
        limits: what clients may do.
        watch: hears of requests, and of bounds that end something.
        settings: more of uvicorn's.
    """

    def __init__(self, app: ASGIApp, limits: ServerLimits, watch: DoorWatch = UNWATCHED, **settings: Any) -> None:
        self._watch = watch
        self._refusals = Complaints(_LOG, REFUSALS)
        self._protocol: Any = None
        self._server = uvicorn.Server(
            uvicorn.Config(
                BoundedRequests(app, limits, self._cut_request, watch),
                log_config=None,
                log_level="critical",  # of its own lines; those about connections go to `_ConnectionLog`
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=GRACE,
                timeout_keep_alive=limits.http_idle,  # type: ignore[arg-type]
                lifespan="off",
                ws="none",
                **settings,
            )
        )
        self._limits = limits
        self._loop: asyncio.AbstractEventLoop | None = None
        self._taken = self._begun = 0  # connections: one is counted by who hands them over, the other in the loop
        self._runs = Event()
        self._thread = Thread(target=self._run, name="hbstore-http", daemon=True)

    @property
    def connections(self) -> int:
        """How many clients are connected, those on their way from the other server included."""
        return len(self._server.server_state.connections) + self._taken - self._begun

    def start(self) -> Self:
        """Begin to serve."""
        self._thread.start()
        self._runs.wait()
        return self

    def take(self, sock: socket.socket, begun: bytes) -> None:
        """Serve a connection that another server has accepted; nobody waits for that.

        Args:
            sock: connected; its owner may close it.
            begun: what was read of it.

        Raises:
            OSError: the server stops, or the system has no room.
        """
        if self._loop is None or self._server.should_exit:
            raise ConnectionAbortedError("the server stops")
        taken = sock.dup()
        self._taken += 1
        asyncio.run_coroutine_threadsafe(self._take(taken, begun), self._loop)

    def close(self) -> None:
        """Accept nothing more, let idle connections end, and requests that are under way be answered."""
        self._server.should_exit = True

    def join(self, timeout: float | None = None) -> bool:
        """Wait for the end of all connections, after `close`; whether they are over."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def cut(self) -> None:
        """End all connections at once, after `close`."""
        self._server.force_exit = True

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._runs.set()
        watching = asyncio.create_task(self._end_slow())
        await self._server.serve([])
        watching.cancel()
        for protocol in list(self._server.server_state.connections):
            protocol.transport.abort()
        await asyncio.sleep(0)  # in which the loop closes their sockets

    async def _take(self, sock: socket.socket, begun: bytes) -> None:
        sock.setblocking(False)
        config, state, loop = self._server.config, self._server.server_state, asyncio.get_running_loop()
        if self._protocol is None:
            self._protocol = _bounded(config.http_protocol_class, self._refusals)
        try:
            await loop.connect_accepted_socket(
                # as uvicorn does where it accepts itself
                lambda: self._protocol(begun, config=config, server_state=state, app_state={}),
                sock,
            )
        except OSError:
            sock.close()  # the client is gone
        finally:
            self._begun += 1

    async def _end_slow(self) -> None:
        """Cut off clients whose next head takes too long, and those that do not take the end of a reply that failed."""
        seconds, idle = self._limits.login_seconds, self._limits.http_idle
        waiting: dict[Any, tuple[Any, float]] = {}  # by connections: their last request, and since when it is the last
        while True:
            await asyncio.sleep(min(seconds / 4, _LOOK_SECONDS))
            now, before = asyncio.get_running_loop().time(), waiting
            connections: list[Any] = list(self._server.server_state.connections)
            waiting = {one: before.get(one, (one.cycle, now)) for one in connections if _waits(one)}
            for connection, (cycle, since) in waiting.items():
                if cycle is not connection.cycle:
                    waiting[connection] = connection.cycle, now
                elif now - since >= seconds + (0.0 if cycle is None else idle):
                    fields = {"client": _address(connection), "why": "the client took too long to send a request"}
                    _LOG.info("cut off", extra={"fields": fields})
                    self._watch.ended(Bound.LOGIN)
                    connection.transport.abort()

    def _cut_request(self, scope: Scope) -> None:
        """End the connection of a request at once, in the loop."""
        for connection in list(self._server.server_state.connections):
            if connection.scope is scope:  # type: ignore[union-attr]
                connection.transport.abort()


@dataclass(slots=True)
class HttpDialogue:
    """Hands a connection over to an HTTP server when the head of a request has come, or what is none.

    Attributes:
        client: the connection.
        http: takes it.
        limits: what clients may do.
    """

    client: ClientSocket
    http: HttpServer
    limits: ServerLimits
    _head: RequestHead = field(init=False)

    def __post_init__(self) -> None:
        self._head = RequestHead(self.client, self.limits.login_seconds)
        if self.client.refused:
            self.client.patience = min(self.limits.login_seconds, REFUSED_SECONDS)

    def serve_short(self) -> bool | None:
        """Take what has come of the head, and hand it over."""
        if self.client.refused:
            return None
        if not self._head.gather():
            return True
        if self._head.data:  # of what is no request the application's parser says what is wrong
            self.http.take(self.client.sock, self._head.data)
        return False

    def serve(self) -> bool:
        """Tell the client why it is refused, and wait until it has read that."""
        refuse(self.client.sock, no_room(self.limits.connections))
        return False


def refuse(sock: socket.socket, error: HbstoreError) -> None:
    """Tell a client by HTTP why it is refused.

    Raises:
        HbstoreError: the same.
    """
    body = f"{error}\n".encode()
    reply = f"{_NO_ROOM}Content-Length: {len(body)}\r\n\r\n".encode() + body
    send(sock, reply, len(reply))
    close_after_last_words(sock)
    raise error


def _bounded(protocol: Any, refusals: Complaints) -> Any:
    """A protocol of uvicorn's that takes no endless head: its parsers keep what they have of one."""

    class Bounded(protocol):  # type: ignore[misc]
        head_size = 0

        def __init__(self, begun: bytes, **settings: Any) -> None:
            super().__init__(**settings)
            self.begun = begun
            self.logger = _ConnectionLog(self, refusals)

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.data_received(self.begun)
            self.begun = b""

        def data_received(self, data: bytes) -> None:
            before = self.cycle
            super().data_received(data)
            in_head = self.cycle is before and (before is None or (before.response_complete and not before.more_body))
            self.head_size = self.head_size + len(data) if in_head else 0
            if self.head_size > MAX_HEAD:
                why = "the head of a request is too long"
                refusals.say("refused", client=_address(self), why=why, limit=MAX_HEAD)
                self.transport.abort()

    return Bounded


@dataclass(frozen=True, slots=True)
class _ConnectionLog:
    """What a connection of uvicorn's says: of its client a few lines a minute, of the application all."""

    connection: Any
    refusals: Complaints
    level: int = logging.WARNING

    def warning(self, text: str, *_: object) -> None:
        """It is about what a client sent."""
        self.refusals.say("refused", client=_address(self.connection), why=text.splitlines()[0])

    def error(self, text: str, *values: object, exc_info: BaseException | None = None) -> None:
        """It is about the application, or the server stops and a request has not come whole."""
        if isinstance(exc_info, asyncio.CancelledError):
            _LOG.info("cut off", extra={"fields": {"client": _address(self.connection), "why": "the server stops"}})
        else:
            _LOG.error(text.strip(), *values, exc_info=exc_info)


def _address(connection: Any) -> str:
    return ":".join(map(str, connection.client or ()))


def _waits(connection: Any) -> bool:
    """Whether a connection has no request under way, or nobody to read the rest of its reply."""
    cycle = connection.cycle
    return cycle is None or cycle.response_complete or connection.transport.is_closing()
