"""Shapes to programs: Lark's LALR(1) parser reads the kinds of a filter's tokens, its reductions write a program.

What Lark is given as text is the shape, one letter for each token; `ShapeLexer` is its lexer. Reductions come in
postfix order, so they only append to the program. An And inside an And is flattened here, once for each shape: the
inner Joint is taken out of the program and its children become the outer one's, as they stand next to each
other on the stack anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache, partial
from typing import Any, Final, NamedTuple

from lark import Lark, Token, Transformer, UnexpectedToken
from lark.lexer import Lexer

from hbstore.filters.literals import LITERAL, literal_list, one_literal
from hbstore.filters.programs import (
    OPERATORS,
    TURNED,
    Joint,
    LiteralItem,
    Program,
    Step,
    StructRow,
    between,
    comparison,
    contained,
    is_null,
    like,
    struct_contained,
    within_times,
)
from hbstore.filters.scanner import Scanner, TokenKind
from hbstore.filters.tree import And, Not, Or
from hbstore.servers.call_limits import check_wanted
from hbstore.texts.grammars import grammar_text

MAX_CACHED_SHAPE: Final = 50_000
"""Longer shapes, in tokens, are parsed each time: they hardly come back, and a program takes 80 bytes a token."""

_SHORT_SHAPE: Final = 500
_SHORT_SHAPES: Final = 512
_LONG_SHAPES: Final = 4


class ShapeToken:
    """A token of a shape as the parser sees it: its kind, its place, and the program that is being written.

    Lark has a Token class, which is made for texts with positions and takes three times as long to build.
    """

    __slots__ = ("program", "token", "type")

    start_pos = line = column = end_line = end_column = end_pos = None  # Lark looks for these at the end of the text

    def __init__(self, kind: str, token: int, program: list[Step | None]) -> None:
        self.type = kind
        self.token = token
        self.program = program


class ShapeLexer(Lexer):
    """Makes a token of each letter of a shape."""

    def __init__(self, _configuration: object) -> None:
        self._names = {kind.value: kind.name for kind in TokenKind}

    def lex(self, shape: str) -> Iterator[Token]:  # type: ignore[override]  # Lark's interface for custom lexers
        """The tokens, all of them with one new program."""
        names = self._names
        program: list[Step | None] = []
        for token, letter in enumerate(shape):
            check_wanted()
            yield ShapeToken(names[letter], token, program)  # type: ignore[misc]  # a Token in all that Lark reads


class Language(NamedTuple):
    """What is made of the grammar."""

    scanner: Scanner
    parser: Lark


class ShapeError(Exception):
    """A shape that does not parse: the first token that does not fit (past the last: the end), and what would."""

    def __init__(self, token: int, expected: frozenset[str]) -> None:
        super().__init__(token, expected)
        self.token = token
        self.expected = expected


@cache
def language() -> Language:
    """The scanner and the parser, made when first needed (20 ms)."""
    parser = Lark(
        grammar_text("filter.lark"), parser="lalr", lexer=ShapeLexer, start="filter", transformer=_ProgramWriter()
    )
    terminals = {
        TokenKind[each.name]: each.pattern.to_regexp() for each in parser.terminals if each.pattern is not None
    }
    return Language(Scanner(terminals), parser)


def compile_shape(shape: str) -> Program:
    """The program of a shape, from the cache where it holds it. O(tokens) the first time.

    Raises:
        ShapeError: no filter has this shape.

    >>> print(compile_shape("c=s&c?0").run(["ds", "=", "'x'", "and", "hour", "is", "null"], "sql"))
    ds = 'x' and hour is null
    """
    if len(shape) <= _SHORT_SHAPE:
        return _short_program(shape)
    if len(shape) <= MAX_CACHED_SHAPE:
        return _long_program(shape)
    return _compile(shape)


def _compile(shape: str) -> Program:
    try:
        program = language().parser.parse(shape)
    except UnexpectedToken as error:
        token = getattr(error.token, "token", len(shape))  # Lark's own token for the end has no place
        raise ShapeError(token, expected_after(shape[:token])) from None
    assert isinstance(program, Program)
    return program


def expected_after(shape: str) -> frozenset[str]:
    """What could follow a shape, read anew: the parser makes reductions that hide choices before it sees the fault."""
    parser = language().parser.parse_interactive(shape)
    parser.exhaust_lexer()
    return frozenset(parser.accepts())  # type: ignore[no-untyped-call]


# Two caches bound the memory of a process: at most 512 programs of 500 tokens (20 MB) and 4 of 50,000 (16 MB).
_short_program: Final = lru_cache(_SHORT_SHAPES)(_compile)
_long_program: Final = lru_cache(_LONG_SHAPES)(_compile)


class _Operand(NamedTuple):
    """What a reduction knows of the tree that its program leaves on the stack."""

    program: list[Step | None]
    node: type[And | Or] | None = None
    size: int = 1
    join: int = 0


class _ProgramWriter(Transformer[Any, Any]):
    """The reductions; each is named as in the grammar and gets what stands on the right of its rule."""

    def filter(self, children: list[_Operand]) -> Program:
        return Program(tuple([step for step in children[0].program if step is not None]))

    def either(self, children: list[Any]) -> _Operand:
        return _joined(Or, children[0], children[2])

    def both(self, children: list[Any]) -> _Operand:
        return _joined(And, children[0], children[2])

    def negated(self, children: list[Any]) -> _Operand:
        return _written(children[0].program, Joint(Not, 1))

    def group(self, children: list[Any]) -> Any:
        return children[1]

    def comparison(self, children: list[ShapeToken]) -> _Operand:
        left, operator, right = children
        turned = right.type == TokenKind.NAME.name
        column, literal = (right, left) if turned else (left, right)
        places = column.token, operator.token, literal.token
        operators = TURNED if turned else OPERATORS
        return _written(column.program, partial(comparison, *places, _EACH[literal.type], operators))

    def between(self, children: list[ShapeToken]) -> _Operand:
        column, low, high = children[0], children[-3], children[-1]
        converts = _EACH[low.type], _EACH[high.type]
        step = partial(between, column.token, (low.token, high.token), converts, negated=_is_negated(children))
        return _written(column.program, step)

    def isin(self, children: list[Any]) -> _Operand:
        column, items = children[0], _items(children[-2])
        return _written(column.program, partial(contained, column.token, items, negated=_is_negated(children)))

    def struct_in(self, children: list[Any]) -> _Operand:
        columns, rows = children[0], tuple(children[-2])
        places = tuple([column.token for column in columns])
        return _written(columns[0].program, partial(struct_contained, places, rows, negated=_is_negated(children)))

    def like(self, children: list[ShapeToken]) -> _Operand:
        column, pattern = children[0], children[-1]
        return _written(column.program, partial(like, column.token, pattern.token, negated=_is_negated(children)))

    def is_null(self, children: list[ShapeToken]) -> _Operand:
        column, _, *negation, _ = children
        return _written(column.program, partial(is_null, column.token, negated=bool(negation)))

    def in_time_range(self, children: list[ShapeToken]) -> _Operand:
        column, start, end = children[1], children[3], children[5]
        return _written(column.program, partial(within_times, column.token, start.token, end.token))

    def first(self, children: list[Any]) -> list[Any]:
        return children

    def further(self, children: list[Any]) -> list[Any]:
        children[0].append(children[2])  # in place: a list of n is n steps
        return children[0]  # type: ignore[no-any-return]

    def struct(self, children: list[Any]) -> list[ShapeToken]:
        return children[1]  # type: ignore[no-any-return]

    def row(self, children: list[Any]) -> StructRow:
        return StructRow(children[0].token, _items(children[1]))


def _written(program: list[Step | None], step: Step) -> _Operand:
    program.append(step)
    return _Operand(program)


def _is_negated(children: list[Any]) -> bool:
    """Whether a NOT stands behind the column or the columns."""
    return children[1].type == TokenKind.NOT.name  # type: ignore[no-any-return]


def _joined(node: type[And | Or], left: _Operand, right: _Operand) -> _Operand:
    """(a and b) and (c and d) = a and b and c and d."""
    program = left.program
    size = 0
    for operand in (left, right):
        size += operand.size if operand.node is node else 1
        if operand.node is node:
            program[operand.join] = None
    program.append(Joint(node, size))
    return _Operand(program, node, size, len(program) - 1)


def _items(tokens: list[ShapeToken]) -> tuple[LiteralItem, ...]:
    return tuple(
        [
            LiteralItem(token.token, literal_list if token.type == TokenKind.LITERALS.name else _ONE[token.type])
            for token in tokens
        ]
    )


_ONE: Final = {TokenKind(kind).name: one_literal(kind) for kind in LITERAL}
_EACH: Final = {TokenKind(kind).name: convert for kind, convert in LITERAL.items()}
