"""Removing the partition rows of dropped tables, behind the drops: these are over when the table's name is free.

A table's keys never begin as those of another one, before it or after (`hbstore.keys.row_key`), so nobody reads such
rows, and nobody waits for them. Few of them go with the drop itself. For more, the drop notes in the row of the table's
name what their keys begin with. A thread of the process that dropped it removes them in batches; if it dies, servers,
`hbstore repair` and the next process that drops a large table go on.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final

from hbstore.errors import CorruptRow, HbstoreError
from hbstore.keys.row_key import successor
from hbstore.rows.damage import RESTORE
from hbstore.store.table_row import TABLE_KEYS
from hbstore.transactions.log import LOG, UNSETTLED, Log
from hbstore.transactions.transaction import RowView, Transaction
from hbstore.transactions.transactions import Transactions

PURGE: Final = "d:purge"
"""The cell of a table's name: what the keys of rows begin with that are to be removed."""
PURGED: Final = "d:purged"
"""Where deletes leave markers: what the keys of the many rows began with that were removed. Only markers are there, so
nobody looks there for rows of no table until `hbstore repair` has asked for a compaction, which forgets them."""
OF_NAME: Final = (PURGE, PURGED)
"""The cells that stay with a name when its table is dropped or renamed."""
FEW: Final = 100
"""Rows that go with the drop itself."""
LAST: Final = (1 << 62) - 1
"""The number with which rows of no table are removed: nothing is ever written under their keys again."""
_BATCH: Final = 5_000
_REMEMBERED: Final = 100
"""Purged tables of one name that are noted: markers of more slow the look for rows of no table, and nothing else."""
_CLOSING: Final = 10.0
"""Seconds for which a store that is closed goes on; what is left then is noted."""

_LOG: Final = logging.getLogger(__name__)


def remove_rows(view: RowView, prefixes: Iterable[bytes]) -> bool:
    """Remove all partition rows whose keys begin with something: with the change if they are few, else behind it.

    Returns:
        Whether some are left for `purge`.
    """
    many = []
    for prefix in prefixes:
        keys = view.partition_keys(prefix, successor(prefix), FEW + 1)
        if len(keys) > FEW:
            many.append(prefix)
        else:
            view.write((), keys)
    note_rows(view, many)
    return bool(many)


def note_rows(view: RowView, prefixes: Iterable[bytes]) -> None:
    """Note in the row of a name that rows are to be removed, beside those that are noted there."""
    noted = noted_in(view.cells.get(PURGE))
    more = [prefix for prefix in prefixes if prefix not in noted]
    if more:
        view.put_cell(PURGE, _encoded([*noted, *more]))


def noted_in(cell: bytes | None) -> list[bytes]:
    """What the keys of rows begin with that are to be removed.

    Raises:
        CorruptRow: the cell cannot be decoded.
    """
    try:
        return [bytes.fromhex(prefix) for prefix in json.loads(cell)] if cell else []
    except (ValueError, TypeError) as error:
        raise CorruptRow("the rows to be removed of a dropped table cannot be decoded", hint=RESTORE) from error


def noted(transactions: Transactions) -> Iterator[tuple[bytes, list[bytes]]]:
    """The rows of names where rows to be removed are noted, and these; damaged ones are passed over.

    One scan of the tables' rows.
    """
    holding = ((PURGE, b""), *((LOG, mark) for mark in UNSETTLED))
    for key, cells in transactions.rows.scan_catalog(*TABLE_KEYS, (PURGE, LOG), holding):
        with suppress(CorruptRow):
            prefixes = noted_in(Log.decode(cells.get(LOG)).overlaid(cells).get(PURGE))
            if prefixes:
                yield key, prefixes


def purge(transactions: Transactions, stop: threading.Event | None = None) -> int:
    """Remove all rows that are noted to be removed; of how many tables. O(rows).

    Args:
        transactions: on the rows.
        stop: ends it early when it is set.
    """
    purged = 0
    for key, prefixes in list(noted(transactions)):
        for prefix in prefixes:
            if not remove_all(transactions, prefix, stop):
                return purged
        _forget(transactions, key, prefixes)
        purged += 1
    return purged


def remove_all(transactions: Transactions, prefix: bytes, stop: threading.Event | None = None) -> bool:
    """Remove the rows that begin with something which no table has; False where it was stopped before the last."""
    keys: list[bytes] = []
    for batch in transactions.rows.scan(prefix, successor(prefix)):
        keys += [key for key, _ in batch]
        if len(keys) >= _BATCH:
            transactions.rows.write((), keys, LAST)
            keys = []
        if stop is not None and stop.is_set():
            return False
    if keys:
        transactions.rows.write((), keys, LAST)
    return True


def forget_purged(transactions: Transactions) -> None:
    """Have the next look for rows of no table go where rows were purged as well. One scan of the tables' rows."""
    for key, _ in list(transactions.scan_cell(*TABLE_KEYS, PURGED)):
        transactions.run(lambda transaction, key=key: transaction.row(key).put_cell(PURGED, b""))  # type: ignore[misc]


def _forget(transactions: Transactions, key: bytes, prefixes: list[bytes]) -> None:
    def forget(transaction: Transaction) -> None:
        view = transaction.row(key)
        left = [prefix for prefix in noted_in(view.cells.get(PURGE)) if prefix not in prefixes]
        view.put_cell(PURGE, _encoded(left))
        if not transactions.rows.atomic:
            gone = [*noted_in(view.cells.get(PURGED)), *prefixes]
            view.put_cell(PURGED, _encoded(gone[-_REMEMBERED:]))

    transactions.run(forget)


def _encoded(prefixes: list[bytes]) -> bytes:
    return json.dumps([prefix.hex() for prefix in prefixes]).encode() if prefixes else b""


class Purger:
    """Removes what is noted, in a thread that ends when nothing is.

    Args:
        transactions: on the rows.
    """

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._again = False

    def begin(self) -> None:
        """Have it look for what is noted; what another process noted is removed as well."""
        with self._lock:
            self._again = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="hbstore-purge", daemon=True)
                self._thread.start()

    def close(self, seconds: float = _CLOSING) -> None:
        """Wait for it, but not for long; what is left stays noted."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(seconds)
            self._stop.set()
            thread.join()

    def _run(self) -> None:
        try:
            while self._goes_on():
                try:
                    purge(self._transactions, self._stop)
                except HbstoreError as error:
                    _LOG.warning("rows of dropped tables stay for now; `hbstore repair` removes them: %s", error)
        except BaseException:
            with self._lock:
                self._thread = None  # so that the next drop of a large table starts another
            raise

    def _goes_on(self) -> bool:
        with self._lock:
            goes_on, self._again = self._again and not self._stop.is_set(), False
            if not goes_on:
                self._thread = None
        return goes_on
