"""Random queries of one random star, compared with the cube's own rows."""

from __future__ import annotations

from collections import Counter
from random import Random

from hbstore.cubes.query.options import QueryOptions
from hbstore.cubes.query.rewriting import rewrite
from hbstore.errors import NoCandidate
from tests.cubes.query import stars


def compare(seed: int, queries: int) -> Counter[str]:
    """How many queries were answered, as the rows say, and how many were refused; all is decided by the seed."""
    random = Random(seed)
    world = stars.world(random)
    seen: Counter[str] = Counter()
    for _ in range(queries):
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
    return seen
