"""Whole messages from a socket.

Clients send their calls bare: nothing says how long one is, so a `Walker` finds its end. A client that was told to use
framed transport sends each call behind its size; such a connection is known by its first bytes and answered likewise.

A small call, which comes in one piece, is that piece. What does not end there is gathered in one buffer, which becomes
the message without being copied. While little has come of a call nobody waits for the rest: it is kept until then.
"""

from __future__ import annotations

import contextlib
import io
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from hbstore.errors import ProtocolViolation
from hbstore.servers.bounds import Bound, BoundReached
from hbstore.servers.memory import FREE, Budget, Share, weight
from hbstore.servers.sockets import limit_reads
from hbstore.thrift.walker import MAX_ELEMENTS, MAX_MESSAGE, Walker, expected

PIECE: Final = 64 * 1024
"""Bytes that are taken from a socket at once."""

READ_TIMEOUT: Final = 60.0
"""Seconds that a client may pause in the middle of a call."""

LEAST_RATE: Final = 64 * 1024
"""Bytes a second that a client must send or take, on average, of what takes longer than it may pause."""

_SIZE: Final = struct.Struct(">i")
_VERSION_BYTE: Final = 0x80
"""The first byte of a call with a version, which stands behind the size in a frame, and begins no name."""


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """What a connection may send.

    Attributes:
        message: bytes of one message.
        read_timeout: seconds that a client may pause in the middle of a call.
        least_rate: bytes a second that a client must send of a call, on average, once it has taken that long.
        idle_timeout: seconds between calls; None for ever.
        too_large: what to do where a message is larger; an error's hint.
        strangers: what to do where a client speaks another protocol, by its first four bytes; likewise.
        elements: of all containers of one message together.
    """

    message: int = MAX_MESSAGE
    read_timeout: float = READ_TIMEOUT
    least_rate: int = LEAST_RATE
    idle_timeout: float | None = None
    too_large: str | None = None
    strangers: Callable[[bytes], str | None] = expected
    elements: int = MAX_ELEMENTS


def too_slow() -> BoundReached:
    """Why a client is cut off that does not send the rest of its call in time."""
    return BoundReached(Bound.SENDING, "the client sends its call too slowly")


