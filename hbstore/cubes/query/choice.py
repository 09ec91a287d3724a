"""Which partitions of which storage tables answer a range of time best.

A source is one update period of one storage table. Each moment of the range is answered by one source, or is missing.
The best choice, in this order: the least time missing, the least weight, the fewest bytes (or rows, see `rates`), the
fewest partitions. Weight and bytes count by time: a source of weight 2 that answers an hour costs 2 hours.

    range      [01-30 22h                                   03-01 06h)
    MONTHLY                     [02                  )                     weight 10: taken where whole months fit
    DAILY                 [01-31)                                          weight 10
    HOURLY     [22h  24h)                             [03-01 00h  06h)     weight 500: only at both ends

Periods up to a day lie within each other. A day of a source that costs no more than any source of hours is taken at
once. Of the others, from the smallest period to the largest, each part replaces what was chosen within it if that is
not better; neighbours that are alike are compared together, so the time this takes grows with the number of holes, not
with the length of the range. Weeks do not lie within months: from a week on, the best way
through the ends of all large parts is found, from one end to the next.

What no whole partition answers may be cut from one that lies across an end, if its rows tell their times:

    range            [00:30               02:00)
    HOURLY           [01h            02h)            the hour before it is read as well, with a condition on its rows

A table of the update period CONTINUOUS has no partitions and is always up to date. Its rows tell their times in a
column, so it answers any moment up to now; by a column of dates, whole days:

    range      [2015-01-29-06                                         now)
    DAILY                      [01-30            02-28)                    read instead, if it weighs no more
    CONTINUOUS [01-29-06  01-30)                       [02-28         now)

The numbers are whole, so sums do not depend on their order: weights are multiplied by what makes them whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import Final, NamedTuple, Protocol, TypeAlias

from hbstore.keys.types import ColumnType, DateType
from hbstore.timelines.runs import Runs, gaps, joined
from hbstore.times.update_period import UpdatePeriod


class Division(Protocol):
    """What divides time into parts that a source answers as a whole: an update period, or `MOMENTS`."""

    @property
    def rank(self) -> int:
        """Orders divisions by the length of their parts."""

    def floor_index(self, moment: int, /) -> int:
        """The part that holds a moment."""

    def ceil_index(self, moment: int, /) -> int:
        """The first part that begins at a moment or after it."""

    def moment(self, index: int, /) -> int:
        """When a part begins."""


class _Moments:
    """Time in single moments: the parts are microseconds, shorter than those of any update period."""

    rank = -1

    def floor_index(self, moment: int, /) -> int:
        return moment

    def ceil_index(self, moment: int, /) -> int:
        return moment

    def moment(self, index: int, /) -> int:
        return index


MOMENTS: Final = _Moments()


def division_of(kind: ColumnType) -> Division:
    """What a column of dates or timestamps tells of a row's time."""
    return UpdatePeriod.DAILY if isinstance(kind, DateType) else MOMENTS


@dataclass(frozen=True, slots=True, eq=False)
class PartitionSource:
    """One update period of one storage table.

    Attributes:
        table: the storage table.
        period: the update period, or what else divides the time of its rows.
        weight: the weight of its fact.
        rate: bytes in a microsecond, or rows for all sources; 0 for all where neither is known of each.
        ranges: the indexes of the period in [start, stop) that have partitions, as sorted ranges.
        cut: whether rows of a part of a partition can be found, as they tell their times.
    """

    table: str
    period: Division
    ranges: Callable[[int, int], Iterable[tuple[int, int]]]
    weight: float = 0.0
    rate: Fraction = Fraction(0)
    cut: bool = False


class SourceRun(NamedTuple):
    """Moments that one source answers; None: that no partition answers."""

    start: int
    stop: int
    source: PartitionSource | None


Cost: TypeAlias = tuple[int, int, int, int]
"""Time missing, weight by time, bytes, partitions: less is better, the first that differs counts."""

