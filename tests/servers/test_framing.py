"""Messages from sockets: in whatever pieces they come they are found whole, and what is no message is refused."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.errors import ProtocolViolation
from hbstore.metastore.calls import ClientSession, Handlers, endpoint
from hbstore.metastore.protocol import METHODS, THRIFT
from hbstore.metastore.server import hint_for
from hbstore.servers.framing import PIECE, MessageReader, ReadLimits
from hbstore.servers.memory import FREE, Budget, Share, weight
from hbstore.thrift import walker as limits
from hbstore.thrift.messages import read_head
from hbstore.thrift.walker import Walker
from hbstore.thrift.wire import skip
from hbstore.warehouse.service import Service
from tests.metastore.client import STORED, message
from tests.metastore.wire_strategies import any_messages, calls

HEAD = b"\x80\x01\x00\x01\x00\x00\x00\x07getName\x00\x00\x00\x01"
CALL = HEAD + b"\0"
GIGA = 1_000_000_000
I32 = struct.Struct(">i").pack


@contextmanager
def reading(*, budget=None, kind=socket.SOCK_SEQPACKET, strangers=hint_for, **given):
    """A reader, and the other end of its socket. Pieces are received as they were sent, one at a time."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
    with ours, theirs:
        yield MessageReader(ours, ReadLimits(strangers=strangers, **given), budget or Budget()), theirs


def field(code, value, number=1):
    return bytes((code,)) + number.to_bytes(2, "big") + value


def pieces(data, cuts):
    """The data cut at some places."""
    places = sorted({cut % len(data) for cut in cuts} - {0})
    return [data[begin:end] for begin, end in zip([0, *places], [*places, len(data)], strict=True)]


# Whole messages


@given(calls(), st.binary(max_size=4))
def test_calls_of_thriftpy2_are_found(call, rest):
    _, data = call
    walker = Walker()
    assert walker.walk(data + rest)
    assert walker.at == len(data)


@given(any_messages())
def test_the_walker_ends_where_the_reader_ends(data):
    walker = Walker()
    assert walker.walk(data)
    assert walker.at == skip(data, read_head(data).body, 12) == len(data)


@given(any_messages() | calls().map(lambda call: call[1]), st.lists(st.integers(0, 1 << 20), max_size=30))
def test_a_message_in_pieces_is_over_with_its_last_byte(data, cuts):
    walker = Walker()
    there = b""
    for piece in pieces(data, cuts):
        assert not there or not walker.walk(there)
        there += piece
    assert walker.walk(there)
    assert walker.at == len(data)


@given(any_messages())
def test_a_message_is_never_over_too_early(data):
    walker = Walker()
    for end in range(len(data)):
        assert not walker.walk(data[:end])
        assert not Walker().walk(data[:end])
    assert walker.walk(data)


@given(
    st.lists(any_messages() | calls().map(lambda call: call[1]), min_size=1, max_size=4),
    st.lists(st.integers(0, 1 << 20), max_size=20),
    st.booleans(),
)
def test_messages_one_after_the_other(messages, cuts, framed):
    messages = [one for one in messages if not framed or one[0] == 0x80]
    stream = b"".join((I32(len(one)) if framed else b"") + one for one in messages)
    with reading() as (reader, client):
        for piece in pieces(stream, cuts) if stream else []:
            client.sendall(piece)
        client.close()
        assert list(iter(reader.read, None)) == messages
        assert reader.framed == (framed and bool(messages))


@pytest.mark.parametrize("framed", [True, False])
def test_a_reader_may_be_told_how_messages_come_and_what_came_already(framed):
    stream = (I32(len(CALL)) + CALL) * 2 if framed else CALL * 2
    ours, theirs = socket.socketpair()
    with ours, theirs:
        reader = MessageReader(ours, ReadLimits(), Budget(), framed=framed, pending=stream[:7])
        theirs.sendall(stream[7:])
        assert [reader.read(), reader.read()] == [CALL, CALL]
        assert reader.framed == framed


