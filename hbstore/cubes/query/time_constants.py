"""Constants beside times: intervals, and the moments that times are compared with.

A comparison with a moment is true before it and false behind it, or the other way round. So it is the same in each part
of a period that has a part that begins at this moment: ``t >= '2015-02-01'`` in days and months, not in weeks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from fractions import Fraction
from typing import Final

from sqlglot import exp

from hbstore.cubes.function_calls import name_of
from hbstore.cubes.query.dependence import WITHIN, Dependence, Periods, moved
from hbstore.times.moments import DAY, LIMIT, SECOND, moment
from hbstore.times.update_period import UpdatePeriod

_MONTHS: Final = {period.unit.upper(): period.part_months for period in UpdatePeriod if period.part_months}
_MICROSECONDS: Final = {
    **{period.unit.upper(): period.part_seconds * SECOND for period in UpdatePeriod if period.part_seconds},
    "DAYOFYEAR": DAY,
    "MILLISECOND": SECOND // 1_000,
    "MICROSECOND": 1,
}
UNITS: Final[Mapping[str, UpdatePeriod]] = {
    **{period.unit.upper(): period for period in UpdatePeriod},
    **dict.fromkeys(("YYYY", "YY"), UpdatePeriod.YEARLY),
    **dict.fromkeys(("MM", "MON"), UpdatePeriod.MONTHLY),
    "DD": UpdatePeriod.DAILY,
}
"""Of date_trunc and trunc."""

_SPANNED: Final = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
"""The units that intervals such as ``'1 06:30' DAY TO MINUTE`` have, in their order."""

_NUMBER: Final = r"\d+(?:\.\d+)?"
_WRITTEN: Final = re.compile(rf"\s*(?:INTERVAL\s)?((?:\s*[+-]?\s*{_NUMBER}\s+[A-Z]+)+)\s*", re.IGNORECASE)
_TIME: Final = re.compile(
    r"\s*(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6}))?)?)?)?)?\s*"
)
TIME_TYPES: Final = (exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPLTZ, exp.DType.TIMESTAMPNTZ)


def movement(tree: exp.Expr) -> Dependence | None:
    """What adding or subtracting an interval does to a time; None for what is no constant interval.

    >>> from hbstore.cubes.query.text import DIALECT
    >>> from sqlglot import parse_one
    >>> movement(parse_one("interval '1 06:00' day to minute", dialect=DIALECT)) == moved(0, 30 * 3_600 * SECOND)
    True
    """
    months, microseconds = Fraction(0), Fraction(0)
    try:
        for number, unit in _lengths(tree):
            if unit in _MONTHS:
                months += number * _MONTHS[unit]
            else:
                microseconds += number * _MICROSECONDS[unit]
    except (KeyError, ValueError):  # a unit or a text that Spark may know
        return None
    if months.denominator != 1 or microseconds.denominator != 1:
        return None
    return moved(int(months), int(microseconds))


def moved_by(number: int | None, unit: str) -> Dependence | None:
    """What adding so many of a unit does to a time; None where the unit is not known. A number that is None is any.

    >>> moved_by(2, "QUARTER") == moved(6)
    True
    """
    months, microseconds = _MONTHS.get(unit, 0), _MICROSECONDS.get(unit, 0)
    if not (months or microseconds):
        return None
    if number is not None:
        return moved(months * number, microseconds * number)
    by = moved(months, microseconds)
    return Dependence(by.same, by.keeps, by.form, float("inf"))


def _lengths(tree: exp.Expr) -> Iterator[tuple[Fraction, str]]:
    """The numbers and units of an interval; ValueError where it is none."""
    tree = tree.unnest()
    literal = isinstance(tree, exp.Interval) and isinstance(tree.this, exp.Literal)
    text, unit = tree.this.name if literal else "", tree.args.get("unit")
    if isinstance(tree, exp.Add):  # (INTERVAL 1 DAY + INTERVAL 6 HOURS)
        yield from (*_lengths(tree.this), *_lengths(tree.expression))
    elif isinstance(unit, exp.IntervalSpan):
        first, last = (_SPANNED.index(end.name.upper()) for end in (unit.this, unit.expression))
        yield from zip(map(Fraction, re.findall(_NUMBER, text)), _SPANNED[first : last + 1], strict=True)
    elif unit is not None:
        if re.fullmatch(rf"\s*[+-]?{_NUMBER}\s*", text) is None:
            raise ValueError
        yield Fraction(text.strip()), unit.name.upper().removesuffix("S")
    elif (written := _WRITTEN.fullmatch(text)) is not None:
        for number, name in re.findall(rf"([+-]?\s*{_NUMBER})\s+([A-Z]+)", written[1], re.IGNORECASE):
            yield Fraction(re.sub(r"\s", "", number)), name.upper().removesuffix("S")
    else:
        raise ValueError


def begun_at(tree: exp.Expr, *, behind: bool = False) -> Periods:
    """The periods of which a part begins at the moment that a constant is, or at the next microsecond behind it.

    >>> [period.name for period in begun_at(exp.Literal.string("2015-02-01")) if period.rank > 4]
    ['MONTHLY']
    """
    at = _moment_of(tree)
    if at is not None:
        at += behind
        starts = (period for period in UpdatePeriod if period.moment(period.floor_index(min(at, LIMIT))) == at)
        return frozenset(starts)
    return frozenset() if behind else _begun_at(tree.unnest())


def _begun_at(tree: exp.Expr) -> Periods:
    """The same of what Spark alone knows, but is the beginning of some part."""
    if isinstance(tree, exp.Add | exp.Sub):
        by = movement(tree.expression)
        return frozenset() if by is None else begun_at(tree.this) & by.keeps
    name, arguments = name_of(tree), tree.expressions
    if name in ("date_trunc", "trunc") and len(arguments) == 2:  # noqa: PLR2004  a unit and a time
        written = arguments[0 if name == "date_trunc" else 1]
        unit = UNITS.get(written.name.upper()) if isinstance(written, exp.Literal) else None
        return frozenset() if unit is None else WITHIN[unit]
    if name == "date_add" and len(arguments) == 3:  # noqa: PLR2004  DATE_ADD(HOUR, 6, t) is a time of any hour
        return frozenset()
    if isinstance(tree, exp.Cast) and tree.to.this == exp.DType.DATE:
        return WITHIN[UpdatePeriod.DAILY]
    return WITHIN[UpdatePeriod.DAILY] if name in _DATES else frozenset()


_DATES: Final = ("add_months", "curdate", "current_date", "date", "date_add", "date_sub", "last_day", "to_date")
"""Functions that make dates."""


def _moment_of(tree: exp.Expr) -> int | None:
    """The moment of a constant as Spark reads it in UTC; None where it is another, or Spark alone knows."""
    tree = tree.unnest()
    if isinstance(tree, exp.Cast) and tree.to.this in (exp.DType.DATE, *TIME_TYPES):
        at = _moment_of(tree.this)
        return at if at is None or tree.to.this != exp.DType.DATE else at - at % DAY
    if name_of(tree) in ("date", "to_date") and len(tree.expressions) == 1:
        at = _moment_of(tree.expressions[0])
        return None if at is None else at - at % DAY
    if name_of(tree) in ("timestamp", "to_timestamp") and len(tree.expressions) == 1:
        return _moment_of(tree.expressions[0])
    written = _TIME.fullmatch(tree.name) if isinstance(tree, exp.Literal) and tree.is_string else None
    if written is None:
        return None
    parts = zip(written.groups(), ("1", "1", "1", "0", "0", "0", "0"), strict=True)
    year, month, day, hour, minute, second, fraction = (part or least for part, least in parts)
    try:
        seconds = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second), tzinfo=UTC)
    except ValueError:  # there is no such time
        return None
    return moment(seconds) + int(fraction.ljust(6, "0"))
