"""What two timelines, or a timeline and its table's partitions, differ in."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from hbstore.timelines.runs import Runs
from hbstore.timelines.timeline import PartitionTimeline
from hbstore.times.update_period import UpdatePeriod

_SHOWN: Final = 3


def times_of(timeline: PartitionTimeline | None) -> Runs:
    """The times of a timeline; none where the table has been altered and keeps it no more."""
    return Runs() if timeline is None else Runs.of_ranges(timeline.index_ranges(0, timeline.update_period.limit))


def difference(one: Runs, other: Runs) -> Runs:
    """The times that only one of two has."""
    either = one.minus(other)
    either.unite(other.minus(one))
    return either


def differences(name: str, period: UpdatePeriod, now: Runs, differing: Runs, of_partitions: Runs) -> Iterator[str]:
    """How a timeline and the partitions differ, in words, one by one.

    Args:
        name: the timeline's, such as ``DAILY.dt``.
        period: its update period.
        now: its times.
        differing: the times to compare.
        of_partitions: those of them that partitions have.
    """
    for index in differing.numbers():
        listed = index in now
        if listed and index not in of_partitions:
            yield f"timeline {name} has {period.format_index(index)}, but no partition has this time"
        elif not listed and index in of_partitions:
            yield f"timeline {name} lacks {period.format_index(index)}, but a partition has this time"


def first_times(period: UpdatePeriod, one: Runs, other: Runs) -> str:
    """The first times that are in one and not in the other, and how many more there are."""
    left = one.minus(other)
    first = list(islice(left.numbers(), _SHOWN))
    more = left.size() - len(first)
    shown = ", ".join(map(period.format_index, first)) or "none"
    return f"{shown} and {more:,} more" if more else shown
