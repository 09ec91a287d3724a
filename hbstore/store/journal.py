"""The intent journal: changes of many rows where only single rows are atomic.

docs/architecture.md ("Changes") tells the protocol and what a crash leaves at each step. Nobody holds a lock: a writer
that meets an unfinished intent on its keys finishes it first, whoever began it.
"""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from hbstore.errors import CommitStateUnknown, ConcurrentChange, CorruptRow, StoreUnavailable
from hbstore.keys import successor, table_prefix
from hbstore.rows.interface import Rows
from hbstore.store.changes import Change, ChangeKind
from hbstore.store.journal_cell import Intent, Journal
from hbstore.store.outcome import decided
from hbstore.store.table_row import DEFINITION, JOURNAL, TableRow

SLOTS: Final = 256
"""Rows that hold the changes of a table's open intents."""

_CHUNK: Final = 4 * 1024 * 1024
"""Bytes of a change in one cell; HBase takes 10 MiB."""

_ATTEMPTS: Final = 200
_PATIENCE: Final = 0.05
"""Seconds that another writer gets to finish its own intent before it is helped."""

_DROP_BATCH: Final = 5_000


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
        slot: tuple[int, str, bytes] | None = None
        try:
            for attempt in range(_ATTEMPTS):
                if attempt:
                    time.sleep(random.uniform(0, min(0.2, 0.002 * attempt)))  # noqa: S311
                    row = self.reopen(row)
                if self._help(row, change.keys(), patient=attempt < 1):
                    continue
                wanted = self.check(change)
                if wanted is None:
                    return None
                data = wanted.encode()
                if slot is None or slot[2] != data:
                    if slot is not None:
                        self._clear(row, slot[0])
                    slot = (*self._store(row, data), data)
                intent = self._open(row, wanted, slot[0], slot[1])
                if intent is None:
                    continue
                self._finish_decided(row, wanted, intent)
                slot = None
                return wanted
        except CommitStateUnknown:
            slot = None  # the intent may yet appear in the journal, so its change must stay
            raise
        finally:
            if slot is not None:
                self._abandon(row, slot[0])
        raise ConcurrentChange(
            "other writers kept changing the table", table=row.table, hint="Nothing was changed; try again"
        )

    def drop_table(self, row: TableRow) -> None:
        """Decide that a table is dropped, then drop its rows."""
        prefix = row.definition.prefix
        for _ in range(_ATTEMPTS):
            for intent in row.journal.intents:
                self.finish(row, intent)
            row = self.reopen(row)
            if row.journal.intents:
                continue
            change = Change(ChangeKind.DROP_TABLE)
            intent_id, sequence = uuid.uuid4().hex, row.journal.last_sequence + 1
            opened = Intent(intent_id, 0, sequence, change.kind, prefix, successor(prefix))
            if self._swap(row, row.journal.opened(opened), intent_id):
                with decided("the table is dropped, but the store went away before its rows were", table=row.table):
                    self.finish(row, opened)
                return
            row = self.reopen(row)
        raise ConcurrentChange("other writers kept changing the table", table=row.table, hint="Try again")

    def finish(self, row: TableRow, intent: Intent) -> None:
        """Roll an intent forward, whoever opened it. Doing so twice, or at once with its writer, changes nothing."""
        if intent.kind is ChangeKind.DROP_TABLE:
            self._drop_rows(row, intent)
        else:
            change = self._load(row, intent)
            if change is None:
                return  # finished meanwhile: a slot is cleared only after its intent is off the journal
            self.rows.write(change.puts, change.deletes, intent.sequence)
        self._close(row, intent)

    def free_slots(self, row: TableRow, older_than: float) -> int:
        """Free the slots of writers that died before their change was decided; how many there were.

        Args:
            row: the table.
            older_than: seconds; younger ones may belong to a writer that is about to decide.
        """
        open_slots = {intent.slot for intent in row.journal.intents}
        freed = 0
        start = slot_key(row, 0)
        for key, cells in list(self.rows.scan_catalog(start, successor(start[:-2]))):
            first = cells.get("d:0")
            if not first or int.from_bytes(key[-2:], "big") in open_slots:
                continue
            began = int(first.partition(b"-")[0])
            if time.time() - began > older_than:
                freed += self.rows.compare_and_put(key, "d:0", first, b"")
        return freed

    def _help(self, row: TableRow, keys: list[bytes], *, patient: bool) -> bool:
        """Finish an open intent that touches one of the keys; whether there was one."""
        for intent in row.journal.intents:
            if not keys or not intent.may_touch(keys[0], keys[-1]):
                continue
            if patient:
                time.sleep(_PATIENCE)
                return True  # look again first: its writer is probably still at it
            change = self._load(row, intent) if intent.kind is not ChangeKind.DROP_TABLE else None
            if change is None or not set(keys).isdisjoint(change.keys()):
                self.finish(row, intent)
                return True
        return False

    def _open(self, row: TableRow, change: Change, slot: int, intent_id: str) -> Intent | None:
        """Put the intent into the journal if nobody changed it since the row was read; this decides the change."""
        keys = change.keys()
        intent = Intent(intent_id, slot, row.journal.last_sequence + 1, change.kind, keys[0], keys[-1])
        return intent if self._swap(row, row.journal.opened(intent), intent_id) else None

    def _swap(self, row: TableRow, new: Journal, intent_id: str) -> bool:
        try:
            return self.rows.compare_and_put(row.key, JOURNAL, row.cells.get(JOURNAL), new.encode())
        except CommitStateUnknown:
            # The answer is lost, but perhaps not the outcome: the id is ours alone.
            with suppress(StoreUnavailable):
                found = self.rows.get(row.key) or {}
                if Journal.decode(found.get(JOURNAL)).has(intent_id):
                    return True
            raise

    def _finish_decided(self, row: TableRow, change: Change, intent: Intent) -> None:
        with decided("the change is decided, but the store went away before it was finished", table=row.table):
            self.rows.write(change.puts, change.deletes, intent.sequence)
        # All rows are written; an intent that stays open is finished again, which changes nothing.
        with suppress(StoreUnavailable, CommitStateUnknown, ConcurrentChange):
            self._close(row, intent)

    def _close(self, row: TableRow, intent: Intent) -> None:
        for attempt in range(_ATTEMPTS):
            cells = self.rows.get(row.key) or {}
            data = cells.get(JOURNAL)
            journal = Journal.decode(data)
            if not journal.has(intent.id):
                return
            if self.rows.compare_and_put(row.key, JOURNAL, data, journal.closed(intent.id).encode()):
                if intent.kind is not ChangeKind.DROP_TABLE:
                    self._clear(row, intent.slot)
                return
            time.sleep(random.uniform(0, 0.001 * (attempt + 1)))  # noqa: S311
        raise ConcurrentChange("other writers kept changing the journal", table=row.table, hint="Try again")

    def _drop_rows(self, row: TableRow, intent: Intent) -> None:
        cells = self.rows.get(row.key) or {}
        definition = cells.get(DEFINITION)
        if not Journal.decode(cells.get(JOURNAL)).has(intent.id):
            return
        if definition:
            self.rows.compare_and_put(row.key, DEFINITION, definition, b"")
        table = row.table
        prefix = table_prefix(table.database, table.name)
        pending: list[bytes] = []
        for batch in self.rows.scan(prefix, successor(prefix)):
            pending += [key for key, _ in batch]
            if len(pending) >= _DROP_BATCH:
                self.rows.write((), pending, intent.sequence)
                pending = []
        self.rows.write((), pending, intent.sequence)

    # The rows that hold changes, `I db 00 table 00 slot`: cell `d:0` is a header and the change's first bytes, `d:1` …
    # the rest of a large one. Full cells belong to one writer, until its intent is off the journal.

    def _store(self, row: TableRow, data: bytes) -> tuple[int, str]:
        """Put a change into a free slot."""
        intent_id = f"{int(time.time())}-{uuid.uuid4().hex}"
        first = b"%s %d\n%s" % (intent_id.encode(), len(data), data[:_CHUNK])
        start = random.randrange(SLOTS)  # noqa: S311
        for offset in range(SLOTS):
            slot = (start + offset) % SLOTS
            key = slot_key(row, slot)
            if self._claim(key, first):
                for number, at in enumerate(range(_CHUNK, len(data), _CHUNK), start=1):
                    self.rows.clear(key, f"d:{number}")
                    if not self.rows.compare_and_put(key, f"d:{number}", None, data[at : at + _CHUNK]):
                        raise ConcurrentChange("a slot has two writers", table=row.table, slot=slot, hint="Try again")
                return slot, intent_id
        raise ConcurrentChange(
            "all slots for changes are taken",
            table=row.table,
            hint="Run `hbstore repair` to free those of dead writers",
        )

    def _claim(self, key: bytes, first: bytes) -> bool:
        """Take a slot if it is free. Where the answer is lost, nothing is decided yet, so nothing was changed."""
        try:
            return self.rows.compare_and_put(key, "d:0", None, first)
        except CommitStateUnknown as error:
            raise StoreUnavailable(error.text, hint=error.hint, **error.fields) from error

    def _load(self, row: TableRow, intent: Intent) -> Change | None:
        """The change of an intent; None where the slot no longer holds it, so that the intent is finished."""
        cells = self.rows.get(slot_key(row, intent.slot)) or {}
        header, _, data = cells.get("d:0", b"").partition(b"\n")
        intent_id, _, size = header.partition(b" ")
        if intent_id == intent.id.encode():
            data += b"".join(cells.get(f"d:{number}", b"") for number in range(1, -(-int(size) // _CHUNK)))
            if len(data) == int(size):
                return Change.decode(intent.kind, data)
        journal = Journal.decode((self.rows.get(row.key) or {}).get(JOURNAL))
        if journal.has(intent.id):
            raise CorruptRow("an open intent has lost its change", table=row.table, intent=intent.id)
        return None

    def _clear(self, row: TableRow, slot: int) -> None:
        """Free a slot; that fails without harm, as other slots are taken then."""
        with suppress(StoreUnavailable, CommitStateUnknown):
            self.rows.clear(slot_key(row, slot), "d:0")

    def _abandon(self, row: TableRow, slot: int) -> None:
        """Free a slot after a failure, if the change was not decided after all."""
        with suppress(StoreUnavailable, CommitStateUnknown):
            cells = self.rows.get(row.key) or {}
            if all(one.slot != slot for one in Journal.decode(cells.get(JOURNAL)).intents):
                self._clear(row, slot)


def slot_key(row: TableRow, slot: int) -> bytes:
    """The catalog row of a table's slot."""
    return b"I" + row.key[1:] + b"\x00" + slot.to_bytes(2, "big")
