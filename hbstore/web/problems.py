"""Errors over HTTP: problem details (RFC 9457) with hbstore's names of errors, their fields and hints.

{"type": "about:blank", "title": "the query does not exist", "status": 404,
 "error": "QueryNotFound", "fields": {"query": "5f"}, "hint": "…", "request": "9c0e…"}
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import Scope

from hbstore.errors import (
    AccessRefused,
    AlreadyExists,
    ConcurrentChange,
    CubeError,
    DatabaseNotEmpty,
    DatabaseNotFound,
    DdlRefused,
    FileOperationFailed,
    HbstoreError,
    InvalidInput,
    InvalidName,
    InvalidPartitionValue,
    ModelInUse,
    ModelNotFound,
    OutsideWarehouse,
    PartitionNotFound,
    QueryNotFinished,
    QueryNotFound,
    RequestRefused,
    RequestTooLarge,
    RequestTooSlow,
    ResultExpired,
    ServerBusy,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
    TableFolderMissing,
    TableNotFound,
    TableNotPartitioned,
    TextError,
    TimelineError,
    TooManyQueries,
    TooManyWaiters,
    Uncoverable,
    VersionMismatch,
)
from hbstore.query_service.query import QueryProblem
from hbstore.store.partition_store import PartitionStore
from hbstore.web.asked_form import wants_page

MEDIA_TYPE: Final = "application/problem+json"
PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    "default": {
        "description": "An error, as a problem document (RFC 9457)",
        "content": {MEDIA_TYPE: {"schema": {"type": "object"}}},
    }
}
"""How a route's description tells of errors, as FastAPI takes it."""

_LOG: Final = logging.getLogger("hbstore.web")
_KINDS: Final[Mapping[int, tuple[type[HbstoreError], ...]]] = {
    400: (
        CubeError,
        DdlRefused,
        InvalidInput,
        InvalidName,
        InvalidPartitionValue,
        TableNotPartitioned,
        TextError,
        TimelineError,
    ),
    401: (AccessRefused,),
    403: (OutsideWarehouse, RequestRefused, StoreReadOnly),
    404: (DatabaseNotFound, ModelNotFound, PartitionNotFound, QueryNotFound, TableNotFound),
    408: (RequestTooSlow,),
    409: (
        AlreadyExists,
        ConcurrentChange,
        DatabaseNotEmpty,
        ModelInUse,
        QueryNotFinished,
        TableFolderMissing,
        Uncoverable,
    ),
    410: (ResultExpired,),
    412: (VersionMismatch,),
    413: (RequestTooLarge,),
    429: (TooManyQueries, TooManyWaiters),
    503: (ServerBusy, StoreUnavailable),
    507: (StoreFull,),
}
_STATUS: Final = {kind: status for status, kinds in _KINDS.items() for kind in kinds}
_RETRY_SECONDS: Final = 1
_WRONG_METHOD: Final = 405
_METHODS: Final = ("DELETE", "GET", "PATCH", "POST", "PUT")


def problem(scope: Scope, error: HbstoreError, status: int | None = None, allow: Iterable[str] = ()) -> JSONResponse:
    """The reply for an error; that of a wrong method says which ones the resource takes."""
    code = status_of(error) if status is None else status
    shown = QueryProblem.of(error)
    document: dict[str, Any] = {
        "type": "about:blank",
        "title": shown.text,
        "status": code,
        "error": shown.error,
        "fields": dict(shown.fields),
        "hint": shown.hint,
        "highlight": shown.highlight,
        "request": scope.get("state", {}).get("request_id"),
    }
    headers = {"Retry-After": str(_RETRY_SECONDS)} if code in (429, 503) else {}
    if allow:
        headers["Allow"] = ", ".join(allow)
    if code == 401:  # noqa: PLR2004  unauthorized
        headers["WWW-Authenticate"] = 'Basic realm="hbstore", charset="UTF-8"' if wants_page(scope) else "Bearer"
    return JSONResponse(document, code, headers=headers, media_type=MEDIA_TYPE)


def status_of(error: HbstoreError) -> int:
    """The status of the reply for an error: that of the nearest of its classes that has one.

    Of files it is 502 where their file system refuses or does not answer, which clients do not repeat by themselves, as
    a part may be done; else the request is wrong, such as a location that is none.
    """
    if isinstance(error, FileOperationFailed):
        return 502 if isinstance(error.__cause__, OSError | ImportError | NotImplementedError) else 400
    return next((_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS), 500)


def handle_errors(app: FastAPI, store: PartitionStore | None) -> None:
    """Let an application answer all errors so; of tables and databases that are not in a store, with similar names."""

    @app.exception_handler(HbstoreError)
    def named(request: Request, error: HbstoreError) -> JSONResponse:
        if store is not None:
            store.suggest(error)
        return problem(request.scope, error)

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(str(one) for one in first["loc"])
        refusal = InvalidInput(
            "the request is not valid", at=place, reason=first["msg"], hint="See /docs for what the request may hold"
        )
        return problem(request.scope, refusal)

    @app.exception_handler(HTTPException)
    def other(request: Request, error: HTTPException) -> JSONResponse:
        if isinstance(error.__cause__, HbstoreError):  # while the body was read
            return problem(request.scope, error.__cause__)
        refusal = InvalidInput(
            "there is no such resource, or it does not take the method",
            method=request.method,
            path=request.url.path,
            hint="See /docs; the console's pages are for requests that accept text/html",
        )
        allow = _allowed(request) if error.status_code == _WRONG_METHOD else ()
        return problem(request.scope, refusal, error.status_code, allow)

    @app.exception_handler(Exception)
    def unexpected(request: Request, error: Exception) -> JSONResponse:
        _LOG.error("a request failed", exc_info=error, extra={"fields": {"path": request.url.path}})
        refusal = HbstoreError("the server failed", hint="The server's log says why, by the id of the request")
        return problem(request.scope, refusal, 500)


def _allowed(request: Request) -> list[str]:
    """The methods that a resource takes."""
    routes = request.app.router.routes
    taken = [
        method
        for method in _METHODS
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes)
    ]
    return ["HEAD", *taken] if "GET" in taken else taken
