"""Rewriting: a cube query becomes a Spark SQL query over the partitions that answer it best.

The text is parsed; its time ranges are read; each storage table of the cube's facts is a candidate; in each way in
which the names can be resolved, the best partitions are chosen; the best way is written. An answer is complete or an
error: ``partial`` asks for what there is, and says what is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from sqlglot import exp

from hbstore.cubes.cover import CoverPartitions, CoverRun
from hbstore.cubes.query.aggregate_inputs import Aggregate
from hbstore.cubes.query.aggregates import Aggregates
from hbstore.cubes.query.answer import Answer, Question, Way
from hbstore.cubes.query.branches import cover_runs, read_filters, read_moments
from hbstore.cubes.query.candidates import Candidate
from hbstore.cubes.query.dimensions import dimension_reads
from hbstore.cubes.query.options import QueryOptions
from hbstore.cubes.query.ranges import now_of
from hbstore.cubes.query.rates import Rates
from hbstore.cubes.query.resolution import resolve
from hbstore.cubes.query.resolved import Resolved
from hbstore.cubes.query.rolling_up import RollingUp
from hbstore.cubes.query.shaping import group, take_aggregates
from hbstore.cubes.query.star import Star
from hbstore.cubes.query.text import QueryText, parse_query
from hbstore.cubes.query.times import needs_utc
from hbstore.cubes.query.ways import ResolutionWay, in_all_ways
from hbstore.cubes.query.writer import answer_query, dimension_query
from hbstore.cubes.rereading import written
from hbstore.cubes.stored_model import Model
from hbstore.errors import CubeQueryError, NoCandidate
from hbstore.filters.builder import Expression
from hbstore.texts.wording import plural
from hbstore.times.moments import time_at

NEEDS_UTC: Final = "the SQL tells times, so Spark has to run it in UTC: SET TIME ZONE 'UTC'"
"""What is said of SQL that needs a session in UTC."""

_SHOWN: Final = 8


@dataclass(frozen=True, slots=True, repr=False)
class Rewritten:
    """A cube query as Spark runs it.

    Attributes:
        sql: Spark SQL over the storage tables, ``database.table``.
        partitions: by storage table, the partitions of facts that it reads, in the order of time.
        moments: by storage table of facts that is always up to date, the ranges of time of the rows that it reads.
        missing: ranges of time, half open and sorted, that no partition covers; none unless ``partial``.
        warnings: what the user should know about the answer.
        needs_utc: whether Spark has to run it in a session in UTC, as it computes or compares times of hbstore.

    >>> where = "time_range_in(start_time, '2015-01-29', '2015-01-31')"
    >>> rewritten = cubes.rewrite(f"cube select minutes from rides where {where}")
    >>> rewritten, rewritten.missing
    (<Rewritten: 2 partitions of lake_rides_daily>, ())
    """

    sql: str
    partitions: Mapping[str, CoverPartitions]
    missing: tuple[tuple[datetime, datetime], ...] = ()
    warnings: tuple[str, ...] = ()
    moments: Mapping[str, tuple[tuple[datetime, datetime], ...]] = field(default_factory=dict)
    needs_utc: bool = False
    _dimensions: Mapping[str, Expression | None] = field(default_factory=dict, compare=False)
    _answer: Answer | None = field(default=None, compare=False)

    @property
    def reads(self) -> Mapping[str, Expression | None]:
        """By storage table, facts' and dimensions', the filter of the partitions that it reads; None: all of it.

        Written when it is asked for, as a year of hours has thousands of values. O(partitions).

        >>> rewritten.reads
        {'lake_rides_daily': <Expression dt in ('2015-01-29', '2015-01-30')>}
        """
        return {**self._dimensions, **({} if self._answer is None else read_filters(self._answer))}

    def chosen(self, table: str) -> tuple[str, Sequence[CoverRun]]:
        """The partition column by which the partitions of a fact's storage table are chosen, and these.

        >>> column, runs = rewritten.chosen("lake_rides_daily")
        >>> column, [str(run) for run in runs]
        ('dt', ['lake_rides_daily DAILY [2015-01-29, 2015-01-31)'])
        """
        assert self._answer is not None  # as queries of dimensions alone read no facts
        return self._answer.way.needs.by.column, self.partitions[table].runs

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """Every storage table of the cube's facts, taken or with its cause. Found out when it is asked for.

        >>> print(rewritten.candidates[0])
        lake_rides_daily: taken (weight 0)
        """
        return () if self._answer is None else self._answer.reports()

    def __repr__(self) -> str:
        number = sum(map(len, self.partitions.values()))
        missing = f", {plural(len(self.missing), 'range')} missing" if self.missing else ""
        tables = ", ".join([*self.partitions, *self.moments]) or "no fact"
        return f"<Rewritten: {plural(number, 'partition')} of {tables}{missing}>"

    def explain(self) -> str:
        """What is read, why other storage tables are not, what is missing, and the query, as people read it.

        >>> print(rewritten.explain().partition("SELECT")[0].strip())
        lake_rides_daily: 2 partitions
          DAILY [2015-01-29, 2015-01-31)
        """
        lines = []
        for table, partitions in self.partitions.items():
            lines.append(f"{table}: {plural(len(partitions), 'partition')}")
            lines += [f"  {str(run).partition(' ')[2]}" for run in partitions.runs[:_SHOWN]]
            if partitions.runs[_SHOWN:]:
                lines.append(f"  and {len(partitions.runs) - _SHOWN:,} ranges more")
        for table, ranges in self.moments.items():
            lines.append(f"{table}: rows of {plural(len(ranges), 'range')} of time")
            lines += [f"  [{start.isoformat()}, {end.isoformat()})" for start, end in ranges[:_SHOWN]]
        lines += [f"not taken: {one}" for one in self.candidates if not one.taken]
        lines += [f"missing: [{start.isoformat()}, {end.isoformat()})" for start, end in self.missing]
        lines += [f"warning: {one}" for one in self.warnings]
        lines += [f"note: {NEEDS_UTC}"] if self.needs_utc else []
        return "\n".join([*lines, "", self.sql])

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON would hold it.

        >>> rewritten.to_dict()["partitions"]
        {'lake_rides_daily': ['lake_rides_daily DAILY [2015-01-29, 2015-01-31)']}
        """
        return {
            "sql": self.sql,
            "partitions": {table: [str(run) for run in some.runs] for table, some in self.partitions.items()},
            "moments": {
                table: [[start.isoformat(), end.isoformat()] for start, end in ranges]
                for table, ranges in self.moments.items()
            },
            "candidates": [candidate.to_dict() for candidate in self.candidates],
            "missing": [[start.isoformat(), end.isoformat()] for start, end in self.missing],
            "warnings": list(self.warnings),
            "needs_utc": self.needs_utc,
        }


