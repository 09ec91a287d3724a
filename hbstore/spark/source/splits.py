"""Splitting a plan: ranges of keys that hold about as many of the selected partitions each, for as many tasks.

A range becomes up to 64 cells by seeks alone (`hbstore.spark.key_slices`), which tells nothing of how many rows are in
each. So each cell is counted once, next to the rows; too large ones are cut again, small neighbours share a task.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from hbstore.keys.row_key import after_cell, cell_start
from hbstore.plans.scan_plan import MultiScanPlan, ScanKind, ScanMarker, ScanPlan
from hbstore.plans.statistics import Statistics
from hbstore.rows.interface import Rows
from hbstore.spark.key_slices import KeyRange, key_slices

_CELLS: Final = 64


def splits(plan: MultiScanPlan, rows: Rows, statistics: Statistics, size: int) -> list[KeyRange]:
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


def within(plan: MultiScanPlan, split: KeyRange) -> MultiScanPlan:
    """What a plan reads inside one of its splits."""
    scans = []
    for scan in plan.scans:
        start, stop = max(scan.start.key, split[0]), min(scan.stop.key, split[1])
        if start < stop:
            scans.append(replace(scan, start=ScanMarker(start), stop=ScanMarker(stop)))
    return MultiScanPlan(tuple(scans), plan.schema)


def _cells(plan: MultiScanPlan, rows: Rows, size: int) -> Iterator[tuple[bytes, int]]:
    """Where ranges begin that are not worth cutting, in key order, and how many selected partitions each holds."""
    for scan in plan.scans:
        if scan.kind is ScanKind.GET:
            yield scan.start.key, 1
        else:
            yield from _Cells(scan, rows, size).of(scan.start.key, scan.stop.key)


@dataclass(frozen=True, slots=True)
class _Cells:
    scan: ScanPlan
    rows: Rows
    size: int

    def of(self, start: bytes, stop: bytes) -> Iterator[tuple[bytes, int]]:
        fence = self._fence if self.scan.kind is ScanKind.SKIP else None
        pieces = key_slices(self.rows, start, stop, _CELLS, fence)
        for low, high in pieces:
            count = self.rows.count(low, high, self.scan.residual)
            if count > self.size and len(pieces) > 1:
                yield from self.of(low, high)
            elif count:
                yield low, count

    def _fence(self, first: bytes, key: bytes) -> bytes:
        """Where a half may begin near a key: a skip scan reads whole values of the column that it skips over."""
        column, columns = self.scan.column, len(self.scan.schema.names)
        value = key[: cell_start(key, column + 1, columns)]
        if not first.startswith(value):
            return value
        before = cell_start(key, column, columns)
        return key[:before] + after_cell(self.scan.schema.types[column], value[before:])
