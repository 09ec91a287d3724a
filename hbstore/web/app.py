"""The application behind the HTTP port."""

from __future__ import annotations

from importlib.metadata import version

from fastapi_offline import FastAPIOffline
from starlette.types import ASGIApp

from hbstore.query_service.service import QueryService
from hbstore.web.guard import Access, Guard
from hbstore.web.problems import handle_errors
from hbstore.web.query_routes import query_routes
from hbstore.web.result_routes import result_routes


def application(service: QueryService, access: Access, *, log_all: bool = False) -> ASGIApp:
    """The application for a query service.

    Args:
        service: whose queries are served.
        access: who may ask.
        log_all: whether all requests are logged.
    """
    app = FastAPIOffline(
        title="hbstore",
        version=version("hbstore"),
        description="Ask cubes and tables, follow the queries, and fetch their results.",
    )
    handle_errors(app)
    app.include_router(query_routes(service))
    app.include_router(result_routes(service))

    @app.get("/health", tags=["server"])
    def health() -> dict[str, bool]:
        """Whether the server answers, and whether its Spark is there."""
        return {"ok": True, "spark": service.runner.is_ready}

    return Guard(app, access, log_all)
