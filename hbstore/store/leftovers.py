"""Rows of no table: what is left where one part of a store was restored without the other, or HBase forgot a delete.

No table takes them for its own: its keys begin as no other's did.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Final, NamedTuple

from hbstore.errors import CorruptRow
from hbstore.keys.row_key import names_in, prefix_in, successor
from hbstore.store.companion_keys import COMPANION, companions_of
from hbstore.store.purge import LAST, PURGE, note_rows, noted_in, purge
from hbstore.store.table_row import DEFINITION, TABLE_ID, TABLE_KEYS, definition_of, prefix_of, table_key
from hbstore.transactions.log import LOG, Log
from hbstore.transactions.transaction import Transaction
from hbstore.transactions.transactions import Transactions

_PARTITIONS: Final = successor(COMPANION)
_END: Final = b"\xff"
_BATCH: Final = 5_000
REMOVE: Final = "`hbstore repair` without a table removes them"


class Leftover(NamedTuple):
    """Rows that belong to no table.

    Attributes:
        start: the first of their keys, or what all of them begin with.
        stop: the end of their keys.
        row: the row of the name that their table had; None for companions, and for a key that no table can have.
    """

    start: bytes
    stop: bytes
    row: bytes | None


def leftovers(transactions: Transactions) -> Iterator[Leftover]:
    """What is left of no table; nothing while a table's row is damaged, as that alone tells which rows it has.

    O(tables): the rows of a table are one seek.
    """
    owned, rows, unknown = _owned(transactions), transactions.rows, []
    start = COMPANION
    while keys := _keys(transactions, start, _PARTITIONS, 1):
        prefix = keys[0][: len(COMPANION) + TABLE_ID]
        start = successor(prefix)
        unknown.append(Leftover(prefix, start, None))
    start = _PARTITIONS
    while (key := rows.first_key(start, _END)) is not None:
        unknown.append(_around(key))
        start = unknown[-1].stop
    seen: set[bytes] | None = None
    while owned is not None and seen != owned:  # a scan that is no snapshot may miss a table that is renamed meanwhile
        unknown = [leftover for leftover in unknown if leftover.start not in owned]
        seen, owned = owned, _owned(transactions) if unknown else owned
    for leftover in unknown if owned is not None else ():
        start, stop, _ = leftover
        if _keys(transactions, start, stop, 1):  # it may be gone by now
            yield leftover


def remove_rows_of_no_table(transactions: Transactions) -> int:
    """Remove the rows that belong to no table; under how many names and table ids there were any."""
    before = {}
    for key, cells in transactions.rows.scan_catalog(*TABLE_KEYS, (LOG,)):
        with suppress(CorruptRow):
            before[key] = Log.decode(cells.get(LOG)).sequence
    removed = purge(transactions)
    for start, stop, row in list(leftovers(transactions)):
        if row is not None:
            _note(transactions, row, start, before.get(row, 0))
            continue
        while keys := _keys(transactions, start, stop, _BATCH):
            transactions.rows.write((), keys, LAST)
        removed += 1
    return removed + purge(transactions)


def _note(transactions: Transactions, row: bytes, prefix: bytes, sequence: int) -> None:
    """Note rows to be removed, unless a table came to the name meanwhile that may have them."""

    def note(transaction: Transaction) -> None:
        view = transaction.row(row)
        if view.log.sequence == sequence:
            note_rows(view, [prefix])

    transactions.run(note)


def _around(key: bytes) -> Leftover:
    """The rows of the table that a partition's key belongs to."""
    prefix = prefix_in(key)
    with suppress(UnicodeDecodeError):
        if prefix is not None:
            return Leftover(prefix, successor(prefix), table_key(*names_in(prefix)))
    return Leftover(key, key + b"\0", None)


def _owned(transactions: Transactions) -> set[bytes] | None:
    """What keys begin with that tables have, or had until a change that is being written, or that is noted to go.

    None where a table's row is damaged.
    """
    owned = set()
    for row, cells in transactions.rows.scan_catalog(*TABLE_KEYS):
        try:
            log = Log.decode(cells.get(LOG))
            owned |= {first[: len(COMPANION) + TABLE_ID] for commit in log.commits for first, _ in commit.spans}
            for state in (cells, log.overlaid(cells)):
                owned.update(noted_in(state.get(PURGE)))
                definition = state.get(DEFINITION)
                if definition:
                    definition_of(definition)
                    owned |= {companions_of(definition), prefix_of(row, definition)}
        except CorruptRow:
            return None
    return owned


def _keys(transactions: Transactions, start: bytes, stop: bytes, limit: int) -> list[bytes]:
    """The first keys of a range, of companions as well, which have no cells that `Rows.first_key` could look at."""
    return [key for batch in transactions.rows.scan(start, stop, limit=limit) for key, _ in batch]
