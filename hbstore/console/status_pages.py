"""The page about a server and its store: what the one on call wants to know first, on a page.

Each part is read by itself: where one cannot be read, the page says why and shows the others. Nothing is counted here:
the numbers are those of the health report, the metrics and the logs of the catalog, and no partition is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Generic, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hbstore.console.query_pages import run_time
from hbstore.console.rendering import page
from hbstore.console.status.late_timelines import late_timelines
from hbstore.console.status.latest_changes import LatestChange, latest_changes
from hbstore.console.status.server_parts import Disks, SparkNow, server_facts
from hbstore.console.status.unfinished_work import StuckWork, stuck_work, waiting_locks
from hbstore.errors import HbstoreError
from hbstore.publishing.dropped_files import unfinished_drops
from hbstore.query_service.query import Query, QueryProblem, State
from hbstore.query_service.servers import count_leases
from hbstore.query_service.service import QueryService
from hbstore.store.catalog_logs import catalog_objects
from hbstore.store.partition_store import PartitionStore
from hbstore.warehouse.service import Service

T = TypeVar("T")
_LOOKED: Final = 500
"""The newest queries that are looked at: a server may keep 100,000s. Those that run here are shown in any case."""

_SHOWN: Final = 10
"""Queries in each list."""


@dataclass(frozen=True, slots=True)
class PageSection(Generic[T]):
    """A part of the page.

    Attributes:
        content: what it shows; None: it could not be read.
        problem: why not.
    """

    content: T | None
    problem: QueryProblem | None = None

    @staticmethod
    def of(read: Callable[[], T]) -> PageSection[T]:
        """What a function reads, or why it does not."""
        try:
            return PageSection(read())
        except HbstoreError as error:
            return PageSection(None, QueryProblem.of(error))
        except OSError as error:  # of a disk
            return PageSection(None, QueryProblem(error=type(error).__name__, text=str(error)))


@dataclass(frozen=True, slots=True)
class QueriesNow:
    """Queries of a store.

    Attributes:
        running: those that run, the newest first.
        waiting: how many wait for Spark.
        failed: the newest that failed.
        failures: how many failed, of those that were looked at.
        looked_at: how many were looked at, the newest.
    """

    running: Sequence[Query]
    waiting: int
    failed: Sequence[Query]
    failures: int
    looked_at: int

    @staticmethod
    def of(service: QueryService) -> QueriesNow:
        """The newest queries of a store, and those that this server runs. O(`_LOOKED`)."""
        newest = service.list(limit=_LOOKED)
        queries = {query.id: query for query in (*newest, *service.runner.under_way())}
        running = [query for query in queries.values() if query.state is State.RUNNING]
        failed = [query for query in newest if query.state is State.FAILED]
        return QueriesNow(
            sorted(running, key=lambda query: query.id),  # ids of later queries sort first
            sum(query.state is State.QUEUED for query in queries.values()),
            failed[:_SHOWN],
            len(failed),
            len(newest),
        )


@dataclass(frozen=True, slots=True)
class CatalogNow:
    """What the logs of a catalog say.

    Attributes:
        stuck: publications and changes that should be over.
        changes: what changed last.
    """

    stuck: Sequence[StuckWork]
    changes: Sequence[LatestChange]

    @staticmethod
    def of(store: PartitionStore, now: float) -> CatalogNow:
        """That of a store, by one scan of two small cells for each object."""
        objects = list(catalog_objects(store.rows))
        return CatalogNow(stuck_work(objects, unfinished_drops(store), now), latest_changes(store, objects))


def status_pages(catalog: Service, queries: QueryService) -> list[Route]:
    """The page about the server."""

    def status(request: Request) -> Response:
        now, health = datetime.now(UTC), catalog.health()
        of_store = _of_store(catalog, queries, now) if health.ready else dict.fromkeys(_PARTS)
        return page(
            request,
            "status.html",
            title="Status",
            health=health,
            spark=SparkNow.of(queries.runner),
            disks=PageSection.of(lambda: Disks.of(catalog)),
            facts=server_facts(catalog),
            ago=lambda seconds: timedelta(seconds=max(now.timestamp() - seconds, 0)),
            clock=queries.clock(),
            run_time=run_time,
            read_only=catalog.read_only,
            **of_store,
        )

    return [Route("/status", status)]


_PARTS: Final = ("late", "queries", "servers", "catalog", "locks")


def _of_store(catalog: Service, queries: QueryService, now: datetime) -> dict[str, PageSection[Any] | None]:
    """The parts that are read from the store. A store that does not answer is asked for none of them."""
    store, seconds = catalog.store, now.timestamp()
    parts = (
        PageSection.of(lambda: late_timelines(store, now, build=not catalog.read_only)),
        PageSection.of(lambda: QueriesNow.of(queries)),
        PageSection.of(lambda: count_leases(store.records, now)),
        PageSection.of(lambda: CatalogNow.of(store, seconds)),
        PageSection.of(lambda: waiting_locks(store.hive.locks.show(), seconds)),
    )
    return dict(zip(_PARTS, parts, strict=True))
