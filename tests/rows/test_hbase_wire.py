"""Calls and replies of HBase's gateway as bytes, against what the Thrift library makes of the same IDL."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st
from thriftpy2.protocol import TBinaryProtocol
from thriftpy2.protocol.exc import TProtocolException
from thriftpy2.thrift import TApplicationException, TMessageType
from thriftpy2.transport import TMemoryBuffer

from hbstore.rows.hbase.idl import HBaseIOError, IllegalArgument, Service
from hbstore.rows.hbase.wire import (
    Replies,
    close_scanner,
    get_row,
    get_rows,
    open_scanner,
    read_scanner,
    take_rows,
)

IDL = import_module("Hbase_thrift")
COLUMNS = [b"p:p", b"k:0", b"k:1", b"d:def"]
found_rows = st.lists(
    st.tuples(
        st.binary(min_size=1, max_size=40),
        st.dictionaries(st.sampled_from(COLUMNS), st.binary(max_size=60), max_size=4)
        | st.fixed_dictionaries({b"p:p": st.binary(max_size=300)}),
    ),
    max_size=30,
)


def message(name, kind, struct):
    buffer = TMemoryBuffer()
    protocol = TBinaryProtocol(buffer, decode_response=False)
    protocol.write_message_begin(name, kind, 0)
    protocol.write_struct(struct)
    protocol.write_message_end()
    return buffer.getvalue()


def reply(name, **result):
    return message(name, TMessageType.REPLY, getattr(Service, f"{name}_result")(**result))


def reply_of(rows, name="scannerGetList"):
    cells = [
        (key, {column: IDL.TCell(value=value, timestamp=7) for column, value in found.items()}) for key, found in rows
    ]
    return reply(name, success=[IDL.TRowResult(row=key, columns=found) for key, found in cells])


@contextmanager
def replies(*parts, close=True):
    """What comes from a gateway that sends these bytes, in parts."""
    here, there = socket.socketpair()

    def send():
        for part in parts:
            there.sendall(part)
        if close:
            there.close()

    thread = threading.Thread(target=send)
    thread.start()
    here.settimeout(5)
    try:
        yield Replies(here)
    finally:
        thread.join()
        here.close()
        there.close()


def arguments(call, name):
    buffer = TMemoryBuffer(call)
    protocol = TBinaryProtocol(buffer, decode_response=False)
    assert protocol.read_message_begin() == (name, TMessageType.CALL, 0)
    found = getattr(Service, f"{name}_args")()
    protocol.read_struct(found)
    assert not buffer.read(1)
    return found


def test_calls_are_those_of_the_interface():
    one = arguments(get_row(b"t", b"key", None), "getRow")
    assert (one.tableName, one.row, one.attributes) == (b"t", b"key", {})
    one = arguments(get_row(b"t", b"key", [b"d", b"i"]), "getRowWithColumns")
    assert (one.tableName, one.row, one.columns, one.attributes) == (b"t", b"key", [b"d", b"i"], {})
    many = arguments(get_rows(b"t", [b"a", b"b" * 300], [b"p:p"]), "getRowsWithColumns")
    assert (many.tableName, many.rows, many.columns) == (b"t", [b"a", b"b" * 300], [b"p:p"])
    opened = arguments(open_scanner(b"t", b"a", b"b", [b"p:p"], b"KeyOnlyFilter()", 10_000), "scannerOpenWithScan")
    scan = opened.scan
    assert (scan.startRow, scan.stopRow, scan.columns) == (b"a", b"b", [b"p:p"])
    assert (scan.filterString, scan.caching) == (b"KeyOnlyFilter()", 10_000)
    scan = arguments(open_scanner(b"t", b"a", b"b", None, None, 1), "scannerOpenWithScan").scan
    assert (scan.columns, scan.filterString) == (None, None)
    read = arguments(read_scanner(258, 1000), "scannerGetList")
    assert (read.id, read.nbRows) == (258, 1000)
    assert arguments(close_scanner(258), "scannerClose").id == 258


@given(st.lists(found_rows, min_size=1, max_size=3), st.lists(st.integers(1, 50), max_size=20))
def test_rows_arrive_whole_however_replies_are_cut(answers, sizes):
    data = b"".join(map(reply_of, answers))
    parts, at = [], 0
    for size in sizes:
        parts.append(data[at : at + size])
        at += size
    with replies(*parts, data[at:]) as found:
        assert [found.rows() for _ in answers] == answers
        assert not found.begun


@given(found_rows.filter(bool), st.data())
def test_of_a_part_the_whole_rows_are_taken(rows, data):
    whole = reply_of(rows)
    begin = whole.index(b"scannerGetList") + len(b"scannerGetList") + 4 + 8
    body = whole[begin:-1]
    assert take_rows(body, len(rows)) == (rows, len(body))
    cut = data.draw(st.integers(0, len(body) - 1))
    found, at = take_rows(body[:cut], len(rows))
    assert found == rows[: len(found)]
    assert len(found) < len(rows)
    assert at <= cut
    assert take_rows(body, len(rows), at) == (rows[len(found) :], len(body))


def test_large_cells():
    rows = [(b"a", {b"p:p": b"x" * 3_000_000}), (b"b", {b"p:p": b"", b"k:0": b"y" * 70_000})]
    with replies(reply_of(rows)) as found:
        assert found.rows() == rows


def test_numbers_and_nothing():
    with replies(reply("scannerOpenWithScan", success=7) + reply("scannerClose") + reply_of([])) as found:
        assert found.number() == 7
        assert found.begun
        assert found.nothing() is None
        assert found.rows() == []


def test_errors_leave_the_connection_in_order():
    answers = (
        reply("scannerGetList", io=IDL.IOError(message=b"no such table")),
        reply("scannerGetList", ia=IDL.IllegalArgument(message=b"scanner ID is invalid")),
        reply("scannerOpenWithScan", io=IDL.IOError()),
        reply("scannerClose", ia=IDL.IllegalArgument(message=b"gone")),
        reply_of([(b"a", {b"p:p": b"v"})]),
    )
    with replies(b"".join(answers)) as found:
        with pytest.raises(HBaseIOError) as caught:
            found.rows()
        assert caught.value.message == b"no such table"
        with pytest.raises(IllegalArgument) as caught:
            found.rows()
        assert caught.value.message == b"scanner ID is invalid"
        with pytest.raises(HBaseIOError):
            found.number()
        with pytest.raises(IllegalArgument):
            found.nothing()
        assert found.rows() == [(b"a", {b"p:p": b"v"})]


def test_calls_that_a_gateway_does_not_know():
    error = TApplicationException(TApplicationException.UNKNOWN_METHOD, "Invalid method name: 'getRow'")
    with (
        replies(message("getRow", TMessageType.EXCEPTION, error)) as found,
        pytest.raises(TApplicationException, match="Invalid method name"),
    ):
        found.rows()
    with replies(reply("getRow")) as found, pytest.raises(TApplicationException, match="no result"):
        found.rows()


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\xff" * 100,
        b"\x80\x01\x00\x02\xff\xff\xff\xff" + bytes(40),
        reply("scannerOpenWithScan", success=7),
        reply_of([(b"a", {b"p:p": b"v"})]).replace(b"\x0d\0\x02\x0b\x0c", b"\x0d\0\x02\x0b\x0b"),
        reply_of([(b"a", {b"p:p": b"v"})]).replace(b"\x0b\0\x01\0\0\0\x01v", b"\x0b\0\x09\0\0\0\x01v"),
        reply_of([(b"a", {b"p:p": b"v"}), (b"b", {b"p:p": b"w"})]).replace(b"w\x0a\0\x02", b"w\x0a\0\x09"),
    ],
    ids=["http", "noise", "a name of negative size", "a number", "no map of cells", "no value", "no timestamp"],
)
def test_other_bytes_are_no_rows(data):
    with replies(data + bytes(8)) as found, pytest.raises(TProtocolException):
        found.rows()


@pytest.mark.parametrize("cut", [0, 3, 20, -40, -1])
def test_a_reply_that_breaks_off(cut):
    data = reply_of([(b"a", {b"p:p": b"v"}), (b"b", {b"p:p": b"w"})])
    with replies(data[:cut]) as found, pytest.raises(ConnectionResetError):
        found.rows()
