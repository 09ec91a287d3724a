"""Charts of results: lines over time, and bars."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, TypeGuard

from hbstore.console.drawings.chart_axes import NumberAxis, exact_time, time_labels
from hbstore.pictures.drawing import CHARACTER, FAINT, LINE_HEIGHT, Colour, Drawing
from hbstore.texts.wording import clipped, plural

SERIES: Final = (
    Colour("series1", "#0072b2"),
    Colour("series2", "#d55e00"),
    Colour("series3", "#007a5a"),
    Colour("series4", "#9a4d86"),
    Colour("series5", "#8a6d00"),
    Colour("series6", "#444b52"),
)
"""Of lines, in their order. Who sees no colours tells them by their dashes, which the style sheet has, and by names."""

_AXIS: Final = Colour("axis", "#888")
_WIDE: Final = 700
"""Pixels from which on lines have their names beside them."""

_PLOT: Final = 280
"""Height of the lines' picture."""

_PANEL: Final = 160
"""Height of each picture where lines of other sizes have one of their own."""

_BETWEEN: Final = 16
"""Pixels between two of them."""

_ALIKE: Final = 10
"""How many times the size of the smallest line's values those of the largest may be, under one axis."""

_MARKED: Final = 200
"""Points at most that are marked, each with its time and value as a hint."""

_LABEL: Final = 90
"""Pixels for the label of a time."""

_NAME: Final = 22
"""Characters of a name beside a line."""

_ROW: Final = 24
"""Height of a bar with its room."""


@dataclass(frozen=True, slots=True)
class Series:
    """A line.

    Attributes:
        name: of it.
        values: at each time; None, NaN and infinities leave a gap.
    """

    name: str
    values: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class ChartBar:
    """A bar.

    Attributes:
        name: whose value it is.
        text: the value as it is written.
        value: None, NaN and infinities have no bar.
    """

    name: str
    text: str
    value: float | None


