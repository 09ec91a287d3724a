r"""Ranges of bytes: sorted, disjoint, half open ``[start, stop)``.

What a condition on one column selects is a set of cells, and that set is always a few ranges of the cells' bytes:
``= 5`` is one, ``!= 5`` two, an IN list as many as it has values that do not touch.

>>> unite([(b"a", b"c"), (b"b", b"d"), (b"d", b"e"), (b"x", b"y")])
((b'a', b'e'), (b'x', b'y'))
>>> intersect(((b"a", b"e"),), ((b"b", b"c"), (b"d", b"z")))
((b'b', b'c'), (b'd', b'e'))
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from operator import itemgetter
from typing import TypeAlias

Range: TypeAlias = tuple[bytes, bytes]
Ranges: TypeAlias = tuple[Range, ...]


def unite(ranges: Iterable[Range]) -> Ranges:
    """The union of ranges in any order; touching ones become one. O(n log n)."""
    merged: list[Range] = []
    for start, stop in sorted(ranges):
        if start >= stop:
            continue
        if merged and start <= merged[-1][1]:
            if stop > merged[-1][1]:
                merged[-1] = (merged[-1][0], stop)
        else:
            merged.append((start, stop))
    return tuple(merged)


def intersect(left: Ranges, right: Ranges) -> Ranges:
    """What two sets of ranges have in common. O(n + m)."""
    common: list[Range] = []
    at_left = at_right = 0
    while at_left < len(left) and at_right < len(right):
        start = max(left[at_left][0], right[at_right][0])
        stop = min(left[at_left][1], right[at_right][1])
        if start < stop:
            common.append((start, stop))
        if left[at_left][1] < right[at_right][1]:
            at_left += 1
        else:
            at_right += 1
    return tuple(common)


def subtract(left: Ranges, right: Ranges) -> Ranges:
    """What is in the first set and not in the second. O(n + m)."""
    if not right:
        return left
    gaps: list[Range] = []
    position = b""
    for start, stop in right:
        if position < start:
            gaps.append((position, start))
        position = stop
    last = left[-1][1] if left else b""
    if position < last:
        gaps.append((position, last))
    return intersect(left, tuple(gaps))


def contains(ranges: Ranges, data: bytes) -> bool:
    """Whether one of the ranges holds these bytes. O(log n)."""
    if len(ranges) == 1:
        return ranges[0][0] <= data < ranges[0][1]
    at = bisect_right(ranges, data, key=itemgetter(0)) - 1
    return at >= 0 and ranges[at][0] <= data < ranges[at][1]
