"""One connection: replies in pieces, replies that are none, servers that go away."""

from __future__ import annotations

import socket
import struct
from contextlib import closing, contextmanager

import pytest

from hbstore.errors import InvalidName, InvalidUrl, MetastoreRefused, MetastoreUnavailable
from hbstore.model.layouts import DATABASE, STRINGS
from hbstore.transfer.connection import Address, ClientConnection
from tests.metastore.wire_trees import I32, STRING, STRUCT, call, strings
from tests.pauses import idle
from tests.transfer.answering import CALL, EXCEPTION, answering, reply

NAMES = ("a", "b" * 300, "\0", "")


WHOLE = reply("get_all_tables", {0: strings(*NAMES)})


@contextmanager
def server(*pieces, pause=0.0):
    """A connection to a server that answers every call with the same pieces, then closes the connection."""

    def answer(peer):
        peer.recv(1 << 16)
        for piece in pieces:
            peer.sendall(piece)
            idle(pause)

    with answering(answer) as address, closing(ClientConnection(address, 5)) as connection:
        yield connection


def test_a_reply_byte_by_byte():
    with server(*(WHOLE[at : at + 1] for at in range(len(WHOLE))), pause=0.0002) as connection:
        assert connection.call("get_all_tables", b"\0", STRINGS) == NAMES


@pytest.mark.parametrize("cut", [3, 30, 40, len(WHOLE) - 1])
def test_a_reply_that_is_cut_off(cut):
    with server(WHOLE[:cut]) as connection, pytest.raises(MetastoreUnavailable, match="closed") as caught:
        connection.call("get_all_tables", b"\0", STRINGS)
    assert "repeat the command" in caught.value.hint


def test_nobody_listens():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with pytest.raises(MetastoreUnavailable, match=f"thrift://127.0.0.1:{port}"):
        ClientConnection(Address("127.0.0.1", port)).call("get_all_tables", b"\0", STRINGS)


def test_a_server_that_says_nothing():
    with server(WHOLE[:5], pause=3) as connection:
        connection._seconds = 0.2
        with pytest.raises(MetastoreUnavailable):
            connection.call("get_all_tables", b"\0", STRINGS)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n\0",
        reply("get_tables", {0: strings()}),
        reply("get_all_tables", {0: strings()}, CALL),
        reply("get_all_tables", {0: (STRING, "a")}),
        WHOLE + b"\0",
    ],
)
def test_what_is_no_reply(answer):
    with server(answer) as connection, pytest.raises(MetastoreRefused, match="cannot be read"):
        connection.call("get_all_tables", b"\0", STRINGS)


def test_exceptions():
    raised = reply("get_all_tables", {2: (STRUCT, {1: (STRING, "there is none")})})
    with server(raised) as connection, pytest.raises(MetastoreRefused, match="there is none") as caught:
        connection.call("get_all_tables", b"\0", STRINGS)
    assert caught.value.fields["exception"] == 2
    for kind, unknown in ((1, True), (6, False)):
        refused = reply("get_all_tables", {1: (STRING, "no"), 2: (I32, kind)}, EXCEPTION)
        with server(refused) as connection, pytest.raises(MetastoreRefused) as caught:
            connection.call("get_all_tables", b"\0", STRINGS)
        assert caught.value.fields["unknown"] is unknown
    with server(reply("get_all_tables", {})) as connection, pytest.raises(MetastoreRefused, match="no result"):
        connection.call("get_all_tables", b"\0", STRINGS)


def test_nothing_is_left_of_a_reply_that_cannot_be_here():
    """The next call meets a connection of its own, and not the rest of the last reply."""
    bad = reply("get_database", {0: (STRUCT, {1: (STRING, "no name")})})
    with server(bad) as connection:
        for _ in range(2):
            with pytest.raises(InvalidName):
                connection.call("get_database", b"\0", DATABASE)


def test_a_result_that_nobody_wants_is_passed_over():
    with server(WHOLE) as connection:
        assert connection.call("get_all_tables", b"\0") is None


def test_a_large_reply():
    names = tuple("x" * 1000 for _ in range(3000))
    with server(reply("get_all_tables", {0: strings(*names)})) as connection:
        assert connection.call("get_all_tables", b"\0", STRINGS) == names


def test_a_call_is_what_others_write():
    got = []

    def answer(peer):
        got.append(peer.recv(1 << 16))
        peer.sendall(WHOLE)

    with answering(answer) as address, closing(ClientConnection(address, 5)) as connection:
        connection.call("get_all_tables", b"\x0b\0\1" + struct.pack(">i", 4) + b"shop\0", STRINGS)
    assert got == [call("get_all_tables", {1: (STRING, "shop")})]


@pytest.mark.parametrize(
    "uri", ["localhost:9083", "http://a:1", "thrift://", "thrift://a:b", "thrift://a/b", "", "thrift://a:1?x=1"]
)
def test_addresses_that_are_none(uri):
    with pytest.raises(InvalidUrl, match="address of a metastore"):
        Address.of(uri)


def test_addresses():
    assert Address.of("thrift://host:1") == Address("host", 1)
    assert str(Address.of("thrift://[::1]:9")) == "thrift://[::1]:9"
