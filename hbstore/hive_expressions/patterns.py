"""The patterns of Hive's LIKE. Those of RLIKE are Java's regular expressions, which hbstore does not read."""

from __future__ import annotations

from hbstore.hive_expressions.refusal import unreadable
from hbstore.texts.like import ONE, RUN, LikePattern, Wildcard


def like_pattern(text: str) -> LikePattern:
    r"""What a LIKE pattern of Hive's means: a backslash takes ``%`` or ``_`` behind it as it is.

    Raises:
        ExpressionUnreadable: two backslashes stand together, which Hive's versions read in different ways.

    >>> like_pattern("a\\_b%").parts
    ('a_b', <Wildcard.RUN: '%'>)
    """
    if "\\\\" in text:
        raise unreadable("a pattern of LIKE has two backslashes one behind the other", pattern=text)
    parts: list[str | Wildcard] = []
    at = 0
    while at < len(text):
        character = text[at]
        if character == "\\" and text[at + 1 : at + 2] in ("%", "_"):
            at += 1
            _append(parts, text[at])
        elif character == "%":
            if not parts or parts[-1] is not RUN:
                parts.append(RUN)
        elif character == "_":
            parts.append(ONE)
        else:
            _append(parts, character)
        at += 1
    return LikePattern(tuple(parts))


def _append(parts: list[str | Wildcard], character: str) -> None:
    if parts and isinstance(parts[-1], str):
        parts[-1] += character
    else:
        parts.append(character)
