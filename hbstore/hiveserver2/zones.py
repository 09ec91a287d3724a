"""Moments as clocks of a time zone show them, of a whole column at once.

Arrow can do it, too, but not behind the last change of the clocks that the file of a zone lists, which may be in 2007.
Python's zones follow the rules that stand there for all later years. They are asked once for each day, and value by
value only on days on which the clocks change.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
from pyarrow import compute

from hbstore.errors import InvalidInput

_SECOND: Final = 1_000_000
_DAY: Final = 86_400 * _SECOND
"""Both in microseconds."""

_1970: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST: Final = -719_160 * _DAY
_LAST: Final = 2_932_000 * _DAY
_CYCLE: Final = 146_097 * _DAY
"""400 years, after which the days of the week and so the rules of zones come again. Python's years end with 9999."""

_BLOCK: Final = 1_024
"""Days of which offsets are kept together."""

_BLOCKS: Final = 4_096
_RANGE: Final = np.iinfo(np.int64)
_MOST_HOURS: Final = 18
_OFFSET: Final = re.compile(r"(?:UTC|GMT|UT)?([+-])([0-9]{1,2})(?::?([0-9]{2})(?::?([0-9]{2}))?)?")
_WITHOUT_OFFSET: Final = frozenset(("Z", "UTC", "GMT", "UT", "UTC0", "GMT0"))
_SHORT: Final = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "EST": "-05:00",
    "HST": "-10:00",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "MST": "-07:00",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
}
"""What Spark, as Java does, calls some zones."""


def local_times(moments: pa.Array, zone: str) -> pa.Array:
    """The times that clocks of a zone show. O(values), and O(days) when days are seen for the first time.

    Args:
        moments: of the type ``timestamp[us, UTC]``.
        zone: as in ``SET TIME ZONE``: a region, an offset, or one of Java's short names.

    Returns:
        A column of ``timestamp[us]``. Times beyond what it can hold, of which the last is in the year 294247, are its
        first or its last.

    Raises:
        InvalidInput: there is no such zone.

    >>> summer = pa.array([datetime(2013, 7, 1, 12)], pa.timestamp("us", "UTC"))
    >>> local_times(summer, "Europe/Berlin")[0].as_py(), local_times(summer, "-05:30")[0].as_py()
    (datetime.datetime(2013, 7, 1, 14, 0), datetime.datetime(2013, 7, 1, 6, 30))
    """
    zone_rules = time_zone(zone)
    local = moments.cast(pa.timestamp("us"))
    if zone_rules is UTC:
        return local
    nulls = moments.is_null().to_numpy(zero_copy_only=False) if moments.null_count else None
    values = compute.fill_null(local.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
    offsets = _offsets(zone_rules, values)
    least, most = _RANGE.min - np.minimum(offsets, 0), _RANGE.max - np.maximum(offsets, 0)
    return pa.array(np.clip(values, least, most) + offsets, pa.int64(), mask=nulls).cast(pa.timestamp("us"))


@lru_cache(maxsize=256)
def time_zone(name: str) -> tzinfo:
    """The zone of a name.

    Raises:
        InvalidInput: there is none.

    >>> str(time_zone("+5")), str(time_zone("PST")), time_zone("GMT") is UTC
    ('UTC+05:00', 'America/Los_Angeles', True)
    """
    name = _SHORT.get(name, name)
    if name in _WITHOUT_OFFSET:
        return UTC
    if offset := _OFFSET.fullmatch(name):
        sign = -1 if offset[1] == "-" else 1
        hours, minutes, seconds = (int(offset[at] or 0) for at in (2, 3, 4))
        if hours <= _MOST_HOURS:
            return timezone(sign * timedelta(hours=hours, minutes=minutes, seconds=seconds))
    try:
        return ZoneInfo(name)
    except (ValueError, OSError) as error:  # ZoneInfoNotFoundError is a KeyError
        raise _unknown(name) from error
    except KeyError as error:
        raise _unknown(name) from error


def _unknown(name: str) -> InvalidInput:
    hint = "SET TIME ZONE to a region such as Europe/Berlin, or to an offset such as +01:00"
    return InvalidInput("there is no such time zone", zone=name[:100], hint=hint)


def _offsets(zone: tzinfo, moments: Any) -> Any:
    """What clocks are before UTC, in microseconds, for each of some moments."""
    blocks, rest = np.divmod(moments, _BLOCK * _DAY)
    distinct, where = np.unique(blocks, return_inverse=True)
    if not len(distinct):
        return moments
    table = np.stack([_block(zone, int(block)) for block in distinct])
    days = rest // _DAY
    offsets = table[where, days]
    changing = np.flatnonzero(offsets != table[where, days + 1])
    offsets[changing] = [_offset(zone, moment) for moment in moments[changing].tolist()]
    return offsets


@lru_cache(maxsize=_BLOCKS)
def _block(zone: tzinfo, block: int) -> Any:
    """The offsets at the beginning of each day of a block, and of the day behind it."""
    first = block * _BLOCK
    return np.array([_offset(zone, (first + day) * _DAY) for day in range(_BLOCK + 1)])


def _offset(zone: tzinfo, moment: int) -> int:
    """What clocks are before UTC at a moment, both in microseconds."""
    if moment > _LAST:
        moment -= ((moment - _LAST) // _CYCLE + 1) * _CYCLE
    seconds = max(_FIRST, moment) // _SECOND
    offset = (_1970 + timedelta(seconds=seconds)).astimezone(zone).utcoffset()
    assert offset is not None
    return offset // timedelta(microseconds=1)
