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

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, pairwise
from typing import Any, Final, NamedTuple, TypeAlias, overload

from hbstore.cubes.query.choice import PartitionSource, left_by, parts_of
from hbstore.errors import TimelineMismatch, Uncoverable
from hbstore.texts.arguments import expect, expect_flags, expect_many
from hbstore.texts.wording import clipped, plural
from hbstore.timelines.runs import joined
from hbstore.timelines.timeline import PartitionTimeline
from hbstore.times.moments import moment, moments, time_at
from hbstore.times.update_period import UpdatePeriod

_REPR: Final = 200


class CoverPartition(NamedTuple):
    """One partition of a cover: of this period, beginning at this time, in this storage table."""

    period: UpdatePeriod
    time: datetime
    storage_table: str


class CoverRun(NamedTuple):
    """Partitions that follow one another: the parts of a period from one index up to another, in one storage table."""

    period: UpdatePeriod
    start: int
    stop: int
    storage_table: str

    def __str__(self) -> str:
        begin, end = self.period.format_index(self.start), self.period.format_index(self.stop)
        return f"{self.storage_table} {self.period.name} [{begin}, {end})"

    def to_dict(self) -> dict[str, Any]:
        """The run as JSON would hold it: its times are written as partitions of the update period are.

        >>> CoverRun(UpdatePeriod.YEARLY, 2014, 2016, "lake_rides").to_dict()
        {'storage_table': 'lake_rides', 'update_period': 'YEARLY', 'from': '2015', 'to': '2017', 'partitions': 2}
        """
        return {
            "storage_table": self.storage_table,
            "update_period": self.period.name,
            "from": self.period.format_index(self.start),
            "to": self.period.format_index(self.stop),
            "partitions": self.stop - self.start,
        }


class CoverPartitions(Sequence[CoverPartition]):
    """The partitions of a cover in the order of time: a list that is made as it is read.

    A year has half a million minutes, which as a rule make a handful of runs. The runs are kept, and a partition is
    made when it is asked for. It equals a list of the same partitions.

    Args:
        runs: sorted by time.
    """

    __slots__ = ("_ends", "runs")

    def __init__(self, runs: Sequence[CoverRun]) -> None:
        self.runs = tuple(runs)
        self._ends = list(accumulate(run.stop - run.start for run in self.runs))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, at: int) -> CoverPartition: ...

    @overload
    def __getitem__(self, at: slice) -> list[CoverPartition]: ...

    def __getitem__(self, at: int | slice) -> CoverPartition | list[CoverPartition]:
        """A partition, O(log runs), or a list of them."""
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(len(self)))]
        place = range(len(self))[at]
        number = bisect_right(self._ends, place)
        run = self.runs[number]
        return CoverPartition(run.period, run.period.time(run.stop - self._ends[number] + place), run.storage_table)

    def __iter__(self) -> Iterator[CoverPartition]:
        for run in self.runs:
            for time in run.period.times(run.start, run.stop):
                yield CoverPartition(run.period, time, run.storage_table)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, CoverPartitions) and self.runs == other.runs:
            return True
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(one == two for one, two in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # it equals lists, which have none

    def __repr__(self) -> str:
        return clipped(f"[{', '.join(map(str, self.runs))}]", _REPR)


@dataclass(frozen=True, slots=True, repr=False)
class Cover:
    """The best set of partitions for a range of time, and what none of them holds.

    The partitions do not overlap; together with what is missing they are the range, exactly.

    Attributes:
        partitions: sorted by time.
        missing: half open ranges, sorted, which do not touch.
    """

    partitions: Sequence[tuple[UpdatePeriod, datetime, str]]
    missing: Sequence[tuple[datetime, datetime]]

    def since(self, time: datetime) -> Cover | None:
        """What this cover says from a time on; None where a partition lies across the time. O(runs).

        The cover of the later range alone may differ: it may take a week across the end of a month that it does not
        hold wholly.

        >>> first, last = UpdatePeriod.DAILY.parse("2015-01-29"), UpdatePeriod.DAILY.parse("2015-02-02")
        >>> whole = cubes.cover("rides_daily", first, last, partial=True)
        >>> whole.since(UpdatePeriod.DAILY.parse("2015-01-30")).partitions
        [lake_rides_daily DAILY [2015-01-30, 2015-01-31), lake_rides_daily DAILY [2015-02-01, 2015-02-02)]
        """
        assert isinstance(self.partitions, CoverPartitions)  # cover makes no others
        at, runs = moment(time), list[CoverRun]()
        for period, start, stop, storage_table in self.partitions.runs:
            low, high = period.floor_index(at), period.ceil_index(at)
            if low < high and start <= low < stop:
                return None
            if high < stop:
                runs.append(CoverRun(period, max(start, high), stop, storage_table))
        missing = [(max(begin, time), end) for begin, end in self.missing if end > time]
        return Cover(CoverPartitions(runs), missing)

    def __repr__(self) -> str:
        return f"<Cover: {plural(len(self.partitions), 'partition')}, {plural(len(self.missing), 'range')} missing>"


Timelines: TypeAlias = Mapping[UpdatePeriod, Sequence[PartitionTimeline]]
"""The timelines of all storage tables of a fact, by update period; the first named is preferred."""


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
    >>> cover({UpdatePeriod.DAILY: [days]}, begin, end, partial=True).partitions
    [s1_sales DAILY [2015-01-29, 2015-01-30)]
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
        if period.part_months and UpdatePeriod.WEEKLY in periods:
            left = list(_split(period, left))
    missing = [(time_at(since), time_at(until)) for since, until in joined(left)]
    if missing and not partial:
        raise Uncoverable(missing)
    runs.sort(key=lambda run: run.period.moment(run.start))
    return Cover(CoverPartitions(runs), missing)


def _check(timelines: Timelines) -> None:
    hint = "Give a dict of lists of timelines, by update period"
    for period, of_period in expect("timelines", timelines, Mapping, hint=hint).items():
        expect("period", period, UpdatePeriod, hint=hint)
        for timeline in expect_many(f"timelines[{period.name}]", of_period, PartitionTimeline, hint=hint):
            if timeline.update_period is not period:
                raise TimelineMismatch(
                    "a timeline is listed under a wrong update period",
                    storage_table=timeline.storage_table,
                    period=timeline.update_period.name,
                    under=period.name,
                    hint="List the timeline under its own update period",
                )
    if not any(timelines.values()):
        raise TimelineMismatch(
            "there are no timelines to search", hint="Pass the timelines of at least one storage table"
        )


def _split(period: UpdatePeriod, ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Ranges of moments without parts, cut where a part begins or ends, if they hold a whole one."""
    for since, until in ranges:
        start, stop = period.ceil_index(since), period.floor_index(until)
        cuts = map(period.moment, range(start, stop + 1)) if start < stop else ()
        yield from pairwise(sorted({since, *cuts, until}))