def test_what_comes_next_can_be_looked_at():
    with reading() as (reader, client):
        client.sendall(CALL)
        assert (reader.peek(), reader.peek()) == (CALL, CALL)
        assert reader.read() == CALL
        client.sendall(CALL + b"!")
        assert reader.peek() == CALL + b"!"
        reader.pass_over()
        client.sendall(CALL)
        assert reader.read() == CALL
        client.close()
        assert reader.peek() == b""


def test_a_large_message_through_a_stream():
    values = [f"ds=2013-01-{number:08d}" for number in range(200_000)]
    data = message("get_partitions_by_names", "shop", "sales", values)
    assert len(data) > 50 * PIECE
    budget = Budget()
    with reading(kind=socket.SOCK_STREAM, budget=budget) as (reader, client):
        sender = threading.Thread(target=client.sendall, args=(data + CALL + data,))
        sender.start()
        assert reader.read() == data
        assert budget.used >= weight(len(data), 200_000)
        reader.release()
        assert budget.used == 0
        assert reader.read() == CALL
        assert reader.read() == data
        sender.join()


def test_small_messages_take_nothing_of_the_budget():
    budget = Budget()
    with reading(budget=budget) as (reader, client):
        client.sendall(CALL)
        assert reader.read() == CALL
        assert budget.used == 0


# What is no message


@given(calls().map(lambda call: call[1]) | any_messages(), st.data())
def test_mutated_messages_do_no_harm(data, draw):
    changed = bytearray(data)
    for _ in range(draw.draw(st.integers(1, 4))):
        at = draw.draw(st.integers(0, len(changed) - 1))
        kind = draw.draw(st.sampled_from(["change", "insert", "remove"]))
        if kind == "change":
            changed[at] = draw.draw(st.sampled_from([0, 1, 12, 13, 15, 0x7F, 0x80, 0xFF]))
        elif kind == "insert":
            changed[at:at] = draw.draw(st.binary(min_size=1, max_size=5))
        elif len(changed) > 1:
            del changed[at]
    walker = Walker()
    try:
        over = walker.walk(bytes(changed))
    except ProtocolViolation:
        return
    if over:
        whole = bytes(changed[: walker.at])
        assert skip(whole, read_head(whole).body, 12) == len(whole), "what is walked over can be read"
        answered(whole)


@given(st.binary(max_size=200))
def test_garbage_does_no_harm(data):
    walker = Walker()
    try:
        if walker.walk(data):
            answered(data[: walker.at])
    except ProtocolViolation:
        pass


def answered(data):
    """An endpoint that has all methods finds nothing in a message that is over to stumble on."""
    handlers = Handlers()

    @handlers.answers(*METHODS)
    def refuse(_):
        raise THRIFT.MetaException("no")

    reply = endpoint(Service(None, None), {"all": handlers}, lambda _: None).answer(ClientSession(), data)
    if reply is not None:
        assert b"internal error" not in b"".join(reply.chunks())


def nested(code, depth):
    """A message of structs, lists or maps inside each other."""
    if code == 12:
        return HEAD + field(12, b"") * depth + b"\0" * (depth + 1)
    if code == 13:
        inner = b"\x0d\x0d" + I32(1)
        return HEAD + field(13, inner * depth + b"\x08\x08" + I32(0) * depth) + b"\0"
    return HEAD + field(15, (b"\x0f" + I32(1)) * depth + b"\x08" + I32(0)) + b"\0"


