"""TCLIService over HTTP: a message in the body of each POST, and its reply in the body of the response.

A login stands in each request (Basic), and sessions do not end with a connection. No browser has a reason to come here:
a request with an Origin, of another type, or to a name that is not the server's is refused.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from hbstore.errors import AccessRefused, ProtocolViolation, RequestRefused
from hbstore.hiveserver2.calls import Client, DriverEndpoint
from hbstore.query_service.access import Access
from hbstore.servers.limits import ServerLimits
from hbstore.servers.logs import REFUSALS, Complaints
from hbstore.servers.memory import FREE, Budget, Share, weight
from hbstore.thrift.walker import Walker

MEDIA_TYPE: Final = "application/x-thrift"
MAX_HEAD: Final = 16 * 1024
"""Bytes of a request's line and headers."""

_Result = TypeVar("_Result")
_LOG: Final = logging.getLogger("hbstore.hiveserver2.http_transport")
_WHAT_THIS_IS: Final = (
    "This is hbstore's port for SQL drivers: jdbc:hive2://HOST:PORT/;transportMode=http;httpPath=cliservice\n"
)
_HINT: Final = "Send calls by POST to /cliservice, as the Hive JDBC driver does with transportMode=http"
_HEADERS: Final = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}


@dataclass(frozen=True, slots=True)
class HttpTransport:
    """The application that answers requests.

    Attributes:
        endpoint: answers, in a thread, as it may wait for Spark; kept replies at once.
        access: who may ask.
        limits: what a client may do.
        budget: the memory for large messages.
        threads: how many requests are answered at once.
        refusals: where it is said who is refused.
    """

    endpoint: DriverEndpoint[Any]
    access: Access
    limits: ServerLimits
    budget: Budget
    threads: CapacityLimiter
    refusals: Complaints = field(default_factory=lambda: Complaints(_LOG, REFUSALS))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request = Request(scope, receive)
        try:
            response = await self._response(request)
        except ClientDisconnect:
            return
        except HTTPException as refusal:
            response = self._refusal(request, refusal.status_code, refusal.detail, refusal.headers)
        except AccessRefused as error:
            response = self._refusal(request, 401, str(error), {"WWW-Authenticate": 'Basic realm="hbstore"'})
        except RequestRefused as error:
            response = self._refusal(request, 403, str(error))
        except TimeoutError as error:
            response = self._refusal(request, 408, str(error), {"Connection": "close"})
        await response(scope, receive, send)

    async def _response(self, request: Request) -> Response:
        if request.method in ("GET", "HEAD"):
            return PlainTextResponse(_WHAT_THIS_IS, headers=_HEADERS)
        client = self._checked(request)
        share = Share(self.budget)
        try:
            message = await self._message(request, share)
            reply = self.endpoint.quick(message)
            if reply is None:
                reply = await self._in_thread(lambda: self.endpoint.answer(client, message))
        except (ValueError, IndexError) as error:
            raise HTTPException(400, f"the body is not a call of TCLIService: {error}") from None
        finally:
            share.release()
        return Response(reply, headers=_HEADERS, media_type=MEDIA_TYPE)

    def _checked(self, request: Request) -> Client:
        """Who sends a request, if it may be answered.

        Raises:
            HTTPException, AccessRefused, RequestRefused: it may not.
        """
        if request.method != "POST":
            raise HTTPException(405, "calls are sent by POST", {"Allow": "POST"})
        headers = request.headers
        self.access.check_host(headers.get("host", ""))
        if "origin" in headers:
            raise RequestRefused(
                "a page of a browser may not call this port",
                hint="Use a HiveServer2 driver, or the port of --http-port",
            )
        if headers.get("content-type", "").partition(";")[0].strip().lower() != MEDIA_TYPE:
            raise HTTPException(415, f"the Content-Type must be {MEDIA_TYPE}")
        user = password = None
        if "authorization" in headers or self.access.tokens:
            name, password = _login(headers.get("authorization", ""))
            user = self.access.login(name, password)
        if int(headers.get("content-length", "0")) > self.limits.read.message:
            raise self._too_large()
        return Client(_address(request), user, password, held=False)

    async def _message(self, request: Request, share: Share) -> bytes:
        """The message in a request's body.

        Raises:
            HTTPException: it is none, or too large.
            TimeoutError: it comes too slowly.
        """
        limits = self.limits.read
        body = bytearray()
        pieces = request.stream()
        until = asyncio.get_running_loop().time() + limits.read_timeout
        while True:
            try:
                async with asyncio.timeout_at(until):
                    piece = await anext(pieces, None)
            except TimeoutError:
                raise TimeoutError("the call does not come") from None
            if piece is None:
                break
            if len(body) + len(piece) > limits.message:
                raise self._too_large()
            body += piece
            await self._take(share, len(body), 0)
        message = bytes(body)
        walker = Walker(limits.message, elements=limits.elements)
        try:
            whole = walker.walk(message) and walker.at == len(message)
        except ProtocolViolation as error:
            raise HTTPException(400, str(error)) from None
        if not whole:
            raise HTTPException(400, "the body is not one whole message of Thrift's binary protocol")
        await self._take(share, len(message), walker.elements)
        return message

    async def _take(self, share: Share, size: int, elements: int) -> None:
        """Take what a message weighs, if that is much; it may have to wait for others."""
        needed = weight(size, elements)
        if needed > FREE and needed > share.size:
            await self._in_thread(lambda: share.grow(needed))

    async def _in_thread(self, function: Callable[[], _Result]) -> _Result:
        return await to_thread.run_sync(function, limiter=self.threads, abandon_on_cancel=True)

    def _refusal(self, request: Request, status: int, text: str, headers: Mapping[str, str] | None = None) -> Response:
        self.refusals.say("refused", client=_address(request), why=text, status=status, hint=_HINT)
        return PlainTextResponse(f"{text}\n", status, {**_HEADERS, **(headers or {})})

    def _too_large(self) -> HTTPException:
        return HTTPException(413, f"the request is larger than {self.limits.read.message} bytes")


def _address(request: Request) -> str:
    return f"{request.client.host}:{request.client.port}" if request.client is not None else ""


def _login(authorization: str) -> tuple[str, str]:
    """The user and the password of a header Authorization.

    Raises:
        AccessRefused: it has none.

    >>> _login("Basic YW5uOnNlY3JldA==")
    ('ann', 'secret')
    """
    scheme, _, value = authorization.partition(" ")
    try:
        if scheme.lower() == "basic":
            user, colon, password = base64.b64decode(value.strip(), validate=True).decode().partition(":")
            if colon:
                return user, password
    except (binascii.Error, ValueError):  # which UnicodeDecodeError is as well
        pass
    raise AccessRefused(
        "the request needs a login", hint="Give the driver a user, and the access token as the password"
    )
