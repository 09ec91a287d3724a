"""Literals of Spark SQL: texts, numbers, ``DATE'2020-01-31'``, ``X'1F'`` and ``INTERVAL 1 DAY 2 HOURS``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sqlglot import TokenType, exp

from hbstore.cubes.spark_types import LITERALS, data_type
from hbstore.cubes.token_cursor import TokenCursor

LITERAL: Final = "literal"
"""What a cast has in its `args` that was written as a literal of its type, such as ``DATE'2015-01-01'``."""

CONSTANTS: Final = {"FALSE": exp.false, "NULL": exp.null, "TRUE": exp.true}
"""Words for values."""

_UNITS: Final = frozenset(
    unit + ending
    for unit in ("YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND", "NANOSECOND")
    for ending in ("", "S")
)
_QUANTITY: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)")
_QUANTITY_AND_UNIT: Final = re.compile(rf"\s*({_QUANTITY.pattern})\s+([A-Za-z]+)\s*")


def literal(cursor: TokenCursor) -> exp.Expr | None:
    """The literal that comes next; None if none does, and nothing is read then.

    Raises:
        ParseError: one does, and is not of Spark.
    """
    token = cursor.next
    if token.token_type is TokenType.STRING:
        return _text(cursor)
    word = cursor.word()
    if word == "INTERVAL":
        return _interval(cursor)
    node: exp.Expr | None = None
    if token.token_type is TokenType.NUMBER:
        node = exp.Literal.number(token.text)
    elif token.token_type is TokenType.HEX_STRING:
        node = exp.HexString(this=token.text)
    elif word in CONSTANTS:
        node = CONSTANTS[word]()
    if node is not None:
        cursor.token()
        return node.update_positions(token)
    is_of_a_type = word in LITERALS and cursor.behind(1).token_type is TokenType.STRING
    return _of_a_type(cursor) if is_of_a_type else None


def _text(cursor: TokenCursor) -> exp.Expr:
    """A text, or several in a row, which are one."""
    first = cursor.token()
    text = first.text
    while (token := cursor.literal(TokenType.STRING)) is not None:
        text += token.text
    return exp.Literal.string(text).update_positions(first)


def _of_a_type(cursor: TokenCursor) -> exp.Expr:
    """A text behind its type, which is no cast: ``DATE'tomorrow'``."""
    to = data_type(cursor)
    token = cursor.token()
    if cursor.next.token_type is TokenType.STRING:
        cursor.refuse("Expected one text behind a type")
    cast = exp.Cast(this=exp.Literal.string(token.text).update_positions(token), to=to)
    cast.set(LITERAL, True)
    return cast


def _interval(cursor: TokenCursor) -> exp.Expr | None:
    """``INTERVAL '1' DAY``, ``'1-2' YEAR TO MONTH``, ``'1 day 2 hours'``; ``1 DAY 2 HOURS`` is the last.

    None where the word is the name of a column.
    """
    start = cursor.at
    cursor.token()
    negative = cursor.behind(1).token_type is TokenType.STRING and cursor.skips("-")
    parts = list(_parts(cursor))
    if not parts:
        cursor.at = start
        return None
    if parts[0][1] is None and cursor.behind(-1).token_type is TokenType.NUMBER:
        cursor.refuse("Expected a unit of time")
    (text, first), several = parts[0], len(parts) > 1
    unit: exp.Expr | None = exp.var(first) if first else None
    if several:
        if negative or not all(_QUANTITY.fullmatch(quantity) for quantity, _ in parts):
            cursor.refuse("Expected numbers, each with a unit")
        text, unit = " ".join(f"{quantity} {name}" for quantity, name in parts), None
    elif unit is None and (both := _QUANTITY_AND_UNIT.fullmatch(text)) is not None:
        text, unit = both[1], exp.var(both[2].upper())
    elif unit is not None and cursor.skips("TO"):
        if cursor.word() not in _UNITS:
            cursor.refuse("Expected a unit of time")
        unit = exp.IntervalSpan(this=unit, expression=exp.var(cursor.token().text.upper()))
    interval = exp.Interval(this=exp.Literal.string(text), unit=unit)
    return exp.Neg(this=interval) if negative else interval


def _parts(cursor: TokenCursor) -> Iterator[tuple[str, str | None]]:
    """The quantities that come next, with their units; the first may have none, and is the last then."""
    unit: str | None = ""
    while unit is not None:
        start = cursor.at
        quantity = _quantity(cursor)
        if quantity is None:
            return
        is_first = unit == ""
        unit = cursor.token().text.upper() if cursor.word() in _UNITS else None
        if unit is None and not is_first:
            cursor.at = start  # of a sum, which begins behind the interval
            return
        yield quantity, unit


def _quantity(cursor: TokenCursor) -> str | None:
    """The text or the number, with its sign, that comes next in an interval; None where none does."""
    if (text := cursor.literal(TokenType.STRING)) is not None:
        return text.text
    start = cursor.at
    sign = "-" if cursor.skips("-") else ""
    if not sign:
        cursor.skips("+")
    number = cursor.literal(TokenType.NUMBER)
    if number is not None and _QUANTITY.fullmatch(number.text):
        return f"{sign}{number.text}"
    cursor.at = start
    return None
