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
from hbstore.store.purge import LAST, PURGE, PURGED, forget_purged, note_rows, noted_in, purge
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


class _Accounted(NamedTuple):
    """What keys begin with whose rows are accounted for.

    Attributes:
        owned: those of tables, of changes that are being written, and of rows that are noted to go.
        passed: those of partitions among them, which are not looked at.
        purged: what was removed; only HBase's markers are there.
    """

    owned: set[bytes]
    passed: set[bytes]
    purged: set[bytes]


def leftovers(transactions: Transactions) -> Iterator[Leftover]:
    """What is left of no table; nothing while a table's row is damaged, as that alone tells which rows it has.

    O(tables): a seek between each two tables. It meets no partitions of tables, nor delete markers among them, and none
    of what was purged.
    """
    accounted, unknown = _accounted(transactions), []
    if accounted is None:
        return
    for start, stop in _gaps(COMPANION, _PARTITIONS, accounted.purged):
        while keys := _keys(transactions, start, stop, 1):
            prefix = keys[0][: len(COMPANION) + TABLE_ID]
            start = successor(prefix)  # noqa: PLW2901
            unknown.append(Leftover(prefix, start, None))
    for start, stop in _gaps(_PARTITIONS, _END, accounted.passed | accounted.purged):
        while start < stop and (key := transactions.rows.first_key(start, stop)) is not None:
            unknown.append(_around(key))
            start = unknown[-1].stop  # noqa: PLW2901
    seen: set[bytes] = set()
    while (
        accounted is not None and seen != accounted.owned
    ):  # a scan that is no snapshot may miss a table that is renamed
        unknown = [leftover for leftover in unknown if leftover.start not in accounted.owned]
        seen = accounted.owned
        if unknown:
            accounted = _accounted(transactions)
    for leftover in unknown if accounted is not None else ():
        start, stop, _ = leftover
        if _keys(transactions, start, stop, 1):  # it may be gone by now
            yield leftover


def _gaps(start: bytes, stop: bytes, prefixes: set[bytes]) -> Iterator[tuple[bytes, bytes]]:
    r"""The ranges between two keys in which no key begins with one of some prefixes, none of which begins with another.

    >>> list(_gaps(b"a", b"z", {b"c", b"d", b"k"}))
    [(b'a', b'c'), (b'e', b'k'), (b'l', b'z')]
    """
    for prefix in sorted(prefix for prefix in prefixes if start <= prefix < stop):
        if start < prefix:
            yield start, prefix
        start = successor(prefix)
    yield start, stop


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
    removed += purge(transactions)
    forget_purged(transactions)  # so that the next look, after the compaction that is asked for now, goes everywhere
    return removed


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


def _accounted(transactions: Transactions) -> _Accounted | None:
    """What tables have, or had until a change that is being written, and what is noted; None where a row is damaged."""
    accounted = _Accounted(set(), set(), set())
    for row, cells in transactions.rows.scan_catalog(*TABLE_KEYS):
        try:
            log = Log.decode(cells.get(LOG))
            accounted.owned.update(
                first[: len(COMPANION) + TABLE_ID] for commit in log.commits for first, _ in commit.spans
            )
            for state in (cells, log.overlaid(cells)):
                accounted.purged.update(noted_in(state.get(PURGED)))
                going = noted_in(state.get(PURGE))
                accounted.owned.update(going)
                accounted.passed.update(prefix for prefix in going if not prefix.startswith(COMPANION))
                definition = state.get(DEFINITION)
                if definition:
                    definition_of(definition)
                    prefix = prefix_of(row, definition)
                    accounted.passed.add(prefix)
                    accounted.owned.update((companions_of(definition), prefix))
        except CorruptRow:
            return None
    return accounted


def _keys(transactions: Transactions, start: bytes, stop: bytes, limit: int) -> list[bytes]:
    """The first keys of a range, of companions as well, which have no cells that `Rows.first_key` could look at."""
    return [key for batch in transactions.rows.scan(start, stop, limit=limit) for key, _ in batch]
