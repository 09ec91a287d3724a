"""An object store that others wrote, as S3 on this machine, and a proxy before it that counts and breaks.

moto's server runs in the process of the tests; `dev/s3/s3.py` runs them on another one. What is to be seen of requests
goes through `Proxy`: it is told what becomes of each, by its number.
"""

from __future__ import annotations

import http.client
import logging
import os
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from moto.server import ThreadedMotoServer
from pyarrow.fs import S3FileSystem

REGION = "us-east-1"
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "key",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_DEFAULT_REGION": REGION,
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_MAX_ATTEMPTS": "3",
}


class Outcome(Enum):
    """What becomes of a request."""

    DONE = "done"
    REFUSED = "refused"
    """It is not done, and the answer is 503."""
    LOST = "lost"
    """It is done, and the connection breaks before the answer."""
    UNREACHED = "unreached"
    """The connection breaks before it is done."""


@cache
def endpoint() -> str:
    """Where the object store of this process of the tests answers; HBSTORE_TEST_S3 names another one."""
    os.environ |= CREDENTIALS  # which pyarrow reads for each request
    if other := os.environ.get("HBSTORE_TEST_S3"):
        return other
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # else a line for each request
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    return f"http://{host}:{port}"


def new_bucket() -> tuple[str, S3FileSystem]:
    """The name of an empty bucket, and another way to it than hbstore's."""
    host = endpoint().removeprefix("http://")
    files = S3FileSystem(
        access_key="key",
        secret_key="secret",  # noqa: S106
        endpoint_override=host,
        scheme="http",
        region=REGION,
        allow_bucket_creation=True,
    )
    name = f"lake-{uuid.uuid4().hex}"
    files.create_dir(name)
    return name, files


@contextmanager
def s3_at(address: str) -> Iterator[None]:
    """S3 is at an address, for what this process opens meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", address)
        yield


@dataclass
class Proxy:
    """A way to the object store on which requests are counted and break.

    Attributes:
        outcome: what becomes of the request of a number, of a method and a path; they are counted from 0.
        requests: their methods and paths, in the order in which they came.
    """

    outcome: Callable[[int, str, str], Outcome] = lambda _number, _method, _path: Outcome.DONE
    requests: list[tuple[str, str]] = field(default_factory=list)
    address: str = ""

    @contextmanager
    def running(self) -> Iterator[Proxy]:
        """The proxy, at a free port of this machine."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        self.address = f"http://127.0.0.1:{server.server_port}"
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()


def _handler(proxy: Proxy) -> type[BaseHTTPRequestHandler]:
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            with lock:
                number = len(proxy.requests)
                proxy.requests.append((self.command, self.path))
            outcome = proxy.outcome(number, self.command, self.path)
            if outcome is Outcome.UNREACHED:
                self.close_connection = True
                return
            if outcome is Outcome.REFUSED:
                self._send(503, [], b"")
                return
            connection = http.client.HTTPConnection(endpoint().removeprefix("http://"), timeout=60)
            connection.request(self.command, self.path, body, dict(self.headers))
            answer = connection.getresponse()
            content = answer.read()
            connection.close()
            if outcome is Outcome.LOST:
                self.close_connection = True
                return
            self._send(answer.status, answer.getheaders(), content)

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer  # noqa: N815  names of the library

        def _send(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
            self.send_response_only(status)
            kept = [(name, value) for name, value in headers if name.lower() not in _OF_THE_CONNECTION]
            length = next((value for name, value in headers if name.lower() == "content-length"), str(len(content)))
            for name, value in [*kept, ("Content-Length", length if self.command == "HEAD" else str(len(content)))]:
                self.send_header(name, value)
            with suppress(BrokenPipeError, ConnectionResetError):  # a client that waited too long has gone
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


_OF_THE_CONNECTION = {"connection", "content-length", "keep-alive", "transfer-encoding"}
