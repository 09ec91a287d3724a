"""A bounded pool of connections, and requests that are repeated where that is safe."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from enum import Enum
from itertools import count
from typing import Final, TypeVar
from weakref import WeakSet

from hbstore.rows.hbase.failures import DECLARED, FAILURES, Closed, NoFreeConnection, refused, to_error
from hbstore.rows.hbase.link import Counter, Link
from hbstore.rows.hbase.url import HBaseAddress

T = TypeVar("T")
_FIRST_PAUSE: Final = 0.1
_LAST_PAUSE: Final = 2.0


class Repeat(Enum):
    """What repeating a request would do."""

    READ = "nothing was changed, whatever happened"
    WRITE = "may have changed something; repeating it is harmless"
    ONCE = "may have changed something; repeating it would do something else"


class Pool:
    """Connections to one gateway, for any number of threads and for processes that fork.

    A connection is used by one thread at a time. Those that the gateway closed while they were idle are replaced
    before anybody notices.
    """

    def __init__(self, address: HBaseAddress) -> None:
        self.address = address
        self.counter = Counter()
        self._closed = False
        self._begin()
        _ALL.add(self)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._free = threading.Semaphore(self.address.pool)
        self._idle: list[Link] = []

    def begin_in_child(self) -> None:
        """Let go of the parent's connections, and of locks as its other threads held them: a fork copies both."""
        inherited = self._idle
        self._begin()
        for link in inherited:
            link.close()

    def run(self, request: Callable[[Link], T], kind: Repeat, prefer: Link | None = None) -> T:
        """The result of a request, made again on another connection where it failed and that is safe.

        Args:
            request: makes its calls on the connection that it is given.
            kind: whether it may be repeated, and what a failure leaves behind.
            prefer: a connection that it would like to have, if nobody uses it now.

        Raises:
            StoreUnavailable: it failed and nothing was changed.
            CommitStateUnknown: it failed and something may have been changed.
        """
        deadline = time.monotonic() + self.address.timeout
        doubt = False
        for attempt in count():
            link: Link | None = None
            try:
                link = self._take(deadline, prefer)
                link.until(deadline)
                result = request(link)
            except FAILURES as error:
                failure = error
            except BaseException:
                if link is not None:
                    self._discard(link)
                raise
            else:
                self._give_back(link)
                return result
            if link is not None:
                if isinstance(failure, DECLARED):
                    self._give_back(link)
                else:
                    self._discard(link)
            doubt |= link is not None and kind is not Repeat.READ and not refused(failure)
            pause = min(_FIRST_PAUSE * 4**attempt, _LAST_PAUSE) * random.uniform(0.8, 1.2)  # noqa: S311
            again = attempt < self.address.retries and not refused(failure) and not (doubt and kind is Repeat.ONCE)
            if not again or time.monotonic() + pause >= deadline:
                raise to_error(failure, self.address, doubt=doubt) from failure
            time.sleep(pause)
        raise AssertionError

    def lonely(self, request: Callable[[Link], object], seconds: float) -> bool:
        """Whether a request on a connection of its own, outside the pool, gets an answer within this time."""
        deadline = time.monotonic() + seconds
        try:
            link = Link(self.address.host, self.address.port, seconds, self.counter)
            try:
                link.until(deadline)
                request(link)
            finally:
                link.close()
        except FAILURES:
            return False
        return True

    def borrow(self, link: Link) -> bool:
        """Take a certain connection, if it is idle and alive; `hand_back` it or `drop` it afterwards."""
        if not self._free.acquire(blocking=False):
            return False
        with self._lock:
            idle = link in self._idle
            if idle:
                self._idle.remove(link)
        if idle and link.alive():
            link.until(time.monotonic() + self.address.timeout)
            return True
        if idle:
            link.close()
        self._free.release()
        return False

    def hand_back(self, link: Link) -> None:
        """Return a borrowed connection that is in good order."""
        self._give_back(link)

    def drop(self, link: Link) -> None:
        """Return a borrowed connection that failed."""
        self._discard(link)

    def close(self) -> None:
        """Close what is idle now and what is in use when it comes back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for link in idle:
            link.close()

    def _take(self, deadline: float, prefer: Link | None) -> Link:
        if self._closed:
            raise Closed
        if prefer is not None and self.borrow(prefer):
            return prefer
        if not self._free.acquire(timeout=max(deadline - time.monotonic(), 0)):
            raise NoFreeConnection(f"all {self.address.pool} connections are in use")
        try:
            while True:
                with self._lock:
                    link = self._idle.pop() if self._idle else None
                if link is None:
                    left = deadline - time.monotonic()
                    return Link(self.address.host, self.address.port, left, self.counter)
                if link.alive():
                    return link
                link.close()
        except BaseException:
            self._free.release()
            raise

    def _give_back(self, link: Link) -> None:
        with self._lock:
            keep = not self._closed
            if keep:
                self._idle.append(link)
        if not keep:
            link.close()
        self._free.release()

    def _discard(self, link: Link) -> None:
        link.close()
        self._free.release()


_ALL: Final[WeakSet[Pool]] = WeakSet()


def _after_fork_in_child() -> None:
    for pool in _ALL:
        pool.begin_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
