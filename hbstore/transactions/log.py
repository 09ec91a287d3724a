"""The log of a catalog row, cell ``i:log``: the one value whose change decides what becomes of the row.

    {"sequence": 8, "last": "1732500000/…", "open": [["1732500000/…", 8, …]]}      a line of JSON
    …                                                                             the row's state: any bytes

It is changed by compare-and-put alone. What a log lists as open is decided, and perhaps not written yet; an intent says
that another row's log decides. docs/protocols/transactions.md tells how they are used.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from typing import Any, Final, TypeAlias

from hbstore.errors import CorruptRow
from hbstore.rows.damage import RESTORE
from hbstore.rows.interface import Cells

LOG: Final = "i:log"

Span: TypeAlias = tuple[bytes, bytes]
"""The first and the last of some row keys."""

_SHORT: Final = 16 * 1024
"""Bytes of the longest line that is remembered: while a timeline is being changed, a line has megabytes."""
_COMPANION: Final = b"\x01"
"""What the keys of companion rows begin with, below those of all partitions."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A decided change of a row that is open: perhaps not all of it is written yet.

    Attributes:
        id: unique; it says when and where the change was made.
        sequence: its number among all changes of the row, and the timestamp of what it writes on HBase.
        primary: the row in whose log the change was decided; this one's, where no other row takes part.
        stored: whether a payload row holds what it writes, or the log of the primary tells where that is.
        spans: where its partition rows and its companion rows lie.
        moves: whether it takes partitions away and brings others: a reader sees all of that or nothing.
        cells: the cells of the row that it puts, readers see them from the moment of the decision.
        writes: what it writes, as bytes, if that is little; if it is empty and nothing is stored, it puts cells alone.
    """

    id: str
    sequence: int
    primary: bytes
    stored: bool = False
    spans: tuple[Span, ...] = ()
    moves: bool = False
    cells: Mapping[str, bytes] = field(default_factory=dict)
    writes: bytes = b""

    @property
    def has_writes(self) -> bool:
        """Whether there is anything to write, so that it stays open until that is done."""
        return bool(self.stored or self.writes or self.cells)

    def meets(self, spans: Iterable[Span]) -> bool:
        """Whether one of its rows may lie within one of some spans."""
        return any(first <= stop and start <= last for start, stop in spans for first, last in self.spans)


@dataclass(frozen=True, slots=True)
class Intent:
    """A lock of a row for a transaction whose change another row's log decides.

    Attributes:
        id: the transaction's.
        primary: the row whose log decides.
        sequence: the sequence number of that log at which alone the transaction may be decided.
        turn: the turn of that log at which alone it may.
    """

    id: str
    primary: bytes
    sequence: int
    turn: int


class Standing(Enum):
    """How a transaction stands, by the log that decides it: the one answer to "is it decided?"."""

    UNDECIDED = "undecided"
    """The log is what it was when the transaction began, so its step 4 may come yet."""
    DECIDED = "decided"
    """Its commit is open: who meets it rolls it forward, steps 5 to 7."""
    WRITTEN = "written"
    """It made the log's last change, and all of that is written."""
    OVERTAKEN = "overtaken"
    """Another change or turn came: step 4 fails from now on, or came so long ago that later changes hide it."""


