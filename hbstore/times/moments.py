"""Moments: times as whole microseconds since the year 1 began, UTC.

Update periods have grids of their own (hours, ISO weeks, quarters), and a moment is what they have in common. The first
moment is 0, a Monday; the end of the year 9999 is `LIMIT`. Python has no datetime for the latter, so the last one that
it has, `END_OF_TIME`, stands for it: a partition of the year 9999 is the range [9999-01-01, END_OF_TIME).

>>> moment(ORIGIN), time_at(1_000_000)
(0, datetime.datetime(1, 1, 1, 0, 0, 1, tzinfo=datetime.timezone.utc))
>>> time_at(moment(END_OF_TIME)) == END_OF_TIME
True
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Final

from hbstore.errors import InvalidTime, InvalidTimeRange

ORIGIN: Final = datetime.min.replace(tzinfo=UTC)
"""The moment 0."""

END_OF_TIME: Final = datetime.max.replace(tzinfo=UTC)
"""Stands for the end of the year 9999."""

SECOND: Final = 1_000_000
DAY_SECONDS: Final = 86_400
DAY: Final = DAY_SECONDS * SECOND
LIMIT: Final = date.max.toordinal() * DAY
"""The end of the year 9999."""


def moment(time: datetime) -> int:
    """The moment of a time, whatever its time zone.

    Raises:
        InvalidTime: the time has no time zone, or in UTC it is outside of the years 1 to 9999.
    """
    try:
        since = time - ORIGIN
    except TypeError:
        raise naive(time) from None
    found = (since.days * DAY_SECONDS + since.seconds) * SECOND + since.microseconds
    if not 0 <= found < LIMIT:
        raise out_of_years(time)
    return LIMIT if found == LIMIT - 1 else found


def time_at(moment: int) -> datetime:
    """The time at a moment, in UTC.

    Raises:
        InvalidTime: there is no such moment.
    """
    if moment == LIMIT:
        return END_OF_TIME
    if not 0 <= moment < LIMIT:
        raise out_of_years(f"{moment} µs")
    return ORIGIN + timedelta(microseconds=moment)


def moments(start: datetime, end: datetime) -> tuple[int, int]:
    """The moments of a range [start, end).

    Raises:
        InvalidTime: as `moment` does.
        InvalidTimeRange: it ends before it begins.
    """
    first, last = moment(start), moment(end)
    if last < first:
        raise InvalidTimeRange(
            "the time range ends before it begins",
            start=start.isoformat(),
            end=end.isoformat(),
            hint="A range includes its start but not its end",
        )
    return first, last


def sql_text(time: datetime, timespec: str = "seconds") -> str:
    """A time as SQL and people write it, without its time zone. Python's own formats have no zero before the year 999.

    >>> sql_text(time_at(0)), sql_text(time_at(1), "microseconds")
    ('0001-01-01 00:00:00', '0001-01-01 00:00:00.000001')
    """
    return time.replace(tzinfo=None).isoformat(" ", timespec)


def naive(time: object) -> InvalidTime:
    """The error for what is no time with a time zone."""
    return InvalidTime(
        "the time has no time zone",
        time=repr(time),
        hint="Give an aware datetime: datetime(2015, 1, 29, tzinfo=timezone.utc)",
    )


def out_of_years(time: object) -> InvalidTime:
    """The error for a time that no calendar here has."""
    return InvalidTime("the time is outside the years 1 to 9999", time=time, hint="Give a time within these years")
