"""Templates: what the partitions of a table have alike, kept once, so that the row of each holds only the rest.

A table's row keeps some templates, each the end of a partition's struct as it was when its like came first. A
partition's row then holds its values, as the struct begins with them, and behind these the rest of the struct in
deflate (RFC 1951), with the template as its preset dictionary: what is as there takes a few bytes.
What is read is the struct that was written, to the byte. docs/rows.md has the form.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Final

from hbstore.byte_cache import remembered
from hbstore.errors import CorruptRow
from hbstore.model.structs import VALUES_START
from hbstore.rows.damage import RESTORE

TEMPLATES: Final = "d:templates"
"""The cell of a table's row that has them: each with its length before it."""

MOST: Final = 8
"""Templates of a table: partitions that other engines write, or with other columns, may be like none of the first."""

LARGEST: Final = 31 << 10
"""Bytes of a template, and of all of a table but the first: deflate looks back no further."""

WORTH: Final = 4
"""A partition whose rest takes more than this part of its bytes is a template for others."""

ID: Final = 4
_LENGTH: Final = struct.Struct(">I")
_length_at: Final = _LENGTH.unpack_from
_LONGEST_VALUES: Final = 255
_LEVEL: Final = 6
_MEMORY: Final = 5
_ROOM: Final = 1 << 10
"""Bytes that a compressor looks back further than to the template's beginning."""


@dataclass(frozen=True, slots=True)
class Templates:
    """The templates of a table.

    Attributes:
        texts: the templates by the numbers that rows have; the first bytes of their SHA-256, so that a number never
            means another template, also where another table had the name before.

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

    @staticmethod
    def of(cell: bytes | None) -> Templates:
        """Those in the cell of a table's row.

        Raises:
            CorruptRow: it is none.
        """
        return _decoded(cell) if cell else NO_TEMPLATES

    def encode(self) -> bytes:
        """The cell."""
        return b"".join(_LENGTH.pack(len(text)) + text for text in self.texts.values())

    def packed(self, payload: bytes) -> bytes:
        """What a partition's row holds; the struct itself where that is not larger, or is not understood."""
        return self._packed(payload, values_size(payload))

    def _packed(self, payload: bytes, size: int) -> bytes:
        if not size or not self.texts:
            return payload
        values, rest = payload[:size], payload[size:]
        smallest = payload
        for number, text in reversed(self.texts.items()):  # the last one is likeliest to be like what comes now
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
        if not size or _is_like(row, payload, size) or len(self.texts) >= MOST:
            return self, row
        text = payload[size:][-LARGEST:]
        kept = sum(map(len, self.texts.values()))
        if kept and kept + len(text) > LARGEST:
            return self, row
        more = Templates({**self.texts, sha256(text).digest()[:ID]: text})
        return more, more.packed(payload)

    def unpacked(self, stored: bytes) -> bytes:
        """The struct of a partition, of what its row holds; that itself where no template is the one that it names."""
        number = number_of(stored)
        return stored if number is None else unpacked_with(self.texts.get(number), stored)


NO_TEMPLATES: Final = Templates({})


def number_of(stored: bytes) -> bytes | None:
    """The number of the template with which a partition's row is packed; None where it is the struct itself.

    A struct ends with 00; what is packed ends with the size of the values, behind which the number stands.
    """
    if stored[-1:] in (b"", b"\0") or not stored.startswith(VALUES_START):
        return None
    return stored[stored[-1] :][:ID]


def unpacked_with(text: bytes | None, stored: bytes) -> bytes:
    """The struct of a packed partition; what cannot be unpacked stays as it is, and `hbstore check` names it."""
    if text is None:
        return stored
    size = stored[-1]
    try:
        return stored[:size] + zlib.decompressobj(-zlib.MAX_WBITS, text).decompress(stored[size + ID : -1])
    except zlib.error:
        return stored


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
    texts, at = {}, 0
    while at < len(cell):
        begin = at + _LENGTH.size
        at = begin + int.from_bytes(cell[at:begin], "big")
        text = cell[begin:at]
        texts[sha256(text).digest()[:ID]] = text
    if at > len(cell):
        raise CorruptRow("the templates of a table cannot be decoded", bytes=len(cell), hint=RESTORE)
    return Templates(texts)