@pytest.mark.parametrize("code", [12, 13, 15])
def test_the_depth_has_a_limit(code):
    with pytest.raises(ProtocolViolation, match="nested too deeply"):
        Walker().walk(nested(code, 100_000))
    with pytest.raises(ProtocolViolation, match="nested too deeply"):
        Walker().walk(nested(code, limits.MAX_DEPTH + 1))
    assert Walker().walk(nested(12, limits.MAX_DEPTH))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (HEAD + field(15, b"\x0b" + I32(GIGA)), "claims more"),
        (HEAD + field(14, b"\x0c" + I32(GIGA)), "claims more"),
        (HEAD + field(13, b"\x0b\x0b" + I32(GIGA)), "claims more"),
        (HEAD + field(13, b"\x0b\x0b" + I32(20_000_000)), "claims more"),
        (HEAD + field(15, b"\x0a" + I32(20_000_000)), "claims more"),
        (HEAD + field(15, b"\x03" + I32(limits.MAX_ELEMENTS + 1)), "too many elements"),
        (HEAD + field(13, b"\x03\x03" + I32(limits.MAX_ELEMENTS // 2 + 1)), "too many elements"),
        (HEAD + field(15, b"\x0b" + I32(-1)), "the size of a container"),
        (HEAD + field(13, b"\x0b\x0b" + I32(-(1 << 31))), "the size of a container"),
        (HEAD + field(15, b"\x07" + I32(1)), "the type of a value is unknown"),
        (HEAD + field(13, b"\x0b\x00" + I32(1)), "the type of a value is unknown"),
        (HEAD + field(13, b"\x01\x0b" + I32(1)), "the type of a value is unknown"),
        (HEAD + field(9, b"1"), "the type of a value is unknown"),
        (HEAD + field(11, I32(-1)), "the size of a text"),
        (HEAD + field(11, I32((1 << 31) - 1)), "the size of a text"),
        (HEAD + field(11, I32(limits.MAX_TEXT + 1)), "the size of a text"),
        (HEAD + field(15, b"\x0b" + I32(1) + I32(-5)), "the size of a text"),
        (
            HEAD + field(11, I32(limits.MAX_TEXT)) + bytes(limits.MAX_TEXT) + field(11, I32(limits.MAX_TEXT)),
            "too large",
        ),
        (b"\x80\x01\x00\x01" + I32(-1), "does not begin like a call"),
        (b"\x80\x01\x00\x01" + I32(0), "does not begin like a call"),
        (b"\x80\x01\x00\x01" + I32(limits.MAX_NAME + 1), "does not begin like a call"),
        (b"\x80\x01\x00\x01" + I32(3) + b"a\n", "does not begin like a call"),
        (b"\x80\x02\x00\x01", "not in Thrift's binary protocol"),
        (I32(5) + b"\x00", "does not begin like a call"),
        (I32(0), "does not begin like a call"),
        (b"GET / HTTP/1.1\r\n\r\n", "does not begin like a call"),
    ],
)
def test_what_is_refused_at_once(data, text):
    with pytest.raises(ProtocolViolation, match=text):
        Walker().walk(data)


def test_a_message_that_grows_beyond_the_limit():
    data = message("get_partitions_by_names", "shop", "sales", ["x" * 1000] * 100)
    assert Walker(len(data)).walk(data)
    with pytest.raises(ProtocolViolation, match="too large"):
        Walker(len(data) - 2000).walk(data[: len(data) - 1000])


@pytest.mark.parametrize(
    ("first", "word"),
    [
        (b"GET / HTTP/1.1\r\n", "HTTP"),
        (b"\x16\x03\x01\x02\x00\x01\x00", "TLS"),
        (b"\x82\x21\x01\x07getName", "compact"),
        (b"\x01\x00\x00\x00\x06GSSAPI", "SASL"),
    ],
)
def test_strangers_are_told_what_to_change(first, word):
    assert word in hint_for(first[:4])
    with reading() as (reader, client):
        client.sendall(first)
        with pytest.raises(ProtocolViolation) as refused:
            reader.read()
        assert word in refused.value.hint


@pytest.mark.parametrize("size", [(1 << 31) - 1, limits.MAX_MESSAGE + 1])
def test_a_frame_that_is_too_large(size):
    with reading() as (reader, client):
        client.sendall(I32(size) + CALL)
        with pytest.raises(ProtocolViolation, match="the size of a frame is not allowed"):
            reader.read()


@pytest.mark.parametrize("size", [0, -1])
def test_a_frame_without_bytes(size):
    with reading() as (reader, client):
        client.sendall(I32(len(CALL)) + CALL + I32(size))
        reader.read()
        with pytest.raises(ProtocolViolation, match=r"the size of a frame is not allowed.*at least 1"):
            reader.read()


@pytest.mark.parametrize("size", [len(CALL) + 1, len(CALL) - 1, 5])
def test_a_frame_that_is_not_its_call(size):
    with reading() as (reader, client):
        client.sendall(I32(size) + CALL + bytes(10))
        with pytest.raises(ProtocolViolation, match="differs from the length of its call"):
            reader.read()


# Ends and pauses


def test_the_end_between_calls_is_no_error():
    with reading() as (reader, client):
        client.sendall(CALL)
        client.close()
        assert reader.read() == CALL
        assert reader.read() is None


@pytest.mark.parametrize("sent", [CALL[:1], CALL[:-1], HEAD + field(11, I32(100)), I32(20) + CALL[:-1], I32(50)[:3]])
def test_the_end_in_a_call_is_one(sent):
    with reading(kind=socket.SOCK_STREAM) as (reader, client):
        client.sendall(sent)
        client.close()
        with pytest.raises(ConnectionAbortedError):
            reader.read()


@pytest.mark.parametrize("sent", [CALL[:1], CALL[:-1], HEAD + field(11, I32(100)), I32(20) + CALL[:-1]])
def test_a_pause_in_a_call_is_as_long_as_it_may_be(sent):
    with reading(read_timeout=0.05) as (reader, client):
        client.sendall(sent)
        with pytest.raises(TimeoutError, match="silent for too long"):
            reader.read()


# Memory for all


def test_a_message_weighs_its_bytes_and_its_elements():
    partitions = [STORED.Partition()] * 100_000
    data = message("add_partitions", partitions)
    assert len(data) < 2 * 100_000
    budget = Budget()
    with reading(budget=budget, kind=socket.SOCK_STREAM) as (reader, client):
        sender = threading.Thread(target=client.sendall, args=(data,))
        sender.start()
        assert reader.read() == data
        sender.join()
        assert budget.used == weight(len(data), len(partitions))
        reader.release()
        assert budget.used == 0


def test_one_message_may_pass_the_budget_and_the_next_waits_for_it():
    budget = Budget(total=1000)
    first, second, third = Share(budget), Share(budget), Share(budget)
    first.grow(900)
    second.grow(800)  # the one that may
    second.grow(900)
    waiting = threading.Thread(target=third.grow, args=(50,))
    waiting.start()
    waiting.join(0.1)
    assert waiting.is_alive()
    first.release()
    assert waiting.is_alive() or budget.used == 950
    waiting.join(60)
    assert budget.used == 950
    second.release()
    third.release()
    assert budget.used == 0


def test_a_message_does_not_wait_for_ever():
    budget = Budget(total=1000, patience=0.05)
    first, second = Share(budget), Share(budget)
    first.grow(1500)
    with pytest.raises(TimeoutError, match="large messages of other clients"):
        second.grow(10)
    assert budget.used == 1500


@given(st.lists(st.lists(st.integers(1, 400), min_size=1, max_size=5), min_size=1, max_size=8))
def test_messages_that_wait_for_each_other_all_come_to_an_end(growths):
    budget = Budget(total=500)
    highest = []

    def take(steps):
        share = Share(budget)
        size = 0
        for step in steps:
            size += step
            share.grow(size)
            highest.append(budget.used)
        share.release()

    threads = [threading.Thread(target=take, args=(steps,)) for steps in growths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert budget.used == 0
    assert max(highest) <= 500 + max(map(sum, growths))


def test_a_call_that_comes_in_one_piece_needs_no_share_if_it_holds_few_elements():
    assert weight(PIECE, 1000) < FREE
