"""What a cover consists of: partitions, and ranges of time that nothing covers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Any, Final, NamedTuple, TypeVar, overload

from hbstore.texts.wording import clipped, plural
from hbstore.times.moments import moment
from hbstore.times.update_period import UpdatePeriod

T = TypeVar("T")
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


def united(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The numbers of some ranges, which may overlap, as sorted ranges.

    >>> united([(6, 7), (1, 4), (3, 6)])
    [(1, 7)]
    """
    found: list[tuple[int, int]] = []
    for start, stop in sorted(ranges):
        overlaps = found and start < found[-1][1]
        found.append((found[-1][0], max(stop, found.pop()[1])) if overlaps else (start, stop))
    return joined(found)


def joined(ranges: Iterable[tuple[T, T]]) -> list[tuple[T, T]]:
    """Sorted ranges that do not overlap, with those that touch made one.

    >>> joined([(1, 3), (3, 4), (6, 7)])
    [(1, 4), (6, 7)]
    """
    found: list[tuple[T, T]] = []
    for start, stop in ranges:
        begin = found.pop()[0] if found and found[-1][1] == start else start
        found.append((begin, stop))
    return found
