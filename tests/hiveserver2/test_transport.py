"""Drivers over real sockets: the three ways to speak share a port, in whatever pieces and pauses they come."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import suppress
from dataclasses import replace

import pytest
from thriftpy2.thrift import TApplicationException

from hbstore.hiveserver2.protocol import METHODS, THRIFT
from hbstore.hiveserver2.server import LIMITS, MAX_ELEMENTS, MAX_MESSAGE
from hbstore.query_service.access import Access
from hbstore.servers.framing import ReadLimits
from hbstore.thrift.messages import Refusal
from tests.hiveserver2.messages import GUID, OPEN, SESSION, every_call, message, request, response, status_call
from tests.hiveserver2.serving import (
    MODES,
    FakeService,
    connected,
    driving,
    exactly,
    frame,
    post,
    read_frame,
    read_response,
    sasl_login,
    sasl_message,
    serving,
)
from tests.pauses import idle, until

TOKEN = "0123456789abcdef"  # noqa: S105
WITH_TOKENS = Access(tokens={TOKEN: "ann"})
QUICK = replace(LIMITS, read=ReadLimits(read_timeout=0.2), login_seconds=0.3, http_idle=0.3, write_timeout=0.5)


@pytest.fixture
def service():
    return FakeService()


@pytest.fixture
def server(service):
    with serving(service) as server:
        yield server


def is_closed(sock):
    """Whether the server closes a connection, now or soon, and says nothing more."""
    try:
        return sock.recv(1) == b""
    except ConnectionResetError:
        return True


# What all ways have in common


@pytest.mark.parametrize("mode", MODES)
def test_calls_are_answered_one_after_the_other(mode, server, service):
    with driving(server.port, mode) as driver:
        assert driver.ask("OpenSession", OPEN).sessionHandle == SESSION
        asked = THRIFT.TExecuteStatementReq(SESSION, "select * from shop.gone")
        status = driver.ask("ExecuteStatement", asked, sequence=2).status
        assert status.errorMessage.startswith("SemanticException [Error 10001]: Table not found shop.gone. ")
        for sequence in range(3, 6):
            assert response(driver.exchange(status_call(sequence)), sequence=sequence).operationState == 2
        assert driver.ask("CloseSession", request("CloseSession"), sequence=6).status.sqlState == "08003"
    first, _, *rest = service.calls
    assert len(rest) == 1, "the reply was kept"
    assert (first.client.user, first.client.password) == ((None, None) if mode == "bare" else ("ann", "x"))
    assert first.client.held == (mode != "http")
    if mode != "http":
        until(lambda: service.gone)
        assert service.gone == [first.client]
        assert first.client.sessions == {GUID}


@pytest.mark.parametrize("mode", MODES)
def test_every_method_is_answered(mode, server):
    with driving(server.port, mode) as driver:
        for method, call in every_call().items():
            if method != "GetQueryId":
                assert response(driver.exchange(call)).status is not None


@pytest.mark.parametrize("mode", MODES)
def test_a_method_that_is_not_there_leaves_the_connection(mode, server):
    with driving(server.port, mode) as driver:
        call = every_call()["GetInfo"].replace(b"\0\0\0\7GetInfo", b"\0\0\0\6GetLog")
        with pytest.raises(TApplicationException) as caught:
            response(driver.exchange(call))
        assert caught.value.type == Refusal.UNKNOWN_METHOD
        assert driver.ask("GetInfo", request("GetInfo")).infoValue.stringValue == "hbstore"


@pytest.mark.parametrize("mode", ["sasl", "bare"])
def test_calls_byte_by_byte(mode, server):
    call = message("GetInfo", request("GetInfo"))
    sent = sasl_login() + frame(call) * 2 if mode == "sasl" else call * 2
    with connected(server.port) as sock:
        for at in range(len(sent)):
            sock.sendall(sent[at : at + 1])
        if mode == "sasl":
            assert exactly(sock, 5) == sasl_message(5)
            replies = [read_frame(sock), read_frame(sock)]
        else:
            sock.shutdown(socket.SHUT_WR)
            data = b"".join(iter(lambda: sock.recv(4096), b""))
            replies = [data[: len(data) // 2], data[len(data) // 2 :]]
    assert [response(reply).infoValue.stringValue for reply in replies] == ["hbstore"] * 2


@pytest.mark.parametrize("mode", ["sasl", "bare"])
def test_calls_that_come_at_once_with_the_login(mode, server):
    calls = [message("GetInfo", request("GetInfo"), sequence=1), status_call(2), status_call(3), status_call(4)]
    with connected(server.port) as sock:
        if mode == "sasl":
            sock.sendall(sasl_login(status=2) + b"".join(map(frame, calls)))
            assert exactly(sock, 5) == sasl_message(5)
            for number in range(1, 5):
                response(read_frame(sock), sequence=number)
        else:
            sock.sendall(b"".join(calls))
            sock.shutdown(socket.SHUT_WR)
            data = b"".join(iter(lambda: sock.recv(4096), b""))
            assert [data.count(name) for name in (b"GetInfo", b"GetOperationStatus")] == [1, 3]


def test_kept_calls_with_something_behind_them(server):
    with driving(server.port, "sasl") as driver:
        response(driver.exchange(status_call()))
        driver.sock.sendall(frame(status_call(2)) + frame(status_call(3))[:7])
        assert response(read_frame(driver.sock), sequence=2).operationState == 2
        driver.sock.sendall(frame(status_call(3))[7:])
        assert response(read_frame(driver.sock), sequence=3).operationState == 2
        driver.sock.sendall(struct.pack(">i", len(status_call()) - 1) + status_call())
        assert is_closed(driver.sock), "a frame with a wrong size"


@pytest.mark.parametrize("mode", ["sasl", "bare"])
def test_kept_calls_with_pauses_and_other_calls_between_them(mode, service):
    limits = replace(LIMITS, read=ReadLimits(read_timeout=0.5))
    with serving(service, limits=limits) as server, driving(server.port, mode) as driver:
        for sequence in (1, 2, 3, 6):
            assert response(driver.exchange(status_call(sequence)), sequence=sequence).operationState == 2
            if sequence == 2:
                idle(0.6)
            if sequence == 3:
                assert driver.ask("GetInfo", request("GetInfo"), sequence=4).infoValue.stringValue == "hbstore"
                assert driver.ask("CloseSession", request("CloseSession"), sequence=5).status.sqlState == "08003"
        driver.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close() is a reset
        driver.close()
        until(lambda: len(service.gone) == 1)
    assert sum(call.method.name == "GetOperationStatus" for call in service.calls) == 1


@pytest.mark.parametrize("mode", MODES)
def test_a_statement_that_is_held_up_holds_up_no_other_connection(mode, server, service):
    service.held_up = threading.Event()
    with driving(server.port, mode) as slow, driving(server.port, mode) as other:
        slow.send(every_call()["ExecuteStatement"])
        until(lambda: service.calls)
        assert other.ask("GetInfo", request("GetInfo")).infoValue.stringValue == "hbstore"
        service.held_up.set()
        assert response(slow.receive()).status.errorCode == 10001


# Logins


@pytest.mark.parametrize("mode", ["sasl", "http"])
def test_a_token_is_the_password(mode, service):
    with serving(service, WITH_TOKENS) as server, driving(server.port, mode, user="ann", password=TOKEN) as driver:
        driver.ask("OpenSession", OPEN)
    assert service.calls[0].client.user == "ann"


@pytest.mark.parametrize(("user", "password"), [("ann", "x"), ("bob", TOKEN), ("", "")])
def test_a_wrong_password_is_refused_by_sasl_in_words(user, password, service, caplog):
    with serving(service, WITH_TOKENS) as server, connected(server.port) as sock:
        sock.sendall(sasl_login(user, password) + frame(message("OpenSession", OPEN)))
        status, size = struct.unpack(">Bi", exactly(sock, 5))
        assert status == 3
        assert "access token" in exactly(sock, size).decode()
        assert is_closed(sock)
    assert not service.calls
    assert TOKEN not in caplog.text


def test_other_mechanisms_are_refused_in_words(server):
    with connected(server.port) as sock:
        sock.sendall(sasl_message(1, b"GSSAPI") + sasl_message(2, b"a ticket"))
        status, size = struct.unpack(">Bi", exactly(sock, 5))
        assert (status, exactly(sock, size).decode().split(". ")[0]) == (3, "Unsupported mechanism type GSSAPI")
        assert is_closed(sock)


# Strangers, slow clients, and those who go


@pytest.mark.parametrize(
    ("first", "hint"),
    [
        (b"\x16\x03\x01\x02\x00\x01", "TLS"),
        (b"\x82\x21\x01", "HiveServer2 driver"),
        (b"\0\0\0\0", "HiveServer2 driver"),
    ],
)
def test_other_protocols_are_refused_and_named(first, hint, server, caplog):
    with connected(server.port) as sock:
        sock.sendall(first)
        assert is_closed(sock)
    until(lambda: caplog.records)
    (record,) = (one for one in caplog.records if one.name == "hbstore.servers.connection")
    assert hint in record.fields["hint"]


@pytest.mark.parametrize(
    "sent", [b"", b"\1", sasl_message(1, b"PLAIN"), sasl_login()[:-1], b"POST /", b"POST / HTTP/1.1\r\nHost: a"]
)
def test_a_login_takes_no_longer_than_it_may(sent, service):
    with serving(service, limits=QUICK) as server, connected(server.port) as sock:
        sock.sendall(sent)
        assert is_closed(sock)


def test_a_connection_without_a_login_must_open_a_session_in_time(service):
    limits = replace(LIMITS, login_seconds=0.5)
    with serving(service, WITH_TOKENS, limits=limits) as server:
        with driving(server.port, "bare") as driver, suppress(OSError):
            while True:  # until the server ends it
                assert driver.ask("GetInfo", request("GetInfo")).status is not None
                idle(0.01)
        until(lambda: not server.connections)
        with driving(server.port, "bare") as driver:
            driver.ask("OpenSession", OPEN)
            idle(1.0)
            driver.ask("GetInfo", request("GetInfo"))


def test_a_login_that_drips_ends_too(service):
    with serving(service, limits=QUICK) as server, connected(server.port) as sock:
        with suppress(OSError):
            for byte in sasl_message(1, b"PLAIN") + sasl_message(5, bytes(10_000)):
                sock.sendall(bytes((byte,)))
                idle(0.01)
            pytest.fail("the server waited for all of it")
        until(lambda: not server.connections)


@pytest.mark.parametrize("mode", MODES)
def test_a_pause_in_a_call_ends_the_connection_and_one_between_calls_does_not(mode, service):
    limits = replace(LIMITS, read=ReadLimits(read_timeout=0.5), http_idle=60.0)
    call = message("GetInfo", request("GetInfo"))
    with serving(service, limits=limits) as server:
        with driving(server.port, mode) as driver:
            idle(0.6)
            driver.exchange(call)
            idle(0.6)
            driver.exchange(call)
            driver.sock.sendall({"sasl": frame, "bare": bytes, "http": post}[mode](call)[:-1])
            if mode == "http":
                assert read_response(driver.sock)[0] == 408
            assert is_closed(driver.sock)
        until(lambda: not server.connections)


@pytest.mark.parametrize("mode", MODES)
def test_idle_connections_end_if_they_shall(mode, service):
    reading = ReadLimits(read_timeout=0.5, idle_timeout=1.0)
    limits = replace(LIMITS, read=reading, http_idle=1.0)
    with serving(service, limits=limits) as server, driving(server.port, mode) as driver:
        driver.exchange(message("OpenSession", OPEN))
        assert is_closed(driver.sock)
        if mode != "http":
            until(lambda: service.gone)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("how", ["closed", "reset"])
def test_connections_that_break_anywhere_leave_the_server_as_it_was(mode, how, server, service):
    call = message("OpenSession", OPEN)
    whole = {"sasl": sasl_login() + frame(call), "bare": call, "http": post(call)}[mode]
    for size in range(0, len(whole) + 1, 3):
        with connected(server.port) as sock:
            sock.sendall(whole[:size])
            if how == "reset":
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    until(lambda: not server.connections)
    with driving(server.port, mode) as driver:
        assert driver.ask("GetInfo", request("GetInfo")).infoValue.stringValue == "hbstore"
    held = [one for one in service.gone if one.sessions]
    assert all(one.held for one in held)


def test_a_driver_that_does_not_read_its_replies_is_cut_off(service):
    limits = replace(LIMITS, write_timeout=0.5)
    with serving(service, limits=limits) as server, driving(server.port, "bare") as driver:
        driver.exchange(status_call())
        with suppress(OSError):
            while True:  # until the buffers of both sides are full, and the server gives up
                driver.sock.sendall(status_call() * 1000)
        until(lambda: not server.connections)


@pytest.mark.parametrize("size", [MAX_MESSAGE + 1, 2**31 - 1, -1, -(2**31), 0])
def test_sizes_of_frames_that_are_not_allowed(size, server):
    with driving(server.port, "sasl") as driver:
        driver.sock.sendall(struct.pack(">i", size) + b"\x80\1\0\1")
        assert is_closed(driver.sock)


@pytest.mark.parametrize("mode", ["sasl", "bare"])
def test_a_statement_that_is_too_long_is_refused_while_it_comes(mode, service):
    limits = replace(LIMITS, read=ReadLimits(message=100_000))
    call = message("ExecuteStatement", THRIFT.TExecuteStatementReq(SESSION, "x" * 200_000))
    with serving(service, limits=limits) as server, driving(server.port, mode) as driver:
        driver.sock.sendall({"sasl": frame(call), "bare": call}[mode])
        assert is_closed(driver.sock)
    assert not service.calls


@pytest.mark.parametrize("mode", MODES)
def test_more_elements_than_any_driver_sends_are_refused(mode, server, service):
    call = message(
        "OpenSession", THRIFT.TOpenSessionReq(9, None, None, {str(n): "" for n in range(MAX_ELEMENTS // 2 + 1)})
    )
    with driving(server.port, mode) as driver:
        driver.send(call)
        if mode == "http":
            status, _, body = read_response(driver.sock)
            assert (status, b"too many elements" in body) == (400, True)
        else:
            assert is_closed(driver.sock)
    assert not service.calls


def test_methods_are_those_of_the_documented_interface():
    assert len(METHODS) == 23
