"""Locks on databases, tables and partitions, as Hive's clients ask for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hbstore.errors import InvalidInput, TxnOpen
from hbstore.model.service_objects import Lock, LockComponent, LockState
from hbstore.store.hive.lock_table import LockTable, LockTableRow
from hbstore.texts.arguments import expect_flags, expect_many, expect_numbers, expect_texts

_RENEWALS = 10
"""A waiting client's checks renew its lock when so many parts of the timeout have passed, not each time they come."""


class Locks:
    """The locks of a store. They are advice: nothing else in the store asks for them.

    Args:
        lock_table: where they are kept.

    >>> from hbstore import connect
    >>> from hbstore.model.service_objects import LockLevel, LockType
    >>> locks = connect("memory://").hive.locks
    >>> everything = [LockComponent(LockType.EXCLUSIVE, LockLevel.TABLE, "shop", "sales")]
    >>> first, second = locks.lock(everything, "ann", "here"), locks.lock(everything, "bob", "there")
    >>> first.state.name, second.state.name, second.blocked_by
    ('ACQUIRED', 'WAITING', 1)
    >>> locks.release(first.id)
    >>> locks.check(second.id).state.name
    'ACQUIRED'
    """

    def __init__(self, lock_table: LockTableRow) -> None:
        self._lock_table = lock_table

    def __repr__(self) -> str:
        return f"<Locks of {self._lock_table.transactions.rows.url}>"

    def lock(
        self,
        components: Iterable[LockComponent],
        user: str | None = None,
        host: str | None = None,
        agent: str | None = None,
        transaction: int = 0,
        *,
        reads_only: bool = False,
    ) -> Lock:
        """Ask for a lock: it is given at once, or waits for its turn, for which `check` asks again.

        Args:
            components: what it is about: all of them, or none.
            user: whose it is.
            host: where that user is.
            agent: what the client says about itself.
            transaction: an open transaction that the lock ends with; 0 for none.
            reads_only: the transaction writes nothing of what is locked.

        Raises:
            InvalidInput: no components.
            NoSuchTxn, TxnAborted: the transaction is not open.
            CommitStateUnknown: the store went away; a lock that is left behind expires.

        >>> from hbstore.model.service_objects import LockLevel, LockType
        >>> sales_table = LockComponent(LockType.EXCLUSIVE, LockLevel.TABLE, "shop", "sales")
        >>> store.hive.locks.lock([sales_table], user="ann", host="here").state.name
        'ACQUIRED'
        """
        requested_components = tuple(
            expect_many("components", components, LockComponent, hint="Give a list of LockComponents")
        )
        expect_texts(or_none=True, user=user, host=host, agent=agent)
        expect_numbers(transaction=transaction)
        expect_flags(reads_only=reads_only)
        if not requested_components:
            raise InvalidInput("the lock request has no components", hint="Give at least one component")

        def step(lock_table: LockTable, now: int) -> tuple[LockTable, Lock]:
            if transaction:
                opened = [lock_table.transaction(transaction)]
                lock_table = lock_table.heard_of(opened, now) if reads_only else lock_table.writing(opened, None, now)
            lock = Lock(lock_table.last_lock + 1, requested_components, user, host, agent, transaction, heartbeat=now)
            return _given_if_free(lock_table, lock, now)

        return self._lock_table.change(step)

    def check(self, number: int) -> Lock:
        """See whether a lock has been given, and give it if it is its turn. This counts as a heartbeat.

        Raises:
            NoSuchLock: it was released, it expired, or its transaction has ended.

        >>> from hbstore.model.service_objects import LockLevel, LockType
        >>> sales_table = LockComponent(LockType.EXCLUSIVE, LockLevel.TABLE, "shop", "sales")
        >>> first, second = store.hive.locks.lock([sales_table]), store.hive.locks.lock([sales_table])
        >>> store.hive.locks.check(second.id).state.name, store.hive.locks.check(second.id).blocked_by == first.id
        ('WAITING', True)
        """
        expect_numbers(number=number)

        def step(lock_table: LockTable, now: int) -> tuple[LockTable, Lock]:
            lock = lock_table.lock(number)
            if now - self._last_heard(lock_table, lock) > self._lock_table.timeout * 1000 / _RENEWALS:
                lock_table, lock = _renewed(lock_table, lock, now)
            return (lock_table, lock) if lock.acquired is not None else _given_if_free(lock_table, lock, now)

        return self._lock_table.change(step)

    def heartbeat(self, number: int) -> None:
        """Say that a lock's holder is alive.

        Raises:
            NoSuchLock: it was released, it expired, or its transaction has ended.

        >>> from hbstore.model.service_objects import LockLevel, LockType
        >>> lock = store.hive.locks.lock([LockComponent(LockType.SHARED_READ, LockLevel.DB, "shop")])
        >>> store.hive.locks.heartbeat(lock.id)
        """
        expect_numbers(number=number)

        def step(lock_table: LockTable, now: int) -> tuple[LockTable, None]:
            return _renewed(lock_table, lock_table.lock(number), now)[0], None

        self._lock_table.change(step)

    def release(self, number: int) -> None:
        """Give a lock back, or stop waiting for it.

        Raises:
            NoSuchLock: it was released, it expired, or its transaction has ended.
            TxnOpen: a transaction holds it.

        >>> from hbstore.model.service_objects import LockLevel, LockType
        >>> lock = store.hive.locks.lock([LockComponent(LockType.SHARED_READ, LockLevel.DB, "shop")])
        >>> store.hive.locks.release(lock.id)
        >>> store.hive.locks.show()
        []
        """
        expect_numbers(number=number)

        def step(lock_table: LockTable, _: int) -> tuple[LockTable, None]:
            lock = lock_table.lock(number)
            if lock.transaction and lock.state is LockState.ACQUIRED:
                raise TxnOpen(
                    "the lock belongs to an open transaction",
                    lock=number,
                    transaction=lock.transaction,
                    hint="Commit or abort the transaction",
                )
            return lock_table.without_lock(number), None

        self._lock_table.change(step)

    def show(self, database: str | None = None, table: str | None = None, partition: str | None = None) -> list[Lock]:
        """Locks in order of their ids, each with what it waits for; None stands for any name.

        >>> from hbstore.model.service_objects import LockLevel, LockType
        >>> lock = store.hive.locks.lock([LockComponent(LockType.SHARED_READ, LockLevel.DB, "shop")], user="ann")
        >>> [lock.user for lock in store.hive.locks.show("shop")]
        ['ann']
        """
        expect_texts(or_none=True, database=database, table=table, partition=partition)
        lock_table = self._lock_table.read()
        return [
            replace(lock, blocked_by=None if lock.acquired is not None else lock_table.blocker(lock))
            for lock in lock_table.locks.values()
            if any(component.is_of(database, table, partition) for component in lock.components)
        ]

    @staticmethod
    def _last_heard(lock_table: LockTable, lock: Lock) -> int:
        return lock_table.transaction(lock.transaction).heartbeat if lock.transaction else lock.heartbeat


def _given_if_free(lock_table: LockTable, lock: Lock, now: int) -> tuple[LockTable, Lock]:
    """With a lock, held where nothing earlier is in its way."""
    blocker = lock_table.blocker(lock)
    if blocker is not None:
        known = lock.id in lock_table.locks
        return lock_table if known else lock_table.with_lock(lock), replace(lock, blocked_by=blocker)
    lock = replace(lock, acquired=now)
    return lock_table.with_lock(lock), lock


def _renewed(lock_table: LockTable, lock: Lock, now: int) -> tuple[LockTable, Lock]:
    if lock.transaction:
        lock_table = lock_table.heard_of([lock_table.transaction(lock.transaction)], now)
    lock = replace(lock, heartbeat=now, heartbeats=lock.heartbeats + 1)
    return lock_table.with_lock(lock), lock
