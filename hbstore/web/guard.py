"""What stands before every request: who may ask, from where, and how much.

* Without tokens, the Host header must be a name of the loopback, so that no page elsewhere can name a host of its own
  that leads here (DNS rebinding). Such a page has no token, so with tokens the server may have any name.
* A request that changes something, and that a browser sends from a page of another site (Origin), is refused.
* With a token file, each request carries one of its tokens; without one, the server listens at the loopback alone.
* A body is read up to a limit.
"""

from __future__ import annotations

import hmac
import logging
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hbstore.errors import AccessRefused, HbstoreError, InvalidInput, RequestRefused
from hbstore.query_service.query import ANONYMOUS
from hbstore.web.problems import problem

MAX_BODY: Final = 4 * 2**20
"""Bytes of a request's body."""

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_LOG: Final = logging.getLogger("hbstore.web.requests")
_FAILED: Final = 500
"""Replies that are logged in any case, from this status on."""


@dataclass(frozen=True, slots=True)
class Access:
    """Who may ask.

    Attributes:
        hosts: names and addresses under which the server is reached.
        tokens: users by their tokens; none: everybody who reaches the server.
    """

    hosts: frozenset[str] = LOOPBACK
    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(host: str, token_file: str | None) -> Access:
        """The access to a server at an address.

        Args:
            host: where it listens.
            token_file: a file with a user and a token on each line; blank lines and lines with ``#`` are passed over.

        Raises:
            InvalidInput: the address is not the loopback, and there are no tokens; or the file is none of tokens.
        """
        tokens = {} if token_file is None else _tokens(token_file)
        if host not in LOOPBACK and not tokens:
            raise InvalidInput(
                "a server that other machines reach needs tokens",
                host=host,
                hint="Give --token-file, with a user and a token on each line; or leave out --host",
            )
        return Access(LOOPBACK | {host.lower()}, tokens)

    def user(self, authorization: str | None) -> str | None:
        """Whose token a request carries; None where none is asked for.

        Raises:
            AccessRefused: it carries none, or one that is not in the file.
        """
        if not self.tokens:
            return None
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() == "bearer":
            for one, user in self.tokens.items():
                if hmac.compare_digest(one.encode(), token.strip().encode()):
                    return user
        raise AccessRefused(
            "the request needs an access token", hint="Send the header Authorization: Bearer TOKEN; the client: token=…"
        )


@dataclass(frozen=True, slots=True)
class Guard:
    """An application behind these checks. Each reply, and each line of the log, has the request's id.

    Attributes:
        app: the application.
        access: who may ask.
        log_all: whether all requests are logged, or those alone that the server failed to answer.
    """

    app: ASGIApp
    access: Access
    log_all: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, if it passes."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id, began, status = secrets.token_hex(8), time.monotonic(), 0
        state = scope.setdefault("state", {})
        state["request_id"] = request_id

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "no-referrer"
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            headers = Headers(scope=scope)
            self._check_host(headers)
            self._check_origin(scope["method"], headers)
            state["user"] = self.access.user(headers.get("authorization"))
            await self.app(scope, _limited(receive, headers), sending)
        except HbstoreError as error:
            await problem(scope, error)(scope, receive, sending)
        finally:
            fields = {
                "request": request_id,
                "method": scope["method"],
                "path": scope["path"],
                "status": status,
                "user": state.get("user") or ANONYMOUS,
                "seconds": round(time.monotonic() - began, 4),
            }
            if self.log_all or status >= _FAILED:
                _LOG.info("a request", extra={"fields": fields})

    def _check_host(self, headers: Headers) -> None:
        host = _host_of(f"//{headers.get('host', '')}")
        if not self.access.tokens and host not in self.access.hosts:
            raise RequestRefused(
                "the server is not reached under this name",
                host=headers.get("host", ""),
                hint="Use the name that the server was given by --host, or an address of the loopback",
            )

    def _check_origin(self, method: str, headers: Headers) -> None:
        """See that no page of another site sends what changes something; programs send no Origin."""
        origin = headers.get("origin")
        if method in _SAFE or origin is None:
            return
        if urlsplit(origin).netloc.lower() != headers.get("host", "").lower():
            raise RequestRefused(
                "a page of another site may not change anything", origin=origin, hint="Send the request from a program"
            )


def _host_of(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def _limited(receive: Receive, headers: Headers) -> Receive:
    """Receiving that ends with an error where the body is too large."""
    announced = headers.get("content-length", "0")
    if announced.isdecimal() and int(announced) > MAX_BODY:
        raise _too_large()
    left = MAX_BODY

    async def limited() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise _too_large()
        return message

    return limited


def _too_large() -> HbstoreError:
    return InvalidInput("the request is too large", limit=f"{MAX_BODY} bytes", hint="Send a shorter statement")


def _tokens(path: str) -> dict[str, str]:
    """Users by their tokens."""
    hint = "Write a user and a token of 16 characters or more on each line"
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput("the token file cannot be read", file=path, reason=str(error), hint=hint) from None
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) != 2 or len(words[1]) < 16:  # noqa: PLR2004  a user and a token
            raise InvalidInput("the line holds no user and token", file=path, line=number, hint=hint)
        found[words[1]] = words[0]
    if not found:
        raise InvalidInput("the token file holds no token", file=path, hint=hint)
    return found
