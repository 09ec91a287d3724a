"""Reasons: why a plan reads as it does, in sentences with the planner's own numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hbstore.plans.alternatives import Alternative
from hbstore.plans.estimate import Estimate, Estimator
from hbstore.plans.points import is_point
from hbstore.plans.scan_plan import ScanKind, ScanPlan, relative
from hbstore.rows.interface import Costs
from hbstore.rows.predicate import columns_of, has_like
from hbstore.texts.wording import plural

_NEARLY: Final = 1.05
"""Times as long that count as the same."""

_LARGE: Final = 0.2
"""The part of what another way takes longer that is worth a word."""


def why_taken(ways: Sequence[Alternative], estimator: Estimator) -> str:
    """Why a plan was taken and not another, in one or two sentences.

    Args:
        ways: the plan and the others that were weighed.
        estimator: what they were weighed by.
    """
    taken = next(way for way in ways if way.taken)
    if not taken.plan.scans:
        return "No partition can match, so nothing is read."
    if not estimator.statistics.known:
        return (
            "Nothing is known of the table's rows, so nothing could be weighed: the filter is narrowed where it names"
            " single values or few of them. hbstore repair counts the rows."
        )
    others = [way for way in ways if not way.taken and way.estimate is not None]
    if taken.estimate is None or not others:
        return "There is no other way to read what the filter selects."
    if all(scan.residual is None for scan in taken.plan.scans):
        lead = "The ranges hold nothing but what the filter selects: no row is read in vain. "
    elif any(scan.kind is ScanKind.SKIP for scan in taken.plan.scans):
        lead = f"A skip scan visits about {plural(round(taken.estimate.visited), 'value')}, and reads below each. "
    else:
        lead = (
            f"Reading {_rows(taken.estimate.rows)} and checking each costs less than seeking what the filter selects. "
        )
    later = [way for way in others if way.estimate.seconds > taken.estimate.seconds * _NEARLY]  # type: ignore[union-attr]
    other = later[0] if later else others[0]
    return f"{lead}{_sentence(other, taken, estimator.costs)}."


def why_not(other: Alternative, taken: Alternative, costs: Costs) -> str:
    """What the planner would have lost with another way; empty where too little is known."""
    if other.taken or other.estimate is None or taken.estimate is None:
        return ""
    cause = _cause(other.estimate, taken.estimate, costs)
    return f"{_times(other.estimate, taken.estimate)}{f': {cause}' if cause else ''}"


def why_checked(scan: ScanPlan) -> str:
    """Why a scan must still check its residual; empty where it has none."""
    if scan.residual is None or scan.kind is ScanKind.SKIP:
        return ""
    range_ = relative(scan)
    at = len(range_.cells)
    if is_point(scan.schema.types[at], range_.start, range_.stop):  # one value, in whatever spelling
        at += 1
    names = scan.schema.names
    columns = sorted(columns_of(scan.residual))
    if not columns:
        return ""
    if has_like(scan.residual) and columns == [at]:
        return f"A pattern, or what is computed from {names[at]}, is no range of keys: each value is checked."
    if columns[0] <= at:
        return "Several ranges were joined into this one, as a seek costs more than the rows between them."
    listed = " and ".join(names[column] for column in columns)
    return f"Keys are sorted by {names[at]} first: rows with the right {listed} lie apart, below each {names[at]}."


def _sentence(other: Alternative, taken: Alternative, costs: Costs) -> str:
    return f"The next best way ({other.way}) takes {why_not(other, taken, costs)}"


def _times(other: Estimate, taken: Estimate) -> str:
    ratio = other.seconds / taken.seconds if taken.seconds else 0
    if ratio < _NEARLY:
        return "as long"
    return f"{ratio:,.0f} times as long" if ratio >= 10 else f"{ratio:.2g} times as long"  # noqa: PLR2004


def _cause(other: Estimate, taken: Estimate, costs: Costs) -> str:
    """What another way does so much more of that it takes longer."""
    longer = other.seconds - taken.seconds
    more = (
        (costs.check * (other.checked - taken.checked), f"it checks {_rows(other.checked)}{_instead(taken.checked)}"),
        (costs.get * (other.gets - taken.gets), f"it gets {_rows(other.gets)}{_instead(taken.gets)}"),
        (
            costs.seek * (other.seeks - taken.seeks),
            f"it seeks {plural(round(other.seeks), 'time')}{_instead(taken.seeks)}",
        ),
    )
    return ", and ".join(cause for seconds, cause in more if seconds > longer * _LARGE > 0)


def _instead(number: float) -> str:
    return f" instead of {number:,.0f}" if round(number) else ""


def _rows(number: float) -> str:
    return plural(round(number), "row")
