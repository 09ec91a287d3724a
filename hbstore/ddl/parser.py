"""Text to statements.

    text -- Lark (grammar/ddl.lark) --> tree -- Builder --> statements

All of a text is parsed before anything of it is done, the filters in it as well.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedInput

from hbstore.ddl.builder import BadString, Builder
from hbstore.ddl.statements import CubeQuery, Statement
from hbstore.errors import (
    CubeQueryError,
    DdlSyntaxError,
    FilterError,
    HbstoreError,
    TextError,
    TimeRangeSyntaxError,
)
from hbstore.filters.parser import parse_filter
from hbstore.texts.arguments import expect
from hbstore.texts.grammars import grammar_text
from hbstore.texts.places import highlight, one_line, place

MAX_LENGTH: Final = 4 * 1024 * 1024
"""Characters of a text."""

_FOUND_LENGTH: Final = 40
_SIGNS: Final = {
    "NAME": "a name",
    "STRING": "a string in quotes",
    "NUMBER": "a number",
    "COUNT": "a whole number of at most 18 digits",
    "BOOLEAN": "TRUE or FALSE",
    "NULL": "NULL",
    "EQUALS": "'='",
    "OPERATOR": "another comparison",
    "OPEN": "'('",
    "CLOSE": "')'",
    "COMMA": "','",
    "DOT": "'.'",
    "SEMICOLON": "';'",
    "$END": "the end",
}
_SPELLED: Final = {"CUBE_QUERY": "CUBE SELECT"}
_UNNAMED: Final = frozenset({"QUOTED", "COMMENT", "SPACE"})
# What is not closed reaches to the end and stays, as texts in quotes do: no sign in it is looked at again.
_KEPT: Final = r"""(?P<kept>'[^']*'?|"[^"]*"?|`[^`]*`?|/\*(?s:.*))"""
_WHERE: Final = len("where")


def parse_statements(text: str) -> list[Statement]:
    """The statements of a text, with semicolons between them. O(length).

    Raises:
        DdlSyntaxError: the text is not wholly made of statements; the error says where and what was expected.
        FilterError, CubeQueryError: a filter or a cube query in it does not parse; the place is that in the whole text.

    >>> [print(one) for one in parse_statements("show partitions sales; use `shop`;")]
    SHOW PARTITIONS sales
    USE shop
    [None, None]
    """
    return [statement for statement, _ in parse_script(text)]


def parse_script(text: str) -> list[tuple[Statement, str]]:
    """The statements of a text, each with its own text. Raises as `parse_statements`."""
    if len(expect("text", text, str, hint='Give a text, such as "SHOW PARTITIONS sales"')) > MAX_LENGTH:
        raise DdlSyntaxError("the text is too long", characters=len(text), limit=MAX_LENGTH, hint="Split the text")
    tree = _tree(text)
    _check_filters(text, tree)
    try:
        statements = Builder().script(tree)
    except BadString as error:
        raise _error(
            text, error.token.start_pos or 0, "not a string", "a string", "Half of a surrogate pair stands alone"
        ) from None
    _check_queries(text, [one for one in statements if isinstance(one, CubeQuery)])
    return list(zip(statements, _texts(text, tree), strict=True))


@contextmanager
def running(text: str, statement: Statement, number: int, count: int) -> Iterator[None]:
    """Inside, an error of a statement tells where in its text it is, and that the statements before it were run."""
    try:
        yield
    except HbstoreError as error:
        if isinstance(statement, CubeQuery) and isinstance(error, CubeQueryError | TimeRangeSyntaxError):
            _move(error, text, statement.text, statement.start)
        if count > 1:
            error.add_note(f"statement {number + 1} of {count}: hbstore ran the statements before it")
        raise


def _texts(text: str, tree: Tree[Token]) -> Iterator[str]:
    """The text of each statement: what stands between semicolons, unless nothing does."""
    start = 0
    texts: list[Tree[Token]] = []
    for child in tree.children:
        if isinstance(child, Tree):
            texts.append(child)
        else:
            yield from (text[start : child.start_pos].strip() for _ in texts)
            start, texts = child.end_pos or 0, []
    yield from (text[start:].strip() for _ in texts)


def _tree(text: str) -> Tree[Token]:
    parser: Any = _parser().parse_interactive(text)  # Lark says nothing of its types
    try:
        for token in parser.lexer_thread.lex(parser.parser_state):
            if token.type == "WHERE":
                token.value = _without_comments(token.value)
            parser.feed_token(token)
        tree: Tree[Token] = parser.feed_eof()
    except UnexpectedInput as error:
        raise _unexpected(text, error, parser.accepts()) from None
    return tree


@cache
def _parser() -> Lark:
    return Lark(grammar_text("ddl.lark"), start="script", parser="lalr", maybe_placeholders=False)


