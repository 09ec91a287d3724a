"""A cover of what of a range lies within bounds; the rest of the range counts as missing.

range       [2015-01-01                     2015-03-01)
bounds                 [2015-01-10   2015-02-20)
missing     [01-01, 01-10)           [02-20, 03-01)      and what no partition covers in between
"""

from __future__ import annotations

from datetime import datetime

from hbstore.cubes.cover import Timelines, cover
from hbstore.cubes.covered import Cover, CoverPartitions, joined
from hbstore.errors import Uncoverable
from hbstore.times.moments import moments, time_at


def bounded_cover(
    timelines: Timelines,
    start: datetime,
    end: datetime,
    bounds: tuple[datetime | None, datetime | None],
    *,
    partial: bool,
) -> Cover:
    """The best set of partitions for [start, end), none of which begins before or ends after the bounds.

    Args:
        timelines: those of all storage tables, by update period.
        start: where the range begins.
        end: where it ends; not part of it.
        bounds: from when up to when partitions count; None: always.
        partial: whether what there is will do, with what is missing said.

    Raises:
        Uncoverable: something is missing; ``missing`` of the error says what.
        InvalidTime: a time has no time zone.
        InvalidTimeRange: the range ends before it begins.
    """
    start, end = map(time_at, moments(start, end))
    first, last = bounds
    since = start if first is None else min(max(start, first), end)
    until = end if last is None else max(min(end, last), since)
    inside = cover(timelines, since, until, partial=True) if since < until else Cover(CoverPartitions([]), [])
    around = ((start, since), *inside.missing, (until, end))
    missing = joined((begin, after) for begin, after in around if begin < after)
    if missing and not partial:
        raise Uncoverable(missing)
    return Cover(inside.partitions, missing)
