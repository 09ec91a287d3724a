"""Points: the single values in a range on a column's line.

>>> from hbstore.keys.types import parse_type
>>> hours, start, stop = parse_type("tinyint"), bytes.fromhex("028000000000000005"), bytes.fromhex("028000000000000007")
>>> is_point(hours, start, stop), possible_values(hours, start, stop)
(False, 2)
>>> [cell.hex() for cell in enumerate_values(hours, start, stop)]
['028000000000000005', '028000000000000006']
"""

from __future__ import annotations

from hbstore.keys.row_key import RESPELLED, TAG_VALUE, after_cell, is_cell, is_respelled
from hbstore.keys.types import BooleanType, ColumnType, DateType, IntegerType


def is_point(column_type: ColumnType, start: bytes, stop: bytes, *, respelled: bool = False) -> bool:
    r"""Whether a range on a line holds just one cell; where values are respelled, a value may have several.

    >>> from hbstore.keys.types import parse_type
    >>> truth, start, stop = parse_type("boolean"), b"\x02\x00", b"\x02\x01"
    >>> is_point(truth, start, stop), is_point(truth, start, stop, respelled=True)
    (True, False)
    """
    width = column_type.width
    if width is not None and len(start) == len(stop) == width + 1:
        if respelled and start[:1] == TAG_VALUE:
            return False
        if start[:-1] == stop[:-1]:
            return stop[-1] - start[-1] == 1
        return int.from_bytes(stop, "big") - int.from_bytes(start, "big") == 1
    if not is_cell(start, column_type):
        return False
    if stop == after_cell(column_type, start):
        return not (respelled and start[:1] == TAG_VALUE) or is_respelled(column_type, start)
    return stop == start + RESPELLED


def possible_cells(column_type: ColumnType, start: bytes, stop: bytes, *, respelled: bool) -> int | None:
    """How many cells there can be in a range; None where that is unbounded or not countable."""
    if respelled:
        return 1 if is_point(column_type, start, stop, respelled=True) else None
    return possible_values(column_type, start, stop)


def possible_values(column_type: ColumnType, start: bytes, stop: bytes) -> int | None:
    """How many values of the type lie in a range; None where that is unbounded or not countable."""
    if is_point(column_type, start, stop):
        return 1
    if not isinstance(column_type, IntegerType | DateType | BooleanType):
        return None
    size = 1 + column_type.width
    if len(start) != size or len(stop) != size or start[:1] != TAG_VALUE or stop[:1] != TAG_VALUE:
        return None
    return int.from_bytes(stop, "big") - int.from_bytes(start, "big")


def enumerate_values(column_type: ColumnType, start: bytes, stop: bytes) -> list[bytes]:
    """All cells in a range that `possible_cells` can count."""
    if stop == start + RESPELLED:
        return [start]
    cells = [start]
    while (following := after_cell(column_type, cells[-1])) != stop:
        cells.append(following)
    return cells
