"""By how much the clocks of a time zone differ from UTC: whole hours in some years, half hours or less in others."""

from __future__ import annotations

import re
from datetime import MAXYEAR, MINYEAR, UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from itertools import pairwise
from math import gcd
from typing import Final
from zoneinfo import ZoneInfo

from hbstore.times.moments import DAY_SECONDS

_OFFSET: Final = re.compile(r"[+-](\d{1,2}):(\d{2})")
_REGION: Final = re.compile(r"UTC|GMT|[A-Za-z_]+/[A-Za-z0-9_/+-]+")
_STEP: Final = 7 * DAY_SECONDS
"""Clocks are not changed twice in a week."""

_YEARS: Final = 10_000
"""Years of zones that are remembered: queries may name any zones."""

_LONGEST: Final = 500
"""More years are not looked through, as each takes a tenth of a millisecond."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def seconds_of(zone: str, first: float, last: float) -> int | None:
    """The greatest number of seconds that divides all differences to UTC, and all times of changes, in some years.

    Args:
        zone: as Spark has it: ``Europe/Zurich``, ``+05:30``.
        first: the first year.
        last: the last one, included.

    Returns:
        0 where its clocks are those of UTC, and None where nothing is known of the zone in these years.

    >>> seconds_of("Europe/Zurich", 2015, 2016), seconds_of("Asia/Kolkata", 2015, 2016), seconds_of("UTC", 1, 9999)
    (3600, 19800, 0)
    """
    offset = _OFFSET.fullmatch(zone)
    if offset is not None:
        return int(offset[1]) * 3_600 + int(offset[2]) * 60
    if zone == "UTC":
        return 0
    if _REGION.fullmatch(zone) is None or not MINYEAR < first <= last < MAXYEAR or last - first > _LONGEST:
        return None
    seconds = 0
    for year in range(int(first), int(last) + 1):
        in_year = _in_year(zone, year)
        if in_year is None:
            return None
        seconds = gcd(seconds, in_year)
        if seconds == 1:
            break
    return seconds


@lru_cache(_YEARS)
def _in_year(zone: str, year: int) -> int | None:
    try:
        clocks = ZoneInfo(zone)
    except (KeyError, ValueError, OSError):  # there is none, or its name is that of a folder
        return None
    first, last = (int((datetime(at, 1, 1, tzinfo=UTC) - _EPOCH).total_seconds()) for at in (year, year + 1))
    seconds = _offset(clocks, first)
    for low, high in pairwise((*range(first, last, _STEP), last)):
        after = _offset(clocks, high)
        if after != _offset(clocks, low):
            seconds = gcd(seconds, after, _change(clocks, low, high))
    return abs(seconds)


def _change(clocks: tzinfo, low: int, high: int) -> int:
    """When the clocks are changed in between."""
    before = _offset(clocks, low)
    while high - low > 1:
        middle = (low + high) // 2
        if _offset(clocks, middle) == before:
            low = middle
        else:
            high = middle
    return high


def _offset(clocks: tzinfo, at: int) -> int:
    offset = (_EPOCH + timedelta(seconds=at)).astimezone(clocks).utcoffset()
    assert offset is not None
    return int(offset.total_seconds())
