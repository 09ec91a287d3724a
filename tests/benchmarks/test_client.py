"""The benchmarks' client: where a reply ends, however it comes, and what it is taken for."""

from __future__ import annotations

import socket
import struct
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.metastore.calls import SERVICE, STRUCTS, message
from benchmarks.metastore.client import CallFailed, Client, is_whole
from benchmarks.metastore.measuring import Times, spec_of
from benchmarks.metastore.sales import Spec, partition
from tests.pauses import idle

CALL = message("get_all_databases")
NAMES = ("one", "two", "three")


def reply(result, kind=2, method="get_all_databases"):
    """A message with the fields of a result struct."""
    name = method.encode()
    return struct.pack(">Ii", 0x80010000 | kind, len(name)) + name + struct.pack(">i", 0) + result + b"\0"


def list_of(texts):
    items = b"".join(struct.pack(">i", len(text)) + text for text in map(str.encode, texts))
    return struct.pack(">bhbi", 15, 0, 11, len(texts)) + items


class Peer:
    """A server for one connection that answers each call with the next of some lists of chunks."""

    def __init__(self, *answers, hang_up=False):
        self._hang_up = hang_up
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.calls = []
        threading.Thread(target=self._serve, args=(answers,), daemon=True).start()

    def _serve(self, answers):
        connection, _ = self._listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection, self._listener:
            for chunks in answers:
                self.calls.append(connection.recv(1 << 16))
                for number, chunk in enumerate(chunks):
                    if number:
                        idle(0.02)
                    connection.sendall(chunk)
            if not self._hang_up:
                connection.recv(1)


def test_a_reply_in_one_piece():
    peer = Peer([reply(list_of(NAMES))])
    client = Client(peer.port)
    answer = client.ask(CALL)
    client.close()
    assert answer.count == len(NAMES)
    assert answer.data == reply(list_of(NAMES))
    assert 0 < answer.first <= answer.last
    assert peer.calls == [CALL]


@pytest.mark.parametrize("at_least", [0, 60, 1_000])
@pytest.mark.parametrize("cut", [3, 20, 40, 60])
def test_a_reply_in_pieces_whatever_length_was_guessed(cut, at_least):
    whole = reply(list_of(NAMES))
    peer = Peer([whole[:cut], whole[cut:-1], whole[-1:]])
    client = Client(peer.port)
    answer = client.ask(CALL, at_least)
    client.close()
    assert answer.data == whole


def test_a_known_call_is_read_to_its_length():
    whole = reply(list_of(NAMES))
    peer = Peer([whole], [whole[:10], whole[10:]], [whole])
    client = Client(peer.port)
    assert [client.ask(CALL).data for _ in range(3)] == [whole] * 3
    client.close()


def test_replies_longer_than_the_buffer():
    whole = reply(list_of(["x" * 1_000] * 5_000))
    peer = Peer([whole])
    client = Client(peer.port)
    assert client.ask(CALL, len(whole)).data == whole
    client.close()


def test_draining_counts_the_bytes():
    peer = Peer([b"x" * 3_000_000], [b"x" * 10], hang_up=True)
    client = Client(peer.port)
    assert client.drain(CALL, 3_000_000) == 3_000_000
    assert client.drain(CALL, 20) == 10
    client.close()


@pytest.mark.parametrize(
    "answer",
    [
        reply(b"\x0b\x00\x01\x00\x00\x00\x04gone", kind=3),
        reply(b"\x0c\x00\x01\x0b\x00\x01\x00\x00\x00\x04gone\x00"),
    ],
    ids=["a TApplicationException", "a declared exception"],
)
def test_exceptions_are_failures(answer):
    client = Client(Peer([answer]).port)
    with pytest.raises(CallFailed, match="gone"):
        client.ask(CALL)
    client.close()


def test_a_server_that_hangs_up_is_a_failure():
    client = Client(Peer([reply(list_of(NAMES))[:30]], hang_up=True).port)
    with pytest.raises(ConnectionError, match="30 bytes"):
        client.ask(CALL)
    client.close()


def test_a_struct_is_no_list():
    peer = Peer([reply(b"\x0c\x00\x00\x00")])
    client = Client(peer.port)
    answer = client.ask(CALL)
    client.close()
    with pytest.raises(CallFailed, match="no list"):
        _ = answer.count


@given(st.lists(st.text(max_size=5), max_size=5))
def test_only_the_whole_message_is_whole(texts):
    whole = reply(list_of(texts))
    assert [length for length in range(len(whole) + 1) if is_whole(whole[:length])] == [len(whole)]


def test_calls_are_what_the_idl_says():
    call = message("get_partitions", db_name="d", tbl_name="t", max_parts=-1)
    fields = b"\x0b\x00\x01\x00\x00\x00\x01d\x0b\x00\x02\x00\x00\x00\x01t\x06\x00\x03\xff\xff\x00"
    assert call == b"\x80\x01\x00\x01\x00\x00\x00\x0eget_partitions\x00\x00\x00\x00" + fields


def test_partitions_are_known_by_their_values():
    spec = Spec("2013-01-02", 13, "r07")
    request = SERVICE.AddPartitionsRequest(parts=[partition(spec, "file:/warehouse")])
    call = message("add_partitions_req", request=request)
    struct_bytes = call[call.index(b"\x0f\x00\x01\x0b\x00\x00\x00\x03") : -1]
    assert spec_of(struct_bytes) == spec
    assert isinstance(request.parts[0], STRUCTS.Partition)


def test_medians_are_of_the_first_and_the_last_byte():
    times = Times(1, first=[0.1, 0.3, 0.2], last=[0.4, 0.9, 0.5])
    assert times.medians == (0.2, 0.5)
    assert Times(1).medians == (None, None)
