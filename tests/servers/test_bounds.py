"""Bounds of long replies, of clients that read or send slowly but steadily, and of lines about refused ones."""

from __future__ import annotations

import logging
import socket
import threading
from contextlib import ExitStack

import pytest
from prometheus_client import CollectorRegistry
from thriftpy2.thrift import TApplicationException

from hbstore.errors import CallAbandoned, ServerBusy
from hbstore.metastore.calls import Handlers
from hbstore.metastore.replies import PartitionList, PartitionSpool
from hbstore.servers.bounds import Bound
from hbstore.servers.call_limits import call_limit
from hbstore.servers.door_metrics import DoorMetrics
from hbstore.servers.framing import ReadLimits
from hbstore.servers.limits import ServerLimits
from hbstore.servers.logs import Complaints
from hbstore.servers.reply_room import FREE, ReplyRoom, ReplyShare
from tests.metastore.client import HOST, TYPES, client, message
from tests.metastore.serving import in_process
from tests.pauses import SECONDS, idle, until

LONG = 2 * FREE
ALL = message("get_partitions", "shop", "sales", -1)


class Listing:
    """A handler of get_partitions whose reply is so long, and whose spools are kept to be looked at."""

    def __init__(self, size=LONG):
        self.size = size
        self.handlers = Handlers()
        self.handlers.answers("get_partitions")(self.list)
        self.handlers.answers("getName")(lambda _: "hbstore")
        self.handlers.answers("get_partition_names")(lambda _: ["x" * FREE] * 2)

    def list(self, call):
        spool = PartitionSpool(FREE, call.session.room)
        spool.extend([b"\0" * FREE] for _ in range(self.size // FREE))
        return PartitionList(spool)


@pytest.fixture
def counted():
    """What counts at a door, and a function that reads what it counted."""
    metrics = DoorMetrics(CollectorRegistry())

    def value(name, **labels):
        return metrics.registry.get_sample_value(f"hbstore_door_{name}", {"door": "test", **labels})

    return metrics.door("test"), value


def asking(stack, port, received=4096):
    """A client that asks for a long reply, and reads nothing of it."""
    sock = stack.enter_context(socket.socket())
    sock.settimeout(SECONDS)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, received)
    sock.connect((HOST, port))
    sock.sendall(ALL)
    return sock


def test_long_replies_wait_in_order_and_the_room_comes_back():
    room, order = ReplyRoom(1, SECONDS), []
    first = ReplyShare(room)
    first.grow(LONG)
    waiting = []
    for number in range(3):
        share = ReplyShare(room)

        def make(number=number, share=share):
            share.grow(LONG)
            order.append(number)
            share.release()

        waiting.append(threading.Thread(target=make))
        waiting[-1].start()
        until(lambda number=number: len(room._waiting) == number + 1)
    assert order == []
    first.grow(LONG)  # what was begun may grow on
    first.release()
    for thread in waiting:
        thread.join(SECONDS)
    assert order == [0, 1, 2]
    assert room.used == 0


def test_of_many_that_begin_at_once_some_are_finished():
    """None waits for others with a part of the room."""
    room, done = ReplyRoom(4 * FREE, SECONDS), []

    def make():
        share = ReplyShare(room)
        for _ in range(16):
            share.grow(FREE)
        share.made()
        assert room.used <= (4 + 2 * 16) * FREE
        share.release()
        done.append(share)

    threads = [threading.Thread(target=make) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert len(done) == 20
    assert room.used == 0


def test_a_reply_that_is_begun_anew_or_has_no_client_leaves_no_room_taken():
    room = ReplyRoom(1, SECONDS)
    share = ReplyShare(room)
    spool = PartitionSpool(share=share)
    spool.extend([[b"x" * LONG]])
    spool.clear()
    spool.extend([[b"y" * LONG]])
    assert room.used == LONG
    here, there = socket.socketpair()
    with here, there, call_limit(here, 0.0, 0.0), pytest.raises(CallAbandoned):
        ReplyShare(room).grow(LONG)
    share.release()
    ReplyShare(room).grow(LONG)


def test_a_reply_without_room_is_a_named_error_and_others_are_answered(counted):
    watch, value = counted
    listing = Listing(64 * FREE)
    limits = ServerLimits(reply_room=1, reply_wait=0.2)
    with in_process(listing.handlers, limits=limits, watch=watch) as server, ExitStack() as stack:
        slow = asking(stack, server.port)
        until(lambda: value("reply_bytes") == 64 * FREE)
        with client(server.port) as metastore:
            for ask in (lambda: metastore.get_partitions("shop", "sales", -1), metastore_names(metastore)):
                with pytest.raises((TApplicationException, TYPES.MetaException), match="no room for the reply"):
                    ask()
            assert metastore.getName() == "hbstore"
        assert value("ended_total", bound=Bound.REPLIES) == 2
        slow.close()
        until(lambda: value("reply_bytes") == 0)
        assert value("replies_waiting") == 0
        with client(server.port) as metastore:
            assert metastore_names(metastore)()


def metastore_names(metastore):
    return lambda: metastore.get_partition_names("shop", "sales", -1)


def test_a_client_that_reads_steadily_but_slowly_is_cut_off(counted, caplog):
    watch, value = counted
    caplog.set_level(logging.INFO)
    limits = ServerLimits(write_timeout=0.5, read=ReadLimits(least_rate=1 << 30))
    listing = Listing(64 * FREE)
    with in_process(listing.handlers, limits=limits, watch=watch) as server, ExitStack() as stack:
        sock = asking(stack, server.port)

        def is_over():
            try:
                return not sock.recv(1 << 16)
            except OSError:
                return True

        until(is_over)
        until(lambda: value("ended_total", bound=Bound.READING) == 1)
        until(lambda: value("reply_bytes") == 0)
    assert "too slowly" in caplog.records[-1].fields["why"] or "for too long" in caplog.records[-1].fields["why"]


def test_a_client_that_sends_steadily_but_slowly_is_cut_off(counted):
    watch, value = counted
    limits = ServerLimits(read=ReadLimits(read_timeout=0.5, least_rate=1 << 20))
    with in_process(Listing().handlers, limits=limits, watch=watch) as server:
        with socket.create_connection((HOST, server.port), SECONDS) as sock:
            sock.sendall(message("get_partitions", "s" * 1000, "sales", -1)[:100])
            while not value("ended_total", bound=Bound.SENDING):
                try:
                    sock.sendall(b"s")
                except OSError:
                    break
                idle(0.05)
        until(lambda: value("ended_total", bound=Bound.SENDING) == 1)


def test_lines_about_refused_clients_are_few_and_count_the_others(caplog, monkeypatch):
    complaints = Complaints(logging.getLogger("hbstore.test"), most=2)
    for number in range(5):
        complaints.say("refused", client=number)
    assert [one.fields for one in caplog.records] == [{"client": 0}, {"client": 1}]
    monkeypatch.setattr("hbstore.servers.logs._MINUTE", 0.0)
    complaints.say("refused", client=5)
    assert caplog.records[-1].fields == {"client": 5, "left_out": 3}


def test_a_server_is_at_an_end_with_its_room():
    with pytest.raises(ServerBusy, match="--reply-room"):
        ReplyShare(ReplyRoom(0, 0.0)).grow(LONG)
