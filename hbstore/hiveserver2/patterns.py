"""Patterns of JDBC's metadata calls, as Hive and Spark understand them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from hbstore.errors import InvalidInput
from hbstore.texts.like import LikePattern, parse_like

MAX_PATTERN: Final = 4_096
"""Characters of a pattern: a dozen of the longest names, each of which is compared with each name of the store."""

_ALTERNATIVES = re.compile(r"((?:\\.|[^\\|])*)(?:\||\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class NamePattern:
    r"""A pattern for names of databases, tables or columns, whatever their case.

    ``%``, ``*`` and ``.*`` are any run of characters, ``_`` is one character, and ``|`` stands between alternatives. A
    backslash takes the next ``%``, ``_`` or backslash as it is. No pattern, or an empty one, matches every name.

    >>> pattern = NamePattern.of(r"sales\_%|old*")
    >>> [name for name in ("sales_2013", "SalesOf2013", "old", "Older") if pattern.matches(name)]
    ['sales_2013', 'old', 'Older']
    """

    alternatives: tuple[LikePattern, ...]

    @staticmethod
    def of(text: str | None) -> NamePattern:
        """The pattern of a text.

        Raises:
            InvalidInput: it is too long.

        >>> NamePattern.of(None).matches("sales"), NamePattern.of("sale_").matches("sales")
        (True, True)
        """
        if not text:
            return NamePattern(())
        if len(text) > MAX_PATTERN:
            raise InvalidInput(
                "the pattern of names is too long",
                characters=len(text),
                limit=MAX_PATTERN,
                hint="Ask for fewer names at once, or for all of them",
            )
        parts = [match[1] for match in _ALTERNATIVES.finditer(text) if match[0]] or [""]
        return NamePattern(tuple(parse_like(_runs(part.lower()), "sql") for part in parts))

    @property
    def names(self) -> list[str] | None:
        """The only names that match, in lower case; None if there may be others.

        >>> NamePattern.of("Sales").names, NamePattern.of("sales_2013").names
        (['sales'], None)
        """
        if not self.alternatives or not all(pattern.is_literal for pattern in self.alternatives):
            return None
        return sorted({pattern.prefix for pattern in self.alternatives})

    @property
    def matches(self) -> Callable[[str], bool]:
        """Whether a name matches.

        >>> NamePattern.of("sal*").matches("SALES")
        True
        """
        if not self.alternatives:
            return lambda _: True
        return lambda name: any(pattern.matches(name.lower()) for pattern in self.alternatives)


def _runs(text: str) -> str:
    """A pattern with SQL's runs only."""
    return re.sub(r"\\.|\.?\*", lambda match: match[0] if match[0][0] == "\\" else "%", text, flags=re.DOTALL)
