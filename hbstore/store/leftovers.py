"""Rows of no table: what is left where one part of a store was restored without the other, or HBase forgot a delete.

The next table of the name would take such rows for its own. So a table is created, and renamed, only where none are.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Final, NamedTuple

from hbstore.errors import CorruptRow, LeftoverRows
from hbstore.keys.row_key import successor, table_prefix
from hbstore.store.companion_keys import COMPANION, companions_of
from hbstore.store.table_row import DEFINITION, TABLE_ID, TABLE_KEYS, names_of, prefix_of, table_key
from hbstore.transactions.log import LOG, Log
from hbstore.transactions.transaction import RowView, Transaction
from hbstore.transactions.transactions import Transactions

_BEYOND: Final = 1 << 40
"""By how much the numbers of a name's changes rise: those that rows of no table were written with are lower."""
_LAST: Final = (1 << 62) - 1
"""The number with which companions of no table are removed; no other is ever written under their keys."""
_TRIES: Final = 3
_PARTITIONS: Final = successor(COMPANION)
_END: Final = b"\xff"
_BATCH: Final = 5_000
REMOVE: Final = "`hbstore repair` without a table removes them"


def vacate(view: RowView) -> None:
    """See that nothing is left of a table that had this name before. One seek.

    Raises:
        LeftoverRows: something is.
    """
    prefix = prefix_of(view.key)
    if view.has_partition_rows(prefix, successor(prefix)):
        raise LeftoverRows(
            "rows of no table are left under the name of the table",
            table=".".join(names_of(view.key)),
            hint=f"Nothing was changed; {REMOVE}",
        )


def remove_leftovers(transactions: Transactions, key: bytes) -> bool:
    """Remove the partition rows under the name of a table that is not there; whether there were any. O(rows).

    Args:
        transactions: on the rows.
        key: the row of the table.
    """
    prefix = prefix_of(key)

    def remove(transaction: Transaction) -> bool:
        view = transaction.row(key)
        if DEFINITION in view.cells or not view.has_partition_rows(prefix, successor(prefix)):
            return False
        view.skip(_BEYOND)
        view.clear(prefix)
        return True

    removed = 0
    while removed < _TRIES and transactions.run(remove):  # again where rows have greater numbers
        removed += 1
    return bool(removed)


class Leftover(NamedTuple):
    """Rows that belong to no table.

    Attributes:
        start: the first of their keys, or what all of them begin with.
        stop: the end of their keys.
        row: the row that their table would have; None for companions, and for a key that no table can have.
    """

    start: bytes
    stop: bytes
    row: bytes | None


def leftovers(transactions: Transactions) -> Iterator[Leftover]:
    """What is left of no table. O(tables): the rows of a table are one seek."""
    for prefix in _companions_left(transactions):
        yield Leftover(prefix, successor(prefix), None)
    rows, start = transactions.rows, _PARTITIONS
    while (key := rows.first_key(start, _END)) is not None:
        owner = _owner(key)
        start = owner.stop
        is_owned = owner.row is not None and _is_there(transactions, owner.row)
        if not is_owned and rows.first_key(owner.start, owner.stop) is not None:  # it may be gone by now
            yield owner


def remove_rows_of_no_table(transactions: Transactions) -> int:
    """Remove the rows that belong to no table; under how many names and table ids there were any."""
    removed = 0
    for start, stop, row in list(leftovers(transactions)):
        if row is not None:
            removed += remove_leftovers(transactions, row)
            continue
        while keys := _keys(transactions, start, stop, _BATCH):
            transactions.rows.write((), keys, _LAST)
        removed += 1
    return removed


def _is_there(transactions: Transactions, row: bytes) -> bool:
    """Whether a table is there, or is being dropped or renamed, or cannot be told from its row."""
    try:
        log, cells = transactions.read(row)
    except CorruptRow:
        return True
    return DEFINITION in cells or bool(log.commits)


def _owner(key: bytes) -> Leftover:
    """The rows of the table that a partition's key belongs to."""
    alone = Leftover(key, key + b"\0", None)
    parts = key.split(b"\0", 2)
    if len(parts) < 3:  # noqa: PLR2004
        return alone
    try:
        names = [part.decode() for part in parts[:2]]
    except UnicodeDecodeError:
        return alone
    prefix = table_prefix(*names)
    return Leftover(prefix, successor(prefix), table_key(*names))


def _companions_left(transactions: Transactions) -> Iterator[bytes]:
    """What companions' keys begin with that no table has. Tables may come and go meanwhile."""
    owned, unknown, start = _companions(transactions), [], COMPANION
    while keys := _keys(transactions, start, _PARTITIONS, 1):
        prefix = keys[0][: len(COMPANION) + TABLE_ID]
        start = successor(prefix)
        if prefix not in owned:
            unknown.append(prefix)
    if unknown:
        # Where a scan is no snapshot, a table that is renamed meanwhile may be missed under both of its names.
        seen = None
        while seen != (owned := _companions(transactions)):
            seen = owned
        yield from (prefix for prefix in unknown if prefix not in owned)


def _companions(transactions: Transactions) -> set[bytes]:
    """What the keys of companions begin with that tables have, or had until a change that is being written."""
    owned = set()
    for _, cells in transactions.rows.scan_catalog(*TABLE_KEYS):
        definitions = [cells.get(DEFINITION)]
        with suppress(CorruptRow):
            log = Log.decode(cells.get(LOG))
            definitions.append(log.overlaid(cells).get(DEFINITION))
            owned |= {first[: len(COMPANION) + TABLE_ID] for commit in log.commits for first, _ in commit.spans}
        owned |= {companions_of(definition) for definition in definitions if definition}
    return owned


def _keys(transactions: Transactions, start: bytes, stop: bytes, limit: int) -> list[bytes]:
    """The first keys of a range, of companions as well, which have no cells that `Rows.first_key` could look at."""
    return [key for batch in transactions.rows.scan(start, stop, limit=limit) for key, _ in batch]
