"""The rest of a plan behind a key: how a listing goes on where its last page ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hbstore.keys.row_key import RESPELLED, cell_start
from hbstore.plans.scan_plan import MultiScanPlan, ScanKind, ScanMarker, ScanPlan


def behind(plan: MultiScanPlan, key: bytes) -> MultiScanPlan:
    """What a plan selects behind a row's key. O(scans).

    Args:
        plan: sorted, disjoint scans.
        key: the row key of a partition of the plan's table, which need not be there.
    """
    return MultiScanPlan(tuple(one for scan in plan.scans for one in _rest(scan, key)), plan.schema)


def _rest(scan: ScanPlan, key: bytes) -> Iterator[ScanPlan]:
    start = key + b"\0"  # the next key that there can be
    if start <= scan.start.key:
        yield scan
    elif start < scan.stop.key and scan.kind is ScanKind.SCAN:
        yield replace(scan, start=ScanMarker(start))
    elif start < scan.stop.key and scan.kind is ScanKind.SKIP:
        # Below the value that the key has, all that is left is read and checked; then values are skipped as before.
        columns, column = len(scan.schema.names), scan.column
        following = key[: cell_start(key, column + 1, columns)] + RESPELLED
        turn = ScanMarker(min(following, scan.stop.key))
        yield ScanPlan(ScanKind.SCAN, ScanMarker(start), turn, scan.residual, scan.schema)
        if turn.key < scan.stop.key:
            yield replace(scan, start=turn)
