"""Quotes of a cube query that are not closed: sqlglot says only that there is one."""

from __future__ import annotations

import re
from typing import Final

_CLOSED: Final = re.compile(
    r"""[rR]'[^']*'|[rR]"[^"]*"|\w+|'[^'\\]*(?:\\[\s\S][^'\\]*)*'|"[^"\\]*(?:\\[\s\S][^"\\]*)*"|`[^`]*`"""
    r"""|--[^\n]*|/\*(?:[^*]|\*(?!/))*\*/|[^\w'"`]"""
)
"""A word, a text or a name in quotes, a comment, or another sign: what there is but quotes that are not closed."""


def unclosed(text: str) -> int | None:
    r"""Where the quote stands that is not closed, in characters; None if all are. O(length).

    >>> unclosed("select 'it''s' from `rides"), unclosed("select 'it\\'s' -- don't")
    (20, None)
    """
    at = 0
    while at < len(text):
        found = _CLOSED.match(text, at)
        if found is None:
            return at
        at = found.end()
    return None
