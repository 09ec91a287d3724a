r"""The reading calls of HBase's Thrift interface as bytes, and the rows in their replies.

The generated client makes four objects of each row it reads, which takes longer than HBase does to find the row. Here a
row is its key and a dict of its cells' values, cut out of the reply as it arrives. Calls may be sent one behind the
other before the first is answered: the gateway answers those of a connection in their order.

>>> close_scanner(7)
b'\x80\x01\x00\x01\x00\x00\x00\x0cscannerClose\x00\x00\x00\x00\x08\x00\x01\x00\x00\x00\x07\x00'
>>> cell = b"\0\0\0\3p:p" + b"\x0b\0\1" + b"\0\0\0\1v" + b"\x0a\0\2" + bytes(8) + b"\0"
>>> row = b"\x0b\0\1" + b"\0\0\0\3key" + b"\x0d\0\2\x0b\x0c" + b"\0\0\0\1" + cell + b"\0"
>>> take_rows(row + row[:30], 2) == ([(b"key", {b"p:p": b"v"})], len(row))
True
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from typing import Final, NoReturn, TypeAlias

from thriftpy2.protocol.exc import TProtocolException
from thriftpy2.thrift import TApplicationException

from hbstore.rows.hbase.idl import HBaseIOError, IllegalArgument
from hbstore.thrift.wire import skip

FoundRow: TypeAlias = tuple[bytes, dict[bytes, bytes]]
"""A row's key, and its cells' values by column, such as ``p:p``."""

_INT: Final = struct.Struct(">i")
_I32, _STRING, _STRUCT, _MAP, _LIST = b"\x08", b"\x0b", b"\x0c", b"\x0d", b"\x0f"
_CALL, _REPLY, _EXCEPTION = b"\x80\x01\x00\x01", b"\x80\x01\x00\x02", b"\x80\x01\x00\x03"
_NUMBER: Final = b"\0\0\0\0"
_ATTRIBUTES: Final = _STRING + _STRING + b"\0\0\0\0"
_CELLS: Final = _MAP + b"\0\2" + _STRING + _STRUCT
_VALUE: Final = _STRING + b"\0\1"
_TIMESTAMP: Final = b"\x0a\0\2"
_READ: Final = 1 << 18
"""Bytes read from the socket at once."""
_RAISED: Final = {_STRUCT + b"\0\1": HBaseIOError, _STRUCT + b"\0\2": IllegalArgument}


def get_row(table: bytes, key: bytes, columns: Sequence[bytes] | None) -> bytes:
    """One row: these columns or families of it, or all."""
    body = _field(_STRING, 1, _text(table)) + _field(_STRING, 2, _text(key))
    if columns is None:
        return _call(b"getRow", body + _field(_MAP, 3, _ATTRIBUTES))
    return _call(b"getRowWithColumns", body + _field(_LIST, 3, _texts(columns)) + _field(_MAP, 4, _ATTRIBUTES))


def get_rows(table: bytes, keys: Sequence[bytes], columns: Sequence[bytes]) -> bytes:
    """Those of some rows that exist."""
    body = _field(_STRING, 1, _text(table)) + _field(_LIST, 2, _texts(keys)) + _field(_LIST, 3, _texts(columns))
    return _call(b"getRowsWithColumns", body + _field(_MAP, 4, _ATTRIBUTES))


def open_scanner(
    table: bytes, start: bytes, stop: bytes, columns: Sequence[bytes] | None, text: bytes | None, caching: int
) -> bytes:
    """A scan of the rows with start <= key < stop; the reply is the scanner's number."""
    scan = _field(_STRING, 1, _text(start)) + _field(_STRING, 2, _text(stop))
    if columns is not None:
        scan += _field(_LIST, 4, _texts(columns))
    scan += _field(_I32, 5, _size(caching))
    if text is not None:
        scan += _field(_STRING, 6, _text(text))
    body = _field(_STRING, 1, _text(table)) + _field(_STRUCT, 2, scan + b"\0") + _field(_MAP, 3, _ATTRIBUTES)
    return _call(b"scannerOpenWithScan", body)


def read_scanner(number: int, size: int) -> bytes:
    """The next rows of a scanner, so many at most."""
    return _call(b"scannerGetList", _field(_I32, 1, _size(number)) + _field(_I32, 2, _size(size)))


def close_scanner(number: int) -> bytes:
    """The end of a scan; the reply is empty."""
    return _call(b"scannerClose", _field(_I32, 1, _size(number)))


