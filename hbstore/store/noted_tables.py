"""Noting the changes of tables while they are copied (`hbstore.transactions.noted_changes`): beginning and ending it.

A copy begins to note the changes of a table that it has met a change of. It ends that when it is done. What a copy that
died wants is noted for some 100,000 changes, unless another copy or `hbstore repair` without a table ends it before.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from hbstore.store.companion_keys import companions_of
from hbstore.store.table_row import DEFINITION, TABLE_KEYS
from hbstore.transactions.noted_changes import NOTES, NOTING, Noting
from hbstore.transactions.transaction import Transaction
from hbstore.transactions.transactions import Transactions

_AT_ONCE: Final = 5_000


def notes_of(definition: bytes) -> bytes:
    """What the keys of all notes of a table begin with, by its ``d:def`` cell."""
    return companions_of(definition) + NOTES


def begin_noting(transactions: Transactions, key: bytes) -> None:
    """Have all further changes of a table's row noted. One transaction."""

    def begin(transaction: Transaction) -> None:
        view = transaction.row(key)
        definition = view.cells.get(DEFINITION)
        if definition:
            view.put_cell(NOTING, Noting(view.log.sequence + 1, notes_of(definition)).encode())

    transactions.run(begin)


def end_noting(transactions: Transactions) -> int:
    """Have changes noted no longer, and remove the notes; of how many tables. A scan of one cell, O(notes)."""
    ended = 0
    for key, _ in list(transactions.scan_cell(*TABLE_KEYS, NOTING)):
        noting, last = transactions.run(partial(_ended, key=key))
        if noting is None:
            continue
        for commit in transactions.read(key)[0].commits:
            transactions.roll_forward(key, commit)
        # Nobody writes these again but with earlier numbers, which these deletes hide: no transaction is needed.
        while notes := noting.note_keys(transactions.rows, last, _AT_ONCE):
            transactions.rows.write((), notes, last)
        ended += 1
    return ended


def _ended(transaction: Transaction, key: bytes) -> tuple[Noting | None, int]:
    """Say that changes are noted no longer; how they were, and the number of the last one that may be."""
    view = transaction.row(key)
    cell = view.cells.get(NOTING)
    view.put_cell(NOTING, b"")
    return Noting.decode(cell) if cell else None, view.log.sequence
