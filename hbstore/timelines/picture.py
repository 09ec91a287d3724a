"""Timelines as a picture: a line of blocks for each, over the range of time of all of them.

    s1_sales  HOURLY  dt  ████▅××▂██████▇█  1,302 there, 186 missing in 2 holes
    s1_sales  DAILY   dt      ████████████  46 there, no holes
                          |2015-01-01    |

The width is cut into cells. A cell is full if every part of the update period that reaches into it is there, and empty
if none is; all else lies between. So no hole is too short to be seen: a minute that is missing in ten years leaves its
cell less than full. Whole numbers of microseconds decide, nothing is rounded.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from hbstore.pictures.drawing import CHARACTER, FULL, LINE_HEIGHT, MISSING, PARTLY, Colour, Drawing
from hbstore.texts.wording import plural
from hbstore.timelines.runs import Runs
from hbstore.times.moments import DAY, LIMIT, SECOND, time_at
from hbstore.times.update_period import UpdatePeriod

LEAST_BAR: Final = 24
"""Cells that a bar beside its label has at least; where there is less room it stands below."""

_GAP: Final = 2
_SVG_CELLS: Final = 480
"""Cells of a bar in SVG, a pixel or more each."""
_LENGTHS: Final = (("day", DAY), ("hour", 3_600 * SECOND), ("minute", 60 * SECOND), ("second", SECOND))
_PRECISIONS: Final = ((DAY, ""), (3_600 * SECOND, "-%H"), (60 * SECOND, "-%H:%M"), (0, "-%H:%M:%S"))


@dataclass(frozen=True, slots=True)
class Symbols:
    """What cells are drawn with.

    Attributes:
        full: all is there.
        some: something is there and something is missing, from little to much.
        hole: nothing is there, between the first and the latest.
        outside: nothing is there, before the first or after the latest.
    """

    full: str
    some: str
    hole: str
    outside: str = " "


BLOCKS: Final = Symbols("█", "▁▂▃▄▅▆▇", "×")
ASCII: Final = Symbols("#", "1234567", "x")
"""For terminals that show no other characters."""


@dataclass(frozen=True, slots=True)
class TimelineBar:
    """A timeline to be drawn.

    Attributes:
        label: the texts before it, which stand below those of other bars.
        period: its update period.
        ranges: the indexes of what is there, as ranges that are sorted and apart.
    """

    label: tuple[str, ...]
    period: UpdatePeriod
    ranges: Sequence[tuple[int, int]]

    @property
    def counts(self) -> str:
        """How much is there and how much is missing.

        >>> TimelineBar((), UpdatePeriod.DAILY, [(10, 12), (15, 16)]).counts
        '3 there, 3 missing in 1 hole'
        """
        if not self.ranges:
            return "none there"
        there = sum(stop - start for start, stop in self.ranges)
        missing = self.ranges[-1][1] - self.ranges[0][0] - there
        holes = plural(len(self.ranges) - 1, "hole")
        return f"{there:,} there, {missing:,} missing in {holes}" if missing else f"{there:,} there, no holes"


Ahead: TypeAlias = Callable[[int], tuple[int, int] | None]
"""The first range of what is there from an index on, as `PartitionTimeline.range_ahead`; None where there is none."""


class CellStretch(NamedTuple):
    """Cells that are drawn alike, from one up to another: all there, some missing, or none there."""

    colour: Colour
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of an axis, in parts of an update period.

    Attributes:
        lows: for each cell, the index of the first part that reaches into it.
        highs: that behind the last.
        limit: how many parts the period has.
    """

    lows: Sequence[int]
    highs: Sequence[int]
    limit: int

    def stretches(self, ahead: Ahead) -> Iterator[CellStretch]:
        """What `TimelineAxis.draw` shows, without how full a cell is. O(cells log ranges), however many ranges."""
        first = ahead(0)
        at, before = 0, None
        while first is not None and at < len(self.lows):
            low, high = self.lows[at], self.highs[at]
            start, stop = ahead(low) or (self.limit, self.limit)
            if start >= high:  # nothing, up to the cell that something reaches into
                colour = MISSING if first[0] < low and start < stop else None
                after = bisect_right(self.highs, start)
            elif start == low and stop >= high:
                colour, after = FULL, bisect_right(self.highs, stop)
            else:
                colour, after = PARTLY, at + 1
            if before is not None and before.colour is colour:
                before = CellStretch(before.colour, before.start, after)
            else:
                if before is not None:
                    yield before
                before = None if colour is None else CellStretch(colour, at, after)
            at = after
        if before is not None:
            yield before


