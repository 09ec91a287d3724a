"""How `hbstore serve` serves: in one process, or in several that a parent looks after (`hbstore.servers.processes`).

What a process does that answers calls is in `hbstore.metastore.process`: it reads the description of Hive's service,
which takes a third of its start, and which the parent and the process that takes queries do not need.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from hbstore.files.warehouse import Warehouse
from hbstore.keys.partition_names import DEFAULT_DATABASE
from hbstore.model.frozen import FrozenDict
from hbstore.servers.limits import ServerLimits, allow_files
from hbstore.servers.listening import held_port
from hbstore.servers.processes import METRICS_FOLDER, Processes
from hbstore.servers.stopping import StopRequests
from hbstore.store.partition_store import PartitionStore
from hbstore.warehouse.databases import DEFAULT
from hbstore.warehouse.remembered import remember_warehouse
from hbstore.warehouse.service import Service

if TYPE_CHECKING:  # imported where metrics are wanted
    from hbstore.metastore.metrics_port import MetricsPort
    from hbstore.servers.watching import Look

Ready: TypeAlias = Callable[[int, int | None], None]
"""Called once clients are served: with the port, and the port of the metrics."""

DEFAULT_PORT: Final = 9083
"""The Hive Metastore's."""

SLOW_SECONDS: Final = 1.0
"""A call that takes longer is logged in any case."""

NO_LOOKS: Final[Mapping[str, Look]] = FrozenDict()


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
        warehouse_is_named: the operator named the warehouse, so that the store remembers it in place of another one.
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
    warehouse_is_named: bool = False


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
        AddressUnavailable: as of `hbstore.metastore.process.serve_alone`.
    """
    with held_port(serving.host, serving.port) as port:
        prepare_store(store, serving)
        environment = {name: value for name, value in os.environ.items() if name != METRICS_FOLDER}
        commands = [[*words, "--port", str(port)] for words in [command] * number + list(beside)]
        if serving.metrics_port is None:
            store.close()
            return Processes(commands, environment).run(requests, lambda: announce(ready, port, None))
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
                return children.run(requests, lambda: announce(ready, port, shown))


def service_of(store: PartitionStore, serving: Serving) -> Service:
    """What all calls to a server share."""
    return Service(store, serving.warehouse, serving.read_only, serving.strict_types)


def prepare_store(store: PartitionStore, serving: Serving) -> None:
    """Create the default database, and let the store remember the warehouse, as soon as a server has its port."""
    if not serving.read_only:
        _create_default_database(store, serving)
        remember_warehouse(store.records, serving.warehouse, is_named=serving.warehouse_is_named)


def _create_default_database(store: PartitionStore, serving: Serving) -> None:
    """Create the database that clients take for granted, if it is not there, and its folder."""
    is_new = DEFAULT_DATABASE not in store.database_names()
    if not is_new and store.get_database(DEFAULT_DATABASE).location is not None:
        return
    location = serving.warehouse.database_location(DEFAULT_DATABASE)
    serving.warehouse.make_folder(location)
    if is_new:
        store.create_database(replace(DEFAULT, location=location), if_not_exists=True)


def announce(ready: Ready, port: int, shown: MetricsPort | None) -> None:
    """Say that clients are served, and begin to look for what the metrics show."""
    if shown is not None:
        shown.watch.start()
    ready(port, None if shown is None else shown.port)
