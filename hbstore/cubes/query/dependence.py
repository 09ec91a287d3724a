"""How a value depends on a time: in which periods it stays the same, and which periods it keeps.

The parts of update periods lie within each other: seconds in minutes, hours and days, days in weeks and in months,
months in quarters and years. Weeks lie in none of these. A function of a time is described by two sets of periods, and
so is a function of what that gives:

    date_trunc('week', t)            the same in weeks, days, …   keeps weeks, days, …
    month(t)                         the same in months, days, …
    month(date_trunc('week', t))     the same in weeks, days, …   as a month does not keep weeks
    month(last_day(t))               the same in months, days, …

>>> week, month = start_of(UpdatePeriod.WEEKLY), part_of(UpdatePeriod.MONTHLY)
>>> [period.name for period in UpdatePeriod if period in THE_TIME.then(week).then(month).same][-2:]
['DAILY', 'WEEKLY']
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from hbstore.times.moments import DAY, SECOND
from hbstore.times.update_period import UpdatePeriod

Periods = frozenset[UpdatePeriod]

ALL: Final[Periods] = frozenset(UpdatePeriod)
WITHIN: Final[Mapping[UpdatePeriod, Periods]] = {
    period: frozenset(
        smaller
        for smaller in UpdatePeriod
        if smaller is period or (smaller.rank < period.rank and UpdatePeriod.WEEKLY not in (smaller, period))
    )
    for period in UpdatePeriod
} | {UpdatePeriod.WEEKLY: frozenset(period for period in UpdatePeriod if period.rank <= UpdatePeriod.WEEKLY.rank)}
"""By period, those whose parts lie within its parts, with itself."""

_MONTHS_OF_A_YEAR: Final = 12
_DAYS_OF_A_YEAR: Final = 365


class TimeForm(Enum):
    """What a value is that depends on a time; functions of times take some of these forms."""

    TIME = "a timestamp or a date"
    WRITTEN = "a text of a time, as Spark writes it"
    TEXT = "a text of a time, as the facts have it"
    SECONDS = "whole seconds since 1970"
    OTHER = "any other value"


@dataclass(frozen=True, slots=True)
class Dependence:
    """How a value depends on a time, or on another value that is a time.

    Attributes:
        same: the periods in each of whose parts the value is the same. With a period, those within it.
        keeps: the periods of which the times of one part become times of one part, which may be another. All of `same`
            are among them.
        form: what the value is.
        years: by how many years at most the value, as a time, is before or behind the time.
    """

    same: Periods
    keeps: Periods
    form: TimeForm = TimeForm.OTHER
    years: float = 0

    def then(self, outer: Dependence) -> Dependence:
        """How what is computed of the value depends on the time."""
        same = self.same | (self.keeps & outer.same)
        return Dependence(same, same | (self.keeps & outer.keeps), outer.form, self.years + outer.years)


THE_TIME: Final = Dependence(frozenset(), ALL, TimeForm.TIME)
"""How a time depends on itself."""


def as_a(form: TimeForm) -> Dependence:
    """The time in another form."""
    return Dependence(frozenset(), ALL, form)


def part_of(period: UpdatePeriod | None) -> Dependence:
    """What tells in which part of a period a time is, or a part of that; None: more than seconds tell."""
    same = frozenset[UpdatePeriod]() if period is None else WITHIN[period]
    return Dependence(same, same)


def start_of(period: UpdatePeriod) -> Dependence:
    """A time that a part of a period has, such as its beginning or its last day."""
    around = frozenset(larger for larger in UpdatePeriod if period in WITHIN[larger])
    return Dependence(WITHIN[period], WITHIN[period] | around, TimeForm.TIME, 1)


def moved(months: int | None = 0, microseconds: int | None = 0) -> Dependence:
    """A time by so much before or behind the time.

    Args:
        months: of the calendar; the 31st becomes the last day of a shorter month. None: any number.
        microseconds: in UTC, where each day has 24 hours. None: any number of days.
    """
    keeps = ALL
    if microseconds != 0:
        exact = DAY if microseconds is None else microseconds
        keeps &= frozenset(one for one in UpdatePeriod if one.part_seconds and exact % (one.part_seconds * SECOND) == 0)
    if months != 0:
        exact = 1 if months is None else months
        whole = frozenset(one for one in UpdatePeriod if one.part_months and exact % one.part_months == 0)
        keeps &= WITHIN[UpdatePeriod.DAILY] | whole
    if months is None or microseconds is None:
        years = float("inf")
    else:
        years = abs(months) // _MONTHS_OF_A_YEAR + abs(microseconds) // (DAY * _DAYS_OF_A_YEAR) + 1
    return Dependence(frozenset(), keeps, TimeForm.TIME, years)
