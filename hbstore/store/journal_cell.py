"""The journal cell of a table's row: open intents and the last sequence number, as one value for compare-and-put."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from hbstore.errors import CorruptRow
from hbstore.store.changes import MOVES, ChangeKind


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
    """

    last_sequence: int = 0
    moves: int = 0
    intents: tuple[Intent, ...] = ()

    @property
    def drops_table(self) -> bool:
        """Whether the table is being dropped, which is decided by the intent alone."""
        return any(intent.kind is ChangeKind.DROP_TABLE for intent in self.intents)

    @property
    def renames_table(self) -> Intent | None:
        """The intent by which the table is getting another name."""
        return next((intent for intent in self.intents if intent.kind is ChangeKind.RENAME_TABLE), None)

    def opened(self, intent: Intent) -> Journal:
        """With one more intent."""
        moves = self.moves + (intent.kind in MOVES)
        return Journal(intent.sequence, moves, (*self.intents, intent))

    def closed(self, intent_id: str) -> Journal:
        """Without an intent."""
        gone = self.find(intent_id)
        moves = self.moves + (gone is not None and gone.kind is ChangeKind.RECEIVE)
        return replace(self, moves=moves, intents=tuple(intent for intent in self.intents if intent is not gone))

    def advanced(self, beyond: int = 0) -> Journal:
        """With the next sequence number used up: whoever was about to open an intent has to look again.

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
        return json.dumps(
            {
                "last": self.last_sequence,
                "moves": self.moves,
                "open": [
                    [one.id, one.slot, one.sequence, one.kind.value, one.first.hex(), one.last.hex()]
                    + ([one.peer.hex(), one.at] if one.peer else [])
                    for one in self.intents
                ],
            },
            separators=(",", ":"),
        ).encode()

    @staticmethod
    def decode(data: bytes | None) -> Journal:
        """The journal of a cell; an empty one where there is none.

        Raises:
            CorruptRow: the bytes are no journal.
        """
        if not data:
            return Journal()
        try:
            found = json.loads(data)
            return Journal(found["last"], found["moves"], tuple(_intent(*one) for one in found["open"]))
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptRow("a table's journal does not decode", journal=data[:80]) from error


def _intent(
    name: str, slot: int, sequence: int, kind: str, first: str, last: str, peer: str = "", at: int = 0
) -> Intent:
    ends = bytes.fromhex(first), bytes.fromhex(last)
    return Intent(name, slot, sequence, ChangeKind(kind), *ends, bytes.fromhex(peer), at)
