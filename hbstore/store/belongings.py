"""The rows of what belongs to tables, databases or the whole store: whether each is sound, and what outlived its table.

These are functions, grants, the lock table, documents, records, the roles, and what streams have written. A table's
grants and its streams' records go in the step that drops it. `hbstore repair` removes what older versions left behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from hbstore.errors import CorruptRow
from hbstore.rows.interface import Rows
from hbstore.store.documents import DOCUMENT_KEYS, check_document
from hbstore.store.grants_row import GRANT_KEYS, check_grants, mark_of
from hbstore.store.hive.functions import FUNCTION_KEYS, check_function
from hbstore.store.hive.lock_table import check_lock_table
from hbstore.store.hive.roles import check_roles
from hbstore.store.records import RECORD_KEYS, check_record
from hbstore.store.stream_batches import check_stream_record, owner_of, record_keys
from hbstore.store.tables import Tables
from hbstore.transactions.log import LOG, Log

_STREAMS: Final = record_keys(b"")
_CHECKS: Final[dict[tuple[bytes, bytes], Callable[[bytes, bytes], None]]] = {
    FUNCTION_KEYS: check_function,
    GRANT_KEYS: check_grants,
    (b"L", b"M"): check_lock_table,
    DOCUMENT_KEYS: check_document,
    RECORD_KEYS: check_record,
    (b"R", b"S"): check_roles,
    _STREAMS: check_stream_record,
}
"""Ranges of keys, and what refuses a row of such a key and state that is not what it should be."""


def unsound(rows: Rows) -> Iterator[tuple[bytes, CorruptRow]]:
    """The keys of rows that are not what they should be, and why."""
    for keys, check in _CHECKS.items():
        for key, cells in rows.scan_catalog(*keys):
            try:
                state = Log.decode(cells.get(LOG)).state
                if state:
                    check(key, state)
            except CorruptRow as error:
                yield key, error


def outlived(tables: Tables) -> Iterator[tuple[bytes, bytes]]:
    """The keys of rows whose tables are gone, and the ids of these tables."""
    rows = tables.transactions.rows
    owners = {}
    for keys in (GRANT_KEYS, _STREAMS):
        for key, cells in rows.scan_catalog(*keys):
            try:
                owners[key] = _owner(key, Log.decode(cells.get(LOG)).state)
            except CorruptRow:
                continue
    there = tables.ids()  # read behind the rows: the table of a row that is still there is among them
    yield from ((key, owner) for key, owner in owners.items() if owner and owner not in there)


def remove_outlived(tables: Tables) -> int:
    """Remove the rows whose tables are gone; how many."""
    removed = list(outlived(tables))
    for key, owner in removed:
        _remove(tables, key, owner)
    return len(removed)


def _remove(tables: Tables, key: bytes, owner: bytes) -> None:
    """Empty a row, unless it belongs to another table by now."""
    tables.transactions.change_state(key, lambda state: (b"" if _owner(key, state) == owner else None, None))


def _owner(key: bytes, state: bytes) -> bytes:
    """The id of the table that a row belongs to; nothing where it belongs to none, or is empty."""
    if not state:
        return b""
    return owner_of(key) if key >= _STREAMS[0] else mark_of(state)