class Replies:
    """The replies on one connection, in the order of the calls.

    Every method raises OSError where the connection breaks or its time is over, HBaseIOError or IllegalArgument where
    HBase says so (the connection is in good order then), TApplicationException where the gateway does not know the
    call, and TProtocolException where the bytes are something else.
    """

    __slots__ = ("_at", "_data", "_socket")

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._data = b""
        self._at = 0

    @property
    def begun(self) -> bool:
        """Whether bytes of the next reply are here already."""
        return self._at < len(self._data)

    def rows(self) -> list[FoundRow]:
        """The rows of the next reply."""
        self._success(_LIST)
        if self._take(1) != _STRUCT:
            raise _strange()
        left = _INT.unpack(self._take(4))[0]
        rows: list[FoundRow] = []
        while left > 0:
            more, at = take_rows(self._data, left, self._at)
            rows += more
            left -= len(more)
            self._at = at
            if left:
                self._more()
        self._end()
        return rows

    def number(self) -> int:
        """The number in the next reply."""
        self._success(_I32)
        found: int = _INT.unpack(self._take(4))[0]
        self._end()
        return found

    def nothing(self) -> None:
        """The next reply has no value."""
        self._head()
        code = self._take(1)
        if code != b"\0":
            self._fail_on(code)
        self._let_go()

    def _success(self, kind: bytes) -> None:
        self._head()
        code = self._take(1)
        if code == kind and self._peek(2) == b"\0\0":
            self._at += 2
            return
        self._fail_on(code)

    def _fail_on(self, code: bytes) -> NoReturn:
        """Raise the error that the reply holds instead of a value."""
        if code == b"\0":
            raise TApplicationException(TApplicationException.MISSING_RESULT, "no result")
        kind = _RAISED.get(code + self._take(2))
        if kind is None:
            raise _strange()
        message = self._message()
        self._end()
        raise kind(message=message)

    def _head(self) -> None:
        """Pass over what stands before a reply's fields."""
        kind = self._take(4)
        if kind not in (_REPLY, _EXCEPTION):
            raise _strange()
        name = _INT.unpack(self._take(4))[0]
        if not 0 < name <= 64:  # noqa: PLR2004  longer than any name
            raise _strange()
        self._take(name + 4)
        if kind == _EXCEPTION:
            raise TApplicationException(message=self._message().decode(errors="replace"))

    def _message(self) -> bytes:
        """The text in field 1 of a struct of texts and numbers, which is passed over."""
        message = b""
        while (code := self._take(1)) != b"\0":
            field = self._take(2)
            if code == _STRING:
                size = _INT.unpack(self._take(4))[0]
                if size < 0:
                    raise _strange()
                text = self._take(size)
                message = text if field == b"\0\1" else message
            else:
                try:
                    self._take(skip(bytes(8), 0, code[0]))
                except ValueError as error:
                    raise _strange() from error
        return message

    def _end(self) -> None:
        if self._take(1) != b"\0":
            raise _strange()
        self._let_go()

    def _let_go(self) -> None:
        """Keep no bytes of replies that were read."""
        if not self.begun:
            self._data, self._at = b"", 0

    def _peek(self, size: int) -> bytes:
        while len(self._data) - self._at < size:
            self._more()
        return self._data[self._at : self._at + size]

    def _take(self, size: int) -> bytes:
        found = self._peek(size)
        self._at += size
        return found

    def _more(self) -> None:
        got = self._socket.recv(_READ)
        if not got:
            raise ConnectionResetError("the gateway closed the connection")
        self._data = self._data[self._at :] + got if self.begun else got
        self._at = 0


def take_rows(data: bytes, most: int, at: int = 0) -> tuple[list[FoundRow], int]:
    """The whole rows in a part of a reply, and where the next one begins.

    Args:
        data: structs of HBase's TRowResult, the last of which may be cut off.
        most: how many to take at most.
        at: where the first begins.

    Raises:
        TProtocolException: the bytes are something else.
    """
    rows: list[FoundRow] = []
    integer, end = _INT.unpack_from, len(data)
    head, column = b"?", b""
    try:
        while len(rows) < most:
            key_end = at + 7 + integer(data, at + 3)[0]
            key = data[at + 7 : key_end]
            if data.startswith(head, key_end):  # one cell, of the same column as in the row before
                value_at = key_end + len(head) + 4
                value_end = value_at + integer(data, value_at - 4)[0]
                behind = value_end + 13
                if behind > end:
                    break
                if not data.startswith(_TIMESTAMP, value_end):
                    raise _strange()
                rows.append((key, {column: data[value_at:value_end]}))
            else:
                cells, behind = _cells(data, key_end)
                rows.append((key, cells))
                if len(cells) == 1:
                    (column,) = cells
                    head = data[key_end : key_end + len(_CELLS) + 8 + len(column) + len(_VALUE)]
            at = behind
    except (struct.error, IndexError):  # the bytes run out
        pass
    return rows, at


def _cells(data: bytes, at: int) -> tuple[dict[bytes, bytes], int]:
    """A row's cells, which begin at a position, and where the next row begins.

    Raises:
        struct.error, IndexError: the bytes run out.
        TProtocolException: they are something else.
    """
    left = _INT.unpack_from(data, at + len(_CELLS))[0]
    if not data.startswith(_CELLS, at):
        raise _strange()
    at += len(_CELLS) + 4
    cells = {}
    for _ in range(left):
        column_end = at + 4 + _INT.unpack_from(data, at)[0]
        value_at = column_end + 7
        value_end = value_at + _INT.unpack_from(data, value_at - 4)[0]
        if data[value_end + 11]:  # the end of the cell, if so many bytes are here
            raise _strange()
        if not (data.startswith(_VALUE, column_end) and data.startswith(_TIMESTAMP, value_end)):
            raise _strange()
        cells[data[at + 4 : column_end]] = data[value_at:value_end]
        at = value_end + 12
    if data[at]:
        raise _strange()
    return cells, at + 1


def _strange() -> TProtocolException:
    return TProtocolException(TProtocolException.INVALID_DATA, "bytes that are no reply")  # type: ignore[no-untyped-call]


def _call(name: bytes, body: bytes) -> bytes:
    return _CALL + _text(name) + _NUMBER + body + b"\0"


def _field(code: bytes, number: int, value: bytes) -> bytes:
    return code + bytes((0, number)) + value


def _texts(items: Sequence[bytes]) -> bytes:
    return _STRING + _size(len(items)) + b"".join(map(_text, items))


def _text(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def _size(number: int) -> bytes:
    return number.to_bytes(4, "big")
