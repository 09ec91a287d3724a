"""Metrics of one process or several at a port for Prometheus.

With several processes each keeps its numbers in files of a folder that all share, and the process that supervises them
shows the sums; so what a process counted is not lost when it ends.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from hbstore.errors import AddressUnavailable


@dataclass(frozen=True, slots=True)
class SharedMetrics:
    """The numbers of several processes.

    Attributes:
        folder: where they keep them.
        port: where their sums are shown.
    """

    folder: str
    port: int

    def forget(self, pid: int) -> None:
        """A process is gone, and its connections with it; what it counted stays."""
        mark_process_dead(pid, path=self.folder)  # type: ignore[no-untyped-call]


@contextmanager
def shared_metrics(host: str, port: int) -> Iterator[SharedMetrics]:
    """Show the sums of processes that are started meanwhile with the folder in their environment.

    Raises:
        AddressUnavailable: the port is taken, or may not be used.
    """
    with tempfile.TemporaryDirectory(prefix="hbstore-metrics-") as folder:
        registry = CollectorRegistry()
        MultiProcessCollector(registry, path=folder)  # type: ignore[no-untyped-call]
        yield SharedMetrics(folder, serve_metrics(registry, host, port))


def serve_metrics(registry: CollectorRegistry, host: str, port: int) -> int:
    """Show the numbers at ``http://host:port/metrics``, in a thread of its own; the port, which 0 leaves to the system.

    Raises:
        AddressUnavailable: the port is taken, or may not be used.
    """
    try:
        server, _ = start_http_server(port, host, registry)
    except (OSError, OverflowError) as error:
        raise AddressUnavailable(
            "the metrics server cannot listen at this address",
            address=f"{host}:{port}",
            reason=getattr(error, "strerror", None) or error,
            hint="Choose another port with --metrics-port; 0 takes any free port",
        ) from error
    return int(server.server_port)
