"""How readers learn that a query has changed: threads wait, and event loops are called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Condition


@dataclass(slots=True)
class Changes:
    """The changes of the queries of one server.

    A reader takes the number, looks at a query, and waits for a change after that number: so it misses none.

    >>> changes = Changes()
    >>> before = changes.number
    >>> changes.tell()
    >>> changes.wait(before, 5.0), changes.number - before
    (True, 1)
    """

    number: int = 0
    _listeners: list[Callable[[], None]] = field(default_factory=list)
    _condition: Condition = field(default_factory=Condition)

    def tell(self) -> None:
        """Say that a query has changed."""
        with self._condition:
            self.number += 1
            self._condition.notify_all()
        for listener in self._listeners:
            listener()

    def wait(self, after: int, seconds: float) -> bool:
        """Wait for a change after a number, so many seconds at most; whether there was one."""
        with self._condition:
            return self._condition.wait_for(lambda: self.number != after, seconds)

    def listen(self, listener: Callable[[], None]) -> None:
        """Have a function called at each change, in the thread that makes it."""
        self._listeners.append(listener)
