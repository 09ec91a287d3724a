"""What to write instead: one small rule for each mistake that people make in filters.

A rule looks at the place where the parser stopped and tells whether that is its mistake. The first that does wins.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from hbstore.errors import did_you_mean
from hbstore.filters.scanner import KEYWORDS, LITERAL_KINDS, TokenKind
from hbstore.texts.places import place


class Mistake(NamedTuple):
    """A filter, its tokens, and where the parser stopped."""

    text: str
    kinds: str
    texts: list[str]
    spans: list[tuple[int, int]]
    token: int
    expected: frozenset[str]

    def kind(self, distance: int = 0) -> str:
        """The kind of the token at a distance from the place; empty where there is none."""
        token = self.token + distance
        return self.kinds[token] if 0 <= token < len(self.kinds) else ""

    def word(self, distance: int = 0) -> str:
        """The text of that token."""
        return self.texts[self.token + distance] if self.kind(distance) else ""

    @property
    def wants_literal(self) -> bool:
        """Whether a literal could stand here."""
        return TokenKind.STRING.name in self.expected

    @property
    def wants_column(self) -> bool:
        """Whether a column could stand here."""
        return TokenKind.NAME.name in self.expected

    def unclosed(self) -> int | None:
        """The token of the innermost parenthesis that is open here."""
        opened: list[int] = []
        for token, kind in enumerate(self.kinds[: self.token]):
            if kind in (TokenKind.OPEN, TokenKind.STRUCT, TokenKind.TIME_RANGE_IN):
                opened.append(token)
            elif kind == TokenKind.CLOSE and opened:
                opened.pop()
        return opened[-1] if opened else None


class Rule(NamedTuple):
    """A mistake: a filter that has it, how it is told from others, and what to write instead."""

    example: str
    applies: Callable[[Mistake], bool]
    hint: str | Callable[[Mistake], str]


_INSTEAD: Final = {
    "||": "Use OR instead of ||",
    "&&": "Use AND instead of &&",
    "!": "Use NOT instead of !",
    ";": "Leave out the semicolon",
}
_ODD_NAME: Final = re.compile(r"[\w$@#][\w$@#:-]*")
_LONGEST_NAME: Final = 128
"""Characters of a name that a hint repeats."""
_ENDS: Final = ("", TokenKind.AND, TokenKind.OR)
"""Kinds that end a condition."""


def _is_in_time_range(mistake: Mistake) -> bool:
    opened = mistake.unclosed()
    ends = not mistake.kind() and TokenKind.CLOSE.name in mistake.expected
    return opened is not None and mistake.kinds[opened] == TokenKind.TIME_RANGE_IN and not ends


def _is_glued_to_a_string(mistake: Mistake) -> bool:
    if mistake.kind(-1) != TokenKind.STRING or mistake.kind() in ("", TokenKind.CLOSE):
        return False
    return mistake.spans[mistake.token - 1][1] >= mistake.spans[mistake.token][0]


def _is_unclosed(mistake: Mistake) -> bool:
    return not mistake.kind() and mistake.unclosed() is not None and TokenKind.CLOSE.name in mistake.expected


def _unclosed_hint(mistake: Mistake) -> str:
    opened = mistake.unclosed()
    assert opened is not None
    line, column = place(mistake.text, mistake.spans[opened][1] - 1)
    return f"The parenthesis at line {line}, column {column} is not closed"


def _null_hint(mistake: Mistake) -> str:
    negative = mistake.kind(-1) == TokenKind.OPERATOR and mistake.word(-1) in ("!=", "<>")
    return f"NULL cannot be compared: use IS {'NOT ' if negative else ''}NULL"


def _odd_name(mistake: Mistake) -> str:
    """The word with a character that no name has without back-quotes, where a name stands; empty elsewhere."""
    if mistake.kind() != TokenKind.STRAY or not (mistake.wants_column or mistake.kind(-1) == TokenKind.NAME):
        return ""
    at = mistake.spans[mistake.token][0]
    name = next((word[0] for word in _ODD_NAME.finditer(mistake.text) if word.start() <= at < word.end()), "")
    return name if len(name) <= _LONGEST_NAME and any(map(str.isalpha, name)) else ""


def _column_hint(mistake: Mistake) -> str:
    if mistake.kind(-1) == TokenKind.OPERATOR:
        return "Columns cannot be compared with each other; put a text in quotes"
    return "Put a text in quotes"


RULES: Final = (
    Rule("ds = 'x", lambda at: at.kind() == TokenKind.UNCLOSED, "The quote that begins here is not closed"),
    Rule(
        "time_range_in(ds, 2015-01-29, now.day)",
        _is_in_time_range,
        "Write a column and two times in quotes, as in TIME_RANGE_IN(ds, '2015-01-29', 'now.day')",
    ),
    Rule("ds = 1 || ds = 2", lambda at: at.word() in _INSTEAD, lambda at: _INSTEAD[at.word()]),
    Rule(
        "where ds = 1",
        lambda at: at.token == 1 and at.texts[0].lower() in ("select", "where"),
        "A filter is only the condition that follows WHERE in a query",
    ),
    Rule(
        "ds in 'a'",
        lambda at: at.kind(-1) == TokenKind.IN and at.kind() != TokenKind.OPEN,
        "Put the values of IN in parentheses: hour in (5, 6)",
    ),
    Rule(
        "ds = 'it's'",
        _is_glued_to_a_string,
        "Strings have no escapes: put a text that holds one kind of quote into the other kind",
    ),
    Rule(
        "ds => 1",
        lambda at: at.kind(-1) == at.kind() == TokenKind.OPERATOR,
        "The operators are =, !=, <>, <, <=, > and >=",
    ),
    Rule(
        "hour = 10x",
        lambda at: at.kind() == TokenKind.GLUED,
        "This is neither a number nor a date: put text in quotes, and a column that begins with a digit in back-quotes",
    ),
    Rule("ds = null", lambda at: at.kind() == TokenKind.NULL and at.wants_literal, _null_hint),
    Rule(
        "ds = hour", lambda at: at.kind() == TokenKind.NAME and at.wants_literal and not at.wants_column, _column_hint
    ),
    Rule(
        "in = 5",
        lambda at: at.kind() in KEYWORDS and at.wants_column and at.kind(1) == TokenKind.OPERATOR,
        lambda at: f"Put the column name {at.word()} in back-quotes",
    ),
    Rule(
        "$date = 'x'",
        lambda at: bool(_odd_name(at)),
        lambda at: f"Put a column name with such a character in back-quotes: `{_odd_name(at)}`",
    ),
    Rule(
        "1 = 1",
        lambda at: at.kind() in tuple(LITERAL_KINDS) and at.wants_column and not at.wants_literal,
        "One side of a comparison must be a column",
    ),
    Rule(
        "ds in ()",
        lambda at: (at.kind(-2), at.kind(-1), at.kind()) == (TokenKind.IN, TokenKind.OPEN, TokenKind.CLOSE),
        "An IN list needs at least one value",
    ),
    Rule(
        "ds = 1)", lambda at: at.kind() == TokenKind.CLOSE and at.unclosed() is None, "This parenthesis was not opened"
    ),
    Rule("(ds = 1", _is_unclosed, _unclosed_hint),
    Rule(
        "year(ds) = 2013",
        lambda at: at.kind(-1) == TokenKind.NAME and at.kind() == TokenKind.OPEN,
        lambda at: did_you_mean(
            at.word(-1), ("time_range_in",), "There is no function but TIME_RANGE_IN: compare the column itself"
        ),
    ),
    Rule(
        "active and ds = 1",
        lambda at: at.kind(-1) == TokenKind.NAME and at.kind() in _ENDS and not at.wants_column,
        "A column alone is not a condition: compare it, for instance with true",
    ),
    Rule(
        "ds = 1 garbage",
        lambda at: at.expected.issuperset(("AND", "OR")),
        "The condition before this is complete: only AND or OR can follow",
    ),
)


def hint(mistake: Mistake) -> str | None:
    """What to write instead; None if no rule knows."""
    for rule in RULES:
        if rule.applies(mistake):
            return rule.hint if isinstance(rule.hint, str) else rule.hint(mistake)
    return None
