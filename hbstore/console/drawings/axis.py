"""Axis: where the values of a column stand from left to right, and which of them are written there."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from hbstore.console.plans.sampled_values import SampledValues
from hbstore.keys.row_key import TAG_END, TAG_NULL, TAG_TEXT, TAG_VALUE, after_cell, cell_text, is_cell, value_part
from hbstore.keys.types import ColumnType
from hbstore.pictures.drawing import CHARACTER
from hbstore.texts.wording import clipped

_SPARE: Final = 14
"""Pixels at both ends for what is before the first value and behind the last."""

_SPARSE: Final = 8
"""How many times wider than its values a line is that has them at equal distances, not to scale."""

_LONGEST: Final = 20
"""Characters of a value below the line."""


@dataclass(frozen=True, slots=True)
class ColumnAxis:
    """Places of a column's cells on a line.

    Attributes:
        type: of the column.
        left: where it begins, in pixels.
        width: how wide it is.
        cells: the values that it shows, in order.
        low: the number of the first; None: values stand at equal distances.
        high: the number behind the last.
    """

    type: ColumnType
    left: float
    width: float
    cells: tuple[bytes, ...]
    low: int | None
    high: int

    @staticmethod
    def of(
        column_type: ColumnType, left: float, width: float, sampled: SampledValues, also: Iterable[bytes]
    ) -> ColumnAxis:
        """The axis of a column.

        Args:
            column_type: its type.
            left: where it begins.
            width: how wide it is.
            sampled: values that there are.
            also: cells that are to be shown, too, such as those that a plan asks for.
        """
        cells = sorted({value_part(column_type, cell) for cell in (*sampled.cells, *also)})
        values = [cell for cell in cells if cell[:1] == TAG_VALUE]
        if column_type.width is None or not values:
            return ColumnAxis(column_type, left, width, tuple(cells), None, 0)
        low, high = _number(values[0], column_type), _number(values[-1], column_type) + 1
        if sampled.complete and high - low > _SPARSE * len(values):
            return ColumnAxis(column_type, left, width, tuple(cells), None, 0)
        return ColumnAxis(column_type, left, width, tuple(cells), low, high)

    def x(self, place: bytes) -> float:
        """Where a cell begins, or a place between cells is."""
        if place <= TAG_NULL:
            return self.left
        if place >= TAG_END:
            return self.left + self.width
        inner, width = self.left + _SPARE, self.width - 2 * _SPARE
        if self.low is None:
            return inner + width * bisect_left(self.cells, place) / max(len(self.cells), 1)
        number = -1 if len(place) == 1 else _number(place, self.type)
        if place >= TAG_TEXT or number > self.high:
            return inner + width + (0 if place >= TAG_TEXT else _SPARE / 2)
        return inner + (width * (number - self.low) / (self.high - self.low) if number >= self.low else -_SPARE / 2)

    def labels(self) -> Iterator[tuple[float, str]]:
        """Values that are really there, with the middles of their places, so that their texts do not touch."""
        free = 0.0
        texts = [clipped(text(cell, self.type), _LONGEST) for cell in self.cells]
        longest = max(map(len, texts), default=0) * CHARACTER + 14
        step = max(1, -(-len(texts) * int(longest) // max(int(self.width), 1)))
        for at in range(0, len(texts), step):
            cell = self.cells[at]
            middle = (self.x(cell) + self.x(after_cell(self.type, cell))) / 2
            half = len(texts[at]) * CHARACTER / 2
            if middle - half >= free:
                yield middle, texts[at]
                free = middle + half + CHARACTER


def text(cell: bytes, column_type: ColumnType) -> str:
    """A cell's value without quotes."""
    if cell == TAG_NULL:
        return "null"
    try:
        return cell_text(column_type, cell)
    except (ValueError, OverflowError):  # the place behind a type's last value is no value itself
        return "∞"


def whole_cells(places: Iterable[bytes], column_type: ColumnType) -> list[bytes]:
    """Those of some places that are values."""
    return [place for place in places if place[:1] == TAG_VALUE and is_cell(place, column_type)]


def _number(place: bytes, column_type: ColumnType) -> int:
    width = column_type.width or 0
    return int.from_bytes(place[1 : width + 1].ljust(width, b"\0"), "big")


def pixels(spans: Iterable[tuple[float, float]], least: float = 1) -> Sequence[tuple[float, float]]:
    """Spans from left to right as they are drawn: what touches or overlaps at the resolution of the screen is one.

    Args:
        spans: left and right ends, sorted.
        least: how wide each is at least.

    >>> pixels([(0, 0.1), (0.5, 0.7), (10, 20)])
    [(0, 1), (10, 20)]
    """
    drawn: list[tuple[float, float]] = []
    for left, right in spans:
        end = max(right, left + least)
        if drawn and left <= drawn[-1][1] + 0.25:
            drawn[-1] = (drawn[-1][0], max(end if right - left >= least else right, drawn[-1][1]))
        else:
            drawn.append((left, end))
    return drawn
