"""Publications that could not be finished: tried again, but ever more rarely, so that they stop nobody who reads.

A server's user without rights on a job's files is enough, or a bucket that is gone. Each process remembers its own
tries: those of another one, with other rights, may succeed.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from hbstore.errors import HbstoreError

FIRST: Final = 1.0
"""Seconds until the second try."""

LONGEST: Final = 60.0
"""Seconds between tries at most, and between two warnings at least."""

_MOST: Final = 10_000
_LOG: Final = logging.getLogger("hbstore.publishing")


@dataclass(slots=True)
class _Tries:
    due: float
    pause: float = FIRST
    warned: float = float("-inf")


@dataclass(slots=True)
class Unfinished:
    """The publications that this process could not finish, and when it tries again.

    >>> unfinished = Unfinished()
    >>> unfinished.is_due("sqlite://shop.db", "7")
    True
    """

    _tries: dict[tuple[str, str], _Tries] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def is_due(self, url: str, publication: str) -> bool:
        """Whether to try to finish a publication of a store now. O(1)."""
        tries = self._tries.get((url, publication))
        return tries is None or time.monotonic() >= tries.due

    def failed(self, url: str, publication: str, table: object, error: HbstoreError) -> None:
        """Note that it could not be finished, and say so in the log, though not again and again."""
        now = time.monotonic()
        with self._lock:
            while len(self._tries) >= _MOST:
                del self._tries[next(iter(self._tries))]
            tries = self._tries.setdefault((url, publication), _Tries(now, FIRST / 2))
            tries.pause = min(LONGEST, 2 * tries.pause)
            tries.due = now + tries.pause
            is_silent = now - tries.warned < LONGEST
            if not is_silent:
                tries.warned = now
        if not is_silent:
            text = "publication %s of %s could not be finished, and is tried again: `hbstore publications list`; %s"
            _LOG.warning(text, publication, table, error)

    def finished(self, url: str, publication: str) -> None:
        """Forget a publication that is finished or given up."""
        self._tries.pop((url, publication), None)


UNFINISHED: Final = Unfinished()
"""Those of this process."""
