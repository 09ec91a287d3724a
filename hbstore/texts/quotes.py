"""Where texts, names in quotes and comments of Spark SQL begin and end, as Spark's lexer has it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

COMMENT: Final = r"--[^\r\n]*+(?:(?<=\\)\n[^\r\n]*+)*(?!(?<=\\)\n)"
"""To the end of its line; one whose line ends in a backslash goes on in the next line, and cannot end before."""

_PIECE: Final = re.compile(
    r"""[rR]'[^']*'|[rR]"[^"]*"|\w+|'[^'\\]*(?:\\[\s\S][^'\\]*)*'|"[^"\\]*(?:\\[\s\S][^"\\]*)*"|`[^`]*`"""
    rf"""|{COMMENT}|(?!/\*)[^\w'"`]"""
)
"""A word, a text or a name in quotes, a comment, or another sign."""

_BRACKET: Final = re.compile(r"/\*|\*/")
_LEFT_OUT: Final = re.compile(r"""--|/\*|[rR]?['"]|`""")
_CONTINUED: Final = re.compile(r"(?<=\\)\n[^\r\n]*")


def unclosed(text: str) -> int | None:
    r"""Where the quote or the comment stands that is not closed, in characters; None if all are. O(length).

    >>> unclosed("select 'it''s' from `rides"), unclosed("select 'it\\'s' -- don't"), unclosed("select a /* b")
    (20, None, 9)
    """
    at = max((end for _, end in _pieces(text)), default=0)
    return at if at < len(text) else None


def without_continued_comments(text: str) -> str:
    r"""The same text, with blanks in place of what continues comments in the next lines. O(length).

    >>> without_continued_comments("a -- b \\\n+ c\n- d")
    'a -- b \\\n   \n- d'
    """
    if "\\\n" not in text or "--" not in text:
        return text
    made, end = [], 0
    for start, end in _pieces(text):
        piece = text[start:end]
        made.append(_CONTINUED.sub(_blank, piece) if piece.startswith("--") else piece)
    return "".join(made) + text[end:]


def bare(text: str) -> str:
    r"""The same text, with blanks in place of comments, texts and names in quotes. O(length).

    >>> bare("/* /* a */ */ select 'insert' -- b")
    '              select              '
    """
    made, end = [], 0
    for start, end in _pieces(text):
        piece = text[start:end]
        made.append(" " * len(piece) if _LEFT_OUT.match(piece) else piece)
    return "".join(made) + text[end:]


def comment_end(text: str, start: int) -> int | None:
    """Where a comment in brackets ends that begins at a place, in which others may stand; None if it does not."""
    depth = 0
    for bracket in _BRACKET.finditer(text, start):
        depth += 1 if bracket[0] == "/*" else -1
        if not depth:
            return bracket.end()
    return None


def _blank(line: re.Match[str]) -> str:
    return "\n" + " " * (len(line[0]) - 1)


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Where words, texts, comments and signs begin and end, up to the first that is not closed."""
    at = 0
    while at < len(text):
        piece = _PIECE.match(text, at)
        end = comment_end(text, at) if piece is None and text.startswith("/*", at) else piece and piece.end()
        if end is None:
            return
        yield at, end
        at = end
