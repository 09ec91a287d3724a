"""Why a filter does not parse, in people's words: where, what was found, what was expected, what to write instead.

Only filters with errors come here, so this cuts the text a second time rather than burden every parse with positions.
"""

from __future__ import annotations

from typing import Final

from hbstore.errors import FilterError, FilterSyntaxError, InvalidTimeRange, TimeRangeSyntaxError
from hbstore.filters.compiler import language
from hbstore.filters.hints import Mistake, hint
from hbstore.filters.literals import LITERAL
from hbstore.filters.scanner import LITERAL_KINDS, TokenKind
from hbstore.texts.places import highlight, one_line, place
from hbstore.times.time_range import time_within

_FOUND_LENGTH: Final = 40
_LITERAL_NAMES: Final = frozenset(TokenKind(kind).name for kind in LITERAL_KINDS)
_WORDS: Final = {
    "NAME": "a column",
    "literal": "a literal",
    "STRING": "a string in quotes",
    "OPERATOR": "a comparison operator",
    "IN": "IN",
    "LIKE": "LIKE",
    "BETWEEN": "BETWEEN",
    "IS": "IS",
    "AND": "AND",
    "OR": "OR",
    "NULL": "NULL",
    "NOT": "NOT",
    "STRUCT": "STRUCT(",
    "TIME_RANGE_IN": "TIME_RANGE_IN(",
    "OPEN": "'('",
    "COMMA": "','",
    "CLOSE": "')'",
    "$END": "the end",
}
_EXAMPLES: Final = {
    TokenKind.DATE: "a date such as DATE '2019-12-31'",
    TokenKind.TIMESTAMP: "a timestamp such as TIMESTAMP '2019-12-31 23:59:59'",
    TokenKind.INTEGER: "a shorter number",
    TokenKind.NUMBER: "a shorter number",
}


class Diagnosis:
    """Finds the words for what is wrong with one filter."""

    def __init__(self, text: str) -> None:
        scanner = language().scanner
        self._text = text
        self._kinds, self._texts = scanner.cut(text)
        self._spans = scanner.spans(text)

    def unexpected(self, token: int, expected: frozenset[str]) -> FilterSyntaxError:
        """The token (past the last: the end) is not one of the expected kinds."""
        mistake = Mistake(self._text, self._kinds, self._texts, self._spans, token, expected)
        return self._error("the filter does not parse", token, words(expected), hint(mistake))

    def uneven_row(self, token: int, columns: int) -> FilterSyntaxError:
        """The STRUCT that begins at the token has not as many values as there are columns."""
        expected = "1 value" if columns == 1 else f"{columns} values"
        return self._error("a STRUCT with another number of values than columns", token, expected, None)

    def bad_time_range(self, token: int) -> FilterError:
        """The times that begin at the token are none, or the second is before the first."""
        (start, stop), (low, high) = self._spans[token], self._spans[token + 2]
        try:
            time_within(self._text, start + 1, stop - 1)
            time_within(self._text, low + 1, high - 1)
        except TimeRangeSyntaxError as error:
            return error
        line, column = place(self._text, low)
        return InvalidTimeRange(
            "the time range ends before it begins",
            highlight=highlight(self._text, low),
            hint="A range includes its start but not its end",
            line=line,
            column=column,
            start=self._texts[token],
            end=self._texts[token + 2],
        )

    def bad_literal(self) -> FilterSyntaxError | None:
        """The first literal that stands for no value; None if all do."""
        for token, (kind, text) in enumerate(zip(self._kinds, self._texts, strict=True)):
            if kind in LITERAL_KINDS:
                try:
                    LITERAL[kind](text)
                except ValueError as error:
                    reason = str(error)
                    return self._error(
                        "not a literal", token, _EXAMPLES[TokenKind(kind)], reason[:1].upper() + reason[1:]
                    )
        return None

    def _error(self, summary: str, token: int, expected: str, advice: str | None) -> FilterSyntaxError:
        start, stop = self._spans[token] if token < len(self._spans) else (len(self._text.rstrip()),) * 2
        line, column = place(self._text, start)
        return FilterSyntaxError(
            summary,
            highlight=highlight(self._text, start),
            hint=advice,
            line=line,
            column=column,
            found=_found(self._text[start:stop]),
            expected=expected,
        )


def column_highlight(text: str, column: str) -> str:
    """The line of a filter that names a column, with a caret below the name; empty where none does, or several do.

    For errors that were noticed when the filter had no places any more.

    >>> print(column_highlight("hour = 5 and month = 1", "month"))
    hour = 5 and month = 1
                 ^
    """
    scanner = language().scanner
    kinds, texts = scanner.cut(text)
    starts = [
        start
        for kind, word, (start, _) in zip(kinds, texts, scanner.spans(text), strict=True)
        if kind == TokenKind.NAME and word.lower() == column.lower()
    ]
    return highlight(text, starts[0]) if len(starts) == 1 else ""


def words(expected: frozenset[str]) -> str:
    """Kinds of tokens as people call them.

    >>> words(frozenset({"OPERATOR", "IN", "LIKE", "BETWEEN", "IS", "NOT"}))
    'a comparison operator, IN, LIKE, BETWEEN or IS'
    """
    names = set(expected)
    if names >= _LITERAL_NAMES:
        names = names - _LITERAL_NAMES | {"literal"}
    if "IS" in names:
        names.discard("NOT")  # that of NOT IN, NOT LIKE, NOT BETWEEN
    if "NAME" in names:
        names -= {"STRUCT", "TIME_RANGE_IN"}
    *most, last = [word for name, word in _WORDS.items() if name in names]
    return f"{', '.join(most)} or {last}" if most else last


def _found(token: str) -> str:
    """Words and literals as they are, signs in quotes as in `_WORDS`."""
    if not token:
        return "the end"
    if not token.isprintable() and len(token) == 1:
        return repr(token)
    shown = one_line(token)
    if len(shown) > _FOUND_LENGTH:
        return shown[: _FOUND_LENGTH - 1] + "…"
    return shown if any(character.isalnum() or character in "_'\"`" for character in shown) else f"'{shown}'"
