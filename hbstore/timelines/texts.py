"""Times as the timeline classes write them into properties, and lists of single times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from hbstore.errors import InvalidTime, TimelineTooLarge
from hbstore.timelines.properties import UnreadableProperty
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
