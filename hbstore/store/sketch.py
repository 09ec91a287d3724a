"""Sketch: about how many distinct key prefixes a table has, at each depth, in a few kilobytes.

For each depth the 128 smallest hashes of the prefixes seen so far (KMV, "k minimum values"). Below 128 distinct
prefixes the count is exact, which is where the planner's choice between skip scan and scan lies; above, the density of
the smallest hashes tells it within about 9 %. Adding the same prefix again changes nothing, so repeated and resumed
writes are harmless. Dropped partitions stay counted until the statistics are refreshed.

Source: Bar-Yossef, Jayram, Kumar, Sivakumar, Trevisan, "Counting distinct elements in a data stream", RANDOM 2002.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from hbstore.plans.statistics import Statistics

KEPT: Final = 128
_SPACE: Final = 1 << 64
_VERSION: Final = b"\x01"


@dataclass(frozen=True, slots=True)
class Sketch:
    """The smallest hashes of distinct prefixes, sorted, for each depth.

    >>> sketch = Sketch.empty(2).add([(b"a", b"x"), (b"a", b"y"), (b"b", b"x")])
    >>> sketch.statistics().distinct
    (2, 3)
    """

    smallest: tuple[tuple[int, ...], ...]

    @staticmethod
    def empty(columns: int) -> Sketch:
        """The sketch of a table without partitions."""
        return Sketch(((),) * columns)

    def add(self, rows: Iterable[tuple[bytes, ...]]) -> Sketch:
        """With the cells of more rows; the same object if they change nothing. O(rows × columns)."""
        prefixes: list[set[bytes]] = [set() for _ in self.smallest]
        for cells in rows:
            for depth, seen in enumerate(prefixes):
                seen.add(cells[0] if not depth else b"".join(cells[: depth + 1]))
        merged = tuple(_merge(known, seen) for known, seen in zip(self.smallest, prefixes, strict=True))
        return self if all(one is two for one, two in zip(merged, self.smallest, strict=True)) else Sketch(merged)

    def statistics(self) -> Statistics:
        """The estimated counts."""
        return Statistics(tuple(_estimate(smallest) for smallest in self.smallest))

    def encode(self) -> bytes:
        """The bytes of the ``s:stats`` cell: a version, the number of depths, then each depth's count and hashes."""
        parts = [_VERSION, struct.pack(">H", len(self.smallest))]
        parts += [struct.pack(f">H{len(one)}Q", len(one), *one) for one in self.smallest]
        return b"".join(parts)

    @staticmethod
    def decode(data: bytes | None, columns: int) -> Sketch:
        """The sketch of a cell's bytes; an empty one where there are none, or none of this version and table."""
        if not data or data[:1] != _VERSION or struct.unpack_from(">H", data, 1)[0] != columns:
            return Sketch.empty(columns)
        smallest = []
        at = 3
        for _ in range(columns):
            count = struct.unpack_from(">H", data, at)[0]
            smallest.append(struct.unpack_from(f">{count}Q", data, at + 2))
            at += 2 + 8 * count
        return Sketch(tuple(smallest))


def _merge(smallest: tuple[int, ...], prefixes: set[bytes]) -> tuple[int, ...]:
    full = len(smallest) == KEPT
    bound = smallest[-1] if full else _SPACE
    hashes = {int.from_bytes(blake2b(prefix, digest_size=8).digest(), "big") for prefix in prefixes}
    fresh = {one for one in hashes if one < bound}.difference(smallest)
    return tuple(sorted(fresh.union(smallest))[:KEPT]) if fresh else smallest


def _estimate(smallest: tuple[int, ...]) -> int:
    if len(smallest) < KEPT:
        return len(smallest)
    return round((KEPT - 1) * _SPACE / smallest[-1])
