"""Cover: the partitions that hold a range of time, as few and as large as there are.

    [2015-01-29-06, 2015-03-01-06) with hourly, daily and monthly partitions, but not the month 2015-02 nor its day 10

    MONTHLY
    DAILY                           [01-30, 02-10)                   [02-11, 03-01)
    HOURLY    [01-29-06, 01-30-00)                  [02-10, 02-11)                   [03-01-00, 03-01-06)

The periods are taken from the largest to the smallest. Each takes, of what is not covered yet, the whole parts that a
timeline has; what is left of these stretches goes to the next smaller period. A part that is missing is covered from
inside, by whole smaller parts. Weeks may lie across the ends of months, and so months that are missing are covered one
by one: no week covers the end of one and the beginning of the next.

This is the specification's order, and a month is taken even if weeks across its ends would leave less missing. The
choice of a cube query (`query/choice.py`) takes the weeks then; where periods lie within each other both agree.

Timelines are asked for ranges, never for single parts: the time it takes grows with the number of ranges and holes in
them, not with the length of the range. Nothing is recursive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Final, TypeAlias

from hbstore.cubes.covered import Cover, CoverPartitions, CoverRun, joined
from hbstore.cubes.query.choice import PartitionSource, left_by, parts_of
from hbstore.errors import TimelineMismatch, Uncoverable
from hbstore.texts.arguments import expect, expect_flags, expect_many
from hbstore.timelines.timeline import PartitionTimeline
from hbstore.times.moments import moments, time_at
from hbstore.times.update_period import UpdatePeriod

Timelines: TypeAlias = Mapping[UpdatePeriod, Sequence[PartitionTimeline]]
"""The timelines of all storage tables of a fact, by update period; the first named is preferred."""

_MONTHS: Final = (UpdatePeriod.MONTHLY, UpdatePeriod.QUARTERLY, UpdatePeriod.YEARLY)


def cover(timelines: Timelines, start: datetime, end: datetime, *, partial: bool = False) -> Cover:
    """The best set of partitions for [start, end).

    Args:
        timelines: those of all storage tables, by update period. Where several have a partition, the first counts.
        start: where the range begins.
        end: where it ends; not part of it.
        partial: whether what there is will do, with what is missing said.

    Returns:
        The cover; without `partial`, nothing is missing in it.

    Raises:
        Uncoverable: something is missing; ``missing`` of the error says what.
        InvalidTime: a time has no time zone.
        InvalidTimeRange: the range ends before it begins.
        TimelineMismatch: there are no timelines, or one is under another period than its own.
        CorruptTimeline: a timeline's properties contradicted themselves.

    >>> from hbstore.timelines import RangesPartitionTimeline
    >>> days = RangesPartitionTimeline("s1_sales", UpdatePeriod.DAILY, "dt")
    >>> days.add(UpdatePeriod.DAILY.parse("2015-01-29"))
    True
    >>> begin, end = UpdatePeriod.DAILY.parse("2015-01-29"), UpdatePeriod.DAILY.parse("2015-01-31")
    >>> found = cover({UpdatePeriod.DAILY: [days]}, begin, end, partial=True)
    >>> found.partitions
    [s1_sales DAILY [2015-01-29, 2015-01-30)]
    >>> [(since.day, until.day) for since, until in found.missing]
    [(30, 31)]
    """
    first, last = moments(start, end)
    expect_flags(partial=partial)
    _check(timelines)
    periods = sorted((period for period in timelines if timelines[period]), key=lambda period: -period.rank)
    runs: list[CoverRun] = []
    left = [(first, last)] if first < last else []
    for period in periods:
        parts = parts_of(
            [PartitionSource(one.storage_table, period, one.index_ranges) for one in timelines[period]], period, left
        )
        index = period.floor_index
        runs += [CoverRun(period, index(start), index(stop), part.table) for start, stop, part in parts if part]
        left = list(left_by(parts, left))
        if period in _MONTHS and UpdatePeriod.WEEKLY in periods:
            left = list(_split(period, left))
    missing = [(time_at(since), time_at(until)) for since, until in joined(left)]
    if missing and not partial:
        raise Uncoverable(missing)
    runs.sort(key=lambda run: run.period.moment(run.start))
    return Cover(CoverPartitions(runs), missing)


def _check(timelines: Timelines) -> None:
    hint = "Give a dict of lists of timelines, by update period"
    for period, ones in expect("timelines", timelines, Mapping, hint=hint).items():
        expect("period", period, UpdatePeriod, hint=hint)
        expect_many(f"timelines[{period.name}]", ones, PartitionTimeline, hint=hint)
    if not any(timelines.values()):
        raise TimelineMismatch(
            "there are no timelines to search", hint="Pass the timelines of at least one storage table"
        )
    for period, ones in timelines.items():
        for timeline in ones:
            if timeline.update_period is not period:
                raise TimelineMismatch(
                    "a timeline is listed under a wrong update period",
                    storage_table=timeline.storage_table,
                    period=timeline.update_period.name,
                    under=period.name,
                    hint="List the timeline under its own update period",
                )


def _split(period: UpdatePeriod, ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Ranges of moments without parts, cut where a part begins or ends, if they hold a whole one."""
    for since, until in ranges:
        start, stop = period.ceil_index(since), period.floor_index(until)
        cuts = map(period.moment, range(start, stop + 1)) if start < stop else ()
        yield from pairwise(sorted({since, *cuts, until}))
