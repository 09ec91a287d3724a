"""In which form a request wants a resource: one address has several.

A program says it by Accept, by ``format=``, or by ``.json`` behind the address. Names of databases and tables have no
dot, so that such an ending belongs to no name; an address that ends with a partition's name takes none.
"""

from __future__ import annotations

import re
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
_HTML: Final = ("text/html", "application/xhtml+xml")
_WEIGHT: Final = re.compile(r"\d*\.?\d+|\d+\.")
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


def weights(header: str) -> dict[str, float]:
    """What a header such as Accept lists, by preference: first what weighs most, then what stands first.

    >>> weights("text/html;q=0, application/json;q=.5, text/csv")
    {'text/csv': 1.0, 'application/json': 0.5, 'text/html': 0.0}
    """
    weighed: dict[str, float] = {}
    for part in header.lower().split(","):
        name, *parameters = (word.strip() for word in part.split(";"))
        weight = next((word[2:] for word in parameters if word.startswith("q=")), "1")
        if name:
            weighed.setdefault(name, float(weight) if _WEIGHT.fullmatch(weight) else 1.0)
    return dict(sorted(weighed.items(), key=lambda item: -item[1]))


def wants_page(scope: Scope) -> bool:
    """Whether a browser asks, to show what it gets: it wants HTML rather than any other form, and names none.

    Java's URLConnection says so, too, but for its bare ``*``.
    """
    headers = Headers(scope=scope)
    is_form = headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
    said = b"format=" in scope.get("query_string", b"") or "form" in scope.get("state", {})
    accepted = weights(headers.get("accept", ""))
    wants_html = next(iter(accepted), None) in _HTML and any(accepted.values()) and "*" not in accepted
    return not said and wants_html and (scope["method"] in ("GET", "HEAD") or is_form)


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
    accepted = weights(request.headers.get("accept", ""))
    places = list(accepted)

    def rank(form: str) -> tuple[float, int]:
        """How much the request wants a form: as the nearest of the ranges says that it lies in."""
        kind = media_types[form]
        for name in (kind, f"{kind.partition('/')[0]}/*", "*/*"):
            if name in accepted:
                return accepted[name], -places.index(name)
        return 0.0, -len(places)

    return max(media_types, key=rank)
