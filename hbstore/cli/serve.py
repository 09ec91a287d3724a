"""The command that serves a store as a Hive Metastore."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from hbstore.cli.arguments import JsonOption, StoreOption, examples, named_values
from hbstore.cli.opening import Settings, open_or_create_store, open_store, store_url
from hbstore.cli.printing import print_lines
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
)
from hbstore.cli.serve_doors import (
    OpenDoors,
    check_shared_store,
    check_together,
    held_for_children,
    query_ports,
    results_folder,
)
from hbstore.errors import InvalidInput

if TYPE_CHECKING:  # imported when the command runs: that takes a while, and help needs none of it
    from hbstore.metastore.serving import Serving
    from hbstore.servers.stopping import StopRequests
    from hbstore.store.partition_store import PartitionStore

commands = typer.Typer()
_LOOPBACK: Final = "127.0.0.1"


@commands.command(
    epilog=examples(
        "hbstore serve --warehouse /data/warehouse",
        "hbstore --store hbase://gateway:9090/shop serve --warehouse hdfs://namenode/warehouse --host 0.0.0.0",
        "hbstore serve --warehouse /data/warehouse --processes 4 --metrics-port 9084 --log-file serve.log",
        "hbstore serve --warehouse /data/warehouse --http-port 8080 --results /data/results",
    )
)
def serve(
    ctx: typer.Context,
    *,
    warehouse: Annotated[
        str,
        typer.Option("--warehouse", metavar="DIR", help="Where databases and tables have their files: a path or URI."),
    ],
    also_under: Annotated[
        list[str] | None,
        typer.Option(
            "--also-under",
            metavar="DIR",
            help="Another folder below which the server may delete and move files; may be repeated.",
        ),
    ] = None,
    host: Annotated[
        str, typer.Option("--host", help="The address to listen at; the server does not authenticate clients.")
    ] = "127.0.0.1",
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
        typer.Option("--max-connections", min=1, metavar="N", help="The largest number of clients of each process."),
    ] = 2000,
    idle_timeout: Annotated[
        float | None,
        typer.Option(
            "--idle-timeout",
            min=1.0,
            metavar="S",
            help="Seconds after which the server disconnects silent clients; by default never.",
        ),
    ] = None,
    http_port: HttpPortOption = None,
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
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Serve the store as a Hive Metastore, and take queries.

    Hive, Spark, Trino, Presto, Flink and Iceberg can use it without a change, with clients of Hive 2.3 to 4.1.

    With --http-port, the server takes queries over HTTP (docs at /docs), and a Spark of its own runs them: cube
    queries, Spark SQL, and hbstore's own statements. Other machines reach it only with a --token-file. The
    metastore's door can be left out then: --without-metastore.

    The server prints one line when it is ready, and runs until SIGTERM or SIGINT (Ctrl-C). Then it answers the calls
    under way, for half a minute at most; a second signal ends them at once. The log has a JSON object on each line.
    """
    from hbstore.files.warehouse import Warehouse
    from hbstore.metastore.serving import Serving, serve_alone, serve_as_child, supervise
    from hbstore.servers.connection import ConnectionLimits
    from hbstore.servers.framing import ReadLimits
    from hbstore.servers.json_lines import logging_to
    from hbstore.servers.processes import own_lifeline
    from hbstore.servers.server import ServerLimits
    from hbstore.servers.stopping import StopRequests

    opening = query_ports(http_port, sql_port)
    check_together(ctx, opening, without_metastore=without_metastore)
    reading = ReadLimits(message=max_message, idle_timeout=idle_timeout)
    serving = Serving(
        Warehouse(warehouse, trash=trash, also_under=also_under or ()),
        _LOOPBACK if without_metastore else host,
        0 if without_metastore else port,
        metrics_port,
        metrics_host=host,
        read_only=read_only,
        strict_types=strict_types,
        limits=ServerLimits(max_connections, message_memory, connection=ConnectionLimits(reading)),
        slow_seconds=slow_seconds,
        log_calls=log_calls,
    )
    url = store_url(ctx, store)
    doors = None
    if opening:
        doors = QueryDoors(
            host=host,
            http_port=http_port,
            sql_port=sql_port,
            metastore="",
            warehouse=serving.warehouse.root,
            results=results_folder(results, opening),
            token_file=token_file,
            spark_master=spark_master,
            spark_conf=named_values("setting", spark_conf),
            running=max_running,
            running_of_user=max_running_of_user,
            queued=max_queued,
            run_seconds=max_run_time,
            result_size=max_result,
            keep_seconds=keep_results * 3600,
            log_file=log_file,
            log_calls=log_calls,
            trash=trash,
            also_under=serving.warehouse.also_under,
            read_only=read_only,
            strict_types=strict_types,
        )
        doors.check()

    def ready(port: int, metrics_port: int | None, http_port: int | None = None, sql_port: int | None = None) -> None:
        shown = None if without_metastore else port
        opened = OpenDoors(url, serving.warehouse.root, host, shown, http_port, sql_port, metrics_port)
        print_lines([opened.line(as_json=as_json)])
        sys.stdout.flush()  # at once, for people and scripts that wait for it

    alone = processes == 1 and doors is None
    if not alone:
        check_shared_store(url, opening, processes)
    command = [] if alone else _child_command(ctx, url, serving, log_file, trash, shared=processes > 1)
    lifeline = own_lifeline()
    with logging_to(log_file), StopRequests(lifeline) as requests, _open(ctx, store, serving) as opened:
        if doors is not None:
            raise typer.Exit(_supervise_with(doors, opened, serving, command, processes, requests, ready))
        if command:
            raise typer.Exit(supervise(opened, serving, command, processes, requests, ready))
        if lifeline is not None:
            serve_as_child(opened, serving, requests, lifeline)
        else:
            serve_alone(opened, serving, requests, ready)


