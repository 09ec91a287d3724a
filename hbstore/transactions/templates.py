"""Templates: what the partitions of a table have alike, kept once, so that the row of each holds only the rest.

A table's row keeps some templates, each the end of a partition's struct as it was when its like came first. A
partition's row then holds its values, as the struct begins with them, and behind these the rest of the struct in
deflate (RFC 1951), with the template as its preset dictionary: what is as there takes a few bytes.
What is read is the struct that was written, to the byte, but for what became of all partitions since (`epochs.py`).
docs/rows.md has the form.
"""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from typing import Final

from hbstore.byte_cache import remembered
from hbstore.errors import CorruptRow
from hbstore.model.structs import VALUES_START
from hbstore.rows.damage import RESTORE
from hbstore.transactions.epochs import FIRST_EPOCH, MOST_RELOCATIONS, Epochs
from hbstore.transactions.payload_change import PayloadChange

TEMPLATES: Final = "d:templates"
"""The cell of a table's row that has them: each with its length before it, behind the epochs if there are several."""

MOST: Final = 8
"""Templates of an epoch: partitions that other engines write, or with other columns, may be like none of the first."""

LARGEST: Final = 31 << 10
"""Bytes of a template, and of all of an epoch but the first: deflate looks back no further."""

LARGEST_EARLIER: Final = 64 << 10
"""Bytes of the templates of earlier epochs. With more, all rows are written anew before another epoch begins."""

WORTH: Final = 4
"""A partition whose rest takes more than this part of its bytes is a template for others."""

ID: Final = 4
_LENGTH: Final = struct.Struct(">I")
_EPOCHS: Final = b"\xff"
"""Stands before the epochs; no template is so long."""
_WHOLE: Final = 1
"""Ends a whole struct of a later epoch than the first, whose number is before it; no values end so early."""
_EPOCH: Final = struct.Struct(">I")
_length_at: Final = _LENGTH.unpack_from
_LONGEST_VALUES: Final = 255
_LEVEL: Final = 6
_WINDOW: Final = -zlib.MAX_WBITS
_decompressor: Final = zlib.decompressobj
_MEMORY: Final = 5
_ROOM: Final = 1 << 10
"""Bytes that a compressor looks back further than to the template's beginning."""


@dataclass(frozen=True, slots=True)
class Templates:
    """The templates of a table.

    Attributes:
        texts: the templates by the numbers that rows have; the first bytes of their SHA-256, so that a number never
            means another template, also where another table had the name before.
        epochs: those of the table.
        earlier: the epochs of templates that rows are packed with no more.

    >>> from hbstore.model.objects import Column, Partition, Table
    >>> from hbstore.model.structs import PartitionEncoder
    >>> table = Table("shop", "sales", [Column("n", "double")], [Column("ds", "date")], location="s3://shop/sales")
    >>> first, second = map(PartitionEncoder(table).encode, [Partition(["2013-01-01"]), Partition(["2013-01-02"])])
    >>> templates, _ = NO_TEMPLATES.pack(first)
    >>> len(second), len(templates.packed(second))
    (190, 36)
    >>> templates.unpacked(templates.packed(second)) == second
    True
    """

    texts: dict[bytes, bytes]
    epochs: Epochs = FIRST_EPOCH
    earlier: dict[bytes, int] = field(default_factory=dict)
    _changes: dict[int, PayloadChange] = field(default_factory=dict, compare=False, repr=False)

    @staticmethod
    def of(cell: bytes | None) -> Templates:
        """Those in the cell of a table's row.

        Raises:
            CorruptRow: it is none.
        """
        return _decoded(cell) if cell else NO_TEMPLATES

    def encode(self) -> bytes:
        """The cell."""
        texts = b"".join(_LENGTH.pack(len(text)) + text for text in self.texts.values())
        if not self.epochs.current:
            return texts
        of = [self.earlier.get(number, self.epochs.current) for number in self.texts]
        line = json.dumps({**self.epochs.encode(), "of": of}, separators=(",", ":")).encode()
        return _EPOCHS + _LENGTH.pack(len(line)) + line + texts

    @property
    def current(self) -> dict[bytes, bytes]:
        """Those that rows are packed with."""
        if not self.earlier:
            return self.texts
        return {number: text for number, text in self.texts.items() if number not in self.earlier}

    @property
    def are_many(self) -> bool:
        """Whether rows of earlier epochs are to be written anew before another one begins."""
        kept = sum(len(self.texts[number]) for number in self.earlier)
        return kept > LARGEST_EARLIER or len(self.epochs.relocated) >= MOST_RELOCATIONS

    def in_epoch(self, epochs: Epochs) -> Templates:
        """These, with an epoch that has begun: rows are packed with none of them from now on."""
        earlier = dict.fromkeys(self.texts, self.epochs.current) | self.earlier
        return Templates(self.texts, epochs, earlier)

    def rewritten(self) -> Templates:
        """These where no row of an earlier epoch is left."""
        return Templates(self.current, self.epochs.rewritten())

    def packed(self, payload: bytes) -> bytes:
        """What a partition's row holds; the struct itself where that is not larger, or is not understood."""
        return self._packed(payload, values_size(payload))

    def _packed(self, payload: bytes, size: int) -> bytes:
        values, rest = payload[:size], payload[size:]
        smallest = self._whole(payload)
        for number, text in reversed(self.current.items()) if size else ():  # the last one is likeliest to be like it
            compressor = _compressor(text).copy()
            row = b"".join((values, number, compressor.compress(rest), compressor.flush(), bytes((size,))))
            smallest = min(smallest, row, key=len)
            if _is_like(row, payload, size):
                break
        return smallest

    def pack(self, payload: bytes) -> tuple[Templates, bytes]:
        """These, with one more if there is room and the partition is like none of them; and what its row holds."""
        size = values_size(payload)
        row = self._packed(payload, size)
        if not size or _is_like(row, payload, size):
            return self, row
        text = payload[size:][-LARGEST:]
        current = self.current
        kept = sum(map(len, current.values()))
        if len(current) >= MOST or (kept and kept + len(text) > LARGEST):
            return self, row
        texts = {**self.texts, _number(text, self.epochs.current): text}
        more = replace(self, texts=texts)
        return more, more.packed(payload)

    def unpacked(self, stored: bytes) -> bytes:
        """The struct of a partition as it is now; what its row holds where that names none of the templates."""
        size = stored[-1] if stored else 0
        if not size:
            payload, epoch = stored, 0
        elif size == _WHOLE:
            payload, epoch = _whole_struct(stored)
        else:
            number = stored[size : size + ID]
            text = self.texts.get(number)
            if text is None:
                return stored
            payload, epoch = unpacked_with(text, stored), self.earlier.get(number, self.epochs.current)
        if epoch >= self.epochs.current or payload[-1:] != b"\0":
            return payload
        change = self._changes.get(epoch)
        if change is None:
            change = self._changes[epoch] = self.epochs.change(epoch)
        return change.apply(payload, size if size > _WHOLE else 0)

    def epoch_of(self, stored: bytes) -> int | None:
        """In which epoch a partition's row was written; None where that is none of these, as it came later."""
        number = number_of(stored)
        if number is not None:
            return self.earlier.get(number, self.epochs.current if number in self.texts else None)
        epoch = _whole_struct(stored)[1] if stored[-1:] == bytes((_WHOLE,)) else 0
        return epoch if epoch <= self.epochs.current else None

    def _whole(self, payload: bytes) -> bytes:
        """What a row holds that is not packed."""
        if not self.epochs.current or not payload.startswith(VALUES_START) or payload[-1]:
            return payload
        return payload + _EPOCH.pack(self.epochs.current) + bytes((_WHOLE,))


