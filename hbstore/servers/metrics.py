"""Metrics of one process or several at a port for Prometheus, with answers for those who ask whether the server lives.

With several processes each keeps its numbers in files of a folder that all share, and the process that supervises them
shows the sums; so what a process counted is not lost when it ends.
"""

from __future__ import annotations

import contextlib
import json
import logging
import socket
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from threading import Semaphore, Thread, Timer
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.exposition import ThreadingWSGIServer
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from hbstore.errors import AddressUnavailable
from hbstore.servers.logs import Complaints

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

MAX_REQUESTS: Final = 32
"""That are answered at once: Prometheus sends one, and probes a few."""

REQUEST_SECONDS: Final = 30.0
"""In which a request must have come, and its reply be taken."""

Probe: TypeAlias = Callable[[], tuple[HTTPStatus, Mapping[str, object]]]
"""What is answered to who asks for a path: a status, and a JSON document."""

_COMPLAINTS: Final = Complaints(logging.getLogger("hbstore.servers.metrics"))


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


def serve_metrics(
    registry: CollectorRegistry,
    host: str,
    port: int,
    probes: Mapping[str, Probe],
    *,
    seconds: float = REQUEST_SECONDS,
) -> int:
    """Show the numbers at ``http://host:port/metrics``, in a thread of its own.

    Args:
        registry: the numbers.
        host: a name or an address of this machine.
        port: which; 0 leaves it to the system.
        probes: what is answered at other paths.
        seconds: in which a request must have come, and its reply be taken.

    Returns:
        The port.

    Raises:
        AddressUnavailable: the port is taken, or may not be used.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        server_class = type("MetricsServer", (_MetricsServer,), {"address_family": family, "seconds": seconds})
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


class _MetricsServer(ThreadingWSGIServer):
    """Answers each request in a thread, so many at once, and cuts off who takes too long."""

    seconds: ClassVar[float]
    request_queue_size = 128

    def __init__(self, *args: Any, **settings: Any) -> None:
        self._room = Semaphore(MAX_REQUESTS)
        super().__init__(*args, **settings)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._room.acquire(blocking=False):
            _COMPLAINTS.say("too many requests for metrics: the server refuses more", limit=MAX_REQUESTS)
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        cutter = Timer(self.seconds, _cut, [request])
        cutter.daemon = True
        cutter.start()
        try:
            super().process_request_thread(request, client_address)
        finally:
            cutter.cancel()
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say what failed, unless a client was cut off, or has gone."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def _cut(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it is over already
        sock.shutdown(socket.SHUT_RDWR)


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
