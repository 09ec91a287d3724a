"""Time ranges of a query: which stretches of time its condition needs, wherever TIME_RANGE_IN stands in it.

Every ``TIME_RANGE_IN`` of the time dimension by which partitions are chosen is true or false on the whole of each
stretch between two of their ends. A stretch is needed unless the condition is false on it, whatever all else is. So
ranges below OR and NOT are answered exactly, as long as what is needed has two ends. Where two stretches touch and
leave the same of the condition to the rows, they are one, and a partition may lie across.

    time_range_in(t, '2015', '2016') and not time_range_in(t, '2015-03', '2015-04')
    needed: [2015-01, 2015-03) and [2015-04, 2016-01)
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from sqlglot import exp

from hbstore.cubes.query.text import TIME_RANGE_IN, QueryText
from hbstore.errors import CubeSyntaxError, InvalidTimeRange, TimeRangeSyntaxError
from hbstore.times.moments import moment, moments, time_at
from hbstore.times.time_range import parse_time, time_within

RANGE: Final = "range "
"""What the columns of rows are called that say whether a row is in a range of the query."""

_NUMBER: Final = "hbstore.range"
_FORM: Final = "Write time_range_in(time dimension, '2015-01-01', '2015-02-01'), or with now.day-7days as a time"


@dataclass(frozen=True, slots=True)
class QueryRange:
    """A condition that a time dimension is in a range.

    Attributes:
        column: the time dimension as the query names it.
        start: the first moment of the range.
        stop: the moment behind it.
        is_of_definition: whether in these times a definition of an expression counts; the query has no such condition.
    """

    column: exp.Column
    start: int
    stop: int
    is_of_definition: bool = False

    @property
    def dimension(self) -> str:
        """The name of the time dimension."""
        return self.column.name.lower()


@dataclass(frozen=True, slots=True)
class ConditionRange:
    """A range of moments, and which of some conditions hold throughout it.

    Attributes:
        start: its first moment.
        stop: the moment behind it.
        holds: by the number of the condition; others may hold in parts of it, where that decides nothing.
    """

    start: int
    stop: int
    holds: Mapping[int, bool]


def is_time_range(node: exp.Expr) -> bool:
    """Whether a node is a call of TIME_RANGE_IN."""
    return isinstance(node, exp.Anonymous) and str(node.this).lower() == TIME_RANGE_IN


def marker(number: int) -> exp.Column:
    """A node that stands for a range of a condition in its place."""
    column = exp.column(f"{RANGE}{number}", quoted=True)
    column.meta[_NUMBER] = number
    return column


def number_of(node: exp.Expr) -> int | None:
    """The number of the range that a node stands for; None for other nodes."""
    number = node.meta_get(_NUMBER)
    return number if isinstance(number, int) else None


def read_time_range(query: QueryText, node: exp.Expr, now: datetime) -> QueryRange:
    """The range of a call of TIME_RANGE_IN.

    Raises:
        CubeSyntaxError: it has other arguments than a column and one or two texts.
        TimeRangeSyntaxError: a time does not parse.
        InvalidTimeRange: it ends before it begins, or holds nothing.
    """
    column, *times = node.expressions or [None]
    if not isinstance(column, exp.Column) or len(times) not in (1, 2) or not all(one.is_string for one in times):
        raise query.error(CubeSyntaxError, "not a time range", node, hint=_FORM)
    start, *ends = (_time(query, time, now) for time in times)
    stop = ends[0] if ends else now
    try:
        first, last = moments(start, stop)
    except InvalidTimeRange as error:
        error.highlight = query.highlight(node)
        raise
    if first == last:
        raise InvalidTimeRange(
            "the time range holds no time",
            highlight=query.highlight(node),
            start=start.isoformat(),
            end=stop.isoformat(),
            hint="Let it end later",
        )
    return QueryRange(column, first, last)


def _time(query: QueryText, node: exp.Expr, now: datetime) -> datetime:
    """The time of a literal; an error names the place in the query, where it stands there as it is."""
    try:
        return parse_time(node.this, now)
    except TimeRangeSyntaxError:
        begin, end = node.meta.get("start", 0) + 1, node.meta.get("end", 0)
        if query.text[begin:end] == node.this:
            time_within(query.text, begin, end)
        raise


def deciding_ranges(where: exp.Expr | None, ranges: Sequence[QueryRange]) -> list[QueryRange]:
    """The ranges of the time dimension that says which definition of an expression counts.

    It is the first one in whose ranges all rows are. Where there is none, any will do: no partitions can be chosen.
    """
    by_dimension: dict[str, dict[int, bool]] = {}
    for number, one in enumerate(ranges):
        by_dimension.setdefault(one.dimension, {})[number] = False
    for outside in by_dimension.values():
        if where is not None and truth(where, outside) is False:
            return [ranges[number] for number in outside]
    return list(ranges)


def stretches(
    query: QueryText, where: exp.Expr | None, chosen: Collection[int], ranges: Sequence[QueryRange]
) -> list[ConditionRange]:
    """The stretches of time that a condition needs, sorted.

    Args:
        query: for errors.
        where: the condition, with `marker` nodes for its ranges.
        chosen: the numbers of the ranges of the dimension by which partitions are chosen.
        ranges: by number.

    Raises:
        UnsupportedQuery: what is needed has no beginning or no end.
    """
    ends = sorted({end for number in chosen for end in (ranges[number].start, ranges[number].stop)})
    needed: list[tuple[ConditionRange, Hashable]] = []
    for start, stop in zip([None, *ends], [*ends, None], strict=True):
        holds = {
            number: start is not None
            and stop is not None
            and ranges[number].start <= start
            and stop <= ranges[number].stop
            for number in chosen
        }
        if where is not None and truth(where, holds) is False:
            continue
        if start is None or stop is None:
            raise query.unsupported(
                "the condition needs all times before or after its ranges",
                where,
                hint=f"Add a range that all rows are in, with AND. {_FORM}",
            )
        dated = tuple(holds[number] for number in chosen if ranges[number].is_of_definition)
        left = dated, None if where is None else _left(where, holds)
        goes_on = needed and needed[-1][0].stop == start and needed[-1][1] == left
        needed.append((replace(needed.pop()[0], stop=stop) if goes_on else ConditionRange(start, stop, holds), left))
    return [stretch for stretch, _ in needed]


def moments_text(ranges: Sequence[tuple[int, int]], most: int = 3) -> str:
    """Ranges of moments as people read them."""
    shown = " ∪ ".join(f"[{_text(start)}, {_text(stop)})" for start, stop in ranges[:most])
    return f"{shown} and {len(ranges) - most:,} more" if ranges[most:] else shown


def _text(at: int) -> str:
    return time_at(at).isoformat().removesuffix("+00:00").removesuffix(":00").removesuffix("T00:00")


def truth(node: exp.Expr, holds: Mapping[int, bool]) -> bool | None:
    """Whether a condition is true or false, whatever its other parts are; None where they decide.

    Args:
        node: the condition, with `marker` nodes for its ranges.
        holds: by the number of a range, whether a time is in it.
    """
    number = number_of(node)
    if number is not None:
        return holds.get(number)
    if isinstance(node, exp.Paren):
        return truth(node.this, holds)
    if isinstance(node, exp.Not):
        inner = truth(node.this, holds)
        return None if inner is None else not inner
    if isinstance(node, exp.And | exp.Or):
        decisive = isinstance(node, exp.Or)
        truths = [truth(operand, holds) for operand in node.flatten()]
        if decisive in truths:
            return decisive
        return None if None in truths else not decisive
    return None


def _left(node: exp.Expr, holds: Mapping[int, bool]) -> Hashable:
    """What of a condition is left to the rows, told apart by its nodes."""
    known_truth = truth(node, holds)
    if known_truth is not None:
        return known_truth
    if isinstance(node, exp.Paren | exp.Not):
        return type(node), _left(node.this, holds)
    if isinstance(node, exp.And | exp.Or):
        parts = [_left(operand, holds) for operand in node.flatten() if truth(operand, holds) is None]
        return (type(node), *parts) if parts[1:] else parts[0]
    return (id(node), *(holds.get(number) for one in node.walk() if (number := number_of(one)) is not None))


def now_of(time: datetime) -> datetime:
    """Now, which has to have a time zone. InvalidTime where it has none."""
    return time_at(moment(time))
