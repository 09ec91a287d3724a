"""Random queries of one random star, compared with the cube's own rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from random import Random

import duckdb

from hbstore.cubes.query.options import QueryOptions
from hbstore.cubes.query.rewriting import Rewritten, rewrite
from hbstore.errors import NoCandidate
from hbstore.times.moments import moment
from hbstore.times.update_period import UpdatePeriod
from tests.cubes.query import stars
from tests.cubes.query.question import Question
from tests.cubes.query.questions import question

Ranges = Sequence[tuple[datetime, datetime]]

ANSWERED = "answered"
REFUSED = "refused"
PARTIAL = "partial"
"""Refused, as partitions are missing; what there is was asked for as well."""
SEVERAL_FACTS = "of several facts"
PARTIAL_OF_SEVERAL = "partial, of several facts"


def compare(seed: int, queries: int, failed: Callable[[Exception], None] | None = None) -> Counter[str]:
    """How many queries were answered, as the rows say, and how many were refused; all is decided by the seed.

    Args:
        seed: of a star and its questions.
        queries: how many.
        failed: is told of each wrong answer; None: the first is raised.
    """
    random = Random(seed)
    world = stars.world(random, kind=stars.Kind.of(random))
    seen: Counter[str] = Counter()
    for number in range(queries):
        asked = question(random, world.kind)
        try:
            compare_one(world, asked, seen)
        except Exception as error:
            error.add_note(f"question {number} of python -m tests.fuzz --cubes --seed {seed} --pairs 1: {asked.text}")
            if failed is None:
                raise
            failed(error)
    world.close()
    return seen


def compare_one(world: stars.World, asked: Question, seen: Counter[str]) -> None:
    """Compare one query with the rows, and count what became of it.

    Raises:
        AssertionError: the answer is another one, or the refusal is not justified.
    """
    try:
        found = rewrite(world.cubes._model, asked.text, stars.NOW, QueryOptions())
    except NoCandidate as error:
        refusal = error
    else:
        seen[ANSWERED] += 1
        seen[SEVERAL_FACTS] += of_several_facts(found.sql)
        check(world, asked, found)
        return
    seen[REFUSED] += 1
    # A table with all fields would have been read for each hour that it has.
    assert not world.whole, refusal
    assert refusal.missing or not (world.hours or world.unread), refusal
    assert not any(_has_some_of(hours, refusal.missing) for hours in (*world.hours, *world.unread)), refusal
    if not refusal.missing:
        seen[f"{REFUSED}: {refusal.fields['cause']}"] += 1
        return
    found = rewrite(world.cubes._model, asked.text, stars.NOW, QueryOptions(partial=True))
    seen[PARTIAL] += 1
    seen[PARTIAL_OF_SEVERAL] += of_several_facts(found.sql)
    # The error names what some facts lack; what is asked of them together, or of others, can only lack more.
    assert _length(found.missing) >= _length(refusal.missing), (found.missing, refusal.missing)
    if not found.partitions:
        assert not any(_has_some_of(hours, found.missing) for hours in world.unread), found.missing
    assert not any(_has_some_of(hours, found.missing) for hours in world.hours), found.missing
    check(world, asked, found)


def check(world: stars.World, asked: Question, found: Rewritten) -> None:
    """See that the rows of an answer are those of the cube's rows outside of what is missing."""
    expected = asked.sql(found.missing)
    try:
        rows, expected_rows = world.run(found.sql), world.rows(expected)
    except duckdb.Error as error:
        error.add_note(f"{found.sql}\nshould be\n{expected}")
        raise
    if not asked.order:
        rows, expected_rows = sorted(rows, key=repr), sorted(expected_rows, key=repr)
    assert rows == expected_rows, f"{found.sql}\nshould be\n{expected}"


def of_several_facts(sql: str) -> bool:
    """Whether a query reads measures of several facts."""
    return "block 0" in sql


def _length(missing: Ranges) -> timedelta:
    return sum((stop - start for start, stop in missing), timedelta())


def _has_some_of(hours: set[int], missing: Ranges) -> bool:
    period = UpdatePeriod.HOURLY
    spans = ((period.floor_index(moment(start)), period.ceil_index(moment(stop))) for start, stop in missing)
    return any(at in hours for start, stop in spans for at in range(start, stop))
