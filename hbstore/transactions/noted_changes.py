"""Notes of changes: while a table is copied, each change of its row notes which partition rows it writes.

So a copy that began before a change can follow it without looking at all rows again. A cell of the row says that notes
are wanted; who changes the row reads that cell with the log on which the change rests. The notes are companion rows,
and part of the change: they are decided with it and rolled forward with it.

    01 table-id FD sequence part      the keys of the rows, each with its length before it, in 4 bytes

Changes are numbered without holes, and each leaves a note, even if it writes no partition row. So a missing note shows:
that of an earlier version's process, or where another copy ended the notes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from hbstore.rows.interface import PartitionRow, Rows

NOTING: Final = "d:noting"
"""The cell of a table's row that says since which change its changes are noted, and where."""
MOST: Final = 100_000
"""Changes that are noted before they no longer are, as the process that wanted them must have died."""
NOTES: Final = b"\xfd"
"""Stands behind a table's id in the keys of notes; no cell of a partition's key begins with it."""
_KEYS: Final = 5_000
"""So many keys are in one note; a cell of HBase takes 10 MiB."""
_SINCE: Final = struct.Struct(">Q")
_NOTE: Final = struct.Struct(">QI")
_LENGTH: Final = struct.Struct(">I")


@dataclass(frozen=True, slots=True)
class Noting:
    r"""That the changes of a row are noted.

    Attributes:
        since: the number of the first change that is.
        prefix: what the keys of the notes begin with.

    >>> noting = Noting(7, b"\1table-id\xfd")
    >>> [row.payload for row in noting.notes(8, [b"key"])]
    [b'\x00\x00\x00\x03key']
    >>> noting.notes(7 + MOST, [b"key"])
    []
    >>> Noting.decode(noting.encode()) == noting
    True
    """

    since: int
    prefix: bytes

    def notes(self, sequence: int, keys: Sequence[bytes]) -> list[PartitionRow]:
        """The notes of a change: one at least, unless it is one of those that are not noted any more.

        Args:
            sequence: the number of the change.
            keys: of all partition rows that it writes.
        """
        if sequence - self.since >= MOST:
            return []
        parts = [keys[at : at + _KEYS] for at in range(0, len(keys), _KEYS)] or [()]
        return [
            PartitionRow(
                self.prefix + _NOTE.pack(sequence, number),
                (),
                b"".join(chain.from_iterable((_LENGTH.pack(len(key)), key) for key in part)),
            )
            for number, part in enumerate(parts)
        ]

    def keys_since(self, rows: Rows, before: int, last: int) -> set[bytes] | None:
        """The keys of the partition rows that some changes wrote, all of which is written.

        Args:
            rows: where the notes are.
            before: the number of the change before the first of them.
            last: that of the last.

        Returns:
            None where one of them left no note.
        """
        keys: set[bytes] = set()
        noted = set()
        start, stop = (self.prefix + _SINCE.pack(number) for number in (before + 1, last + 1))
        for key, payload in chain.from_iterable(rows.scan(start, stop)):
            noted.add(_NOTE.unpack_from(key, len(self.prefix))[0])
            at = 0
            while at < len(payload):
                end = at + _LENGTH.size + _LENGTH.unpack_from(payload, at)[0]
                keys.add(payload[at + _LENGTH.size : end])
                at = end
        return keys if len(noted) == last - before else None

    def note_keys(self, rows: Rows, last: int, limit: int) -> list[bytes]:
        """The first keys of notes of changes up to one."""
        stop = self.prefix + _SINCE.pack(last + 1)
        return [key for batch in rows.scan(self.prefix, stop, limit=limit) for key, _ in batch]

    def encode(self) -> bytes:
        """The bytes of the cell."""
        return _SINCE.pack(self.since) + self.prefix

    @staticmethod
    def decode(cell: bytes) -> Noting:
        """What `encode` made the bytes of."""
        return Noting(_SINCE.unpack_from(cell)[0], cell[_SINCE.size :])
