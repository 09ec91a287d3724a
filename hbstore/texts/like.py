r"""LIKE patterns in two dialects.

``sql``: ``%`` is any run of characters, ``_`` one character, a backslash takes the next ``%``, ``_`` or backslash as it
is. ``hive2``: ``.*`` is any run, ``.`` one character, all else literal: what Hive 2.3 clients, Spark's built-in one
among them, send to get_partitions_by_filter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Final, Literal, TypeAlias

from hbstore.errors import InvalidInput

LikeDialect: TypeAlias = Literal["sql", "hive2"]


class Wildcard(Enum):
    """The two wildcards, whatever the dialect writes for them."""

    RUN = "%"
    ONE = "_"


_LONG: Final = 1_000
RUN: Final = Wildcard.RUN
ONE: Final = Wildcard.ONE


@dataclass(frozen=True)
class LikePattern:
    """A pattern as literal runs and wildcards, without its dialect. It keeps its regular expression once that was used.

    >>> str(parse_like("2013-.*", "hive2"))
    '2013-%'
    >>> parse_like("a_c", "sql").matches("abc")
    True
    """

    parts: tuple[str | Wildcard, ...]

    def __str__(self) -> str:
        """The pattern in SQL's dialect."""
        return "".join(
            part.value if isinstance(part, Wildcard) else re.sub(r"([%_\\])", r"\\\1", part) for part in self.parts
        )

    @property
    def prefix(self) -> str:
        """The literal text that every match begins with.

        >>> parse_like("2013-%", "sql").prefix
        '2013-'
        """
        return self.parts[0] if self.parts and isinstance(self.parts[0], str) else ""

    @property
    def is_literal(self) -> bool:
        """Whether the pattern matches just one text.

        >>> parse_like("2013-01-01", "sql").is_literal
        True
        """
        return all(isinstance(part, str) for part in self.parts)

    @property
    def is_prefix(self) -> bool:
        """Whether the pattern is its `prefix` and then anything.

        >>> parse_like("2013-%", "sql").is_prefix, parse_like("2013-_", "sql").is_prefix
        (True, False)
        """
        return self.parts in ((RUN,), (self.prefix, RUN))

    def matches(self, text: str) -> bool:
        """Whether the whole text matches. O(text × longest literal).

        >>> parse_like("2013-%", "sql").matches("2013-01-01")
        True
        """
        return self._expression.match(text) is not None

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        return _compiled(self.parts)


def parse_like(pattern: str, dialect: LikeDialect) -> LikePattern:
    """The pattern that a text means in a dialect. Every text means one."""
    parts: list[str | Wildcard] = []
    literal: list[str] = []

    def end_literal() -> None:
        if literal:
            parts.append("".join(literal))
            literal.clear()

    at = 0
    while at < len(pattern):
        wildcard, literal_character, at = _next(pattern, at, dialect)
        if wildcard is None:
            literal.append(literal_character)
        else:
            end_literal()
            if not (wildcard is RUN and parts and parts[-1] is RUN):
                parts.append(wildcard)
    end_literal()
    return LikePattern(tuple(parts))


def like_dialect(name: str) -> LikeDialect:
    """The dialect of a name; InvalidInput for another."""
    if isinstance(name, str) and name == "sql":
        return "sql"
    if isinstance(name, str) and name == "hive2":
        return "hive2"
    raise InvalidInput("the LIKE dialect is unknown", dialect=repr(name), hint="Use 'sql' or 'hive2'")


def _next(pattern: str, at: int, dialect: LikeDialect) -> tuple[Wildcard | None, str, int]:
    character = pattern[at]
    following = pattern[at + 1 : at + 2]
    if dialect == "hive2":
        if character == ".":
            return (RUN, "", at + 2) if following == "*" else (ONE, "", at + 1)
    elif character == "\\" and following and following in "%_\\":
        return None, following, at + 2
    elif character in "%_":
        return (RUN if character == "%" else ONE), "", at + 1
    return None, character, at + 1


def _compiled(parts: tuple[str | Wildcard, ...]) -> re.Pattern[str]:
    """A run takes as little as it can and never gives back, which is right for LIKE and keeps `%a%a%a%b` linear.

    Only the last run is greedy: what follows it must stand at the end.
    """
    runs = [at for at, part in enumerate(parts) if part is RUN]
    bounds = [*runs, len(parts)]
    text = _segment(parts[: bounds[0]])
    for number, at in enumerate(runs):
        segment = _segment(parts[at + 1 : bounds[number + 1]])
        text += f".*{segment}" if number == len(runs) - 1 else f"(?>.*?{segment})"
    expression = re.compile(text + r"\Z", re.DOTALL)
    if len(text) > _LONG:
        re.purge()  # which keeps hundreds of expressions of any length
    return expression


def _segment(parts: tuple[str | Wildcard, ...]) -> str:
    return "".join("." if isinstance(part, Wildcard) else re.escape(part) for part in parts)