_NOTHING: Cost = (0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Choice:
    """The sources that answer a range.

    Attributes:
        runs: sorted by time; neighbours differ in their source. What is missing is no run.
        missing: ranges of moments that no partition answers, sorted.
        cost: of all that.
    """

    runs: tuple[SourceRun, ...]
    missing: tuple[tuple[int, int], ...]
    cost: tuple[int, Fraction, Fraction, int]


class Chooser:
    """Finds the best choice among some sources.

    Args:
        sources: in the order in which they are preferred where they cost the same.
    """

    def __init__(self, sources: Iterable[PartitionSource]) -> None:
        self._sources = tuple(sources)
        weights = [Fraction(source.weight) for source in self._sources]
        self._factors = (
            lcm(*(weight.denominator for weight in weights)),
            lcm(*(source.rate.denominator for source in self._sources)),
        )
        self._weights = {
            source: int(weight * self._factors[0]) for source, weight in zip(self._sources, weights, strict=True)
        }
        self._rates = {source: int(source.rate * self._factors[1]) for source in self._sources}

    def choose(self, start: int, stop: int, without: Iterable[tuple[int, int]] = ()) -> Choice:
        """The best choice for the moments [start, stop). O(holes · log), and O(large parts) from a week on.

        Args:
            start: the first moment.
            stop: the moment behind the last.
            without: sorted ranges of moments in these that are missing, whatever there is.
        """
        left_out = list(without)
        runs = [SourceRun(*span, None) for span in left_out]
        for span in gaps(left_out, start, stop):
            runs += self._best_runs(*span)
        runs = _joined(sorted(runs, key=lambda run: run.start))
        missing = tuple((run.start, run.stop) for run in runs if run.source is None)
        uncovered, weight, size, count = _sum(map(self._cost, runs))
        cost = uncovered, Fraction(weight, self._factors[0]), Fraction(size, self._factors[1]), count
        return Choice(tuple(run for run in runs if run.source is not None), missing, cost)

    def _best_runs(self, start: int, stop: int) -> list[SourceRun]:
        """The runs of the best choice for some moments."""
        whole = [source for source in self._sources if not source.cut]
        small = [source for source in whole if source.period.rank <= UpdatePeriod.DAILY.rank]
        large = [source for source in whole if source.period.rank > UpdatePeriod.DAILY.rank]
        runs = self._best_of_small(small, start, stop)
        runs = self._best_way(runs, large, start, stop) if large else runs
        return [part for run in runs for part in ([run] if run.source is not None else self._cut(run))]

    def _cut(self, missing: SourceRun) -> list[SourceRun]:
        """What parts of partitions answer of moments that no whole ones do, and what is still missing."""
        cutting = sorted((one for one in self._sources if one.cut), key=lambda one: (self._price(one), one.period.rank))
        runs: list[SourceRun] = []
        left = [(missing.start, missing.stop)]
        for source in cutting:
            period, spans, left = source.period, left, []
            for start, stop in spans:
                covered = [
                    (max(start, period.moment(first)), min(stop, period.moment(last)))
                    for first, last in source.ranges(period.floor_index(start), period.ceil_index(stop))
                ]
                runs += [SourceRun(*span, source) for span in covered]
                left += gaps(covered, start, stop)
        return [*runs, *(SourceRun(*span, None) for span in left)]

    def _best_of_small(self, sources: Sequence[PartitionSource], start: int, stop: int) -> list[SourceRun]:
        """The best runs from periods that lie within each other; runs without a source where time is missing.

        What no smaller period could do better is taken first, from the largest period to the smallest. Then the others
        have few moments left to look at.
        """
        periods = sorted({source.period for source in sources}, key=lambda period: -period.rank)
        taken: list[SourceRun] = []
        left = [(start, stop)]
        others: list[tuple[Division, list[SourceRun]]] = []
        for period in periods:
            smaller = min((self._price(source) for source in sources if source.period.rank < period.rank), default=None)
            own = [source for source in sources if source.period is period]
            first = [source for source in own if smaller is None or self._price(source) <= smaller]
            parts = self._parts(first, period, left)
            taken += parts
            left = list(left_by(parts, left))
            others.append((period, self._parts([source for source in own if source not in first], period, left)))
        runs = sorted([*taken, *(SourceRun(*span, None) for span in left)], key=lambda run: run.start)
        for period, parts in reversed(others):
            runs = self._replaced(runs, period, parts)
        return runs

    def _price(self, source: PartitionSource) -> tuple[int, int]:
        """What a moment of a source costs."""
        return self._weights[source], self._rates[source]

    def _parts(
        self, sources: Sequence[PartitionSource], period: Division, within: Iterable[tuple[int, int]]
    ) -> list[SourceRun]:
        """The parts of a period within some moments, each of its best source."""
        return parts_of(sorted(sources, key=self._price), period, within)

    def _replaced(self, runs: Sequence[SourceRun], period: Division, parts: Sequence[SourceRun]) -> list[SourceRun]:
        """Runs with each part in place of what it holds, unless that is better."""
        replaced: list[SourceRun] = []
        pending = list(reversed(runs))
        for part in parts:
            while pending and pending[-1].stop <= part.start:
                replaced.append(pending.pop())
            if pending and pending[-1].start < part.start:
                run = pending.pop()
                pending.append(run._replace(start=part.start))
                replaced.append(run._replace(stop=part.start))
            at = part.start
            while at < part.stop:
                run = pending[-1]
                whole = period.moment(period.floor_index(min(run.stop, part.stop)))
                end = whole if whole > at else period.moment(period.floor_index(at) + 1)
                inside = _taken(pending, end)
                ours = SourceRun(at, end, part.source)
                replaced += [ours] if self._cost(ours) <= _sum(map(self._cost, inside)) else inside
                at = end
        return replaced + pending[::-1]

    def _best_way(
        self, runs: Sequence[SourceRun], sources: Sequence[PartitionSource], start: int, stop: int
    ) -> list[SourceRun]:
        """Runs with large parts in their places, so that the whole costs least."""
        parts: list[SourceRun] = []
        for period in sorted({source.period for source in sources}, key=lambda period: -period.rank):
            for run in self._parts([source for source in sources if source.period is period], period, [(start, stop)]):
                first, last = period.floor_index(run.start), period.floor_index(run.stop)
                parts += [SourceRun(period.moment(at), period.moment(at + 1), run.source) for at in range(first, last)]
        ends = sorted({start, stop, *(end for part in parts for end in part[:2])})
        leading: dict[int, list[SourceRun]] = {}
        for part in parts:
            leading.setdefault(part.stop, []).append(part)
        pending = list(reversed(runs))
        best: dict[int, tuple[Cost, int, list[SourceRun]]] = {start: (_NOTHING, start, [])}
        for before, end in pairwise(ends):
            between = _taken(pending, end)
            ways = [(_sum([best[before][0], *map(self._cost, between)]), before, between)]
            ways += [
                (_sum([best[part.start][0], self._cost(part)]), part.start, [part]) for part in leading.get(end, ())
            ]
            best[end] = min(reversed(ways), key=lambda way: way[0])
        chosen: list[list[SourceRun]] = []
        at = stop
        while at != start:
            _, at, last_runs = best[at]
            chosen.append(last_runs)
        return [run for some in reversed(chosen) for run in some]

    def _cost(self, run: SourceRun) -> Cost:
        length, source = run.stop - run.start, run.source
        if source is None:
            return length, 0, 0, 0
        period = source.period
        count = period.ceil_index(run.stop) - period.floor_index(run.start)
        return 0, self._weights[source] * length, self._rates[source] * length, count


def parts_of(
    sources: Iterable[PartitionSource], period: Division, within: Iterable[tuple[int, int]]
) -> list[SourceRun]:
    """The parts of a period within some sorted ranges of moments, in sorted runs.

    Args:
        sources: of the period; what one has is not asked of those after it.
        period: the period.
        within: the ranges.
    """
    uncovered = [(period.ceil_index(start), period.floor_index(stop)) for start, stop in within]
    parts: list[tuple[int, int, PartitionSource]] = []
    for source in sources:
        left: list[tuple[int, int]] = []
        for low, high in uncovered:
            spans = [*source.ranges(low, high)] if low < high else []
            parts += [(begin, end, source) for begin, end in spans]
            left += gaps(spans, low, high)
        uncovered = left
    parts.sort(key=lambda one: one[0])
    return [SourceRun(period.moment(begin), period.moment(end), source) for begin, end, source in parts]


def left_by(parts: Sequence[SourceRun], ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """What some sorted parts leave of some ranges."""
    covered = Runs.of_ranges(joined(part[:2] for part in parts))
    for start, stop in ranges:
        yield from covered.gaps(start, stop)


def _taken(pending: list[SourceRun], end: int) -> list[SourceRun]:
    """The runs up to a moment, taken from the end of a reversed list; one that goes on behind it is cut."""
    taken: list[SourceRun] = []
    while pending and pending[-1].start < end:
        run = pending.pop()
        if run.stop > end:
            pending.append(run._replace(start=end))
            run = run._replace(stop=end)
        taken.append(run)
    return taken


def _sum(costs: Iterable[Cost]) -> Cost:
    missing = weight = size = count = 0
    for cost in costs:
        missing, weight, size, count = missing + cost[0], weight + cost[1], size + cost[2], count + cost[3]
    return missing, weight, size, count


def _joined(runs: Iterable[SourceRun]) -> list[SourceRun]:
    """Runs with neighbours of one source made one."""
    merged: list[SourceRun] = []
    for run in runs:
        goes_on = merged and merged[-1].source is run.source and merged[-1].stop == run.start
        merged.append(run._replace(start=merged.pop().start) if goes_on else run)
    return merged


def index_runs(choice: Choice) -> Iterator[tuple[PartitionSource, int, int]]:
    """The runs of a choice by the indexes of their periods; of cut partitions, these as wholes."""
    for run in choice.runs:
        assert run.source is not None
        period = run.source.period
        yield run.source, period.floor_index(run.start), period.ceil_index(run.stop)
