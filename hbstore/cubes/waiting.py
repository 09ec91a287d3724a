"""Waiting until nothing of a range of a fact is missing: looking at the timelines again and again.

No writer has to tell anybody, so a commit of any process is seen.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from hbstore.cubes.covered import Cover

LOOKS_PER_SECOND: Final = 20
_SHARE: Final = 0.1
"""Of the time, that looking may take."""


def pause_after(took: float) -> float:
    """How many seconds to wait after a look that took so many.

    >>> pause_after(0.001), pause_after(0.1)
    (0.049, 0.9)
    """
    return max(1 / LOOKS_PER_SECOND - took, took / _SHARE - took)


def covered(look: Callable[[], Cover], seconds: float | None) -> Cover:
    """The cover in which nothing is missing, or the last one when the time is over.

    Args:
        look: gives the cover as it is.
        seconds: how long to wait; None: as long as it takes.
    """
    until = float("inf") if seconds is None else time.monotonic() + seconds
    while True:
        began = time.monotonic()
        found = look()
        now = time.monotonic()
        if not found.missing or now >= until:
            return found
        time.sleep(min(pause_after(now - began), until - now))
