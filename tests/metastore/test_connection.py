"""Connections over real sockets: what ends one, what is logged of it, and that no other one notices."""

from __future__ import annotations

import socket
import struct
import threading

import pytest
from thriftpy2.thrift import TApplicationException
from thriftpy2.transport import TTransportException

from hbstore.metastore.calls import Handlers
from hbstore.metastore.replies import PartitionList, PartitionSpool
from hbstore.servers.framing import ReadLimits
from hbstore.servers.limits import ServerLimits
from tests.metastore.client import HOST, client, message
from tests.metastore.serving import in_process
from tests.pauses import SECONDS, idle, until

CALL = message("getName")
LARGE = 64 * 1024 * 1024
"""Bytes that no socket's buffers hold."""


def limits(**given):
    writing = given.pop("write_timeout", SECONDS)
    return ServerLimits(read=ReadLimits(**given), write_timeout=writing)


class Answering:
    """Handlers: getName answers, getVersion is what the client's call is held up in, get_partitions is large."""

    def __init__(self):
        self.handlers = Handlers()
        self.begun = threading.Event()
        self.go_on = threading.Event()
        self.calls = 0
        self.spools = []
        self.handlers.answers("getName")(self.name)
        self.handlers.answers("getVersion")(self.held_up)
        self.handlers.answers("get_partitions")(self.large)
        self.handlers.answers("set_ugi")(lambda call: [call.session.client])

    def name(self, _):
        self.calls += 1
        return "test"

    def held_up(self, _):
        self.begun.set()
        assert self.go_on.wait(SECONDS)
        return "later"

    def large(self, _):
        spool = PartitionSpool(in_memory=1 << 20)
        self.spools.append(spool)
        spool.extend([b"\0" * (1 << 20)] for _ in range(LARGE >> 20))
        return PartitionList(spool)


@pytest.fixture
def answering():
    made = Answering()
    yield made
    made.go_on.set()


def told(caplog):
    """What was logged of connections: the text of each event and why."""
    return [
        (record.getMessage(), record.fields["why"])
        for record in caplog.records
        if record.name == "hbstore.servers.connection"
    ]


@pytest.fixture(autouse=True)
def _all_is_logged(caplog):
    caplog.set_level("INFO", logger="hbstore")


def test_calls_one_after_the_other(answering, caplog):
    with in_process(answering.handlers) as server:
        with client(server.port) as metastore:
            assert [metastore.getName() for _ in range(5)] == ["test"] * 5
            with pytest.raises(TApplicationException, match="Invalid method name: 'getStatus'"):
                metastore.getStatus()
            assert metastore.getName() == "test"
        until(lambda: not server.connections)
    assert told(caplog) == []


def test_framed_clients_are_answered_in_frames(answering):
    with in_process(answering.handlers) as server, client(server.port, framed=True) as metastore:
        assert metastore.getName() == "test"
        with pytest.raises(TApplicationException):
            metastore.getStatus()
        assert metastore.getName() == "test"
        with client(server.port) as other:
            assert other.getName() == "test"


def test_a_large_reply_in_one_frame(answering):
    with in_process(answering.handlers) as server, socket.create_connection((HOST, server.port)) as sock:
        call = message("get_partitions", "shop", "sales", -1)
        sock.sendall(struct.pack(">i", len(call)) + call)
        size = struct.unpack(">i", sock.recv(4, socket.MSG_WAITALL))[0]
        assert size > LARGE
        received = 0
        while received < size:
            received += len(sock.recv(min(1 << 20, size - received)))
        sock.sendall(struct.pack(">i", len(CALL)) + CALL)
        assert struct.unpack(">i", sock.recv(4, socket.MSG_WAITALL))[0] < 100


def test_calls_that_come_in_one_piece_are_answered_in_order(answering):
    with in_process(answering.handlers) as server, socket.create_connection((HOST, server.port)) as sock:
        sock.sendall(b"".join(message("getName", sequence=number) for number in range(1000)))
        sock.shutdown(socket.SHUT_WR)
        replies = b""
        while data := sock.recv(1 << 16):
            replies += data
    size = len(replies) // 1000
    assert [replies[at + 15 : at + 19] for at in range(0, len(replies), size)] == [
        struct.pack(">i", number) for number in range(1000)
    ]


def test_each_connection_has_a_session_of_its_own(answering):
    with in_process(answering.handlers) as server, client(server.port) as one, client(server.port) as other:
        assert one.set_ugi("a", []) != other.set_ugi("b", [])
        assert one.set_ugi("a", [])[0].startswith("127.0.0.1:")


