"""The application behind the HTTP port."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version

from fastapi_offline import FastAPIOffline
from starlette.types import ASGIApp

from hbstore.console.application import console
from hbstore.metastore.calls import Service
from hbstore.query_service.access import Access
from hbstore.query_service.service import QueryService
from hbstore.web.asked_form import JsonEnding, Pages
from hbstore.web.catalog.catalog_change_routes import database_change_routes, table_change_routes
from hbstore.web.catalog.catalog_routes import catalog_routes
from hbstore.web.catalog.name_routes import name_routes
from hbstore.web.catalog.partition_change_routes import named_partition_change_routes, partition_change_routes
from hbstore.web.catalog.partition_routes import partition_routes
from hbstore.web.catalog.timeline_routes import timeline_routes
from hbstore.web.catalog.upkeep_routes import upkeep_routes
from hbstore.web.cubes.fact_partition_routes import fact_partition_change_routes, fact_partition_routes
from hbstore.web.cubes.fact_routes import fact_routes
from hbstore.web.cubes.model_routes import model_change_routes, model_routes
from hbstore.web.cubes.wait_routes import wait_routes
from hbstore.web.cubes.waits import Waits
from hbstore.web.guard import Answered, Guard
from hbstore.web.problems import handle_errors
from hbstore.web.queries.query_routes import query_routes
from hbstore.web.queries.result_routes import result_routes


def application(
    service: QueryService,
    access: Access,
    *,
    catalog: Service | None = None,
    log_all: bool = False,
    observe: Callable[[Answered], None] | None = None,
) -> ASGIApp:
    """The application for a query service and a catalog.

    Args:
        service: whose queries are served.
        access: who may ask.
        catalog: the store and the warehouse that are served; None: queries alone.
        log_all: whether all requests are logged.
        observe: hears of each request; None: nobody does.
    """
    app = FastAPIOffline(
        title="hbstore",
        version=version("hbstore"),
        description="Ask cubes and tables, follow the queries, fetch their results; read and change the catalog.",
    )
    handle_errors(app)
    app.include_router(query_routes(service))
    app.include_router(result_routes(service))
    if catalog is not None:
        app.include_router(catalog_routes(catalog))
        app.include_router(name_routes(catalog))
        app.include_router(database_change_routes(catalog))
        app.include_router(table_change_routes(catalog))
        app.include_router(partition_routes(catalog))
        app.include_router(partition_change_routes(catalog))
        app.include_router(named_partition_change_routes(catalog))
        app.include_router(timeline_routes(catalog))
        app.include_router(upkeep_routes(catalog))
        app.include_router(model_routes(catalog))
        app.include_router(model_change_routes(catalog))
        app.include_router(fact_routes(catalog))
        app.include_router(fact_partition_routes(catalog))
        app.include_router(fact_partition_change_routes(catalog))
        app.include_router(wait_routes(Waits(catalog.store)))

    @app.get("/health", tags=["server"])
    def health() -> dict[str, bool]:
        """Whether the server answers, and whether its Spark is there."""
        return {"ok": True, "spark": service.runner.is_ready}

    whole = app if catalog is None else Pages(app, console(catalog, service))
    return JsonEnding(Guard(whole, access, log_all, observe))