def _open(ctx: typer.Context, url: str | None, serving: Serving) -> PartitionStore:
    """The store, which is created where there is none, unless it shall not be written."""
    return open_store(ctx, url) if serving.read_only else open_or_create_store(ctx, url)[0]


def _child_command(
    ctx: typer.Context, url: str, serving: Serving, log_file: str | None, trash: str | None, *, shared: bool
) -> list[str]:
    """The command line of a process among several; its port is added when it is known.

    Raises:
        InvalidInput: processes cannot share a port on this system.
    """
    from hbstore.servers.listening import port_can_be_shared

    if shared and not port_can_be_shared():
        raise InvalidInput(
            "processes cannot share a port on this system",
            system=sys.platform,
            hint="Leave out --processes; only Linux spreads the connections of a port over processes",
        )
    settings: Settings = ctx.obj
    reading = serving.limits.connection.read
    options = {
        "--warehouse": serving.warehouse.root,
        "--trash": trash,
        "--host": serving.host,
        "--slow-seconds": serving.slow_seconds,
        "--log-file": log_file,
        "--max-message": reading.message,
        "--message-memory": serving.limits.message_memory,
        "--max-connections": serving.limits.connections,
        "--idle-timeout": reading.idle_timeout,
    }
    roots = serving.warehouse.also_under
    return [
        *(sys.executable, "-m", "hbstore", "--store", url, *(["--traceback"] if settings.with_traceback else [])),
        "serve",
        *(word for name, value in options.items() if value is not None for word in (name, str(value))),
        *(word for root in roots for word in ("--also-under", root)),
        *(["--read-only"] if serving.read_only else []),
        *(["--disallow-incompatible-col-type-changes"] if serving.strict_types else []),
        *(["--log-calls"] if serving.log_calls else []),
    ]


def _supervise_with(
    doors: QueryDoors,
    store: PartitionStore,
    serving: Serving,
    command: list[str],
    processes: int,
    requests: StopRequests,
    ready: Callable[[int, int | None, int | None, int | None], None],
) -> int:
    """Look after the processes of the metastore, and the one that takes queries."""
    from hbstore.metastore.serving import supervise
    from hbstore.metastore.spark_conf import endpoint_uri

    url = store.rows.url
    with (
        held_for_children(doors.host, doors.http_port, "--http-port") as http_port,
        held_for_children(doors.host, doors.sql_port, "--sql-port") as sql_port,
    ):

        def beside(port: int) -> list[list[str]]:
            metastore = endpoint_uri(serving.host, port)
            return [replace(doors, http_port=http_port, sql_port=sql_port, metastore=metastore).command(url)]

        return supervise(
            store,
            serving,
            command,
            processes,
            requests,
            lambda port, metrics_port: ready(port, metrics_port, http_port, sql_port),
            beside,
        )
