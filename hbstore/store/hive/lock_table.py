"""The lock table: all locks and open transactions of a store, as one value that is changed as a whole.

It is the state of the catalog row ``L``, so every change of it is atomic on every backend, and any server can make it.
What follows from that:

* A lock is given when no earlier one (by id) is in its way, held or waiting. Earlier ones only go away, so a lock that
  is given stays given, nobody is overtaken by those he is in the way of, and two locks that conflict are never held at
  once.
* A server that finds that a lock or a transaction has had no heartbeat for too long removes it in the same change by
  which another takes its place. Its holder, if it is still alive, finds it gone, however the clocks of two servers
  differ.

The rules of conflict are Hive's: a shared read goes with shared reads and writes, a shared write with shared reads, an
exclusive write of Hive 4 with shared reads, an exclusive lock with nothing; locks meet where they name the same
database, table and partition, as far as both name them. A shared read of a database, which is what naming one takes,
does not meet exclusive locks of its tables and partitions. Locks of one transaction never conflict.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, field, replace
from itertools import takewhile
from typing import Final, TypeVar

from hbstore.errors import CorruptRow, InvalidInput, NoSuchLock, NoSuchTxn, TxnAborted
from hbstore.model.service_objects import HiveTransaction, Lock, LockComponent, LockLevel, LockType
from hbstore.rows.damage import RESTORE
from hbstore.transactions.transactions import Transactions

T = TypeVar("T")
KEY: Final = b"L"
TIMEOUT: Final = 300.0
"""Seconds without a heartbeat after which a lock is gone and a transaction aborted, as in Hive (hive.txn.timeout)."""


@dataclass(frozen=True, slots=True)
class LockTable:
    """Locks and transactions at one moment. Times are in milliseconds since 1970.

    Attributes:
        last_lock: the largest id of a lock so far.
        last_transaction: the largest id of a transaction so far.
        locks: by id, rising.
        transactions: the open ones by id, rising.
        aborted: first and last ids of runs of aborted transactions, rising. They are kept for good: readers of files
            that transactions wrote must pass over those of the aborted.
    """

    last_lock: int = 0
    last_transaction: int = 0
    locks: Mapping[int, Lock] = field(default_factory=dict)
    transactions: Mapping[int, HiveTransaction] = field(default_factory=dict)
    aborted: tuple[tuple[int, int], ...] = ()

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
        if self.has_aborted(number):
            raise TxnAborted("the transaction was aborted", transaction=number, hint="Open another transaction")
        raise NoSuchTxn(
            "the transaction does not exist",
            transaction=number,
            hint="The transaction was committed or was never opened",
        )

    def has_aborted(self, number: int) -> bool:
        """Whether a transaction was aborted."""
        return any(first <= number <= last for first, last in self.aborted)

    def was_committed(self, number: int) -> bool:
        """Whether a transaction was committed: it was opened, is not open, and was not aborted."""
        return 0 < number <= self.last_transaction and number not in self.transactions and not self.has_aborted(number)

    def aborted_ids(self) -> tuple[int, ...]:
        """The ids of all aborted transactions, rising."""
        return tuple(_members(self.aborted))

    def blocker(self, lock: Lock) -> int | None:
        """The first lock that a lock waits for; None where it may be held. O(locks before it)."""
        before = takewhile(lambda other: other.id < lock.id, self.locks.values())
        return next((other.id for other in before if _conflict(lock, other)), None)

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

    def without_transactions(self, numbers: Iterable[int], *, aborted: bool) -> LockTable:
        """Without some open transactions and their locks; they are remembered where they were aborted."""
        ended = set(numbers)
        return replace(
            self,
            locks={key: lock for key, lock in self.locks.items() if lock.transaction not in ended},
            transactions={key: one for key, one in self.transactions.items() if key not in ended},
            aborted=_runs([*_members(self.aborted), *ended]) if aborted else self.aborted,
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
                [astuple(one) for one in self.transactions.values()],
                self.aborted,
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
            last_lock, last_transaction, locks, transactions, aborted = json.loads(data)
            return LockTable(
                last_lock,
                last_transaction,
                {fields[0]: _lock(*fields) for fields in locks},
                {fields[0]: HiveTransaction(*fields) for fields in transactions},
                tuple((first, last) for first, last in aborted),
            )
        except (ValueError, TypeError, IndexError, InvalidInput) as error:
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


def _lock_fields(lock: Lock) -> list[object]:
    components = [astuple(one) for one in lock.components]
    who = [lock.user, lock.host, lock.agent, lock.transaction]
    return [lock.id, components, *who, lock.heartbeat, lock.heartbeats, lock.acquired]


def _lock(number: int, components: list[list[object]], *fields: object) -> Lock:
    return Lock(number, tuple(LockComponent(*one) for one in components), *fields)  # type: ignore[arg-type]


def _conflict(lock: Lock, other: Lock) -> bool:
    if lock.transaction and lock.transaction == other.transaction:
        return False
    return any(_in_the_way(one, two) for one in lock.components for two in other.components)


def _in_the_way(left: LockComponent, right: LockComponent) -> bool:
    """Whether two components of different locks conflict."""
    if left.database != right.database:
        return False
    if None not in (left.table, right.table) and left.table != right.table:
        return False
    if None not in (left.partition, right.partition) and left.partition != right.partition:
        return False
    if LockType.EXCLUSIVE in (left.type, right.type):
        exclusive, other = (left, right) if left.type == LockType.EXCLUSIVE else (right, left)
        names_database = other.type == LockType.SHARED_READ and other.level == LockLevel.DB
        return not (names_database and exclusive.level != LockLevel.DB)
    return LockType.SHARED_READ not in (left.type, right.type)


def _members(runs: Iterable[tuple[int, int]]) -> Iterator[int]:
    for first, last in runs:
        yield from range(first, last + 1)


def _runs(numbers: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Numbers as runs without gaps."""
    runs: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if runs and runs[-1][1] + 1 == number:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return tuple(runs)
