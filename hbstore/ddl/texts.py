"""Names and strings as statements write them, and what they stand for."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from hbstore.texts.grammars import grammar_text

_PLAIN: Final = re.compile(r"[A-Za-z0-9_]+")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([01][0-7]{2})|([\s\S]))")
_MEANS: Final = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_WRITTEN: Final = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_KEYWORD: Final = re.compile(r"^[A-Z]+\.[0-9]: /\(\?ai:([a-z|]+)\)", re.MULTILINE)


def quoted_name(name: str) -> str:
    """A name as it stands in a statement: in back-quotes where it has to be.

    >>> quoted_name("sales"), quoted_name("a b"), quoted_name("Partition")
    ('sales', '`a b`', '`Partition`')
    """
    if _PLAIN.fullmatch(name) and name.lower() not in _keywords():
        return name
    return f"`{name.replace('`', '``')}`"


def unquoted_name(text: str) -> str:
    """The name that a statement writes.

    >>> unquoted_name("`a``b`"), unquoted_name("sales")
    ('a`b', 'sales')
    """
    return text[1:-1].replace("``", "`") if text.startswith("`") else text


def quoted_string(value: str) -> str:
    r"""A string literal.

    >>> print(quoted_string("it's"), quoted_string("a\\b"))
    'it\'s' 'a\\b'
    """
    return f"'{''.join(_WRITTEN.get(character, character) for character in value)}'"


def unquoted_string(text: str) -> str:
    r"""What a string literal stands for, with Hive's escapes.

    ``\n``, ``\r``, ``\t``, ``\b``, ``\0``, ``\Z`` are control characters, ``\101`` and ``\u0041`` characters by their
    numbers, ``\%`` and ``\_`` stay as they are, and any other character after a backslash is itself.

    Raises:
        ValueError: it cannot be written as UTF-8: half of a surrogate pair stands alone.

    >>> unquoted_string(r"'it\'s'"), unquoted_string('"it\'s"'), unquoted_string(r"'\101\u0041'")
    ("it's", "it's", 'AA')
    """
    plain = _ESCAPE.sub(_meaning, text[1:-1])
    return plain.encode("utf-16", "surrogatepass").decode("utf-16")


def _meaning(match: re.Match[str]) -> str:
    if match[1] is not None:
        return chr(int(match[1], 16))
    if match[2] is not None:
        return chr(int(match[2], 8))
    return _MEANS.get(match[3], match[3])


@cache
def _keywords() -> frozenset[str]:
    return frozenset(word for words in _KEYWORD.findall(grammar_text("ddl.lark")) for word in words.split("|"))
