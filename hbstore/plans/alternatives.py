"""Alternatives: the plans that the planner weighs for a filter, and what each would cost by its own estimates.

Each is a plan that the planner makes itself, where it may choose among fewer ways of reading.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hbstore.plans.coalesce import combine
from hbstore.plans.estimate import Estimate, Estimator
from hbstore.plans.generator import PartitionFilterGenerator
from hbstore.plans.narrow import Narrower, Ways
from hbstore.plans.scan_plan import MultiScanPlan, RelativeScan, ScanKind, ScanPlan, absolute, relative
from hbstore.rows.predicate import ALWAYS, Predicate
from hbstore.texts.wording import plural

MOST_SCANS: Final = 1_000
"""Of a plan with more scans only what is planned in no time is weighed: one scan over all, and the whole table."""

_WHOLE: Final = "whole table"
_RANGE: Final = "one range"
_SKIP: Final = Ways(check=False, single=False, join=False)
_SINGLE: Final = Ways(check=False, skip=False, join=False)
_WIDE: Final = Ways(narrow=False, join=False)
_APART: Final = Ways(join=False)


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to read what a filter selects.

    >>> print(sales.explain("ds = '2013-01-01'").alternatives[0])
    one range: 1 scan; 1 seek, about 24 rows, 0.015 ms (taken)

    Attributes:
        way: its name, such as ``skip scan``.
        plan: its scans.
        estimate: what they do, and how long that takes; None where too little is known of the table.
        taken: whether it is the plan.
    """

    way: str
    plan: MultiScanPlan
    estimate: Estimate | None
    taken: bool = False

    def to_dict(self) -> dict[str, Any]:
        """As JSON values.

        >>> first, *_ = sales.explain("ds = '2013-01-01'").alternatives
        >>> first.to_dict()["way"], first.to_dict()["taken"]
        ('one range', True)
        """
        figures = {} if self.estimate is None else self.estimate.to_dict()
        return {"way": self.way, "taken": self.taken, "scans": counts_text(self.plan.scans), **figures}

    def __str__(self) -> str:
        """One line: the way, its scans, and what they cost."""
        taken = " (taken)" if self.taken else ""
        return f"{self.way}: {counts_text(self.plan.scans)}; {estimate_text(self.estimate)}{taken}"


def alternatives(plan: MultiScanPlan, predicate: Predicate, estimator: Estimator) -> tuple[Alternative, ...]:
    """The plan and the others that the planner weighs, the cheapest first. O(ways × scans).

    Args:
        plan: what the planner took.
        predicate: the bound filter.
        estimator: what reading its table costs.
    """
    scans = [relative(scan) for scan in plan.scans]
    taken = Alternative(_way(plan), plan, estimator.estimate(scans), taken=True)
    weighed = {_shape(plan): taken}
    for way, others in _others(predicate, estimator, narrowed=len(scans) <= MOST_SCANS):
        made = MultiScanPlan(tuple(absolute(scan, plan.schema) for scan in others), plan.schema)
        shape = _shape(made)
        if shape not in weighed:
            name = f"{way}, nothing joined" if way == taken.way else way
            weighed[shape] = Alternative(name, made, estimator.estimate(others))
    return tuple(sorted(weighed.values(), key=_rank))


def _way(plan: MultiScanPlan) -> str:
    """What a plan does, in a few words."""
    kinds = {scan.kind for scan in plan.scans}
    if not kinds:
        return "nothing"
    if ScanKind.SKIP in kinds:
        return "skip scan"
    if kinds == {ScanKind.GET}:
        return "single keys"
    first = plan.scans[0]
    whole = RelativeScan(ScanKind.SCAN).keys(plan.schema.prefix, ())
    if (first.start.key, first.stop.key) == whole:
        return _WHOLE
    return _RANGE if len(plan.scans) == 1 else "several ranges"


def _rank(one: Alternative) -> tuple[float, bool]:
    return float("inf") if one.estimate is None else one.estimate.seconds, not one.taken


def _others(predicate: Predicate, estimator: Estimator, *, narrowed: bool) -> Iterator[tuple[str, list[RelativeScan]]]:
    """The other ways with their scans; several may come to the same."""
    schema = estimator.schema
    if not schema.names:
        return
    yield _WHOLE, [RelativeScan(ScanKind.SCAN, residual=predicate)]
    steps = PartitionFilterGenerator(0).generate(predicate)
    if steps:
        start, stop, rest = combine(steps, 0) if len(steps) > 1 else steps[0]
        yield _RANGE, [RelativeScan(ScanKind.SCAN, (), start, stop, rest)]
    if not narrowed or len(steps) > MOST_SCANS:
        return
    for way, ways in (
        ("value by value", _SINGLE),
        (f"ranges of {schema.names[0]} alone", _WIDE),
        ("skip scan", _SKIP),
        ("nothing joined", _APART),
    ):
        scans = Narrower(estimator, MOST_SCANS, ways).narrow(predicate)
        if ways is not _SKIP or any(scan.kind is ScanKind.SKIP for scan in scans):
            yield way, scans


def _shape(plan: MultiScanPlan) -> tuple[object, ...]:
    """What tells plans of the same filter apart: the keys that they read, and how."""
    return tuple(
        (scan.kind, scan.start.key, scan.stop.key, scan.residual is None, _below(scan.below)) for scan in plan.scans
    )


def _below(scans: Iterable[RelativeScan]) -> tuple[object, ...]:
    return tuple((one.kind, one.cells, one.start, one.stop, one.residual is ALWAYS, _below(one.below)) for one in scans)


def counts_text(scans: Sequence[ScanPlan]) -> str:
    """How many scans of each kind there are: ``1 scan, 2 gets``.

    >>> counts_text(sales.plan("ds = '2013-01-01' and hour in (5, 6)").get_plans())
    '2 gets'
    """
    kinds = [scan.kind for scan in scans]
    counts = [(kind, kinds.count(kind)) for kind in ScanKind]
    return ", ".join(plural(number, kind.value) for kind, number in counts if number) or "none"


def estimate_text(estimate: Estimate | None) -> str:
    """An estimate in words: ``2 seeks, about 48 rows, 0.0216 ms``."""
    if estimate is None:
        return "not known"
    seeks, gets = round(estimate.seeks), round(estimate.gets)
    reads = ", ".join(plural(number, noun) for number, noun in ((seeks, "seek"), (gets, "get")) if number)
    rows = f"about {plural(round(estimate.rows), 'row')}, {estimate.seconds * 1e3:.3g} ms"
    return f"{reads}, {rows}" if reads else rows
