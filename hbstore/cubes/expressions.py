"""Texts of expressions: whether they parse as Spark SQL, and which columns they name.

>>> [str(one) for one in columns_of("sum(case when store.region = 'eu' then price else 0 end)")]
['store.region', 'price']
>>> columns_of("price / (((")
Traceback (most recent call last):
    ...
hbstore.cubes.expressions.BadExpression: an expression
>>> columns_of("price - (select max(price) from sales)")
Traceback (most recent call last):
    ...
hbstore.cubes.expressions.BadExpression: no subquery
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hbstore.byte_cache import remembered

if TYPE_CHECKING:
    from sqlglot import Token


class BadExpression(ValueError):
    """A text that is no expression over the fields of a row.

    Attributes:
        expected: what should stand there.
        found: what does.
        offset: where, in characters from 0; None where that is not known.
    """

    def __init__(self, expected: str, found: str, offset: int | None = None) -> None:
        super().__init__(expected)
        self.expected = expected
        self.found = found
        self.offset = offset


@dataclass(frozen=True, slots=True)
class ColumnName:
    """A column as an expression names it.

    Attributes:
        parts: the names between its dots, in lower case, but for those of fields within it.
        offset: where it begins, in characters.
    """

    parts: tuple[str, ...]
    offset: int

    def __str__(self) -> str:
        return ".".join(self.parts)


@remembered
def columns_of(text: str) -> tuple[ColumnName, ...]:
    """The columns that an expression names, in the order in which they stand there. O(length).

    Functions may be any. What is not of one row or one group of rows is refused: windows, subqueries, parameters;
    and so are comments, which could hide what follows where the text is put into a query.

    Raises:
        BadExpression: it does not parse, or is refused.
    """
    from sqlglot import exp, parse_one, tokenize
    from sqlglot.errors import ParseError, SqlglotError

    from hbstore.cubes.dialect import QueryDialect
    from hbstore.cubes.rereading import lost_by
    from hbstore.cubes.token_cursor import misplaced

    try:
        _check_tokens(tokenize(text, read=QueryDialect))
        tree = parse_one(text, dialect=QueryDialect, into=exp.Condition)
    except ParseError as error:
        offset, token, expected = misplaced(text, error)
        raise BadExpression(expected or "an expression that parses", token, offset) from None
    except (SqlglotError, RecursionError):
        raise BadExpression("an expression that parses", text) from None
    refused = {
        exp.Window: "no window",
        exp.Query: "no subquery",
        exp.Placeholder: "no parameter",
        exp.Parameter: "no parameter",
    }
    columns = []
    for node in tree.walk():
        for kind, instead in refused.items():
            if isinstance(node, kind):
                raise BadExpression(instead, node.sql(dialect=QueryDialect))
        if isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count):
            raise BadExpression("the names of columns", "*")
        if isinstance(node, exp.Column):
            first, *rest = node.parts
            offset = first.meta.get("start", 0)
            columns.append(ColumnName((first.name.lower(), *(part.name.lower() for part in rest)), offset))
    lost = lost_by(tree, tree.sql(QueryDialect))
    if lost is not None:
        raise BadExpression("an expression that hbstore can write so that Spark reads the same", lost.sql(QueryDialect))
    return tuple(sorted(columns, key=lambda one: one.offset))


def _check_tokens(tokens: Iterable[Token]) -> None:
    for token in tokens:
        if token.token_type.name == "SEMICOLON":
            raise BadExpression("one expression", token.text)
        if token.comments or token.token_type.name == "HINT":
            raise BadExpression("no comment", token.comments[0].strip() if token.comments else token.text)
