"""A table's partitions as a heat map: the first column from left to right, the second from top to bottom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from hbstore.console.drawings.axis import text
from hbstore.drawing import Drawing
from hbstore.heat_map import draw_heat_map
from hbstore.plans.partition_grid import Bin, PartitionGrid
from hbstore.plans.schema import KeySchema
from hbstore.types import ColumnType
from hbstore.wording import clipped, plural

WIDTH: Final = 1180
_LABEL: Final = 22
_VALUE: Final = 14
"""Characters of a value."""


def grid_drawing(grid: PartitionGrid, schema: KeySchema, address: Callable[[int, int], str | None]) -> Drawing:
    """The drawing. O(cells).

    Args:
        grid: numbers of partitions, at least one.
        schema: the table.
        address: where the cell of two bins leads to; None: nowhere.
    """
    drawing = Drawing(WIDTH, f"{plural(sum(grid.counts.values()), 'partition')} by {schema.names[0]}", styled=False)
    across = [_name(one, schema.names[0], schema.types[0], whole=grid.complete) for one in grid.across]
    marks = [clipped(text((one.cells or (one.start,))[0], schema.types[0]), _VALUE) for one in grid.across]
    if len(schema.names) > 1:
        down = [_name(one, schema.names[1], schema.types[1], whole=True) for one in grid.down]
    else:
        down = [schema.names[0]]
    draw_heat_map(drawing, WIDTH, 0, grid.counts, across, down, _LABEL, marks, address)
    return drawing


def _name(values: Bin, column: str, column_type: ColumnType, *, whole: bool) -> str:
    """The values of a bin: the only one, or the first and the last."""
    cells = values.cells or (values.start,)
    first, last = (clipped(text(cells[at], column_type), _VALUE) for at in (0, -1))
    return f"{column}={first}" if first == last or not whole else f"{column}={first}–{last}"
