"""Random queries of one random star, compared with the cube's own rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random

from hbstore.cubes.query.options import QueryOptions
from hbstore.cubes.query.rewriting import rewrite
from hbstore.errors import NoCandidate
from hbstore.timelines import UpdatePeriod
from tests.cubes.query import questions, stars

Ranges = Sequence[tuple[datetime, datetime]]

ANSWERED = "answered"
REFUSED = "refused"
PARTIAL = "partial"
"""Refused, as partitions are missing; what there is was asked for as well."""
SEVERAL_FACTS = "of several facts"
PARTIAL_OF_SEVERAL = "partial, of several facts"


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
            refusal = error
        else:
            seen[ANSWERED] += 1
            seen[SEVERAL_FACTS] += of_several_facts(found.sql)
            assert world.run(found.sql) == world.rows(theirs), (ours, theirs, found.sql)
            continue
        seen[REFUSED] += 1
        # A table with all fields would have been read for each hour that it has.
        assert not world.whole, (ours, refusal)
        assert refusal.missing or not world.hours, (ours, refusal)
        assert not any(_has_some_of(hours, refusal.missing) for hours in world.hours), (ours, refusal)
        if refusal.missing:
            found = rewrite(world.cubes._catalog, ours, stars.NOW, QueryOptions(partial=True))
            # The error names what some fact lacks; for the rest of such times a fact may have larger partitions alone.
            more = _length(found.missing) > _length(refusal.missing)
            assert found.missing == refusal.missing or more, (ours, found.missing, refusal)
            seen[PARTIAL] += 1
            seen[PARTIAL_OF_SEVERAL] += of_several_facts(found.sql)
            assert world.run(found.sql) == world.rows(without(theirs, found.missing)), (ours, theirs, found.sql)
    world.close()
    return seen


def of_several_facts(sql: str) -> bool:
    """Whether a query reads measures of several facts."""
    return "block 0" in sql


def without(theirs: str, missing: Ranges) -> str:
    """A query of the cube's own rows that passes over those of some times."""
    times = " OR ".join(
        f"ts >= '{start:%Y-%m-%d %H:%M:%S}' AND ts < '{stop:%Y-%m-%d %H:%M:%S}'" for start, stop in missing
    )
    there = questions.FROM.replace("base", f"(SELECT * FROM base WHERE NOT ({times})) AS base", 1)
    return theirs.replace(questions.FROM, there)


def _length(missing: Ranges) -> timedelta:
    return sum((stop - start for start, stop in missing), timedelta())


def _has_some_of(hours: set[int], missing: Ranges) -> bool:
    period = UpdatePeriod.HOURLY
    return any(at in hours for start, stop in missing for at in range(period.index(start), period.index(stop)))