@cache
def _comments() -> re.Pattern[str]:
    """Comments as the grammar has them, and what may look like them and is kept."""
    return re.compile(f"{_parser().get_terminal('COMMENT').pattern.to_regexp()}|{_KEPT}")


def _without_comments(filter: str) -> str:
    """A filter with spaces for its comments, so that all else stays in its place."""
    return _comments().sub(lambda found: found["kept"] or re.sub(r"[^\n]", " ", found[0]), filter)


def _check_filters(text: str, tree: Tree[Token]) -> None:
    """See that filters parse; errors name the place in the whole text.

    Raises:
        FilterError: one does not.
        DdlSyntaxError: one is empty, which would mean all partitions.
    """
    for token in tree.scan_values(lambda one: isinstance(one, Token) and one.type == "WHERE"):
        start = (token.start_pos or 0) + _WHERE
        where = token.value[_WHERE:]
        if not where.strip():
            raise _error(text, start + len(where), "the statement does not parse", "a filter", None)
        try:
            parse_filter(where)
        except FilterError as error:
            _move(error, text, where, start)
            raise


def _check_queries(text: str, queries: Sequence[CubeQuery]) -> None:
    """See that cube queries parse; errors name the place in the whole text.

    Raises:
        CubeSyntaxError, UnsupportedQuery: one does not.
    """
    if not queries:
        return
    from hbstore.cubes.query.text import parse_query  # which takes a while, and most texts have no query

    for query in queries:
        try:
            parse_query(query.text)
        except CubeQueryError as error:
            _move(error, text, query.text, query.start)
            raise


def _move(error: TextError, text: str, part: str, start: int) -> None:
    """Turn an error's place in a part of a text into its place in the whole text."""
    line, column = error.fields.get("line"), error.fields.get("column")
    if isinstance(line, int) and isinstance(column, int):
        offset = start + sum(len(one) + 1 for one in part.split("\n")[: line - 1]) + column - 1
        error.fields["line"], error.fields["column"] = place(text, offset)
        error.highlight = highlight(text, offset)


def _unexpected(text: str, error: UnexpectedInput, expected: Collection[str]) -> DdlSyntaxError:
    if isinstance(error, UnexpectedCharacters):
        at = error.pos_in_stream or 0
    else:
        token: Token = error.token  # type: ignore[attr-defined]
        at = len(text.rstrip()) if token.type == "$END" else token.start_pos or 0
    return _error(text, at, "the statement does not parse", _words(expected), _hint(text, at, expected))


def _words(expected: Collection[str]) -> str:
    """Kinds of tokens as people call them, keywords first.

    >>> _words({"NAME", "QUOTED", "FORMATTED", "EXTENDED"})
    'EXTENDED, FORMATTED or a name'
    """
    keywords = sorted(_SPELLED.get(name, name) for name in expected if name not in _SIGNS and name not in _UNNAMED)
    *most, last = [*keywords, *(word for name, word in _SIGNS.items() if name in expected)]
    return f"{', '.join(most)} or {last}" if most else last


def _hint(text: str, at: int, expected: Collection[str]) -> str | None:  # noqa: PLR0911  one for each mistake
    rest = text[at:]
    if rest[:1] in {"'", '"', "`"}:
        closing = rest[0]
        return f"The {closing} is not closed, or cannot stand here"
    if rest[:1] in {"‘", "’", "“", "”"}:
        return "Write strings in straight quotes: 'text'"
    if {"ANALYZE", "TRUNCATE"} <= {*expected} and rest[:1].isalpha():
        return "hbstore runs only these statements; Spark SQL runs all others"
    if "COMMA" in expected and re.match(r"and\b", rest, re.IGNORECASE):
        return "Write commas between conditions"
    if "STRING" in expected and "NUMBER" in expected and rest[:1].strip():
        return "Write values in quotes: ds = '2013-01-01'"
    if "NAME" in expected and rest[:1].strip():
        return "Put other names into back-quotes: `my table`"
    return None


def _error(text: str, at: int, summary: str, expected: str, advice: str | None) -> DdlSyntaxError:
    line, column = place(text, at)
    return DdlSyntaxError(
        summary,
        highlight=highlight(text, at),
        hint=advice,
        line=line,
        column=column,
        found=_found(text, at),
        expected=expected,
    )


def _found(text: str, at: int) -> str:
    """The word or the sign at a place, signs in quotes as in `_SIGNS`."""
    token = re.compile(r"\w+|[\s\S]|\Z").match(text, at)
    assert token is not None
    lexeme = token[0]
    if not lexeme:
        return "the end"
    if not lexeme.isprintable():
        return repr(lexeme)
    shown = one_line(lexeme)[:_FOUND_LENGTH]
    return shown if any(character.isalnum() or character == "_" for character in shown) else f'"{shown}"'
