"""The server of drivers: how many it takes, and how it ends."""

from __future__ import annotations

import struct
import threading
from contextlib import ExitStack
from dataclasses import replace

import pytest
from thriftpy2.thrift import TApplicationException

from hbstore.errors import AddressUnavailable
from hbstore.hiveserver2.server import LIMITS, driver_server
from hbstore.query_service.access import Access
from tests.hiveserver2.messages import OPEN, every_call, message, request, response
from tests.hiveserver2.serving import (
    MODES,
    FakeService,
    connected,
    driving,
    exactly,
    post,
    read_response,
    sasl_login,
    serving,
)
from tests.pauses import until


def test_drivers_beyond_the_limit_are_told_so_in_their_own_protocol():
    service = FakeService()
    with serving(service, limits=replace(LIMITS, connections=2)) as server:
        with driving(server.port, "sasl") as one, driving(server.port, "bare"):
            with connected(server.port) as sock:
                sock.sendall(sasl_login())
                status, size = struct.unpack(">Bi", exactly(sock, 5))
                assert (status, b"too many connections" in exactly(sock, size)) == (3, True)
            with driving(server.port, "bare") as driver, pytest.raises(TApplicationException, match="too many"):
                driver.ask("OpenSession", OPEN)
            with connected(server.port) as sock:
                sock.sendall(post(message("OpenSession", OPEN)))
                status, _, body = read_response(sock)
                assert (status, b"too many connections" in body) == (503, True)
            assert one.ask("GetInfo", request("GetInfo")).infoValue.stringValue == "hbstore"
        until(lambda: not server.connections)
        with driving(server.port, "sasl") as driver:
            assert driver.ask("GetInfo", request("GetInfo")).infoValue.stringValue == "hbstore"
    assert len(service.calls) == 2


def test_many_connections_beyond_the_limit_hold_nothing_up():
    with serving(limits=replace(LIMITS, connections=1)) as server, driving(server.port, "sasl") as driver:
        silent = [connected(server.port) for _ in range(100)]
        assert driver.ask("GetInfo", request("GetInfo")).infoValue.stringValue == "hbstore"
        for sock in silent:
            sock.close()
        until(lambda: server.connections == 1)


def test_beginnings_of_calls_keep_no_thread_and_are_answered_when_they_end():
    call = message("GetInfo", request("GetInfo"))
    with serving() as server, ExitStack() as stack:
        before = threading.active_count()
        begun = [stack.enter_context(connected(server.port)) for _ in range(60)]
        for number, sock in enumerate(begun):
            sock.sendall(call[: 1 + number])
        stack.enter_context(driving(server.port, "bare")).exchange(call)
        assert threading.active_count() < before + 20
        for number, sock in enumerate(begun):
            sock.sendall(call[1 + number :])
            assert b"GetInfo" in sock.recv(1000)


@pytest.mark.parametrize("mode", MODES)
def test_a_server_that_stops_answers_the_calls_under_way(mode):
    service = FakeService()
    service.held_up = threading.Event()
    server = driver_server(service.endpoint(), Access()).start()
    with driving(server.port, mode) as busy, driving(server.port, mode) as idle:
        idle.exchange(every_call()["GetInfo"])
        busy.send(every_call()["ExecuteStatement"])
        until(lambda: len(service.calls) == 2)
        ended = []
        stopping = threading.Thread(target=lambda: ended.append(server.stop(60)))
        stopping.start()
        assert idle.sock.recv(1) == b""
        service.held_up.set()
        assert response(busy.receive()).status.errorCode == 10001
        stopping.join(60)
        assert ended == [True]
    with pytest.raises(ConnectionRefusedError):
        connected(server.port)


@pytest.mark.parametrize("mode", MODES)
def test_a_server_that_stops_does_not_wait_for_ever(mode):
    service = FakeService()
    service.held_up = threading.Event()
    server = driver_server(service.endpoint(), Access()).start()
    with driving(server.port, mode) as busy:
        busy.send(every_call()["ExecuteStatement"])
        until(lambda: service.calls)
        assert not server.stop(0.1)
        with pytest.raises(ConnectionError):
            busy.receive()
        service.held_up.set()
        until(lambda: not server.connections)


def test_a_port_that_is_taken_is_named():
    with serving() as server, pytest.raises(AddressUnavailable) as caught:
        driver_server(FakeService().endpoint(), Access(), port=server.port)
    assert str(server.port) in str(caught.value)
