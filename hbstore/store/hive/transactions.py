"""Transactions: numbers that clients open, commit and abort. What they write is the clients' own business."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hbstore.arguments import expect_many, expect_numbers, expect_texts
from hbstore.errors import InvalidInput, TxnAborted
from hbstore.service_model import Transaction, TransactionList
from hbstore.store.hive.ledger import Ledger
from hbstore.store.hive.ledger_row import LedgerRow

MOST_AT_ONCE: Final = 1_000
"""Transactions opened by one call; Hive opens no more either (hive.txn.max.open.batch)."""

LONGEST_RANGE: Final = 100_000
"""Ids in a range of heartbeats."""


class HiveTransactions:
    """The transactions of a store.

    Args:
        ledger: where they are kept.

    >>> from hbstore import connect
    >>> transactions = connect("memory://").hive.transactions
    >>> transactions.open(2, "ann", "here")
    [1, 2]
    >>> transactions.commit(1)
    >>> transactions.abort(2)
    >>> transactions.list()
    TransactionList(high_water_mark=2, open=(), aborted=(2,))
    """

    def __init__(self, ledger: LedgerRow) -> None:
        self._ledger = ledger

    def __repr__(self) -> str:
        return f"<Transactions of {self._ledger.transactions.rows.url}>"

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

        def step(ledger: Ledger, now: int) -> tuple[Ledger, list[int]]:
            first = ledger.last_transaction + 1
            opened = list(range(first, first + min(count, MOST_AT_ONCE)))
            made = [Transaction(number, user, host, agent, now, now) for number in opened]
            return ledger.with_transactions(made), opened

        return self._ledger.change(step)

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

        def step(ledger: Ledger, _: int) -> tuple[Ledger, None]:
            if ledger.was_committed(number):
                return ledger, None
            ledger.transaction(number)
            return ledger.without_transactions([number], aborted=False), None

        self._ledger.change(step)

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

        def step(ledger: Ledger, _: int) -> tuple[Ledger, None]:
            try:
                ledger.transaction(number)
            except TxnAborted:
                return ledger, None
            return ledger.without_transactions([number], aborted=True), None

        self._ledger.change(step)

    def abort_all(self, numbers: Iterable[int]) -> None:
        """Abort those of some transactions that are open.

        >>> store.hive.transactions.abort_all(store.hive.transactions.open(2))
        >>> len(store.hive.transactions.list().aborted)
        2
        """
        wanted = set(expect_many("numbers", numbers, int, hint="Give a list of the transactions' numbers"))

        def step(ledger: Ledger, _: int) -> tuple[Ledger, None]:
            opened = wanted & ledger.transactions.keys()
            return ledger.without_transactions(opened, aborted=True) if opened else ledger, None

        self._ledger.change(step)

    def heartbeat(self, number: int) -> None:
        """Say that a transaction's client is alive.

        Raises:
            NoSuchTxn: there is none of that id, or it was committed.
            TxnAborted: it was aborted, perhaps because it was not heard of for too long.

        >>> (number,) = store.hive.transactions.open()
        >>> store.hive.transactions.heartbeat(number)
        """
        expect_numbers(number=number)

        def step(ledger: Ledger, now: int) -> tuple[Ledger, None]:
            return ledger.heard_of([ledger.transaction(number)], now), None

        self._ledger.change(step)

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

        def step(ledger: Ledger, now: int) -> tuple[Ledger, tuple[set[int], set[int]]]:
            opened = ids & ledger.transactions.keys()
            aborted = ids.intersection(ledger.aborted_ids())
            heard = ledger.heard_of([ledger.transactions[number] for number in opened], now) if opened else ledger
            return heard, (aborted, ids - opened - aborted)

        return self._ledger.change(step)

    def list(self) -> TransactionList:
        """All transactions that are open or were aborted.

        >>> store.hive.transactions.list()
        TransactionList(high_water_mark=0, open=(), aborted=())
        """
        ledger = self._ledger.read()
        return TransactionList(ledger.last_transaction, tuple(ledger.transactions.values()), ledger.aborted_ids())
