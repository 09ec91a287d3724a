"""The units of an axis of time: years, months, … minutes, as many as their texts have room."""

from __future__ import annotations

from bisect import bisect_right
from datetime import datetime
from typing import Final, NamedTuple

from hbstore.timelines.picture import TimelineAxis
from hbstore.times.moments import LIMIT, time_at
from hbstore.times.update_period import UpdatePeriod

MOST: Final = 9
"""Units of an axis at most."""

_UNITS: Final = (
    *((UpdatePeriod.SECONDLY, count) for count in (1, 5, 10, 30)),
    *((UpdatePeriod.MINUTELY, count) for count in (1, 5, 10, 30)),
    *((UpdatePeriod.HOURLY, count) for count in (1, 3, 6, 12)),
    (UpdatePeriod.DAILY, 1),
    (UpdatePeriod.WEEKLY, 1),
    (UpdatePeriod.WEEKLY, 2),
    (UpdatePeriod.MONTHLY, 1),
    (UpdatePeriod.QUARTERLY, 1),
    *((UpdatePeriod.YEARLY, count) for count in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000)),
)
"""Update periods, and how many of their parts make a unit."""


class AxisUnit(NamedTuple):
    """A unit of an axis: its moments, which may reach over the ends of the axis, and its text."""

    start: int
    stop: int
    text: str


def units_of(axis: TimelineAxis) -> list[AxisUnit]:
    """The smallest units of which there are not too many. O(their number)."""
    begin, end = axis.edges[0], axis.edges[-1]
    units: list[AxisUnit] = []
    for period, count in _UNITS:
        if period.rank >= axis.period.rank:
            start, stop = _number(period, count, begin), _number(period, count, end - 1)
            if stop - start < MOST:
                before: datetime | None = None
                for number in range(start, stop + 1):
                    since, until = _moment(period, count, number), _moment(period, count, number + 1)
                    time = time_at(since)
                    units.append(AxisUnit(since, until, _text(period, time, before)))
                    before = time
                break
    return units


def place(axis: TimelineAxis, moment: int) -> float:
    """Where a moment lies, in cells from the left; what is outside lies at the end."""
    cell = bisect_right(axis.edges, moment) - 1
    if not 0 <= cell < len(axis):
        return 0.0 if cell < 0 else float(len(axis))
    begin, end = axis.edges[cell], axis.edges[cell + 1]
    return cell + (moment - begin) / (end - begin)


def _number(period: UpdatePeriod, count: int, moment: int) -> int:
    """The unit that holds a moment. Those of several years begin with years that they divide."""
    return (period.floor_index(moment) + (period is UpdatePeriod.YEARLY)) // count


def _moment(period: UpdatePeriod, count: int, number: int) -> int:
    index = number * count - (period is UpdatePeriod.YEARLY)
    return LIMIT if index >= period.limit else period.moment(max(index, 0))


def _text(period: UpdatePeriod, time: datetime, before: datetime | None) -> str:
    """The text of a unit; what the one before it says, too, is left out."""
    if period is UpdatePeriod.YEARLY:
        return f"{time.year:04}"
    if period.rank > UpdatePeriod.WEEKLY.rank:
        return f"{time.year:04}-{time:%m}"
    if period.rank >= UpdatePeriod.DAILY.rank:
        return f"{time:%m-%d}" if before and before.year == time.year else f"{time.year:04}-{time:%m-%d}"
    clock = f"{time:%H:%M}" if period.rank > UpdatePeriod.SECONDLY.rank else f"{time:%H:%M:%S}"
    return clock if before and before.date() == time.date() else f"{time:%m-%d} {clock}"
