"""A plan as a picture: the line of all row keys, the ranges that are read, and what each scan costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hbstore.pictures.drawing import CHARACTER, FAINT, FULL, LINE_HEIGHT, PARTLY, Colour, Drawing
from hbstore.texts.wording import clipped, plural

_WIDTH: Final = 760
_LISTED: Final = 12
"""Scans that are written out below the line."""
_TEXT: Final = int(_WIDTH // CHARACTER) - 4


@dataclass(frozen=True, slots=True)
class DrawnScan:
    """A scan to be drawn.

    Attributes:
        text: kind, range and residual.
        one_key: whether it reads one row by its key.
        checks: whether its rows are checked before they are returned.
        cost: rows read, rows returned and seconds, where that was measured.
    """

    text: str
    one_key: bool
    checks: bool
    cost: tuple[int, int, float] | None = None

    @property
    def colour(self) -> Colour:
        """Dark where all rows of the range are returned."""
        return PARTLY if self.checks else FULL


def svg(scans: Sequence[DrawnScan], selected: tuple[int, int] | None = None) -> str:
    """A plan as SVG. O(scans).

    The upper line is the table's keys in their order, not to scale: dark ranges are read and all their rows returned;
    of light ones the rows are read and checked. Below are the first scans with their ranges and residuals, and what
    they cost where that was measured.

    Args:
        scans: in key order.
        selected: how many partitions the plan selects, and how many the table has; at least one.
    """
    drawing = Drawing(_WIDTH, f"{plural(len(scans), 'scan')} over the row keys of a table")
    drawing.box(0, 8, _WIDTH, 2, FAINT)
    step = _WIDTH / (2 * len(scans) + 1)
    for at, scan in enumerate(scans):
        width = max(step / 4, 1) if scan.one_key else step
        drawing.box((2 * at + 1) * step, 2, width, 14, scan.colour, f"{at + 1}. {scan.text}")
    top = LINE_HEIGHT + 4.0
    for at, scan in enumerate(scans[:_LISTED]):
        drawing.box(0, top + 4, 10, 10, scan.colour)
        drawing.text(16, top, clipped(f"{at + 1}. {scan.text}", _TEXT))
        top += LINE_HEIGHT
        if scan.cost is not None:
            _draw_cost(drawing, top, *scan.cost)
            top += LINE_HEIGHT
    if len(scans) > _LISTED:
        drawing.text(16, top, f"… {len(scans) - _LISTED:,} more")
        top += LINE_HEIGHT
    if not scans:
        drawing.text(16, top, "nothing is read: no partition can match")
        top += LINE_HEIGHT
    if selected is not None:
        kept, partitions = selected
        drawing.box(16, top + 3, 300, 12, FAINT)
        drawing.box(16, top + 3, 300 * kept / partitions, 12, FULL)
        drawing.text(326, top, f"{kept:,} of {plural(partitions, 'partition')} selected")
    return str(drawing)


def _draw_cost(drawing: Drawing, top: float, read: int, returned: int, seconds: float) -> None:
    """How many rows a scan read, and how many of them it returned."""
    if read:
        drawing.box(16, top + 3, 120, 10, PARTLY)
        drawing.box(16, top + 3, 120 * returned / read, 10, FULL)
    drawing.text(146, top, f"{plural(read, 'row')} read, {returned:,} returned, {seconds * 1e3:.2f} ms")
