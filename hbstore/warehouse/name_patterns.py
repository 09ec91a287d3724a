"""Hive's patterns for names of databases and tables: ``*`` is any run of characters, ``|`` stands between patterns."""

from __future__ import annotations

from collections.abc import Callable

from hbstore.texts.like import parse_like


def name_pattern(pattern: str | None) -> Callable[[str], bool]:
    """A function that tells whether a name matches, whatever its case; None matches all.

    A dot is any one character, as Hive makes regular expressions of these patterns; all else stands for itself, and
    matching takes linear time.

    >>> matches = name_pattern("sal*|Flights")
    >>> [name for name in ("sales", "flights", "old_sales") if matches(name)]
    ['sales', 'flights']
    """
    if pattern is None or pattern == "*":
        return _anything
    parts = [parse_like(part.lower().replace("*", ".*"), "hive2") for part in pattern.strip().split("|")]
    return lambda name: any(part.matches(name.lower()) for part in parts)


def _anything(_: str) -> bool:
    return True
