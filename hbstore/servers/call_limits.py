"""When a call is given up: it takes too long, or its client is gone.

A thread cannot be ended from outside without leaving what it holds as it is. So whatever works in many steps asks
between two of them whether somebody still waits (`check_wanted`). It costs nothing where no server set a limit.
"""

from __future__ import annotations

import select
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from hbstore.errors import CallAbandoned
from hbstore.servers.bounds import UNWATCHED, Bound, DoorWatch

LOOK_SECONDS: Final = 1.0
"""Between two looks at the client's socket."""

_GONE: Final = select.POLLHUP | select.POLLERR | getattr(select, "POLLRDHUP", 0)
_THREAD: Final = threading.local()
"""`limit` is that of the thread's call."""


@dataclass(slots=True)
class _Limit:
    sock: socket.socket
    seconds: float
    ends: float
    next_look: float
    watch: DoorWatch
    over: bool = False

    def check(self) -> None:
        now = time.monotonic()
        if now >= self.ends:
            self.end(Bound.CALL)
            raise CallAbandoned(
                "the call took longer than the server lets it",
                limit=f"{self.seconds:g} s",
                hint="Ask for less at once, or let the server be started with a larger --call-timeout",
            )
        if now >= self.next_look:
            self.next_look = now + LOOK_SECONDS
            poll = select.poll()
            poll.register(self.sock, _GONE)
            if poll.poll(0):
                self.ends = now  # so that it stays over
                self.end(Bound.GONE)
                raise CallAbandoned("the client is gone", hint="Nobody waits for the answer")

    def end(self, bound: Bound) -> None:
        """Tell once by which bound the call ended."""
        if not self.over:
            self.over = True
            self.watch.ended(bound)


@contextmanager
def call_limit(sock: socket.socket, seconds: float, gone_after: float, watch: DoorWatch = UNWATCHED) -> Iterator[None]:
    """Within, the thread's work is for a client.

    Args:
        sock: the client's.
        seconds: how long the work may take.
        gone_after: seconds from which on a client that sends nothing more counts as gone. Before, it may have closed
            this direction alone, and wait for its answer.
        watch: hears which bound ends the call.
    """
    now = time.monotonic()
    _THREAD.limit = _Limit(sock, seconds, now + seconds, now + gone_after, watch)
    try:
        yield
    finally:
        _THREAD.limit = None


def check_wanted() -> None:
    """See that somebody still waits for what the thread does. Nothing may be decided yet that has to be finished.

    Raises:
        CallAbandoned: the call takes too long, or its client is gone.

    >>> check_wanted()
    """
    limit: _Limit | None = getattr(_THREAD, "limit", None)
    if limit is not None:
        limit.check()
