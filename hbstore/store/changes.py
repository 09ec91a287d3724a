"""Changes: what is to happen to a table's partitions, as one value.

A change is decided as a whole and may be applied any number of times with the same result, by its writer or by anyone
who finds its intent in the journal; so its bytes hold all that applying it takes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final

from hbstore.errors import CorruptRow
from hbstore.rows.damage import RESTORE
from hbstore.rows.interface import PartitionRow
from hbstore.store.touched import Touched
from hbstore.totals import NOTHING, Totals

ANNEX: Final = b"\x01"
"""What the keys of annexes begin with, below every name of a database."""

_LENGTH: Final = struct.Struct(">I")


class ChangeKind(Enum):
    """What a change does; the values stand in journals.

    REPLACE drops some partitions and puts others. An exchange stands in the journal of the table that partitions
    leave, and beforehand as RECEIVE in the journal of the table that they go to.
    """

    ADD = "add"
    DROP = "drop"
    ALTER = "alter"
    RENAME = "rename"
    REPLACE = "replace"
    EXCHANGE = "exchange"
    RECEIVE = "receive"
    DROP_TABLE = "drop_table"
    RENAME_TABLE = "rename_table"
    ALTER_TABLE = "alter_table"


MOVES: Final = frozenset((ChangeKind.RENAME, ChangeKind.REPLACE, ChangeKind.EXCHANGE))
"""Changes that take partitions away and bring others, of which a reader sees all or nothing."""

TABLE_WIDE: Final = frozenset((ChangeKind.DROP_TABLE, ChangeKind.RENAME_TABLE, ChangeKind.ALTER_TABLE))
"""Changes of all partitions that a table has."""


@dataclass(frozen=True, slots=True)
class Change:
    """Rows to put, keys to delete, and what must hold before.

    Attributes:
        kind: for the journal and for people.
        puts: rows that replace what is under their keys.
        deletes: keys that are removed; none of them is put.
        absent: keys that must not be there yet, with each partition's values for the error.
        present: keys that must be there, likewise.
        skip_present: leave out what is in ``absent`` and there already, rather than fail.
        skip_absent: leave out what is in ``present`` and not there, rather than fail.
        expected: keys with the payload that must be there still, or None where nothing must be.
        times: by key, the times of rows that are put, for a table that keeps timelines.
        touched: the times that come and go with it in the table's timelines.
        peer_touched: for an exchange, those of the table that partitions come to.
        gained: what the table's totals gain, which counts when the change is decided; it is not in the bytes.
    """

    kind: ChangeKind
    puts: tuple[PartitionRow, ...] = ()
    deletes: tuple[bytes, ...] = ()
    absent: dict[bytes, tuple[str, ...]] = field(default_factory=dict)
    present: dict[bytes, tuple[str, ...]] = field(default_factory=dict)
    skip_present: bool = False
    skip_absent: bool = False
    expected: dict[bytes, bytes | None] = field(default_factory=dict)
    times: dict[bytes, list[tuple[str, int]]] = field(default_factory=dict)
    touched: Touched = field(default_factory=Touched)
    peer_touched: Touched = field(default_factory=Touched)
    gained: Totals = NOTHING

    def keys(self) -> list[bytes]:
        """All keys that the change touches, sorted."""
        return sorted({row.key for row in self.puts}.union(self.deletes))

    def looked_at(self) -> list[bytes]:
        """All keys that it touches, or that must be as expected, sorted: nothing may be open on any of them."""
        return sorted({*self.keys(), *self.expected}) if self.expected else self.keys()

    def ends(self) -> tuple[bytes, bytes]:
        """The first and the last key that it touches, but for annexes of partitions that it touches as well.

        A change of an annex names its partition's key, too, and so finds this change between these ends.
        """
        keys = self.keys()
        partitions = [key for key in keys if not key.startswith(ANNEX)]
        return (partitions[0], partitions[-1]) if partitions else (keys[0], keys[-1])

    def without(self, keys: set[bytes]) -> Change:
        """The change but for some keys."""
        puts = tuple(row for row in self.puts if row.key not in keys)
        deletes = tuple(key for key in self.deletes if key not in keys)
        times = {key: times for key, times in self.times.items() if key not in keys}
        return replace(self, puts=puts, deletes=deletes, times=times)

    def encode(self) -> bytes:
        """Rows and deleted keys as length-prefixed bytes; the conditions were checked before and are left out."""
        parts = [_LENGTH.pack(len(self.puts))]
        for row in self.puts:
            parts += _prefixed(row.key)
            parts.append(_LENGTH.pack(len(row.cells)))
            for cell in row.cells:
                parts += _prefixed(cell)
            parts += _prefixed(row.payload)
        parts.append(_LENGTH.pack(len(self.deletes)))
        for key in self.deletes:
            parts += _prefixed(key)
        parts += _prefixed(self.touched.encode())
        parts += _prefixed(self.peer_touched.encode())
        return b"".join(parts)

    @staticmethod
    def decode(kind: ChangeKind, data: bytes) -> Change:
        """The change of `encode`'s bytes.

        Raises:
            CorruptRow: they are not.
        """
        reader = _Reader(data)
        try:
            puts = tuple(
                PartitionRow(reader.bytes(), tuple(reader.bytes() for _ in range(reader.number())), reader.bytes())
                for _ in range(reader.number())
            )
            deletes = tuple(reader.bytes() for _ in range(reader.number()))
            touched, peer_touched = Touched.decode(reader.bytes()), Touched.decode(reader.bytes())
        except (struct.error, EOFError) as error:
            raise CorruptRow("the change of an intent cannot be decoded", bytes=len(data), hint=RESTORE) from error
        return Change(kind, puts, deletes, touched=touched, peer_touched=peer_touched)


@dataclass(slots=True)
class _Reader:
    data: bytes
    at: int = 0

    def number(self) -> int:
        number: int = _LENGTH.unpack_from(self.data, self.at)[0]
        self.at += _LENGTH.size
        return number

    def bytes(self) -> bytes:
        size = self.number()
        start, self.at = self.at, self.at + size
        if self.at > len(self.data):
            raise EOFError
        return self.data[start : self.at]


def _prefixed(data: bytes) -> Iterator[bytes]:
    yield _LENGTH.pack(len(data))
    yield data