def is_drawn(value: float | None) -> TypeGuard[float]:
    """Whether a value has a place in a picture."""
    return value is not None and math.isfinite(value)


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where times and values are in a picture of lines.

    Attributes:
        times: the first and the last.
        axis: of values.
        left: where the first time is, in pixels.
        right: where the last one is.
        top: where the highest value is.
        height: from there to the lowest.
    """

    times: tuple[int, int]
    axis: NumberAxis
    left: float
    right: float
    top: float
    height: float

    @property
    def bottom(self) -> float:
        """Where the lowest value is."""
        return self.top + self.height

    def across(self, time: int) -> float:
        """Where a time is."""
        return self.places([(time, 0.0)])[0][0]

    def places(self, points: Sequence[tuple[int, float]]) -> list[tuple[float, float]]:
        """Where times with values are."""
        first, last = self.times
        span, left, width = max(last - first, 1), self.left, self.right - self.left
        middle = width / 2 if first == last else 0.0
        bottom, shares = self.bottom, self.axis.shares(value for _, value in points)
        return [
            (left + middle + (time - first) / span * width, bottom - share * self.height)
            for (time, _), share in zip(points, shares, strict=True)
        ]


def line_chart(times: Sequence[int], series: Sequence[Series], width: int, what: str) -> Drawing:
    """Lines over time. However many points there are, no more than four of a line are drawn in a column of pixels.

    Lines of much smaller values than others, which would be flat under the same axis, have a picture below with an axis
    of their own.

    Args:
        times: in order, in microseconds since 1970.
        series: at most as many as there are colours, with at least one value that can be drawn.
        width: of the picture, in pixels.
        what: it shows, as its title begins.
    """
    drawn = [value for line in series for value in line.values if is_drawn(value)]
    groups = _alike(series)
    axes = [_axis([series[at] for at in group], 5 if len(groups) == 1 else 3) for group in groups]
    left = max(len(text) for axis in axes for _, text in axis.labels()) * CHARACTER + 12
    names = [clipped(line.name, _NAME) for line in series]
    is_wide = width >= _WIDE
    right = width - (max(map(len, names)) * CHARACTER + 34 if is_wide else 10)
    picture = Drawing(width, f"{what}: {_said(times, series, drawn)}", styled=False)
    top = _legend(picture, names, left, width) if len(series) > 1 else 8.0
    height = _PLOT if len(groups) == 1 else _PANEL
    for group, axis in zip(groups, axes, strict=True):
        frame = _Frame((times[0], times[-1]), axis, left, right, top, height)
        _axes(picture, frame, with_times=group is groups[-1])
        ends = []
        for at in group:
            runs = list(_runs(times, series[at].values))
            for run in runs:
                _line(picture, frame, run, SERIES[at], names[at] if len(times) * len(series) <= _MARKED else None)
            if runs:
                ends.append((frame.places(runs[-1][-1:])[0][1], names[at], SERIES[at]))
        if is_wide:
            _names_beside(picture, ends, right + 8, frame.bottom)
        top = frame.bottom + _BETWEEN
    return picture


def _alike(series: Sequence[Series]) -> list[list[int]]:
    """Which lines stand under one axis: those whose values are of about one size. The groups and the lines in order."""
    sizes = [max((abs(value) for value in line.values if is_drawn(value)), default=0.0) for line in series]
    groups: list[list[int]] = []
    least = math.inf
    for at in sorted(range(len(series)), key=lambda at: -sizes[at]):
        if groups and (sizes[at] >= least or not sizes[at]):  # a line of zeros is flat under any axis
            groups[-1].append(at)
        else:
            groups.append([at])
            least = sizes[at] / _ALIKE
    return sorted(map(sorted, groups))


def _axis(series: Sequence[Series], ticks: int) -> NumberAxis:
    values = [value for line in series for value in line.values if is_drawn(value)] or [0.0]
    return NumberAxis.of(min(values), max(values), ticks)


def bar_chart(bars: Sequence[ChartBar], width: int, what: str) -> Drawing:
    """A bar for each name, below each other: names, values as texts, bars from zero on.

    Args:
        bars: in their order, at least one.
        width: of the picture, in pixels.
        what: it shows, as its title begins.
    """
    most = max(8, int(width * 0.35 / CHARACTER))
    names = [clipped(bar.name, most) for bar in bars]
    texts = [clipped(bar.text, 20 if width >= _WIDE else 12) for bar in bars]
    values = [bar.value for bar in bars if is_drawn(bar.value)]
    axis = NumberAxis.of(min([0.0, *values]), max([0.0, *values]), 5)
    name_end = max(map(len, names)) * CHARACTER
    left = name_end + max(map(len, texts)) * CHARACTER + 28
    across = width - 4 - left
    zero = left + axis.share(0) * across
    said = f"{plural(len(bars), 'bar')}, from {min(values):,.6g} to {max(values):,.6g}" if values else "no values"
    picture = Drawing(width, f"{what}: {said}", styled=False)
    for number, (bar, name, text) in enumerate(zip(bars, names, texts, strict=True)):
        y = 4 + number * _ROW
        picture.text(0, y, name)
        picture.text(left - 12, y, text, "end")
        value = bar.value
        if is_drawn(value):
            end = left + axis.share(value) * across
            picture.box(min(zero, end), y + 1, max(abs(end - zero), 1), _ROW - 8, SERIES[0], f"{bar.name}: {bar.text}")
    picture.line([(zero, 0), (zero, 4 + len(bars) * _ROW)], _AXIS)
    return picture


def _said(times: Sequence[int], series: Sequence[Series], drawn: Sequence[float]) -> str:
    """What a chart shows, for those who do not see it."""
    names = ", ".join(clipped(one.name, 60) for one in series)
    return (
        f"{names}; {plural(len(times), 'time')} from {exact_time(times[0])} to {exact_time(times[-1])}, "
        f"values from {min(drawn):,.6g} to {max(drawn):,.6g}"
    )


def _legend(picture: Drawing, names: Sequence[str], left: float, width: float) -> float:
    """The lines' names above the picture; where that begins."""
    x, y = left, 0.0
    for name, colour in zip(names, SERIES, strict=False):
        room = len(name) * CHARACTER + 46
        if x + room > width and x > left:
            x, y = left, y + LINE_HEIGHT
        picture.line([(x, y + 9), (x + 22, y + 9)], colour, 2)
        picture.text(x + 28, y, name)
        x += room
    return y + LINE_HEIGHT + 12


