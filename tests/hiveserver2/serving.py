"""A server of drivers over a fake service, and drivers that speak to it in each of the three ways."""

from __future__ import annotations

import base64
import socket
import struct
from contextlib import closing, contextmanager

from hbstore.errors import SessionNotFound, TableNotFound
from hbstore.hiveserver2.calls import DriverEndpoint
from hbstore.hiveserver2.protocol import METHODS, THRIFT
from hbstore.hiveserver2.quick_replies import QuickReplies
from hbstore.hiveserver2.server import driver_server
from hbstore.query_service.access import Access
from tests.hiveserver2.messages import GUID, SESSION, message, response

HOST = "127.0.0.1"
SECONDS = 60
MODES = ("sasl", "bare", "http")
KEPT = "the operation"
"""What replies of the fake service are kept for."""


class FakeService:
    """Remembers what it was asked. A test may hold up statements by an event."""

    def __init__(self):
        self.quick = QuickReplies()
        self.quick.allow(KEPT)
        self.calls = []
        self.gone = []
        self.held_up = None

    def endpoint(self):
        return DriverEndpoint(self, HANDLERS, self.quick, self.gone.append)


def open_session(call):
    call.service.calls.append(call)
    call.client.sessions.add(GUID)
    return THRIFT.TOpenSessionResp(serverProtocolVersion=9, sessionHandle=SESSION, configuration={})


def execute(call):
    call.service.calls.append(call)
    if call.service.held_up is not None:
        call.service.held_up.wait(SECONDS)
    raise TableNotFound("the table does not exist", table="shop.gone", hint="List the tables")


def status(call):
    call.service.calls.append(call)
    call.kept_for = KEPT
    return THRIFT.TGetOperationStatusResp(operationState=2, hasResultSet=True)


def info(call):
    call.service.calls.append(call)
    return THRIFT.TGetInfoResp(infoValue=THRIFT.TGetInfoValue(stringValue="hbstore"))


def others(_):
    raise SessionNotFound("Invalid SessionHandle", hint="Connect again")


HANDLERS = dict.fromkeys(METHODS, others) | {
    "OpenSession": open_session,
    "ExecuteStatement": execute,
    "GetOperationStatus": status,
    "GetInfo": info,
}


@contextmanager
def serving(service=None, access=None, **given):
    """A server of a fake service, on a free port."""
    with driver_server((service or FakeService()).endpoint(), access or Access(), **given) as server:
        yield server


def connected(port):
    sock = socket.create_connection((HOST, port), timeout=SECONDS)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def sasl_message(status, body=b""):
    return struct.pack(">Bi", status, len(body)) + body


def sasl_login(user="ann", password="x", status=5):  # noqa: S107
    """What a driver sends first: of Java with status 5, of Python with 2."""
    return sasl_message(1, b"PLAIN") + sasl_message(status, f"\0{user}\0{password}".encode())


def exactly(sock, size):
    data = b""
    while len(data) < size:
        more = sock.recv(size - len(data))
        if not more:
            raise ConnectionAbortedError(data)
        data += more
    return data


def frame(data):
    return struct.pack(">i", len(data)) + data


def read_frame(sock):
    return exactly(sock, *struct.unpack(">i", exactly(sock, 4)))


def post(data, *, user="ann", password="x", host="localhost", **headers):  # noqa: S107
    """The bytes of a request over HTTP; a header that is None is left out."""
    login = base64.b64encode(f"{user}:{password}".encode()).decode()
    sent = {
        "Host": host,
        "Content-Type": "application/x-thrift",
        "Authorization": f"Basic {login}",
        "Content-Length": str(len(data)),
    }
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"{name}: {value}" for name, value in sent.items() if value is not None]
    return "\r\n".join(["POST /cliservice HTTP/1.1", *lines, "", ""]).encode() + data


def read_response(sock):
    """Status, headers by their small names, and the body of a response over HTTP."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += exactly(sock, 1)
    first, *lines = head.decode().strip().split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    return int(first.split()[1]), headers, exactly(sock, int(headers.get("content-length", 0)))


class Driver:
    """One connection in one of the ways."""

    def __init__(self, port, mode, user="ann", password="x"):  # noqa: S107
        self.sock = connected(port)
        self.mode = mode
        self.login = {"user": user, "password": password}
        if mode == "sasl":
            self.sock.sendall(sasl_login(user, password))
            assert exactly(self.sock, 5) == sasl_message(5)

    def close(self):
        self.sock.close()

    def send(self, data):
        self.sock.sendall({"sasl": frame, "bare": bytes, "http": lambda one: post(one, **self.login)}[self.mode](data))

    def receive(self):
        if self.mode == "sasl":
            return read_frame(self.sock)
        if self.mode == "http":
            status, _, body = read_response(self.sock)
            assert status == 200, body
            return body
        data = b""
        while True:  # a reply of the fake service is small, and nothing follows it
            more = self.sock.recv(1 << 16)
            if not more:
                raise ConnectionAbortedError(data)
            data += more
            try:
                response(data, sequence=int.from_bytes(data[8 + data[7] : 12 + data[7]], signed=True))
            except (EOFError, IndexError, ValueError, struct.error):
                continue
            except Exception:  # noqa: BLE001  an exception of the server
                return data
            return data

    def exchange(self, data):
        self.send(data)
        return self.receive()

    def ask(self, method, request, sequence=1):
        return response(self.exchange(message(method, request, sequence=sequence)), sequence=sequence)


def driving(port, mode, **login):
    """A driver inside a with statement."""
    return closing(Driver(port, mode, **login))
