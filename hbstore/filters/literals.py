"""The texts of literals to Literals, one function for each kind of token.

Each raises ValueError in words for people where the text stands for nothing, such as the date 2019-13-45.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Final

from hbstore.filters.scanner import LiteralList, TokenKind
from hbstore.filters.tree import Boolean, Date, Integer, Literal, Number, Text, Timestamp
from hbstore.keys.types import DateType, TimestampType, parse_decimal

MAX_DIGITS: Final = 4_000
"""How many digits a number may have when written out in full, without an exponent."""

_DATE: Final = DateType()
_TIMESTAMP: Final = TimestampType()


def _text(token: str) -> Text:
    return Text(token[1:-1])


def _integer(token: str) -> Integer:
    if len(token) > MAX_DIGITS:  # Python's int() would be slow, and refuses to read more than 4,300 digits
        raise ValueError(f"a number of more than {MAX_DIGITS} digits")
    return Integer(int(token))


def _number(token: str) -> Number:
    number = parse_decimal(token)
    if not is_bounded(number):
        raise ValueError(f"a number of more than {MAX_DIGITS} digits")
    return Number(number)


def is_bounded(number: Decimal) -> bool:
    """Whether a number is finite and has at most `MAX_DIGITS` digits before and after its point, written in full."""
    exponent = number.as_tuple().exponent
    return isinstance(exponent, int) and exponent >= -MAX_DIGITS and number.adjusted() < MAX_DIGITS


def _date(token: str) -> Date:
    return Date(_DATE.parse(_introduced(token, "date")))


def _timestamp(token: str) -> Timestamp:
    return Timestamp(_TIMESTAMP.parse(_introduced(token, "timestamp")))


def _introduced(token: str, keyword: str) -> str:
    """What stands behind the keyword, without its quotes."""
    if token[0] in "0123456789":
        return token
    return token[len(keyword) :].strip().strip("'\"")


def _boolean(token: str) -> Boolean:
    return Boolean(token.lower() == "true")


LITERAL: Final[Mapping[str, Callable[[str], Literal]]] = {
    TokenKind.STRING: _text,
    TokenKind.INTEGER: _integer,
    TokenKind.NUMBER: _number,
    TokenKind.DATE: _date,
    TokenKind.TIMESTAMP: _timestamp,
    TokenKind.BOOLEAN: _boolean,
}
"""What makes a Literal of a token's text, by the token's kind."""


def one_literal(kind: str) -> Callable[[str], tuple[Literal, ...]]:
    """What makes a tuple of one Literal of a token of this kind."""
    convert = LITERAL[kind]
    return lambda token: (convert(token),)


def literal_list(value: LiteralList) -> tuple[Literal, ...]:
    """The Literals of a LITERALS token. O(n)."""
    kinds, texts = value
    if kinds == kinds[0] * len(kinds):
        return tuple(map(LITERAL[kinds[0]], texts))
    return tuple([LITERAL[kind](text) for kind, text in zip(kinds, texts, strict=True)])
