"""Which storage tables of a cube's facts can answer some fields in a range of time, each alone.

It is asked as the query of these fields would be, in each way in which their names can be resolved. A table can answer
if it can in one of the ways; otherwise its cause is that of the way in which it lacks least.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlglot import exp

from hbstore.cubes.query.answer import Question
from hbstore.cubes.query.candidates import MISSING_PARTITIONS, Candidate
from hbstore.cubes.query.needs import Needs
from hbstore.cubes.query.options import QueryOptions
from hbstore.cubes.query.ranges import now_of
from hbstore.cubes.query.resolved import Resolved
from hbstore.cubes.query.star import Star
from hbstore.cubes.query.text import TIME_RANGE_IN, QueryText
from hbstore.cubes.stored_model import Model
from hbstore.errors import InvalidInput
from hbstore.texts.arguments import expect_many, expect_texts

_FIELDS: Final = 'Give a list of names of fields, such as ["fare", "city.name"]'
_RANGE: Final = 'Give a time dimension and two times, such as ("order_time", "2015-01", "2015-02")'
_PARTS: Final = 4
"""Names with dots between them that sqlglot has for one column; further ones stand behind it."""


def candidates_of(
    model: Model,
    cube: str,
    fields: Iterable[str],
    time_range: Sequence[str],
    clock: datetime,
    options: QueryOptions,
) -> tuple[Candidate, ...]:
    """The storage tables of a cube's facts, the lightest first; each is able to answer alone, or has its cause.

    Args and what it raises are as of `Cubes.candidates`; the clock is for relative times, unless the options say what
    now is.
    """
    names = expect_many("fields", fields, str, hint=_FIELDS)
    times = expect_many("range", time_range, str, hint=_RANGE)
    expect_texts(cube=cube, fields=" ".join(names), range=" ".join(times))
    if not names:
        raise InvalidInput("no field is named", hint=_FIELDS)
    if len(times) != 3:  # noqa: PLR2004  a dimension and two times
        raise InvalidInput("not a time range", range=", ".join(times), hint=_RANGE)
    now, star = now_of(options.time(now_of(clock))), Star(model)
    query = _query(model.get("cube", cube).name, names, times)
    question = Question.of(query, star, now, options)
    assert question is not None  # as the model has the cube

    def reports(resolved: Resolved, needs: Needs) -> list[Candidate]:
        return [needs.alone(candidate.reaching(resolved.reached)) for candidate in question.candidates]

    return tuple(min(some, key=_lack) for some in zip(*question.in_all_ways(reports), strict=True))


def _lack(candidate: Candidate) -> tuple[bool, bool, timedelta]:
    """How far a candidate is from being able: least if it is, less if only partitions are missing."""
    missing = sum((end - start for start, end in candidate.missing), timedelta())
    return not candidate.able, candidate.cause != MISSING_PARTITIONS, missing


def _query(cube: str, fields: Sequence[str], time_range: Sequence[str]) -> QueryText:
    """The query of some fields. It is of no text, so its errors have no carets."""
    dimension, *times = time_range
    condition = exp.Anonymous(
        this=TIME_RANGE_IN, expressions=[_column(dimension), *(exp.Literal.string(time) for time in times)]
    )
    select = exp.Select(
        expressions=[_column(name) for name in fields],
        from_=exp.From(this=exp.table_(cube)),
        where=exp.Where(this=condition),
    )
    return QueryText("", select)


def _column(name: str) -> exp.Expr:
    parts = name.split(".")
    tree: exp.Expr = exp.column(*reversed(parts[:_PARTS]), quoted=True)
    for part in parts[_PARTS:]:
        tree = exp.Dot(this=tree, expression=exp.to_identifier(part, quoted=True))
    return tree
