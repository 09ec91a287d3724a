"""Operators of Spark SQL with two operands: ``a | b & c << d + e || f`` needs no brackets."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from sqlglot import exp
from sqlglot.dialects.spark import Spark

from hbstore.cubes.token_cursor import TokenCursor


class Positive(exp.Unary):
    """``+a``, which sqlglot leaves out. Spark makes a number of a text by it."""


class ShiftRightUnsigned(exp.Expression, exp.Binary):
    """``a >>> b``, which sqlglot does not have."""


COMPARISONS: Final = (exp.EQ, exp.NullSafeEQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
SHIFTS: Final = {">>>": ShiftRightUnsigned, ">>": exp.BitwiseRightShift, "<<": exp.BitwiseLeftShift}
"""The longest first: their signs are tokens of their own, as ARRAY<ARRAY<INT>> ends in two."""

_LEVELS: Final[tuple[Mapping[str, type[exp.Binary]], ...]] = (
    {
        **dict.fromkeys(("=", "=="), exp.EQ),
        **dict.fromkeys(("<>", "!="), exp.NEQ),
        **dict.fromkeys(("<=", "!>"), exp.LTE),
        **dict.fromkeys((">=", "!<"), exp.GTE),
        "<=>": exp.NullSafeEQ,
        "<": exp.LT,
        ">": exp.GT,
    },
    {"|": exp.BitwiseOr},
    {"^": exp.BitwiseXor},
    {"&": exp.BitwiseAnd},
    SHIFTS,
    {"+": exp.Add, "-": exp.Sub, "||": exp.DPipe},
    {"*": exp.Mul, "/": exp.Div, "%": exp.Mod, "DIV": exp.IntDiv},
)
"""Those that bind least first."""

_OPERATORS: Final = {sign: (level, kind) for level, signs in enumerate(_LEVELS) for sign, kind in signs.items()}


def operator(cursor: TokenCursor) -> str:
    """The operator that comes next; empty where none does."""
    for sign in SHIFTS:
        tokens = [cursor.behind(number) for number in range(len(sign))]
        signs = "".join(cursor.word(number) for number in range(len(sign)))
        if signs == sign and all(first.end + 1 == second.start for first, second in pairwise(tokens)):
            return sign
    word = cursor.word()
    return word if word in _OPERATORS else ""


def level_of(sign: str) -> int:
    """How much an operator binds."""
    return _OPERATORS[sign][0]


def skip(cursor: TokenCursor, sign: str) -> None:
    """Read the operator that comes next."""
    cursor.at += len(sign) if sign in SHIFTS else 1


def applied(sign: str, first: exp.Expr, second: exp.Expr) -> exp.Expr:
    """An operator with its operands."""
    kind = _OPERATORS[sign][1]
    if kind is exp.Div:
        return exp.Div(this=first, expression=second, typed=Spark.TYPED_DIVISION, safe=Spark.SAFE_DIVISION)
    return kind(this=first, expression=second)
