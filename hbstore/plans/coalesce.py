"""Coalesce: scans that touch, or nearly do, become one scan with a combined residual.

The case that the Hive wiki singles out, ``condition on p1 or condition on another column``, is one instance: the second
branch needs every range between the first one's, they all touch, and what comes out is one scan of the table with the
whole filter as its residual.
"""

from __future__ import annotations

from collections.abc import Hashable

from hbstore.plans.estimate import Estimator
from hbstore.plans.points import possible_values
from hbstore.plans.steps import Step, Steps
from hbstore.rows.predicate import ALWAYS, AnyOf, CellIn, Predicate, all_of, any_of, identity
from hbstore.rows.ranges import Range, unite


def coalesce(steps: Steps, column: int, estimator: Estimator) -> Steps:
    """Join neighbours where a seek costs more than reading through what lies between them. O(n)."""
    groups: list[list[Step]] = []
    for step in steps:
        if groups and _is_worth_joining(groups[-1][-1], step, column, estimator):
            groups[-1].append(step)
        else:
            groups.append([step])
    return [combine(group, column) if len(group) > 1 else group[0] for group in groups]


def shrink(steps: Steps, column: int, most: int) -> Steps:
    """At most so many steps: neighbours are joined in groups of equal size, whatever lies between them."""
    if len(steps) <= most:
        return steps
    size = -(-len(steps) // most)
    return [combine(steps[at : at + size], column) for at in range(0, len(steps), size)]


def combine(steps: Steps, column: int) -> Step:
    """One step over the hull of several, whose residual holds just where one of theirs did.

    ``[a, b) | r`` and ``[b, c)`` make ``[a, c) | r or column >= b``: r need not say ``column < b``, as every row that
    it would let through beyond is selected there anyway.
    """
    inside: dict[Hashable, tuple[Predicate, list[Range]]] = {}
    for start, stop, rest in steps:
        inside.setdefault(identity(rest), (rest, []))[1].append((start, stop))
    hull = steps[0][0], max(stop for _, stop, _ in steps)
    touching = unite((start, stop) for start, stop, _ in steps) == (hull,)
    branches: list[Predicate] = []
    for rest, ranges in inside.values():
        everywhere = touching and all(_implies(rest, other) for other, _ in inside.values())
        branches.append(rest if everywhere else all_of((CellIn(column, unite(ranges)), rest)))
    return hull[0], hull[1], any_of(branches)


def _implies(rest: Predicate, other: Predicate) -> bool:
    if other is ALWAYS or rest is other:
        return True
    known = identity(rest)
    return known == identity(other) or (isinstance(other, AnyOf) and known in map(identity, other.children))


def _is_worth_joining(left: Step, right: Step, column: int, estimator: Estimator) -> bool:
    """Touching steps are joined while nothing is known; else rows that are read or checked for nothing are weighed."""
    gap = 0.0
    if left[1] < right[0]:
        values = possible_values(estimator.schema.types[column], left[1], right[0])
        each = estimator.statistics.rows_below(column + 1)
        if values is None or each is None:
            return False
        gap = values * each
    for start, stop, rest in (left, right):
        if rest is ALWAYS and not (left[2] is ALWAYS and right[2] is ALWAYS):
            gap += estimator.rows(column, start, stop) or 0.0
    return gap * estimator.costs.check <= estimator.costs.seek