@dataclass(frozen=True, slots=True)
class Log:
    """What a row's log says.

    Attributes:
        sequence: the number of the row's last change; changes are numbered without holes.
        turn: rises where somebody gives up a transaction that this log would have decided, and with each transaction
            that rests on what the row is and changes others.
        moves: how often partitions were moved; a reader that sees it rise may have missed one on its way.
        commits: the open ones, by rising sequence numbers.
        last: the id of the transaction that made the last change.
        intent: whose transaction has the row locked; None if nobody's.
        state: what the row holds that is small and changes with a decision.
    """

    sequence: int = 0
    turn: int = 0
    moves: int = 0
    last: str = ""
    commits: tuple[Commit, ...] = ()
    intent: Intent | None = None
    state: bytes = b""

    def standing(self, intent: Intent) -> Standing:
        """How the transaction of an intent stands, by this log of its primary."""
        if self.open_commit(intent.id) is not None:
            return Standing.DECIDED
        if self.last == intent.id:
            return Standing.WRITTEN
        is_unchanged = (self.sequence, self.turn) == (intent.sequence, intent.turn)
        return Standing.UNDECIDED if is_unchanged else Standing.OVERTAKEN

    def open_commit(self, transaction_id: str) -> Commit | None:
        """The open commit of a transaction; None where it has none."""
        return next((commit for commit in self.commits if commit.id == transaction_id), None)

    def is_unchanged_since(self, earlier: Log) -> bool:
        """Whether nothing was decided or given up here since an earlier read of the same log."""
        return (self.sequence, self.turn) == (earlier.sequence, earlier.turn)

    def committed(self, commit: Commit, state: bytes) -> Log:
        """With one more change decided, which is open where it has anything to write."""
        return replace(
            self,
            sequence=commit.sequence,
            moves=self.moves + commit.moves,
            last=commit.id,
            commits=(*self.commits, commit) if commit.has_writes else self.commits,
            intent=None,
            state=state,
        )

    def closed(self, commit_id: str) -> Log:
        """Without an open commit, all of which is written; earlier ones no longer show cells that it has put."""
        gone = self.open_commit(commit_id)
        if gone is None:
            return self
        left = []
        for commit in self.commits:
            if commit.sequence < gone.sequence:
                cells = {name: value for name, value in commit.cells.items() if name not in gone.cells}
                commit = replace(commit, cells=cells)  # noqa: PLW2901
            if commit is not gone and commit.has_writes:
                left.append(commit)
        return replace(self, commits=tuple(left))

    def given_up(self) -> Log:
        """In the next turn: a transaction that read the log before cannot be decided any more."""
        return replace(self, turn=self.turn + 1)

    def overlaid(self, cells: Cells) -> dict[str, bytes]:
        """A row's cells but for the log, with those that open commits put."""
        seen = {name: value for name, value in cells.items() if name != LOG}
        for commit in self.commits:
            seen |= commit.cells
        return {name: value for name, value in seen.items() if value}

    def encode(self) -> bytes:
        """The cell's bytes, always the same for the same log."""
        header: dict[str, object] = {"sequence": self.sequence, "last": self.last}
        if self.turn:
            header["turn"] = self.turn
        if self.moves:
            header["moves"] = self.moves
        if self.commits:
            header["open"] = [_listed(commit) for commit in self.commits]
        if self.intent is not None:
            intent = self.intent
            header["intent"] = [intent.id, intent.primary.hex(), intent.sequence, intent.turn]
        return json.dumps(header, separators=(",", ":")).encode() + b"\n" + self.state

    @staticmethod
    def decode(data: bytes | None) -> Log:
        """The log of a cell; that of a row that was never written, where there is none.

        Raises:
            CorruptRow: the bytes are no log.
        """
        if not data:
            return Log()
        line, _, state = data.partition(b"\n")
        log = _remembered(line) if len(line) <= _SHORT else _decoded(line)
        if not state:
            return log
        return Log(log.sequence, log.turn, log.moves, log.last, log.commits, log.intent, state)


UNSETTLED: Final = (b'"open":', b'"intent":')
"""One of these is in each log that is not settled."""


def is_settled(data: bytes | None) -> bool:
    """Whether the log of a cell has no open commit and no intent, so that the row's cells are what they seem.

    >>> is_settled(None), is_settled(Log(sequence=7, last="a").encode())
    (True, True)
    >>> is_settled(Log(intent=Intent("1/lake1/4711/ab", b"Xprimary", 0, 0)).encode())
    False
    """
    if not data:
        return True
    end = data.find(b"\n")
    return all(data.find(mark, 0, end) < 0 for mark in UNSETTLED)


def spans_of(keys: Iterable[bytes]) -> tuple[Span, ...]:
    """Where row keys lie: companion rows have a span of their own, as they sort below all partitions."""
    companions: list[bytes] = []
    partitions: list[bytes] = []
    for key in keys:
        (companions if key.startswith(_COMPANION) else partitions).append(key)
    return tuple((min(some), max(some)) for some in (companions, partitions) if some)


def _listed(commit: Commit) -> list[object]:
    writes = [b64encode(commit.writes).decode()] if commit.writes else []
    return [
        commit.id,
        commit.sequence,
        commit.primary.hex(),
        commit.stored,
        [[first.hex(), last.hex()] for first, last in commit.spans],
        commit.moves,
        {name: b64encode(value).decode() for name, value in commit.cells.items()},
        False,  # up to format 5: whether it wrote any number of partition rows
        *writes,
    ]


def _decoded(line: bytes) -> Log:
    """The log without its state."""
    try:
        header = json.loads(line)
        intent = header.get("intent")
        return Log(
            header["sequence"],
            header.get("turn", 0),
            header.get("moves", 0),
            header["last"],
            tuple(map(_commit, header.get("open", ()))),
            None if intent is None else Intent(intent[0], bytes.fromhex(intent[1]), intent[2], intent[3]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise CorruptRow("the log of a catalog row cannot be decoded", log=line[:80], hint=RESTORE) from error


_remembered: Final = lru_cache(maxsize=256)(_decoded)  # a log is read far more often than it changes


def _commit(listed: list[Any]) -> Commit:
    """The commit of `_listed`'s list, which ends with the writes where there are any."""
    commit_id, sequence, primary, is_stored, spans, moves, cells, _, *writes = listed
    return Commit(
        id=commit_id,
        sequence=sequence,
        primary=bytes.fromhex(primary),
        stored=is_stored,
        spans=tuple((bytes.fromhex(first), bytes.fromhex(last)) for first, last in spans),
        moves=moves,
        cells={name: b64decode(value) for name, value in cells.items()},
        writes=b64decode(writes[0]) if writes else b"",
    )
