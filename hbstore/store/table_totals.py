"""A table's totals in its journal: begun when it is empty, kept with every change, copied when it gets another name.

A change counts in the compare-and-put that decides it, so it counts once however often it is finished. What it gains
was found by looking at its keys after the journal was read; nothing was open on them then, and had anything been
decided since, the compare-and-put would fail.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from hbstore.errors import CommitStateUnknown, ConcurrentChange
from hbstore.keys import successor
from hbstore.rows.interface import Rows
from hbstore.store.journal_cell import Journal
from hbstore.store.reservation import is_reserved
from hbstore.store.table_row import JOURNAL, TableRow, journal_of, names_of
from hbstore.totals import NOTHING, Totals

_ATTEMPTS: Final = 200


def counted_journal(rows: Rows, row: TableRow) -> Journal:
    """A table's journal; where its totals are not known and it has nothing, they are known now.

    A writer puts it only where it still is what the row says: then the table still had nothing.
    """
    journal = journal_of(row)
    if journal.counted == row.incarnation or journal.intents:
        return journal
    prefix = row.definition.prefix
    if rows.first_key(prefix, successor(prefix)) is not None:
        return journal
    return journal.with_totals(row.incarnation, NOTHING)


def add_totals(rows: Rows, row: TableRow, gained: Totals) -> None:
    """Count a change inside its transaction, before its rows are written."""
    journal = counted_journal(rows, row)
    if journal.counted == row.incarnation and gained != NOTHING:
        rows.compare_and_put(row.key, JOURNAL, row.cells.get(JOURNAL), journal.gaining(gained).encode())


def copy_totals(rows: Rows, table: bytes, target: bytes, intent_id: str | None) -> None:
    """Copy the totals of a table to the row that it is about to move to.

    Args:
        rows: where the table is.
        table: the key of its row, which has no intents but that of the rename.
        target: the key of the row that is reserved for it.
        intent_id: of the rename that it is reserved by; None in a transaction.
    """
    for _ in range(_ATTEMPTS):
        there = rows.get(target) or {}
        if intent_id is not None and not is_reserved(there, intent_id):
            return
        known, journal = Journal.decode((rows.get(table) or {}).get(JOURNAL)), Journal.decode(there.get(JOURNAL))
        wanted = journal.with_totals(known.counted, known.totals)
        if wanted == journal:
            return
        with suppress(CommitStateUnknown):
            rows.compare_and_put(target, JOURNAL, there.get(JOURNAL), wanted.encode())
    raise ConcurrentChange(
        "other processes kept copying the table's totals", table=".".join(names_of(target)), hint="Try again"
    )
