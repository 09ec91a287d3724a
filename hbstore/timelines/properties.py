"""Timelines in a table's properties, which hold 4,000 characters each: times, ranges of times, and lists of texts.

A list is joined by commas and cut into chunks: before an element is appended to a chunk, a new chunk begins if the
lengths of both come to 3,999 or more. A chunk that another one continues ends with a comma. The number of chunks stands
beside them.

    holes.size = 2    holes0 = 2015-01-03,2015-01-04,…,2015-12-29,    holes1 = 2015-12-30,2015-12-31

Before there were chunks, a list was one property of the bare name, `holes`; it counts where there is no `holes.size`.
Chunks past the size are left-overs of a longer list, as properties of a Hive table can be changed and not taken away.

>>> chunks("holes", ["2015-01-03", "2015-01-04"])
{'holes.size': '1', 'holes0': '2015-01-03,2015-01-04'}
>>> elements({"holes": "2015-01-03,2015-01-04"}, "holes")
['2015-01-03', '2015-01-04']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from hbstore.errors import InvalidTime, TimelineTooLarge
from hbstore.timelines.runs import Runs
from hbstore.times.update_period import UpdatePeriod

MAX_CHUNK: Final = 3_999
MAX_LISTED: Final = 4_000_000
"""How many times a property lists one by one: all days from the year 1 to 9999 and some more."""

_SIZE: Final = re.compile("0|[1-9][0-9]{0,8}")


class UnreadableProperty(ValueError):
    """A property that is missing or does not parse.

    Attributes:
        key: which property.
        reason: what is wrong with it.
    """

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(f"{key}: {reason}")
        self.key = key
        self.reason = reason


def chunks(key: str, texts: Iterable[str]) -> dict[str, str]:
    """The properties of a list. O(characters)."""
    values: list[str] = []
    chunk: list[str] = []
    length = 0
    for text in texts:
        if chunk and length + len(text) >= MAX_CHUNK:
            values.append(",".join([*chunk, ""]))
            chunk = []
            length = 0
        chunk.append(text)
        length += len(text) + 1
    if chunk:
        values.append(",".join(chunk))
    return {f"{key}.size": str(len(values)), **{f"{key}{number}": text for number, text in enumerate(values)}}


def elements(properties: Mapping[str, str], key: str) -> list[str]:
    """The list of some properties, without spaces round its commas. O(characters).

    Raises:
        UnreadableProperty: the size is no number, a chunk is missing, or an element is empty.
    """
    text = _whole(properties, key)
    if not text or text.isspace():
        return []
    found = [element.strip() for element in text.split(",")]
    if "" in found:
        raise UnreadableProperty(key, f"element {found.index('') + 1:,} is empty")
    return found


def _whole(properties: Mapping[str, str], key: str) -> str:
    size = properties.get(f"{key}.size")
    if size is None:
        if key not in properties and f"{key}0" in properties:
            raise UnreadableProperty(f"{key}.size", "it is missing")
        return properties.get(key, "")
    if not _SIZE.fullmatch(size):
        raise UnreadableProperty(f"{key}.size", f"{size!r} is not a number of chunks")
    texts = []
    for number in range(int(size)):
        chunk = properties.get(f"{key}{number}")
        if chunk is None:
            raise UnreadableProperty(f"{key}{number}", f"it is missing, and there should be {size} chunks")
        texts.append(chunk)
    return "".join(texts)


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
