"""Times as the timeline classes write them into properties: lists of single times, and ranges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from hbstore.errors import InvalidTime, TimelineTooLarge
from hbstore.timelines.properties import UnreadableProperty
from hbstore.timelines.runs import Runs
from hbstore.times.update_period import UpdatePeriod

MAX_LISTED = 4_000_000
"""How many times a property lists one by one: all days from the year 1 to 9999 and some more."""


def read_index(period: UpdatePeriod, key: str, text: str, *, end: bool = False) -> int:
    """The index of a time, or of the end of a range, in a property.

    Raises:
        UnreadableProperty: it is no time of the period.
    """
    try:
        return period.parse_end_index(text) if end else period.parse_index(text)
    except InvalidTime as error:
        raise UnreadableProperty(key, str(error)) from None


def listed(period: UpdatePeriod, ranges: Iterable[tuple[int, int]]) -> Iterator[str]:
    """Every time of some ranges as text.

    >>> list(listed(UpdatePeriod.YEARLY, [(2014, 2016)]))
    ['2015', '2016']
    """
    for start, stop in ranges:
        yield from map(period.format_index, range(start, stop))


def ranged(period: UpdatePeriod, ranges: Iterable[tuple[int, int]]) -> Iterator[str]:
    """Ranges as text, half open; one of a single time as that time.

    >>> list(ranged(UpdatePeriod.YEARLY, [(2014, 2015), (2016, 2019)]))
    ['2015', '[2017, 2020)']
    """
    text = period.format_index
    return (text(start) if stop - start == 1 else f"[{text(start)}, {text(stop)})" for start, stop in ranges)


def within_limit(count: int, storage_table: str, period: UpdatePeriod) -> None:
    """See that this many times can be listed.

    Raises:
        TimelineTooLarge: they are too many.
    """
    if count > MAX_LISTED:
        raise TimelineTooLarge(
            "the timeline would list too many times one by one",
            storage_table=storage_table,
            period=period.name,
            times=count,
            limit=MAX_LISTED,
            hint="Use RangesPartitionTimeline, which stores ranges",
        )


def list_faults(period: UpdatePeriod, key: str, indexes: Sequence[int]) -> Iterator[str]:
    """What is wrong with a list of times: two that are equal, or not in order."""
    for one, two in pairwise(indexes):
        if one == two:
            yield f"{key}: {period.format_index(one)} occurs twice"
        elif one > two:
            yield f"{key}: {period.format_index(one)} stands before {period.format_index(two)}"


def run_faults(period: UpdatePeriod, runs: Runs) -> Iterator[str]:
    """What is wrong with runs of times: each has to be non-empty and to begin after the end of the one before."""
    if len(runs.starts) != len(runs.stops):
        yield "ranges: as many starts as stops are needed"
        return
    strangers = [(start, stop) for start, stop in runs if start < 0 or stop > period.limit]
    if strangers:
        yield f"ranges: there are no times of the indexes [{strangers[0][0]}, {strangers[0][1]})"
        return
    text = period.format_index
    end = -1
    for start, stop in runs:
        if start >= stop:
            yield f"ranges: [{text(start)}, {text(stop)}) holds nothing"
        if start == end:
            yield f"ranges: one ends and another begins at {text(start)}"
        elif start < end:
            yield f"ranges: one begins at {text(start)}, before the end of the one before it"
        end = stop
