"""Memory for large messages, which all connections share.

A message that is small costs nothing here. One that is large takes a share as it grows, and waits where there is none
left, while its client is held up by TCP. So that two that wait for each other cannot stand still for ever, one message
at a time may grow beyond the budget: the first that found nothing left. What all messages hold is therefore at most

    the budget + what the largest message weighs + `FREE` for each connection.

Memory that is free goes back to the system (`release_memory`). glibc keeps what is free between pieces that are in use,
in an arena for each few threads: after 16 clients had listed 100,000 partitions at once a server held 400 MB for good,
and 180 with this. It takes some milliseconds, in which other threads run.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Final

from hbstore.servers.bounds import Bound, BoundReached

BUDGET: Final = 512 * 1024 * 1024
"""Bytes for all large messages together, where the server is not told otherwise."""

FREE: Final = 256 * 1024
"""Bytes that a message may weigh without a share."""

ELEMENT: Final = 128
"""Bytes that each element of a container weighs beside its own: what Python makes of it."""

PATIENCE: Final = 60.0
"""Seconds that a message waits for its share."""


def weight(size: int, elements: int) -> int:
    """What a message takes: its bytes twice, as they are copied into what is made of them, and its elements.

    >>> weight(1000, elements=2)
    2256
    """
    return 2 * size + ELEMENT * elements


class Budget:
    """What is left for large messages.

    Args:
        total: bytes.
        patience: seconds that a message waits for its share.
        advice: what helps where messages wait for too long.
    """

    __slots__ = ("_advice", "_beyond", "_changed", "_patience", "_total", "_used")

    def __init__(self, total: int = BUDGET, patience: float = PATIENCE, advice: str = "") -> None:
        self._advice = advice
        self._total = total
        self._patience = patience
        self._used = 0
        self._beyond: Share | None = None
        self._changed = threading.Condition()

    @property
    def used(self) -> int:
        """Bytes that are taken."""
        return self._used

    def grow(self, share: Share, size: int) -> None:
        """Make a share as large as this; one that is larger stays so.

        Raises:
            BoundReached: others hold too much for too long.
        """
        more = size - share.size
        if more <= 0:
            return
        with self._changed:
            if not self._changed.wait_for(lambda: self._may_grow(share, more), self._patience):
                text = "large messages of other clients use all of the message memory"
                raise BoundReached(Bound.MESSAGES, text + self._advice)
            if self._used + more > self._total:
                self._beyond = share
            self._used += more
            share.size = size

    def release(self, share: Share) -> None:
        """Give a share back."""
        if not share.size:
            return
        with self._changed:
            self._used -= share.size
            share.size = 0
            if self._beyond is share:
                self._beyond = None
            self._changed.notify_all()

    def _may_grow(self, share: Share, more: int) -> bool:
        return self._used + more <= self._total or self._beyond is None or self._beyond is share


class Share:
    """What one message takes of a budget.

    >>> budget = Budget(total=1000)
    >>> share = Share(budget)
    >>> share.grow(400)
    >>> budget.used, share.release(), budget.used
    (400, None, 0)
    """

    __slots__ = ("_budget", "size")

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.size = 0

    def grow(self, size: int) -> None:
        """Take what is missing to this, or wait for it."""
        self._budget.grow(self, size)

    def release(self) -> None:
        """Give it back; it can be taken anew."""
        self._budget.release(self)


def _malloc_trim() -> Callable[[int], int]:
    """The function of that name; one that does nothing where the C library has none (macOS, musl)."""
    try:
        function: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return lambda _: 0
    return function


_trim: Final = _malloc_trim()


def release_memory() -> None:
    """Give back what is free; worth it after a call that took megabytes."""
    _trim(0)
