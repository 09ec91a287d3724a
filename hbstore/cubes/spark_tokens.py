"""How a text is cut into words, texts, numbers and signs: as Spark 4 does, and with the signs of no other engine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from sqlglot import Token, TokenType
from sqlglot.dialects.spark import Spark

from hbstore.texts.quotes import without_continued_comments

_SIGNS: Final = frozenset(("/*+", "==", "::", "||", "|>", ">=", "<=", "<>", "!=", "<=>", "->", "=>"))
"""Of several characters, which Spark has, too. It sees two signs in others that sqlglot knows, such as ``&&``."""

_WORDS: Final = re.compile(r"\w+|\w+ BY|GROUPING SETS")
"""Of several words, only those that begin clauses are one token: ``double precision`` is a name and its alias."""


class SparkTokenizer(Spark.Tokenizer):
    """Cuts texts as Spark does: a number's last letters are part of it, and so are two quotes of a text."""

    KEYWORDS = {  # noqa: RUF012  as in sqlglot
        **{text: kind for text, kind in Spark.Tokenizer.KEYWORDS.items() if text in _SIGNS or _WORDS.fullmatch(text)},
        "!<": TokenType.GTE,
        "!>": TokenType.LTE,
    }
    COMMANDS = set()  # noqa: RUF012  a column may be called `show`; the text behind it is no argument of a command
    HEX_STRINGS = [(f"{letter}{quote}", quote) for quote in "'\"" for letter in "Xx"]  # noqa: RUF012

    def tokenize(self, sql: str) -> list[Token]:
        """The tokens of a text."""
        return list(_as_of_spark(sql, super().tokenize(without_continued_comments(sql))))


del SparkTokenizer._COMMENTS["{#"]  # noqa: SLF001  which sqlglot gives to each dialect


def _as_of_spark(sql: str, tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens that Spark would find.

    Two quotes within a text are one: ``'it''s'``. ``1L``, ``2.5BD`` and ``.5`` are numbers, and ``0x1F`` is none.
    """
    at = 0
    while at < len(tokens):
        first = last = tokens[at]
        at += 1
        if first.token_type is TokenType.DOT and _begins_number(sql, first.start):
            last = tokens[at]  # .5
            at += 1
        kind, text = last.token_type, last.text if last is first else f".{last.text}"
        if kind is TokenType.STRING:
            while at < len(tokens) and _is_one_text(sql, last, tokens[at]):
                text, last = f"{text}{sql[last.end]}{tokens[at].text}", tokens[at]
                at += 1
        elif kind is TokenType.RAW_STRING:
            kind = TokenType.STRING
        elif kind is TokenType.NUMBER and at < len(tokens) and tokens[at].start == last.start:
            at, last = at + 2, tokens[at + 1]  # sqlglot has made it three, as of 1::BIGINT
            text = sql[first.start : last.end + 1]
        elif kind is TokenType.HEX_STRING and sql[first.start] == "0":
            kind, text = TokenType.VAR, sql[first.start : first.end + 1]
        elif last is first:
            yield first
            continue
        yield Token(kind, text, last.line, last.col, first.start, last.end, first.comments)


def _begins_number(sql: str, dot: int) -> bool:
    """Whether a dot is the first sign of a number: it has a digit behind it, and no name or bracket before it."""
    return sql[dot + 1 : dot + 2].isdigit() and not re.match(r"[\w`)\]'\"]", sql[dot - 1 : dot])


def _is_one_text(sql: str, first: Token, second: Token) -> bool:
    """Whether two texts are the parts of one around a quote."""
    touch = second.token_type is TokenType.STRING and second.start == first.end + 1
    return touch and sql[second.start] == sql[first.end]
