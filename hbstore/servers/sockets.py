"""What connections of all services have in common: how a socket is prepared, written to and closed."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from typing import Final

from hbstore.servers.bounds import Bound, BoundReached

_TIME: Final = struct.Struct("@ll")
_MILLION: Final = 1_000_000
_KEEPALIVE: Final = {"TCP_KEEPIDLE": 300, "TCP_KEEPALIVE": 300, "TCP_KEEPINTVL": 60, "TCP_KEEPCNT": 5}
"""A machine that is gone without a word is noticed after ten minutes. TCP_KEEPALIVE is macOS's name of TCP_KEEPIDLE."""

_PIECE: Final = 1 << 16


def prepare(sock: socket.socket, write_timeout: float) -> None:
    """Let a connection send at once, notice that the other machine is gone, and not wait for a reader for ever.

    Args:
        sock: connected.
        write_timeout: seconds after which a client that takes nothing is given up.

    Raises:
        OSError: the connection is broken already.
    """
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE.items():
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _time(write_timeout))
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux: also where nobody waits for the reader, as in a loop of events
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(1000 * write_timeout))


def limit_reads(sock: socket.socket, seconds: float) -> None:
    """Let the system end a wait for bytes, as a timeout of Python's would cost every call a poll.

    Args:
        sock: blocking.
        seconds: more than a microsecond; less would be for ever.
    """
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _time(seconds))


def send(sock: socket.socket, data: bytes, size: int, until: float | None = None) -> None:
    """Send bytes of a reply, all of them.

    Args:
        sock: prepared, and blocking.
        data: the bytes.
        size: of the whole reply, for the error.
        until: when all of the reply must have been taken, by the monotonic clock; None: at no time.

    Raises:
        BoundReached: the client takes nothing for too long, or takes the reply too slowly.
        OSError: the connection broke.
    """
    left = memoryview(data)
    while left:
        try:
            sent = sock.send(left)
        except (BlockingIOError, TimeoutError):  # how the system says that the time is over, by one option or the other
            text = f"the client did not read its reply of {size} bytes for too long"
            raise BoundReached(Bound.READING, text) from None
        left = left[sent:]
        if left and until is not None and time.monotonic() > until:
            raise BoundReached(Bound.READING, f"the client reads its reply of {size} bytes too slowly")


def close_after_last_words(sock: socket.socket, seconds: float = 1.0) -> None:
    """Close a connection whose client still sends, so that it reads what was said to it last.

    The system throws away what it has not sent yet if a socket is closed while received bytes are unread.
    """
    until = time.monotonic() + seconds
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_WR)
        while (left := until - time.monotonic()) > 0:
            limit_reads(sock, max(left, 0.01))
            if not sock.recv(_PIECE):
                break
    sock.close()


def _time(seconds: float) -> bytes:
    return _TIME.pack(int(seconds), int(seconds % 1 * _MILLION))
