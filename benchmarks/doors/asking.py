"""The doors as their clients meet them: one whole question on a new connection, and how questions begin."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import thriftpy2
from thriftpy2.protocol import TBinaryProtocol
from thriftpy2.thrift import TMessageType
from thriftpy2.transport import TMemoryBuffer

import hbstore
from benchmarks.doors.serving import Ports
from benchmarks.metastore.calls import message
from benchmarks.metastore.client import Client

_IDL = Path(hbstore.__file__).parent / "hiveserver2" / "tcliservice.thrift"
_SQL = thriftpy2.load(str(_IDL), module_name="benchmarks_tcliservice_thrift")
_LONG = 100_000


@dataclass(frozen=True, slots=True)
class Door:
    """One door.

    Attributes:
        name: in the tables.
        port: where it is.
        ask: asks one question on a new connection; raises OSError where it is refused.
        half: how a question begins that never ends.
        more: what can come behind that again and again, a byte at a time.
    """

    name: str
    port: int
    ask: Callable[[], object]
    half: bytes
    more: bytes


def doors(ports: Ports, seconds: float) -> Sequence[Door]:
    """All doors of a server.

    Args:
        ports: where they are.
        seconds: that a question may take.
    """
    table = message("get_table", dbname="d" * _LONG, tbl_name="t")
    opening = _opening({"use:database": "d" * _LONG})
    head = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-More: "
    post = b"POST /cliservice HTTP/1.1\r\nHost: localhost\r\nX-More: "
    return (
        Door("metastore", ports.metastore, lambda: _metastore(ports.metastore, seconds), table[:50], b"d"),
        Door("HTTP", ports.http, lambda: _http(ports.http, "/databases", seconds), head, b"x"),
        Door("SQL, binary", ports.sql, lambda: _sql(ports.sql, seconds), opening[:200], b"d"),
        Door("SQL over HTTP", ports.sql, lambda: _sql_http(ports.sql, seconds), post, b"x"),
        Door("metrics", ports.metrics, lambda: _http(ports.metrics, "/metrics", seconds), head, b"x"),
    )


def _metastore(port: int, seconds: float) -> None:
    client = Client(port, seconds)
    try:
        client.ask(message("get_all_databases"))
    finally:
        client.close()


def _http(port: int, path: str, seconds: float) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request("GET", path)
        _check(connection.getresponse())
    except http.client.HTTPException as error:
        raise ConnectionError(repr(error)) from error
    finally:
        connection.close()


def _sql(port: int, seconds: float) -> None:
    with socket.create_connection(("127.0.0.1", port), seconds) as sock:
        sock.sendall(_opening({}))
        if b"OpenSession" not in sock.recv(1 << 16):
            raise ConnectionError("the driver was refused")


def _sql_http(port: int, seconds: float) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request("POST", "/cliservice", _opening({}), {"Content-Type": "application/x-thrift"})
        _check(connection.getresponse())
    except http.client.HTTPException as error:
        raise ConnectionError(repr(error)) from error
    finally:
        connection.close()


def _check(reply: http.client.HTTPResponse) -> None:
    reply.read()
    if reply.status != http.HTTPStatus.OK:
        raise ConnectionError(f"{reply.status} {reply.reason}")


def _opening(configuration: dict[str, str]) -> bytes:
    buffer = TMemoryBuffer()
    protocol = TBinaryProtocol(buffer)
    protocol.write_message_begin("OpenSession", TMessageType.CALL, 1)
    request = _SQL.TOpenSessionReq(client_protocol=9, configuration=configuration)
    protocol.write_struct(_SQL.TCLIService.OpenSession_args(req=request))
    return bytes(buffer.getvalue())
