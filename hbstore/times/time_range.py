"""Time ranges as people write them: two times, each written out or relative to now.

    2015-01-29-06            a time written out, as precisely as needed: the beginning of that hour
    now.hour-4hours          now, floored to the hour, and four hours before that

A range is half open: [from, to). All times are in UTC; weeks are ISO weeks, which begin on Mondays. What `now` is, the
caller says. grammar/time_range.lark is the language.

Reading a text and telling its time are two steps: `written_time` gives a `WrittenTime`, which does not depend on now,
and its `at` asks a clock where it has to.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Final, NamedTuple, TypeAlias

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from hbstore.byte_cache import remembered
from hbstore.errors import InvalidTime, TimeRangeSyntaxError
from hbstore.texts.arguments import expect
from hbstore.texts.grammars import grammar_text
from hbstore.texts.places import highlight, place
from hbstore.times.clock import Clock
from hbstore.times.moments import END_OF_TIME, moment, moments, out_of_years, time_at
from hbstore.times.update_period import UpdatePeriod

_A_TIME: Final = 'Give a text, such as "2015-01-29" or "now.day-3days"'
MAX_LENGTH: Final = 200
"""Characters of a time."""

_ISO: Final = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d")
_PERIODS: Final = {period.unit: period for period in UpdatePeriod if period is not UpdatePeriod.CONTINUOUS}
_BOUNDS: Final[Mapping[str, tuple[int, int]]] = {
    "YEAR": (1, 9_999),
    "MONTH": (1, 12),
    "HOUR": (0, 23),
    "MINUTE": (0, 59),
    "SECOND": (0, 59),
}
_WORDS: Final[Mapping[str, str]] = {
    "YEAR": "a year (yyyy)",
    "NOW": "now",
    "MONTH": "a month (MM)",
    "DAY": "a day (dd)",
    "HOUR": "an hour (HH)",
    "MINUTE": "minutes (mm)",
    "SECOND": "seconds (ss)",
    "MILLISECOND": "milliseconds (SSS)",
    "COUNT": "a number",
    "UNIT": "second, minute, hour, day, week, month, quarter or year",
    "DOT": "'.'",
    "MINUS": "'-'",
    "COLON": "':'",
    "COMMA": "','",
    "SIGN": "a sign (+ or -)",
    "$END": "the end",
}


class TimeRange(NamedTuple):
    """The times from ``start``, which is part of it, to ``end``, which is not."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class AbsoluteTime:
    """A time written out.

    Attributes:
        time: the time, in UTC.
    """

    time: datetime

    def at(self, clock: Clock) -> datetime:  # noqa: ARG002  whatever it tells
        """The time; the clock is not asked."""
        return self.time


@dataclass(frozen=True, slots=True)
class RelativeTime:
    """A time relative to now.

    Attributes:
        period: now is floored to the part of this period that it is in; None: it is not.
        offsets: how many of which unit to go from there, one after the other.
    """

    period: UpdatePeriod | None
    offsets: tuple[tuple[int, str], ...]

    def at(self, clock: Clock) -> datetime:
        """The time, in UTC, as of what the clock tells.

        Raises:
            InvalidTime: it is outside of the years 1 to 9999, or the clock's time has no time zone.
        """
        time = time_at(moment(clock()))
        if self.period is not None:
            time = self.period.floor(time)
        for count, unit in self.offsets:
            time = _moved(time, count, unit)
        return time


WrittenTime: TypeAlias = AbsoluteTime | RelativeTime
"""A text that was read."""


def read_time(text: str, now: datetime) -> datetime:
    """The time in a text that people or programs wrote: as `parse_time`, or an ISO time; without a zone, in UTC.

    Raises:
        TimeRangeSyntaxError: the text is none of both.
        InvalidTime: there is no such time.

    >>> [read_time(text, datetime.now(UTC)).isoformat() for text in ("2015-01-29-06", "2015-01-29T08:00:00+01:00")]
    ['2015-01-29T06:00:00+00:00', '2015-01-29T07:00:00+00:00']
    """
    if not _ISO.match(expect("text", text, str, hint=_A_TIME)):
        return parse_time(text, now)
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidTime(
            "the text is not an ISO time", time=text[:MAX_LENGTH], hint="Write the time as 2015-01-29T06:00:00Z"
        ) from None


