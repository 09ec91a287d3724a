"""Enough was compared, on every backend, with every kind of plan. Runs last, and only with all the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.exactness import tally

MINIMUM = 2_000
"""Pairs of table and filter."""

_COMPARING = {"test_backends.py", "test_hbase.py", "test_kinds.py"}


def _collected(session):
    here = Path(__file__).parent
    return {item.path.name for item in session.items if item.path.parent == here}


def test_enough_pairs_were_compared_and_each_kind_of_plan_occurred(request):
    collected = _collected(request.session)
    if not collected >= _COMPARING - {"test_hbase.py"}:
        pytest.skip("counts what the other tests of this folder compare, and not all of them were chosen")
    assert sum(tally.PAIRS.values()) >= MINIMUM, tally.PAIRS
    assert tally.PAIRS["memory"] >= MINIMUM // 2
    assert tally.PAIRS["sqlite"] >= MINIMUM // 4
    if "test_hbase.py" in collected:
        assert tally.PAIRS["hbase"] >= MINIMUM // 5
    for kind in ("get", "scan", "skip", "residual", "enumerated", "hull", "coalesce", "shrink"):
        assert tally.KINDS[kind] > 0, (kind, tally.KINDS)
