"""ExpressionTree: a parsed filter, before it knows a table.

Trees are n-ary, frozen, and printed as text that parses to the same tree. A text that holds both kinds of quotes, which
Python can put into a tree, has no such form and raises FilterTypeError; what only specs and Hive's expressions can say,
`SpecValue`, `Holds` and what ``as_hive`` marks, is printed for people, and `written` refuses it.

>>> print(And((Comparison("ds", Operator.GE, Text("2013-01-01")), In("hour", (Integer(5), Integer(6))))))
ds >= '2013-01-01' and hour in (5, 6)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Final, TypeAlias, TypeVar, dataclass_transform

from hbstore.errors import FilterTypeError
from hbstore.keys.column_type import ValueCondition
from hbstore.keys.types import TimestampType
from hbstore.texts.like import LikePattern
from hbstore.texts.wording import clipped

T = TypeVar("T")
RESERVED: Final = frozenset({"and", "between", "false", "in", "is", "like", "not", "null", "or", "true"})
"""Words that are columns only in back-quotes."""

_PLAIN_NAME: Final = re.compile(r"[^\W\d]\w*\Z")
_TIMESTAMP: Final = TimestampType()
_REPR: Final = 120


class Operator(Enum):
    """The six comparisons."""

    EQ = "="
    NE = "!="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="


def _represented(node: object) -> str:
    """The type of a node and its text; of a text that cannot be written, the type alone."""
    text = ""
    with suppress(FilterTypeError):
        text = f" {clipped(str(node), _REPR)}"
    return f"<{type(node).__name__}{text}>"


@dataclass_transform(frozen_default=True)
def _node(cls: type[T]) -> type[T]:
    """What every node and literal is: a frozen, slotted dataclass that prints as its text."""
    cls.__repr__ = _represented  # type: ignore[method-assign]
    return dataclass(frozen=True, slots=True, repr=False)(cls)


@_node
class Text:
    """A string literal. It holds at most one kind of quote, as the language has no escapes."""

    value: str

    def __str__(self) -> str:
        return _quoted(self.value)


@_node
class Integer:
    """An integer literal of any size."""

    value: int

    def __str__(self) -> str:
        return str(self.value)


@_node
class Number:
    """A literal with a decimal point or an exponent, kept exactly."""

    value: Decimal

    def __str__(self) -> str:
        digits = str(self.value)
        return digits if "." in digits or "E" in digits else f"{digits}.0"  # 5 alone would be an Integer


@_node
class Boolean:
    """true or false."""

    value: bool

    def __str__(self) -> str:
        return "true" if self.value else "false"


@_node
class Date:
    """A date literal: DATE '2013-01-01', or bare 2013-01-01."""

    value: date

    def __str__(self) -> str:
        return f"date '{self.value.isoformat()}'"


@_node
class Timestamp:
    """A timestamp literal: seconds since 1970-01-01 00:00:00 without a zone, and nanoseconds."""

    value: tuple[int, int]

    def __str__(self) -> str:
        return f"timestamp '{_TIMESTAMP.text(self.value)}'"


Literal: TypeAlias = Text | Integer | Number | Boolean | Date | Timestamp


@_node
class Comparison:
    """``column operator literal``; a literal on the left is turned round while parsing."""

    column: str
    operator: Operator
    literal: Literal

    def __str__(self) -> str:
        return f"{_name(self.column)} {self.operator.value} {self.literal}"


@_node
class Between:
    """``column [not] between low and high``, both ends included."""

    column: str
    low: Literal
    high: Literal
    negated: bool = False

    def __str__(self) -> str:
        return f"{_name(self.column)}{_not(self.negated)} between {self.low} and {self.high}"


@_node
class In:
    """``column [not] in (literal, …)`` with at least one literal."""

    column: str
    literals: tuple[Literal, ...]
    negated: bool = False

    def __str__(self) -> str:
        return f"{_name(self.column)}{_not(self.negated)} in ({_listed(self.literals)})"


@_node
class StructIn:
    """``(struct(c1, c2)) [not] in (const struct(v1, v2), …)``: every row as long as ``columns``."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Literal, ...], ...]
    negated: bool = False

    def __str__(self) -> str:
        columns = _listed(map(_name, self.columns))
        rows = _listed(f"const struct({_listed(row)})" for row in self.rows)
        return f"(struct({columns})){_not(self.negated)} in ({rows})"


@_node
class Like:
    """``column [not] like 'pattern'``; the pattern no longer knows its dialect, it prints in SQL's."""

    column: str
    pattern: LikePattern
    negated: bool = False

    def __str__(self) -> str:
        return f"{_name(self.column)}{_not(self.negated)} like {_quoted(str(self.pattern))}"


@_node
class IsNull:
    """``column is [not] null``; ``as_hive`` takes text that is no value of the column's type for NULL, as Hive does."""

    column: str
    negated: bool = False
    as_hive: bool = False

    def __str__(self) -> str:
        return f"{_name(self.column)} is{_not(self.negated)} null"


