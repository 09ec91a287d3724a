"""How many rows a plan's scans looked at, once they ran: counted where that is free, else estimated."""

from __future__ import annotations

from hbstore.plans.estimate import Estimator
from hbstore.plans.scan_plan import MultiScanPlan, ScanKind, relative
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
    estimate = Estimator(plan.schema, statistics, _FREE).estimate([relative(scan) for scan in plan.scans])
    return returned if estimate is None else max(returned, round(estimate.rows))
