"""How many pairs of table and filter have been compared, and which kinds of plans occurred."""

from __future__ import annotations

from collections import Counter

from hbstore.plans import narrow

PAIRS = Counter()
"""By backend."""

KINDS = Counter()
"""Scans by kind; enumerated values, hulls, coalesced neighbours and used-up budgets by events."""


def count_plan(plan):
    """Count the scans of a plan."""
    for scan in plan.get_plans():
        KINDS[scan.kind.value] += 1
        KINDS["residual"] += scan.residual is not None
        note = scan.note or ""
        KINDS["enumerated"] += "one by one" in note
        KINDS["hull"] += note.startswith("one scan of")


def watch(replace):
    """Count where the planner joins neighbours because of their costs, or because its budget ran out.

    Args:
        replace: puts the counting functions into the planner's module: ``setattr``, or a monkeypatch's.
    """
    for name in ("coalesce", "shrink"):
        replace(narrow, name, _counted(getattr(narrow, name), name))


def _counted(join, name):
    def counted(steps, *arguments):
        joined = join(steps, *arguments)
        KINDS[name] += len(joined) < len(steps)
        return joined

    return counted
