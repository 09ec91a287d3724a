"""Random queries of random stars: the answer is that of the cube's own rows, or an error that is justified."""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import pytest

from hbstore.cubes.query.options import QueryOptions
from hbstore.cubes.query.rewriting import rewrite
from hbstore.errors import NoCandidate
from tests.cubes.query import stars

WORLDS = 5 if os.environ.get("HYPOTHESIS_PROFILE") == "quick" else 40
QUERIES = 50


@pytest.mark.parametrize("seed", range(WORLDS))
def test_answers_are_those_of_the_rows(seed):
    random = Random(seed)
    world = stars.world(random)
    seen = Counter()
    for _ in range(QUERIES):
        ours, theirs = stars.query(random)
        try:
            found = rewrite(world.cubes._catalog, ours, stars.NOW, QueryOptions())
        except NoCandidate:
            seen["refused"] += 1
            continue
        assert world.run(found.sql) == world.run(theirs), (ours, theirs, found.sql)
        seen["answered"] += 1
    assert not world.whole or not seen["refused"]
    world.close()
