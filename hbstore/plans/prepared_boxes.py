"""Prepared boxes: from the literals of a filter to the keys of its one scan.

The commonest filters are equalities with the leading columns, and one more or a range on the next. Nothing of their
plan depends on the literals but the bytes of its keys (see `hbstore.plans.boxes`), and those are put together here,
without a predicate in between. Whatever is unusual, such as a literal of another type or ends that contradict each
other, is left to the planner.

>>> from hbstore.filters.parser import parse_filter
>>> from hbstore.types import parse_type
>>> schema = KeySchema(b"", ("ds", "hour", "region"), tuple(map(parse_type, ("string", "int", "string"))))
>>> leaves = parse_filter("ds = 'a' and hour >= 3 and 5 > hour").children
>>> box = prepare_box(list(zip(leaves, (0, 1, 2))), schema)
>>> print(box.plan(["'b'", "7", "9"]))
scan ds = 'b' × hour ∈ [7, 9)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from hbstore.errors import HbstoreError
from hbstore.filters.frames import framed_literal
from hbstore.filters.tree import Between, Comparison, In, Operator, Text
from hbstore.keys import NULL_PARTITION, row_key
from hbstore.plans.literals import VALUES, Place, integer_place, place, text_place
from hbstore.plans.scan_plan import MultiScanPlan, ScanKind, ScanMarker, ScanPlan
from hbstore.plans.schema import KeySchema
from hbstore.types import ColumnType, IntegerType, StringType

PlaceOf: TypeAlias = Callable[[str], Place]
"""Where a token lies among the cells of a column; ValueError where that is not for us to say."""
Bound: TypeAlias = tuple[PlaceOf, int, int]
"""An end of a range: a place, the number of its token, and whether it is the point before (0) or behind it (1)."""

_AT, _AFTER = 0, 1
_LOW: Final = {Operator.EQ: _AT, Operator.GE: _AT, Operator.GT: _AFTER}
_HIGH: Final = {Operator.EQ: _AFTER, Operator.LE: _AFTER, Operator.LT: _AT}
_MAX_DIGITS: Final = 18
"""So many fit 64 bits."""


@dataclass(frozen=True, slots=True)
class PreparedBox:
    """All boxes of one frame on one table.

    Attributes:
        schema: the table.
        points: for each of the leading columns, where its one value is, and the number of its token.
        lows: what the range on the column behind them begins with: the last of these.
        highs: what it ends with: the first of these.
    """

    schema: KeySchema
    points: tuple[tuple[PlaceOf, int], ...]
    lows: tuple[Bound, ...]
    highs: tuple[Bound, ...]

    def plan(self, tokens: list[str]) -> MultiScanPlan | None:
        """The plan with these literals, as the planner makes it; None where it has to. O(columns)."""
        schema = self.schema
        try:
            cells = []
            for place_of, number in self.points:
                start, stop = place_of(tokens[number])
                if start >= stop:
                    return None
                cells.append(start)
            if len(cells) == len(schema.names):
                key = row_key(schema.prefix, cells)
                return _planned(ScanKind.GET, key, key + b"\x00", schema, len(cells))
            start, stop = VALUES
            for place_of, number, side in self.lows:
                start = max(start, place_of(tokens[number])[side])
            for place_of, number, side in self.highs:
                stop = min(stop, place_of(tokens[number])[side])
        except (HbstoreError, ValueError):
            return None
        if start >= stop:
            return None
        before = schema.prefix + b"".join(cells)
        return _planned(ScanKind.SCAN, before + start, before + stop, schema, len(cells))


def prepare_box(leaves: Sequence[tuple[Comparison | Between | In, int]], schema: KeySchema) -> PreparedBox | None:
    """The prepared box of an AND; None where it is no box.

    Args:
        leaves: what is ANDed, each with the number of its first literal.
        schema: the table.
    """
    by_column: dict[int, list[tuple[Comparison | Between, int]]] = {}
    for leaf, number in leaves:
        if isinstance(leaf, In) or (leaf.negated if isinstance(leaf, Between) else leaf.operator is Operator.NE):
            return None
        by_column.setdefault(schema.column(leaf.column), []).append((leaf, number))
    last = max(by_column)
    keys = last + 1 == len(schema.names)  # a range there may be a few gets, and a get on its own may be dear
    if len(by_column) != last + 1 or (keys and not last):
        return None
    points = []
    for column in range(last + 1 if keys else last):
        leaf, number = by_column[column][0]
        if len(by_column[column]) > 1 or isinstance(leaf, Between) or leaf.operator is not Operator.EQ:
            return None
        points.append((_place_of(leaf.column, schema.types[column]), number))
    if keys:
        return PreparedBox(schema, tuple(points), (), ())
    lows, highs = _bounds(by_column[last], schema.types[last])
    return PreparedBox(schema, tuple(points), lows, highs)


def _bounds(
    leaves: list[tuple[Comparison | Between, int]], kind: ColumnType
) -> tuple[tuple[Bound, ...], tuple[Bound, ...]]:
    """What a range begins with, and what it ends with."""
    lows: list[Bound] = []
    highs: list[Bound] = []
    for leaf, number in leaves:
        place_of = _place_of(leaf.column, kind)
        if isinstance(leaf, Between):
            lows.append((place_of, number, _AT))
            highs.append((place_of, number + 1, _AFTER))
            continue
        if leaf.operator in _LOW:
            lows.append((place_of, number, _LOW[leaf.operator]))
        if leaf.operator in _HIGH:
            highs.append((place_of, number, _HIGH[leaf.operator]))
    return tuple(lows), tuple(highs)


def _planned(kind: ScanKind, start: bytes, stop: bytes, schema: KeySchema, column: int) -> MultiScanPlan:
    return MultiScanPlan((ScanPlan(kind, ScanMarker(start), ScanMarker(stop), None, schema, column),), schema)


def _place_of(name: str, kind: ColumnType) -> PlaceOf:
    """Places of tokens on a column, by the shortest way for the usual types."""
    if isinstance(kind, IntegerType):
        return _integer
    if isinstance(kind, StringType):
        return _text

    def other(token: str) -> Place:
        literal = framed_literal(token)
        if type(literal) is Text and literal.value == NULL_PARTITION:
            raise ValueError("no value")
        return place(name, kind, literal)

    return other


def _integer(token: str) -> Place:
    digits = token[1:-1] if token[0] in "'\"" else token
    if len(digits) > _MAX_DIGITS or not (digits.isascii() and digits.isdigit()):
        raise ValueError("no small number")
    return integer_place(int(digits))


def _text(token: str) -> Place:
    text = token[1:-1]
    if token[0] not in "'\"" or text == NULL_PARTITION or not text.isascii():
        raise ValueError("no plain text")
    return text_place(text)
