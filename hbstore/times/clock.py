"""The clock, and now as one question sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

Clock: TypeAlias = Callable[[], datetime]
"""Tells the time, with a time zone."""


def utc_now() -> datetime:
    """The system's time."""
    return datetime.now(UTC)


@dataclass(slots=True)
class Now:
    """Now: read from a clock when it is first asked for, and the same from then on.

    What was made without asking does not depend on when it was made, and may be kept.

    Attributes:
        clock: what tells it.

    >>> now = Now(lambda: datetime(2015, 1, 29, tzinfo=UTC))
    >>> now.was_asked
    False
    >>> now().isoformat(), now.was_asked
    ('2015-01-29T00:00:00+00:00', True)
    """

    clock: Clock = utc_now
    _time: datetime | None = None

    def __call__(self) -> datetime:
        """The time, in the clock's time zone."""
        if self._time is None:
            self._time = self.clock()
        return self._time

    @property
    def was_asked(self) -> bool:
        """Whether anybody asked."""
        return self._time is not None
