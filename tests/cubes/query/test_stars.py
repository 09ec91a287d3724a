"""Random queries of random stars: the answer is that of the cube's own rows, or an error that is justified."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.amounts import QUICK, amount
from tests.cubes.query.comparison import ANSWERED, PARTIAL, REFUSED, SEVERAL_FACTS, compare

GROUPS, STARS, QUERIES = amount(1, 10), amount(4, 12), 40


@pytest.mark.parametrize("group", range(GROUPS))
def test_answers_are_those_of_the_rows(group):
    seen = sum((compare(seed, QUERIES) for seed in range(group * STARS, (group + 1) * STARS)), Counter())
    assert seen[ANSWERED] + seen[REFUSED] == STARS * QUERIES
    # Errors are compared with the rows by less than answers are.
    assert seen[ANSWERED] > STARS * QUERIES * 0.25, seen
    assert seen[ANSWERED] + seen[PARTIAL] > STARS * QUERIES / 2, seen
    assert QUICK or seen[SEVERAL_FACTS] > 0, seen
