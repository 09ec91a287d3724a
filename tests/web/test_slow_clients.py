"""Clients that hold a connection and send nothing whole, or more of them than there is room for."""

from __future__ import annotations

import socket
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import repeat

import pytest
from starlette.responses import StreamingResponse

from hbstore.query_service.access import Access
from hbstore.servers.framing import ReadLimits
from hbstore.web.app import application
from hbstore.web.serving import LIMITS, http_served
from tests.pauses import SECONDS, idle, until

ASKED = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
UPGRADE = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"


@pytest.fixture
def connected(served):
    """Serve with limits; a function that opens connections."""
    with ExitStack() as stack:

        def serve(body_seconds=SECONDS, **limits):
            app = application(served[0], Access(), body_seconds=body_seconds)
            port = stack.enter_context(http_served(app, "127.0.0.1", 0, limits=replace(LIMITS, **limits)))
            return lambda: stack.enter_context(socket.create_connection(("127.0.0.1", port), SECONDS))

        yield serve


def answer(sock):
    """The status of the next reply, whose body has a length."""
    with sock.makefile("rb") as file:
        status = int(file.readline().split()[1])
        size = 0
        while line := file.readline().strip():
            name, _, value = line.partition(b":")
            size = int(value) if name.lower() == b"content-length" else size
        file.read(size)
    return status


@contextmanager
def cut_off():
    """Within, the server ends the connection, at the latest when the client sends more."""
    with suppress(OSError):
        yield
        pytest.fail("the server waited for all of it")


@pytest.mark.parametrize("before", [b"", ASKED])
@pytest.mark.parametrize("sent", [b"", b"G", b"GET / HTTP/1.1\r\nHost: loc"])
def test_a_head_takes_no_longer_than_it_may(connected, before, sent):
    sock = connected(login_seconds=0.4, http_idle=1)()
    if before:
        sock.sendall(before)
        assert answer(sock) == 200
    sock.sendall(sent)
    assert sock.recv(1) == b""


def test_a_head_that_drips_ends_too(connected):
    sock = connected(login_seconds=0.4)()
    with cut_off():
        for line in [ASKED[:-2], *[b"X: y\r\n"] * 10_000]:
            sock.sendall(line)
            idle(0.01)


def test_a_head_without_an_end_is_refused(connected, caplog):
    sock = connected()()
    with cut_off():
        sock.sendall(ASKED[:-2] + b"X: ")
        for _ in range(1000):
            sock.sendall(bytes(b"x" * 2**16))
    until(lambda: "refused" in caplog.messages)


def test_a_request_of_which_a_part_is_missing_does_not_fail_when_the_server_stops(served, caplog, monkeypatch):
    monkeypatch.setattr("hbstore.servers.http.GRACE", 1)
    caplog.set_level("INFO")
    with http_served(application(served[0], Access()), "127.0.0.1", 0) as port:
        sock = socket.create_connection(("127.0.0.1", port), SECONDS)
        head = b"POST /queries HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
        sock.sendall(head + b"Content-Length: 70\r\n\r\n")
        assert sock.recv(12) == b"HTTP/1.1 100"  # so the application waits for the rest
        sock.sendall(b"{")
    with sock:
        while sock.recv(1000):  # the end of the interim response, and then that of the connection
            pass
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [("INFO", "cut off")]


@pytest.mark.parametrize("sent", [b"\x16\x03\x01", b"GET / HTTP/1.1\r\nHost\r\n\r\n", UPGRADE])
def test_lines_about_what_is_no_request_are_few_and_in_the_log(connected, caplog, monkeypatch, sent):
    monkeypatch.setattr("hbstore.servers.http.REFUSALS", 2)
    connect = connected()
    for _ in range(4):
        sock = connect()
        sock.sendall(sent)
        assert sock.recv(1)
    assert [record.name for record in caplog.records] == ["hbstore.servers.http"] * 2
    assert {record.getMessage() for record in caplog.records} == {"refused"}


def test_a_body_takes_no_longer_than_it_may(connected):
    sock = connected(body_seconds=0.4)()
    head = (
        b"POST /queries HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
    )
    sock.sendall(head + b"{")
    assert answer(sock) == 408


def test_clients_beyond_the_limit_are_told_so_and_silent_ones_make_room(connected):
    connect = connected(connections=2, room_after=SECONDS)
    held = [connect(), connect()]
    for sock in held:
        sock.sendall(ASKED)
        assert answer(sock) == 200
    late = connect()
    late.sendall(ASKED)
    assert answer(late) == 503
    assert late.recv(1) == b""
    held[0].sendall(ASKED)
    assert answer(held[0]) == 200
    connect = connected(connections=2, room_after=0.0)
    silent = [connect(), connect()]
    late = connect()
    late.sendall(ASKED)
    assert answer(late) == 200
    assert silent[0].recv(1) == b""


def test_requests_beyond_the_limit_are_refused_but_for_probes(connected):
    connect = connected(requests=0)
    for path, status in (("/queries", 503), ("/health", 200)):
        sock = connect()
        sock.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert answer(sock) == status


def test_bodies_beyond_the_room_for_all_are_refused(connected, monkeypatch):
    monkeypatch.setattr("hbstore.web.guard.MAX_BODIES", 1000)
    sock = connected()()
    head = "POST /queries HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"
    for size, status in ((1001, 503), (900, 400), (900, 400)):
        sock = connected()()
        sock.sendall(head.format(size).encode() + b"x" * size)
        assert answer(sock) == status


class Endless:
    """An application whose replies have no end."""

    async def __call__(self, scope, receive, send):
        await StreamingResponse(repeat(b"x" * 2**16))(scope, receive, send)

    def stop(self):
        """It holds no requests."""


def test_a_reply_that_is_taken_steadily_but_too_slowly_is_cut_off(caplog):
    caplog.set_level("INFO", "hbstore.servers.http")
    limits = replace(LIMITS, write_timeout=1, read=ReadLimits(least_rate=2**40))
    with (
        http_served(Endless(), "127.0.0.1", 0, limits=limits) as port,
        socket.create_connection(("127.0.0.1", port), SECONDS) as sock,
    ):
        sock.sendall(ASKED)

        def is_cut_off():
            with suppress(ConnectionError):
                sock.recv(20_000)
            return [one for one in caplog.records if "too slowly" in one.fields["why"]]

        until(is_cut_off)
