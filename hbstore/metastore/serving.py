"""What the processes of `hbstore serve` do, from an open store until they are asked to stop.

One process serves alone, or a parent looks after several that share a port (`hbstore.servers.processes`).
"""

from __future__ import annotations

import gc
import logging
import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from hbstore.files.warehouse import Warehouse
from hbstore.keys.partition_names import DEFAULT_DATABASE
from hbstore.metastore.call_log import SLOW_SECONDS, call_log
from hbstore.metastore.calls import CallRecord, Observer
from hbstore.metastore.endpoint import MODULES, metastore, warm_up
from hbstore.metastore.server import DEFAULT_PORT, metastore_server
from hbstore.metastore.short_calls import SHORT_CALLS
from hbstore.model.frozen import FrozenDict
from hbstore.servers.bounds import UNWATCHED
from hbstore.servers.limits import ServerLimits, allow_files
from hbstore.servers.listening import held_port
from hbstore.servers.processes import METRICS_FOLDER, Processes, say_ready
from hbstore.servers.server import GRACE, Server
from hbstore.servers.stopping import StopRequests
from hbstore.store.partition_store import PartitionStore
from hbstore.warehouse.databases import DEFAULT
from hbstore.warehouse.service import Service

if TYPE_CHECKING:  # imported where metrics are wanted
    from hbstore.metastore.metrics import Metrics
    from hbstore.metastore.metrics_port import MetricsPort
    from hbstore.servers.watching import Look

Ready: TypeAlias = Callable[[int, int | None], None]
"""Called once clients are served: with the port, and the port of the metrics."""

NO_LOOKS: Final[Mapping[str, Look]] = FrozenDict()
_LOG: Final = logging.getLogger("hbstore.metastore.serving")
_WRITING: Final = frozenset[str]().union(*(handlers.writing for handlers in MODULES.values()))
_FAR: Final = 1e-4
"""Seconds for a read: a store that takes longer is on another machine."""

_TICK: Final = 0.1
_GARBAGE: Final = (50_000, 20, 50)
"""Python looks for cycles among objects after so many new ones, and so many such looks. The usual 700 are few for a
list of 100,000 rows from HBase, which are no cycles: this takes a quarter of its processor time away."""


@dataclass(frozen=True, slots=True)
class Serving:
    """How to serve.

    Attributes:
        warehouse: where databases and tables have their files.
        host: a name or an address of this machine.
        port: 0 for a free one.
        metrics_port: likewise; None for no metrics.
        metrics_host: the address of the metrics; None: ``host``.
        shared_port: other processes listen at the same port.
        read_only: refuse what changes anything.
        strict_types: refuse to change a column's type to one that Hive does not convert it into.
        limits: what clients may do.
        slow_seconds: calls that take longer are logged.
        log_calls: all calls are.
    """

    warehouse: Warehouse
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    metrics_port: int | None = None
    metrics_host: str | None = None
    shared_port: bool = False
    read_only: bool = False
    strict_types: bool = False
    limits: ServerLimits = field(default_factory=ServerLimits)
    slow_seconds: float = SLOW_SECONDS
    log_calls: bool = False


def serve_alone(
    store: PartitionStore, serving: Serving, requests: StopRequests, ready: Ready, looks: Mapping[str, Look] = NO_LOOKS
) -> None:
    """Serve in this process.

    Args:
        store: the store.
        serving: how to serve.
        requests: to stop.
        ready: called once clients are served.
        looks: what the metrics show beside those of the metastore and its store.

    Raises:
        AddressUnavailable: the port or that of the metrics is taken, or may not be used.
    """
    with ExitStack() as stack:
        metrics, shown = None, None
        if serving.metrics_port is not None:
            os.environ.pop(METRICS_FOLDER, None)  # another program's
            from hbstore.metastore.metrics import Metrics
            from hbstore.metastore.metrics_port import metrics_port

            metrics = Metrics(_WRITING)
            host, service = serving.metrics_host or serving.host, service_of(store, serving)
            shown = stack.enter_context(
                metrics_port(host, serving.metrics_port, metrics.registry, service, limits=serving.limits, looks=looks)
            )
        server = open_server(store, serving, metrics)
        create_default_database(store, serving)
        _serve(server, requests, lambda: _announce(ready, server.port, shown))


def serve_as_child(store: PartitionStore, serving: Serving, requests: StopRequests, lifeline: socket.socket) -> None:
    """Serve beside other processes that the same parent looks after."""
    metrics = None
    if METRICS_FOLDER in os.environ:
        from hbstore.metastore.metrics import Metrics

        metrics = Metrics(_WRITING)
    server = open_server(store, replace(serving, shared_port=True), metrics)
    _serve(server, requests, lambda: say_ready(lifeline))


