"""A thousand of the strings that `python -m tests.fuzz --expressions` tries without end."""

from __future__ import annotations

from random import Random

from tests.fuzz.expressions import read_mutated


def test_each_is_read_or_refused():
    seen, _ = read_mutated(Random(7), 1_000)
    assert seen.total() == 1_000
    assert min(seen["refused"], seen["read"]) > 5
