"""Trees as filter text, in the many ways in which people and programs write the same filter."""

from __future__ import annotations

from hbstore.filters.tree import (
    And,
    Between,
    Comparison,
    Holds,
    In,
    IsNull,
    Like,
    Not,
    Operator,
    Or,
    StructIn,
    Text,
    TimeRangeIn,
)
from hbstore.texts.like import RUN, parse_like

_SPELLINGS = {
    Operator.EQ: ("=", "=="),
    Operator.NE: ("!=", "<>"),
    Operator.LT: ("<",),
    Operator.LE: ("<=",),
    Operator.GT: (">",),
    Operator.GE: (">=",),
}
_TURNED = {
    Operator.EQ: Operator.EQ,
    Operator.NE: Operator.NE,
    Operator.LT: Operator.GT,
    Operator.LE: Operator.GE,
    Operator.GT: Operator.LT,
    Operator.GE: Operator.LE,
}


class UnwritableError(Exception):
    """The tree holds a text or a pattern that the language cannot write."""


def write(tree, dialect, random):
    """The text of a tree; None where there is none in this dialect."""
    try:
        return _Writer(dialect, random).tree(tree)
    except UnwritableError:
        return None


class _Writer:
    def __init__(self, dialect, random):
        self._dialect = dialect
        self._random = random

    def tree(self, node):
        if isinstance(node, And | Or):
            word = self._word("and" if isinstance(node, And) else "or")
            # OR binds loosest, so only an OR below an AND needs its parentheses.
            return f" {word} ".join(self._child(one, needed=isinstance(one, Or)) for one in node.children)
        if isinstance(node, Not):
            return f"{self._word('not')} {self._child(node.child, needed=isinstance(node.child, And | Or))}"
        return self._leaf(node)

    def _child(self, node, *, needed):
        text = self.tree(node)
        return f"({text})" if needed or self._random.random() < 0.2 else text

    def _leaf(self, node):  # noqa: PLR0911  one for each kind of leaf
        if isinstance(node, Comparison):
            return self._comparison(node)
        if isinstance(node, Between):
            low, high = self._literal(node.low), self._literal(node.high)
            return f"{self._column(node)}{self._not(node)} {self._word('between')} {low} {self._word('and')} {high}"
        if isinstance(node, In):
            literals = ", ".join(map(self._literal, node.literals))
            name = self._column(node)
            name = f"({name})" if self._random.random() < 0.5 else name
            return f"{name}{self._not(node)} {self._word('in')} ({literals})"
        if isinstance(node, StructIn):
            return self._struct_in(node)
        if isinstance(node, IsNull):
            return f"{self._column(node)} {self._word('is')}{self._not(node)} {self._word('null')}"
        if isinstance(node, TimeRangeIn):
            word = self._random.choice(("time_range_in(", "TIME_RANGE_IN (", "Time_Range_In( "))
            return f"{word}{self._column(node)}, '{node.start}' ,\"{node.end}\")"
        if isinstance(node, Holds):
            raise UnwritableError
        assert isinstance(node, Like)
        return f"{self._column(node)}{self._not(node)} {self._word('like')} {_quoted(self._pattern(node.pattern))}"

    def _comparison(self, node):
        name, literal = self._column(node), self._literal(node.literal)
        if self._random.random() < 0.3:
            return f"{literal} {self._random.choice(_SPELLINGS[_TURNED[node.operator]])} {name}"
        return f"{name} {self._random.choice(_SPELLINGS[node.operator])} {literal}"

    def _struct_in(self, node):
        names = ", ".join(map(_name, node.columns))
        const = self._random.choice(("const struct", "CONST STRUCT", "struct"))
        rows = ", ".join(f"{const}({', '.join(map(self._literal, row))})" for row in node.rows)
        columns = f"{self._word('struct')}({names})"
        columns = f"({columns})" if self._random.random() < 0.5 else columns
        return f"{columns}{self._not(node)} {self._word('in')} ({rows})"

    def _pattern(self, pattern):
        if self._dialect == "sql":
            return str(pattern)
        text = "".join(part if isinstance(part, str) else ".*" if part is RUN else "." for part in pattern.parts)
        if parse_like(text, "hive2") != pattern:
            raise UnwritableError
        return text

    def _literal(self, literal):
        return _quoted(literal.value) if isinstance(literal, Text) else str(literal)

    def _column(self, node):
        cases = (str, str.upper) if node.column.isascii() else (str,)
        return _name(self._random.choice(cases)(node.column))

    def _not(self, node):
        return f" {self._word('not')}" if node.negated else ""

    def _word(self, word):
        return word.upper() if self._random.random() < 0.3 else word


def _name(column):
    plain = column.isascii() and column.isidentifier() and column.lower() not in ("and", "between")
    return column if plain else "`{}`".format(column.replace("`", "``"))


def _quoted(text):
    if "'" not in text:
        return f"'{text}'"
    if '"' in text:
        raise UnwritableError
    return f'"{text}"'
