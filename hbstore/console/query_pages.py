"""Pages of queries: the editor with the history below it, and one query with its progress, its result and its chart."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from hbstore.console.query_forms import Draft, QueryListForm, form_fields
from hbstore.console.rendering import address, page
from hbstore.console.result_view import is_number, result_chart, result_page
from hbstore.errors import HbstoreError, InvalidInput, NoCandidate
from hbstore.keys.partition_names import DEFAULT_DATABASE
from hbstore.query_service.query import ANONYMOUS, Query, QueryProblem, State
from hbstore.query_service.service import QueryService
from hbstore.web.problems import status_of

_LISTED: Final = 50
"""Queries of a page."""

_SEE_OTHER: Final = 303
Form = Callable[[Request, dict[str, str]], Response]


def query_pages(service: QueryService) -> list[Route]:
    """The pages of queries."""

    def editor(request: Request) -> Response:
        fields = request.query_params
        if "edit" in fields:
            draft = Draft.of_query(service.get(fields["edit"]))
        else:
            draft = Draft.of({"database": _likely_database(service), **fields})
        return _editor(request, service, draft)

    def run(request: Request, fields: dict[str, str]) -> Response:
        draft = Draft.of(fields)
        try:
            query = service.submit(draft.request(_user(request)))
        except HbstoreError as error:
            return _editor(request, service, draft, error, status=status_of(error))
        return _to(query)

    def explain(request: Request, fields: dict[str, str]) -> Response:
        draft = Draft.of(fields)
        try:
            plan = service.explain(draft.request(_user(request))).to_dict()
        except HbstoreError as error:  # an explanation, too: it is asked for while a statement is typed
            return _editor(request, service, draft, error)
        return _editor(request, service, draft, plan=plan)

    def one(request: Request) -> Response:
        return _one(request, service, service.get(request.path_params["id"]))

    def cancel(request: Request, _: dict[str, str]) -> Response:
        return _to(service.cancel(request.path_params["id"]))

    def again(request: Request, _: dict[str, str]) -> Response:
        asked = service.get(request.path_params["id"]).request
        changed = {"user": _user(request) or ANONYMOUS, "session": None}  # which is its driver's
        return _to(service.submit(asked.model_copy(update=changed)))

    return [
        Route("/queries", editor),
        Route("/queries", _form(run), methods=["POST"]),
        Route("/explain", _form(explain), methods=["POST"]),
        Route("/queries/{id}", one),
        Route("/queries/{id}/cancel", _form(cancel), methods=["POST"]),
        Route("/queries/{id}/again", _form(again), methods=["POST"]),
    ]


def _form(answer: Form) -> Callable[[Request], Awaitable[Response]]:
    """What takes a form, and answers in a thread of its own."""

    async def answered(request: Request) -> Response:
        return await run_in_threadpool(answer, request, await form_fields(request))

    return answered


def _editor(
    request: Request,
    service: QueryService,
    draft: Draft,
    error: HbstoreError | None = None,
    *,
    plan: dict[str, Any] | None = None,
    status: int = 200,
) -> Response:
    """The editor with what came of a draft, and the history."""
    listing = QueryListForm.of(request.query_params)
    queries = service.list(
        user=listing.user or None,
        states=() if listing.state is None else (listing.state,),
        before=listing.before,
        limit=_LISTED,
    )
    databases = service.store.database_names()
    if draft.database not in databases:
        databases.insert(0, draft.database)
    return page(
        request,
        "queries.html",
        status=status,
        title="Queries",
        draft=draft,
        databases=databases,
        plan=plan,
        problem=None if error is None else QueryProblem.of(error),
        candidates=_candidates(error),
        queries=queries,
        older=queries[-1].id if len(queries) == _LISTED else None,
        listing=listing,
        states=list(State),
        now=service.clock(),
        run_time=run_time,
    )


def _one(request: Request, service: QueryService, query: Query) -> Response:
    """The page of a query."""
    token, first = request.query_params.get("page"), _first(request.query_params.get("first", "1"))
    rows = chart = None
    problem, now = query.problem, service.clock()
    if query.state is State.SUCCEEDED and query.result is not None and query.result.columns:
        try:
            rows = result_page(service, query, token, first)
            chart = result_chart(service, query) if token is None else None
        except HbstoreError as error:  # the page still says what was asked
            if token is not None:
                raise
            problem = QueryProblem.of(error)
    return page(
        request,
        "query.html",
        title=query.request.name or "Query",
        query=query,
        problem=problem,
        rows=rows,
        chart=chart,
        is_first=token is None,
        is_number=is_number,
        now=now,
        elapsed=_elapsed(query, now),
        run_time=run_time,
    )


def _candidates(error: HbstoreError | None) -> Sequence[object]:
    """Why each storage table cannot answer a cube query that none can answer."""
    return error.candidates if isinstance(error, NoCandidate) else ()


def _first(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < len(text) < 20):  # noqa: PLR2004
        raise InvalidInput("the text is no number of a row", first=text[:100], hint="Go to the page by its link")
    return int(text)


def _likely_database(service: QueryService) -> str:
    """The database of the newest query, which most likely is that of the next one, too; or one that is there."""
    databases = service.store.database_names()
    of_late = [query.request.database for query in service.list(limit=1)]
    return next((name for name in (*of_late, DEFAULT_DATABASE, *databases) if name in databases), DEFAULT_DATABASE)


def _user(request: Request) -> str | None:
    user: str | None = request.scope["state"].get("user")
    return user


def _to(query: Query) -> Response:
    return RedirectResponse(address("queries", query.id), _SEE_OTHER)


def _elapsed(query: Query, now: datetime) -> timedelta:
    """How long a query that has not ended has been running, or waiting."""
    return max(now - (query.started_at or query.submitted_at), timedelta())


def run_time(query: Query, now: datetime) -> timedelta | None:
    """How long Spark ran a query, or has been running it; None: it did not begin."""
    if query.started_at is None:
        return None
    return max((query.ended_at or now) - query.started_at, timedelta())
