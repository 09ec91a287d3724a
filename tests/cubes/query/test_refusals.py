"""A query is refused only where no partitions of any facts can answer it, and answered wherever some can."""

from __future__ import annotations

from random import Random

import pytest

from hbstore.cubes.query.options import QueryOptions
from hbstore.cubes.query.rewriting import rewrite
from hbstore.errors import NoCandidate
from tests.amounts import amount
from tests.cubes.query import stars
from tests.cubes.query.answerable import Query, is_answerable, tables_of

WORLDS = amount(3, 100)
QUERIES = 60


@pytest.mark.parametrize("seed", range(WORLDS))
def test_refusals_are_justified(seed):
    random = Random(f"refusals {seed}")
    world = stars.world(random)
    tables = tables_of(world)
    for _ in range(QUERIES):
        query = Query.of(random)
        try:
            rewrite(world.cubes._model, query.text, stars.NOW, QueryOptions())
        except NoCandidate as error:
            refusal = str(error)
        else:
            refusal = ""
        assert is_answerable(query, tables) == (not refusal), (query.text, refusal)
    world.close()
