"""Reading a table's totals, and counting them from its partitions where they were never kept."""

from __future__ import annotations

from itertools import chain
from typing import Final

from hbstore.errors import ConcurrentChange, StoreReadOnly
from hbstore.keys import successor
from hbstore.rows.interface import Rows
from hbstore.store.finishing import Finisher
from hbstore.store.pauses import pause
from hbstore.store.table_row import JOURNAL, TableRow, journal_of
from hbstore.store.tables import Tables
from hbstore.totals import Totals

_ATTEMPTS: Final = 20


def read_totals(rows: Rows, tables: Tables, database: str, table: str) -> Totals:
    """What a table's partitions say together. O(1), but O(partitions) where that was not kept since it was empty.

    Raises:
        ConcurrentChange: other writers kept changing the table while it was counted.
    """
    finisher = Finisher(rows)
    for attempt in range(_ATTEMPTS):
        row = tables.open(database, table)
        arriving = finisher.moving(row.key, journal_of(row))
        for place, intent in arriving:  # what comes by an exchange counts when that is finished
            finisher.finish(place, intent)
        if not arriving:
            known = journal_of(row).totals_of(row.incarnation)
            counted = _counted(rows, tables, row) if known is None else known
            if counted is not None:
                return counted
        pause(attempt)
    raise ConcurrentChange(
        "other writers kept changing the table while it was counted", table=row.table, hint="Try again"
    )


def count_anew(rows: Rows, row: TableRow) -> Totals | None:
    """Sum up a table's partitions, and keep that if nothing was changed since its row was read; None if something was.

    O(partitions). What was open when the row was read has to be finished before.
    """
    journal = journal_of(row)
    if journal.intents:
        return None
    totals = _sum_up(rows, row)
    wanted = journal.with_totals(row.incarnation, totals)
    if wanted == journal:
        unchanged = (rows.get(row.key) or {}).get(JOURNAL) == row.cells.get(JOURNAL)
    else:
        unchanged = rows.compare_and_put(row.key, JOURNAL, row.cells.get(JOURNAL), wanted.encode())
    return totals if unchanged else None


def _sum_up(rows: Rows, row: TableRow) -> Totals:
    """What the partitions that a table has now say together. O(partitions)."""
    prefix = row.definition.prefix
    return Totals.of(chain.from_iterable(rows.payloads(prefix, successor(prefix))))


def _counted(rows: Rows, tables: Tables, row: TableRow) -> Totals | None:
    if not rows.atomic:
        Finisher(rows).finish_all(row.key)
        return count_anew(rows, tables.reopen(row))
    try:
        with rows.transaction():
            return count_anew(rows, tables.reopen(row))
    except StoreReadOnly:
        with rows.snapshot():
            return _sum_up(rows, tables.reopen(row))
