"""Timelines of a table that goes, declares others, or gets another name: their cells are emptied, or copied.

Both happen while the intent of that is open, and put only what is still as it was read together with the intent; so
a late process finds nothing to do.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from hbstore.errors import CommitStateUnknown, ConcurrentChange
from hbstore.rows.interface import TIMELINES, Cells, Rows
from hbstore.store.journal_cell import Journal
from hbstore.store.reservation import is_reserved
from hbstore.store.table_row import JOURNAL, names_of

_ATTEMPTS: Final = 200


def clear_timelines(rows: Rows, table: bytes, intent_id: str | None) -> None:
    """Empty the timelines of a table.

    Args:
        rows: where the table is.
        table: the key of its row.
        intent_id: of the intent in its journal without which there is nothing to do; None in a transaction.
    """
    for _ in range(_ATTEMPTS):
        cells = rows.get_all(table)
        full = _timelines(cells)
        if not full or (intent_id is not None and not Journal.decode(cells.get(JOURNAL)).has(intent_id)):
            return
        for name, value in full.items():
            with suppress(CommitStateUnknown):
                rows.compare_and_put(table, name, value, b"")
    raise ConcurrentChange(
        "other processes kept building the table's timelines", table=".".join(names_of(table)), hint="Try again"
    )


def copy_timelines(rows: Rows, table: bytes, target: bytes, intent_id: str | None) -> None:
    """Copy the timelines of a table to the row that it is about to move to.

    Args:
        rows: where the table is.
        table: the key of its row.
        target: the key of the row that is reserved for it.
        intent_id: of the rename that it is reserved by; None in a transaction.
    """
    cells = _timelines(rows.get_all(table))
    for _ in range(_ATTEMPTS):  # what a late copier of an earlier rename leaves is replaced as well
        there = rows.get_all(target)
        if intent_id is not None and not is_reserved(there, intent_id):
            return
        differing = {name for name in {**cells, **_timelines(there)} if cells.get(name, b"") != there.get(name, b"")}
        if not differing:
            return
        for name in differing:
            with suppress(CommitStateUnknown):
                rows.compare_and_put(target, name, there.get(name), cells.get(name, b""))
    raise ConcurrentChange(
        "other processes kept copying the table's timelines", table=".".join(names_of(target)), hint="Try again"
    )


def _timelines(cells: Cells) -> dict[str, bytes]:
    return {name: value for name, value in cells.items() if name.startswith(TIMELINES) and value}
