"""How replies are sent: to HEAD without their bodies, and large texts packed for who takes them so (gzip)."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Final

from anyio import to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hbstore.web.asked_form import STATIC, weights

LARGE: Final = 2048
"""Bytes from which on a text is packed."""

_TEXTS: Final = ("text/", "application/json", "application/problem+json", "application/x-ndjson", "application/xml")
_TEXTS_TOO: Final = ("application/yaml", "application/javascript", "image/svg+xml")
_LEVEL: Final = 5
_GZIP: Final = 16 + zlib.MAX_WBITS
_AT_ONCE: Final = 64 * 1024
"""Bytes that are packed while other requests wait."""


@dataclass(frozen=True, slots=True)
class Heads:
    """An application that answers HEAD as GET, without the body.

    Attributes:
        app: the application.
    """

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        over = False

        async def heading(message: Message) -> None:
            nonlocal over
            if message["type"] == "http.response.start":
                await send(message)
            elif not over:
                over = True
                await send({"type": "http.response.body"})

        async def receiving() -> Message:
            """What comes; behind the head, that the client is gone, so that no stream is made for nobody."""
            return {"type": "http.disconnect"} if over else await receive()

        await self.app({**scope, "method": "GET"}, receiving, heading)


@dataclass(frozen=True, slots=True)
class PackedTexts:
    """An application whose large texts are packed where the client takes them so.

    What has a strong ETag is not: each form would need a tag of its own. Static files have weak ones then.

    Attributes:
        app: the application.
    """

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or not weights(Headers(scope=scope).get("accept-encoding", "")).get("gzip"):
            await self.app(scope, receive, send)
        else:
            await self.app(scope, receive, _packing(send, is_static=scope["path"].startswith(f"{STATIC}/")))


def _packing(send: Send, *, is_static: bool) -> Send:
    """Sending that packs a text, once its first piece says how large it is."""
    start: Message | None = None
    packer = zlib.compressobj(_LEVEL, wbits=_GZIP)
    packs = False

    async def packing(message: Message) -> None:
        nonlocal start, packs
        if message["type"] == "http.response.start":
            if _may_be_packed(message, is_static=is_static):
                start = message
            else:
                await send(message)
            return
        body, more = message.get("body", b""), message.get("more_body", False)
        if start is not None:
            headers = MutableHeaders(scope=start)
            headers.add_vary_header("Accept-Encoding")
            packs = more or len(body) >= LARGE
            if packs:
                headers["Content-Encoding"] = "gzip"
                del headers["Content-Length"]
                if "etag" in headers:
                    headers["ETag"] = f"W/{headers['etag'].removeprefix('W/')}"
            await send(start)
            start = None
        if packs:
            if len(body) > _AT_ONCE:
                body = await to_thread.run_sync(packer.compress, body)
            else:
                body = packer.compress(body)
            body += b"" if more else packer.flush()
        await send({**message, "body": body})

    return packing


def _may_be_packed(start: Message, *, is_static: bool) -> bool:
    headers = Headers(raw=start["headers"])
    kind = headers.get("content-type", "")
    is_text = kind.startswith(_TEXTS + _TEXTS_TOO) and not kind.startswith("text/event-stream")
    weak = headers.get("etag", "W/").startswith("W/")
    plain = "content-encoding" not in headers and (is_static or weak)
    return is_text and plain and start["status"] not in (204, 206, 304)
