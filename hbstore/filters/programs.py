"""Programs: how to build the tree of a filter from its tokens, whatever its columns, operators and literals are.

A program is to a filter what a prepared statement is to a query. It is flat and in postfix order: each step names the
tokens that it reads by their place, takes what it needs from a stack and leaves one tree there. So nothing recurses,
and a filter that differs from an earlier one in its values only is not parsed again.

    shape    c=s&cE(*)
    values   ds  >=  '2013-01-01'  and  hour  in  (  5, 6  )
    steps    Compare(column=0, operator=1, literal=2)   ->  ds >= '2013-01-01'
             Contain(column=4, values=7)                ->  ds >= '2013-01-01',  hour in (5, 6)
             BooleanChain(And, 2)                       ->  ds >= '2013-01-01' and hour in (5, 6)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

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
from hbstore.like import LikeDialect, parse_like
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

Stack: TypeAlias = list[ExpressionTree]
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


class Instruction(Protocol):
    """One instruction."""

    def run(self, stack: Stack, values: Values, dialect: LikeDialect) -> None:
        """Leave one more tree on the stack, perhaps made of some that were there."""


class Compare(NamedTuple):
    """``column operator literal`` in either order."""

    column: int
    operator: int
    literal: int
    convert: Convert
    operators: Mapping[str, Operator]

    def run(self, stack: Stack, values: Values, dialect: LikeDialect) -> None:  # noqa: ARG002
        """Push a Comparison."""
        column, operator, literal, convert, operators = self
        stack.append(Comparison(values[column], operators[values[operator]], convert(values[literal])))


class Range(NamedTuple):
    """``column [not] between low and high``."""

    column: int
    low: int
    high: int
    convert_low: Convert
    convert_high: Convert
    negated: bool

    def run(self, stack: Stack, values: Values, dialect: LikeDialect) -> None:  # noqa: ARG002
        """Push a Between."""
        low, high = self.convert_low(values[self.low]), self.convert_high(values[self.high])
        stack.append(Between(values[self.column], low, high, self.negated))


class LiteralItem(NamedTuple):
    """A token among the values of a list: one literal, or many that were folded."""

    token: int
    convert: Callable[[Any], tuple[Literal, ...]]


def _literals(items: tuple[LiteralItem, ...], values: Values) -> tuple[Literal, ...]:
    if len(items) == 1:
        ((token, convert),) = items
        return convert(values[token])
    return tuple([literal for token, convert in items for literal in convert(values[token])])


class Contain(NamedTuple):
    """``column [not] in (…)``."""

    column: int
    items: tuple[LiteralItem, ...]
    negated: bool

    def run(self, stack: Stack, values: Values, dialect: LikeDialect) -> None:  # noqa: ARG002
        """Push an In."""
        stack.append(In(values[self.column], _literals(self.items, values), self.negated))


class StructRow(NamedTuple):
    """``const struct(…)``: the STRUCT token and the values."""

    token: int
    items: tuple[LiteralItem, ...]


class ContainStruct(NamedTuple):
    """``(struct(c1, c2)) [not] in (…)``."""

    columns: tuple[int, ...]
    rows: tuple[StructRow, ...]
    negated: bool

    def run(self, stack: Stack, values: Values, dialect: LikeDialect) -> None:  # noqa: ARG002
        """Push a StructIn; UnevenRowError where a row has too few or too many values."""
        columns = tuple([values[column] for column in self.columns])
        rows = []
        for token, items in self.rows:
            row = _literals(items, values)
            if len(row) != len(columns):
                raise UnevenRowError(token, len(columns))
            rows.append(row)
        stack.append(StructIn(columns, tuple(rows), self.negated))


class Match(NamedTuple):
    """``column [not] like 'pattern'``."""

    column: int
    pattern: int
    negated: bool

    def run(self, stack: Stack, values: Values, dialect: LikeDialect) -> None:
        """Push a Like; only here the dialect counts."""
        stack.append(Like(values[self.column], parse_like(values[self.pattern][1:-1], dialect), self.negated))


class TestNull(NamedTuple):
    """``column is [not] null``."""

    column: int
    negated: bool

    def run(self, stack: Stack, values: Values, dialect: LikeDialect) -> None:  # noqa: ARG002
        """Push an IsNull."""
        stack.append(IsNull(values[self.column], self.negated))


class WithinTimes(NamedTuple):
    """``time_range_in(column, 'start', 'end')``."""

    column: int
    start: int
    end: int

    def run(self, stack: Stack, values: Values, dialect: LikeDialect) -> None:  # noqa: ARG002
        """Push a TimeRangeIn; TimeRangeError where it never can be a range, whatever now is."""
        start, end = values[self.start][1:-1], values[self.end][1:-1]
        try:
            check_time_range(start, end)
        except (TimeRangeSyntaxError, InvalidTimeRange):
            raise TimeRangeError(self.start) from None
        stack.append(TimeRangeIn(values[self.column], start, end))


class Negate(NamedTuple):
    """``not child``."""

    def run(self, stack: Stack, values: Values, dialect: LikeDialect) -> None:  # noqa: ARG002
        """Replace the top by its Not."""
        stack[-1] = Not(stack[-1])


class BooleanChain(NamedTuple):
    """``child and child and …``, or the same with or."""

    node: type[And | Or]
    size: int

    def run(self, stack: Stack, values: Values, dialect: LikeDialect) -> None:  # noqa: ARG002
        """Replace the topmost ``size`` trees by one."""
        children = tuple(stack[-self.size :])
        del stack[-self.size :]
        stack.append(self.node(children))


class Program(NamedTuple):
    """The steps that build a filter's tree."""

    steps: tuple[Instruction, ...]

    def run(self, values: Values, dialect: LikeDialect) -> ExpressionTree:
        """The tree of a filter of this program's shape. O(tokens).

        Raises:
            ValueError: a literal that stands for nothing, such as the date 2019-13-45.
            UnevenRowError: a STRUCT row of the wrong length.
            TimeRangeError: a time range that cannot be one.
        """
        stack: Stack = []
        for step in self.steps:
            step.run(stack, values, dialect)
        (tree,) = stack
        return tree