@dataclass(frozen=True, slots=True)
class TimelineAxis:
    """The cells that all bars share.

    Attributes:
        period: the smallest update period, whose parts the cells are made of.
        edges: the moments where the cells begin, and where the last one ends.
        parts: how many parts make a cell; 1 where several cells make a part.
        cells: how many cells make a part; 1 where several parts make a cell.
    """

    period: UpdatePeriod
    edges: Sequence[int]
    parts: int
    cells: int

    @staticmethod
    def of(bars: Sequence[TimelineBar], width: int) -> TimelineAxis | None:
        """The axis of some bars, in at most so many cells; None if all are empty."""
        drawn = [bar for bar in bars if bar.ranges]
        if not drawn:
            return None
        period = min((bar.period for bar in drawn), key=lambda period: period.rank)
        start = period.floor_index(min(bar.period.moment(bar.ranges[0][0]) for bar in drawn))
        stop = period.ceil_index(max(bar.period.moment(bar.ranges[-1][1]) for bar in drawn))
        return TimelineAxis.over(period, start, stop, width)

    @staticmethod
    def over(period: UpdatePeriod, start: int, stop: int, width: int) -> TimelineAxis:
        """The axis of the parts of a period from one index up to another, in at most so many cells."""
        if stop - start > width:
            parts = -(-(stop - start) // width)
            edges = [period.moment(index) for index in (*range(start, stop, parts), stop)]
            return TimelineAxis(period, edges, parts, 1)
        cells = width // (stop - start)
        edges = []
        for index in range(start, stop):
            begin, end = period.moment(index), period.moment(index + 1)
            edges += [begin + (end - begin) * number // cells for number in range(cells)]
        return TimelineAxis(period, [*edges, period.moment(stop)], 1, cells)

    def __len__(self) -> int:
        """How many cells there are."""
        return len(self.edges) - 1

    def draw(self, bar: TimelineBar, symbols: Symbols = BLOCKS) -> str:
        """A bar, one character for each cell. O(cells + ranges)."""
        if not bar.ranges:
            return symbols.outside * len(self)
        first, end = bar.period.moment(bar.ranges[0][0]), bar.period.moment(bar.ranges[-1][1])
        drawn = []
        for number, covered in enumerate(self._covered(bar)):
            begin, stop = self.edges[number], self.edges[number + 1]
            if covered == stop - begin:
                drawn.append(symbols.full)
            elif covered:
                level = covered * (len(symbols.some) + 1) // (stop - begin)
                drawn.append(symbols.some[max(level, 1) - 1])
            else:
                drawn.append(symbols.hole if first < stop and begin < end else symbols.outside)
        return "".join(drawn)

    def cells_of(self, period: UpdatePeriod) -> Cells:
        """The cells in parts of an update period: for all bars of it. O(cells)."""
        return Cells(
            [period.floor_index(begin) for begin in self.edges[:-1]],
            [period.ceil_index(end) for end in self.edges[1:]],
            period.limit,
        )

    def ticks(self) -> str:
        """The times below the bars: marks where cells begin, with the time of that, and where the last one ends."""
        first, last = self.text(self.edges[0]), self.text(self.edges[-1])
        stop = len(self) - len(last) - len(first) - _GAP
        if stop < 1:
            return f"from {first} to {last}"
        step = -(-(len(first) + 2 * _GAP) // self.cells) * self.cells
        line = "".join(f"|{self.text(self.edges[at])}".ljust(step) for at in range(0, stop, step)).rstrip()
        return f"{line}{last.rjust(len(self) - len(line))}|"

    def scale(self) -> str:
        """How much time a cell is."""
        unit = self.period.unit
        if self.cells > 1:
            return f"{self.cells:,} cells are {'an' if unit == 'hour' else 'a'} {unit}"
        if self.period.rank > UpdatePeriod.DAILY.rank:
            return f"a cell is {plural(self.parts, unit)}"
        left, texts = self.edges[1] - self.edges[0], []
        for name, length in _LENGTHS:
            count, left = divmod(left, length)
            texts += [plural(count, name)] if count else []
        return f"a cell is {' '.join(texts)}"

    def _covered(self, bar: TimelineBar) -> Iterator[int]:
        """How many microseconds of each cell are there."""
        moment = bar.period.moment
        ranges = ((moment(start), moment(stop)) for start, stop in bar.ranges)
        start = stop = 0
        for number in range(len(self)):
            begin, end = self.edges[number], self.edges[number + 1]
            covered = max(0, min(stop, end) - max(start, begin))
            while stop < end:
                start, stop = next(ranges, (LIMIT, LIMIT))
                covered += max(0, min(stop, end) - max(start, begin))
            yield covered

    def text(self, moment: int) -> str:
        """A moment, no more exactly than a cell is long, as `fact cover` reads it."""
        if self.period.rank >= UpdatePeriod.MONTHLY.rank:
            rest = "" if self.period is UpdatePeriod.YEARLY else "-%m"
        else:
            length = (self.edges[1] - self.edges[0]) * self.cells
            rest = "-%m-%d" + next(text for least, text in _PRECISIONS if least <= length)
        year = 10_000 if moment == LIMIT else time_at(moment).year
        return f"{year:04}{time_at(0 if moment == LIMIT else moment).strftime(rest)}"


def picture(bars: Sequence[TimelineBar], width: int, symbols: Symbols = BLOCKS) -> list[str]:
    """The lines of a picture of some bars.

    Args:
        bars: what to draw, from top to bottom.
        width: how many characters a line may have; labels that are longer alone are not cut.
        symbols: what to draw with.

    >>> day = UpdatePeriod.DAILY
    >>> first = day.parse_index("2015-01-01")
    >>> some, all_ = [(first, first + 24), (first + 26, first + 31)], [(first, first + 31)]
    >>> for line in picture([TimelineBar(("s1_sales",), day, some), TimelineBar(("s2_sales",), day, all_)], 80):
    ...     print(line)
    s1_sales  ████████████████████████××█████  29 there, 2 missing in 1 hole
    s2_sales  ███████████████████████████████  31 there, no holes
              |2015-01-01          2015-02-01|
    <BLANKLINE>
    █ all there  ▁ to ▇ some missing  × none there  (blank: not begun yet, or over)
    a cell is 1 day
    """
    widths = [max(map(len, texts)) for texts in zip(*(bar.label for bar in bars), strict=True)]
    labels = ["  ".join(map(str.ljust, bar.label, widths)) for bar in bars]
    before = max(map(len, labels), default=0) + _GAP
    room = width - before - _GAP - max((len(bar.counts) for bar in bars), default=0)
    beside = room >= LEAST_BAR
    axis = TimelineAxis.of(bars, room if beside else max(width - 1, 1))  # an end of the line is for the axis
    lines = []
    for bar, label in zip(bars, labels, strict=True):
        if axis is None or not bar.ranges:
            lines.append(f"{label}{' ' * _GAP}{bar.counts}")
        elif beside:
            lines.append(f"{label}{' ' * _GAP}{axis.draw(bar, symbols)}{' ' * _GAP}{bar.counts}")
        else:
            lines += [f"{label}{' ' * _GAP}{bar.counts}", axis.draw(bar, symbols)]
    if axis is None:
        return lines
    some = f"{symbols.some[0]} to {symbols.some[-1]} some missing"
    return [
        *lines,
        f"{' ' * before * beside}{axis.ticks()}",
        "",
        f"{symbols.full} all there  {some}  {symbols.hole} none there  (blank: not begun yet, or over)",
        axis.scale(),
    ]


def svg(bars: Sequence[TimelineBar]) -> str:
    """The same picture as SVG: blue is there, light blue partly, red missing. O(cells + ranges)."""
    labels = [" ".join(bar.label) for bar in bars]
    left = CHARACTER * (max(map(len, labels), default=0) + _GAP)
    axis = TimelineAxis.of(bars, _SVG_CELLS)
    counts = CHARACTER * (max((len(bar.counts) for bar in bars), default=0) + _GAP)
    drawing = Drawing(left + _SVG_CELLS + counts, f"{plural(len(bars), 'timeline')}: {'; '.join(labels)}")
    for number, (bar, label) in enumerate(zip(bars, labels, strict=True)):
        top = number * LINE_HEIGHT
        drawing.text(0, top, label)
        drawing.text(left + _SVG_CELLS + CHARACTER, top, bar.counts)
        if axis:
            scale = _SVG_CELLS / len(axis)
            for colour, start, stop in axis.cells_of(bar.period).stretches(Runs.of_ranges(bar.ranges).ahead):
                hint = f"{axis.text(axis.edges[start])} to {axis.text(axis.edges[stop])}"
                drawing.box(left + start * scale, top + 3, (stop - start) * scale, LINE_HEIGHT - 6, colour, hint)
    if axis:
        bottom = len(bars) * LINE_HEIGHT
        drawing.text(left, bottom, axis.text(axis.edges[0]))
        drawing.text(left + _SVG_CELLS, bottom, axis.text(axis.edges[-1]), "end")
    return str(drawing)
