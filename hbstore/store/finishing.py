"""Finishing intents: every step may be repeated, by its writer and by anyone else, at once and later.

Tables are named by the keys of their rows, as a table may be gone before its intent is. docs/protocols
tells why each order of steps is safe.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from hbstore.errors import ConcurrentChange
from hbstore.keys import successor
from hbstore.rows.interface import Cells, Rows
from hbstore.store.annex_keys import annexes_of
from hbstore.store.changes import MOVES, Change, ChangeKind
from hbstore.store.journal_cell import Intent, Journal
from hbstore.store.pauses import pause
from hbstore.store.reservation import Reservation, is_reserved
from hbstore.store.slots import Slots
from hbstore.store.table_change import TableChange, in_batches, prefix_of
from hbstore.store.table_row import DEFINITION, JOURNAL, STATISTICS, names_of, stamp_of
from hbstore.store.table_totals import copy_totals
from hbstore.store.timeline_moves import clear_timelines, copy_timelines
from hbstore.store.timeline_updates import TimelineUpdates
from hbstore.totals import NOTHING, Totals

_ATTEMPTS: Final = 200
_DROP_BATCH: Final = 5_000
_GONE: Final = b"\xff"
"""Before the keys that are deleted when all are copied, in what is said of progress: above every key."""
_POLL: Final = 0.2
_STILL: Final = 5
"""How often in a row nothing has moved when its owner is taken to be dead."""


@dataclass(frozen=True, slots=True)
class Finisher:
    """Rolls decided changes forward.

    Attributes:
        rows: where rows are written.
    """

    rows: Rows

    def journal(self, table: bytes) -> Journal:
        """A table's journal as it is now."""
        return Journal.decode(self.cells(table).get(JOURNAL))

    def cells(self, table: bytes) -> Cells:
        """A table's row as it is now."""
        return self.rows.get(table) or {}

    def finish(self, table: bytes, intent: Intent) -> None:
        """Roll somebody else's intent forward.

        Long work, of a whole table, is left to its owner as long as that makes progress.
        """
        if intent.kind in (ChangeKind.RENAME_TABLE, ChangeKind.ALTER_TABLE):
            self._watch(table, intent)
        self.apply(table, intent)

    def apply(self, table: bytes, intent: Intent) -> None:
        """Roll an intent forward. Doing so twice, or at once with somebody else, changes nothing."""
        change = None
        if intent.kind is ChangeKind.DROP_TABLE:
            self._drop(table, intent)
        elif intent.kind is ChangeKind.RECEIVE:
            found = self.decided_or_forbidden(intent.peer, intent.id, intent.at)
            if found is not None:
                self.finish(intent.peer, found)
        else:
            data = Slots(self.rows).load(table, intent)
            if data is None:
                return  # finished meanwhile: a slot is cleared only after its intent is off the journal
            if intent.kind is ChangeKind.RENAME_TABLE:
                self._rename(table, intent, TableChange.decode(data))
            elif intent.kind is ChangeKind.ALTER_TABLE:
                self._alter(table, intent, TableChange.decode(data))
            else:
                change = Change.decode(intent.kind, data)
                self.write(table, change, intent)
        self.close(table, intent, change)

    def _watch(self, table: bytes, intent: Intent) -> None:
        """Return when an intent is closed, or nobody has got on with it for a second."""
        slots = Slots(self.rows)
        seen, still = None, 0
        while still < _STILL and self.journal(table).has(intent.id):
            progress = slots.progress(table, intent)
            still = still + 1 if progress == seen else 0
            seen = progress
            time.sleep(_POLL)

    def finish_all(self, table: bytes) -> None:
        """Finish all intents that a table has now."""
        for intent in self.journal(table).intents:
            self.finish(table, intent)

    def write(self, table: bytes, change: Change, intent: Intent) -> None:
        """Write the rows of a change, then bring the timelines up to them.

        What an exchange puts belongs to the other table, and is there before it goes.
        """
        timelines = TimelineUpdates(self.rows)
        if intent.kind is not ChangeKind.EXCHANGE:
            self.rows.write(change.puts, change.deletes, intent.sequence)
        else:
            self.rows.write(change.puts, (), intent.at)
            timelines.apply(intent.peer, change.peer_touched, intent.id)
            self.rows.write((), change.deletes, intent.sequence)
        timelines.apply(table, change.touched, intent.id)

    def close(self, table: bytes, intent: Intent, change: Change | None = None) -> None:
        """Take an intent whose rows are written off the journal, and empty its slot.

        What an exchange brings the other table counts there when its intent goes, which happens once.
        """
        if intent.kind is ChangeKind.EXCHANGE and change is not None:
            self._take_off(intent.peer, intent.id, Totals.of(put.payload for put in change.puts))
        if self._take_off(table, intent.id):
            Slots(self.rows).clear(table, intent.slot)

    def moving(self, table: bytes, journal: Journal) -> list[tuple[bytes, Intent]]:
        """The renames and exchanges of partitions under way, each with the table in whose journal it is decided."""
        moving_intents = []
        for intent in journal.intents:
            if intent.kind is ChangeKind.RECEIVE:
                decided = self.journal(intent.peer).find(intent.id)
                if decided is not None:
                    moving_intents.append((intent.peer, decided))
            elif intent.kind in MOVES:
                moving_intents.append((table, intent))
        return moving_intents

    def decided_or_forbidden(self, table: bytes, intent_id: str, sequence: int) -> Intent | None:
        """An intent in a table's journal; None where there is none, and from now on there cannot be.

        Args:
            table: where it would be decided.
            intent_id: whose.
            sequence: the last sequence number of that journal at which alone its writer decides.
        """
        for attempt in range(_ATTEMPTS):
            data = self.cells(table).get(JOURNAL)
            journal = Journal.decode(data)
            found = journal.find(intent_id)
            if found is not None or journal.last_sequence != sequence:
                return found
            if self.rows.compare_and_put(table, JOURNAL, data, journal.advanced().encode()):
                return None
            pause(attempt)
        raise _busy(table)

    def settle(self, target: bytes, reservation: Reservation) -> None:
        """Finish the rename that a name is reserved for, or, where it is not decided, take the reservation away."""
        found = self.decided_or_forbidden(reservation.source, reservation.id, reservation.sequence)
        if found is not None:
            self.finish(reservation.source, found)
        else:
            self.rows.compare_and_put(target, DEFINITION, reservation.encode(), b"")

    def _take_off(self, table: bytes, intent_id: str, gained: Totals = NOTHING) -> bool:
        """Whether it was on the journal, and taken off by this call."""
        for attempt in range(_ATTEMPTS):
            data = self.cells(table).get(JOURNAL)
            journal = Journal.decode(data)
            if not journal.has(intent_id):
                return False
            if self.rows.compare_and_put(table, JOURNAL, data, journal.closed(intent_id, gained).encode()):
                return True
            time.sleep(random.uniform(0, 0.001 * (attempt + 1)))  # noqa: S311
        raise _busy(table)

    def _drop(self, table: bytes, intent: Intent) -> None:
        cells = self.cells(table)
        definition = cells.get(DEFINITION)
        if not Journal.decode(cells.get(JOURNAL)).has(intent.id):
            return
        if definition:  # which says where the annexes are, so they go first
            clear_timelines(self.rows, table, intent.id)
            list(self._delete_rows(annexes_of(definition), intent.sequence))
            self.rows.compare_and_put(table, DEFINITION, definition, b"")
        list(self._delete_rows(prefix_of(table), intent.sequence))

    def _rename(self, table: bytes, intent: Intent, change: TableChange) -> None:
        """Copy the rows, show the table under its new name, hide it under the old one, delete the old rows."""
        self._finish_earlier(table, intent)
        reserved = self.cells(intent.peer)
        if is_reserved(reserved, intent.id):
            self._rewrite(table, intent, change, target=intent.peer, sequence=intent.at)
            statistics = self.cells(table).get(STATISTICS)
            if statistics:
                self.rows.compare_and_put(intent.peer, STATISTICS, reserved.get(STATISTICS), statistics)
            copy_totals(self.rows, table, intent.peer, intent.id)
            copy_timelines(self.rows, table, intent.peer, intent.id)
            self.rows.compare_and_put(intent.peer, DEFINITION, reserved[DEFINITION], change.definition)
        clear_timelines(self.rows, table, intent.id)
        self._replace_definition(table, change.replaced, lambda _: b"")
        for last in self._delete_rows(prefix_of(table), intent.sequence):
            Slots(self.rows).say_progress(table, intent, _GONE + last)

    def _alter(self, table: bytes, intent: Intent, change: TableChange) -> None:
        """Replace the definition, then rewrite the rows.

        Timelines that the table declares no more go before, so that they do not count when it declares them again.
        """
        self._finish_earlier(table, intent)
        if change.redeclared and change.may_replace(self.cells(table).get(DEFINITION, b"")):
            clear_timelines(self.rows, table, intent.id)
        self._replace_definition(table, change.replaced, change.outcome)
        if change.rewrites:
            self._rewrite(table, intent, change, target=table, sequence=intent.sequence)

    def _finish_earlier(self, table: bytes, intent: Intent) -> None:
        """From then on nothing changes the table's rows: later intents are not opened while this one is."""
        for earlier in self.journal(table).intents:
            if earlier.sequence < intent.sequence:
                self.finish(table, earlier)

    def _rewrite(self, table: bytes, intent: Intent, change: TableChange, *, target: bytes, sequence: int) -> None:
        """Write what becomes of each row.

        A helper that falls behind may read rows of a table that was made here after the intent had been closed; so it
        looks once more before it writes what it has read.
        """
        changed = change.of_rows(table, target)
        slots = Slots(self.rows)
        reached = slots.progress(table, intent)
        prefix = prefix_of(table)
        start = prefix if reached is None else reached + b"\0"
        for batch in in_batches(self.rows.whole_rows(start, successor(prefix))):
            puts = [after for before in batch if (after := changed(before)) != before]
            if puts and not self.journal(table).has(intent.id):
                return
            self.rows.write(puts, (), sequence)
            slots.say_progress(table, intent, batch[-1].key)

    def _replace_definition(self, table: bytes, replaced: bytes, outcome: Callable[[bytes], bytes]) -> None:
        """Whatever it was altered to meanwhile. One with another stamp is replaced already, or another table's."""
        for attempt in range(_ATTEMPTS):
            found = self.cells(table).get(DEFINITION, b"")
            if stamp_of(found) != replaced:
                return
            if self.rows.compare_and_put(table, DEFINITION, found, outcome(found)):
                return
            pause(attempt)
        raise _busy(table)

    def _delete_rows(self, prefix: bytes, sequence: int) -> Iterator[bytes]:
        """The last key of each batch, after it is deleted."""
        pending: list[bytes] = []
        for batch in self.rows.scan(prefix, successor(prefix)):
            pending += [key for key, _ in batch]
            if len(pending) >= _DROP_BATCH:
                self.rows.write((), pending, sequence)
                yield pending[-1]
                pending = []
        self.rows.write((), pending, sequence)


def _busy(table: bytes) -> ConcurrentChange:
    return ConcurrentChange("other writers kept changing the table", table=".".join(names_of(table)), hint="Try again")
