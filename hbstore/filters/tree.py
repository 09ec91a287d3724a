"""ExpressionTree: a parsed filter, before it knows a table.

Trees are n-ary, frozen, and printed as text that parses to the same tree.

>>> print(And((Comparison("ds", Operator.GE, Text("2013-01-01")), In("hour", (Integer(5), Integer(6))))))
ds >= '2013-01-01' and hour in (5, 6)
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import TypeAlias

from hbstore.like import LikePattern


class Operator(Enum):
    """The six comparisons."""

    EQ = "="
    NE = "!="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="


@dataclass(frozen=True, slots=True)
class Text:
    """A string literal. It holds at most one kind of quote, as the language has no escapes."""

    value: str


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer literal of any size."""

    value: int


@dataclass(frozen=True, slots=True)
class Number:
    """A literal with a decimal point or an exponent, kept exactly."""

    value: Decimal


@dataclass(frozen=True, slots=True)
class Boolean:
    """true or false."""

    value: bool


@dataclass(frozen=True, slots=True)
class Date:
    """A date literal: DATE '2013-01-01', or bare 2013-01-01."""

    value: datetime.date


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A timestamp literal: seconds since 1970-01-01 00:00:00 without a zone, and nanoseconds."""

    value: tuple[int, int]


Literal: TypeAlias = Text | Integer | Number | Boolean | Date | Timestamp


@dataclass(frozen=True, slots=True)
class Comparison:
    """``column operator literal``; a literal on the left is turned round while parsing."""

    column: str
    operator: Operator
    literal: Literal


@dataclass(frozen=True, slots=True)
class Between:
    """``column [not] between low and high``, both ends included."""

    column: str
    low: Literal
    high: Literal
    negated: bool = False


@dataclass(frozen=True, slots=True)
class In:
    """``column [not] in (literal, …)`` with at least one literal."""

    column: str
    literals: tuple[Literal, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class StructIn:
    """``(struct(c1, c2)) [not] in (const struct(v1, v2), …)``: every row as long as ``columns``."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Literal, ...], ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Like:
    """``column [not] like 'pattern'``; the pattern no longer knows its dialect."""

    column: str
    pattern: LikePattern
    negated: bool = False


@dataclass(frozen=True, slots=True)
class IsNull:
    """``column is [not] null``."""

    column: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Not:
    """Negation, by SQL's three-valued logic."""

    child: ExpressionTree


@dataclass(frozen=True, slots=True)
class And:
    """Conjunction of two children or more, none of which is an And."""

    children: tuple[ExpressionTree, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Disjunction of two children or more, none of which is an Or."""

    children: tuple[ExpressionTree, ...]


Leaf: TypeAlias = Comparison | Between | In | StructIn | Like | IsNull
ExpressionTree: TypeAlias = Leaf | Not | And | Or
