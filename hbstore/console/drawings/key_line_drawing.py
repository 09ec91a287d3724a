"""A plan over the key lines of its table's first columns: what is read, what is checked, what is skipped.

Each column has an axis with values that are really there. Below the line of the first column stand lines of the second,
one for each set of values that have the same read below them, and so on. However many scans there are, a line has no
more boxes than pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from hbstore.console.drawings.axis import ColumnAxis, pixels, text, whole_cells
from hbstore.console.plans.key_line import KeyStretch, Lane, Reading
from hbstore.console.plans.sampled_values import SampledValues
from hbstore.keys.row_key import TAG_END, TAG_NULL, TAG_TEXT, TAG_VALUE, after_cell
from hbstore.pictures.drawing import CHARACTER, FAINT, FULL, LINE_HEIGHT, PARTLY, Colour, Drawing
from hbstore.plans.notation import bound_notation
from hbstore.plans.schema import KeySchema
from hbstore.texts.wording import clipped, plural

WIDTH: Final = 1180
_GUTTER: Final = 240
"""Pixels on the left for names and labels."""
_RIGHT: Final = 36
"""Pixels on the right for half of the last value."""
_LABEL: Final = int((_GUTTER - 12) // CHARACTER)
_BAR: Final = 18
_LANE: Final = 30
_TICK: Final = 4
_POINT: Final = 4
_HOP: Final = 9
"""Pixels between two values from which on the hop between them is drawn."""
_LINKED: Final = 60
"""Stretches of a line that are links of their own."""

_POINTS: Final = Colour("point", "#b5651d")
_SKIPS: Final = Colour("skips", "#b5651d")
_BELOW: Final = Colour("below", "#8899aa")
_COLOURS: Final = {
    Reading.ALL: FULL,
    Reading.CHECKED: PARTLY,
    Reading.KEY: _POINTS,
    Reading.BELOW: _BELOW,
    Reading.SKIPPED: _SKIPS,
}
_WORDS: Final = {
    Reading.ALL: "all rows are read and returned",
    Reading.CHECKED: "all rows are read and checked",
    Reading.KEY: "one row is read by its key",
    Reading.BELOW: "some rows below this value are read",
    Reading.SKIPPED: "rows are sought from one value to the next",
}


def key_line_drawing(
    columns: Sequence[tuple[Sequence[Lane], int]], sampled: Sequence[SampledValues], schema: KeySchema, scans: int
) -> Drawing:
    """The drawing. O(stretches).

    Args:
        columns: of each column its lanes, and how many more there are.
        sampled: of each column some values that there are.
        schema: the table.
        scans: how many scans the plan has.
    """
    drawing = Drawing(WIDTH, f"{plural(scans, 'scan')} on the line of the keys of a table", styled=False)
    top = 0.0
    axes: list[ColumnAxis] = []
    tops: list[list[float]] = []
    for at, ((lanes, more), values) in enumerate(zip(columns, sampled, strict=True)):
        column_type = schema.types[at]
        shown = [place for lane in lanes for stretch in lane.line for place in (stretch.start, stretch.stop)]
        few = len(shown) <= 2 * _LINKED
        also = whole_cells(shown, column_type) if few or not values.cells else ()
        axis = ColumnAxis.of(column_type, _GUTTER, WIDTH - _GUTTER - _RIGHT, values, _near(also, values))
        drawing.text(0, top, clipped(f"{schema.names[at]} {column_type.name}", _LABEL))
        if at:
            top += LINE_HEIGHT
        else:
            top += 4
        tops.append([])
        for number, lane in enumerate(lanes):
            tops[-1].append(top)
            if lane.label:
                drawing.text(_GUTTER - 10, top + 1, clipped(lane.label, _LABEL), "end")
            _draw_lane(drawing, axis, lane, top)
            # Only where its lines would not cross another lane of the column above.
            if at and len(lanes) == 1 and all(one + 1 == len(tops[-2]) for one, _ in lane.above):
                _draw_funnel(drawing, axes[-1], lane, tops[-2], top)
            top += _LANE if number + 1 < len(lanes) else _BAR + 4
        _draw_axis(drawing, axis, values, top)
        top += LINE_HEIGHT + _TICK + 2
        if more:
            drawing.text(0, top - LINE_HEIGHT, f"… {more:,} more")
        top += 16
        axes.append(axis)
    return drawing


def _near(cells: Sequence[bytes], values: SampledValues) -> list[bytes]:
    """Those of some cells that stand among the values that there are; far away ones would squeeze these."""
    if not values.cells:
        return list(cells)
    first, last = values.cells[0], values.cells[-1]
    return [cell for cell in cells if first <= cell <= last]


def _draw_lane(drawing: Drawing, axis: ColumnAxis, lane: Lane, top: float) -> None:
    """A line and what is read on it."""
    drawing.box(axis.left, top + _BAR / 2 - 1, axis.width, 2, FAINT)
    if len(lane.line) <= _LINKED:
        for stretch in lane.line:
            left, right = _ends(axis, stretch)
            with drawing.link(f"#scan-{stretch.scan + 1}", f"scan {stretch.scan + 1}: {_hint(axis, stretch)}"):
                _draw_stretch(drawing, axis, stretch, left, right, top)
        return
    for reading in Reading:
        spans = [_ends(axis, stretch) for stretch in lane.line if stretch.reading is reading]
        least, rise = (_POINT, 3) if reading is Reading.KEY else (1, 0)
        boxes = [(left, top - rise, right - left, _BAR + 2.0 * rise) for left, right in pixels(spans, least)]
        drawing.boxes(boxes, _COLOURS[reading])


def _ends(axis: ColumnAxis, stretch: KeyStretch) -> tuple[float, float]:
    left, right = axis.x(stretch.start), axis.x(stretch.stop)
    if stretch.reading is Reading.KEY:
        middle = (left + right) / 2
        return middle - _POINT / 2, middle + _POINT / 2
    return left, max(right, left + 2)


def _draw_stretch(
    drawing: Drawing, axis: ColumnAxis, stretch: KeyStretch, left: float, right: float, top: float
) -> None:
    hint = f"{_hint(axis, stretch)}: {_WORDS[stretch.reading]}"
    if stretch.reading is Reading.KEY:
        drawing.box(left, top - 3, _POINT, _BAR + 6, _POINTS, hint)
        return
    if stretch.reading is not Reading.SKIPPED:
        gap = 1 if right - left > _HOP else 0
        drawing.box(left, top, right - left - gap, _BAR, _COLOURS[stretch.reading], hint)
        return
    drawing.box(left, top, right - left, _BAR, FAINT, hint)
    places = [axis.x(cell) for cell in axis.cells if stretch.start <= cell < stretch.stop]
    combs = pixels([(place, place + 2) for place in places], 2)
    drawing.boxes([(place, top, until - place, float(_BAR)) for place, until in combs], _SKIPS)
    for one, two in pairwise(places):
        if two - one >= _HOP:
            bent = [(one + 1, top + 3), ((one + two) / 2, top - 4), (two, top + 3)]
            drawing.line(bent, _SKIPS)


def _hint(axis: ColumnAxis, stretch: KeyStretch) -> str:
    """A stretch in words."""
    low, high = stretch.start, stretch.stop
    if after_cell(axis.type, low) == high:
        return text(low, axis.type)
    first = "the first" if low in (TAG_NULL, TAG_VALUE, b"") else _place_text(low, axis)
    last = "the last" if high in (TAG_TEXT, TAG_END, b"") else _place_text(high, axis)
    return f"{first} to {last}"


def _place_text(place: bytes, axis: ColumnAxis) -> str:
    return bound_notation(place, axis.type)


def _draw_funnel(drawing: Drawing, above: ColumnAxis, lane: Lane, tops: Sequence[float], top: float) -> None:
    """Lines from the values whose line this is to the ends of it."""
    ends = [_ends(above, stretch) for _, stretch in lane.above]
    left, right = min(one for one, _ in ends), max(two for _, two in ends)
    start = tops[max(at for at, _ in lane.above)] + _BAR + 4
    drawing.line([(left, start), (_GUTTER, top - 2)], FAINT)
    drawing.line([(right, start), (WIDTH - _RIGHT, top - 2)], FAINT)


def _draw_axis(drawing: Drawing, axis: ColumnAxis, values: SampledValues, top: float) -> None:
    """Ticks where values are, and the texts of some."""
    spans = [(axis.x(cell), axis.x(cell) + 1) for cell in values.cells]
    drawing.boxes([(left, top, right - left, float(_TICK)) for left, right in pixels(spans)], FAINT)
    for middle, label in axis.labels():
        drawing.text(middle, top + _TICK, label, "middle")
    if not values.cells:
        drawing.text(axis.left, top + _TICK, "no values")
