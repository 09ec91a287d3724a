"""The options that a query itself ends with: ``OPTIONS (join_type = 'inner', facts.rides = 'daily, raw')``.

SQL has no such clause, so it is cut from the text before sqlglot reads that; blanks in its place keep all offsets.

>>> text, options = without_options("select a from b options (partial = true);")
>>> text, options
('select a from b                         ;', {'partial': 'true'})
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from sqlglot import Token, TokenType, tokenize
from sqlglot.errors import TokenError

from hbstore.cubes.dialect import QueryDialect
from hbstore.errors import CubeSyntaxError
from hbstore.texts.places import shown_at

_MAY_BE: Final = re.compile(r"\boptions\b", re.IGNORECASE)
_NOT_LINE_END: Final = re.compile(r"[^\n]")
_TEXTS: Final = (TokenType.STRING, TokenType.IDENTIFIER)
_HINT: Final = "End the query with OPTIONS (name = 'value', …)"


def without_options(text: str, whole: str | None = None) -> tuple[str, dict[str, str]]:
    """A query without its options, and these.

    Args:
        text: the query, as sqlglot is to read it.
        whole: as the user wrote it, with the same offsets, for errors.

    Raises:
        CubeSyntaxError: what stands between the brackets is not names with values.
    """
    if _MAY_BE.search(text) is None:  # most queries: the text need not be cut into tokens twice
        return text, {}
    try:
        tokens = tokenize(text, dialect=QueryDialect)
    except TokenError:
        return text, {}  # the parser says what is wrong with it
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    at = max((at for at, (word, next_) in enumerate(pairwise(tokens)) if _begins(word, next_)), default=None)
    if at is None or not _closes(tokens, at + 2):
        return text, {}
    options: dict[str, str] = {}
    for name, value, token in _pairs(whole or text, tokens[at + 2 :]):
        if name in options:
            raise _error(whole or text, token, "the query names an option twice")
        options[name] = value
    start, stop = tokens[at].start, tokens[-1].end + 1
    return text[:start] + _NOT_LINE_END.sub(" ", text[start:stop]) + text[stop:], options


def _begins(word: Token, bracket: Token) -> bool:
    is_options = word.text.lower() == "options" and word.token_type not in _TEXTS
    return is_options and bracket.token_type is TokenType.L_PAREN


def _closes(tokens: Sequence[Token], at: int) -> bool:
    """Whether the only bracket from a place on is the last token, which closes one."""
    brackets = [one for one in tokens[at:] if one.token_type in (TokenType.L_PAREN, TokenType.R_PAREN)]
    return len(brackets) == 1 and brackets[0] is tokens[-1] and tokens[-1].token_type is TokenType.R_PAREN


def _pairs(text: str, tokens: Sequence[Token]) -> Iterator[tuple[str, str, Token]]:
    """Names and values up to the bracket that closes, with the token at which each begins."""
    item: list[Token] = []
    for token in tokens:
        if token.token_type not in (TokenType.COMMA, TokenType.R_PAREN):
            item.append(token)
            continue
        equals = next((at for at, part in enumerate(item) if part.token_type is TokenType.EQ), 0)
        if not 0 < equals < len(item) - 1:
            raise _error(text, item[0] if item else token, "not an option with a value")
        yield _text(text, item[:equals]), _text(text, item[equals + 1 :]), item[0]
        item = []


def _text(text: str, tokens: Sequence[Token]) -> str:
    """What some tokens say: of a quoted text what is in it."""
    if len(tokens) == 1 and tokens[0].token_type in _TEXTS:
        return tokens[0].text
    return text[tokens[0].start : tokens[-1].end + 1]


def _error(text: str, token: Token, what: str) -> CubeSyntaxError:
    return CubeSyntaxError(what, hint=_HINT, **shown_at(text, token.start))
