"""A place among the tokens of a text, from which they are read one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Final, NoReturn

from sqlglot import Token, TokenType
from sqlglot.errors import ParseError

_NO_WORDS: Final = frozenset(
    (TokenType.STRING, TokenType.IDENTIFIER, TokenType.NUMBER, TokenType.HEX_STRING, TokenType.NATIONAL_STRING)
)
_WORD: Final = re.compile(r"\w+")
_END: Final = Token(TokenType.SENTINEL, "")


def misplaced(text: str, error: ParseError) -> tuple[int | None, str, str | None]:
    r"""Where a text does not parse, what stands there, and what should; None for what the error does not say.

    >>> position = {"line": 2, "col": 1, "highlight": "*"}
    >>> misplaced("1 +\n*", ParseError("", [{"description": "Expected an expression", **position}]))
    (4, '*', 'an expression')
    """
    first = error.errors[0] if error.errors else {"highlight": "nothing", "line": 1, "col": 0}
    line, end, token = first.get("line"), first.get("col"), str(first.get("highlight") or "")
    _, is_said, what = str(first.get("description", "")).partition("Expected ")
    offset = None
    if isinstance(line, int) and isinstance(end, int):
        before = sum(len(one) + 1 for one in text.split("\n")[: line - 1])
        offset = min(max(0, before + end - len(token)), len(text))
    return offset, token or "the end", what if is_said else None


class TokenCursor:
    """A place among tokens.

    Attributes:
        at: the number of the next token.
    """

    def __init__(self, tokens: Sequence[Token], at: int, refuse: Callable[[str, Token], None]) -> None:
        self.at = at
        self._tokens = tokens
        self._refuse = refuse
        self._word_at, self._word = -1, ""

    @property
    def next(self) -> Token:
        """The next token; a SENTINEL behind the last."""
        return self.behind(0)

    def behind(self, number: int) -> Token:
        """The token that many behind the next."""
        at = self.at + number
        return self._tokens[at] if 0 <= at < len(self._tokens) else _END

    def token(self) -> Token:
        """The next token, which is read."""
        token = self.next
        self.at += 1
        return token

    def word(self, number: int = 0) -> str:
        """The word or sign that many tokens behind the next, in capitals; empty for literals and names in quotes."""
        at = self.at + number
        if at != self._word_at:  # it is asked many times what the next word is
            token = self.behind(number)
            self._word_at, self._word = at, "" if token.token_type in _NO_WORDS else token.text.upper()
        return self._word

    def skips(self, *words: str) -> bool:
        """Whether these words or signs come next; they are read then."""
        for number, word in enumerate(words):
            if self.word(number) != word:
                return False
        self.at += len(words)
        return True

    def expect(self, *words: str) -> None:
        """Read these words or signs.

        Raises:
            ParseError: others come next.
        """
        for word in words:
            if not self.skips(word):
                self.refuse(f"Expected {word}")

    def name(self, reserved: Collection[str] = ()) -> Token | None:
        """The name that comes next, in quotes or a word that is not reserved; None if none does."""
        token = self.next
        if token.token_type is not TokenType.IDENTIFIER:
            word = self.word()
            if word in reserved or not _WORD.fullmatch(word):
                return None
        self.at += 1
        return token

    def literal(self, kind: TokenType) -> Token | None:
        """The text or number that comes next; None if none does."""
        if self.next.token_type is not kind:
            return None
        return self.token()

    def refuse(self, message: str) -> NoReturn:
        """Say that the next token is not what it should be.

        Raises:
            ParseError: always.
        """
        self._refuse(message, self._tokens[min(self.at, len(self._tokens) - 1)])
        raise AssertionError(message)  # sqlglot was told to go on behind an error
