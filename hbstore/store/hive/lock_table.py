"""The lock table: all locks and open transactions of a store, as one value that is changed as a whole.

It is the state of the catalog row ``L``, so every change of it is atomic on every backend, and any server can make it.
What follows from that:

* A lock is given when no earlier one (by id) is in its way, held or waiting. Earlier ones only go away, so a lock that
  is given stays given, nobody is overtaken by those he is in the way of, and two locks that conflict are never held at
  once.
* A server that finds that a lock or a transaction has had no heartbeat for too long removes it in the same change by
  which another takes its place. Its holder, if it is still alive, finds it gone, however the clocks of two servers
  differ.

Which locks conflict is in `hbstore.store.hive.lock_conflicts`. Locks of one transaction never do.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from operator import attrgetter
from typing import Any, Final, TypeVar

from hbstore.errors import CorruptRow, InvalidInput, NoSuchLock, NoSuchTxn, TxnAborted
from hbstore.model.service_objects import HiveTransaction, Lock, LockComponent
from hbstore.rows.damage import RESTORE
from hbstore.store.hive.aborted_transactions import AbortedTransactions
from hbstore.store.hive.lock_conflicts import ComponentsByName
from hbstore.transactions.transactions import Transactions

T = TypeVar("T")
KEY: Final = b"L"
TIMEOUT: Final = 300.0
"""Seconds without a heartbeat after which a lock is gone and a transaction aborted, as in Hive (hive.txn.timeout)."""
_TRANSACTION_OF_OLD: Final = 7
"""Fields of a transaction in older stores, which do not say what it writes: it may write into any table."""


@dataclass(frozen=True, slots=True)
class LockTable:
    """Locks and transactions at one moment. Times are in milliseconds since 1970.

    Attributes:
        last_lock: the largest id of a lock so far.
        last_transaction: the largest id of a transaction so far.
        locks: by id, rising.
        transactions: the open ones by id, rising.
        aborted: the aborted transactions.
    """

    last_lock: int = 0
    last_transaction: int = 0
    locks: Mapping[int, Lock] = field(default_factory=dict)
    transactions: Mapping[int, HiveTransaction] = field(default_factory=dict)
    aborted: AbortedTransactions = field(default_factory=AbortedTransactions)

    def lock(self, number: int) -> Lock:
        """A lock; NoSuchLock if there is none of that id."""
        lock = self.locks.get(number)
        if lock is None:
            raise NoSuchLock(
                "the lock does not exist", lock=number, hint="The lock was released or has expired. Request a new lock"
            )
        return lock

    def transaction(self, number: int) -> HiveTransaction:
        """An open transaction.

        Raises:
            TxnAborted: it was aborted.
            NoSuchTxn: it was committed, or never opened.
        """
        found = self.transactions.get(number)
        if found is not None:
            return found
        if number in self.aborted:
            raise TxnAborted("the transaction was aborted", transaction=number, hint="Open another transaction")
        raise NoSuchTxn(
            "the transaction does not exist",
            transaction=number,
            hint="The transaction was committed or was never opened",
        )

    def was_committed(self, number: int) -> bool:
        """Whether a transaction was committed: it was opened, is not open, and was not aborted, as far as is known."""
        was_opened = self.aborted.forgotten < number <= self.last_transaction
        return was_opened and number not in self.transactions and number not in self.aborted

    def blocker(self, lock: Lock) -> int | None:
        """The first lock that a lock waits for; None where it may be held. O(components of it and those before)."""
        wanted = ComponentsByName(lock.components)
        before = takewhile(lambda other: other.id < lock.id, self.locks.values())
        others = (other for other in before if not (lock.transaction and lock.transaction == other.transaction))
        return next((other.id for other in others if any(map(wanted.conflict_with, other.components))), None)

    def with_lock(self, lock: Lock) -> LockTable:
        """With a lock put or replaced."""
        return replace(self, last_lock=max(self.last_lock, lock.id), locks={**self.locks, lock.id: lock})

    def without_lock(self, number: int) -> LockTable:
        """Without a lock."""
        return replace(self, locks={key: lock for key, lock in self.locks.items() if key != number})

    def with_transactions(self, transactions: Iterable[HiveTransaction]) -> LockTable:
        """With some transactions opened or replaced."""
        put = {one.id: one for one in transactions}
        last = max(self.last_transaction, *put, 0)
        return replace(self, last_transaction=last, transactions={**self.transactions, **put})

    def heard_of(self, transactions: Iterable[HiveTransaction], now: int) -> LockTable:
        """With a heartbeat of some open transactions."""
        return self.with_transactions(
            replace(one, heartbeat=now, heartbeats=one.heartbeats + 1) for one in transactions
        )

    def writing(self, transactions: Iterable[HiveTransaction], table_id: str | None, now: int) -> LockTable:
        """With open transactions that are going to write: see `HiveTransactions.allocate_write_ids`."""
        if table_id is None:
            return self.heard_of((replace(transaction, writes=True) for transaction in transactions), now)
        return self.heard_of(
            (
                replace(transaction, tables=tuple(sorted({*transaction.tables, table_id})))
                for transaction in transactions
            ),
            now,
        )

    def without_transactions(self, numbers: Iterable[int], *, aborted: bool) -> LockTable:
        """Without some open transactions and their locks; they are remembered where they were aborted."""
        ended = set(numbers)
        gone = [self.transactions[number] for number in sorted(ended)]
        return replace(
            self,
            locks={key: lock for key, lock in self.locks.items() if lock.transaction not in ended},
            transactions={key: one for key, one in self.transactions.items() if key not in ended},
            aborted=self.aborted.with_aborted(gone) if aborted else self.aborted,
        )

    def expired(self, before: int) -> LockTable:
        """Without the locks and transactions that were last heard of before a moment; this one if there are none."""
        late = [one.id for one in self.transactions.values() if one.heartbeat < before]
        found = self.without_transactions(late, aborted=True) if late else self
        kept = {key: lock for key, lock in found.locks.items() if lock.transaction or lock.heartbeat >= before}
        return found if len(kept) == len(found.locks) else replace(found, locks=kept)

    def encode(self) -> bytes:
        """The lock table as JSON."""
        return json.dumps(
            [
                self.last_lock,
                self.last_transaction,
                [_lock_fields(lock) for lock in self.locks.values()],
                [_TRANSACTION_FIELDS(transaction) for transaction in self.transactions.values()],
                *self.aborted.encode(),
            ],
            separators=(",", ":"),
        ).encode()

    @staticmethod
    def decode(data: bytes) -> LockTable:
        """The lock table of these bytes; an empty one of none.

        Raises:
            CorruptRow: they are no lock table.
        """
        if not data:
            return LockTable()
        try:
            last_lock, last_transaction, locks, transactions, *aborted = json.loads(data)
            return LockTable(
                last_lock,
                last_transaction,
                {fields[0]: _lock(*fields) for fields in locks},
                {fields[0]: _transaction(*fields) for fields in transactions},
                AbortedTransactions.decode(*aborted),
            )
        except (ValueError, TypeError, IndexError, AttributeError, InvalidInput) as error:
            raise CorruptRow("the lock table cannot be decoded", lock_table=data[:80], hint=RESTORE) from error


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


def check_lock_table(key: bytes, state: bytes) -> None:
    """See that a row is that of the lock table.

    Raises:
        CorruptRow: its key or its state is not.
    """
    if key != KEY:
        raise CorruptRow("the row key is not the key of the lock table", key=key.hex(), hint=RESTORE)
    LockTable.decode(state)


_LOCK_FIELDS: Final = attrgetter("user", "host", "agent", "transaction", "heartbeat", "heartbeats", "acquired")
_COMPONENT_FIELDS: Final = attrgetter("type", "level", "database", "table", "partition")
_TRANSACTION_FIELDS: Final = attrgetter(
    "id", "user", "host", "agent", "started", "heartbeat", "heartbeats", "tables", "writes"
)
"""Fields in the order of the JSON."""


def _lock_fields(lock: Lock) -> list[object]:
    return [lock.id, [_COMPONENT_FIELDS(component) for component in lock.components], *_LOCK_FIELDS(lock)]


def _lock(number: int, components: list[list[object]], *fields: object) -> Lock:
    return Lock(number, tuple(LockComponent(*one) for one in components), *fields)  # type: ignore[arg-type]


def _transaction(*fields: Any) -> HiveTransaction:
    if len(fields) == _TRANSACTION_OF_OLD:
        return HiveTransaction(*fields, writes=True)
    *_, tables, writes = fields
    return replace(HiveTransaction(*fields[:_TRANSACTION_OF_OLD]), tables=tuple(tables), writes=bool(writes))
