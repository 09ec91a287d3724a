"""Frames: a filter's text without its literals, and those apart.

Programs ask the same questions again with other literals in them. Cutting a text at its literals takes a tenth of the
time of cutting it into tokens, and what was found out about a frame holds for every text that has it:

* Behind the literal of an operator, BETWEEN or IN, the grammar takes a literal of any kind.
* No token reaches into such a literal from outside, whatever stands in it. DATE and TIMESTAMP, which introduce one,
  take it for a part of theirs, in every text of the frame alike.

`is_framed` looks at one text of a frame and tells whether its literals are the ones that were cut out.

>>> frame_of("ds = '2013-01-01' and hour >= 5")
(('ds = ', ' and hour >= ', ''), ["'2013-01-01'", '5'])
"""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from hbstore.filters.compiler import language
from hbstore.filters.literals import LITERAL
from hbstore.filters.scanner import LITERAL_KINDS, TokenKind
from hbstore.filters.tree import Literal, Text

Frame: TypeAlias = tuple[str, ...]
"""What stands before, between and behind the literals."""

# Strings, whole numbers without a sign and bare dates. All begin with one of a few characters, which `re` looks for
# without trying anything else; what a number must not stand behind is therefore asked behind its first digit.
_LITERAL: Final = re.compile(
    r"""(['"0-9](?:(?<=')[^']*'|(?<=")[^"]*"|(?<=[0-9])(?<![\w.+-].)[0-9]*+(?:-[0-9]+-[0-9]+)?(?![\w.+-])))"""
)
_QUOTES: Final = ("'", '"')
_DATE: Final = LITERAL[TokenKind.DATE]
_INTEGER: Final = LITERAL[TokenKind.INTEGER]


def frame_of(text: str) -> tuple[Frame, list[str]]:
    """A text's frame, and the literals between its pieces as they stand there; any text has one. O(text)."""
    pieces = _LITERAL.split(text)
    return tuple(pieces[::2]), pieces[1::2]


def is_framed(text: str) -> bool:
    """Whether the literals of a filter that parses are just those which `frame_of` cuts out of it. O(text).

    >>> is_framed("hour = 5"), is_framed("hour = -5"), is_framed("`5` = 5")
    (True, False, False)
    """
    scanner = language().scanner
    kinds, _ = scanner.cut(text)
    literals = [span for kind, span in zip(kinds, scanner.spans(text), strict=True) if kind in LITERAL_KINDS]
    return literals == [found.span() for found in _LITERAL.finditer(text)]


def framed_literal(token: str) -> Literal:
    """The Literal of one that `frame_of` cut out.

    Raises:
        ValueError: it stands for nothing, such as 2019-13-45.
    """
    if token[0] in _QUOTES:
        return Text(token[1:-1])
    return _INTEGER(token) if token.isdigit() else _DATE(token)
