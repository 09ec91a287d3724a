"""Metrics of one process or several at a port for Prometheus, with answers for those who ask whether the server lives.

With several processes each keeps its numbers in files of a folder that all share, and the process that supervises them
shows the sums; so what a process counted is not lost when it ends.
"""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.client import parse_headers
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from hbstore.servers.bounds import UNWATCHED, DoorWatch
from hbstore.servers.connection import ClientSocket
from hbstore.servers.heads import RequestHead
from hbstore.servers.limits import ServerLimits
from hbstore.servers.listening import LOOPBACK, is_loopback, listening_socket, names_server
from hbstore.servers.server import Server

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_GRACE: Final = 1.0
"""Seconds that replies under way have when the server stops."""

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


def metrics_server(
    registry: CollectorRegistry,
    host: str,
    port: int,
    probes: Mapping[str, Probe],
    *,
    limits: ServerLimits | None = None,
    watch: DoorWatch = UNWATCHED,
) -> Server:
    """A server that shows the numbers at ``http://host:port/metrics``; it holds its address and does not serve yet.

    Args:
        registry: the numbers.
        host: a name or an address of this machine.
        port: which; 0 leaves it to the system.
        probes: what is answered at other paths.
        limits: what clients may do.
        watch: hears of connections, and of bounds that end some.

    Raises:
        AddressUnavailable: the port is taken, or may not be used.
    """
    limits = limits or ServerLimits()
    app = _with_probes(make_wsgi_app(registry), probes)
    if is_loopback(host):
        app = _under_own_names(app)
    return Server(
        listening_socket(host, port, option="--metrics-port"),
        lambda client: _MetricsDialogue(client, app, RequestHead(client, limits.login_seconds)),
        limits,
        patience=limits.login_seconds,
        grace=_GRACE,
        watch=watch,
    )


@dataclass(frozen=True, slots=True)
class _MetricsDialogue:
    """Answers one request over HTTP. Its head must come soon; it has no body."""

    client: ClientSocket
    app: WSGIApplication
    head: RequestHead

    def serve_short(self) -> bool | None:
        """Take what has come of the head; what is asked for may have to be looked for."""
        if not self.head.gather():
            return True
        return None if self.head.has_end else False

    def serve(self) -> bool:
        """Answer."""
        reply = _reply(self.app, self.head.data)
        self.client.write((reply,), len(reply), framed=False)
        return False


def _reply(app: WSGIApplication, head: bytes) -> bytes:
    """The bytes of the reply to a request."""
    line, _, rest = head.partition(b"\r\n")
    method, _, target = line.decode("latin-1").partition(" ")
    path, _, query = target.partition(" ")[0].partition("?")
    headers = parse_headers(io.BytesIO(rest))
    environ = {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "HTTP_HOST": headers.get("Host", ""),
        "HTTP_ACCEPT": headers.get("Accept", ""),
        "HTTP_ACCEPT_ENCODING": headers.get("Accept-Encoding", ""),
    }
    lines: list[str] = []

    def start(status: str, headers: list[tuple[str, str]], *_: object) -> Any:
        lines.append(f"HTTP/1.1 {status}")
        lines.extend(f"{name}: {value}" for name, value in headers if name.lower() != "content-length")

    body = b"".join(app(environ, start))
    lines += [f"Content-Length: {len(body)}", "Connection: close", "", ""]
    return "\r\n".join(lines).encode("latin-1") + (b"" if method == "HEAD" else body)


def _under_own_names(app: WSGIApplication) -> WSGIApplication:
    """What refuses a name that leads to this machine and is not its own, as a page of another site may have one."""

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        name = environ["HTTP_HOST"]
        if not name or names_server(name, LOOPBACK):  # browsers send one
            return app(environ, start_response)
        status = HTTPStatus.FORBIDDEN
        start_response(f"{status.value} {status.phrase}", [("Content-Type", "text/plain; charset=utf-8")])
        return [b"the server is not reached under this name: use its address\n"]

    return answer


def _with_probes(metrics: WSGIApplication, probes: Mapping[str, Probe]) -> WSGIApplication:
    """What answers probes at their paths, and shows the metrics at all others."""

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        probe = probes.get(environ["PATH_INFO"])
        if probe is None or environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            return metrics(environ, start_response)
        status, document = probe()
        body = json.dumps(document, ensure_ascii=False).encode()
        start_response(f"{status.value} {status.phrase}", [("Content-Type", "application/json")])
        return [body]

    return answer
