"""Programs: how to build the tree of a filter from its tokens, whatever its columns, operators and literals are.

A program is to a filter what a prepared statement is to a query. It is flat and in postfix order: each step names the
tokens that it reads by their place, takes what it needs from a stack and leaves one tree there. So nothing recurses,
and a filter that differs from an earlier one in its values only is not parsed again.

    shape    c=s&cE(*)
    values   ds  >=  '2013-01-01'  and  hour  in  (  5, 6  )
    steps    comparison(column=0, operator=1, literal=2)   ->  ds >= '2013-01-01'
             contained(column=4, items=7)                  ->  ds >= '2013-01-01',  hour in (5, 6)
             Joint(And, 2)                                 ->  ds >= '2013-01-01' and hour in (5, 6)

The functions below make a condition of the places of its tokens, then of a filter's values and its LIKE dialect. A step
is such a function with the places filled in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from hbstore.errors import InvalidTimeRange, TimeRangeSyntaxError
from hbstore.filters.tree import (
    And,
    Between,
    Comparison,
    ExpressionTree,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Operator,
    Or,
    StructIn,
    TimeRangeIn,
)
from hbstore.texts.like import LikeDialect, parse_like
from hbstore.times.time_range import check_time_range

OPERATORS: Final = {
    "=": Operator.EQ,
    "==": Operator.EQ,
    "!=": Operator.NE,
    "<>": Operator.NE,
    "<": Operator.LT,
    "<=": Operator.LE,
    ">": Operator.GT,
    ">=": Operator.GE,
}
"""The operators as they stand in a filter."""

TURNED: Final = {
    **OPERATORS,
    "<": Operator.GT,
    "<=": Operator.GE,
    ">": Operator.LT,
    ">=": Operator.LE,
}
"""The same where the literal stands on the left: ``10 < hour`` is ``hour > 10``."""

Values: TypeAlias = Sequence[Any]
"""The tokens' texts (and `LiteralList`), as `Scan.values`."""

Convert: TypeAlias = Callable[[str], Literal]


class UnevenRowError(Exception):
    """A row of a STRUCT list is not as long as the list of columns; ``token`` is where the row begins."""

    def __init__(self, token: int, columns: int) -> None:
        super().__init__(token, columns)
        self.token = token
        self.columns = columns


class TimeRangeError(Exception):
    """A TIME_RANGE_IN has a text that is no time, or ends before it begins; ``token`` is where its times begin."""

    def __init__(self, token: int) -> None:
        super().__init__(token)
        self.token = token


class LiteralItem(NamedTuple):
    """A token among the values of a list: one literal, or many that were folded."""

    token: int
    convert: Callable[[Any], tuple[Literal, ...]]


class StructRow(NamedTuple):
    """``const struct(…)``: the STRUCT token and the values."""

    token: int
    items: tuple[LiteralItem, ...]


class Joint(NamedTuple):
    """``not child``, ``child and child and …``, or the same with or, of the topmost trees."""

    node: type[Not | And | Or]
    size: int


Step: TypeAlias = Callable[[Values, LikeDialect], ExpressionTree] | Joint


class Program(NamedTuple):
    """The steps that build a filter's tree."""

    steps: tuple[Step, ...]

    def run(self, values: Values, dialect: LikeDialect) -> ExpressionTree:
        """The tree of a filter of this program's shape. O(tokens).

        Raises:
            ValueError: a literal that stands for nothing, such as the date 2019-13-45.
            UnevenRowError: a STRUCT row of the wrong length.
            TimeRangeError: a time range that cannot be one.
        """
        stack: list[ExpressionTree] = []
        for step in self.steps:
            if isinstance(step, Joint):
                node, size = step
                children = tuple(stack[-size:])
                del stack[-size:]
                stack.append(Not(children[0]) if issubclass(node, Not) else node(children))
            else:
                stack.append(step(values, dialect))
        (tree,) = stack
        return tree


def comparison(
    column: int,
    operator: int,
    literal: int,
    convert: Convert,
    operators: Mapping[str, Operator],
    values: Values,
    _: LikeDialect,
) -> Comparison:
    """``column operator literal`` in either order."""
    return Comparison(values[column], operators[values[operator]], convert(values[literal]))


def between(
    column: int,
    ends: tuple[int, int],
    converts: tuple[Convert, Convert],
    values: Values,
    _: LikeDialect,
    *,
    negated: bool,
) -> Between:
    """``column [not] between low and high``."""
    low, high = (convert(values[end]) for end, convert in zip(ends, converts, strict=True))
    return Between(values[column], low, high, negated)


def contained(column: int, items: tuple[LiteralItem, ...], values: Values, _: LikeDialect, *, negated: bool) -> In:
    """``column [not] in (…)``."""
    return In(values[column], _literals(items, values), negated)


def struct_contained(
    columns: tuple[int, ...], rows: tuple[StructRow, ...], values: Values, _: LikeDialect, *, negated: bool
) -> StructIn:
    """``(struct(c1, c2)) [not] in (…)``; UnevenRowError where a row has too few or too many values."""
    tuples = []
    for token, items in rows:
        row = _literals(items, values)
        if len(row) != len(columns):
            raise UnevenRowError(token, len(columns))
        tuples.append(row)
    return StructIn(tuple([values[column] for column in columns]), tuple(tuples), negated)


def like(column: int, pattern: int, values: Values, dialect: LikeDialect, *, negated: bool) -> Like:
    """``column [not] like 'pattern'``; only here the dialect counts."""
    return Like(values[column], parse_like(values[pattern][1:-1], dialect), negated)


def is_null(column: int, values: Values, _: LikeDialect, *, negated: bool) -> IsNull:
    """``column is [not] null``."""
    return IsNull(values[column], negated)


def within_times(column: int, start: int, end: int, values: Values, _: LikeDialect) -> TimeRangeIn:
    """``time_range_in(column, 'start', 'end')``; TimeRangeError where it never can be a range, whatever now is."""
    texts = values[start][1:-1], values[end][1:-1]
    try:
        check_time_range(*texts)
    except (TimeRangeSyntaxError, InvalidTimeRange):
        raise TimeRangeError(start) from None
    return TimeRangeIn(values[column], *texts)


def _literals(items: tuple[LiteralItem, ...], values: Values) -> tuple[Literal, ...]:
    if len(items) == 1:
        ((token, convert),) = items
        return convert(values[token])
    return tuple([literal for token, convert in items for literal in convert(values[token])])