class MessageReader:
    """The messages of one connection, one after the other.

    Args:
        sock: a socket, which is blocking while `read` is called.
        limits: what the client may send.
        budget: the memory for large messages.
        framed: whether messages come in frames; None: their first bytes say it.
        pending: what was received already.

    Attributes:
        framed: whether messages come in frames, and replies have to.
    """

    __slots__ = (
        *("_budget", "_gathered", "_limits", "_pending", "_share", "_sock", "_undecided", "_walker", "_walking"),
        "framed",
    )

    def __init__(
        self,
        sock: socket.socket,
        limits: ReadLimits,
        budget: Budget,
        *,
        framed: bool | None = None,
        pending: bytes = b"",
    ) -> None:
        self._sock = sock
        self._limits = limits
        self._walking = (limits.too_large, limits.strangers, limits.elements)
        self._budget = budget
        self._share: Share | None = None
        self._pending = pending
        self._walker: Walker | None = None  # over what has come of a small message
        self._gathered = 0  # the size of a small message that has come
        self._undecided = framed is None
        self.framed = bool(framed)
        limit_reads(sock, limits.read_timeout)

    @property
    def has_more(self) -> bool:
        """Whether bytes of the next message are here already, so that the socket may stay silent about them."""
        return bool(self._pending)

    def peek(self) -> bytes:
        """What comes next, as it is received; `read` takes it. b"" where the client is gone.

        Raises:
            TimeoutError: nothing comes for as long as a client may pause.
            OSError: the connection broke.
        """
        if not self._pending:
            with contextlib.suppress(ConnectionResetError):  # between two calls this is a way to go, too
                self._pending = self._receive()
        return self._pending

    def pass_over(self) -> None:
        """What `peek` showed needs no `read`."""
        self._pending = b""

    def read(self) -> bytes | None:
        """The next message; None where the client is gone, as it may be between two calls.

        Raises:
            ProtocolViolation: what comes is no message, or past a limit.
            TimeoutError: nothing comes for too long, or other clients leave no memory.
            OSError: the connection broke; ConnectionAbortedError where it ended in the middle of a call.
        """
        try:
            data = self._pending or self._receive()
        except ConnectionResetError:
            return None  # between two calls this is a way to go, too
        if not data:
            return None
        self._pending, self._walker = b"", None
        if self._undecided:
            data = self._decide(data)
        limit = self._limits.message
        if self.framed:
            data = self._at_least(_SIZE.size, data)
            limit = self._frame_size(data)
            data = data[_SIZE.size :]
        walker = Walker(limit, *self._walking)
        message = self._first_piece(data, walker) if walker.walk(data) else self._read_on(data, walker)
        if self.framed and len(message) != limit:
            raise ProtocolViolation(
                "the length of a frame differs from the length of its call",
                frame=limit,
                call=len(message),
                hint="Send each call in a frame of its own",
            )
        return message

    def gather(self) -> bool:
        """Receive what has come of the next message, without waiting, as the socket is not blocking.

        Returns:
            Whether `read` or `peek` is to be called; False while little has come of a message, for the rest of which
            nobody has to wait.

        Raises:
            ProtocolViolation: what came is no message, or past a limit.
            BlockingIOError: nothing has come.
            OSError: the connection broke; ConnectionAbortedError where it ended in the middle of a call.
        """
        self._gathered = 0
        data = self._received()
        if len(data) <= _SIZE.size:
            return not data
        if self._undecided:
            self._decide(data)
        limit = self._limits.message
        if self.framed:
            limit = self._frame_size(data)
            data = data[_SIZE.size :]
            if len(data) < limit:
                return len(data) >= PIECE
        walker = self._walker or Walker(limit, *self._walking)
        if not walker.walk(data):
            self._walker = walker
            return self.framed or len(data) >= PIECE  # `read` says what is wrong with a frame that is too short
        self._walker = None
        if weight(walker.at, walker.elements) <= FREE and (not self.framed or walker.at == limit):
            self._gathered = walker.at
        return True

    def read_small(self) -> bytes | None:
        """The next message if it is small and has come; nothing is waited for, as the socket is not blocking.

        Returns:
            The message; b"" where the client is gone; None where `read` has to wait for the rest, or for memory.

        Raises:
            BlockingIOError: nothing has come, or little of a message.
            ProtocolViolation, OSError: as `gather`.
        """
        if not self.gather():
            raise BlockingIOError
        size, data = self._gathered, self._pending
        if not size:
            return None if data else b""
        if self.framed:
            data = data[_SIZE.size :]
        self._pending = data[size:]
        return data[:size]

    def release(self) -> None:
        """The last message is not needed any more."""
        if self._share is not None:
            self._share.release()
            self._share = None

    def _received(self) -> bytes:
        """All that has come of the next message; b"" where the client is gone."""
        try:
            data = self._sock.recv(PIECE)
        except ConnectionResetError:
            data = b""  # between two calls this is a way to go, too
        if self._pending and not data:
            raise ConnectionAbortedError("the connection ended within a call")
        self._pending += data
        return self._pending

    def _first_piece(self, data: bytes, walker: Walker) -> bytes:
        """A message that was over in its first piece."""
        self._take_memory(walker.at, walker)
        if walker.at == len(data):
            return data
        self._pending = data[walker.at :]
        return data[: walker.at]

    def _read_on(self, data: bytes, walker: Walker) -> bytes:
        """A message that goes on behind its first piece."""
        whole = io.BytesIO()
        size = whole.write(data)
        over = False
        until = time.monotonic() + self._limits.read_timeout
        while not over:
            self._take_memory(size, walker)
            if time.monotonic() > until + size / self._limits.least_rate:
                raise too_slow()
            piece = self._receive()
            if not piece:
                raise ConnectionAbortedError("the connection ended within a call")
            size += whole.write(piece)
            if walker.at < size:
                with whole.getbuffer() as walked:
                    over = walker.walk(walked)
        self._take_memory(size, walker)
        if walker.at < size:
            whole.seek(walker.at)
            self._pending = whole.read()
            whole.truncate(walker.at)
        return whole.getvalue()

    def _decide(self, data: bytes) -> bytes:
        """Find out by the first bytes whether the client uses frames."""
        if data[0] < _VERSION_BYTE:  # a size: of a frame, or of the name that is a call's beginning without a version
            data = self._at_least(_SIZE.size + 1, data)
            self.framed = data[_SIZE.size] == _VERSION_BYTE
        self._undecided = False
        return data

    def _frame_size(self, data: bytes) -> int:
        size: int = _SIZE.unpack_from(data, 0)[0]
        if not 0 < size <= self._limits.message:
            raise ProtocolViolation(
                "the size of a frame is not allowed",
                size=size,
                limit=self._limits.message,
                hint=self._limits.too_large if size > 0 else "Send the number of bytes that follow, at least 1, first",
            )
        return size

    def _at_least(self, number: int, data: bytes) -> bytes:
        """Receive until so many bytes are there."""
        while len(data) < number:
            more = self._receive()
            if not more:
                raise ConnectionAbortedError("the connection ended within a call")
            data += more
        return data

    def _receive(self) -> bytes:
        try:
            return self._sock.recv(PIECE)
        except BlockingIOError:  # how the system says that the time is over
            raise BoundReached(Bound.SENDING, "the client was silent for too long") from None

    def _take_memory(self, size: int, walker: Walker) -> None:
        """Take what a message weighs that is there so far, if that is much."""
        needed = weight(size, walker.elements)
        if needed > FREE:
            if self._share is None:
                self._share = Share(self._budget)
            self._share.grow(needed)
