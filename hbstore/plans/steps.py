r"""Step functions over a line of keys: the algebra under every plan.

A step is a half-open range of bytes and what must still be checked inside it; a step function is a list of steps,
sorted and disjoint, and where it has no step nothing can match. AND and OR are one pass over the breakpoints, pointwise
on what is left to check, so the result has at most as many steps as there are breakpoints, however the filter nests.
(Distributing ANDs over ORs instead, as Hive's planner does, makes 3ⁿ scans of n three-way ORs.)

>>> from hbstore.rows.predicate import ALWAYS, CellIn
>>> left = [(b"a", b"m", ALWAYS)]
>>> right = [(b"g", b"z", ALWAYS)]
>>> intersect_steps(left, right)
[(b'g', b'm', AllOf(children=()))]
>>> unite_steps([left, right])
[(b'a', b'z', AllOf(children=()))]
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from operator import itemgetter
from typing import Final, TypeAlias

from hbstore.rows.predicate import ALWAYS, NEVER, Predicate, all_of, any_of, identity, terms_of

Step: TypeAlias = tuple[bytes, bytes, Predicate]
Steps: TypeAlias = list[Step]

MAX_TERMS: Final = 200_000
"""Residual terms that one AND or OR makes over all its steps; beyond that, the generator keeps it as one residual."""

_BOUNDS = itemgetter(0, 1)


class TooManyTermsError(Exception):
    """The residuals of a union would hold more terms than it may have."""


def intersect_steps(left: Steps, right: Steps) -> Steps:
    """Where both functions have a step, and both residuals hold. O(n + m) steps."""
    steps: Steps = []
    at_left = at_right = 0
    while at_left < len(left) and at_right < len(right):
        left_start, left_stop, left_rest = left[at_left]
        right_start, right_stop, right_rest = right[at_right]
        start = max(left_start, right_start)
        stop = min(left_stop, right_stop)
        if start < stop:
            rest = right_rest if left_rest is ALWAYS else all_of((left_rest, right_rest))
            if rest is not NEVER:
                steps.append((start, stop, rest))
        if left_stop < right_stop:
            at_left += 1
        else:
            at_right += 1
    return steps


def unite_steps(functions: Sequence[Steps], most: int | None = None) -> Steps:
    """Where any function has a step, and any of the residuals there holds.

    O(n log n) where the steps are disjoint or the same, which is the usual case; otherwise O(n × overlap).

    Args:
        functions: step functions over one line.
        most: how many terms the residuals of steps that overlap may have together; None for any number.

    Raises:
        TooManyTermsError: they have more.
    """
    steps = [step for function in functions for step in function]
    steps.sort(key=_BOUNDS)
    grouped = _group_equal(steps)
    overlap = any(one[1] > two[0] for one, two in itertools.pairwise(grouped))
    return _join_touching(_sweep(grouped, most) if overlap else grouped)


def _group_equal(steps: Steps) -> Steps:
    """Steps with the same bounds as one: ``a or b`` on the same range."""
    grouped: Steps = []
    at = 0
    while at < len(steps):
        start, stop, rest = steps[at]
        past = at + 1
        while past < len(steps) and steps[past][0] == start and steps[past][1] == stop:
            past += 1
        if past > at + 1:
            rest = any_of([step[2] for step in steps[at:past]])
        grouped.append((start, stop, rest))
        at = past
    return grouped


def _sweep(steps: Steps, most: int | None) -> Steps:
    """Cut overlapping steps at every breakpoint; between two of them the residuals that are under way are ORed."""
    breakpoints = sorted({point for step in steps for point in step[:2]})
    swept: Steps = []
    active: list[tuple[bytes, Predicate]] = []
    joined: dict[tuple[int, ...], Predicate] = {}
    entering = terms = 0
    for start, stop in itertools.pairwise(breakpoints):
        active = [one for one in active if one[0] > start]
        while entering < len(steps) and steps[entering][0] == start:
            active.append((steps[entering][1], steps[entering][2]))
            entering += 1
        if active:
            rests = [rest for _, rest in active]
            if any(rest is ALWAYS for rest in rests):
                rests = [ALWAYS]
            terms += 1 if len(rests) == 1 else sum(map(terms_of, rests))
            if most is not None and terms > most:
                raise TooManyTermsError
            # The same residuals are the same object again: what is below it is then planned only once.
            ids = tuple(map(id, rests))
            if ids not in joined:
                joined[ids] = rests[0] if len(rests) == 1 else any_of(rests)
            swept.append((start, stop, joined[ids]))
    return swept


def _join_touching(steps: Steps) -> Steps:
    """Touching steps with the same residual are one."""
    joined: Steps = []
    for step in steps:
        if joined and joined[-1][1] == step[0] and identity(joined[-1][2]) == identity(step[2]):
            joined[-1] = (joined[-1][0], step[1], step[2])
        else:
            joined.append(step)
    return joined
