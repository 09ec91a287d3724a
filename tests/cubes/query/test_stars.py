"""Random queries of random stars: the answer is that of the cube's own rows, or an error that is justified."""

from __future__ import annotations

import os

import pytest

from tests.cubes.query.comparison import compare

WORLDS = 5 if os.environ.get("HYPOTHESIS_PROFILE") == "quick" else 40
QUERIES = 50


@pytest.mark.parametrize("seed", range(WORLDS))
def test_answers_are_those_of_the_rows(seed):
    seen = compare(seed, QUERIES)
    assert seen["answered"] + seen["refused"] == QUERIES
