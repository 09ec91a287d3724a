"""Hive's patterns for names of databases and tables: ``*`` is any run of characters, ``|`` stands between patterns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from hbstore.errors import InvalidInput
from hbstore.servers.call_limits import check_wanted
from hbstore.texts.like import parse_like

MAX_PATTERN: Final = 65_536
"""Characters of a pattern: hundreds of the longest names."""


def name_pattern(pattern: str | None) -> Callable[[str], bool]:
    """A function that tells whether a name matches, whatever its case; None matches all. It may be called off.

    A dot is any one character, as Hive makes regular expressions of these patterns; all else stands for itself, and
    matching takes linear time.

    Raises:
        InvalidInput: the pattern is too long.

    >>> matches = name_pattern("sal*|Flights")
    >>> [name for name in ("sales", "flights", "old_sales") if matches(name)]
    ['sales', 'flights']
    """
    if pattern is None or pattern == "*":
        return _anything
    if len(pattern) > MAX_PATTERN:
        raise InvalidInput(
            "the pattern of names is too long",
            characters=len(pattern),
            limit=MAX_PATTERN,
            hint="Ask for fewer names at once, or for all of them",
        )
    parts = [parse_like(part.lower().replace("*", ".*"), "hive2") for part in pattern.strip().split("|")]

    def matches(name: str) -> bool:
        check_wanted()
        return any(part.matches(name.lower()) for part in parts)

    return matches


def _anything(_: str) -> bool:
    return True
