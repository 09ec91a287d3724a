"""The command that serves a store as a Hive Metastore."""

from __future__ import annotations

import logging
import os
import sys
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import typer

from hbstore.cli.arguments import JsonOption, StoreOption, examples, named_values
from hbstore.cli.opening import open_or_create_store, open_store, store_url
from hbstore.cli.printing import print_lines, print_warning
from hbstore.cli.query_doors import (
    HttpPortOption,
    KeepResultsOption,
    MaxQueuedOption,
    MaxResultOption,
    MaxRunningOfUserOption,
    MaxRunningOption,
    MaxRunTimeOption,
    QueryDoors,
    ResultsOption,
    SparkConfOption,
    SparkMasterOption,
    SqlPortOption,
    TokenFileOption,
    take_queries,
)
from hbstore.cli.serve_doors import (
    OpenDoors,
    check_shared_port,
    check_shared_store,
    check_together,
    folder_beside,
    is_written,
    query_ports,
)

if TYPE_CHECKING:  # imported when the command runs: that takes a while, and help needs none of it
    from hbstore.metastore.serving import Serving
    from hbstore.servers.stopping import StopRequests
    from hbstore.servers.watching import Look
    from hbstore.store.partition_store import PartitionStore

commands = typer.Typer()
_LOG: Final = logging.getLogger("hbstore.cli.serve")
_LOOPBACK: Final = "127.0.0.1"


