"""What stands before every request: who may ask, from where, and how much.

* The Host header and the token are checked as `hbstore.query_service.access` says.
* A request that changes something, and that a browser sends from a page of another site (Origin), is refused.
* A body is read up to a limit, and for so long.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hbstore.errors import AccessRefused, HbstoreError, RequestRefused, RequestTooLarge, RequestTooSlow, ServerBusy
from hbstore.query_service.access import Access
from hbstore.query_service.query import ANONYMOUS
from hbstore.servers.limits import MAX_BODIES
from hbstore.servers.logs import REFUSALS, Complaints
from hbstore.web.problems import problem

MAX_BODY: Final = 4 * 2**20
"""Bytes of a request's body."""

BODY_SECONDS: Final = 60.0
"""In which a request's body must have come."""

_OPEN: Final = frozenset({"/health", "/health/live", "/health/ready"})
"""What probes ask, which have no token."""

_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_LOG: Final = logging.getLogger("hbstore.web.requests")
_FAILED: Final = 500
"""Replies that are logged in any case, from this status on."""


@dataclass(frozen=True, slots=True)
class AnsweredRequest:
    """A request that was answered.

    Attributes:
        method: such as ``GET``.
        route: the template of its path, such as ``/queries/{id_}``; None: it came to none.
        status: of the reply; 0: the client went away before there was one.
        seconds: until the reply's end.
    """

    method: str
    route: str | None
    status: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Guard:
    """An application behind these checks. Each reply, and each line of the log, has the request's id.

    Attributes:
        app: the application.
        access: who may ask.
        log_all: whether all requests are logged, or those alone that the server failed to answer.
        observe: hears of each request; None: nobody does.
        body_seconds: in which a request's body must have come.
        bodies: the room for bodies.
        refusals: where it is said who is refused.
    """

    app: ASGIApp
    access: Access
    log_all: bool = False
    observe: Callable[[AnsweredRequest], None] | None = None
    body_seconds: float = BODY_SECONDS
    bodies: Bodies = field(default_factory=lambda: Bodies(MAX_BODIES))
    refusals: Complaints = field(default_factory=lambda: Complaints(_LOG, REFUSALS))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, if it passes."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id, began, status = secrets.token_hex(8), time.monotonic(), 0
        body = Body(self.bodies)
        state = scope.setdefault("state", {})
        state["request_id"] = request_id

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
                headers["X-Content-Type-Options"] = "nosniff"
                # Other sites learn no address. Where browsers send no referrer, they hide the Origin of forms, too.
                headers["Referrer-Policy"] = "same-origin"
                # What has a tag may be kept, and is asked for again by it.
                headers.setdefault("Cache-Control", "no-cache" if "etag" in headers else "no-store")
            await send(message)

        try:
            headers = Headers(scope=scope)
            self.access.check_host(headers.get("host", ""))
            self._check_origin(scope["method"], headers)
            if scope["path"] not in _OPEN:
                state["user"] = self.access.user(headers.get("authorization"))
            await self.app(scope, _limited(receive, headers, self.body_seconds, body), sending)
        except HbstoreError as error:
            if isinstance(error, (AccessRefused, RequestRefused)):
                client = ":".join(map(str, scope.get("client") or ()))
                fields = {"client": client, "method": scope["method"], "path": scope["path"], "why": error.text}
                self.refusals.say("refused", **{**fields, **error.fields})
            await problem(scope, error)(scope, receive, sending)
        finally:
            body.release()
            seconds = time.monotonic() - began
            if self.observe is not None:
                route = getattr(scope.get("route"), "path", None)
                self.observe(AnsweredRequest(scope["method"], route, status, seconds))
            fields = {
                "request": request_id,
                "method": scope["method"],
                "path": scope["path"],
                "status": status,
                "user": state.get("user") or ANONYMOUS,
                "seconds": round(seconds, 4),
            }
            if self.log_all or status >= _FAILED:
                _LOG.info("a request", extra={"fields": fields})

    def _check_origin(self, method: str, headers: Headers) -> None:
        """See that no page of another site sends what changes something; programs send no Origin."""
        origin = headers.get("origin")
        if method in _SAFE or origin is None:
            return
        if _place_of(origin) != headers.get("host", "").lower():
            raise RequestRefused(
                "a page of another site may not change anything", origin=origin, hint="Send the request from a program"
            )


def _place_of(origin: str) -> str | None:
    """The name and port in a header Origin; None where it is no URL."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _limited(receive: Receive, headers: Headers, seconds: float, body: Body) -> Receive:
    """Receiving that ends with an error where the body is too large, or too slow."""
    announced = headers.get("content-length", "0")
    if announced.isdecimal() and int(announced) > MAX_BODY:
        raise _too_large()
    left, until = MAX_BODY, asyncio.get_running_loop().time() + seconds
    over = False

    async def limited() -> Message:
        nonlocal left, over
        try:
            async with asyncio.timeout_at(
                None if over else until
            ):  # behind the body comes the client's end, in its time
                message = await receive()
        except TimeoutError:
            raise RequestTooSlow("the body does not come", limit=f"{seconds:g} s", hint="Send it at once") from None
        over = not message.get("more_body", False)
        size = len(message.get("body", b""))
        body.grow(size)
        left -= size
        if left < 0:
            raise _too_large()
        return message

    return limited


@dataclass(slots=True)
class Bodies:
    """What all bodies of requests under way take, of so many bytes."""

    total: int
    used: int = 0


@dataclass(slots=True)
class Body:
    """What the body of one request takes."""

    bodies: Bodies
    size: int = 0

    def grow(self, more: int) -> None:
        """It is so many bytes longer.

        Raises:
            ServerBusy: there is no room for it.
        """
        if self.bodies.used + more > self.bodies.total:
            raise ServerBusy(
                "the bodies of other requests take all the room for them",
                limit=f"{self.bodies.total} bytes",
                hint="Send the request again later",
            )
        self.bodies.used += more
        self.size += more

    def release(self) -> None:
        """The request is answered."""
        self.bodies.used -= self.size
        self.size = 0


def _too_large() -> HbstoreError:
    return RequestTooLarge(
        "the request is too large",
        limit=f"{MAX_BODY} bytes",
        hint="Send a shorter statement, or fewer partitions at once",
    )
