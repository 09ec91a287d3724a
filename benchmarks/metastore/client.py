"""The one client of all servers: it sends a prepared call and times the first and the last byte of the reply.

A reply in Thrift's plain binary protocol does not say how long it is. So that finding its end costs nothing on the
clock, the time of the last byte is taken where bytes arrive, and the end is looked for when no more do:

* a call that was asked before has a known length, and exactly so many bytes are read;
* another reply is read until at least ``at_least`` bytes are there and the connection is quiet, then it is walked
  through field by field; what is incomplete is read on.
"""

from __future__ import annotations

import select
import socket
import struct
import time
from dataclasses import dataclass

from hbstore.thrift.wire import skip

_CALL, _REPLY = 0x80010001, 0x80010002
_STRUCT, _LIST = 12, 15
_IN_STRUCT = b"\x0c\0\0"
"""What stands before a struct that a call returned."""
_CHUNK = 1 << 20
_QUIET_SECONDS = 0.005
_STALLED_SECONDS = 1.0


class CallFailed(RuntimeError):
    """The server answered with an exception, or with something else than what was asked for."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply and when it came, in seconds after the call was begun to be sent."""

    first: float
    last: float
    data: bytes

    @property
    def count(self) -> int:
        """How many items the list has that a call returned, itself or as the first field of a struct.

        Raises:
            CallFailed: it returned no list.
        """
        count: int = struct.unpack_from(">i", self.data, self._items() - 4)[0]
        return count

    @property
    def items(self) -> list[bytes]:
        """The bytes of each item of the list of structs that a call returned."""
        count = self.count
        at = self._items()
        items = []
        for _ in range(count):
            end = skip(self.data, at, _STRUCT)
            items.append(self.data[at:end])
            at = end
        return items

    def _items(self) -> int:
        """Where the first item of the list is."""
        at = _body(self.data)
        if self.data.startswith(_IN_STRUCT, at):
            at += len(_IN_STRUCT)
        if self.data[at] != _LIST:
            raise CallFailed(f"no list: {self.data[:200]!r}")
        return at + 8


class Client:
    """One connection to a server on this machine, kept open."""

    def __init__(self, port: int, timeout: float = 300) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)
        self._buffer = bytearray(_CHUNK)
        self._lengths: dict[bytes, int] = {}

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def ask(self, call: bytes, at_least: int = 0) -> Reply:
        """Send a call and read its reply.

        Args:
            call: a whole message; see `benchmarks.metastore.calls`.
            at_least: no reply is shorter than this many bytes; a good guess keeps looking for its end off the clock.

        Raises:
            CallFailed: the reply is an exception.
            OSError: the connection broke, or nothing came for too long.
        """
        known = self._lengths.get(call)
        self._make_room(known or at_least)
        began = time.perf_counter()
        self._socket.sendall(call)
        size = self._receive(0)
        first = last = time.perf_counter()
        while not self._is_whole(size, known, at_least):
            size = self._receive(size)
            last = time.perf_counter()
        data = bytes(memoryview(self._buffer)[:size])
        _check(data)
        self._lengths[call] = size
        return Reply(first - began, last - began, data)

    def ask_anew(self, call: bytes) -> Reply:
        """As `ask`, where the reply may have another length than when the call was asked before."""
        self._lengths.pop(call, None)
        return self.ask(call)

    def drain(self, call: bytes, size: int) -> int:
        """Send a call, read a reply of a known size without keeping it, and return how many bytes came."""
        self._socket.sendall(call)
        left = size
        while left:
            got = self._socket.recv_into(self._buffer, min(left, len(self._buffer)))
            if not got:
                break
            left -= got
        return size - left

    def _receive(self, size: int) -> int:
        self._make_room(size + 1)
        got = self._socket.recv_into(memoryview(self._buffer)[size:])
        if not got:
            raise ConnectionError(f"the server hung up after {size} bytes of a reply")
        return size + got

    def _is_whole(self, size: int, known: int | None, at_least: int) -> bool:
        if known is not None:
            return size >= known
        quiet = _QUIET_SECONDS if size >= at_least else _STALLED_SECONDS
        if self._poll.poll(quiet * 1000):
            return False
        return is_whole(bytes(memoryview(self._buffer)[:size]))

    def _make_room(self, size: int) -> None:
        while len(self._buffer) < size:
            self._buffer.extend(bytes(len(self._buffer)))


def is_whole(data: bytes) -> bool:
    """Whether these bytes hold a whole message.

    >>> message = bytes.fromhex("80010002 00000001 66 00000000 08 0000 00000005 00")
    >>> [is_whole(message[:length]) for length in (5, len(message) - 1, len(message))]
    [False, False, True]
    """
    try:
        return skip(data, _body(data), _STRUCT) <= len(data)
    except (ValueError, IndexError, struct.error):
        return False


def _body(data: bytes) -> int:
    """Where the struct of a message begins: behind its type, its name and its number."""
    return 12 + int(struct.unpack_from(">i", data, 4)[0])


def _check(data: bytes) -> None:
    kind: int = struct.unpack_from(">I", data)[0]
    at = _body(data)
    if kind != _REPLY or (data[at] and struct.unpack_from(">h", data, at + 1)[0]):
        raise CallFailed(f"the server answered: {data[:500]!r}")
