"""The application behind the HTTP port."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from fastapi import Depends, Response
from fastapi_offline import FastAPIOffline
from starlette.types import ASGIApp, Receive, Scope, Send

from hbstore.console.application import console
from hbstore.query_service.access import Access
from hbstore.query_service.service import QueryService
from hbstore.release import VERSION
from hbstore.warehouse.health import Health, liveness
from hbstore.warehouse.service import Service
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
from hbstore.web.guard import BODY_SECONDS, AnsweredRequest, Guard
from hbstore.web.problems import PROBLEMS, handle_errors
from hbstore.web.queries.query_routes import query_routes
from hbstore.web.queries.result_routes import result_routes
from hbstore.web.queries.waiting import QueryWaiting
from hbstore.web.query_parameters import refuse_unknown_parameters
from hbstore.web.reply_forms import Heads, PackedTexts


class Stoppable(Protocol):
    """What holds requests that wait."""

    def stop(self) -> None:
        """Answer them all, as the server stops. Called in any thread."""


@dataclass(frozen=True, slots=True)
class Application:
    """An application whose waiting requests do not hold up the server when it stops.

    Attributes:
        app: what answers.
        waiting: what holds requests.
    """

    app: ASGIApp
    waiting: Sequence[Stoppable]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self.app(scope, receive, send)

    def stop(self) -> None:
        """Answer all requests that wait. Called in any thread, before the server takes no more."""
        for one in self.waiting:
            one.stop()


def application(
    service: QueryService,
    access: Access,
    *,
    catalog: Service | None = None,
    log_all: bool = False,
    observe: Callable[[AnsweredRequest], None] | None = None,
    body_seconds: float = BODY_SECONDS,
) -> Application:
    """The application for a query service and a catalog.

    Args:
        service: whose queries are served.
        access: who may ask.
        catalog: the store and the warehouse that are served; None: queries alone.
        log_all: whether all requests are logged.
        observe: hears of each request; None: nobody does.
        body_seconds: in which a request's body must have come.
    """
    app = FastAPIOffline(
        title="hbstore",
        version=VERSION,
        description="Ask cubes and tables, follow the queries, fetch their results; read and change the catalog.",
        responses=PROBLEMS,
    )
    handle_errors(app, None if catalog is None else catalog.store)
    queries = QueryWaiting(service)
    waiting: list[Stoppable] = [queries]
    routers = [query_routes(service, queries), result_routes(service)]
    if catalog is not None:
        covers = Waits(catalog.store)
        waiting.append(covers)
        routers += [
            catalog_routes(catalog),
            name_routes(catalog),
            database_change_routes(catalog),
            table_change_routes(catalog),
            partition_routes(catalog),
            partition_change_routes(catalog),
            named_partition_change_routes(catalog),
            timeline_routes(catalog),
            upkeep_routes(catalog),
            model_routes(catalog),
            model_change_routes(catalog),
            fact_routes(catalog),
            fact_partition_routes(catalog),
            fact_partition_change_routes(catalog),
            wait_routes(covers),
        ]
    for router in routers:
        app.include_router(router, dependencies=[Depends(refuse_unknown_parameters)])

    @app.get("/health", tags=["server"])
    @app.get("/health/live", tags=["server"])
    def health() -> dict[str, bool | str | None]:
        """Whether the server answers, whether its Spark is there, and which hbstore it is."""
        return liveness(spark=service.runner.is_ready)

    @app.get("/health/ready", tags=["server"], responses={503: {"description": "The store cannot be used."}})
    def ready(response: Response) -> dict[str, bool | dict[str, str]]:
        """Whether the server can use its store, and what else is wrong: warehouse, disk, clock, Spark."""
        health_now = Health() if catalog is None else catalog.health()
        problem = service.runner.problem
        if not health_now.ready:
            response.status_code = 503
        if "disk" not in health_now.problems:
            health_now = health_now.with_problem("disk", service.results.little_room())
        return health_now.with_problem("spark", None if problem is None else str(problem)).to_dict()

    whole = app if catalog is None else Pages(app, console(catalog, service))
    guarded = Guard(PackedTexts(whole), access, log_all, observe, body_seconds)
    return Application(Heads(JsonEnding(guarded)), waiting)
