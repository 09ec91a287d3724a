"""Conditions on the columns of storage tables that hold for just the rows that are read.

dt IN ('2015-01', '2015-02')                                      a few partitions
dt >= '2015-03-01' AND dt <= '2015-06-30' AND LENGTH(dt) = 10     many of one update period
start_time >= CAST('2015-01-29 06:00:00' AS TIMESTAMP) AND …      rows that tell their times
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from sqlglot import exp

from hbstore.cubes.descriptions import value_text
from hbstore.cubes.function_calls import call
from hbstore.cubes.query.times import timestamp
from hbstore.keys.types import ColumnType, DateType, StringType
from hbstore.times.moments import sql_text, time_at
from hbstore.times.update_period import UpdatePeriod

_LISTED: Final = 24
"""Values of a partition column that are listed one by one; more that follow one another are a range."""

_BETWEEN: Final = 3
"""Parts between two runs that are rather left out of one range than made the border of two."""


def partition_condition(column: exp.Expr, kind: ColumnType, runs: Iterable[tuple[UpdatePeriod, int, int]]) -> exp.Expr:
    """The condition that holds for just the values of some partitions.

    A few values are listed. More of one update period are a range without the values that are missing in it. Values of
    several update periods may stand in one column, so a range asks for more: of texts for their length, as between
    '2015-01-01' and '2015-01-31' are hours, too; of times for those at which a part of the period begins.
    """
    listed: list[exp.Expr] = []
    conditions: list[exp.Expr] = []
    for period, pieces in _clusters(runs):
        if sum(last - first for first, last in pieces) <= _LISTED:
            listed += [_literal(kind, period, index) for first, last in pieces for index in range(first, last)]
            continue
        low, high = _literal(kind, period, pieces[0][0]), _literal(kind, period, pieces[-1][1] - 1)
        within: list[exp.Expr] = [
            exp.GTE(this=column.copy(), expression=low),
            exp.LTE(this=column.copy(), expression=high),
        ]
        if isinstance(kind, StringType):
            within.append(exp.EQ(this=call("length", column.copy()), expression=exp.Literal.number(len(low.this))))
        elif not (isinstance(kind, DateType) and period is UpdatePeriod.DAILY):
            begin = call("date_trunc", exp.Literal.string(period.unit.upper()), column.copy())
            within.append(exp.EQ(this=begin, expression=column.copy()))
        holes = [at for (_, end), (begin, _) in pairwise(pieces) for at in range(end, begin)]
        if holes:
            without = exp.In(this=column.copy(), expressions=[_literal(kind, period, at) for at in holes])
            within.append(exp.Not(this=without))
        conditions.append(exp.and_(*within, copy=False))
    if len(listed) == 1:
        conditions.insert(0, exp.EQ(this=column.copy(), expression=listed[0]))
    elif listed:
        conditions.insert(0, exp.In(this=column.copy(), expressions=listed))
    return exp.or_(*conditions, copy=False) if conditions else exp.false()


def _clusters(
    runs: Iterable[tuple[UpdatePeriod, int, int]],
) -> Iterator[tuple[UpdatePeriod, list[tuple[int, int]]]]:
    """Runs of one update period with few parts between them, together; of each period in the order of time."""
    pending: list[tuple[int, int]] = []
    last: UpdatePeriod | None = None
    for period, start, stop in sorted(runs, key=lambda run: (run[0].rank, run[1])):
        if pending and last is not None and (period is not last or start - pending[-1][1] > _BETWEEN):
            yield last, pending
            pending = []
        pending.append((start, stop))
        last = period
    if last is not None:
        yield last, pending


def _literal(kind: ColumnType, period: UpdatePeriod, index: int) -> exp.Expr:
    text = exp.Literal.string(value_text(kind, period, index))
    if isinstance(kind, StringType):
        return text
    return exp.cast(text, "date") if isinstance(kind, DateType) else timestamp(text)


def time_condition(column: exp.Expr, kind: ColumnType, ranges: Iterable[tuple[int, int]]) -> exp.Expr:
    """The condition that a column of dates or timestamps is in one of some ranges of moments."""
    conditions = [
        exp.and_(
            exp.GTE(this=column.copy(), expression=_time(kind, start)),
            exp.LT(this=column.copy(), expression=_time(kind, stop)),
        )
        for start, stop in ranges
    ]
    return exp.or_(*conditions) if conditions else exp.false()


def _time(kind: ColumnType, at: int) -> exp.Expr:
    if isinstance(kind, DateType):
        return exp.cast(exp.Literal.string(time_at(at).date().isoformat()), "date")
    return timestamp(exp.Literal.string(sql_text(time_at(at), "microseconds")))