def parse_time_range(start: str, end: str, now: datetime) -> TimeRange:
    """The range [start, end) of two texts.

    Raises:
        TimeRangeSyntaxError: a text is no time; the error says where and what was expected.
        InvalidTime: a time is outside of the years 1 to 9999, or `now` has no time zone.
        InvalidTimeRange: the range ends before it begins.

    >>> now = datetime(2015, 1, 29, 6, 30, tzinfo=UTC)
    >>> [time.isoformat() for time in parse_time_range("now.hour-4hours", "now.hour", now)]
    ['2015-01-29T02:00:00+00:00', '2015-01-29T06:00:00+00:00']
    """
    found = TimeRange(parse_time(start, now), parse_time(end, now))
    moments(*found)
    return found


def parse_time(text: str, now: datetime) -> datetime:
    """The time of a text, in UTC.

    Raises:
        TimeRangeSyntaxError: the text is no time; the error says where and what was expected.
        InvalidTime: the time is outside of the years 1 to 9999, or `now` has no time zone.

    >>> parse_time("2015-01-29-06", datetime.now(UTC)).isoformat()
    '2015-01-29T06:00:00+00:00'
    >>> parse_time("now.month - 1 month", datetime(2015, 3, 31, 6, tzinfo=UTC)).isoformat()
    '2015-02-01T00:00:00+00:00'
    """
    moment(now)  # also where the text does not need it
    return written_time(expect("text", text, str, hint=_A_TIME)).at(lambda: now)


@remembered
def written_time(text: str) -> WrittenTime:
    """A text as it is read, whatever now is; texts that come back are remembered.

    Raises:
        TimeRangeSyntaxError: the text is no time; the error says where and what was expected.

    >>> written_time("now.day-3days")
    RelativeTime(period=<UpdatePeriod.DAILY: 'DAILY'>, offsets=((-3, 'day'),))
    """
    return _read(_Text(text, text, 0))


def check_time_range(start: str, end: str) -> None:
    """Check the texts of a range, as far as that does not depend on what now is.

    Raises:
        TimeRangeSyntaxError: a text is no time; the error says where and what was expected.
        InvalidTimeRange: both are written out, and the range ends before it begins.
    """
    first, last = written_time(start), written_time(end)
    if isinstance(first, AbsoluteTime) and isinstance(last, AbsoluteTime):
        moments(first.time, last.time)


def time_within(text: str, start: int, stop: int) -> WrittenTime:
    """The time that stands in a larger text, from one place up to another; errors give places in the larger text.

    Raises:
        TimeRangeSyntaxError: no time stands there.
    """
    return _read(_Text(text[start:stop], text, start))


def time_text(time: datetime) -> str:
    """A time as `parse_time` reads it, as short as it can be said.

    >>> time_text(datetime(2015, 1, 29, 6, 30, tzinfo=UTC)), time_text(datetime(2015, 1, 1, tzinfo=UTC))
    ('2015-01-29-06:30', '2015-01-01')
    """
    if time == END_OF_TIME:
        return "10000-01-01"
    day, clock = time.isoformat()[:10], time.strftime("%H:%M:%S")
    if time.microsecond:
        return f"{day}-{clock},{time.microsecond:06}"
    return "-".join(part for part in (day, clock.removesuffix(":00").removesuffix(":00").removesuffix("00")) if part)


class _Text(NamedTuple):
    """The text of a time, and the whole text that it stands in, from some place on."""

    time: str
    whole: str
    start: int


