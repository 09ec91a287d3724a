r"""Predicates as SQL over the cell columns.

Ranges become comparisons of BLOBs, many of them a search tree of CASEs. What SQL cannot say, or says more slowly than
Python, calls the SQL function ``cell_test(number, cell, ...)``, which runs the test of that number. Either way the
condition selects exactly the rows that `predicate.matcher` does; a cell that a row lacks is empty.

>>> condition(CellIn(2, ((b"\x02a", b"\x02b"),)))
WhereCondition(sql='(k2 >= ? and k2 < ?)', parameters=(b'\x02a', b'\x02b'), tests=(), width=3)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from hbstore.rows.predicate import AllOf, CellIn, CellLike, Predicate, columns_of, fold, matcher
from hbstore.rows.ranges import Ranges, contains
from hbstore.rows.sqlite.like import IS_VALUE, LikeSql, Parameter, like_sql
from hbstore.texts.like import LikePattern

CellTest: TypeAlias = Callable[..., bool]
FIRST_COLUMNS: Final = 8
"""Cell columns that every store has; more are added when a row with more is written."""

MAX_RANGES: Final = 128
"""Ranges of one leaf in SQL. A tree of 128 takes 2 ms to prepare, growing with the square, and 0.25 µs a row; a test
in Python takes 0.7 µs a row whatever the number."""

MAX_TERMS: Final = 256
"""Comparisons of a whole condition in SQL; it bounds the depth of SQLite's expression tree (1,000) too."""

MAX_DEPTH: Final = 12
"""ANDs and ORs below each other in SQL. SQLite before 3.46 parses with a stack of 100, of which a level takes 3 and
the CASEs of a leaf up to 30."""


@dataclass(frozen=True, slots=True)
class WhereCondition:
    """A WHERE condition.

    Attributes:
        sql: the text, the same for predicates of the same shape, so that SQLite finds it prepared.
        parameters: what is bound to its question marks.
        tests: what ``cell_test`` runs, by number.
        width: how many cell columns the predicate reads up to.
    """

    sql: str
    parameters: tuple[Parameter, ...]
    tests: tuple[CellTest, ...]
    width: int


def condition(predicate: Predicate, columns: int = FIRST_COLUMNS) -> WhereCondition:
    """The condition that holds for the same rows as a predicate.

    Args:
        predicate: any tree, of any depth and size.
        columns: how many cell columns the table has; cells beyond are empty.
    """
    writer = _Writer(columns)
    children = predicate.children if isinstance(predicate, AllOf) else (predicate,)
    pieces: list[_Piece] = []
    late: list[Predicate] = []
    budget = MAX_TERMS
    for child in children:
        depth, terms = fold(child, _leaf_extent, _node_extent, _node_extent)
        if depth <= MAX_DEPTH and terms <= budget:
            budget -= terms
            pieces.append(fold(child, writer.leaf, writer.every, writer.some))
        else:
            late.append(child)
    if late:
        pieces.append(writer.whole(AllOf(tuple(late))))
    sql, parameters = writer.every(pieces)
    width = max(columns_of(predicate), default=-1) + 1
    return WhereCondition(sql, parameters, tuple(writer.tests), width)


_Piece: TypeAlias = tuple[str, tuple[Parameter, ...]]
_LIKE_TERMS: Final = 4


def _leaf_extent(leaf: CellIn | CellLike) -> tuple[int, int]:
    """Depth and comparisons of a leaf in SQL."""
    if isinstance(leaf, CellLike):
        return 1, _LIKE_TERMS + (len(leaf.pattern.parts) if isinstance(leaf.pattern, LikePattern) else 0)
    return 1, len(leaf.ranges) if len(leaf.ranges) <= MAX_RANGES else 1


def _node_extent(children: list[tuple[int, int]]) -> tuple[int, int]:
    return 1 + max((depth for depth, _ in children), default=0), sum(terms for _, terms in children)


