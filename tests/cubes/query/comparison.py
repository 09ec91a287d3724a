"""Random queries of one random star, compared with the cube's own rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from random import Random

from hbstore.cubes.query.options import QueryOptions
from hbstore.cubes.query.rewriting import rewrite
from hbstore.errors import NoCandidate
from hbstore.timelines import UpdatePeriod
from tests.cubes.query import questions, stars


def compare(seed: int, queries: int) -> Counter[str]:
    """How many queries were answered, as the rows say, and how many were refused; all is decided by the seed."""
    random = Random(seed)
    world = stars.world(random)
    seen: Counter[str] = Counter()
    for _ in range(queries):
        ours, theirs = questions.query(random)
        try:
            found = rewrite(world.cubes._catalog, ours, stars.NOW, QueryOptions())
        except NoCandidate as error:
            seen["refused"] += 1
            refusal = error
        else:
            seen["answered"] += 1
            seen["with blocks"] += "block 0" in found.sql
            assert world.run(found.sql) == world.rows(theirs), (ours, theirs, found.sql)
            continue
        # A table with all fields would have been read for each hour that it has.
        assert not world.whole, (ours, refusal)
        assert refusal.missing or not world.hours, (ours, refusal)
        assert not any(_has_some_of(hours, refusal.missing) for hours in world.hours), (ours, refusal)
    world.close()
    return seen


def _has_some_of(hours: set[int], missing: Iterable[tuple[datetime, datetime]]) -> bool:
    period = UpdatePeriod.HOURLY
    return any(at in hours for start, stop in missing for at in range(period.index(start), period.index(stop)))
