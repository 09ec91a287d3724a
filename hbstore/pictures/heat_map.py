"""Heat maps: numbers in a grid of cells, the larger the darker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Final

from hbstore.pictures.drawing import CHARACTER, FULL, LINE_HEIGHT, Drawing
from hbstore.texts.wording import clipped, plural

_FAINTEST: Final = 0.25
_GAP: Final = 10
"""Pixels between two texts."""


def draw_heat_map(
    drawing: Drawing,
    width: float,
    top: float,
    counts: Mapping[tuple[int, int], int],
    across: Sequence[str],
    down: Sequence[str],
    label: int,
    marks: Sequence[str] = (),
    address: Callable[[int, int], str | None] = lambda _place, _line: None,
) -> None:
    """Draw numbers of partitions. O(cells).

    Args:
        drawing: where.
        width: of all of it.
        top: where it begins.
        counts: by the numbers of place and line; at least one.
        across: what stands at each place, such as ``ds=2013-01-01``.
        down: what stands in each line.
        label: characters of a line's name.
        marks: what is written below the places, as far as there is room; if not said, what stands there.
        address: where a cell leads to; None: nowhere.
    """
    left = CHARACTER * label
    step = (width - left) / len(across)
    most = max(counts.values())
    for line, text in enumerate(down):
        drawing.text(0, top + line * LINE_HEIGHT, clipped(text, label - 1))
    for (place, line), count in counts.items():
        hint = f"{across[place]}, {down[line]}: {plural(count, 'partition')}"
        opacity = 1.0 if count == most else _FAINTEST + (1 - _FAINTEST) * count / most
        box = left + place * step, top + line * LINE_HEIGHT + 1, max(step - 1, 1), LINE_HEIGHT - 2
        at = address(place, line)
        with nullcontext() if at is None else drawing.link(at, hint, tab=False):
            drawing.box(*box, FULL, hint, opacity)
    free, bottom = left, top + len(down) * LINE_HEIGHT
    *most_marks, last = marks or across
    end = width - len(last) * CHARACTER
    drawing.text(width, bottom + 2, last, "end")
    for place, text in enumerate(most_marks):
        x, room = left + place * step, len(text) * CHARACTER + _GAP
        if free <= x <= end - room:
            drawing.text(x, bottom + 2, text)
            free = x + room