NO_TEMPLATES: Final = Templates({})


def number_of(stored: bytes) -> bytes | None:
    """The number of the template with which a partition's row is packed; None where it is the struct itself.

    A struct ends with 00, or with 01 behind its epoch; what is packed ends with the size of the values, behind which
    the number stands.
    """
    if stored[-1:] in (b"", b"\0", b"\1") or not stored.startswith(VALUES_START):
        return None
    return stored[stored[-1] :][:ID]


def unpacked_with(text: bytes, stored: bytes) -> bytes:
    """The struct of a packed partition; what cannot be unpacked stays as it is, and `hbstore check` names it."""
    size = stored[-1]
    try:
        return stored[:size] + _decompressor(_WINDOW, text).decompress(stored[size + ID : -1])
    except zlib.error:
        return stored


def _whole_struct(stored: bytes) -> tuple[bytes, int]:
    """The struct in a row that ends with 01, and the epoch in which it was written."""
    if not stored.startswith(VALUES_START) or len(stored) <= _EPOCH.size:
        return stored, 0
    at = len(stored) - _EPOCH.size - 1
    return stored[:at], _EPOCH.unpack_from(stored, at)[0]


def _number(text: bytes, epoch: int) -> bytes:
    return sha256(_EPOCH.pack(epoch) + text if epoch else text).digest()[:ID]


def _is_like(row: bytes, payload: bytes, size: int) -> bool:
    """Whether a partition's row, whose values have this size, is so small that its template will do."""
    return len(row) - size <= len(payload) // WORTH


@lru_cache(maxsize=64)
def _compressor(text: bytes) -> zlib._Compress:
    """A compressor that knows a template. Copies of it are made in a fifth of the time."""
    window = min(zlib.MAX_WBITS, max(9, (len(text) + _ROOM).bit_length()))
    return zlib.compressobj(_LEVEL, zlib.DEFLATED, -window, _MEMORY, zlib.Z_FIXED, text)


def values_size(payload: bytes) -> int:
    """Bytes of a struct up to the end of its values; 0 where it is none, or they are too many for a packed row."""
    if not payload.startswith(VALUES_START) or payload[-1]:
        return 0
    at = len(VALUES_START) + _LENGTH.size
    try:
        for _ in range(_length_at(payload, len(VALUES_START))[0]):
            at += _LENGTH.size + _length_at(payload, at)[0]
            if at > _LONGEST_VALUES:
                return 0
    except struct.error:
        return 0
    return at if at < len(payload) else 0


@remembered
def _decoded(cell: bytes) -> Templates:
    epochs, of, at = FIRST_EPOCH, None, 0
    if cell.startswith(_EPOCHS):
        begin = len(_EPOCHS) + _LENGTH.size
        at = begin + int.from_bytes(cell[len(_EPOCHS) : begin], "big")
        epochs, of = Epochs.decode(cell[begin:at])
    texts: dict[bytes, bytes] = {}
    earlier = {}
    while at < len(cell):
        begin = at + _LENGTH.size
        at = begin + int.from_bytes(cell[at:begin], "big")
        text = cell[begin:at]
        epoch = of[len(texts)] if of is not None and len(texts) < len(of) else epochs.current
        number = _number(text, epoch)
        texts[number] = text
        if epoch < epochs.current:
            earlier[number] = epoch
    if at > len(cell) or (of is not None and len(of) != len(texts)):
        raise CorruptRow("the templates of a table cannot be decoded", bytes=len(cell), hint=RESTORE)
    return Templates(texts, epochs, earlier)
