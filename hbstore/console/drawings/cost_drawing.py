"""What one way of reading costs, as a bar: seeks, point lookups, rows."""

from __future__ import annotations

from typing import Final

from hbstore.drawing import FULL, PARTLY, Colour, Drawing
from hbstore.plans.estimate import Estimate
from hbstore.rows.interface import Costs

WIDTH: Final = 200
_HEIGHT: Final = 14
_SEEKS: Final = Colour("point", "#b5651d")


def cost_drawing(estimate: Estimate, costs: Costs, most: float) -> Drawing:
    """The bar.

    Args:
        estimate: what is done, and how long that takes.
        costs: what each read costs.
        most: the seconds that are as long as the drawing is wide.
    """
    gets, rows = estimate.gets * costs.get, estimate.checked * costs.check
    seeks = max(estimate.seconds - gets - rows, 0.0)
    drawing = Drawing(WIDTH, f"{estimate.seconds * 1e3:.3g} ms", styled=False)
    scale = (WIDTH - 2) / most if most else 0.0
    left = 0.0
    for seconds, colour in ((seeks, _SEEKS), (gets, FULL), (rows, PARTLY)):
        if seconds:
            width = max(seconds * scale, 1.0)
            drawing.box(left, 1, width, _HEIGHT, colour)
            left += width
    return drawing
