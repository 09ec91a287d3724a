"""Serving an ASGI application in a thread of this process, by uvicorn."""

from __future__ import annotations

import asyncio
import socket
from threading import Event, Thread
from typing import Any, Final, Self

import uvicorn
import uvloop
from starlette.types import ASGIApp

GRACE: Final = 10
"""Seconds that requests under way have when the server stops."""

_BACKLOG: Final = 512
"""Connections that wait to be taken."""


class HttpServer:
    """Serves an application.

    Args:
        app: which.
        listener: bound to an address; None: all connections come by `take`.
        settings: more of uvicorn's.
    """

    def __init__(self, app: ASGIApp, listener: socket.socket | None = None, **settings: Any) -> None:
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=GRACE,
                lifespan="off",
                **settings,
            )
        )
        self._listeners = [] if listener is None else [listener]
        self._loop: asyncio.AbstractEventLoop | None = None
        self._runs = Event()
        self._thread = Thread(target=self._run, name="hbstore-http", daemon=True)

    @property
    def connections(self) -> int:
        """How many clients are connected."""
        return len(self._server.server_state.connections)

    def start(self) -> Self:
        """Begin to serve."""
        for listener in self._listeners:
            listener.listen(_BACKLOG)
        self._thread.start()
        self._runs.wait()
        return self

    def take(self, sock: socket.socket, seconds: float) -> None:
        """Serve a connection that another server has accepted, and of which nothing was read.

        Args:
            sock: connected; its owner may close it.
            seconds: after which the connection ends if no request has come.

        Raises:
            OSError: the connection is broken already, or the server stops.
        """
        if self._loop is None or self._server.should_exit:
            raise ConnectionAbortedError("the server stops")
        asyncio.run_coroutine_threadsafe(self._take(sock.dup(), seconds), self._loop).result()

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
        await self._server.serve(self._listeners)
        for protocol in list(self._server.server_state.connections):
            protocol.transport.abort()
        await asyncio.sleep(0)  # in which the loop closes their sockets

    async def _take(self, sock: socket.socket, seconds: float) -> None:
        sock.setblocking(False)
        config, state, loop = self._server.config, self._server.server_state, asyncio.get_running_loop()
        make: Any = config.http_protocol_class
        _, protocol = await loop.connect_accepted_socket(
            lambda: make(config=config, server_state=state, app_state={}),  # as uvicorn does where it accepts itself
            sock,
        )
        loop.call_later(seconds, _end_without_request, protocol)


def _end_without_request(protocol: Any) -> None:
    """End a connection over which no head of a request has come."""
    if protocol.cycle is None:
        protocol.transport.abort()