@commands.command(
    epilog=examples(
        "hbstore serve --warehouse /data/warehouse",
        "hbstore --store hbase://gateway:9090/shop serve --warehouse hdfs://namenode/warehouse"
        " --host 0.0.0.0 --insecure",
        "hbstore serve --warehouse /data/warehouse --processes 4 --metrics-port 9084 --log-file serve.log",
        "hbstore serve --warehouse /data/warehouse --http-port 8080 --results /data/results",
    )
)
def serve(
    ctx: typer.Context,
    *,
    warehouse: Annotated[
        str | None,
        typer.Option(
            "--warehouse",
            envvar="HBSTORE_WAREHOUSE",
            metavar="DIR",
            help="Where databases and tables have their files: a path or URI; by default NAME-warehouse beside the "
            "store NAME.db.",
        ),
    ] = None,
    also_under: Annotated[
        list[str] | None,
        typer.Option(
            "--also-under",
            metavar="DIR",
            help="Another folder below which the server may delete and move files; may be repeated.",
        ),
    ] = None,
    host: Annotated[str, typer.Option("--host", help="The address to listen at.")] = "127.0.0.1",
    insecure: Annotated[
        bool,
        typer.Option(
            "--insecure",
            help="Let doors that ask nobody for a login listen where other machines reach them: all who reach the "
            "metastore's may change the catalog and have files deleted.",
        ),
    ] = False,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port; 0 takes any free port.")] = 9083,
    without_metastore: Annotated[
        bool,
        typer.Option(
            "--without-metastore", help="Take queries only; the metastore serves nobody but this server's own Spark."
        ),
    ] = False,
    processes: Annotated[
        int, typer.Option("--processes", min=1, metavar="N", help="Processes that share the port.")
    ] = 1,
    read_only: Annotated[bool, typer.Option("--read-only", help="Refuse all calls that change anything.")] = False,
    strict_types: Annotated[
        bool,
        typer.Option(
            "--disallow-incompatible-col-type-changes",
            help="Refuse column types that Hive does not convert the old ones into, as Hive's own metastore does.",
        ),
    ] = False,
    trash: Annotated[
        str | None,
        typer.Option(
            "--trash", metavar="DIR", help="A folder for deleted files, unless they are purged; nothing empties it."
        ),
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            "--metrics-port",
            min=0,
            max=65535,
            metavar="P",
            help="Show metrics to Prometheus at this port; 0 takes any free port.",
        ),
    ] = None,
    log_calls: Annotated[bool, typer.Option("--log-calls", help="Log every call.")] = False,
    slow_seconds: Annotated[
        float, typer.Option("--slow-seconds", min=0.0, metavar="S", help="Log calls that take longer.")
    ] = 1.0,
    log_file: Annotated[
        str | None, typer.Option("--log-file", metavar="FILE", help="The file for the log, instead of stderr.")
    ] = None,
    max_message: Annotated[
        int,
        typer.Option(
            "--max-message", min=65536, metavar="BYTES", help="The size of the largest call that the server accepts."
        ),
    ] = 134217728,
    message_memory: Annotated[
        int,
        typer.Option("--message-memory", min=0, metavar="BYTES", help="Memory for all large calls under way together."),
    ] = 536870912,
    max_connections: Annotated[
        int,
        typer.Option(
            "--max-connections",
            min=1,
            metavar="N",
            help="The largest number of clients of each door of each process; one that was silent for a minute makes "
            "room for another.",
        ),
    ] = 2000,
    idle_timeout: Annotated[
        float | None,
        typer.Option(
            "--idle-timeout",
            min=1.0,
            metavar="S",
            help="Seconds after which the server disconnects silent clients of the metastore and of SQL; by default "
            "never.",
        ),
    ] = None,
    least_rate: Annotated[
        int,
        typer.Option(
            "--least-rate",
            min=1,
            metavar="BYTES",
            help="Bytes a second that clients must take of a long reply and send of a long call, on average, after a "
            "minute.",
        ),
    ] = 65536,
    reply_room: Annotated[
        int,
        typer.Option(
            "--reply-room",
            min=0,
            metavar="BYTES",
            help="Memory and temporary files for all long replies of the metastore together; others wait for a minute.",
        ),
    ] = 402653184,
    max_requests: Annotated[
        int,
        typer.Option("--max-requests", min=1, metavar="N", help="Requests over HTTP under way at once, at each door."),
    ] = 1500,
    call_timeout: Annotated[
        float,
        typer.Option(
            "--call-timeout",
            min=1.0,
            metavar="S",
            help="Seconds that a call of the metastore may take; one whose client is gone ends earlier.",
        ),
    ] = 600.0,
    http_port: HttpPortOption = None,
    open_browser: Annotated[
        bool, typer.Option("--open-browser", help="Open a browser on the console when the server is ready.")
    ] = False,
    sql_port: SqlPortOption = None,
    results: ResultsOption = None,
    token_file: TokenFileOption = None,
    spark_master: SparkMasterOption = "local[*]",
    spark_conf: SparkConfOption = None,
    max_running: MaxRunningOption = 8,
    max_running_of_user: MaxRunningOfUserOption = 4,
    max_queued: MaxQueuedOption = 200,
    max_run_time: MaxRunTimeOption = 3600.0,
    max_result: MaxResultOption = 10737418240,
    keep_results: KeepResultsOption = 48.0,
    as_queries: Annotated[
        bool, typer.Option("--as-queries", hidden=True, help="Take queries, as a process that another one looks after.")
    ] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Serve the store as a Hive Metastore, and take queries.

    Hive, Spark, Trino, Presto, Flink and Iceberg can use it without a change, with clients of Hive 2.3 to 4.1.

    With --http-port, the server takes queries over HTTP (docs at /docs), and a Spark of its own runs them: cube
    queries, Spark SQL, and hbstore's own statements. The metastore's door can be left out then: --without-metastore.

    The server listens where this machine alone reaches it. With --host other machines do: at the doors for queries with
    a --token-file, at those that ask nobody for a login (the metastore's and that of metrics) only with --insecure.

    The server prints two lines when it is ready, and runs until SIGTERM or SIGINT (Ctrl-C). Then it answers the calls
    under way, for half a minute at most; a second signal ends them at once. The log has a JSON object on each line.
    """
    from hbstore.files.warehouse import Warehouse
    from hbstore.metastore.serving import Serving
    from hbstore.servers.framing import ReadLimits
    from hbstore.servers.limits import ServerLimits
    from hbstore.servers.logs import logging_to
    from hbstore.servers.processes import own_lifeline
    from hbstore.servers.stopping import StopRequests

    lifeline = own_lifeline()
    opening = query_ports(http_port, sql_port)
    if lifeline is None:
        check_together(ctx, opening, without_metastore=without_metastore, insecure=insecure)
        port = 0 if without_metastore else port
    reading = ReadLimits(message=max_message, least_rate=least_rate, idle_timeout=idle_timeout)
    url = store_url(ctx, store)
    serving = Serving(
        Warehouse(
            warehouse or folder_beside(url, "warehouse", "the files of tables"),
            trash=trash,
            also_under=also_under or (),
        ),
        _LOOPBACK if without_metastore else host,
        port,
        metrics_port,
        metrics_host=host,
        read_only=read_only,
        strict_types=strict_types,
        limits=ServerLimits(
            max_connections,
            message_memory,
            reading,
            reply_room=reply_room,
            requests=max_requests,
            call_seconds=call_timeout,
        ),
        slow_seconds=slow_seconds,
        log_calls=log_calls,
        warehouse_is_named=is_written(ctx, "warehouse"),
    )
    doors = None
    if opening and (lifeline is None or as_queries):
        from hbstore.query_service.limits import Limits

        doors = QueryDoors(
            serving,
            host=host,
            http_port=http_port,
            sql_port=sql_port,
            results=results or folder_beside(url, "results", "the results of queries"),
            token_file=token_file,
            spark_master=spark_master,
            spark_conf=named_values("setting", spark_conf),
            limits=Limits(
                max_running,
                max_running_of_user,
                max_queued,
                timedelta(seconds=max_run_time),
                max_result,
                timedelta(hours=keep_results),
            ),
        )

    def ready(port: int, metrics_port: int | None, http_port: int | None = None, sql_port: int | None = None) -> None:
        shown = None if without_metastore else port
        kept = None if doors is None else doors.results
        ports = (shown, http_port, sql_port, metrics_port)
        opened = OpenDoors(url, serving.warehouse.root, kept, host, *ports, token_file)
        _LOG.info("the server is ready", extra={"fields": {"host": host, "logins": opened.logins}})
        print_lines(opened.lines(as_json=as_json))
        sys.stdout.flush()  # at once, for people and scripts that wait for it
        if open_browser and http_port is not None:
            webbrowser.open(opened.console)

    supervises = lifeline is None and (processes > 1 or doors is not None)
    if supervises:
        _check_several(url, opening, processes, doors)
    os.umask(0o077)  # results, logs and what else the server and its Spark write are their user's alone
    with (
        logging_to(log_file),
        StopRequests(lifeline) as requests,
        _open(ctx, store, serving, is_child=lifeline is not None) as opened,
        _keeping_retention(ctx, store if supervises else opened, serving, is_child=lifeline is not None),
    ):
        if lifeline is None:
            _warn_of_other_warehouse(opened, serving, log_file)
        if supervises:
            raise typer.Exit(_supervise(opened, serving, doors, processes, requests, ready))
        if lifeline is not None and doors is not None:
            return take_queries(doors, opened, requests, lifeline)
        from hbstore.metastore.process import serve_alone, serve_as_child

        if lifeline is None:
            return serve_alone(opened, serving, requests, ready, _looks(opened, serving))
        return serve_as_child(opened, serving, requests, lifeline)


def _open(ctx: typer.Context, url: str | None, serving: Serving, *, is_child: bool) -> PartitionStore:
    """The store, which is created where there is none, unless it shall not be written.

    A process that another looks after creates none: if the store is not there any more, its disk is away.
    """
    if serving.read_only:
        return open_store(ctx, url)
    store = open_store(ctx, url) if is_child else open_or_create_store(ctx, url)[0]
    store.rows.keep_reserve()
    return store


@contextmanager
def _keeping_retention(
    ctx: typer.Context, store: PartitionStore | str | None, serving: Serving, *, is_child: bool
) -> Iterator[None]:
    """Drop old partitions meanwhile. A process that looks after others closes its store, so that another is opened."""
    if is_child or serving.read_only:
        yield
        return
    from hbstore.retention.keeper import keeping_retention
    from hbstore.store.partition_store import PartitionStore

    opening = nullcontext(store) if isinstance(store, PartitionStore) else open_store(ctx, store)
    with opening as opened, keeping_retention(opened, serving.warehouse):
        yield


def _check_several(url: str, opening: tuple[str, ...], processes: int, doors: QueryDoors | None) -> None:
    """See that several processes can serve, before one is started."""
    if doors is not None:
        doors.check()
    check_shared_store(url, opening, processes)
    check_shared_port(processes)


def _warn_of_other_warehouse(store: PartitionStore, serving: Serving, log_file: str | None) -> None:
    """Say it where the store's servers have used another warehouse: on stderr, and in the log where that is a file."""
    from hbstore.warehouse.remembered import other_warehouse

    own = serving.warehouse.root
    earlier = other_warehouse(store.records, serving.warehouse)
    if earlier is None:
        return
    to_stay = "" if serving.warehouse_is_named else f", or with --warehouse {own} to hear no more of this"
    print_warning(
        f"servers of this store use the warehouse {earlier.root} (since {earlier.since}, first on {earlier.host}), and"
        f" this one uses {own}. Tables stay where they are, new ones come into {own}, and files elsewhere are not"
        f" deleted or moved. If that is not meant, start it with --warehouse {earlier.root}{to_stay}"
    )
    if log_file is not None:
        fields = {"warehouse": own, "other": earlier.root, "since": earlier.since, "host": earlier.host}
        _LOG.warning("servers of this store use another warehouse", extra={"fields": fields})


def _supervise(
    store: PartitionStore,
    serving: Serving,
    doors: QueryDoors | None,
    processes: int,
    requests: StopRequests,
    ready: Callable[[int, int | None, int | None, int | None], None],
) -> int:
    """Look after the processes of the metastore, and the one that takes queries; the exit code.

    Each runs the command line of this process, behind which stand the ports that this process holds for it.
    """
    from hbstore.metastore.serving import supervise
    from hbstore.servers.listening import held_port

    command = [sys.executable, "-m", "hbstore", *sys.argv[1:]]
    wanted = {"--http-port": doors.http_port, "--sql-port": doors.sql_port} if doors is not None else {}
    with ExitStack() as stack:
        ports = {
            option: stack.enter_context(held_port(serving.metrics_host or serving.host, port, option))
            for option, port in wanted.items()
            if port is not None
        }
        words = [word for option, port in ports.items() for word in (option, str(port))]
        return supervise(
            store,
            serving,
            command,
            processes,
            requests,
            lambda port, metrics_port: ready(port, metrics_port, ports.get("--http-port"), ports.get("--sql-port")),
            beside=[[*command, *words, "--as-queries"]] if ports else [],
            looks=_looks(store, serving),
        )


def _looks(store: PartitionStore, serving: Serving) -> dict[str, Look]:
    """What the metrics of a server show beside those of the metastore, where they are shown."""
    if serving.metrics_port is None:
        return {}
    from hbstore.query_service.metrics import look_at_leases

    return {"leases": partial(look_at_leases, store.records)}
