"""Timelines under one axis: a lane for each, and units of time that are links.

    lake_sales   HOURLY  |██████▒▒██████|        blue is there, light blue partly, red missing
                 DAILY   |██████████████|
    Cover
    lake_sales   DAILY   |█████         |
    missing              |        ▓     |
                          2015-01  2015-02       each leads to the same page, of that month

All that lies within a unit is in its link. Where there is much, one path for each colour takes the place of the boxes
with hints; so no page of timelines becomes large.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from hbstore.console.drawings.axis import pixels
from hbstore.console.drawings.time_axis import AxisUnit, place, units_of
from hbstore.pictures.drawing import CHARACTER, FAINT, FULL, LINE_HEIGHT, MISSING, PARTLY, Colour, Drawing
from hbstore.texts.wording import clipped
from hbstore.timelines.picture import CellStretch, TimelineAxis

CELLS: Final = 800
"""Cells of a lane at most, a pixel each or more: so none is too small to be seen."""

_WIDTH: Final = 1_180

_NAME: Final = 28
_LABEL: Final = 20
"""Characters of names and labels at most."""

_BAR: Final = 12
_HINTED: Final = 400
"""Boxes with hints at most."""

_WORDS: Final = {FULL: "there", PARTLY: "some missing", MISSING: "missing"}


@dataclass(frozen=True, slots=True)
class TimelineLane:
    """A line of a drawing.

    Attributes:
        name: what it is of; empty: the same as the line above.
        label: what distinguishes it.
        stretches: the cells that are drawn alike, from the left.
        heading: what stands above it, where a group of lanes begins.
    """

    name: str
    label: str
    stretches: Sequence[CellStretch]
    heading: str | None = None


def timelines_drawing(
    axis: TimelineAxis, lanes: Sequence[TimelineLane], address: Callable[[int, int], str], title: str
) -> Drawing:
    """The drawing.

    Args:
        axis: the cells.
        lanes: from top to bottom.
        address: of the page that shows a range of moments.
        title: what is drawn, for those who do not see it.
    """
    labels = max((min(len(lane.label), _LABEL) for lane in lanes), default=0)
    left = CHARACTER * (max((min(len(lane.name), _NAME) for lane in lanes), default=0) + labels + 4)
    drawing = Drawing(_WIDTH, title, styled=False)
    scale = (_WIDTH - left) / len(axis)
    tops = list(_tops(lanes))
    bottom = tops[-1] + LINE_HEIGHT if tops else LINE_HEIGHT
    for lane, top in zip(lanes, tops, strict=True):
        if lane.heading is not None:
            drawing.text(0, top - LINE_HEIGHT - 2, lane.heading)
        if lane.name:
            drawing.text(0, top, clipped(lane.name, _NAME))
        drawing.text(left - CHARACTER, top, clipped(lane.label, _LABEL), "end")
        drawing.line([(left, top + LINE_HEIGHT / 2), (_WIDTH, top + LINE_HEIGHT / 2)], FAINT, 0.5)
    hinted = sum(len(lane.stretches) for lane in lanes) <= _HINTED
    units = [(unit, place(axis, unit.start), place(axis, unit.stop)) for unit in units_of(axis)]
    for _, begin, _ in units:  # below all lanes, so that none looks like a hole
        drawing.line([(left + begin * scale, 0), (left + begin * scale, bottom + LINE_HEIGHT)], FAINT)
    for unit, begin, end in units:
        x, width = left + begin * scale, (end - begin) * scale
        with drawing.link(address(unit.start, unit.stop), f"Zoom into {unit.text}"):
            drawing.box(x, 0, width, bottom + LINE_HEIGHT, FAINT, _hint(axis, unit), 0)
            _draw_within(drawing, axis, lanes, tops, (begin, end), (left, scale), hinted=hinted)
            if width > len(unit.text) * CHARACTER + 4:
                drawing.text(x + 4, bottom, unit.text)
    return drawing


def _tops(lanes: Sequence[TimelineLane]) -> Iterator[float]:
    top = 0.0
    for lane in lanes:
        if lane.heading is not None:
            top += LINE_HEIGHT * (1.5 if top else 1) + 4
        yield top
        top += LINE_HEIGHT


def _draw_within(
    drawing: Drawing,
    axis: TimelineAxis,
    lanes: Sequence[TimelineLane],
    tops: Sequence[float],
    within: tuple[float, float],
    placed: tuple[float, float],
    *,
    hinted: bool,
) -> None:
    """Draw what of all lanes lies between two places."""
    (begin, end), (left, scale) = within, placed
    boxes: dict[Colour, list[tuple[float, float, float, float]]] = {FULL: [], PARTLY: [], MISSING: []}
    for lane, top in zip(lanes, tops, strict=True):
        y = top + (LINE_HEIGHT - _BAR) / 2
        spans: dict[Colour, list[tuple[float, float]]] = {colour: [] for colour in boxes}
        for stretch in _between(lane.stretches, begin, end):
            x, right = left + max(stretch.start, begin) * scale, left + min(stretch.stop, end) * scale
            spans[stretch.colour].append((x, right))
            if stretch.colour is PARTLY:  # lies above what is full: then a hole does not cut that in two
                spans[FULL].append((x, right))
            if hinted:
                times = f"{axis.text(axis.edges[stretch.start])} to {axis.text(axis.edges[stretch.stop])}"
                what = " ".join(dict.fromkeys((lane.label, _WORDS[stretch.colour])))  # what is missing says so once
                drawing.box(x, y, right - x, _BAR, stretch.colour, f"{what}: {times}")
        for colour, some in spans.items():
            boxes[colour] += [(x, y, right - x, _BAR) for x, right in pixels(some, 0)]
    for colour, drawn in boxes.items() if not hinted else ():
        drawing.boxes(drawn, colour)


def _between(stretches: Sequence[CellStretch], begin: float, end: float) -> Iterator[CellStretch]:
    """The stretches that reach into a range of cells. O(log of all, and those)."""
    for at in range(bisect_right(stretches, begin, key=_stop), len(stretches)):
        if stretches[at].start >= end:
            return
        yield stretches[at]


def _stop(stretch: CellStretch) -> int:
    return stretch.stop


def _hint(axis: TimelineAxis, unit: AxisUnit) -> str:
    return f"{axis.text(unit.start)} to {axis.text(unit.stop)}"
