r"""LIKE as a Java regular expression over a text cell's bytes, which region servers evaluate.

A text cell is a 02, UTF-8 with 00 written as 00 FF, and a 00. HBase decodes it as UTF-8 before it matches; FF is never
valid, so a NUL of the text arrives as U+0000 U+FFFD, and nothing else follows a U+0000 except the end. With that
spelled out the expression selects exactly what `LikePattern.matches` does.
"""

from __future__ import annotations

from typing import Final

from hbstore.keys.row_key import TAG_VALUE
from hbstore.texts.like import RUN, LikePattern, Wildcard

_NUL: Final = r"\x00\x{FFFD}"
_ONE: Final = rf"(?:{_NUL}|[^\x00])"
_BOUNDARY: Final = r"(?<!\x00)"
"""A run may not end between the two halves of a NUL."""

MAX_PARTS: Final = 100
"""Java's matcher takes a stack frame or two for each part of an expression."""


def java_pattern(pattern: LikePattern) -> bytes | None:
    r"""The expression for a pattern, in ASCII; None where it would be too long to be sent.

    As in `hbstore.texts.like` a run takes as little as it can and never gives back, except the last one, so that
    patterns like ``%a%a%a%b`` stay linear.

    >>> from hbstore.texts.like import parse_like
    >>> java_pattern(parse_like("a.%z", "sql")).decode()
    '(?s)\\A\\x02a\\.(?>.*(?<!\\x00)z\\x00\\z)'
    """
    if len(pattern.parts) + sum(part is not RUN and isinstance(part, Wildcard) for part in pattern.parts) > MAX_PARTS:
        return None
    pieces = [r"(?s)\A\x02"]
    runs = sum(part is RUN for part in pattern.parts)
    seen = 0
    for part in pattern.parts:
        if part is RUN:
            pieces.append(")" if seen > 0 else "")
            seen += 1
            pieces.append(f"(?>.*{_BOUNDARY}" if seen == runs else f"(?>.*?{_BOUNDARY}")
        elif isinstance(part, Wildcard):
            pieces.append(_ONE)
        else:
            pieces.append("".join(map(_literal, part)))
    pieces.append(r"\x00\z")
    pieces.append(")" if runs else "")
    return "".join(pieces).encode("ascii")


def text_prefix(text: str) -> bytes:
    """What the cells of all texts that begin with this one begin with.

    Raises:
        UnicodeEncodeError: no stored text can begin so (a lone surrogate).
    """
    return TAG_VALUE + text.encode().replace(b"\x00", b"\x00\xff")


def _literal(character: str) -> str:
    """One character, written so that neither Java's syntax nor the gateway's default character set can change it."""
    if character == "\x00":
        return _NUL
    if character.isascii() and character.isalnum():
        return character
    if character.isascii() and character.isprintable():
        return f"\\{character}"
    return f"\\x{{{ord(character):X}}}"
