"""The journal cell of a table's row: open intents, the last sequence number and the table's totals.

They are one value for compare-and-put: what decides a change says at once what the table has with it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import lru_cache

from hbstore.errors import CorruptRow
from hbstore.rows.damage import RESTORE
from hbstore.store.changes import MOVES, ChangeKind
from hbstore.totals import NOTHING, Totals


@dataclass(frozen=True, slots=True)
class Intent:
    """A change that is decided and may not be finished.

    Attributes:
        id: unique; the same stands in the row that holds the change.
        slot: which row holds the change.
        sequence: orders it among all changes of the table.
        kind: what it does.
        first: its smallest key.
        last: its largest key.
        peer: where two tables take part, the row key of the other one.
        at: a sequence number of the other one's journal: that of the rows written there, or for RECEIVE the only one at
            which the exchange may be decided.
    """

    id: str
    slot: int
    sequence: int
    kind: ChangeKind
    first: bytes
    last: bytes
    peer: bytes = b""
    at: int = 0

    def may_touch(self, first: bytes, last: bytes) -> bool:
        """Whether its keys may be among those between two others."""
        return self.first <= last and first <= self.last


@dataclass(frozen=True, slots=True)
class Journal:
    """All open intents of a table, in the order in which they were decided.

    Attributes:
        last_sequence: that of the newest change, open or finished.
        moves: how often partitions were renamed or exchanged; a reader that sees it change may have missed a row on its
            way, or seen some of those that move together.
        intents: the open ones.
        counted: the incarnation of the table whose totals are known; the journal outlives a table.
        totals: what that table has once the open intents are finished, but for what an exchange brings it.
    """

    last_sequence: int = 0
    moves: int = 0
    intents: tuple[Intent, ...] = ()
    counted: bytes = b""
    totals: Totals = NOTHING

    @property
    def drops_table(self) -> bool:
        """Whether the table is being dropped, which is decided by the intent alone."""
        return any(intent.kind is ChangeKind.DROP_TABLE for intent in self.intents)

    @property
    def renames_table(self) -> Intent | None:
        """The intent by which the table is getting another name."""
        return next((intent for intent in self.intents if intent.kind is ChangeKind.RENAME_TABLE), None)

    def totals_of(self, incarnation: bytes) -> Totals | None:
        """The totals of a table; None where they are not known."""
        return self.totals if self.counted == incarnation else None

    def with_totals(self, incarnation: bytes, totals: Totals) -> Journal:
        """With totals known."""
        return replace(self, counted=incarnation, totals=totals)

    def gaining(self, gained: Totals) -> Journal:
        """With what a change brings, where totals are known."""
        return replace(self, totals=self.totals + gained) if self.counted else self

    def opened(self, intent: Intent, gained: Totals = NOTHING) -> Journal:
        """With one more intent, and what it brings."""
        moves = self.moves + (intent.kind in MOVES)
        found = self.gaining(gained)
        return replace(found, last_sequence=intent.sequence, moves=moves, intents=(*self.intents, intent))

    def closed(self, intent_id: str, gained: Totals = NOTHING) -> Journal:
        """Without an intent; with what came by it, where that was not known when it was opened."""
        gone = self.find(intent_id)
        moves = self.moves + (gone is not None and gone.kind is ChangeKind.RECEIVE)
        kept = tuple(intent for intent in self.intents if intent is not gone)
        return replace(self.gaining(gained), moves=moves, intents=kept)

    def advanced(self, beyond: int = 0) -> Journal:
        """With the next sequence number used up: a writer that was about to open an intent has to look again.

        Args:
            beyond: the number is above this one as well.
        """
        return replace(self, last_sequence=max(self.last_sequence, beyond) + 1)

    def find(self, intent_id: str) -> Intent | None:
        """An open intent."""
        return next((intent for intent in self.intents if intent.id == intent_id), None)

    def has(self, intent_id: str) -> bool:
        """Whether an intent is open."""
        return self.find(intent_id) is not None

    def encode(self) -> bytes:
        """The cell's bytes: JSON, always the same for the same journal."""
        content: dict[str, object] = {
            "last": self.last_sequence,
            "moves": self.moves,
            "open": [
                [one.id, one.slot, one.sequence, one.kind.value, one.first.hex(), one.last.hex()]
                + ([one.peer.hex(), one.at] if one.peer else [])
                for one in self.intents
            ],
        }
        if self.counted:
            content["totals"] = [self.counted.hex(), *self.totals.to_dict().values()]
        return json.dumps(content, separators=(",", ":")).encode()

    @staticmethod
    def decode(data: bytes | None) -> Journal:
        """The journal of a cell; an empty one where there is none.

        Raises:
            CorruptRow: the bytes are no journal.
        """
        return _decoded(data) if data else Journal()


@lru_cache(maxsize=256)
def _decoded(data: bytes) -> Journal:
    """The journal of a cell; remembered, as it is read far more often than it changes."""
    try:
        found = json.loads(data)
        counted, *totals = found.get("totals", [""])
        return Journal(
            found["last"],
            found["moves"],
            tuple(_intent(*one) for one in found["open"]),
            bytes.fromhex(counted),
            Totals(*totals),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorruptRow("the journal of a table cannot be decoded", journal=data[:80], hint=RESTORE) from error


def _intent(
    name: str, slot: int, sequence: int, kind: str, first: str, last: str, peer: str = "", at: int = 0
) -> Intent:
    ends = bytes.fromhex(first), bytes.fromhex(last)
    return Intent(name, slot, sequence, ChangeKind(kind), *ends, bytes.fromhex(peer), at)
