"""Transactions: numbers that clients open, commit and abort. What they write is the clients' own business."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hbstore.errors import InvalidInput, TxnAborted
from hbstore.model.service_objects import HiveTransaction, TransactionList
from hbstore.store.hive.lock_table import LockTable, LockTableRow
from hbstore.texts.arguments import expect_many, expect_numbers, expect_texts

MOST_AT_ONCE: Final = 1_000
"""Transactions opened by one call; Hive opens no more either (hive.txn.max.open.batch)."""

LONGEST_RANGE: Final = 100_000
"""Ids in a range of heartbeats."""


class HiveTransactions:
    """The transactions of a store.

    Args:
        lock_table: where they are kept.

    >>> from hbstore import connect
    >>> transactions = connect("memory://").hive.transactions
    >>> transactions.open(2, "ann", "here")
    [1, 2]
    >>> transactions.commit(1)
    >>> transactions.abort(2)
    >>> transactions.list()
    TransactionList(high_water_mark=2, open=(), aborted=(2,), aborted_in={})
    """

    def __init__(self, lock_table: LockTableRow) -> None:
        self._lock_table = lock_table

    def __repr__(self) -> str:
        return f"<Transactions of {self._lock_table.transactions.rows.url}>"

    def open(
        self, count: int = 1, user: str | None = None, host: str | None = None, agent: str | None = None
    ) -> list[int]:
        """Open some transactions, at most `MOST_AT_ONCE`; their ids, which follow each other.

        Raises:
            InvalidInput: fewer than one.
            CommitStateUnknown: the store went away; transactions that are left behind expire.

        >>> store.hive.transactions.open(2, user="ann", host="here")
        [1, 2]
        """
        expect_numbers(count=count)
        expect_texts(or_none=True, user=user, host=host, agent=agent)
        if count < 1:
            raise InvalidInput(
                "the number of transactions is less than one", count=count, hint="Open at least one transaction"
            )

        def step(lock_table: LockTable, now: int) -> tuple[LockTable, list[int]]:
            first = lock_table.last_transaction + 1
            opened = list(range(first, first + min(count, MOST_AT_ONCE)))
            made = [HiveTransaction(number, user, host, agent, now, now) for number in opened]
            return lock_table.with_transactions(made), opened

        return self._lock_table.change(step)

    def commit(self, number: int) -> None:
        """Commit a transaction and release its locks; one that was committed already stays so.

        Raises:
            NoSuchTxn: there never was one of that id.
            TxnAborted: it was aborted.

        >>> (number,) = store.hive.transactions.open()
        >>> store.hive.transactions.commit(number)
        >>> store.hive.transactions.commit(number)  # such as once more after an answer that was lost
        """
        expect_numbers(number=number)

        def step(lock_table: LockTable, _: int) -> tuple[LockTable, None]:
            if lock_table.was_committed(number):
                return lock_table, None
            lock_table.transaction(number)
            return lock_table.without_transactions([number], aborted=False), None

        self._lock_table.change(step)

    def abort(self, number: int) -> None:
        """Abort a transaction and release its locks; one that was aborted already stays so.

        Raises:
            NoSuchTxn: there is none of that id, or it was committed.

        >>> (number,) = store.hive.transactions.open()
        >>> store.hive.transactions.abort(number)
        >>> store.hive.transactions.list().aborted == (number,)
        True
        """
        expect_numbers(number=number)

        def step(lock_table: LockTable, _: int) -> tuple[LockTable, None]:
            try:
                lock_table.transaction(number)
            except TxnAborted:
                return lock_table, None
            return lock_table.without_transactions([number], aborted=True), None

        self._lock_table.change(step)

    def abort_all(self, numbers: Iterable[int]) -> None:
        """Abort those of some transactions that are open.

        >>> store.hive.transactions.abort_all(store.hive.transactions.open(2))
        >>> len(store.hive.transactions.list().aborted)
        2
        """
        wanted = set(expect_many("numbers", numbers, int, hint="Give a list of the transactions' numbers"))

        def step(lock_table: LockTable, _: int) -> tuple[LockTable, None]:
            opened = wanted & lock_table.transactions.keys()
            return lock_table.without_transactions(opened, aborted=True) if opened else lock_table, None

        self._lock_table.change(step)

    def heartbeat(self, number: int) -> None:
        """Say that a transaction's client is alive.

        Raises:
            NoSuchTxn: there is none of that id, or it was committed.
            TxnAborted: it was aborted, perhaps because it was not heard of for too long.

        >>> (number,) = store.hive.transactions.open()
        >>> store.hive.transactions.heartbeat(number)
        """
        expect_numbers(number=number)

        def step(lock_table: LockTable, now: int) -> tuple[LockTable, None]:
            return lock_table.heard_of([lock_table.transaction(number)], now), None

        self._lock_table.change(step)

    def allocate_write_ids(self, numbers: Iterable[int], table_id: str | None) -> None:
        """Note that open transactions are going to write into a table: one change of the store for all.

        Args:
            numbers: the transactions.
            table_id: the table's id, in hexadecimal; empty where it is not there yet, so that it may be any; None where
                the transaction only says that it writes: then it is any unless write ids were allocated.

        Raises:
            NoSuchTxn, TxnAborted: one is not open; nothing was changed.

        >>> (number,) = store.hive.transactions.open()
        >>> store.hive.transactions.allocate_write_ids([number], "4f1d")
        >>> store.hive.transactions.abort(number)
        >>> store.hive.transactions.list().aborted_in == {"4f1d": (number,)}
        True
        """
        wanted = expect_many("numbers", numbers, int, hint="Give a list of the transactions' numbers")
        expect_texts(or_none=True, table_id=table_id)

        def step(lock_table: LockTable, now: int) -> tuple[LockTable, None]:
            return lock_table.writing([lock_table.transaction(number) for number in wanted], table_id, now), None

        self._lock_table.change(step)

    def heartbeat_range(self, first: int, last: int) -> tuple[set[int], set[int]]:
        """Say that the clients of all transactions from the first to the last id are alive.

        Returns:
            Those of the ids that were aborted, and those of no transaction that is open or aborted.

        Raises:
            InvalidInput: the range holds more than `LONGEST_RANGE` ids.

        >>> first, last = store.hive.transactions.open(2)
        >>> store.hive.transactions.abort(last)
        >>> store.hive.transactions.heartbeat_range(first, last) == ({last}, set())
        True
        """
        expect_numbers(first=first, last=last)
        if last - first >= LONGEST_RANGE:
            raise InvalidInput(
                "the range holds too many transaction ids",
                first=first,
                last=last,
                limit=LONGEST_RANGE,
                hint="Ask for a smaller range",
            )
        ids = set(range(first, last + 1))

        def step(lock_table: LockTable, now: int) -> tuple[LockTable, tuple[set[int], set[int]]]:
            opened = ids & lock_table.transactions.keys()
            aborted = ids.intersection(lock_table.aborted.ids())
            heard = (
                lock_table.heard_of([lock_table.transactions[number] for number in opened], now)
                if opened
                else lock_table
            )
            return heard, (aborted, ids - opened - aborted)

        return self._lock_table.change(step)

    def list(self) -> TransactionList:
        """All transactions that are open or were aborted, at one moment. One read, O(them).

        >>> store.hive.transactions.list()
        TransactionList(high_water_mark=0, open=(), aborted=(), aborted_in={})
        """
        lock_table = self._lock_table.read()
        aborted = lock_table.aborted
        return TransactionList(
            lock_table.last_transaction,
            tuple(lock_table.transactions.values()),
            aborted.ids(),
            {table: aborted.of_table(table) for table in aborted.by_table},
        )