def _axes(picture: Drawing, frame: _Frame, *, with_times: bool) -> None:
    left, right, bottom = frame.left, frame.right, frame.bottom
    for share, text in frame.axis.labels():
        y = bottom - share * frame.height
        picture.line([(left, y), (right, y)], _AXIS if text == "0" else FAINT)
        picture.text(left - 8, y - 9, text, "end")
    picture.line([(left, bottom), (right, bottom)], _AXIS)
    if not with_times:
        return
    behind = 0.0
    for label in time_labels(*frame.times, max(2, int((right - left) / _LABEL))):
        x = frame.across(label.time)
        picture.line([(x, bottom), (x, bottom + 5)], _AXIS)
        picture.text(x, bottom + 7, label.text, "middle")
        half = len(label.below) * CHARACTER / 2
        if label.below and x - half >= behind:
            picture.text(max(x, half), bottom + 7 + LINE_HEIGHT, label.below, "middle")
            behind = x + half + CHARACTER


def _line(
    picture: Drawing, frame: _Frame, run: Sequence[tuple[int, float]], colour: Colour, marked: str | None
) -> None:
    """Points without a gap between them.

    Args:
        picture: in which.
        frame: where times and values are in it.
        run: the points.
        colour: of the line.
        marked: the name of the line, if its points are marked; None: they are not.
    """
    points = frame.places(run)
    if len(points) > 1:
        picture.line(_thinned(points) if len(points) > frame.right else points, colour, 2)
    if marked is not None:
        for (x, y), (time, value) in zip(points, run, strict=True):
            picture.box(x - 3, y - 3, 6, 6, colour, f"{exact_time(time)}  {marked}: {value:,.12g}")
    elif len(points) == 1:
        picture.box(points[0][0] - 1.5, points[0][1] - 1.5, 3, 3, colour)


def _names_beside(picture: Drawing, ends: Iterable[tuple[float, str, Colour]], x: float, bottom: float) -> None:
    """The names of lines beside their ends, none above another."""
    ordered = sorted(ends, key=lambda end: end[0])
    above = -float(LINE_HEIGHT)
    places = []
    for y, name, colour in ordered:
        above = max(y, above + LINE_HEIGHT)
        places.append((above, name, colour))
    too_low = max(0.0, places[-1][0] - bottom) if places else 0.0
    for y, name, colour in places:
        at = y - too_low
        picture.line([(x, at), (x + 12, at)], colour, 2)
        picture.text(x + 17, at - 9, name)


def _runs(times: Sequence[int], values: Sequence[float | None]) -> Iterator[list[tuple[int, float]]]:
    """The points of a line, as far as there is no gap between them."""
    run: list[tuple[int, float]] = []
    for time, value in zip(times, values, strict=True):
        if is_drawn(value):
            run.append((time, value))
        elif run:
            yield run
            run = []
    if run:
        yield run


def _thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """What is seen of points in order: of each column of pixels the first, the lowest, the highest and the last."""
    kept: list[tuple[float, float]] = []
    for _, column in groupby(points, key=lambda point: int(point[0])):
        some = list(column)
        heights = [y for _, y in some]
        places = {0, heights.index(min(heights)), heights.index(max(heights)), len(some) - 1}
        kept += (some[at] for at in sorted(places))
    return kept
