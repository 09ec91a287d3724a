"""Ranges of time to ranges of a column's cells.

A value stands for a time: a date for its midnight, a timestamp for itself, a whole number for the beginning of that
year, and a text for the beginning of the part that it names in one of the update periods' patterns. [start, end)
selects the values whose time is in it.

    2015-01-29 to 2015-02-10     of a date column      [2015-01-29, 2015-02-10)
                                 of a string column    ['2015-01-29', '2015-02-10') and ['2015-W06', '2015-W08')

Texts of all patterns but the weeks' sort by their times, and of one time the shortest first: '2015' < '2015-01' <
'2015-01-01' < '2015-01-01-00'. So they are one range, from the shortest text of its start to the shortest of its end.
The weeks of a year sort behind all its other texts, as 'W' is above the digits; and the year of a week is that of its
Thursday, so that '2015-W01' begins on 2014-12-29. So weeks are a range of their own, among weeks only. The two differ
in the years at the ends; between those both hold everything, and are one.

A text that is no time counts as the last time that sorts before it, and is selected if that is. Texts behind all years,
such as 'latest', are never selected.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from hbstore.errors import FilterTypeError
from hbstore.keys.row_key import value_cell
from hbstore.keys.types import ColumnType, DateType, IntegerType, StringType, TimestampType
from hbstore.plans.literals import VALUES
from hbstore.rows.ranges import Range, Ranges, intersect, subtract, unite
from hbstore.times.moments import DAY, LIMIT, SECOND, time_at
from hbstore.times.update_period import UpdatePeriod

_REMEMBERED: Final = 256
_NANOSECONDS: Final = 1_000  # in a microsecond
_EPOCH: Final = UpdatePeriod.DAILY.parse_index("1970-01-01") * DAY
_NESTED: Final = (
    UpdatePeriod.YEARLY,
    UpdatePeriod.MONTHLY,
    UpdatePeriod.DAILY,
    UpdatePeriod.HOURLY,
    UpdatePeriod.MINUTELY,
    UpdatePeriod.SECONDLY,
)
_AFTER_ALL: Final = ":"
"""Above all texts of times, which begin with a digit."""


def time_ranges(column: str, column_type: ColumnType, start: int, end: int, *, negated: bool) -> Ranges:
    """The cells of the values whose times are in the moments [start, end), or not in them. O(1).

    The null partition has no time; neither selects it.

    Raises:
        FilterTypeError: values of this type stand for no times.
    """
    if isinstance(column_type, StringType):
        within = _text_ranges(column_type, start, end)
    elif isinstance(column_type, DateType | TimestampType | IntegerType):
        within = unite([(_bound(column_type, start), _bound(column_type, end))])
    else:
        raise FilterTypeError(
            f"a column of type {column_type.name} cannot be compared with a time range",
            column=column,
            hint="Time ranges select by columns of type date, timestamp, string, varchar, char, and int (years)",
        )
    return subtract((VALUES,), within) if negated else within


def _bound(column_type: DateType | TimestampType | IntegerType, moment: int) -> bytes:
    """The cell of the first value whose time is at a moment or after it."""
    if isinstance(column_type, TimestampType):
        seconds, microseconds = divmod(moment - _EPOCH, SECOND)
        return value_cell(column_type, (seconds, microseconds * _NANOSECONDS))
    if isinstance(column_type, IntegerType):
        return value_cell(column_type, UpdatePeriod.YEARLY.ceil_index(moment) + 1)
    midnight = UpdatePeriod.DAILY.moment(UpdatePeriod.DAILY.ceil_index(moment))
    return VALUES[1] if midnight == LIMIT else value_cell(column_type, time_at(midnight).date())


@lru_cache(_REMEMBERED)  # a range up to today's midnight is the same all day long
def _text_ranges(column_type: StringType, start: int, end: int) -> Ranges:
    """The range of all other texts, with the weeks of the years at its ends put right."""

    def between(first: str, last: str) -> Range:
        return value_cell(column_type, first), value_cell(column_type, last)

    weeks_at_ends = unite(between(f"{_year_text(at)}-W01", _year_text(at + 1)) for at in _years_at(start, end))
    weeks = unite([between(_week_text(start), _week_text(end))])
    others = unite([between(_shortest_text(start), _shortest_text(end))])
    return unite([*subtract(others, weeks_at_ends), *intersect(weeks, weeks_at_ends)])


def _years_at(start: int, end: int) -> set[int]:
    """The indexes of the years whose weeks may be selected in part only, or unlike their other texts; and of some more.

    Times are rounded up to the second, which may lie in the next year, and the first week from there in the one after.
    """
    found = {UpdatePeriod.YEARLY.floor_index(moment) + more for moment in (start, end) for more in range(3)}
    return {year for year in found if year < UpdatePeriod.YEARLY.limit}


def _year_text(index: int) -> str:
    return _AFTER_ALL if index == UpdatePeriod.YEARLY.limit else UpdatePeriod.YEARLY.format_index(index)


def _shortest_text(moment: int) -> str:
    """The text that sorts first of those, weeks aside, whose times are at a moment or after it.

    >>> _shortest_text(UpdatePeriod.HOURLY.moment(UpdatePeriod.HOURLY.parse_index("2015-02-01-00")))
    '2015-02'
    """
    second = UpdatePeriod.SECONDLY.moment(UpdatePeriod.SECONDLY.ceil_index(moment))
    for period in _NESTED:
        index = period.floor_index(second)
        if period.moment(index) == second:
            return _AFTER_ALL if index == period.limit else period.format_index(index)
    raise AssertionError("every second begins a part of SECONDLY")


def _week_text(moment: int) -> str:
    """The first week that begins at a moment or after it."""
    index = UpdatePeriod.WEEKLY.ceil_index(moment)
    return _AFTER_ALL if index == UpdatePeriod.WEEKLY.limit else UpdatePeriod.WEEKLY.format_index(index)
