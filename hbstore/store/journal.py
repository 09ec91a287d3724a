"""The intent journal: changes of many rows where only single rows are atomic.

docs/protocols/changes-of-partitions.md tells the steps and what a crash leaves at each of them. Nobody holds a lock: a
writer that meets an unfinished intent of any writer on its keys finishes it first.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeAlias

from hbstore.errors import CommitStateUnknown, ConcurrentChange, HbstoreError, StoreUnavailable
from hbstore.keys import successor
from hbstore.rows.interface import Rows
from hbstore.store.changes import TABLE_WIDE, Change, ChangeKind
from hbstore.store.finishing import Finisher
from hbstore.store.journal_cell import Intent
from hbstore.store.pauses import pause
from hbstore.store.slots import NO_SLOT, Slots, new_intent_id
from hbstore.store.table_row import JOURNAL, TableRow, journal_of
from hbstore.store.table_totals import counted_journal
from hbstore.totals import NOTHING, Totals
from hbstore.transactions.outcome import decided

_Stored: TypeAlias = tuple[int, str, bytes]
"""A slot, the id of the intent that it is for, and the change in it."""

_ATTEMPTS: Final = 200
_PATIENCE: Final = 0.05
"""Seconds that another writer gets to finish its own intent before it is helped."""


@dataclass(frozen=True, slots=True)
class JournalCommit:
    """Makes changes by intents.

    Attributes:
        rows: where rows are written.
        reopen: reads a table's row again; raises TableNotFound once it is dropped.
        check: raises what forbids a change or returns it without what is to be left out; None if nothing remains.
    """

    rows: Rows
    reopen: Callable[[TableRow], TableRow]
    check: Callable[[Change], Change | None]

    def commit(self, row: TableRow, change: Change) -> Change | None:
        """Decide and apply a change.

        Returns:
            What was applied: the change without the keys that were to be left out; None if nothing remained.

        Raises:
            AlreadyExists, PartitionNotFound: by `check`; nothing was changed.
            ConcurrentChange: other writers were always faster; nothing was changed.
            CommitStateUnknown: the connection broke after the change may have been decided.
        """
        slot: _Stored | None = None
        try:
            for attempt in range(_ATTEMPTS):
                if attempt:
                    pause(attempt - 1)
                    row = self.reopen(row)
                if help_others(self.rows, row, change.looked_at(), patient=attempt < 1):
                    continue
                try:
                    checked = self.check(change)
                except HbstoreError:
                    if unchanged(self.reopen(row), row):
                        raise
                    continue  # perhaps it was about rows that were just being moved or deleted
                if checked is None:
                    return None
                slot = self._stored(row, checked.encode(), slot)
                intent = self._open(row, checked, slot[0], slot[1])
                if intent is None:
                    continue
                finish_decided(Finisher(self.rows), row, checked, intent)
                slot = None
                return checked
        except CommitStateUnknown:
            slot = None  # the intent may yet appear in the journal, so its change must stay
            raise
        finally:
            if slot is not None:
                Slots(self.rows).abandon(row.key, slot[0])
        raise ConcurrentChange(
            "other writers kept changing the table", table=row.table, hint="Nothing was changed; try again"
        )

    def drop_table(self, row: TableRow) -> None:
        """Decide that a table is dropped, then drop its rows."""
        finisher = Finisher(self.rows)
        prefix = row.definition.prefix
        for _ in range(_ATTEMPTS):
            for intent in journal_of(row).intents:
                finisher.finish(row.key, intent)
            row = self.reopen(row)
            if journal_of(row).intents:
                continue
            sequence = journal_of(row).last_sequence + 1
            ends = prefix, successor(prefix)
            opened = Intent(uuid.uuid4().hex, NO_SLOT, sequence, ChangeKind.DROP_TABLE, *ends)
            if open_intent(self.rows, row, opened):
                with decided(
                    "the table is dropped, but the store became unavailable before all rows of the table were deleted",
                    table=row.table,
                ):
                    finisher.finish(row.key, opened)
                return
            row = self.reopen(row)
        raise ConcurrentChange("other writers kept changing the table", table=row.table, hint="Try again")

    def _stored(self, row: TableRow, data: bytes, known: _Stored | None) -> _Stored:
        """Put a change into a slot, unless that is what the slot of the last attempt holds."""
        if known is not None:
            if known[2] == data:
                return known
            Slots(self.rows).clear(row.key, known[0])
        name = new_intent_id()
        return Slots(self.rows).store(row.key, name, data), name, data

    def _open(self, row: TableRow, change: Change, slot: int, intent_id: str) -> Intent | None:
        """Put the intent into the journal if nobody changed it since the row was read; this decides the change."""
        intent = Intent(intent_id, slot, journal_of(row).last_sequence + 1, change.kind, *change.ends())
        return intent if open_intent(self.rows, row, intent, change.gained) else None


def help_others(rows: Rows, row: TableRow, keys: list[bytes], *, patient: bool) -> bool:
    """Finish an open intent of a table that touches one of some sorted keys; whether there was one."""
    finisher = Finisher(rows)
    for intent in journal_of(row).intents:
        if not keys or not (intent.kind in TABLE_WIDE or intent.may_touch(keys[0], keys[-1])):
            continue
        if patient:
            time.sleep(_PATIENCE)
            return True  # look again first: its writer is probably still at it
        if intent.kind in TABLE_WIDE or intent.kind is ChangeKind.RECEIVE:
            finisher.finish(row.key, intent)
            return True
        data = Slots(rows).load(row.key, intent)
        if data is None or not set(keys).isdisjoint(Change.decode(intent.kind, data).keys()):
            finisher.finish(row.key, intent)
            return True
    return False


def unchanged(now: TableRow, row: TableRow) -> bool:
    """Whether no change of a table was decided or finished between two reads of its row."""
    return now.cells.get(JOURNAL) == row.cells.get(JOURNAL)


def open_intent(rows: Rows, row: TableRow, intent: Intent, gained: Totals = NOTHING) -> bool:
    """Put an intent into a table's journal if that is what it was when the row was read; whether it is there.

    Args:
        rows: where the table is.
        row: the table.
        intent: what is decided by being there.
        gained: what the table's totals gain by it.
    """
    journal = counted_journal(rows, row).opened(intent, gained)
    try:
        return rows.compare_and_put(row.key, JOURNAL, row.cells.get(JOURNAL), journal.encode())
    except CommitStateUnknown:
        # The answer is lost, but perhaps not the outcome: the id is ours alone.
        with suppress(StoreUnavailable):
            if Finisher(rows).journal(row.key).has(intent.id):
                return True
        raise


def finish_decided(finisher: Finisher, row: TableRow, change: Change, intent: Intent) -> None:
    """Write the rows of a change that this writer has just decided, and close its intent."""
    with decided(
        "the change is decided, but the store became unavailable before the change was finished", table=row.table
    ):
        finisher.write(row.key, change, intent)
    # All rows are written; an intent that stays open is finished again, which changes nothing.
    with suppress(StoreUnavailable, CommitStateUnknown, ConcurrentChange):
        finisher.close(row.key, intent, change)
