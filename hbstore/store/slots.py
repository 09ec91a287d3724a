"""Slots: the catalog rows that hold the changes of a table's open intents, `I db 00 table 00 slot`.

Cell `d:0` is a header and the change's first bytes, `d:1` … the rest of a large one. Full cells belong to one writer,
until its intent is off the journal. Cell `d:at` says how far a change of a whole table has come.
"""

from __future__ import annotations

import random
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from hbstore.errors import CommitStateUnknown, ConcurrentChange, CorruptRow, StoreUnavailable
from hbstore.keys import successor
from hbstore.rows.damage import RESTORE
from hbstore.rows.interface import Rows
from hbstore.store.journal_cell import Intent, Journal
from hbstore.store.table_row import JOURNAL, names_of
from hbstore.transactions.outcome import undecided

SLOTS: Final = 256
"""Rows that hold the changes of a table's open intents."""

NO_SLOT: Final = -1
"""The slot of an intent that says all by itself."""

_PROGRESS: Final = "d:at"
_CHUNK: Final = 4 * 1024 * 1024
"""Bytes of a change in one cell; HBase takes 10 MiB."""


@dataclass(frozen=True, slots=True)
class Slots:
    """The slots of all tables; a table is named by the key of its row.

    Attributes:
        rows: where they are.
    """

    rows: Rows

    def store(self, table: bytes, intent_id: str, data: bytes) -> int:
        """Put a change into a free slot; which one.

        Raises:
            ConcurrentChange: there is no free one.
        """
        first = b"%s %d\n%s" % (intent_id.encode(), len(data), data[:_CHUNK])
        start = random.randrange(SLOTS)  # noqa: S311
        for offset in range(SLOTS):
            slot = (start + offset) % SLOTS
            key = slot_key(table, slot)
            if self._claim(key, first):
                for number, at in enumerate(range(_CHUNK, len(data), _CHUNK), start=1):
                    self.rows.clear(key, f"d:{number}")
                    if not self.rows.compare_and_put(key, f"d:{number}", None, data[at : at + _CHUNK]):
                        raise ConcurrentChange(
                            "two writers use the same intent payload row",
                            table=_text(table),
                            slot=slot,
                            hint="Try again",
                        )
                return slot
        raise ConcurrentChange(
            "the table has too many unfinished changes",
            table=_text(table),
            hint="Run `hbstore repair` to finish or discard the changes of dead writers",
        )

    def load(self, table: bytes, intent: Intent) -> bytes | None:
        """The change of an intent; None where the slot no longer holds it, so that the intent is finished.

        Raises:
            CorruptRow: the intent is open, and its change is gone.
        """
        cells = self.rows.get(slot_key(table, intent.slot)) or {}
        header, _, data = cells.get("d:0", b"").partition(b"\n")
        intent_id, _, size = header.partition(b" ")
        if intent_id == intent.id.encode():
            data += b"".join(cells.get(f"d:{number}", b"") for number in range(1, -(-int(size) // _CHUNK)))
            if len(data) == int(size):
                return data
        journal = Journal.decode((self.rows.get(table) or {}).get(JOURNAL))
        if journal.has(intent.id):
            raise CorruptRow(
                "the change of an open intent is missing", table=_text(table), intent=intent.id, hint=RESTORE
            )
        return None

    def progress(self, table: bytes, intent: Intent) -> bytes | None:
        """The last key of which all is done up to there; None where nothing was said yet."""
        cell = (self.rows.get(slot_key(table, intent.slot)) or {}).get(_PROGRESS, b"")
        name, _, key = cell.partition(b" ")
        return key if name == intent.id.encode() else None

    def say_progress(self, table: bytes, intent: Intent, key: bytes) -> None:
        """Say that all is done up to a key, unless somebody else has come further."""
        place, name = slot_key(table, intent.slot), intent.id.encode()
        found, value = (self.rows.get(place) or {}).get(_PROGRESS), b"%s %s" % (name, key)
        if not (found and found.startswith(name) and found >= value):
            with suppress(CommitStateUnknown):
                self.rows.compare_and_put(place, _PROGRESS, found, value)

    def clear(self, table: bytes, slot: int) -> None:
        """Free a slot; that fails without harm, as other slots are taken then."""
        if slot != NO_SLOT:
            with suppress(StoreUnavailable, CommitStateUnknown):
                self.rows.clear(slot_key(table, slot), "d:0")

    def abandon(self, table: bytes, slot: int) -> None:
        """Free a slot after a failure, if the change was not decided after all."""
        with suppress(StoreUnavailable, CommitStateUnknown):
            cells = self.rows.get(table) or {}
            if all(one.slot != slot for one in Journal.decode(cells.get(JOURNAL)).intents):
                self.clear(table, slot)

    def free(self, table: bytes, journal: Journal, older_than: float) -> int:
        """Free the slots of writers that died before their change was decided; how many there were.

        Args:
            table: the key of the table's row.
            journal: the table's journal.
            older_than: seconds; younger ones may belong to a writer that is about to decide.
        """
        open_slots = {intent.slot for intent in journal.intents}
        freed = 0
        start = slot_key(table, 0)
        for key, cells in list(self.rows.scan_catalog(start, successor(start[:-2]))):
            first = cells.get("d:0")
            if not first or int.from_bytes(key[-2:], "big") in open_slots:
                continue
            began = int(first.partition(b"-")[0])
            if time.time() - began > older_than:
                freed += self.rows.compare_and_put(key, "d:0", first, b"")
        return freed

    def _claim(self, key: bytes, first: bytes) -> bool:
        """Take a slot if it is free."""
        with undecided():
            return self.rows.compare_and_put(key, "d:0", None, first)


def slot_key(table: bytes, slot: int) -> bytes:
    """The catalog row of a table's slot."""
    return b"I" + table[1:] + b"\x00" + slot.to_bytes(2, "big")


def new_intent_id() -> str:
    """A name for an intent that no other has; it tells when it was made, so that old slots can be freed."""
    return f"{int(time.time())}-{uuid.uuid4().hex}"


def _text(table: bytes) -> str:
    return ".".join(names_of(table))
