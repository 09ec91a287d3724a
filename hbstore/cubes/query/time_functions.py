"""Spark's functions of times: in which periods each stays the same, and what it does to periods otherwise.

One table for all functions. How an expression of several of them depends on a time follows from it
(`Dependence.then`). What is not in the table is not known, and is computed from the times of rows.

Functions are as in a session in UTC: where hbstore puts the time of a partition in the place of a row's time, the query
needs such a session.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from sqlglot import exp

from hbstore.cubes.function_calls import name_of
from hbstore.cubes.query.dependence import ALL, WITHIN, Dependence, TimeForm, as_a, moved, part_of, start_of
from hbstore.cubes.query.time_constants import TIME_TYPES, UNITS, begun_at, moved_by, movement
from hbstore.cubes.query.zone_shifts import seconds_of
from hbstore.times.moments import DAY, SECOND
from hbstore.times.update_period import UpdatePeriod

_YEAR, _QUARTER, _MONTH = UpdatePeriod.YEARLY, UpdatePeriod.QUARTERLY, UpdatePeriod.MONTHLY
_WEEK, _DAY, _HOUR = UpdatePeriod.WEEKLY, UpdatePeriod.DAILY, UpdatePeriod.HOURLY
_MINUTE, _SECOND = UpdatePeriod.MINUTELY, UpdatePeriod.SECONDLY

TIMES: Final = frozenset((TimeForm.TIME, TimeForm.WRITTEN, TimeForm.TEXT))
"""What Spark takes where a function asks for a time."""

_FIELDS: Final[Mapping[str, UpdatePeriod | None]] = {
    **dict.fromkeys(("YEAR", "Y", "YEARS", "YR", "YRS"), _YEAR),
    **dict.fromkeys(("QUARTER", "QTR"), _QUARTER),
    **dict.fromkeys(("MONTH", "MON", "MONS", "MONTHS"), _MONTH),
    **dict.fromkeys(("WEEK", "W", "WEEKS", "YEAROFWEEK"), _WEEK),
    **dict.fromkeys(("DAY", "D", "DAYS", "DAYOFWEEK", "DOW", "DAYOFWEEK_ISO", "DOW_ISO", "DOY"), _DAY),
    **dict.fromkeys(("HOUR", "H", "HOURS", "HR", "HRS"), _HOUR),
    **dict.fromkeys(("MINUTE", "M", "MIN", "MINS", "MINUTES"), _MINUTE),
    **dict.fromkeys(("SECOND", "S", "SEC", "SECONDS", "SECS"), None),  # with their fraction
}
"""Of EXTRACT and date_part."""

_LETTERS: Final[Mapping[str, UpdatePeriod | None]] = {
    **dict.fromkeys("Gy", _YEAR),
    **dict.fromkeys("qQ", _QUARTER),
    **dict.fromkeys("ML", _MONTH),
    **dict.fromkeys("dDEF", _DAY),
    **dict.fromkeys("ahHkK", _HOUR),
    "m": _MINUTE,
    "s": _SECOND,
    "S": None,
}
"""Of patterns."""

_WRITTEN: Final = ((5, _YEAR), (8, _MONTH), (11, _DAY), (14, _HOUR), (17, _MINUTE), (19, _SECOND))
"""Up to which character a time, as Spark writes it, tells no more than its part of a period."""

_WRITABLE: Final = frozenset((TimeForm.TIME, TimeForm.WRITTEN))
"""What Spark writes as a text of a time, where a function asks for a text."""

_SINCE_1970: Final = Dependence(WITHIN[_SECOND], ALL, TimeForm.SECONDS)


@dataclass(frozen=True, slots=True)
class Years:
    """The years of the times that are asked for: clocks of time zones had other offsets in others."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Use:
    """An expression, seen from a part of it that depends on a time.

    Attributes:
        node: the expression.
        part: the part.
        dependence: how it depends on the time.
        years: those of the time.
    """

    node: exp.Expr
    part: exp.Expr
    dependence: Dependence
    years: Years

    @property
    def form(self) -> TimeForm:
        """What the part is."""
        return self.dependence.form

    @property
    def arguments(self) -> list[exp.Expr]:
        """Those of a function."""
        return self.node.expressions

    def text(self, place: int) -> str | None:
        """The text that an argument is; None where it is no literal."""
        argument = self.arguments[place]
        return argument.name if isinstance(argument, exp.Literal) and argument.is_string else None

    def number(self, place: int) -> int | None:
        """The whole number, without its sign, that an argument is; None where it is no literal."""
        return _number_of(self.arguments[place])


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table.

    Attributes:
        tells: how the value of the function depends on an argument; None where that is not known.
        counts: how many arguments there may be.
        places: which of them may be the time; -1 is the last one.
        takes: the forms that it may have.
    """

    tells: Callable[[Use], Dependence | None]
    counts: tuple[int, ...] = (1,)
    places: tuple[int, ...] = (0,)
    takes: frozenset[TimeForm] = TIMES


def effect(use: Use) -> Dependence | None:
    """How the value of an expression depends on a part of it that is a time; None where it is not known.

    >>> from sqlglot import parse_one
    >>> from hbstore.cubes.dialect import QueryDialect
    >>> from hbstore.cubes.query.dependence import THE_TIME
    >>> node = parse_one("month(t)", dialect=QueryDialect)
    >>> effect(Use(node, node.expressions[0], THE_TIME, Years(2015, 2016))) == part_of(UpdatePeriod.MONTHLY)
    True
    """
    tells = _NODES.get(type(use.node))
    return None if tells is None else tells(use)


def _call(use: Use) -> Dependence | None:
    row = TABLE.get(name_of(use.node) or "")
    if row is None or use.form not in row.takes or len(use.arguments) not in row.counts:
        return None
    return row.tells(use) if any(use.part is use.arguments[place] for place in row.places) else None


def _cast(use: Use) -> Dependence | None:
    kind, form = use.node.args["to"].this, use.form
    if kind == exp.DType.DATE and form in TIMES:
        return start_of(_DAY)
    if kind in TIME_TYPES:
        return as_a(TimeForm.TIME)
    if kind == exp.DType.TEXT and form in _WRITABLE:
        return as_a(TimeForm.WRITTEN)
    return _SINCE_1970 if kind == exp.DType.BIGINT and form is TimeForm.TIME else None


def _extract(use: Use) -> Dependence | None:
    return _field(use.node.name) if use.part is use.node.expression and use.form in TIMES else None


def _field(name: str | None) -> Dependence | None:
    field = (name or "").upper()
    return part_of(_FIELDS[field]) if field in _FIELDS else None


def _sum(use: Use) -> Dependence | None:
    """A time and an interval, a date and days, or two numbers of seconds."""
    other = use.node.expression if use.part is use.node.this else use.node.this
    if other is use.node.this and isinstance(use.node, exp.Sub):
        return None
    number = _number_of(other)
    if use.form is TimeForm.TIME:
        moves = movement(other) if number is None else moved(0, number * DAY)
    else:
        moves = moved(0, number * SECOND) if use.form is TimeForm.SECONDS and number is not None else None
    return None if moves is None else replace(moves, form=use.form)


def _comparison(use: Use) -> Dependence | None:
    """A time and a moment. What begins at the moment is as a whole before it or behind it."""
    node = use.node
    if use.form is not TimeForm.TIME:
        return None
    if isinstance(node, exp.Between):
        same = begun_at(node.args["low"]) & begun_at(node.args["high"], behind=True)
        return Dependence(same, same) if use.part is node.this else None
    first = use.part is node.this
    same = begun_at(node.expression if first else node.this, behind=isinstance(node, exp.GT | exp.LTE) == first)
    return Dependence(same, same)


def _substring(use: Use) -> Dependence | None:
    _, start, length = use.arguments
    if not isinstance(start, exp.Literal):
        return None  # a start with a sign is counted from the end
    first, count = _number_of(start), _number_of(length)
    return None if first is None or count is None else _characters(max(first, 1) + count - 1)


def _characters(last: int | None) -> Dependence | None:
    """Characters of a time as Spark writes it, up to one of them."""
    return None if last is None else part_of(next((period for end, period in _WRITTEN if last <= end), None))


def _number_of(tree: exp.Expr | None) -> int | None:
    """The whole number, without its sign, that a literal is."""
    inner = tree.unnest() if tree is not None else None
    inner = inner.this if isinstance(inner, exp.Neg) else inner
    return int(inner.name) if isinstance(inner, exp.Literal) and inner.is_int else None


def _pattern(pattern: str | None) -> Dependence | None:
    """A time as a pattern says."""
    letters = set(re.sub(r"'[^']*'|[^A-Za-z]", "", pattern or ""))
    if pattern is None or not letters <= _LETTERS.keys():
        return None
    same = frozenset.intersection(ALL, *(part_of(_LETTERS[letter]).same for letter in letters))
    return Dependence(same, same)


def _truncated(unit: str | None) -> Dependence | None:
    period = UNITS.get((unit or "").upper())
    return None if period is None else start_of(period)


def _next_day(use: Use) -> Dependence | None:
    day = use.text(1)
    if day is None or day.upper() not in ("MO", "MON", "MONDAY"):
        return start_of(_DAY).then(moved(0, DAY))
    return Dependence(WITHIN[_WEEK], WITHIN[_WEEK], TimeForm.TIME, 1)  # it is in the next week for all days of one


def _from_unixtime(use: Use) -> Dependence | None:
    if len(use.arguments) == 1:
        return Dependence(WITHIN[_SECOND], ALL, TimeForm.WRITTEN)
    return _pattern(use.text(1))


def _in_zone(use: Use, *zones: str | None) -> Dependence | None:
    """A time as clocks of one zone show it where those of another show the time."""
    result = as_a(TimeForm.TIME)
    for zone in zones:
        around = use.dependence.years + 1
        seconds = None if zone is None else seconds_of(zone, use.years.first - around, use.years.last + around)
        if seconds is None:
            return None
        result = result.then(moved(0, seconds * SECOND))
    return result


def _parsed(use: Use, read: Dependence) -> Dependence | None:
    """A text that is read as a pattern says, which is not known; what is a time already has no use for the pattern."""
    return read if len(use.arguments) == 1 or use.form is TimeForm.TIME else None


def _added(use: Use) -> Dependence | None:
    """By ``date_add(t, 1)``, or ``dateadd(MONTH, 1, t)``."""
    if len(use.arguments) == 3:  # noqa: PLR2004
        unit = use.arguments[0]
        return moved_by(use.number(1), unit.name) if isinstance(unit, exp.Var) else None
    days = use.number(1)
    return start_of(_DAY).then(moved(0, None if days is None else days * DAY))


def _first_of(period: UpdatePeriod | None) -> Callable[[Use], Dependence]:
    return lambda _: part_of(period)


TABLE: Final[Mapping[str, Row]] = {
    "year": Row(_first_of(_YEAR)),
    "quarter": Row(_first_of(_QUARTER)),
    **dict.fromkeys(("month", "monthname"), Row(_first_of(_MONTH))),
    "weekofyear": Row(_first_of(_WEEK)),
    **dict.fromkeys(
        ("day", "dayname", "dayofmonth", "dayofweek", "dayofyear", "unix_date", "weekday"), Row(_first_of(_DAY))
    ),
    "hour": Row(_first_of(_HOUR)),
    "minute": Row(_first_of(_MINUTE)),
    "second": Row(_first_of(_SECOND)),
    **dict.fromkeys(("date_part", "datepart"), Row(lambda use: _field(use.text(0)), (2,), (1,))),
    **dict.fromkeys(("datediff", "date_diff"), Row(_first_of(_DAY), (2,), (0, 1))),
    **dict.fromkeys(("date_format", "to_char", "to_varchar"), Row(lambda use: _pattern(use.text(1)), (2,))),
    "substring": Row(_substring, (3,), (0,), _WRITABLE),
    "left": Row(lambda use: _characters(use.number(1)), (2,), (0,), _WRITABLE),
    "date_trunc": Row(lambda use: _truncated(use.text(0)), (2,), (1,)),
    "trunc": Row(lambda use: _truncated(use.text(1)), (2,)),
    "last_day": Row(lambda _: start_of(_MONTH)),
    "next_day": Row(_next_day, (2,)),
    "date": Row(lambda _: start_of(_DAY)),
    "timestamp": Row(lambda _: as_a(TimeForm.TIME)),
    "to_date": Row(lambda use: _parsed(use, start_of(_DAY)), (1, 2)),
    "to_timestamp": Row(lambda use: _parsed(use, as_a(TimeForm.TIME)), (1, 2)),
    **dict.fromkeys(("date_add", "dateadd"), Row(_added, (2, 3), (0, -1))),
    "date_sub": Row(_added, (2,)),
    "timestampadd": Row(_added, (3,), (-1,)),
    "add_months": Row(lambda use: start_of(_DAY).then(moved(use.number(1))), (2,)),
    **dict.fromkeys(("from_utc_timestamp", "to_utc_timestamp"), Row(lambda use: _in_zone(use, use.text(1)), (2,))),
    "convert_timezone": Row(
        lambda use: _in_zone(use, *(use.text(at) for at in range(len(use.arguments) - 1))), (2, 3), (-1,)
    ),
    **dict.fromkeys(
        ("unix_timestamp", "to_unix_timestamp", "unix_seconds"),
        Row(lambda _: _SINCE_1970, takes=frozenset((TimeForm.TIME,))),
    ),
    "timestamp_seconds": Row(lambda _: as_a(TimeForm.TIME), takes=frozenset((TimeForm.SECONDS,))),
    "from_unixtime": Row(_from_unixtime, (1, 2), takes=frozenset((TimeForm.SECONDS,))),
}
"""By the name of a function in lower case."""

_NODES: Final[Mapping[type[exp.Expr], Callable[[Use], Dependence | None]]] = {
    exp.Anonymous: _call,
    exp.Paren: lambda use: as_a(use.form),
    **dict.fromkeys((exp.Cast, exp.TryCast), _cast),
    exp.Extract: _extract,
    **dict.fromkeys((exp.Add, exp.Sub), _sum),
    **dict.fromkeys((exp.Between, exp.GTE, exp.GT, exp.LTE, exp.LT), _comparison),
}
"""What is no function with a name and arguments, too."""
