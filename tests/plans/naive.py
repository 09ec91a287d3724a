# ruff: noqa: PLR0911  one return for each kind of node reads best
"""The naive evaluation of a filter: every partition's values, SQL's three-valued logic, no keys, no plans.

Written from the documentation of the filter language alone; it shares no code with planning but the parsing of a
value's text.
"""

from __future__ import annotations

import ctypes
import datetime as dt
import math
import operator
import re
from bisect import bisect_right
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from hbstore.filters.tree import (
    And,
    Between,
    Boolean,
    Comparison,
    Date,
    Holds,
    In,
    Integer,
    IsNull,
    Like,
    Not,
    Number,
    Operator,
    Or,
    StructIn,
    Text,
    TimeRangeIn,
    Timestamp,
)
from hbstore.keys.row_key import NULL_PARTITION
from hbstore.texts.like import RUN
from hbstore.times.time_range import parse_time_range

NOW = dt.datetime(2015, 3, 31, 6, 30, 15, 250_000, dt.UTC)
"""What relative times are relative to."""

_YEAR_1 = dt.datetime(1, 1, 1, tzinfo=dt.UTC)
_YEARS = [f"{year:04}" for year in range(1, 10_000)]
_FAR = 1_000
"""Digits before or behind the point that no finite float or double reaches."""
NULL = object()
UNPARSABLE = object()
_COMPARISONS = {
    Operator.EQ: operator.eq,
    Operator.NE: operator.ne,
    Operator.LT: operator.lt,
    Operator.LE: operator.le,
    Operator.GT: operator.gt,
    Operator.GE: operator.ge,
}


def evaluate(tree, names: Sequence[str], types: Sequence, values: Sequence[str]) -> bool:
    """Whether the filter selects the partition with these values."""
    typed = {name.lower(): _typed(kind, text) for name, kind, text in zip(names, types, values, strict=True)}
    kinds = {name.lower(): kind for name, kind in zip(names, types, strict=True)}
    return tree is None or _truth(tree, typed, kinds) is True


def _typed(kind, text):
    if text in ("", NULL_PARTITION):
        return NULL
    try:
        return kind.parse(text)
    except ValueError:
        value = kind.read(text)
    return UNPARSABLE if value is None else value


def _truth(tree, typed, kinds):
    if isinstance(tree, And):
        truths = [_truth(child, typed, kinds) for child in tree.children]
        return False if False in truths else None if None in truths else True
    if isinstance(tree, Or):
        truths = [_truth(child, typed, kinds) for child in tree.children]
        return True if True in truths else None if None in truths else False
    if isinstance(tree, Not):
        return _negated(_truth(tree.child, typed, kinds))
    found = _leaf(tree, typed, kinds)
    return _negated(found) if getattr(tree, "negated", False) else found


def _negated(truth):
    return None if truth is None else not truth


def _leaf(tree, typed, kinds):
    if isinstance(tree, Comparison):
        return _compare(tree.column, tree.operator, tree.literal, typed, kinds)
    if isinstance(tree, Between):
        ends = (
            _compare(tree.column, Operator.GE, tree.low, typed, kinds),
            _compare(tree.column, Operator.LE, tree.high, typed, kinds),
        )
        return False if False in ends else None if None in ends else True
    if isinstance(tree, In):
        truths = [_compare(tree.column, Operator.EQ, one, typed, kinds) for one in tree.literals]
        return True if True in truths else None if None in truths else False
    if isinstance(tree, StructIn):
        rows = []
        for row in tree.rows:
            truths = [
                _compare(name, Operator.EQ, one, typed, kinds) for name, one in zip(tree.columns, row, strict=True)
            ]
            rows.append(False if False in truths else None if None in truths else True)
        return True if True in rows else None if None in rows else False
    value = typed[tree.column.lower()]
    if isinstance(tree, Holds):
        return tree.condition.of_null if value is NULL or value is UNPARSABLE else tree.condition.of(value)
    if isinstance(tree, IsNull):
        return value is NULL
    assert isinstance(tree, Like | TimeRangeIn)
    if value is NULL or value is UNPARSABLE:
        return None
    if isinstance(tree, TimeRangeIn):
        return _in_time_range(value, *parse_time_range(tree.start, tree.end, NOW))
    text = kinds[tree.column.lower()].text(value)
    pattern = "".join(re.escape(p) if isinstance(p, str) else ".*" if p is RUN else "." for p in tree.pattern.parts)
    return re.fullmatch(pattern, text, re.DOTALL) is not None


