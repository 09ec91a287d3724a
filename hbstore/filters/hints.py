"""What to write instead: one small rule for each mistake that people make in filters.

A rule looks at the place where the parser stopped and returns a hint, or None if the mistake is another one. The first
hint wins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from hbstore.filters.scanner import KEYWORDS, LITERAL_KINDS, TokenKind
from hbstore.places import place


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


_INSTEAD: Final = {
    "||": "Use OR instead of ||",
    "&&": "Use AND instead of &&",
    "!": "Use NOT instead of !",
    ";": "Leave out the semicolon",
}
_BEFORE_FILTERS: Final = ("select", "where")


def _time_range(mistake: Mistake) -> str | None:
    """``time_range_in(ds, 2015-01-29, now.day)``."""
    opened = mistake.unclosed()
    if opened is None or mistake.kinds[opened] != TokenKind.TIME_RANGE_IN:
        return None
    if not mistake.kind() and TokenKind.CLOSE.name in mistake.expected:
        return None
    return "Write a column and two times in quotes, as in TIME_RANGE_IN(ds, '2015-01-29', 'now.day')"


def _escaped_quote(mistake: Mistake) -> str | None:
    """``ds = 'it's'``."""
    if mistake.kind(-1) != TokenKind.STRING or mistake.kind() in ("", TokenKind.CLOSE):
        return None
    if mistake.spans[mistake.token - 1][1] < mistake.spans[mistake.token][0]:
        return None
    return "Strings have no escapes: put a text that holds one kind of quote into the other kind"


def _unclosed_quote(mistake: Mistake) -> str | None:
    """``ds = 'x``."""
    return "The quote that begins here is not closed" if mistake.kind() == TokenKind.UNCLOSED else None


def _foreign_sign(mistake: Mistake) -> str | None:
    """``ds = 1 || ds = 2``."""
    return _INSTEAD.get(mistake.word())


def _statement(mistake: Mistake) -> str | None:
    """``where ds = 1``."""
    first = mistake.texts[0].lower() if mistake.texts else ""
    if first not in _BEFORE_FILTERS or mistake.token != 1:
        return None
    return "A filter is only the condition that follows WHERE in a query"


def _bare_list(mistake: Mistake) -> str | None:
    """``ds in 'a'``."""
    if mistake.kind(-1) != TokenKind.IN or mistake.kind() == TokenKind.OPEN:
        return None
    return "Put the values of IN in parentheses: hour in (5, 6)"


def _two_operators(mistake: Mistake) -> str | None:
    """``ds => 1``."""
    if mistake.kind() != TokenKind.OPERATOR or mistake.kind(-1) != TokenKind.OPERATOR:
        return None
    return "The operators are =, !=, <>, <, <=, > and >="


def _glued(mistake: Mistake) -> str | None:
    """``hour = 10x``."""
    if mistake.kind() != TokenKind.GLUED:
        return None
    return (
        "This is neither a number nor a date: put text in quotes, and a column that begins with a digit in back-quotes"
    )


def _null(mistake: Mistake) -> str | None:
    """``ds = null``."""
    if mistake.kind() != TokenKind.NULL or not mistake.wants_literal:
        return None
    negative = mistake.kind(-1) == TokenKind.OPERATOR and mistake.word(-1) in ("!=", "<>")
    return f"NULL cannot be compared: use IS {'NOT ' if negative else ''}NULL"


def _two_columns(mistake: Mistake) -> str | None:
    """``ds = hour``."""
    if mistake.kind() != TokenKind.NAME or not mistake.wants_literal or mistake.wants_column:
        return None
    if mistake.kind(-1) == TokenKind.OPERATOR:
        return "Columns cannot be compared with each other; put a text in quotes"
    return "Put a text in quotes"


def _keyword_column(mistake: Mistake) -> str | None:
    """``in = 5``."""
    if mistake.kind() in KEYWORDS and mistake.wants_column and mistake.kind(1) == TokenKind.OPERATOR:
        return f"Put the column name {mistake.word()} in back-quotes"
    return None


def _two_literals(mistake: Mistake) -> str | None:
    """``1 = 1``."""
    if mistake.kind() in tuple(LITERAL_KINDS) and mistake.wants_column and not mistake.wants_literal:
        return "One side of a comparison must be a column"
    return None


def _empty_list(mistake: Mistake) -> str | None:
    """``ds in ()``."""
    if mistake.kind() == TokenKind.CLOSE and mistake.kind(-1) == TokenKind.OPEN and mistake.kind(-2) == TokenKind.IN:
        return "An IN list needs at least one value"
    return None


def _stray_parenthesis(mistake: Mistake) -> str | None:
    """``ds = 1)``."""
    if mistake.kind() == TokenKind.CLOSE and mistake.unclosed() is None:
        return "This parenthesis was not opened"
    return None


def _unclosed_parenthesis(mistake: Mistake) -> str | None:
    """``(ds = 1``."""
    opened = mistake.unclosed()
    if mistake.kind() or opened is None or TokenKind.CLOSE.name not in mistake.expected:
        return None
    line, column = place(mistake.text, mistake.spans[opened][1] - 1)
    return f"The parenthesis at line {line}, column {column} is not closed"


def _function(mistake: Mistake) -> str | None:
    """``year(ds) = 2013``."""
    if mistake.kind() == TokenKind.OPEN and mistake.kind(-1) == TokenKind.NAME:
        return "There are no functions: compare the column itself"
    return None


def _bare_column(mistake: Mistake) -> str | None:
    """``active and ds = 1``."""
    if (
        mistake.kind(-1) == TokenKind.NAME
        and mistake.kind() in ("", TokenKind.AND, TokenKind.OR)
        and not mistake.wants_column
    ):
        return "A column alone is not a condition: compare it, for instance with true"
    return None


def _trailing(mistake: Mistake) -> str | None:
    """``ds = 1 garbage``."""
    if TokenKind.AND.name in mistake.expected and TokenKind.OR.name in mistake.expected:
        return "The condition before this is complete: only AND or OR can follow"
    return None


_RULES: Final[tuple[Callable[[Mistake], str | None], ...]] = (
    _unclosed_quote,
    _time_range,
    _foreign_sign,
    _statement,
    _bare_list,
    _escaped_quote,
    _two_operators,
    _glued,
    _null,
    _two_columns,
    _keyword_column,
    _two_literals,
    _empty_list,
    _stray_parenthesis,
    _unclosed_parenthesis,
    _function,
    _bare_column,
    _trailing,
)


def hint(mistake: Mistake) -> str | None:
    """What to write instead; None if no rule knows."""
    for rule in _RULES:
        found = rule(mistake)
        if found is not None:
            return found
    return None