@_node
class SpecValue:
    """The partitions that a spec names by the text of their value.

    ``5`` names the ``5`` of an int column, and not ``05``, of which engines read the same; a comparison selects both.
    """

    column: str
    text: str

    def __str__(self) -> str:
        return f"{_name(self.column)} = {_quoted(self.text)}"


@_node
class TimeRangeIn:
    """``time_range_in(column, 'start', 'end')``: times in [start, end), each as `hbstore.times.time_range` reads them.

    The texts are kept, as what ``now.day`` is turns out only when the filter is planned.
    """

    column: str
    start: str
    end: str

    def __str__(self) -> str:
        return f"time_range_in({_name(self.column)}, {_quoted(self.start)}, {_quoted(self.end)})"


@_node
class Holds:
    """A condition on a column that is computed from each of its values."""

    column: str
    condition: ValueCondition

    def __str__(self) -> str:
        return str(self.condition)


@_node
class Not:
    """Negation, by SQL's three-valued logic."""

    child: ExpressionTree

    def __str__(self) -> str:
        return _printed(self)


@_node
class And:
    """Conjunction of two children or more, none of which is an And."""

    children: tuple[ExpressionTree, ...]

    def __str__(self) -> str:
        return _printed(self)


@_node
class Or:
    """Disjunction of two children or more, none of which is an Or."""

    children: tuple[ExpressionTree, ...]

    def __str__(self) -> str:
        return _printed(self)


Leaf: TypeAlias = Comparison | Between | In | StructIn | Like | IsNull | SpecValue | TimeRangeIn | Holds
ExpressionTree: TypeAlias = Leaf | Not | And | Or


def written(tree: ExpressionTree) -> str:
    """The text of a tree that parses to the same tree, and not only tells people what it is. O(nodes).

    Raises:
        FilterTypeError: a part of it has no such text.

    >>> written(And((IsNull("ds"), Comparison("hour", Operator.EQ, Integer(5)))))
    'ds is null and hour = 5'
    """
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, And | Or):
            pending += node.children
        elif isinstance(node, Not):
            pending.append(node.child)
        elif isinstance(node, SpecValue | Holds) or (isinstance(node, IsNull) and node.as_hive):
            raise FilterTypeError(
                "a part of the filter cannot be written as text",
                part=clipped(str(node), _REPR),
                hint="Name texts of partitions by names(spec=…), or open the store itself with hbstore.connect",
            )
    return str(tree)


def tree_text(tree: ExpressionTree) -> str:
    r"""A tree's text for people, also where it holds a text that the language cannot write, as one made in Python may.

    >>> tree_text(Comparison("ds", Operator.EQ, Text("'\"")))
    '(a filter cannot contain a text with both kinds of quotes)'
    """
    try:
        return str(tree)
    except FilterTypeError as error:
        return f"({error.text})"


def joined(node: type[And | Or], children: Iterable[ExpressionTree]) -> ExpressionTree:
    """The children joined, those of the same node replaced by theirs: what the parser makes of them. O(children).

    >>> print(joined(Or, [Or((IsNull("a"), IsNull("b"))), IsNull("c")]))
    a is null or b is null or c is null
    """
    flat: list[ExpressionTree] = []
    for child in children:
        if isinstance(child, node):
            flat += child.children
        else:
            flat.append(child)
    return node(tuple(flat)) if len(flat) > 1 else flat[0]


def _printed(tree: ExpressionTree) -> str:
    """The text of a tree of any depth: what is still to print lies on a stack, trees and text between them."""
    pieces: list[str] = []
    pending: list[ExpressionTree | str] = [tree]
    while pending:
        item = pending.pop()
        if isinstance(item, And | Or):
            word = " and " if isinstance(item, And) else " or "
            for child in reversed(item.children):
                pending += [*_enclosed(child), word]
            pending.pop()  # the word before the first child
        elif isinstance(item, Not):
            pending += [*_enclosed(item.child), "not "]
        else:
            pieces.append(str(item))
    return "".join(pieces)


def _enclosed(child: ExpressionTree) -> tuple[ExpressionTree | str, ...]:
    """A child in parentheses if it is an And or Or, also where precedence would not need them: people read this."""
    return (")", child, "(") if isinstance(child, And | Or) else (child,)


def _name(column: str) -> str:
    if _PLAIN_NAME.match(column) and column.lower() not in RESERVED:
        return column
    return "`{}`".format(column.replace("`", "``"))


def _quoted(text: str) -> str:
    if "'" not in text:
        return f"'{text}'"
    if '"' in text:
        raise FilterTypeError(
            "a filter cannot contain a text with both kinds of quotes",
            value=text,
            hint="Pass the expression itself instead of its text",
        )
    return f'"{text}"'


def _listed(items: Iterable[object]) -> str:
    return ", ".join(map(str, items))


def _not(negated: bool) -> str:  # noqa: FBT001
    return " not" if negated else ""
