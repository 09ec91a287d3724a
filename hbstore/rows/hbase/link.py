"""One connection to HBase's Thrift gateway."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
import time
from typing import Any, Final

from thriftpy2.protocol import TBinaryProtocol
from thriftpy2.thrift import TClient
from thriftpy2.transport import TBufferedTransport, TSocket

from hbstore.rows.hbase.failures import DECLARED
from hbstore.rows.hbase.idl import Connection, Service
from hbstore.rows.hbase.wire import Replies, close_scanner

_BUFFER: Final = 65_536
"""Bytes read and sent at once: with thriftpy2's 4,096 a batch of rows takes hundreds of system calls."""


class Counter(threading.local):
    """How many calls each thread has made."""

    calls: int = 0


class _CountingClient(TClient):
    """The Thrift client of HBase, which counts."""

    def __init__(self, protocol: Any, counter: Counter) -> None:
        super().__init__(Service, protocol)
        self._counter = counter

    def _send(self, _api: str, **kwargs: object) -> None:
        self._counter.calls += 1
        super()._send(_api, **kwargs)


class Link(Connection):  # type: ignore[misc]
    """A happybase connection that never waits longer than until a deadline, and that survives a fork of its process.

    Attributes:
        client: the Thrift client, for calls that write and those that are rare.
        replies: the replies to calls that were sent by `send`, which reads are.
        orphans: scanners on this connection that nobody reads any more; the next read closes them.
    """

    client: Any
    replies: Replies

    def __init__(self, host: str, port: int, seconds: float, counter: Counter) -> None:
        self._counter = counter
        self._wire: Any = TSocket()  # type: ignore[no-untyped-call]
        self._wire.sock = socket.create_connection((host, port), max(seconds, 0.001))
        self._wire.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._wire.sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._pid = os.getpid()
        self.orphans: list[int] = []
        super().__init__(host, port, autoconnect=False, transport="buffered", protocol="binary")

    def _refresh_thrift_client(self) -> None:
        """Happybase builds its client here; this one has a socket of ours, a larger buffer, and counts."""
        self.transport = TBufferedTransport(self._wire, _BUFFER)  # type: ignore[no-untyped-call]
        protocol = TBinaryProtocol(self.transport, decode_response=False)  # type: ignore[no-untyped-call]
        self.client = _CountingClient(protocol, self._counter)
        self.replies = Replies(self._wire.sock)

    def send(self, *calls: bytes) -> None:
        """Send calls, whose replies are then to be read, all of them and in their order.

        Before them the orphans are closed, which takes no time of its own; those that have expired are closed already.
        """
        closing = []
        while self.orphans:  # other threads add to them
            closing.append(close_scanner(self.orphans.pop()))
        self._counter.calls += len(closing) + len(calls)
        self._wire.sock.sendall(b"".join((*closing, *calls)))
        for _ in closing:
            with contextlib.suppress(*DECLARED):
                self.replies.nothing()

    def until(self, deadline: float) -> None:
        """Let no call on this connection wait beyond a deadline on the monotonic clock."""
        self._wire.sock.settimeout(max(deadline - time.monotonic(), 0.001))

    def alive(self) -> bool:
        """Whether the gateway has kept this idle connection open."""
        try:
            self._wire.sock.settimeout(0)
            self._wire.sock.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False  # closed by the gateway, or bytes that nobody asked for

    def answered(self, seconds: float) -> bool:
        """Whether the reply to a call that was sent begins to arrive within this time."""
        if self.replies.begun:
            return True
        poll = select.poll()
        poll.register(self._wire.sock, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def close(self) -> None:
        """Close it; in a forked child only let go of it, as closing it in the usual way would end it for the parent."""
        if self._pid == os.getpid():
            super().close()
        elif self._wire.sock is not None:
            self._wire.sock.close()
            self._wire.sock = None
