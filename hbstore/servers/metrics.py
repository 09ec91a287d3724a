"""Metrics of one process or several at a port for Prometheus, with answers for those who ask whether the server lives.

With several processes each keeps its numbers in files of a folder that all share, and the process that supervises them
shows the sums; so what a process counted is not lost when it ends.
"""

from __future__ import annotations

import json
import socket
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeAlias
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.exposition import ThreadingWSGIServer
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from hbstore.errors import AddressUnavailable

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

Probe: TypeAlias = Callable[[], tuple[HTTPStatus, Mapping[str, object]]]
"""What is answered to who asks for a path: a status, and a JSON document."""


@dataclass(frozen=True, slots=True)
class SharedMetrics:
    """The numbers of several processes.

    Attributes:
        folder: where they keep them.
        registry: shows their sums.
    """

    folder: str
    registry: CollectorRegistry

    def forget(self, pid: int) -> None:
        """A process is gone, and its connections with it; what it counted stays."""
        mark_process_dead(pid, path=self.folder)  # type: ignore[no-untyped-call]


@contextmanager
def shared_metrics() -> Iterator[SharedMetrics]:
    """The numbers of processes that are started meanwhile with the folder in their environment."""
    with tempfile.TemporaryDirectory(prefix="hbstore-metrics-") as folder:
        registry = CollectorRegistry()
        MultiProcessCollector(registry, path=folder)  # type: ignore[no-untyped-call]
        yield SharedMetrics(folder, registry)


def serve_metrics(registry: CollectorRegistry, host: str, port: int, probes: Mapping[str, Probe]) -> int:
    """Show the numbers at ``http://host:port/metrics``, in a thread of its own.

    Args:
        registry: the numbers.
        host: a name or an address of this machine.
        port: which; 0 leaves it to the system.
        probes: what is answered at other paths.

    Returns:
        The port.

    Raises:
        AddressUnavailable: the port is taken, or may not be used.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        server_class = type("MetricsServer", (ThreadingWSGIServer,), {"address_family": family})
        server: WSGIServer = make_server(
            str(address[0]), port, _with_probes(make_wsgi_app(registry), probes), server_class, _SilentHandler
        )
    except (OSError, OverflowError) as error:
        raise AddressUnavailable(
            "the metrics server cannot listen at this address",
            address=f"{host}:{port}",
            reason=getattr(error, "strerror", None) or error,
            hint="Choose another port with --metrics-port; 0 takes any free port",
        ) from error
    Thread(target=server.serve_forever, name="hbstore-metrics", daemon=True).start()
    return int(server.server_port)


class _SilentHandler(WSGIRequestHandler):
    """Answers requests, and logs none."""

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


def _with_probes(metrics: WSGIApplication, probes: Mapping[str, Probe]) -> WSGIApplication:
    """What answers probes at their paths, and shows the metrics at all others."""

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        probe = probes.get(environ["PATH_INFO"])
        if probe is None or environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            return metrics(environ, start_response)
        status, document = probe()
        body = json.dumps(document, ensure_ascii=False).encode()
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        start_response(f"{status.value} {status.phrase}", headers)
        return [body] if environ["REQUEST_METHOD"] == "GET" else []

    return answer
