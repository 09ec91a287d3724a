"""Plan: a filter on a table to a FilterPlan. The one place where plans are made."""

from __future__ import annotations

from hbstore.filters.tree import ExpressionTree
from hbstore.plans.bind import bind
from hbstore.plans.estimate import Estimator
from hbstore.plans.narrow import MAX_SCANS, Narrower
from hbstore.plans.scan_plan import MultiScanPlan, absolute
from hbstore.plans.schema import KeySchema
from hbstore.plans.statistics import Statistics
from hbstore.rows.interface import Costs
from hbstore.rows.predicate import Predicate
from hbstore.times.clock import Now


def plan_filter(
    tree: ExpressionTree | None,
    schema: KeySchema,
    statistics: Statistics,
    costs: Costs,
    budget: int = MAX_SCANS,
    now: Now | None = None,
) -> MultiScanPlan:
    """The scans that select what a filter selects.

    Args:
        tree: the filter; None selects everything.
        schema: the table.
        statistics: what is known of its rows.
        costs: what reading costs on its backend.
        budget: how many scans there may be.
        now: what its time ranges are relative to; None for the system's time. A caller that keeps plans passes it, to
            see whether the planner asked for the time.

    Raises:
        UnknownColumnError: the filter names a column that is not a partition column.
        FilterTypeError: a literal or a time range cannot be compared with its column exactly.
        InvalidTimeRange: a time range ends before it begins.
        InvalidTime: a relative time is outside of the years 1 to 9999.
    """
    return plan_predicate(bind(tree, schema, now or Now()), schema, statistics, costs, budget)


def plan_predicate(
    predicate: Predicate, schema: KeySchema, statistics: Statistics, costs: Costs, budget: int = MAX_SCANS
) -> MultiScanPlan:
    """The scans of a bound filter. O(n log n) for n comparisons, and O(1) more for each scan."""
    if not schema.names:
        return MultiScanPlan((), schema)
    scans = Narrower(Estimator(schema, statistics, costs), budget).narrow(predicate)
    return MultiScanPlan(tuple([absolute(scan, schema) for scan in scans]), schema)
