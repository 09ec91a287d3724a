"""Splitting a plan: ranges of keys that hold about as many of the selected partitions each, for as many tasks.

A range is halved between its first key and its end, by bytes, and the half is moved to the next key that is there.
That takes a few seeks and tells nothing of how many rows are in each half. So a range becomes up to 64 cells by seeks
alone, each cell is counted once, next to the rows; too large ones are halved again, small neighbours share a task.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, TypeAlias

from hbstore.keys import after_cell, cell_start
from hbstore.plans.scan_plan import MultiScanPlan, ScanKind, ScanMarker, ScanPlan
from hbstore.plans.statistics import Statistics
from hbstore.rows.interface import Rows

Split: TypeAlias = tuple[bytes, bytes]
"""Keys ``[start, stop)``."""

_CELLS: Final = 64


def splits(plan: MultiScanPlan, rows: Rows, statistics: Statistics, size: int) -> list[Split]:
    """Sorted ranges of keys without gaps, from the plan's first key to its last, of about ``size`` partitions each.

    What a task reads is decided when it runs: where nothing is now, something may have been added then. A table that is
    known to be as small as ``size`` is one range, and nothing is counted. Else it is O(rows looked at), in the backend,
    and some thousand seeks. Scans keep their order; several small ones share a range.
    """
    if not plan.scans:
        return [(b"", b"")]
    starts = [plan.scans[0].start.key]
    if not statistics.known or statistics.distinct[-1] > size:
        filled = 0
        for start, count in _cells(plan, rows, size):
            if filled and filled + count > size:
                starts.append(start)
                filled = 0
            filled += count
    return list(pairwise([*starts, plan.scans[-1].stop.key]))


def within(plan: MultiScanPlan, split: Split) -> MultiScanPlan:
    """What a plan reads inside one of its splits."""
    scans = []
    for scan in plan.scans:
        start, stop = max(scan.start.key, split[0]), min(scan.stop.key, split[1])
        if start < stop:
            scans.append(replace(scan, start=ScanMarker(start), stop=ScanMarker(stop)))
    return MultiScanPlan(tuple(scans), plan.schema)


def _cells(plan: MultiScanPlan, rows: Rows, size: int) -> Iterator[tuple[bytes, int]]:
    """Where ranges begin that are not worth halving, in key order, and how many selected partitions each holds."""
    for scan in plan.scans:
        if scan.kind is ScanKind.GET:
            yield scan.start.key, 1
        else:
            yield from _Halver(scan, rows, size).cells(scan.start.key, scan.stop.key)


@dataclass(frozen=True, slots=True)
class _Halver:
    scan: ScanPlan
    rows: Rows
    size: int

    def cells(self, start: bytes, stop: bytes) -> Iterator[tuple[bytes, int]]:
        pieces = [(start, stop)]
        while len(pieces) < _CELLS:
            halves = [half for piece in pieces for half in self._halves(*piece)]
            if len(halves) == len(pieces):
                break
            pieces = halves
        for low, high in pieces:
            count = self.rows.count(low, high, self.scan.residual)
            if count > self.size and len(pieces) > 1:
                yield from self.cells(low, high)
            elif count:
                yield low, count

    def _halves(self, start: bytes, stop: bytes) -> list[Split]:
        """Two ranges with rows in both, or the range as it is where that cannot be."""
        first = self.rows.first_key(start, stop)
        if first is None or self.rows.first_key(first + b"\0", stop) is None:
            return [(start, stop)]
        high = stop
        while (middle := _middle(first, high)) is not None:
            key = self.rows.first_key(middle, high)
            if key is not None:
                fence = self._fence(first, key)
                if first < fence < stop and self.rows.first_key(fence, stop) is not None:
                    return [(start, fence), (fence, stop)]
                break
            high = middle
        return [(start, stop)]

    def _fence(self, first: bytes, key: bytes) -> bytes:
        """Where a half may begin at or near a key: a skip scan reads whole values of the column that it skips over."""
        if self.scan.kind is not ScanKind.SKIP:
            return key
        column, columns = self.scan.column, len(self.scan.schema.names)
        value = key[: cell_start(key, column + 1, columns)]
        if not first.startswith(value):
            return value
        before = cell_start(key, column, columns)
        return key[:before] + after_cell(self.scan.schema.types[column], value[before:])


def _middle(low: bytes, high: bytes) -> bytes | None:
    """Bytes about half-way above ``low`` and below ``high``; None where there are none of their length.

    >>> _middle(b"a0", b"a4"), _middle(b"a", b"b")
    (b'a2', None)
    """
    width = max(len(low), len(high))
    ends = [int.from_bytes(one.ljust(width, b"\0"), "big") for one in (low, high)]
    middle = sum(ends) // 2
    return None if middle == ends[0] else middle.to_bytes(width, "big")