class _Writer:
    """Writes the pieces of one condition and collects its tests."""

    def __init__(self, columns: int) -> None:
        self.tests: list[CellTest] = []
        self._columns = columns

    def leaf(self, leaf: CellIn | CellLike) -> _Piece:
        cell = self._cell(leaf.column)
        if isinstance(leaf, CellIn):
            return self._ranges(leaf.ranges, cell)
        return self._like(leaf, cell)

    def every(self, pieces: list[_Piece]) -> _Piece:
        return _joined(pieces, " and ", "1")

    def some(self, pieces: list[_Piece]) -> _Piece:
        return _joined(pieces, " or ", "0")

    def whole(self, predicate: Predicate) -> _Piece:
        """Tests all cells that a tree reads at once, where the tree is too much for SQL."""
        columns = sorted(columns_of(predicate))
        matches = matcher(predicate)
        width = columns[-1] + 1

        def test(*cells: bytes) -> bool:
            row = [b""] * width
            for column, cell in zip(columns, cells, strict=True):
                row[column] = cell
            return matches(row)

        return self._test(test, *(self._cell(column) for column in columns))

    def _cell(self, column: int) -> str:
        return f"k{column}" if column < self._columns else "x''"

    def _test(self, test: CellTest, *cells: str) -> _Piece:
        self.tests.append(test)
        shown = "".join(f", coalesce({cell}, x'')" for cell in cells)
        return f"cell_test({len(self.tests) - 1}{shown})", ()

    def _ranges(self, ranges: Ranges, cell: str) -> _Piece:
        if not ranges:
            return "0", ()
        if len(ranges) > MAX_RANGES:
            return self._test(lambda found: contains(ranges, found), cell)
        if not ranges[0][0]:  # only such a range holds the empty cell of a row that lacks it
            cell = f"coalesce({cell}, x'')"
        return _search_tree(cell, len(ranges)), _search_parameters(ranges)

    def _like(self, like: CellLike, cell: str) -> _Piece:
        as_sql = None if like.type.width is not None else _text_like(like, cell)
        is_value = IS_VALUE.format(cell)
        if as_sql is None or (like.negated and not as_sql.exact):
            sql, _ = self._test(like.matches, cell)
            return f"({is_value} and {sql})", ()
        if like.negated:
            return f"({is_value} and not {as_sql.sql})", as_sql.parameters
        if as_sql.exact:
            return as_sql.sql, as_sql.parameters
        sql, _ = self._test(like.matches, cell)
        return f"({as_sql.sql} and {sql})", as_sql.parameters


def _text_like(like: CellLike, cell: str) -> LikeSql | None:
    if not isinstance(like.pattern, LikePattern):
        return None
    try:
        return like_sql(like.pattern, cell)
    except UnicodeEncodeError:  # a lone surrogate: no stored text has one, but others may match when negated
        return None


def _joined(pieces: list[_Piece], word: str, none: str) -> _Piece:
    if not pieces:
        return none, ()
    if len(pieces) == 1:
        return pieces[0]
    parameters = tuple(parameter for piece in pieces for parameter in piece[1])
    return f"({word.join(piece[0] for piece in pieces)})", parameters


@lru_cache(maxsize=512)
def _search_tree(cell: str, size: int) -> str:
    """Whether a cell lies in one of ``size`` sorted ranges, by bisection: O(log size) comparisons."""
    if size == 1:
        return f"({cell} >= ? and {cell} < ?)"
    half = size // 2
    below, above = _search_tree(cell, half), _search_tree(cell, size - half)
    return f"case when {cell} < ? then {below} else {above} end"


def _search_parameters(ranges: Ranges) -> tuple[bytes, ...]:
    if len(ranges) == 1:
        return ranges[0]
    half = len(ranges) // 2
    return (ranges[half][0], *_search_parameters(ranges[:half]), *_search_parameters(ranges[half:]))
