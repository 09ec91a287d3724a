"""The server as an object in this process: threads, limits, its address, and how it stops."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import ExitStack

import pytest
from thriftpy2.transport import TTransportException

from hbstore.errors import AddressUnavailable
from hbstore.metastore.calls import Handlers
from hbstore.servers.bounds import DoorWatch
from hbstore.servers.limits import ServerLimits
from hbstore.servers.listening import listening_socket
from tests.metastore.client import HOST, client
from tests.metastore.serving import in_process, refused
from tests.pauses import SECONDS, until


class Answering:
    """Handlers: getName tells the thread, getVersion is held up until the test lets it go."""

    def __init__(self):
        self.begun = threading.Event()
        self.go_on = threading.Event()
        self.handlers = Handlers()
        self.handlers.answers("getName")(lambda _: str(threading.get_ident()))
        self.handlers.answers("getVersion")(self.held_up)

    def held_up(self, _):
        self.begun.set()
        assert self.go_on.wait(SECONDS)
        return "at last"


@pytest.fixture
def answering():
    made = Answering()
    yield made
    made.go_on.set()


@pytest.fixture
def held_up(answering):
    """Calls getVersion in a thread of its own and waits until it is under way; what came of it, when joined."""

    def call(port):
        found = []

        def ask():
            try:
                with client(port) as metastore:
                    found.append(metastore.getVersion())
            except (OSError, TTransportException) as error:
                found.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        assert answering.begun.wait(SECONDS)

        def result():
            thread.join(SECONDS)
            return found[0]

        return result

    return call


# Threads and connections


def test_a_connection_for_each_call_meets_a_few_warm_threads(answering):
    with in_process(answering.handlers) as server:
        met = set()
        for _ in range(300):
            with client(server.port) as metastore:
                met.add(metastore.getName())
        assert len(met) < 10


def test_500_idle_connections_leave_room_for_others(answering):
    before = threading.active_count()
    with in_process(answering.handlers) as server:
        with ExitStack() as stack:
            idle = [stack.enter_context(client(server.port)) for _ in range(500)]
            for metastore in idle:
                metastore.getName()
            assert server.connections == 500
            with client(server.port) as metastore:
                assert metastore.getName()
            assert idle[0].getName()
        until(lambda: not server.connections)
        until(lambda: threading.active_count() < before + 30)
        with client(server.port) as metastore:
            assert metastore.getName()


@pytest.mark.parametrize("framed", [False, True])
def test_beginnings_of_calls_keep_no_thread_and_are_answered_when_they_end(answering, framed):
    call = b"\x80\x01\x00\x01\x00\x00\x00\x07getName\x00\x00\x00\x01\x00"
    call = struct.pack(">i", len(call)) + call if framed else call
    with in_process(answering.handlers) as server, ExitStack() as stack:
        before, begun = threading.active_count(), []
        for number in range(60):
            sock = stack.enter_context(socket.create_connection((HOST, server.port), timeout=SECONDS))
            sock.sendall(call[: 1 + number % (len(call) - 1)])
            begun.append(sock)
        until(lambda: server.connections == 60)
        with client(server.port) as metastore:
            assert metastore.getName()
        assert threading.active_count() < before + 20
        for number, sock in enumerate(begun):
            for byte in call[1 + number % (len(call) - 1) :]:
                sock.sendall(bytes([byte]))
            assert b"getName" in sock.recv(1000)


def test_each_call_that_is_held_up_has_a_thread(answering):
    with in_process(answering.handlers) as server, ExitStack() as stack:
        held = []
        for _ in range(20):
            sock = stack.enter_context(socket.create_connection((HOST, server.port), timeout=SECONDS))
            sock.sendall(b"\x80\x01\x00\x01\x00\x00\x00\x0agetVersion\x00\x00\x00\x01\x00")
            held.append(sock)
        with client(server.port) as metastore:
            assert metastore.getName()
        answering.go_on.set()
        assert all(b"at last" in sock.recv(1000) for sock in held)


def test_more_connections_than_the_limit_are_refused_and_logged_once(answering, caplog):
    with in_process(answering.handlers, limits=ServerLimits(connections=3)) as server:
        with ExitStack() as stack:
            served = [stack.enter_context(client(server.port)) for _ in range(3)]
            for metastore in served:
                metastore.getName()
            for _ in range(5):
                with client(server.port) as metastore, pytest.raises((OSError, TTransportException)):
                    metastore.getName()
            assert served[0].getName()
        until(lambda: not server.connections)
        with client(server.port) as metastore:
            assert metastore.getName()
    (record,) = [record for record in caplog.records if "too many connections" in record.getMessage()]
    assert record.fields == {"limit": 3}


def test_the_client_that_was_silent_longest_makes_room(answering, held_up, caplog):
    with in_process(answering.handlers, limits=ServerLimits(connections=3, room_after=0.0)) as server:
        busy = held_up(server.port)
        with ExitStack() as stack:
            silent = [stack.enter_context(socket.create_connection((HOST, server.port), SECONDS)) for _ in range(2)]
            until(lambda: server.connections == 3)
            with client(server.port) as metastore:
                assert metastore.getName()
                assert silent[0].recv(1) == b""
                answering.go_on.set()
                assert busy() == "at last"
    assert "too many connections: silent ones make room" in caplog.text


class Changes(DoorWatch):
    """What is heard of connections, and of bounds."""

    def __init__(self):
        self.changes, self.ends = [], []

    def connected(self, change):
        self.changes.append(change)

    def ended(self, bound):
        self.ends.append(bound)


def test_connections_are_watched(answering):
    watch = Changes()
    changes = watch.changes
    with in_process(answering.handlers, watch=watch) as server:
        for _ in range(3):
            with client(server.port) as metastore:
                metastore.getName()
            until(lambda: sum(changes) == 0)
    assert sorted(changes) == [-1] * 3 + [1] * 3


# The address


def test_a_port_that_is_taken():
    with in_process() as server:
        with pytest.raises(AddressUnavailable, match=f"address=127.0.0.1:{server.port}, reason=Address already in use"):
            listening_socket(HOST, server.port)
        with pytest.raises(AddressUnavailable):
            listening_socket(HOST, server.port, shared_port=True)


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.host.invalid", "\0"])
def test_an_address_that_is_not_here(host):
    with pytest.raises(AddressUnavailable):
        listening_socket(host, 0)


def test_names_and_version_6():
    with listening_socket("localhost", 0) as one:
        assert one.getsockname()[1]
    if socket.has_ipv6:
        with listening_socket("::1", 0) as one:
            assert one.getsockname()[0] == "::1"


# The end


def test_stopping_ends_what_is_idle_and_answers_what_is_not(answering, held_up):
    with in_process(answering.handlers) as server, client(server.port) as idle:
        idle.getName()
        result = held_up(server.port)
        server.close()
        until(lambda: server.connections == 1)
        with pytest.raises((OSError, TTransportException)):
            idle.getName()
        assert refused(server.port)
        assert not server.join(0.1)
        answering.go_on.set()
        assert result() == "at last"
        assert server.join(SECONDS)
        server.close()


def test_stopping_does_not_wait_for_ever(answering, held_up):
    with in_process(answering.handlers) as server:
        result = held_up(server.port)
        assert server.stop(grace=0.1) is False
        assert isinstance(result(), (OSError, TTransportException))
        answering.go_on.set()
        assert server.join(SECONDS)


def test_a_server_that_was_never_asked_stops():
    with in_process() as server:
        assert server.stop(grace=SECONDS) is True
        assert refused(server.port)