def _in_time_range(value, start, end):
    if isinstance(value, str):
        return text_in_time_range(value, start, end)
    if isinstance(value, dt.date):
        return start <= dt.datetime.combine(value, dt.time(), dt.UTC) < end
    if isinstance(value, int):
        return 1 <= value <= 9_999 and start <= dt.datetime(value, 1, 1, tzinfo=dt.UTC) < end
    low, high = ((one - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) for one in (start, end))
    seconds, nanoseconds = value
    return low <= dt.timedelta(seconds=seconds, microseconds=nanoseconds // 1_000) < high


def text_in_time_range(text, start, end):
    """Whether a text lies between the first texts of two times, among weeks or among all others."""
    year = bisect_right(_YEARS, text) - 1
    weeks = year >= 0 and text >= f"{_YEARS[year]}-W01"
    first = _first_week if weeks else _first_text
    return first(start) <= text < first(end)


def _first_text(time):
    second = _up(time, dt.timedelta(seconds=1))
    if second is None:
        return ":"
    return re.sub(r"(?:(?:(?:(?:-01)?-01)?-00)?-00)?-00$", "", re.sub("[T:]", "-", second.isoformat()[:19]))


def _first_week(time):
    day = _up(time, dt.timedelta(days=1))
    while day is not None and day.isoweekday() != 1:
        day = _up(day + dt.timedelta(microseconds=1), dt.timedelta(days=1))
    if day is None:
        return ":"
    year, week, _ = day.isocalendar()
    return f"{year:04}-W{week:02}"


def _up(time, unit):
    """The next whole unit; None behind the year 9999."""
    try:
        return time + (_YEAR_1 - time) % unit
    except OverflowError:
        return None


def _compare(column, sign, literal, typed, kinds):
    value = typed[column.lower()]
    if isinstance(literal, Text) and literal.value == NULL_PARTITION:
        if sign is Operator.EQ:
            return value is NULL
        return value is not NULL if sign is Operator.NE else None
    if value is NULL or value is UNPARSABLE:
        return None
    kind = kinds[column.lower()]
    if kind.name in ("float", "double") and isinstance(literal, Integer | Number):
        return _COMPARISONS[sign](_beside_number(value, Decimal(literal.value), kind.name), 0)
    left, right = _ordered(value), _ordered(_literal(literal, kind))
    return _COMPARISONS[sign](left, right)


def _beside_number(value, number, name):
    """-1, 0 or 1: a float or double is less than a number, is written as it or around it, or is greater."""
    if not math.isfinite(value):
        return -1 if value == -math.inf else 1
    if number and not -_FAR < number.adjusted() < _FAR:  # beyond all values, or beside zero
        number = Decimal(1 if number > 0 else -1).scaleb(_FAR if number.adjusted() > 0 else -_FAR)
    digits = _shortest_digits(value, single=name == "float")
    ways = [Fraction(value), *(Fraction(text) for text in digits)]
    exact = Fraction(number)
    return -1 if max(ways) < exact else 1 if min(ways) > exact else 0


def _shortest_digits(value, *, single):
    """A value rounded to digits that read back as it: the fewest, as a float and as a double, and those of C."""
    for reads, most in ((True, 9), (False, 17)) if single else ((False, 17),):
        texts = [f"{value:.{digits}g}" for digits in range(1, most + 1)]
        yield next(text for text in texts if (ctypes.c_float(float(text)).value if reads else float(text)) == value)
        yield f"{value:.{9 if single else 17}g}"


def _ordered(value):
    """NaN is one value above infinity."""
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value)
    return value


def _literal(literal, kind):
    if isinstance(literal, Text):
        name = kind.name
        if name in ("tinyint", "smallint", "int", "bigint"):
            return int(literal.value)
        if name.startswith("decimal"):
            return Decimal(literal.value)
        if name.startswith(("string", "varchar", "char")):
            return literal.value
        return kind.parse(literal.value)
    if isinstance(literal, Date) and kind.name == "timestamp":
        return ((literal.value - dt.date(1970, 1, 1)).days * 86_400, 0)
    if isinstance(literal, Timestamp) and kind.name == "date":
        return dt.date(1970, 1, 1) + dt.timedelta(seconds=literal.value[0])
    assert isinstance(literal, Integer | Number | Boolean | Date | Timestamp)
    return literal.value