def supervise(
    store: PartitionStore,
    serving: Serving,
    command: Sequence[str],
    number: int,
    requests: StopRequests,
    ready: Ready,
    *,
    beside: Sequence[Sequence[str]] = (),
    looks: Mapping[str, Look] = NO_LOOKS,
) -> int:
    """Let several processes serve, each by its command, to which ``--port`` and a number are added.

    Args:
        store: the store, which is closed unless the metrics show what it holds.
        serving: how to serve.
        command: of each process of the metastore.
        number: how many there are.
        requests: to stop.
        ready: called once all processes serve.
        beside: the commands of other processes to look after.
        looks: what the metrics show beside those of the processes and the store.

    Returns:
        The exit code.

    Raises:
        AddressUnavailable: as of `serve_alone`.
    """
    with held_port(serving.host, serving.port) as port:
        create_default_database(store, serving)
        environment = {name: value for name, value in os.environ.items() if name != METRICS_FOLDER}
        commands = [[*words, "--port", str(port)] for words in [command] * number + list(beside)]
        if serving.metrics_port is None:
            store.close()
            return Processes(commands, environment).run(requests, lambda: _announce(ready, port, None))
        from hbstore.metastore.metrics_port import metrics_port
        from hbstore.servers.metrics import shared_metrics

        allow_files(serving.limits.connections)
        with shared_metrics() as shared:
            children = Processes(commands, environment | {METRICS_FOLDER: shared.folder}, shared.forget)
            host, service = serving.metrics_host or serving.host, service_of(store, serving)
            with metrics_port(
                host,
                serving.metrics_port,
                shared.registry,
                service,
                limits=serving.limits,
                looks=looks,
                children=children,
            ) as shown:
                return children.run(requests, lambda: _announce(ready, port, shown))


def service_of(store: PartitionStore, serving: Serving) -> Service:
    """What all calls to a server share."""
    return Service(store, serving.warehouse, serving.read_only, serving.strict_types)


def create_default_database(store: PartitionStore, serving: Serving) -> None:
    """Create the database that clients take for granted, if it is not there, and its folder."""
    if serving.read_only:
        return
    is_new = DEFAULT_DATABASE not in store.database_names()
    if not is_new and store.get_database(DEFAULT_DATABASE).location is not None:
        return
    location = serving.warehouse.database_location(DEFAULT_DATABASE)
    serving.warehouse.make_folder(location)
    if is_new:
        store.create_database(replace(DEFAULT, location=location), if_not_exists=True)


def open_server(store: PartitionStore, serving: Serving, metrics: Metrics | None = None) -> Server:
    """A server over a store, which holds its address and does not serve yet.

    Raises:
        AddressUnavailable: the port is taken, or the address cannot be used.
    """
    allow_files((1 if serving.metrics_port is None else 2) * serving.limits.connections)
    warm_up()
    log = call_log(slow_seconds=serving.slow_seconds, all_calls=serving.log_calls)
    endpoint = metastore(
        service_of(store, serving),
        log if metrics is None else _both(log, metrics.observe),
    )
    return metastore_server(
        endpoint,
        serving.host,
        serving.port,
        limits=serving.limits,
        shared_port=serving.shared_port,
        short=frozenset() if store.rows.costs.seek > _FAR else SHORT_CALLS,
        watch=UNWATCHED if metrics is None else metrics.door,
    )


def _serve(server: Server, requests: StopRequests, ready: Callable[[], None]) -> None:
    """Serve until a request to stop comes; then calls under way have `GRACE` seconds, or until the next request."""
    gc.freeze()
    gc.set_threshold(*_GARBAGE)
    server.start()
    ready()
    requests.wait()
    server.close()
    until = time.monotonic() + GRACE
    while not server.join(_TICK):
        if requests.wait(0) or time.monotonic() > until:
            _LOG.warning("calls were cut off", extra={"fields": {"calls": server.cut()}})
            server.join(_TICK)
            return


def _announce(ready: Ready, port: int, shown: MetricsPort | None) -> None:
    """Say that clients are served, and begin to look for what the metrics show."""
    if shown is not None:
        shown.watch.start()
    ready(port, None if shown is None else shown.port)


def _both(first: Observer, second: Observer) -> Observer:
    def observe(record: CallRecord) -> None:
        first(record)
        second(record)

    return observe
