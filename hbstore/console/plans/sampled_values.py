"""Values that a column really has, from one end of its line to the other: a few, or all where they are few.

Rows can only be asked for the first key behind a place. So the last value is sought by ever larger steps and then ever
smaller ones, and what lies between the first and the last is halved. Each question is one seek.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

from hbstore.keys.row_key import RESPELLED, TAG_END, TAG_NULL, TAG_TEXT, TAG_VALUE, cell_at
from hbstore.keys.types import ColumnType
from hbstore.plans.schema import KeySchema
from hbstore.rows.interface import Rows

_WIDTH: Final = 8
"""Bytes of a text, behind what all have in common, that tell its place between two others."""

_NULLS: Final = 2
"""Cells that are looked at to see the first value: before it there may be the null partition."""


@dataclass(frozen=True, slots=True)
class SampledValues:
    """Some values of a column, in order.

    Attributes:
        cells: of the values, each in all its spellings, of nulls and of texts that are no value of the type.
        complete: whether these are all that there are.
    """

    cells: tuple[bytes, ...] = ()
    complete: bool = True


def sampled_values(
    rows: Rows, schema: KeySchema, leading: tuple[bytes, ...], most: int, expected: float | None
) -> SampledValues:
    """Values of the column behind some leading cells.

    Args:
        rows: where the table is.
        schema: the table.
        leading: the cells of the columns before.
        most: how many values at most; it takes up to 64 questions more to find the last of them.
        expected: how many there are, as far as that is known: more than that are not looked at one by one.
    """
    line = _Line(rows, schema, leading)
    first = line.at_or_behind(b"")
    if first is None:
        return SampledValues()
    cells = [first]
    while len(cells) < (most if expected is None or expected <= most else _NULLS):
        following = line.behind(cells[-1])
        if following is None:
            return SampledValues(tuple(cells))
        cells.append(following)
    values = [cell for cell in cells if cell[:1] == TAG_VALUE]
    if not values:
        return SampledValues(tuple(cells), complete=False)
    nulls = [cell for cell in cells if cell == TAG_NULL]
    text = line.at_or_behind(TAG_TEXT)
    return SampledValues((*nulls, *_spread(line, values[0], most), *([] if text is None else [text])), complete=False)


def _spread(line: _Line, first: bytes, most: int) -> list[bytes]:
    """Values from the first to the last: what lies between two of them is halved, again and again."""
    last = line.last(first)
    cells = {first, last}
    pending = deque([(first, last)])
    while pending and len(cells) < most:
        low, high = pending.popleft()
        following = low + RESPELLED
        place = max(_middle(low, high, line.type), following)
        if place >= high:
            continue
        cell = line.at_or_behind(place, high)
        if place > following:
            pending.append((low, place))
        if cell is not None:
            cells.add(cell)
            pending.append((cell, high))
    return sorted(cells)


class _Line:
    """The line of one column below some leading cells."""

    def __init__(self, rows: Rows, schema: KeySchema, leading: tuple[bytes, ...]) -> None:
        self._rows = rows
        self._base = schema.prefix + b"".join(leading)
        self._column = len(leading)
        self._columns = len(schema.names)
        self.type = schema.types[len(leading)]

    def at_or_behind(self, place: bytes, before: bytes = TAG_END) -> bytes | None:
        """The first cell at or behind a place."""
        key = self._rows.first_key(self._base + place, self._base + before)
        return None if key is None else cell_at(key, self._column, self._columns)

    def behind(self, cell: bytes) -> bytes | None:
        """The cell that follows one."""
        return self.at_or_behind(cell + RESPELLED)

    def last(self, first: bytes) -> bytes:
        """The last value at or behind one: steps that double until nothing is behind, then halves."""
        low, top = first, _end(self.type)
        step = 1
        high = None
        while high is None:
            place = _stepped(low, step, self.type)
            if place >= top:
                high = top
            elif (found := self.at_or_behind(place, TAG_TEXT)) is None:
                high = place
            else:
                low, step = found, step * 2
        return self._between(low, high)

    def _between(self, low: bytes, high: bytes) -> bytes:
        """The last value below a place, where one at or behind ``low`` is there."""
        while True:
            following = low + RESPELLED
            place = max(_middle(low, high, self.type), following)
            found = None if place >= high else self.at_or_behind(place, TAG_TEXT)
            if found is not None:
                low = found
            elif place <= following or place >= high:
                return low
            else:
                high = place


def _end(column_type: ColumnType) -> bytes:
    """A place behind all values."""
    return TAG_VALUE + b"\xff" * (_WIDTH if column_type.width is None else column_type.width)


def _stepped(cell: bytes, step: int, column_type: ColumnType) -> bytes:
    """A place so many values behind one; for texts, by their first bytes."""
    size = _WIDTH if column_type.width is None else column_type.width
    number = int.from_bytes(cell[1 : size + 1].ljust(size, b"\0"), "big")
    return TAG_VALUE + min(number + step, (1 << 8 * size) - 1).to_bytes(size, "big")


def _middle(low: bytes, high: bytes, column_type: ColumnType) -> bytes:
    """A place half way between two, by the first bytes in which they differ."""
    common = 0
    for one, two in zip(low, high, strict=False):
        if one != two:
            break
        common += 1
    numbers = [int.from_bytes(one[common : common + _WIDTH].ljust(_WIDTH, b"\0"), "big") for one in (low, high)]
    place = low[:common] + (sum(numbers) // 2).to_bytes(_WIDTH, "big")
    return place if column_type.width is None else place[: 1 + column_type.width].ljust(1 + column_type.width, b"\0")
