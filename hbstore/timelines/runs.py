"""Runs: a set of whole numbers, kept as the ranges [start, stop) of numbers that follow one another.

    1, 2, 3, 5, 6, 9      [1, 4) ∪ [5, 7) ∪ [9, 10)

The starts and the stops are two sorted arrays of 8 bytes a number. Runs neither overlap nor touch, so the arrays
interleave strictly: start < stop < next start. Every question is one binary search; a change of one number is that and
an array's insert.

>>> runs = Runs.of([1, 2, 3, 9, 6, 5])
>>> runs
Runs([1, 5, 9], [4, 7, 10])
>>> runs.add(4), runs.remove(2), 2 in runs, list(runs.gaps(0, 10))
(True, True, False, [(0, 1), (2, 3), (7, 9)])
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import pairwise
from operator import lt
from typing import Final, TypeVar

from hbstore.texts.wording import clipped

T = TypeVar("T", int, datetime)
_REPR: Final = 120


class Runs:
    """A mutable set of whole numbers.

    Args:
        starts: where the runs start, sorted.
        stops: where they stop.
    """

    __slots__ = ("starts", "stops")

    def __init__(self, starts: Iterable[int] = (), stops: Iterable[int] = ()) -> None:
        self.starts = array("q", starts)
        self.stops = array("q", stops)

    @staticmethod
    def of(numbers: Iterable[int]) -> Runs:
        """The runs of numbers in any order, some perhaps more than once. O(n) if they ascend, else O(n log n).

        >>> Runs.of([3, 1, 2, 7])
        Runs([1, 7], [4, 8])
        """
        starts: list[int] = []
        stops: list[int] = []
        late: list[int] = []  # what came after a greater number
        stop = -1
        for number in numbers:
            if number == stop and starts:
                stop += 1
            elif number > stop or not starts:
                if starts:
                    stops.append(stop)
                starts.append(number)
                stop = number + 1
            elif number != stop - 1:
                late.append(number)
        if starts:
            stops.append(stop)
        runs = Runs(starts, stops)
        if late:
            late.sort()
            runs.unite(Runs.of(late))
        return runs

    @staticmethod
    def of_ranges(ranges: Iterable[tuple[int, int]]) -> Runs:
        """The runs of sorted ranges that neither overlap nor touch. O(ranges).

        >>> Runs.of_ranges([(1, 4), (7, 8)])
        Runs([1, 7], [4, 8])
        """
        pairs = list(ranges)
        return Runs([start for start, _ in pairs], [stop for _, stop in pairs])

    def copy(self) -> Runs:
        """The same set, to be changed on its own.

        >>> runs = Runs.of([1, 2])
        >>> runs.copy().add(3), runs
        (True, Runs([1], [3]))
        """
        return Runs(self.starts, self.stops)

    def minus(self, other: Runs) -> Runs:
        """What is in this set and not in another; neither is changed.

        >>> Runs.of([1, 2, 3]).minus(Runs.of([2]))
        Runs([1, 3], [2, 4])
        """
        left = self.copy()
        left.subtract(other)
        return left

    def numbers(self) -> Iterator[int]:
        """The numbers, in order.

        >>> list(Runs.of_ranges([(1, 4), (7, 8)]).numbers())
        [1, 2, 3, 7]
        """
        return (number for start, stop in self for number in range(start, stop))

    def __contains__(self, number: int) -> bool:
        """Whether a number is in the set. O(log runs)."""
        at = bisect_right(self.starts, number)
        return at > 0 and number < self.stops[at - 1]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """The runs as pairs, in order."""
        return zip(self.starts, self.stops, strict=True)

    def __len__(self) -> int:
        """The number of runs."""
        return len(self.starts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Runs):
            return NotImplemented
        return self.starts == other.starts and self.stops == other.stops

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __repr__(self) -> str:
        return clipped(f"Runs({self.starts[:_REPR].tolist()}, {self.stops[:_REPR].tolist()})", _REPR)

    def size(self) -> int:
        """How many numbers there are. O(runs).

        >>> Runs.of_ranges([(1, 4), (7, 8)]).size()
        4
        """
        return sum(self.stops) - sum(self.starts)

    def add(self, number: int) -> bool:
        """Put a number in; False if it is there. O(log runs), and one insert into the arrays if in the middle.

        >>> runs = Runs.of([1, 3])
        >>> runs.add(2), runs.add(2), runs
        (True, False, Runs([1], [4]))
        """
        starts, stops = self.starts, self.stops
        at = bisect_right(starts, number)
        if at and number < stops[at - 1]:
            return False
        joins_left = at > 0 and stops[at - 1] == number
        joins_right = at < len(starts) and starts[at] == number + 1
        if joins_left and joins_right:
            del stops[at - 1], starts[at]
        elif joins_left:
            stops[at - 1] = number + 1
        elif joins_right:
            starts[at] = number
        else:
            starts.insert(at, number)
            stops.insert(at, number + 1)
        return True

    def remove(self, number: int) -> bool:
        """Take a number out; False if it is not there. O(log runs), and one insert into the arrays if in the middle.

        >>> runs = Runs.of([1, 2, 3])
        >>> runs.remove(2), runs.remove(2), runs
        (True, False, Runs([1, 3], [2, 4]))
        """
        starts, stops = self.starts, self.stops
        at = bisect_right(starts, number) - 1
        if at < 0 or number >= stops[at]:
            return False
        begins, ends = starts[at] == number, stops[at] == number + 1
        if begins and ends:
            del starts[at], stops[at]
        elif begins:
            starts[at] = number + 1
        elif ends:
            stops[at] = number
        else:
            starts.insert(at + 1, number + 1)
            stops.insert(at, number)
        return True

    def unite(self, other: Runs) -> bool:
        """Put all numbers of another set in: one merge of the runs between its first and its last number.

        Returns:
            Whether that changed anything.

        >>> runs = Runs.of([1, 2])
        >>> runs.unite(Runs.of([2, 3])), runs
        (True, Runs([1], [4]))
        """
        if not other.starts:
            return False
        low = bisect_left(self.stops, other.starts[0])
        high = bisect_right(self.starts, other.stops[-1], low)
        if low == high:
            return self._replace(low, high, other)
        return self._replace(low, high, Runs.of_ranges(joined(sorted([*self._slice(low, high), *other]))))

    def subtract(self, other: Runs) -> bool:
        """Take all numbers of another set out: one merge of the runs between its first and its last number.

        Returns:
            Whether that changed anything.

        >>> runs = Runs.of([1, 2, 3])
        >>> runs.subtract(Runs.of([2, 9])), runs
        (True, Runs([1, 3], [2, 4]))
        """
        if not other.starts:
            return False
        low = bisect_right(self.stops, other.starts[0])
        high = bisect_left(self.starts, other.stops[-1], low)
        kept = [piece for start, stop in self._slice(low, high) for piece in other.gaps(start, stop)]
        return self._replace(low, high, Runs.of_ranges(kept))

    def ahead(self, number: int) -> tuple[int, int] | None:
        """The first run from a number on, cut there; None if there is none. O(log runs).

        >>> runs = Runs.of_ranges([(1, 4), (7, 9)])
        >>> runs.ahead(2), runs.ahead(4), runs.ahead(9)
        ((2, 4), (7, 9), None)
        """
        at = bisect_right(self.stops, number)
        return None if at == len(self.stops) else (max(self.starts[at], number), self.stops[at])

    def between(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """The runs in [start, stop), cut at its ends. O(log runs) and those found.

        >>> list(Runs.of_ranges([(1, 4), (7, 9)]).between(2, 8))
        [(2, 4), (7, 8)]
        """
        for at in range(bisect_right(self.stops, start), len(self.starts)):
            begin = max(self.starts[at], start)
            if begin >= stop:
                return
            yield begin, min(self.stops[at], stop)

    def gaps(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """The ranges of [start, stop) that are not in the set. O(log runs) and those found.

        >>> list(Runs.of_ranges([(1, 4), (7, 9)]).gaps(0, 8))
        [(0, 1), (4, 7)]
        """
        return gaps(self.between(start, stop), start, stop)

    def in_order(self) -> bool:
        """Whether the lists are as they have to be. O(runs).

        >>> Runs([1, 3], [2, 5]).in_order(), Runs([1, 3], [4, 5]).in_order()
        (True, False)
        """
        return (
            len(self.starts) == len(self.stops)
            and all(map(lt, self.starts, self.stops))
            and all(stop < start for (_, stop), (start, _) in pairwise(self))
        )

    def _slice(self, low: int, high: int) -> Iterator[tuple[int, int]]:
        return zip(self.starts[low:high], self.stops[low:high], strict=True)

    def _replace(self, low: int, high: int, others: Runs) -> bool:
        """Put other runs in the place of some; whether they are others."""
        if self.starts[low:high] == others.starts and self.stops[low:high] == others.stops:
            return False
        self.starts[low:high] = others.starts
        self.stops[low:high] = others.stops
        return True


def gaps(ranges: Iterable[tuple[int, int]], start: int, stop: int) -> Iterator[tuple[int, int]]:
    """What sorted ranges inside [start, stop) leave of it.

    >>> list(gaps([(1, 4), (5, 7)], 0, 7))
    [(0, 1), (4, 5)]
    """
    for begin, end in ranges:
        if start < begin:
            yield start, begin
        start = end
    if start < stop:
        yield start, stop


def joined(ranges: Iterable[tuple[T, T]]) -> list[tuple[T, T]]:
    """Ranges that are sorted by their starts, with those that overlap or touch made one.

    >>> joined([(1, 3), (2, 4), (4, 5), (6, 7)])
    [(1, 5), (6, 7)]
    """
    apart: list[tuple[T, T]] = []
    for start, stop in ranges:
        if apart and start <= apart[-1][1]:
            begin, end = apart.pop()
            apart.append((begin, max(end, stop)))
        else:
            apart.append((start, stop))
    return apart
