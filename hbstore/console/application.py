"""The application of the pages."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from hbstore.console.catalog_pages import catalog_pages
from hbstore.console.fact_pages import fact_pages
from hbstore.console.model_pages import model_pages
from hbstore.console.partition_pages import partition_pages
from hbstore.console.plan_pages import plan_pages
from hbstore.console.publication_pages import publication_pages
from hbstore.console.query_pages import query_pages
from hbstore.console.rendering import page
from hbstore.console.status_pages import status_pages
from hbstore.console.table_pages import table_pages
from hbstore.console.timeline_pages import timeline_pages
from hbstore.errors import HbstoreError
from hbstore.query_service.query import QueryProblem
from hbstore.query_service.service import QueryService
from hbstore.warehouse.service import Service
from hbstore.web.asked_form import STATIC
from hbstore.web.problems import status_of

_WRONG_METHOD: Final = 405


def console(catalog: Service, queries: QueryService) -> Starlette:
    """The pages of a catalog and of a query service."""
    return Starlette(
        routes=[
            Route("/", _start),
            Mount(STATIC, StaticFiles(directory=Path(__file__).parent / "static")),
            *catalog_pages(catalog),
            *query_pages(queries),
            *status_pages(catalog, queries),
            *publication_pages(catalog),
            *table_pages(catalog),
            *plan_pages(catalog),
            *partition_pages(catalog),
            *timeline_pages(catalog),
            *fact_pages(catalog),
            *model_pages(catalog),
        ],
        exception_handlers={HbstoreError: _failed, HTTPException: _missing},  # type: ignore[dict-item]
    )


def _start(_: Request) -> Response:
    return RedirectResponse("/databases")


def _failed(request: Request, error: HbstoreError) -> Response:
    """The page for an error."""
    return page(
        request, "error.html", status=status_of(error), title="This did not work", problem=QueryProblem.of(error)
    )


def _missing(request: Request, error: HTTPException) -> Response:
    problem = QueryProblem(error="NotFound", text="there is no such page", hint="Begin with the catalog")
    reply = page(request, "error.html", status=error.status_code, title="There is no such page", problem=problem)
    if error.status_code == _WRONG_METHOD:  # of a static file: other pages are found by their methods
        reply.headers["Allow"] = "HEAD, GET"
    return reply
