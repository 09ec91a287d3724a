"""The port for Prometheus: what the processes of a server count, what is looked for, and whether it is ready."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus

from prometheus_client import CollectorRegistry

from hbstore.servers.limits import ServerLimits
from hbstore.servers.metrics import Probe, metrics_server
from hbstore.servers.processes import ProcessCounts, Processes
from hbstore.servers.watching import Look, Watch
from hbstore.warehouse.health import Health, liveness
from hbstore.warehouse.metrics import SPARK_STATE, look_at_health, look_at_machine, look_at_store
from hbstore.warehouse.service import Service


@dataclass(frozen=True, slots=True)
class MetricsPort:
    """Where metrics are shown.

    Attributes:
        port: of this machine.
        watch: what looks for numbers, from the moment on when the server serves.
    """

    port: int
    watch: Watch


@contextmanager
def metrics_port(
    host: str,
    port: int,
    registry: CollectorRegistry,
    service: Service,
    *,
    limits: ServerLimits,
    looks: Mapping[str, Look],
    children: Processes | None = None,
) -> Iterator[MetricsPort]:
    """Inside, metrics and health are shown: at ``/metrics``, ``/health/live`` and ``/health/ready``.

    Args:
        host: a name or an address of this machine.
        port: which; 0 for a free one.
        registry: what is counted.
        service: the store and the warehouse that are served.
        limits: what clients may do.
        looks: what else is looked for, by names.
        children: the processes that serve; None: this one does.

    Raises:
        AddressUnavailable: the port is taken, or may not be used.
    """

    def pids() -> list[int]:
        return [os.getpid(), *(children.pids() if children is not None else ())]

    def health() -> Health:
        return service.health() if children is None else _with_processes(service.health(), children.counts())

    watch = Watch(
        {
            "store": partial(look_at_store, service.store),
            "machine": partial(look_at_machine, service.store, service.warehouse, pids),
            "health": partial(look_at_health, health),
            **looks,
        }
    )
    registry.register(watch)
    with closing(watch), metrics_server(registry, host, port, _probes(registry, health), limits=limits) as server:
        yield MetricsPort(server.port, watch)


def _probes(registry: CollectorRegistry, health: Callable[[], Health]) -> dict[str, Probe]:
    def has_spark(state: str) -> bool:
        return registry.get_sample_value(SPARK_STATE, {"state": state}) == 1

    def live() -> tuple[HTTPStatus, Mapping[str, object]]:
        return HTTPStatus.OK, liveness(spark=has_spark("running"))

    def ready() -> tuple[HTTPStatus, Mapping[str, object]]:
        spark = "Spark did not start: see the server's log" if has_spark("failed") else None
        now = health().with_problem("spark", spark)
        return HTTPStatus.OK if now.ready else HTTPStatus.SERVICE_UNAVAILABLE, now.to_dict()

    return {"/health": live, "/health/live": live, "/health/ready": ready}


def _with_processes(health: Health, counts: ProcessCounts) -> Health:
    """The health of a server whose processes stand so: it is ready where each kind of them serves."""
    if counts.serving == counts.wanted:
        return health
    text = f"{counts.serving} of {counts.wanted} processes serve; the others are started again"
    told = health.with_problem("processes", text)
    return told if counts.complete else Health(ready=False, problems=told.problems)
