"""Quotes and comments of a cube query that are not closed: sqlglot says only that there is one."""

from __future__ import annotations

import re
from typing import Final

_CLOSED: Final = re.compile(
    r"""[rR]'[^']*'|[rR]"[^"]*"|\w+|'[^'\\]*(?:\\[\s\S][^'\\]*)*'|"[^"\\]*(?:\\[\s\S][^"\\]*)*"|`[^`]*`"""
    r"""|--[^\n]*|(?!/\*)[^\w'"`]"""
)
"""A word, a text or a name in quotes, a comment to the end of its line, or another sign."""

_BRACKET: Final = re.compile(r"/\*|\*/")


def unclosed(text: str) -> int | None:
    r"""Where the quote or the comment stands that is not closed, in characters; None if all are. O(length).

    >>> unclosed("select 'it''s' from `rides"), unclosed("select 'it\\'s' -- don't"), unclosed("select a /* b")
    (20, None, 9)
    """
    at = 0
    while at < len(text):
        found = _CLOSED.match(text, at)
        end = _end_of_comment(text, at) if found is None and text.startswith("/*", at) else found and found.end()
        if end is None:
            return at
        at = end
    return None


def _end_of_comment(text: str, start: int) -> int | None:
    """Where a comment in brackets ends, in which others may stand; None if it does not."""
    depth = 0
    for bracket in _BRACKET.finditer(text, start):
        depth += 1 if bracket[0] == "/*" else -1
        if not depth:
            return bracket.end()
    return None
