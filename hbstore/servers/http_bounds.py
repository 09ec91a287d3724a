"""What clients may do over HTTP once a request is read: how many are under way, and how slowly a reply may be taken."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hbstore.errors import ServerBusy
from hbstore.servers.bounds import UNWATCHED, Bound, DoorWatch
from hbstore.servers.limits import ServerLimits
from hbstore.servers.logs import Complaints

ALWAYS: Final = frozenset({"/health", "/health/live", "/health/ready"})
"""Paths of probes, which are answered however many requests are under way."""

_LOG: Final = logging.getLogger("hbstore.servers.http")


class BoundedRequests:
    """An application whose requests are bounded.

    Args:
        app: the application.
        limits: what clients may do.
        cut: ends the connection of a request at once.
        watch: hears of requests, and of bounds that end some.
    """

    def __init__(
        self, app: ASGIApp, limits: ServerLimits, cut: Callable[[Scope], object], watch: DoorWatch = UNWATCHED
    ) -> None:
        self._app = app
        self._limits = limits
        self._cut = cut
        self._watch = watch
        self._under_way = 0
        self._complaints = Complaints(_LOG)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, if there is room for one more."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._under_way >= self._limits.requests and scope["path"] not in ALWAYS:
            await self._refuse(scope, receive, send)
            return
        self._under_way += 1
        self._watch.requests(1)
        try:
            await self._app(scope, receive, self._paced(scope, send))
        finally:
            self._under_way -= 1
            self._watch.requests(-1)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._complaints.say("too many requests: the server refuses more", limit=self._limits.requests)
        self._watch.ended(Bound.REQUESTS)
        error = ServerBusy(
            "the server has too many requests under way",
            limit=self._limits.requests,
            hint="Ask again later, or let the server be started with a larger --max-requests",
        )
        headers = {"Retry-After": "1", "Connection": "close"}
        await PlainTextResponse(f"{error}\n", HTTPStatus.SERVICE_UNAVAILABLE, headers)(scope, receive, send)

    def _paced(self, scope: Scope, send: Send) -> Send:
        """Sending that ends where the client takes its reply too slowly; only waits for the client count."""
        clock, rate = asyncio.get_running_loop().time, self._limits.read.least_rate
        waited, sent, is_cut = 0.0, 0, False

        async def sending(message: Message) -> None:
            nonlocal waited, sent, is_cut
            if is_cut:
                return
            began = clock()
            try:
                async with asyncio.timeout(self._limits.write_timeout + sent / rate - waited):
                    await send(message)
            except TimeoutError:
                is_cut = True
                client = ":".join(map(str, scope.get("client") or ()))
                fields = {"client": client, "why": f"the client reads its reply too slowly, {sent} bytes until now"}
                _LOG.info("cut off", extra={"fields": fields})
                self._watch.ended(Bound.READING)
                self._cut(scope)
            waited += clock() - began
            sent += len(message.get("body", b""))

        return sending
