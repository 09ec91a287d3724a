"""Clashes: values of a partition column that partitions of two update periods have, so that they tell no period.

In a ``date`` column the month of January and its first day are both ``2015-01-01``. If a table has no other partition
column, only one of them can be there. Beside another one both can, ``2015-01-01/eu`` the day and ``2015-01-01/us`` the
month; and a query for the value gets the rows of both. Such values are left out of what the table offers. All others
tell their period, by the timelines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hbstore.store.timelines.stored_timelines import Timelines
from hbstore.timelines import PartitionTimeline
from hbstore.times.update_period import UpdatePeriod
from hbstore.types import ColumnType, StringType


def clashes(
    timelines: Timelines, column: str, kind: ColumnType, period: UpdatePeriod, start: int, stop: int
) -> list[int]:
    """The indexes of a period in [start, stop) whose values are those of partitions of other periods as well; sorted.

    O(parts of the larger period of each two).

    Args:
        timelines: of a storage table with several partition columns.
        column: the partition column.
        kind: its type.
        period: one of its update periods.
        start: the first of its indexes.
        stop: the one behind the last.
    """
    clashing: set[int] = set()
    begin, end = period.moment(start), period.moment(stop)
    for (other, of), timeline in timelines.items():
        if of != column or other is period or (isinstance(kind, StringType) and other.pattern != period.pattern):
            continue
        both = [(period, timelines[period, column]), (other, timeline)]
        (small, of_small), (large, of_large) = sorted(both, key=lambda one: one[0].rank)
        for at in _indexes(of_large, large.ceil_index(begin), large.ceil_index(end)):
            inside = small.floor_index(large.moment(at))
            if small.moment(inside) == large.moment(at) and any(of_small.index_ranges(inside, inside + 1)):
                clashing.add(at if large is period else inside)
    return sorted(clashing)


def _indexes(timeline: PartitionTimeline, start: int, stop: int) -> Iterator[int]:
    if start < stop:
        for first, last in timeline.index_ranges(start, stop):
            yield from range(first, last)


def without(ranges: Iterable[tuple[int, int]], left_out: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Sorted ranges without some sorted numbers.

    >>> list(without([(1, 4), (6, 8)], [2, 6]))
    [(1, 2), (3, 4), (7, 8)]
    """
    numbers = list(reversed(left_out))
    for start, stop in ranges:
        at = start
        while numbers and numbers[-1] < stop:
            number = numbers.pop()
            if number >= at:
                if at < number:
                    yield at, number
                at = number + 1
        if at < stop:
            yield at, stop
