"""Where the ledger stands, and how it is changed: the catalog row ``L``, cell ``d:ledger``."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from hbstore.rows.interface import Rows
from hbstore.store.ledger import Ledger
from hbstore.store.shared_cell import change_cell, read_cell

T = TypeVar("T")
KEY: Final = b"L"
CELL: Final = "d:ledger"
TIMEOUT: Final = 300.0
"""Seconds without a heartbeat after which a lock is gone and a transaction aborted, as in Hive (hive.txn.timeout)."""


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """The ledger of a store.

    Attributes:
        rows: where it is.
        timeout: seconds without a heartbeat after which a lock or a transaction expires.
        clock: the time in seconds since 1970. The clocks of all servers of a store should agree to within a small part
            of the timeout: where they do not, locks expire early or late, but are never held twice.
    """

    rows: Rows
    timeout: float = TIMEOUT
    clock: Callable[[], float] = time.time

    def now(self) -> int:
        """The time in milliseconds since 1970."""
        return int(self.clock() * 1000)

    def read(self) -> Ledger:
        """The ledger without what has expired; nothing is changed."""
        return self._current(read_cell(self.rows, KEY, CELL))

    def change(self, step: Callable[[Ledger, int], tuple[Ledger, T]]) -> T:
        """Change the ledger.

        Args:
            step: takes the ledger without what has expired and the time, and gives the ledger that follows and a
                result. It may be called several times; what it raises leaves the ledger as it is.

        Returns:
            What ``step`` gave with the ledger that was put.
        """

        def change(content: bytes) -> tuple[bytes | None, T]:
            before = self._current(content)
            after, result = step(before, self.now())
            # What has expired is taken off for good only with a change that may rest on it.
            return None if after is before else after.encode(), result

        return change_cell(self.rows, KEY, CELL, change)

    def _current(self, content: bytes) -> Ledger:
        return Ledger.decode(content).expired(self.now() - int(self.timeout * 1000))
