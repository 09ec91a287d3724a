"""Axes of charts: which numbers and times to write beside a picture, and how.

Numbers may be as large as doubles are, so what is computed with them is divided by a power of ten before.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

_ORIGIN: Final = datetime(1970, 1, 1)  # noqa: DTZ001  times here are in UTC, or without zone as in the result
_SECOND: Final = 1_000_000
_MINUTE: Final = 60 * _SECOND
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR
_MONDAY: Final = -3 * _DAY
"""That before 1970."""

_STEPS: Final = (
    *(10**digits * factor for digits in range(6) for factor in (1, 2, 5)),
    *(_SECOND * number for number in (1, 2, 5, 10, 15, 30)),
    *(_MINUTE * number for number in (1, 2, 5, 10, 15, 30)),
    *(_HOUR * number for number in (1, 2, 3, 6, 12)),
    *(_DAY * number for number in (1, 2, 7, 14)),
)
"""Microseconds between two times of an axis."""

_MONTHS: Final = (1, 2, 3, 6)
_YEARS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)
_NAMES: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LARGEST_POWER: Final = 300
"""Of ten; a number of doubles can be divided by it, and by its inverse."""

_UNITS: Final = ("", "k", "M", "G", "T", "P")
_SHORT: Final = 4
"""Digits of numbers that need no unit."""

_MILLIARD: Final = 9
"""Digits of numbers that have a unit even if many digits of theirs count."""

_LONG: Final = 18
"""Digits from which on there is no unit."""

_SAME: Final = 1e-9
"""Numbers that differ less than this part of their size are drawn as equal."""


@dataclass(frozen=True, slots=True)
class NumberAxis:
    """Numbers from a lowest to a highest, and those between them that are written.

    Attributes:
        low: the lowest, divided by the power of ten.
        high: the highest, which is more, divided by the power of ten.
        digits: of that power.
        step: between two that are written, divided by the power of ten.

    >>> axis = NumberAxis.of(3, 118, 5)
    >>> [text for _, text in axis.labels()], round(axis.share(60), 3)
    (['0', '40', '80', '120'], 0.5)
    """

    low: float
    high: float
    digits: int
    step: float

    @staticmethod
    def of(least: float, most: float, ticks: int) -> NumberAxis:
        """The axis for finite numbers from the least to the most.

        Zero is on it, unless what the numbers differ by would hardly be seen then.

        Args:
            least: of the numbers.
            most: of the numbers.
            ticks: how many are written, about.
        """
        size = max(abs(least), abs(most))
        digits = min(max(math.floor(math.log10(size)), -_LARGEST_POWER), _LARGEST_POWER) if size else 0
        low, high = least / 10.0**digits, most / 10.0**digits
        if low > 0 and high - low > low / 3:
            low = 0.0
        if high < 0 and high - low > -high / 3:
            high = 0.0
        if high - low <= _SAME * max(abs(low), abs(high)):
            apart = abs(high) / 2 or 1.0
            low, high = low - apart, high + apart
        step = _step((high - low) / ticks)
        return NumberAxis(math.floor(low / step + _SAME) * step, math.ceil(high / step - _SAME) * step, digits, step)

    def share(self, number: float) -> float:
        """Where a number is: 0 at the lowest, 1 at the highest."""
        return self.shares([number])[0]

    def shares(self, numbers: Iterable[float]) -> list[float]:
        """Where numbers are, as of `share`."""
        power, low, span = 10.0**self.digits, self.low, self.high - self.low
        return [(number / power - low) / span for number in numbers]

    def labels(self) -> list[tuple[float, str]]:
        """The numbers that are written: where each is, as of `share`, and its text."""
        first, count = round(self.low / self.step), round((self.high - self.low) / self.step)
        return [(at / count, self._text((first + at) * self.step)) for at in range(count + 1)]

    def _text(self, number: float) -> str:
        """A number, divided by the power of ten, as it is written: with as many digits as tell it from the next."""
        if number == 0:
            return "0"
        size = math.log10(max(abs(self.low), abs(self.high))) + self.digits
        fine = math.floor(math.log10(self.step) + self.digits + _SAME)  # the last digit that counts
        unit = int(size / 3) if size >= _SHORT and (size >= _MILLIARD or size - fine <= _SHORT) else 0
        places = max(0, 3 * unit - fine)
        if -_SHORT < size < _LONG and places <= _SHORT + 2:
            return f"{number * 10.0 ** (self.digits - 3 * unit):,.{places}f}{_UNITS[unit]}"
        power = math.floor(math.log10(abs(number)) + _SAME)
        mantissa = f"{number / 10.0**power:.{min(max(power + self.digits - fine, 0), 12)}f}"
        return f"{mantissa}e{power + self.digits}"


def _step(least: float) -> float:
    """The next of 1, 2, 4, 5, 10, 20, … that is not less."""
    power = 10.0 ** math.floor(math.log10(least))
    return next((factor * power for factor in (1, 2, 4, 5) if factor * power >= least * (1 - _SAME)), 10 * power)


@dataclass(frozen=True, slots=True)
class TimeLabel:
    """A time on an axis.

    Attributes:
        time: in microseconds since 1970.
        text: what is written.
        below: what it is of, such as the day of an hour; empty if the label before it says the same.
    """

    time: int
    text: str
    below: str


def time_labels(first: int, last: int, ticks: int) -> list[TimeLabel]:
    """The times to write beside an axis, in order: whole minutes, hours, days, months or years.

    Args:
        first: the first time that is drawn, in microseconds since 1970.
        last: the last one.
        ticks: how many are written at most.

    >>> day = 86_400_000_000
    >>> [(label.text, label.below) for label in time_labels(16_450 * day, 16_454 * day, 5)]
    [('15 Jan', '2015'), ('16 Jan', ''), ('17 Jan', ''), ('18 Jan', ''), ('19 Jan', '')]
    """
    times, step = _times(first, last, ticks)
    labels, before = [], ""
    for time in times:
        at = time_of(time)
        text, below = _texts(at, step)
        labels.append(TimeLabel(time, text, below if below != before else ""))
        before = below
    return labels


def time_of(time: int) -> datetime:
    """The time of microseconds since 1970, which is in the years 1 to 9999."""
    return _ORIGIN + timedelta(microseconds=time)


def exact_time(time: int) -> str:
    """A time as it is written where there is room: the date alone at midnight.

    >>> exact_time(86_400_000_000), exact_time(1_500_000)
    ('1970-01-02', '1970-01-01 00:00:01.500000')
    """
    return str(time_of(time)).removesuffix(" 00:00:00")


def _times(first: int, last: int, ticks: int) -> tuple[list[int], int]:
    """The times that are written, and about how much is between them."""
    if first == last:
        return [first], 1 if first % _SECOND else _SECOND if first % _DAY else _DAY
    for step in _STEPS:
        if (last - first) // step < ticks:
            start = _MONDAY if step >= 7 * _DAY else 0
            begin = -((start - first) // step) * step + start
            return list(range(begin, last + 1, step)), step
    begin, end = time_of(first), time_of(last)
    span = 12 * (end.year - begin.year) + end.month - begin.month
    months = next(
        (number for number in (*_MONTHS, *(12 * one for one in _YEARS)) if span // number < ticks), 12 * 9_999
    )
    whole = (12 * begin.year + begin.month - 1) // months * months
    found = [_month(number) for number in range(whole, 12 * end.year + end.month, months) if number >= 12]  # noqa: PLR2004
    return [time for time in found if first <= time <= last], 30 * _DAY * months


def _month(number: int) -> int:
    """The beginning of a month, by its number since the year 0."""
    return (datetime(number // 12, number % 12 + 1, 1) - _ORIGIN) // timedelta(microseconds=1)  # noqa: DTZ001


def _texts(at: datetime, step: int) -> tuple[str, str]:
    """What is written of a time, and below it."""
    if step >= 360 * _DAY:
        return f"{at.year}", ""
    if step >= 28 * _DAY:
        return _NAMES[at.month - 1], f"{at.year}"
    if step >= _DAY:
        return f"{at.day} {_NAMES[at.month - 1]}", f"{at.year}"
    if step >= _MINUTE:
        return f"{at:%H:%M}", f"{at.date()}"
    if step >= _SECOND:
        return f"{at:%H:%M:%S}", f"{at.date()}"
    return f"{at:%S}.{at.microsecond:06}".rstrip("0"), f"{at.date()} {at:%H:%M}"
