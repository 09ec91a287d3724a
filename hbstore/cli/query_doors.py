"""The process of `hbstore serve` that takes queries: over HTTP, with a Spark of its own."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Final

import typer

from hbstore.cli.arguments import StoreOption
from hbstore.cli.opening import open_store
from hbstore.cli.spark_session import check_pyspark
from hbstore.errors import InvalidInput

if TYPE_CHECKING:  # imported when the command runs
    from hbstore.query_service.limits import Limits

commands = typer.Typer()

HttpPortOption = Annotated[
    int | None,
    typer.Option(
        "--http-port",
        min=0,
        max=65535,
        metavar="P",
        help="Take queries over HTTP at this port, and let Spark run them; 0 takes any free port.",
    ),
]
ResultsOption = Annotated[
    str | None,
    typer.Option("--results", metavar="DIR", help="Where the results of queries have their files: a path or URI."),
]
TokenFileOption = Annotated[
    str | None,
    typer.Option(
        "--token-file", metavar="FILE", help="Who may ask over HTTP: a user and an access token on each line."
    ),
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
_NAME: Final = "take-queries"


@dataclass(frozen=True, slots=True)
class QueryDoors:
    """Where and how queries are taken.

    Attributes:
        host: the address of the doors.
        http_port: the port for HTTP, which the parent holds.
        metastore: the URI of the metastore that Spark uses.
        warehouse: where databases and tables have their files.
        results: the folder of results.
        token_file: users and their tokens; None: everybody who reaches the server.
        spark_master: where Spark runs.
        spark_conf: Spark's settings.
        running: queries that run at once.
        running_of_user: of one user.
        queued: queries that wait.
        run_seconds: how long a query may run.
        result_size: bytes of a result.
        keep_seconds: how long results are kept.
        log_file: of this process; None: stderr.
        log_calls: whether all requests are logged.
    """

    host: str
    http_port: int
    metastore: str
    warehouse: str
    results: str
    token_file: str | None = None
    spark_master: str = "local[*]"
    spark_conf: Mapping[str, str] = field(default_factory=dict)
    running: int = 8
    running_of_user: int = 4
    queued: int = 200
    run_seconds: float = 3600.0
    result_size: int = 10 * 2**30
    keep_seconds: float = 172_800.0
    log_file: str | None = None
    log_calls: bool = False

    @property
    def limits(self) -> Limits:
        """What users may do."""
        from hbstore.query_service.limits import Limits

        return Limits(
            self.running,
            self.running_of_user,
            self.queued,
            timedelta(seconds=self.run_seconds),
            self.result_size,
            timedelta(seconds=self.keep_seconds),
        )

    def check(self) -> None:
        """See what can be seen before a process is started.

        Raises:
            InvalidInput: pyspark or what serves HTTP is not installed, or the tokens will not do.
        """
        check_pyspark(None)
        try:
            from hbstore.web.guard import Access
        except ImportError as error:
            hint = "pip install 'hbstore[service]'"
            raise InvalidInput("what serves HTTP is not installed", reason=str(error), hint=hint) from None
        Access.of(self.host, self.token_file)

    def command(self, store: str) -> list[str]:
        """The command line of the process that takes them."""
        return [sys.executable, "-m", "hbstore", "--store", store, _NAME, json.dumps(asdict(self))]


@commands.command(_NAME, hidden=True)
def take_queries(
    ctx: typer.Context,
    settings: Annotated[str, typer.Argument(metavar="JSON", help="As `hbstore serve` writes them.")],
    store: StoreOption = None,
) -> None:
    """Take queries, as a process that `hbstore serve` looks after."""
    from hbstore.metastore.call_log import logging_to
    from hbstore.metastore.processes import own_lifeline, say_ready
    from hbstore.metastore.stopping import StopRequests
    from hbstore.query_service.engine import Engine
    from hbstore.query_service.results import Results
    from hbstore.query_service.servers import Servers
    from hbstore.query_service.service import QueryService
    from hbstore.web.app import application
    from hbstore.web.guard import Access
    from hbstore.web.serving import http_served

    doors = QueryDoors(**json.loads(settings))
    access = Access.of(doors.host, doors.token_file)
    lifeline = own_lifeline()
    with ExitStack() as stack:
        stack.enter_context(logging_to(doors.log_file))
        requests = stack.enter_context(StopRequests(lifeline))
        opened = stack.enter_context(open_store(ctx, store))
        servers = Servers(opened.records, lambda: datetime.now(UTC))
        service = QueryService(opened, Results(doors.results), servers, doors.limits)
        engine = Engine(
            opened.rows.url,
            doors.metastore,
            doors.warehouse,
            master=doors.spark_master,
            conf=doors.spark_conf,
            heard=service.runner.heard,
            lost=service.runner.lost,
        )
        stack.callback(engine.close)
        service.open(engine)
        stack.callback(service.close)
        stack.enter_context(
            http_served(
                application(service, access, log_all=doors.log_calls), doors.host, doors.http_port, shared_port=True
            )
        )
        if lifeline is not None:
            say_ready(lifeline)
        requests.wait()
