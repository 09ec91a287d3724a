"""The process of `hbstore serve` that takes queries, with a Spark of its own, and its doors."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from hbstore.extras import check_extra

if TYPE_CHECKING:  # imported when the command runs
    from prometheus_client import CollectorRegistry

    from hbstore.errors import HbstoreError
    from hbstore.metastore.serving import Serving
    from hbstore.query_service.access import Access
    from hbstore.query_service.limits import Limits
    from hbstore.query_service.observing import QueryObserver
    from hbstore.query_service.service import QueryService
    from hbstore.servers.bounds import DoorWatch
    from hbstore.servers.limits import ServerLimits
    from hbstore.servers.stopping import StopRequests
    from hbstore.store.partition_store import PartitionStore

HttpPortOption = Annotated[
    int | None,
    typer.Option(
        "--http-port",
        min=0,
        max=65535,
        metavar="P",
        help="Show the console and answer REST at this port, and take queries, for which a Spark starts when the first "
        "one comes; 0 takes any free port.",
    ),
]
SqlPortOption = Annotated[
    int | None,
    typer.Option(
        "--sql-port",
        min=0,
        max=65535,
        metavar="P",
        help="Take queries of JDBC and ODBC drivers at this port, as HiveServer2; 0 takes any free port.",
    ),
]
ResultsOption = Annotated[
    str | None,
    typer.Option(
        "--results",
        metavar="DIR",
        help="Where the results of queries have their files: a path or URI; by default NAME-results beside the store "
        "NAME.db.",
    ),
]
TokenFileOption = Annotated[
    str | None,
    typer.Option("--token-file", metavar="FILE", help="Who may ask queries: a user and an access token on each line."),
]
SparkMasterOption = Annotated[str, typer.Option("--spark-master", metavar="URL", help="Where Spark runs queries.")]
SparkConfOption = Annotated[
    list[str] | None,
    typer.Option("--spark-conf", metavar="NAME=VALUE", help="A setting of that Spark; may be repeated."),
]
MaxRunningOption = Annotated[
    int, typer.Option("--max-running", min=1, metavar="N", help="Queries that run at once; others wait.")
]
MaxRunningOfUserOption = Annotated[
    int, typer.Option("--max-running-of-user", min=1, metavar="N", help="Queries of one user that run at once.")
]
MaxQueuedOption = Annotated[
    int, typer.Option("--max-queued", min=0, metavar="N", help="Queries that wait; the server refuses more.")
]
MaxRunTimeOption = Annotated[
    float, typer.Option("--max-run-time", min=1.0, metavar="S", help="Seconds that a query may run.")
]
MaxResultOption = Annotated[
    int, typer.Option("--max-result", min=1, metavar="BYTES", help="The size of the largest result.")
]
KeepResultsOption = Annotated[
    float, typer.Option("--keep-results", min=0.0, metavar="HOURS", help="How long results can be fetched.")
]


@dataclass(frozen=True, slots=True)
class QueryDoors:
    """Where and how queries are taken.

    Attributes:
        serving: how the metastore is served that Spark uses, and the catalog over HTTP.
        host: the address of the doors.
        http_port: the port for HTTP, which the parent holds; None: no such door.
        sql_port: the port for drivers of JDBC and ODBC, likewise.
        results: the folder of results.
        token_file: users and their tokens; None: everybody who reaches the server.
        spark_master: where Spark runs.
        spark_conf: Spark's settings.
        limits: what users may do.
    """

    serving: Serving
    host: str
    http_port: int | None
    sql_port: int | None
    results: str
    token_file: str | None
    spark_master: str
    spark_conf: Mapping[str, str]
    limits: Limits

    def check(self) -> None:
        """See what can be seen before a process is started.

        Raises:
            MissingPackage: a package that a door needs is not installed.
            InvalidInput: the tokens will not do.
        """
        if self.sql_port is not None:
            check_extra("service", "--sql-port")
        if self.http_port is not None:
            check_extra("web", "--http-port")
        from hbstore.query_service.access import Access

        Access.of(self.host, self.token_file)


@dataclass(frozen=True, slots=True)
class _Counted:
    """What hears of queries and doors; the registry is that of their numbers, if somebody shows them."""

    registry: CollectorRegistry | None
    queries: QueryObserver
    http: DoorWatch
    sql: DoorWatch


def _counted() -> _Counted:
    """The metrics of this process, if its parent shows them."""
    from hbstore.query_service.observing import UNOBSERVED
    from hbstore.servers.bounds import UNWATCHED
    from hbstore.servers.processes import METRICS_FOLDER

    if METRICS_FOLDER not in os.environ:
        return _Counted(None, UNOBSERVED, UNWATCHED, UNWATCHED)
    from prometheus_client import CollectorRegistry

    from hbstore.query_service.metrics import QueryMetrics
    from hbstore.servers.door_metrics import DoorMetrics

    registry = CollectorRegistry()
    doors = DoorMetrics(registry)
    return _Counted(registry, QueryMetrics(registry), doors.door("http"), doors.door("sql"))


def take_queries(doors: QueryDoors, store: PartitionStore, requests: StopRequests, lifeline: socket.socket) -> None:
    """Take queries, as a process that `hbstore serve` looks after."""
    from hbstore.metastore.spark_conf import endpoint_uri
    from hbstore.query_service.access import Access
    from hbstore.query_service.engine import Engine
    from hbstore.query_service.results import Results
    from hbstore.query_service.servers import Servers
    from hbstore.query_service.service import QueryService
    from hbstore.servers.limits import allow_files
    from hbstore.servers.processes import say_ready

    access = Access.of(doors.host, doors.token_file)
    allow_files(2 * doors.serving.limits.connections)  # of two doors
    with ExitStack() as stack:
        servers = Servers(store.records, lambda: datetime.now(UTC))
        counted = _counted()
        results = Results(doors.results)
        results.make_root()
        service = QueryService(store, results, servers, doors.limits, observer=counted.queries)
        lose_sessions = None
        drivers = None
        if doors.sql_port is not None:
            from hbstore.hiveserver2.server import LIMITS, driver_server
            from hbstore.hiveserver2.sql_port import sql_port

            endpoint = sql_port(service, access)
            lose_sessions = endpoint.service.sessions.lose
            limits = _wanted(LIMITS, doors.serving.limits)
            drivers = driver_server(
                endpoint, access, doors.host, doors.sql_port, limits=limits, shared_port=True, watch=counted.sql
            )

        def lost(reason: HbstoreError | None) -> None:
            """Tell those who remember something of the Spark that died."""
            if lose_sessions is not None:
                lose_sessions()
            service.runner.lost(reason)

        engine = Engine(
            store.rows.url,
            endpoint_uri(doors.serving.host, doors.serving.port),
            doors.serving.warehouse,
            read_only=doors.serving.read_only,
            master=doors.spark_master,
            conf=doors.spark_conf,
            heard=service.runner.heard,
            lost=lost,
        )
        stack.callback(engine.close)
        service.open(engine)
        stack.callback(service.close)
        if doors.http_port is not None:
            stack.enter_context(_http_door(doors, doors.http_port, service, access, counted))
        if drivers is not None:
            stack.enter_context(drivers)
        say_ready(lifeline)
        requests.wait()
        requests.end_at_next()


def _http_door(
    doors: QueryDoors,
    port: int,
    service: QueryService,
    access: Access,
    counted: _Counted,
) -> AbstractContextManager[int]:
    """Inside, queries are taken over HTTP."""
    from hbstore.warehouse.service import Service
    from hbstore.web.app import application
    from hbstore.web.metrics import RequestMetrics
    from hbstore.web.serving import LIMITS, http_served

    serving = doors.serving
    catalog = Service(service.store, serving.warehouse, serving.read_only, serving.strict_types)
    observe = None if counted.registry is None else RequestMetrics(counted.registry).observe
    app = application(service, access, catalog=catalog, log_all=serving.log_calls, observe=observe)
    limits = _wanted(LIMITS, serving.limits)
    return http_served(app, doors.host, port, limits=limits, shared_port=True, watch=counted.http)


def _wanted(limits: ServerLimits, wanted: ServerLimits) -> ServerLimits:
    """The limits of a door for queries, with those that the options set for all doors."""
    read = replace(limits.read, idle_timeout=wanted.read.idle_timeout, least_rate=wanted.read.least_rate)
    return replace(limits, connections=wanted.connections, requests=wanted.requests, read=read)
