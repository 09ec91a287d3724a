"""What one process of `hbstore serve` does that answers calls, from an open store until it is asked to stop."""

from __future__ import annotations

import gc
import logging
import os
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from hbstore.metastore.call_log import call_log
from hbstore.metastore.calls import CallRecord, Observer
from hbstore.metastore.endpoint import MODULES, metastore, warm_up
from hbstore.metastore.server import metastore_server
from hbstore.metastore.serving import NO_LOOKS, Ready, Serving, announce, prepare_store, service_of
from hbstore.metastore.short_calls import SHORT_CALLS
from hbstore.servers.bounds import UNWATCHED
from hbstore.servers.limits import allow_files
from hbstore.servers.processes import METRICS_FOLDER, say_ready
from hbstore.servers.server import GRACE, Server
from hbstore.servers.stopping import StopRequests
from hbstore.store.partition_store import PartitionStore

if TYPE_CHECKING:  # imported where metrics are wanted
    from hbstore.metastore.metrics import Metrics
    from hbstore.servers.watching import Look

_LOG: Final = logging.getLogger("hbstore.metastore.process")
_WRITING: Final = frozenset[str]().union(*(handlers.writing for handlers in MODULES.values()))
_FAR: Final = 1e-4
"""Seconds for a read: a store that takes longer is on another machine."""

_TICK: Final = 0.1
_GARBAGE: Final = (50_000, 20, 50)
"""Python looks for cycles among objects after so many new ones, and so many such looks. The usual 700 are few for a
list of 100,000 rows from HBase, which are no cycles: this takes a quarter of its processor time away."""


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
        prepare_store(store, serving)
        _serve(server, requests, lambda: announce(ready, server.port, shown))


def serve_as_child(store: PartitionStore, serving: Serving, requests: StopRequests, lifeline: socket.socket) -> None:
    """Serve beside other processes that the same parent looks after."""
    metrics = None
    if METRICS_FOLDER in os.environ:
        from hbstore.metastore.metrics import Metrics

        metrics = Metrics(_WRITING)
    server = open_server(store, replace(serving, shared_port=True), metrics)
    _serve(server, requests, lambda: say_ready(lifeline))


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


def _both(first: Observer, second: Observer) -> Observer:
    def observe(record: CallRecord) -> None:
        first(record)
        second(record)

    return observe
