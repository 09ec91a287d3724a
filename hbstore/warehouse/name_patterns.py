"""Patterns for names of databases, tables and columns, as Hive writes them and as JDBC's drivers do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from hbstore.errors import InvalidInput
from hbstore.servers.call_limits import check_wanted
from hbstore.texts.like import LikeDialect, LikePattern, parse_like

MAX_PATTERN: Final = 65_536
"""Characters of a pattern: hundreds of the longest names, each of which is compared with each name of the store."""

_JDBC_ALTERNATIVES: Final = re.compile(r"((?:\\.|[^\\|])*)(?:\||\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class NamePattern:
    """A pattern for names, whatever their case. Matching takes linear time.

    Attributes:
        alternatives: a name matches one of them, or any name does where there are none.
    """

    alternatives: tuple[LikePattern, ...] = ()

    @staticmethod
    def of_hive(text: str | None) -> NamePattern:
        """Hive's pattern: ``*`` is any run of characters, ``|`` stands between alternatives; None matches all.

        A dot is any one character, as Hive makes regular expressions of these patterns; all else stands for itself.

        Raises:
            InvalidInput: it is too long.

        >>> matches = NamePattern.of_hive("sal*|Flights").matches
        >>> [name for name in ("sales", "flights", "old_sales") if matches(name)]
        ['sales', 'flights']
        """
        if text is None or text == "*":
            return NamePattern()
        _check_length(text)
        return _pattern((part.replace("*", ".*") for part in text.strip().split("|")), "hive2")

    @staticmethod
    def of_jdbc(text: str | None) -> NamePattern:
        r"""The pattern of JDBC's metadata calls, as Hive and Spark understand it; none, or an empty one, matches all.

        ``%``, ``*`` and ``.*`` are any run of characters, ``_`` is one character, and ``|`` stands between
        alternatives. A backslash takes the next ``%``, ``_`` or backslash as it is.

        Raises:
            InvalidInput: it is too long.

        >>> matches = NamePattern.of_jdbc(r"sales\_%|old*").matches
        >>> [name for name in ("sales_2013", "SalesOf2013", "old", "Older") if matches(name)]
        ['sales_2013', 'old', 'Older']
        """
        if not text:
            return NamePattern()
        _check_length(text)
        parts = [match[1] for match in _JDBC_ALTERNATIVES.finditer(text) if match[0]] or [""]
        return _pattern(map(_runs, parts), "sql")

    @property
    def names(self) -> list[str] | None:
        """The only names that match, in lower case; None if there may be others.

        >>> NamePattern.of_jdbc("Sales").names, NamePattern.of_jdbc("sales_2013").names
        (['sales'], None)
        """
        if not self.alternatives or not all(pattern.is_literal for pattern in self.alternatives):
            return None
        return sorted({pattern.prefix for pattern in self.alternatives})

    def matches(self, name: str) -> bool:
        """Whether a name matches. It may be called off, as there may be many names.

        >>> NamePattern.of_jdbc("sal*").matches("SALES"), NamePattern().matches("sales")
        (True, True)
        """
        if not self.alternatives:
            return True
        check_wanted()
        lowered = name.lower()
        for pattern in self.alternatives:  # noqa: SIM110  a generator would take as long again
            if pattern.matches(lowered):
                return True
        return False


def _pattern(parts: Iterable[str], dialect: LikeDialect) -> NamePattern:
    """The pattern of alternatives, each of which counts once."""
    distinct = dict.fromkeys(part.lower() for part in parts)
    return NamePattern(tuple(parse_like(part, dialect) for part in distinct))


def _check_length(text: str) -> None:
    if len(text) > MAX_PATTERN:
        raise InvalidInput(
            "the pattern of names is too long",
            characters=len(text),
            limit=MAX_PATTERN,
            hint="Ask for fewer names at once, or for all of them",
        )


def _runs(text: str) -> str:
    """A pattern of JDBC with SQL's runs only."""
    return re.sub(r"\\.|\.?\*", lambda match: match[0] if match[0][0] == "\\" else "%", text, flags=re.DOTALL)
