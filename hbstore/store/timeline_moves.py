"""Timelines of a table that goes, or gets another name: their cells are emptied, or copied to its new row.

Both happen while the intent of that is open, and put only what is still as it was read together with the intent; so
whoever comes late finds nothing to do.
"""

from __future__ import annotations

from contextlib import suppress

from hbstore.errors import CommitStateUnknown
from hbstore.rows.interface import TIMELINES, Cells, Rows
from hbstore.store.journal_cell import Journal
from hbstore.store.reservation import is_reserved
from hbstore.store.table_row import JOURNAL


def clear_timelines(rows: Rows, table: bytes, intent_id: str | None) -> None:
    """Empty the timelines of a table.

    Args:
        rows: where the table is.
        table: the key of its row.
        intent_id: of the intent in its journal without which there is nothing to do; None in a transaction.
    """
    cells = rows.get_all(table)
    if intent_id is None or Journal.decode(cells.get(JOURNAL)).has(intent_id):
        for name, value in _timelines(cells).items():
            with suppress(CommitStateUnknown):  # they name the table that they belong to, and so count for no other
                rows.compare_and_put(table, name, value, b"")


def copy_timelines(rows: Rows, table: bytes, target: bytes, intent_id: str | None) -> None:
    """Copy the timelines of a table to the row that it is about to move to.

    Args:
        rows: where the table is.
        table: the key of its row.
        target: the key of the row that is reserved for it.
        intent_id: of the rename that it is reserved by; None in a transaction.
    """
    cells, there = rows.get_all(table), rows.get_all(target)
    if intent_id is not None and not is_reserved(there, intent_id):
        return
    for name in {**_timelines(cells), **_timelines(there)}:
        rows.compare_and_put(target, name, there.get(name), cells.get(name, b""))


def _timelines(cells: Cells) -> dict[str, bytes]:
    return {name: value for name, value in cells.items() if name.startswith(TIMELINES) and value}