def test_small_replies_do_not_wait_for_each_other(answering):
    with in_process(answering.handlers) as server, client(server.port) as metastore:
        metastore.getName()
        ((connection, _),) = server._connections.values()
        sock = connection.sock
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"GET / HTTP/1.1\r\nHost: metastore\r\n\r\n", "the message does not begin like a call"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "the message does not begin like a call"),
        (bytes(range(255, 0, -1)), "the message is not in Thrift's binary protocol"),
        (b"\x7f\xff\xff\xff" + CALL, "the size of a frame is not allowed"),
        (CALL[:-1] + b"\x0f\x00\x01\x0b\x3b\x9a\xca\x00", "a container claims more than a message can hold"),
        (CALL[:-1] + b"\x0c\x00\x01" * 100_000, "values are nested too deeply"),
        (b"\x80\x01\x00\x01\x00\x00\x00\x02\xff\xff\x00\x00\x00\x01\x00", "the message does not begin like a call"),
    ],
)
def test_what_is_no_call_ends_its_connection_and_is_logged_once(answering, caplog, sent, why):
    with in_process(answering.handlers) as server, client(server.port) as other:
        assert other.getName() == "test"
        with socket.create_connection((HOST, server.port), timeout=SECONDS) as sock:
            sock.sendall(sent)
            assert ended(sock)
            address = sock.getsockname()
        assert other.getName() == "test"
        until(lambda: server.connections == 1)
        assert told(caplog) == [("refused", why)]
        assert caplog.records[0].fields["client"] == f"{address[0]}:{address[1]}"
        assert caplog.records[0].levelname == "WARNING"


def ended(sock):
    """Whether the server has closed the connection without a word."""
    try:
        return sock.recv(1) == b""
    except ConnectionResetError:  # it did not read all that was sent
        return True


def test_a_call_that_is_cut_in_the_middle(answering, caplog):
    with in_process(answering.handlers) as server:
        with socket.create_connection((HOST, server.port)) as sock:
            sock.sendall(CALL + CALL[:-3])
            assert sock.recv(100)
        until(lambda: not server.connections)
    assert answering.calls == 1
    assert told(caplog) == [("cut off", "the connection ended within a call")]
    assert caplog.records[0].levelname == "INFO"


def test_a_client_that_stops_in_the_middle_of_a_call(answering, caplog):
    with (
        in_process(answering.handlers, limits=limits(read_timeout=0.5)) as server,
        socket.create_connection((HOST, server.port), timeout=SECONDS) as sock,
    ):
        for first in (3, len(CALL)):
            idle(0.6)  # between calls it may take its time
            sock.sendall(CALL[:first])
            sock.sendall(CALL[first:])
            assert sock.recv(100)
        idle(0.6)
        sock.sendall(CALL[:-3])
        assert ended(sock)
        until(lambda: not server.connections)
    assert told(caplog) == [("cut off", "the client sends its call too slowly")]


def test_idle_clients_stay_unless_there_is_a_limit(answering, caplog):
    with (
        in_process(answering.handlers, limits=limits(idle_timeout=1.0)) as server,
        socket.create_connection((HOST, server.port), timeout=SECONDS) as sock,
    ):
        sock.sendall(CALL)
        assert sock.recv(100)
        assert ended(sock)
    assert told(caplog) == [("cut off", "the client was silent for too long")]


def test_a_client_that_goes_between_calls_is_not_worth_a_word(answering, caplog):
    with in_process(answering.handlers) as server:
        for _ in range(3):
            with socket.create_connection((HOST, server.port)) as sock:
                sock.sendall(CALL)
                assert sock.recv(100)
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # reset, not closed
        until(lambda: not server.connections)
    assert told(caplog) == []


def test_a_slow_reader_holds_up_nobody_and_is_cut_off(answering, caplog):
    with in_process(answering.handlers, limits=limits(write_timeout=0.5)) as server:
        with socket.create_connection((HOST, server.port), timeout=SECONDS) as slow, client(server.port) as other:
            assert other.getName() == "test"
            slow.sendall(message("get_partitions", "shop", "sales", -1))
            until(lambda: answering.spools)
            while server.connections > 1:
                assert other.getName() == "test"
        assert answering.calls > 10
        (event,) = told(caplog)
        assert event[0] == "cut off"
        assert event[1].startswith("the client did not read its reply of 67")
        assert released(answering.spools[0])


def test_a_reader_that_takes_a_little_at_a_time_is_served_to_the_end(answering, caplog):
    with (
        in_process(answering.handlers, limits=limits(write_timeout=2)) as server,
        socket.create_connection((HOST, server.port), timeout=SECONDS) as slow,
    ):
        slow.sendall(message("get_partitions", "shop", "sales", -1))
        received, pauses = 0, 0
        while received < LARGE:
            received += len(slow.recv(8 << 20))
            if pauses < 12:
                pauses += 1
                idle(0.25)
    assert told(caplog) == []


def test_a_reader_that_goes_away(answering, caplog):
    with in_process(answering.handlers) as server:
        with socket.create_connection((HOST, server.port), timeout=SECONDS) as sock:
            sock.sendall(message("get_partitions", "shop", "sales", -1))
            assert sock.recv(1000)
        until(lambda: not server.connections)
    assert [event for event, _ in told(caplog)] == ["cut off"]
    assert released(answering.spools[0])


def released(spool):
    """Whether nothing of a reply is held any more."""
    return not spool._parts and spool._file is None


def test_a_client_that_goes_while_it_is_answered(answering, caplog):
    with in_process(answering.handlers) as server:
        with client(server.port, timeout=0.2) as metastore, pytest.raises((TimeoutError, TTransportException)):
            metastore.getVersion()
        answering.go_on.set()
        until(lambda: not server.connections)
        with client(server.port) as other:
            assert other.getName() == "test"
    assert all(event == "cut off" for event, _ in told(caplog))
