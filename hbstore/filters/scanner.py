"""Text to tokens: one regular expression, made of the grammar's terminals, cuts a filter.

A token is its text; its kind is one letter, so that the kinds of a whole filter are a string, its *shape*. Filters that
differ only in their columns, operators and literals have the same shape, and shapes are what the parser works on.

>>> from hbstore.filters.compiler import language
>>> language().scanner.scan("ds = '2013-01-01' and hour in (5, 6)")
Scan(shape='c=s&cE(*)', values=['ds', '=', "'2013-01-01'", 'and', 'hour', 'in', '(', LiteralList(kinds='ii', \
texts=['5', '6']), ')'])
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple


class TokenKind(StrEnum):
    """The kinds of tokens: names as in grammar/filter.lark, values as in shapes."""

    NAME = "c"
    STRING = "s"
    INTEGER = "i"
    NUMBER = "n"
    DATE = "d"
    TIMESTAMP = "t"
    BOOLEAN = "b"
    LITERALS = "*"
    OPERATOR = "="
    AND = "&"
    OR = "|"
    NOT = "!"
    IN = "E"
    LIKE = "~"
    BETWEEN = "#"
    IS = "?"
    NULL = "0"
    STRUCT = "S"
    TIME_RANGE_IN = "T"
    OPEN = "("
    CLOSE = ")"
    COMMA = ","
    UNCLOSED = '"'  # this and the next two are in no rule of the grammar: the parser stops there
    GLUED = "x"
    STRAY = "."


LITERAL_KINDS: Final = (
    TokenKind.STRING + TokenKind.INTEGER + TokenKind.NUMBER + TokenKind.DATE + TokenKind.TIMESTAMP + TokenKind.BOOLEAN
)
"""The letters of the literals, commonest first."""

KEYWORDS: Final = frozenset(
    {
        TokenKind.AND,
        TokenKind.OR,
        TokenKind.NOT,
        TokenKind.IN,
        TokenKind.LIKE,
        TokenKind.BETWEEN,
        TokenKind.IS,
        TokenKind.NULL,
        TokenKind.BOOLEAN,
    }
)
"""Kinds whose texts would be names without their rule."""

_COMMA: Final = TokenKind.COMMA.value  # looking up an enum's member takes longer than what is done with it here
_LITERALS: Final = TokenKind.LITERALS.value
# What follows TIME_RANGE_IN's column is no list.
_LIST: Final = re.compile(f"[{LITERAL_KINDS}](?<!Tc,.)(?<!Tc,s,.)(?:,[{LITERAL_KINDS}])+")
_FAULTS: Final = {
    TokenKind.UNCLOSED: r"['\"`].*",
    TokenKind.GLUED: r"[+-]?\.?[0-9](?:[\w.]|[+-](?=[\w.]))*",
    TokenKind.STRAY: r"\|\||&&|.",
}
_REMEMBERED_LENGTH: Final = 128
_REMEMBERED_WORDS: Final = 4_096


class LiteralList(NamedTuple):
    """The value of a LITERALS token: the kind and the text of each literal."""

    kinds: str
    texts: list[str]


class Scan(NamedTuple):
    """A filter as the parser takes it: the kinds of its tokens, and for each its text or `LiteralList`."""

    shape: str
    values: list[Any]

    def token_number(self, index: int) -> int:
        """Where the value at ``index`` begins in the tokens before lists were folded. O(index)."""
        return sum(2 * len(value.texts) - 1 if isinstance(value, LiteralList) else 1 for value in self.values[:index])


class _Kinds(dict[str, str]):
    """The kind of each token text. Words and signs are remembered, literals are not: those hardly come back."""

    def __init__(self, pattern: re.Pattern[str], letters: list[str]) -> None:
        super().__init__()
        self._match = pattern.match
        self._letters = letters

    def __missing__(self, text: str) -> str:
        found = self._match(text)
        assert found is not None
        assert found.lastindex is not None
        kind = self._letters[found.lastindex - 1]
        if kind not in LITERAL_KINDS and len(text) <= _REMEMBERED_LENGTH:
            if len(self) >= _REMEMBERED_WORDS:
                self.clear()
            self[text] = kind
        return kind


class Scanner:
    """Cuts filters into tokens.

    Args:
        terminals: the regular expression of each kind in the grammar. None has a group of its own; where two match at
            one place, one is a keyword and the other NAME.
    """

    def __init__(self, terminals: Mapping[TokenKind, str]) -> None:
        patterns = {kind: terminals[kind] for kind in sorted(terminals, key=_rank)} | _FAULTS
        # To cut, a keyword is a name like any other: that is twice as fast as trying each keyword at each place.
        cut = "|".join(pattern for kind, pattern in patterns.items() if kind not in KEYWORDS)
        self._cut = re.compile(rf"\s*({cut})", re.DOTALL)
        tell = "|".join(f"({pattern})" for pattern in patterns.values())
        self._kinds = _Kinds(re.compile(tell, re.DOTALL), [kind.value for kind in patterns])

    def cut(self, text: str) -> tuple[str, list[str]]:
        """The kinds and the texts of all tokens, column names without back-quotes; every text can be cut. O(text)."""
        texts = self._cut.findall(text.rstrip())
        kinds = "".join(map(self._kinds.__getitem__, texts))
        if "`" in text:
            texts = [_unquoted(token) if token[0] == "`" else token for token in texts]
        return kinds, texts

    def scan(self, text: str) -> Scan:
        """`cut`, then `fold`."""
        return fold(*self.cut(text))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where each token begins and ends in the text, as `cut` cuts it."""
        return [found.span(1) for found in self._cut.finditer(text.rstrip())]


def fold(kinds: str, texts: list[str]) -> Scan:
    """Make each run of literals with commas between them one token. O(tokens)."""
    if _COMMA not in kinds:
        return Scan(kinds, texts)
    shape: list[str] = []
    values: list[Any] = []
    done = 0
    for found in _LIST.finditer(kinds):
        start, stop = found.span()
        shape.append(kinds[done:start])
        values += texts[done:start]
        values.append(LiteralList(kinds[start:stop:2], texts[start:stop:2]))
        done = stop
    shape.append(kinds[done:])
    values += texts[done:]
    return Scan(_LITERALS.join(shape), values)


def _unquoted(name: str) -> str:
    return name[1:-1].replace("``", "`")


def _rank(kind: TokenKind) -> int:
    """Names come last, as everything that begins with a word could be one; literals first, as they are most to tell."""
    if kind is TokenKind.NAME:
        return len(TokenKind)
    return LITERAL_KINDS.index(kind) if kind in LITERAL_KINDS else len(LITERAL_KINDS)
