"""In which form a request wants a resource: one address has several.

A program says it by Accept, by ``format=``, or by ``.json`` behind the address. Names of databases and tables have no
dot, so that such an ending belongs to no name; an address that ends with a partition's name takes none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fastapi import Request
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.routing import Match
from starlette.types import ASGIApp, Receive, Scope, Send

STATIC: Final = "/static"
"""Where styles and scripts of pages are."""

_ENDING: Final = ".json"
_CATALOG: Final = "/databases"


@dataclass(frozen=True, slots=True)
class JsonEnding:
    """An application that takes addresses of the catalog with ``.json`` for those without, in the form of JSON.

    Attributes:
        app: the application.
    """

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        path = scope.get("path", "")
        if scope["type"] == "http" and path.startswith(_CATALOG) and path.endswith(_ENDING) and "=" not in path:
            scope = {**scope, "path": path.removesuffix(_ENDING)}
            scope["state"] = {**scope.get("state", {}), "form": "json"}
        await self.app(scope, receive, send)


@dataclass(frozen=True, slots=True)
class Pages:
    """Two applications at the same addresses: one that answers browsers with pages, and one for all others.

    Attributes:
        app: for programs; it also has what there is no page for.
        pages: for browsers.
    """

    app: ASGIApp
    pages: Starlette

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        is_page = scope["type"] == "http" and (wants_page(scope) or scope["path"].startswith(STATIC))
        if is_page and any(route.matches(scope)[0] is Match.FULL for route in self.pages.routes):
            await self.pages(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def wants_page(scope: Scope) -> bool:
    """Whether a browser asks, to show what it gets: it accepts HTML and names no other form."""
    headers = Headers(scope=scope)
    is_form = headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
    said = b"format=" in scope.get("query_string", b"") or "form" in scope.get("state", {})
    return not said and "text/html" in headers.get("accept", "") and (scope["method"] in ("GET", "HEAD") or is_form)


def asked_form(request: Request, said: str | None, media_types: Mapping[str, str]) -> str:
    """The form that a request wants.

    Args:
        request: what is asked.
        said: what ``format=`` says.
        media_types: of each form; the first is that of a request which says nothing.
    """
    if said is not None:
        return said
    ending: str | None = request.scope.get("state", {}).get("form")
    if ending is not None:
        return ending
    accepted = [one.partition(";")[0].strip().lower() for one in request.headers.get("accept", "").split(",")]
    return next(
        (form for one in accepted for form, kind in media_types.items() if kind == one), next(iter(media_types))
    )
