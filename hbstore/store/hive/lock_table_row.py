"""Where the lock table stands, and how it is changed: the state of the catalog row ``L``."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from hbstore.errors import CorruptRow
from hbstore.rows.damage import RESTORE
from hbstore.store.hive.lock_table import LockTable
from hbstore.transactions.transactions import Transactions

T = TypeVar("T")
KEY: Final = b"L"
TIMEOUT: Final = 300.0
"""Seconds without a heartbeat after which a lock is gone and a transaction aborted, as in Hive (hive.txn.timeout)."""


def check_lock_table(key: bytes, state: bytes) -> None:
    """See that a row is that of the lock table.

    Raises:
        CorruptRow: its key or its state is not.
    """
    if key != KEY:
        raise CorruptRow("the row key is not the key of the lock table", key=key.hex(), hint=RESTORE)
    LockTable.decode(state)


@dataclass(frozen=True, slots=True)
class LockTableRow:
    """The lock table of a store.

    Attributes:
        transactions: those of the rows where it is.
        timeout: seconds without a heartbeat after which a lock or a transaction expires.
        clock: the time in seconds since 1970. The clocks of all servers of a store should agree to within a small part
            of the timeout: where they do not, locks expire early or late, but are never held twice.
    """

    transactions: Transactions
    timeout: float = TIMEOUT
    clock: Callable[[], float] = time.time

    def now(self) -> int:
        """The time in milliseconds since 1970."""
        return int(self.clock() * 1000)

    def read(self) -> LockTable:
        """The lock table without what has expired; nothing is changed."""
        return self._current(self.transactions.state(KEY))

    def change(self, step: Callable[[LockTable, int], tuple[LockTable, T]]) -> T:
        """Change the lock table.

        Args:
            step: takes the lock table without what has expired and the time, and gives the next one and a result. It
                may be called several times; what it raises leaves the lock table as it is.

        Returns:
            What ``step`` gave with the lock table that was put.
        """

        def change(state: bytes) -> tuple[bytes | None, T]:
            before = self._current(state)
            after, result = step(before, self.now())
            # What has expired is taken off for good only with a change that may rest on it.
            return None if after is before else after.encode(), result

        return self.transactions.change_state(KEY, change)

    def _current(self, state: bytes) -> LockTable:
        return LockTable.decode(state).expired(self.now() - int(self.timeout * 1000))
