"""Queries as resources: POST to ask, GET to follow and fetch, DELETE to cancel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from hbstore.errors import QueryNotFinished, QueryNotFound
from hbstore.keys.partition_names import DEFAULT_DATABASE
from hbstore.query_service import query as values
from hbstore.query_service.query import ANONYMOUS, MAX_NAME, MAX_TEXT, State
from hbstore.query_service.service import QueryService
from hbstore.web.queries.waiting import QueryWaiting, server_sent

_EXAMPLE: Final = "cube select bike, fare from rides where time_range_in(start_time, '2015-01-16', '2015-01-18')"
_LONGEST_WAIT: Final = 60.0
_MOST_LISTED: Final = 1_000
_EVENT: Final = {
    "type": "object",
    "properties": {"event": {"type": "string"}, "data": {"type": "string", "contentMediaType": "application/json"}},
    "required": ["event", "data"],
}
_EVENTS: Final[dict[int | str, dict[str, Any]]] = {200: {"content": {"text/event-stream": {"itemSchema": _EVENT}}}}


def _written_time(value: object) -> object:
    """What is a time as RFC 3339 writes it; numbers are none, which would be seconds or milliseconds of 1970."""
    if value is not None and (not isinstance(value, str) or value.strip().lstrip("+-").replace(".", "").isdigit()):
        raise ValueError("a time is a text such as 2015-01-16T00:00:00Z")
    return value


class Ask(BaseModel):
    """A query to run.

    Attributes:
        text: a cube query, a statement of Spark SQL, or one of hbstore's own.
        database: the current database of the statement.
        user: who asks; where the server asks for tokens, the token says it.
        name: what the user calls it.
        partial: whether a cube query is answered from the partitions that exist.
        now: what relative times of a cube query are relative to.
        options: those of a cube query by name.
    """

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"text": _EXAMPLE, "database": "shop"}, {"text": "SELECT 1"}]},
    )

    text: str = Field(min_length=1, max_length=MAX_TEXT)
    database: str = DEFAULT_DATABASE
    user: str = ANONYMOUS
    name: str | None = Field(default=None, max_length=MAX_NAME)
    partial: bool = False
    now: Annotated[datetime | None, BeforeValidator(_written_time)] = None
    options: Mapping[str, str] = Field(default_factory=dict)

    def request(self, user: str | None) -> values.Request:
        """What is asked of the service, by the user of the token where there is one."""
        fields = self.model_dump()
        return values.Request(**{**fields, "user": user or self.user})


class Listed(BaseModel):
    """Queries, the newest first, and from which on there are older ones: as ``before`` of the next request."""

    queries: list[values.Query]
    before: str | None


def query_routes(service: QueryService, waiting: QueryWaiting) -> APIRouter:
    """The routes of queries."""
    router = APIRouter(tags=["queries"])

    @router.post("/queries", status_code=202)
    def submit(
        ask: Ask,
        request: Request,
        response: Response,
        idempotency_key: Annotated[str | None, Header(max_length=200)] = None,
    ) -> values.Query:
        """Ask. The reply comes at once, with the address of the query; two requests with one key are one query."""
        query = service.submit(ask.request(_user(request)), key=idempotency_key)
        response.headers["Location"] = f"/queries/{query.id}"
        return query

    @router.post("/explain")
    def explain(ask: Ask, request: Request) -> dict[str, Any]:
        """What a cube query would read and why, and the Spark SQL that it becomes. Nothing runs."""
        rewritten = service.explain(ask.request(_user(request)))
        return {"text": rewritten.explain(), **rewritten.to_dict()}

    @router.get("/queries")
    def listing(
        user: str | None = None,
        state: Annotated[list[State] | None, Query()] = None,
        before: str | None = None,
        limit: Annotated[int, Query(ge=1, le=_MOST_LISTED)] = 100,
    ) -> Listed:
        """Queries that the server keeps, the newest first."""
        found = list(service.list(user=user, states=state or (), before=before, limit=limit))
        return Listed(queries=found, before=found[-1].id if len(found) == limit else None)

    @router.get("/queries/{id_}")
    async def get(id_: str, wait: Annotated[float, Query(ge=0, le=_LONGEST_WAIT)] = 0) -> values.Query:
        """How far a query is; with ``wait``, after so many seconds or when it has ended."""
        return await waiting.ended(id_, wait)

    @router.get("/queries/{id_}/events", response_class=StreamingResponse, responses=_EVENTS)
    async def events(id_: str) -> StreamingResponse:
        """The query each time that something changes, until it has ended, as server-sent events."""
        await run_in_threadpool(service.get, id_)  # whose error is a reply, not the end of a stream
        return StreamingResponse(_events(waiting, id_), media_type="text/event-stream")

    @router.get("/queries/{id_}/plan")
    def plan(id_: str) -> dict[str, Any]:
        """What a cube query reads and why: candidates, partitions, what is missing, and the Spark SQL."""
        query = service.get(id_)
        if query.plan is None:
            raise QueryNotFinished(
                "the query has no plan: it is no cube query, or was not planned yet",
                query=id_,
                state=query.state,
                hint="Ask again when the query runs",
            )
        return query.plan

    @router.delete("/queries/{id_}")
    def cancel(id_: str) -> values.Query:
        """Cancel a query. One that has ended stays as it is."""
        return service.cancel(id_)

    return router


async def _events(waiting: QueryWaiting, id_: str) -> AsyncIterator[str]:
    """Server-sent events of a query."""
    with suppress(QueryNotFound):  # the server may forget it meanwhile
        async for query in waiting.states(id_):
            if query is None:
                yield ": nothing changed\n\n"  # which tells a client that is gone
            else:
                yield server_sent(query)


def _user(request: Request) -> str | None:
    """The user of the request's token; None where the server asks for none."""
    user: str | None = request.scope["state"].get("user")
    return user
