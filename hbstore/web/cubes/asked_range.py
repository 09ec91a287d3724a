"""The range of time that a request asks for."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from fastapi import Query

from hbstore.times.clock import Clock
from hbstore.times.time_range import TimeRange, read_time

FromQuery: TypeAlias = Annotated[
    str,
    Query(
        alias="from",
        description="where the range begins: 2015-01-29-06, now.day-3days, or an ISO time",
        examples=["2015-01-29"],
    ),
]
ToQuery: TypeAlias = Annotated[
    str, Query(alias="to", description="where it ends; the end is not part of it", examples=["2015-02-01"])
]
TimeDimensionQuery: TypeAlias = Annotated[
    str | None, Query(description="the cube's time dimension, or its partition column, that the range is of")
]


def asked_range(start: str, end: str, clock: Clock) -> TimeRange:
    """The range between two times, as people or programs write them.

    Raises:
        InvalidTime, TimeRangeSyntaxError: one is no time.

    >>> from hbstore.times.clock import utc_now
    >>> [time.isoformat() for time in asked_range("2015-01-29-06", "2015-01-29T08:00:00+01:00", utc_now)]
    ['2015-01-29T06:00:00+00:00', '2015-01-29T07:00:00+00:00']
    """
    now = clock()
    return TimeRange(*(read_time(text, now) for text in (start, end)))