def rewrite(model: Model, text: str, now: datetime, options: QueryOptions) -> Rewritten:
    """A cube query as Spark runs it. Raises as `Cubes.rewrite`."""
    query = parse_query(text)
    options = options.changed(query.options)
    now = now_of(options.time(now_of(now)))
    try:
        return _rewritten(query, Star(model), now, options)
    except RecursionError:
        raise query.unsupported(
            "the query has too many levels", None, hint="Ask with fewer brackets, ANDs and ORs"
        ) from None


def _rewritten(query: QueryText, star: Star, now: datetime, options: QueryOptions) -> Rewritten:
    question = Question.of(query, star, now, options)
    if question is None:
        return _of_dimensions(query, star, options)
    if not question.candidates:
        raise NoCandidate(
            "the cube has no facts on storages", cube=question.cube.name, hint="Create a fact that has storage tables"
        )
    best = _best(question)
    if best.cost[0] and not options.partial:
        raise best.incomplete()
    tree = answer_query(best, options)
    return Rewritten(
        written(tree, pretty=True),
        {table: CoverPartitions(some) for table, some in cover_runs(best).items()},
        tuple((time_at(start), time_at(stop)) for start, stop in best.missing),
        tuple(_warnings(best.way.resolved, best.way.needs.aggregates)),
        {
            table: tuple((time_at(start), time_at(stop)) for start, stop in ranges)
            for table, ranges in read_moments(best).items()
        },
        needs_utc(tree),
        dimension_reads(tree),
        best,
    )


def _best(question: Question) -> Answer:
    """The best answer of tables that `hbstore.spark` can read, if that is complete; else of all."""
    of_readable = None
    readable = [candidate.if_readable() for candidate in question.candidates]
    if readable != question.candidates:
        with suppress(CubeQueryError):
            of_readable = _best_of(replace(question, candidates=readable))
    if of_readable is not None and not of_readable.cost[0]:
        return of_readable
    best = _best_of(question)
    if of_readable is not None and question.options.partial and best.cost[0] and of_readable.reads_rows:
        return of_readable  # as what there is will do, and this can be read
    return best


def _best_of(question: Question) -> Answer:
    """The best of the answers in all ways to understand a question."""
    ways = Way.all_of(question)
    rates = Rates.between({table for way in ways for table in way.compared})
    return min(
        (way.answer(rates) for way in ways),
        key=lambda answer: (answer.cost, len(answer.way.resolved.reached), answer.way.resolved.joined),
    )


def _of_dimensions(query: QueryText, star: Star, options: QueryOptions) -> Rewritten:
    """A query of dimensions alone."""

    def answered(ways: ResolutionWay) -> tuple[Resolved, Sequence[Aggregate], exp.Select]:
        resolved = resolve(query, star, (), frozenset(), ways, options)
        aggregates = Aggregates(query, RollingUp.of(None, resolved.root))
        take_aggregates(resolved, aggregates)
        group(query, resolved, aggregates)
        tree = dimension_query(star, resolved, [aggregate.tree for aggregate in aggregates.taken], options)
        return resolved, aggregates.taken, tree

    resolved, aggregates, tree = min(in_all_ways(answered), key=lambda one: one[0].joined)
    return Rewritten(
        written(tree, pretty=True),
        {},
        warnings=tuple(_warnings(resolved, aggregates)),
        needs_utc=needs_utc(tree),
        _dimensions=dimension_reads(tree),
    )


def _warnings(resolved: Resolved, aggregates: Sequence[Aggregate]) -> Iterable[str]:
    where = ", ".join(join.alias for join in resolved.joins.values() if join.to_many)
    if where and any(not aggregate.insensitive for aggregate in aggregates):
        yield f"a row counts once for each match in {where}, so sums may be too large; flatten_bridges counts it once"
    elif where and not (aggregates or resolved.grouped or resolved.distinct):
        yield f"a row comes once for each match in {where}; flatten_bridges gives it once"


def notes_of(rewritten: Rewritten) -> tuple[str, ...]:
    """Which times are not in an answer, and its warnings.

    >>> long = "cube select minutes from rides where time_range_in(start_time, '2015-01-31', '2015-02-02')"
    >>> notes_of(cubes.rewrite(long, partial=True))
    ('nothing is there for [2015-01-31T00:00:00+00:00, 2015-02-01T00:00:00+00:00)',)
    """
    missing = (f"nothing is there for [{start.isoformat()}, {end.isoformat()})" for start, end in rewritten.missing)
    return (*missing, *rewritten.warnings)
