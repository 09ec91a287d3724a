"""Types of columns as Hive writes them, such as ``array<struct<a:int>>``: whether a text is one.

Types of partition columns, whose values are bytes of keys, are those of `hbstore.keys.types`; these are the types that
columns of files can have. grammar/hive_type.lark is the language. What a text means is left to who reads the files.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any, Final, Literal, TypeAlias

from lark import Lark, Token, Transformer, UnexpectedInput, UnexpectedToken, v_args

from hbstore.byte_cache import remembered
from hbstore.errors import InvalidType
from hbstore.texts.grammars import grammar_text
from hbstore.texts.places import highlight

InvalidTypes: TypeAlias = Literal["reject", "keep"]
"""What becomes of columns whose types Hive does not have."""

_PLAIN: Final = frozenset(
    (
        *("tinyint", "smallint", "int", "integer", "bigint", "float", "double", "decimal", "numeric", "boolean"),
        *("string", "binary", "date", "timestamp", "void", "interval_year_month", "interval_day_time"),
    )
)
_SIZED: Final = {"varchar": 65_535, "char": 255, "decimal": 38, "numeric": 38}
"""The greatest first number of types that have some."""

_SCALED: Final = ("decimal", "numeric")
_NESTED: Final = ("array", "map", "struct", "uniontype")
_ELSEWHERE: Final = {
    "bool": "boolean",
    "byte": "tinyint",
    "bytes": "binary",
    "datetime": "timestamp",
    "dec": "decimal",
    "list": "array",
    "long": "bigint",
    "real": "float",
    "short": "smallint",
    "text": "string",
    "union": "uniontype",
}
"""What other systems call some types."""

_DERIVED: Final = "<derived from deserializer>"
"""What Hive writes where the files themselves say it."""

_SIGNS: Final = {
    "WORD": "a type",
    "NUMBER": "a number",
    "ZONE": "a time zone in quotes",
    "FIELD": "a field's name",
    "LPAR": "'('",
    "RPAR": "')'",
    "LESSTHAN": "'<'",
    "MORETHAN": "'>'",
    "COMMA": "','",
    "COLON": "':'",
    "$END": "the end",
}
_CLOSEST: Final = 0.6
_FOUND: Final = re.compile(r"\w{1,40}|.|\Z", re.DOTALL)


def check_type(text: str) -> None:
    """See that a text is a type as Hive writes it, in any case. O(length), however deeply it is nested.

    Raises:
        InvalidType: it is none; ``fields`` holds ``type``, ``position`` (from 1), ``expected`` and ``found``.

    >>> check_type("map<string,array<struct<Amount:decimal(10,2),`a:b`:timestamp with local time zone>>>")
    >>> check_type("array<intt>")
    Traceback (most recent call last):
    hbstore.errors.InvalidType: unknown type: type=array<intt>, position=7, found=intt, expected=int. Did you mean int
    array<intt>
          ^
    """
    error = _error_of(text)
    if error is not None:
        raise error


def check_columns(columns: Iterable[tuple[str, str]]) -> None:
    """See that columns, each a name and a type, have types as Hive writes them.

    Raises:
        InvalidType: one has not; ``fields`` holds its name as ``column``.
    """
    for name, text in columns:
        try:
            check_type(text)
        except InvalidType as error:
            raise InvalidType(
                error.text, highlight=error.highlight, hint=error.hint, column=name, **error.fields
            ) from None


@remembered
def _error_of(text: str) -> InvalidType | None:
    """What is wrong with a type; None if nothing is."""
    if text == _DERIVED or text in _PLAIN:
        return None
    parser: Any = _parser().parse_interactive(text)  # Lark says nothing of its types
    last = None
    try:
        for token in parser.lexer_thread.lex(parser.parser_state):
            parser.feed_token(token)
            last = token
        parser.feed_eof()
    except UnexpectedInput as error:
        if last is not None and last.type == "WORD" and (expected := _expected(last.lower(), ())):
            return _unknown(text, last.start_pos, last, expected)
        at_end = isinstance(error, UnexpectedToken) and error.token.type == "$END"
        return _misplaced(text, len(text) if at_end else error.pos_in_stream or 0, parser.accepts() or {"$END"})
    except _NoSuchTypeError as error:
        return _unknown(text, error.at, error.name, error.expected)
    return None


class _NoSuchTypeError(Exception):
    """A type that parses and is none."""

    def __init__(self, name: Token, expected: str) -> None:
        super().__init__(str(name))
        self.at = name.start_pos or 0
        self.name = str(name)
        self.expected = expected


@v_args(inline=True)
class _Checked(Transformer[Token, None]):
    """Looks at each type as it is parsed, and keeps nothing of it."""

    def type(self, *parts: Token | None) -> None:
        """See that a type's word is one, and its numbers fit."""
        name = parts[0]
        if name is None or name.type != "WORD":
            return
        numbers = [int(one) for one in parts[1:] if one is not None]
        expected = _expected(name.lower(), numbers)
        if expected:
            raise _NoSuchTypeError(name, expected)


def _expected(word: str, numbers: Sequence[int]) -> str:
    """What should stand in the place of a word with numbers; nothing where it is a type."""
    if not numbers:
        if word in _PLAIN:
            return ""
        if word in _SIZED:
            return f"{word}(n)"
        return _nearest(word)
    if word not in _SIZED:
        return f"{word} without numbers" if word in _PLAIN else _nearest(word)
    most = _SIZED[word]
    if word in _SCALED:
        fits = 1 <= numbers[0] <= most and (len(numbers) == 1 or numbers[1] <= numbers[0])
        return "" if fits else f"{word}(p,s) with p from 1 to {most} and s from 0 to p"
    return "" if len(numbers) == 1 and 1 <= numbers[0] <= most else f"{word}(n) with n from 1 to {most:,}"


def _nearest(word: str) -> str:
    near = get_close_matches(word, [*_PLAIN, *_SIZED, *_NESTED, *_ELSEWHERE], 1, _CLOSEST)
    return _ELSEWHERE.get(near[0], near[0]) if near else "a type"


def _unknown(text: str, at: int, name: str, expected: str) -> InvalidType:
    some = f"{', '.join(sorted(_PLAIN - {'integer', 'numeric'}))}, varchar(n), char(n), decimal(p,s), array<…>, map<…>"
    return InvalidType(
        "unknown type",
        highlight=highlight(text, at),
        hint=f"Use one of {some}, struct<…>" if expected == "a type" else f"Did you mean {expected}",
        type=text,
        position=at + 1,
        found=name,
        expected=expected,
    )


def _misplaced(text: str, at: int, expected: Collection[str]) -> InvalidType:
    stands = _FOUND.match(text, at)
    return InvalidType(
        "the text is not a Hive type",
        highlight=highlight(text, at),
        hint="Write it as in array<int>, map<string,int>, struct<a:int,b:string>, decimal(10,2)",
        type=text,
        position=at + 1,
        found=stands[0] if stands and stands[0] else "the end",
        expected=" or ".join(sign for kind, sign in _SIGNS.items() if kind in expected),
    )


@cache
def _parser() -> Lark:
    return Lark(
        grammar_text("hive_type.lark"),
        start="type",
        parser="lalr",
        maybe_placeholders=False,
        transformer=_Checked(),
    )
