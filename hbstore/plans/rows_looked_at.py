"""How many rows a plan's scans looked at, once they ran: counted where that is free, else estimated."""

from __future__ import annotations

from collections.abc import Sequence

from hbstore.keys import TAG_END, TAG_NULL
from hbstore.plans.estimate import Estimator
from hbstore.plans.notation import shared_cells
from hbstore.plans.scan_plan import MultiScanPlan, RelativeScan, ScanKind, ScanPlan
from hbstore.plans.statistics import Statistics
from hbstore.rows.interface import Costs

_FREE = Costs(0, 0, 0, 0)


def rows_looked_at(plan: MultiScanPlan, statistics: Statistics, returned: int) -> int:
    """Rows that a plan's scans looked at, those that a residual dropped among them.

    Where keys alone decide, they are the rows that were returned. Rows that a residual drops are dropped next to the
    rows, so nobody here sees them: then the number comes from the table's statistics, and of a read that stopped early
    it is too high. It is never below what was returned. O(scans).

    Args:
        plan: what was run.
        statistics: of its table.
        returned: how many rows it selected.
    """
    if all(scan.residual is None and scan.kind is not ScanKind.SKIP for scan in plan.scans):
        return returned
    estimator = Estimator(plan.schema, statistics, _FREE)
    return max(returned, round(sum(_absolute(scan, estimator) for scan in plan.scans)))


def _absolute(scan: ScanPlan, estimator: Estimator) -> float:
    if scan.kind is ScanKind.GET:
        return 1.0
    schema = scan.schema
    start = scan.start.key[len(schema.prefix) :]
    stop = scan.stop.key[len(schema.prefix) :] if scan.stop.key.startswith(schema.prefix) else b""
    fixed, left, right = shared_cells(start, stop, schema)
    return _range(scan.kind, len(fixed), left or TAG_NULL, right or TAG_END, scan.below, estimator)


def _relative(scan: RelativeScan, column: int, estimator: Estimator) -> float:
    if scan.kind is ScanKind.GET:
        return 1.0
    return _range(scan.kind, column + len(scan.cells), scan.start, scan.stop, scan.below, estimator)


def _range(
    kind: ScanKind, column: int, start: bytes, stop: bytes, below: Sequence[RelativeScan], estimator: Estimator
) -> float:
    if column >= len(estimator.schema.names):
        return 1.0
    if kind is ScanKind.SCAN:
        return estimator.rows(column, start, stop) or 0.0
    each = sum(_relative(scan, column + 1, estimator) for scan in below)
    return (estimator.values(column, start, stop) or 0.0) * (1 + each)