def _read(text: _Text) -> WrittenTime:
    time = text.time.rstrip(" \t")
    if len(time) > MAX_LENGTH:
        raise _error(text, MAX_LENGTH, "the time is too long", f"at most {MAX_LENGTH} characters")
    try:
        tree = _parser().parse(time)
    except UnexpectedCharacters as error:
        raise _unexpected(
            text, error.pos_in_stream, {*error.allowed, *_end_after(time[: error.pos_in_stream])}
        ) from None
    except UnexpectedToken as error:
        at = len(time) if error.token.type == "$END" else error.token.start_pos
        raise _unexpected(text, at, error.accepts or ()) from None
    (found,) = tree.find_pred(lambda one: one.data in {"absolute", "relative"})
    return _absolute(text, found) if found.data == "absolute" else _relative(found)


def _absolute(text: _Text, tree: Tree[Token]) -> AbsoluteTime:
    values: list[int] = []
    for token in tree.scan_values(lambda _: True):
        value = int(token)
        low, high = _BOUNDS.get(token.type, (0, 999))
        if token.type == "DAY":
            low, high = 1, _days(values[0], values[1])
        if not low <= value <= high:
            width = len(token)
            raise _error(
                text, token.start_pos, f"the {token.type.lower()} does not exist", f"{low:0{width}} to {high:0{width}}"
            )
        values.append(value)
    year, month, day, hour, minute, second, millisecond = values + [1, 1, 1, 0, 0, 0, 0][len(values) :]
    return AbsoluteTime(datetime(year, month, day, hour, minute, second, millisecond * 1_000, tzinfo=UTC))


def _relative(tree: Tree[Token]) -> RelativeTime:
    period = None
    offsets = []
    for child in tree.children:
        if not isinstance(child, Token):
            sign, count, unit = (one for one in child.children if isinstance(one, Token) and one.type != "SPACE")
            offsets.append((int(f"{sign}{count}"), _unit(unit)))
        elif child.type == "UNIT":
            period = _PERIODS[_unit(child)]
    return RelativeTime(period, tuple(offsets))


def _moved(time: datetime, count: int, unit: str) -> datetime:
    """A time some units later; where the month has no such day, its last.

    >>> _moved(datetime(2015, 3, 31, 6, tzinfo=UTC), -1, "month").isoformat()
    '2015-02-28T06:00:00+00:00'
    """
    try:
        period = _PERIODS[unit]
        if period.part_seconds:
            return time + count * timedelta(seconds=period.part_seconds)
        year, month = divmod(time.year * 12 + time.month - 1 + count * period.part_months, 12)
        return time.replace(year=year, month=month + 1, day=min(time.day, _days(year, month + 1)))
    except (OverflowError, ValueError):
        raise out_of_years(f"{time.isoformat()} {count:+} {unit}") from None


def _days(year: int, month: int) -> int:
    """How many days a month has."""
    after = date(year, month, 28) + timedelta(days=3)
    return 31 if after.month == month else 31 - after.day


def _unit(token: Token) -> str:
    return token.lower().removesuffix("s")


@cache
def _parser() -> Lark:
    return Lark(grammar_text("time_range.lark"), parser="lalr")


def _end_after(text: str) -> set[str]:
    """The kind of the end, if a time may end like this."""
    try:
        _parser().parse(text)
    except UnexpectedInput:
        return set()
    return {"$END"}


def _unexpected(text: _Text, at: int | None, expected: Collection[str]) -> TimeRangeSyntaxError:
    """The error for a place where one of some kinds of tokens should stand."""
    *most, last = [word for kind, word in _WORDS.items() if kind in expected]
    return _error(text, at, "the time does not parse", f"{', '.join(most)} or {last}" if most else last)


def _error(text: _Text, at: int | None, summary: str, expected: str) -> TimeRangeSyntaxError:
    assert at is not None  # Lark gives every token of a text its place
    rest = re.match(r"\w+|.|\Z", text.time[at:], re.DOTALL)
    token = rest[0][:MAX_LENGTH] if rest else ""
    line, column = place(text.whole, text.start + at)
    return TimeRangeSyntaxError(
        summary,
        highlight=highlight(text.whole, text.start + at),
        hint="Times are written 2015-01-29-06:30:15,250, as precisely as needed, or now.hour-4hours",
        line=line,
        column=column,
        found=token if token.isprintable() and token else repr(token) if token else "the end",
        expected=expected,
    )
