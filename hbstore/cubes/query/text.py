"""The text of a cube query: sqlglot reads it as Spark SQL, and what a cube query cannot hold is refused here.

    CUBE SELECT [DISTINCT] expression [alias], … FROM cube or dimension [alias] [JOIN dimension [alias] ON condition]…
    [WHERE condition] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT number] [OPTIONS (name = value, …)]

The word CUBE may be left out. The tree that sqlglot makes is all that later steps see: nothing of the text goes into
another query but through the tree, which sqlglot writes with its own quotes.

A tree is written node by node, and brackets are nodes of their own: ``a - b`` in the place of ``d`` in ``10 - d`` would
be written ``10 - a - b``. So whatever takes the place of a part stands there in brackets, unless it is of one piece:

>>> from sqlglot import parse_one
>>> meant = {"d": parse_one("a - b", dialect=DIALECT), "e": parse_one("f(x)", dialect=DIALECT)}
>>> tree = parse_one("10 - d + e", dialect=DIALECT)
>>> with_replaced(tree, lambda node: meant[node.name] if isinstance(node, exp.Column) else node).sql(DIALECT)
'10 - (a - b) + F(x)'

>>> parse_query("cube select revenue from sales where time_range_in(order_time, '2015', '2016')").select.sql(DIALECT)
"SELECT revenue FROM sales WHERE TIME_RANGE_IN(order_time, '2015', '2016')"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from sqlglot import exp, parse, parse_one
from sqlglot.errors import ParseError, SqlglotError

from hbstore.byte_cache import remembered
from hbstore.cubes.dialect import QueryDialect
from hbstore.cubes.function_calls import name_of
from hbstore.cubes.query.options_clause import without_options
from hbstore.cubes.token_cursor import misplaced
from hbstore.errors import CubeQueryError, CubeSyntaxError, UnsupportedQuery
from hbstore.texts.arguments import expect, expect_texts
from hbstore.texts.places import highlight, shown_at
from hbstore.texts.quotes import COMMENT, unclosed

DIALECT: Final = QueryDialect
MAX_LENGTH: Final = 100_000
"""Characters of a query."""

MAX_LIMIT: Final = 2**31 - 1
"""Of rows: Spark takes an int."""

TIME_RANGE_IN: Final = "time_range_in"

_SPACE: Final = rf"(?:\s|{COMMENT}|/\*(?:[^*]|\*(?!/))*\*/)"
_CUBE: Final = re.compile(rf"(?P<before>{_SPACE}*)cube(?={_SPACE}+select\b)", re.IGNORECASE)
_CLAUSES: Final = frozenset(("kind", "distinct", "expressions", "from_", "joins", "where", "group", "having", "order"))
_PARTS: Final = _CLAUSES | {"limit"}
_REFUSED: Final[tuple[tuple[type[exp.Expr], str, str], ...]] = (
    (exp.Window, "a window function", "Group by, or run the window over the rows of the answer"),
    (exp.Query, "a subquery", "Ask the two questions one after the other"),
    (exp.Placeholder, "a parameter", "Write the value"),
    (exp.Parameter, "a parameter", "Write the value"),
    (exp.Rollup, "ROLLUP", "Ask each grouping by itself"),
    (exp.Cube, "CUBE in GROUP BY", "Ask each grouping by itself"),
    (exp.GroupingSets, "GROUPING SETS", "Ask each grouping by itself"),
)
"""What a cube query cannot hold, and what to do instead."""

_WHOLE: Final = (exp.Query, exp.From, exp.Join, exp.Where, exp.Group, exp.Having, exp.Order, exp.Limit)
"""Clauses, and what holds these: where they begin says nothing of one of their parts."""

_OF_SEVERAL_ROWS: Final = frozenset(
    [
        *("collations", "explode", "explode_outer", "inline", "inline_outer", "json_tuple", "posexplode"),
        *("posexplode_outer", "sql_keywords", "stack", "variant_explode", "variant_explode_outer"),
    ]
)
"""Functions that make several rows of one."""


@dataclass(frozen=True, slots=True)
class QueryText:
    """A query that was parsed.

    Attributes:
        text: as the user wrote it.
        select: its tree.
        options: those that it ends with, by name.
    """

    text: str
    select: exp.Select
    options: Mapping[str, str] = field(default_factory=dict)

    def error(
        self, kind: type[CubeQueryError], text: str, node: exp.Expr | None, *, hint: str, **fields: object
    ) -> CubeQueryError:
        """An error with the place of a part of the text, or of what it stands in; without one where that is nowhere."""
        offset = None if node is None else _offset_near(node)
        where = {} if offset is None else shown_at(self.text, offset)
        return kind(text, hint=hint, **{**where, **fields})

    def unsupported(self, text: str, node: exp.Expr | None, *, hint: str, **fields: object) -> CubeQueryError:
        """The error for what could not be answered exactly."""
        return self.error(UnsupportedQuery, text, node, hint=hint, **fields)

    def highlight(self, node: exp.Expr) -> str:
        """The line of a part of the text, or of what it stands in, with a caret below; empty where that is nowhere."""
        offset = _offset_near(node)
        return "" if offset is None else highlight(self.text, offset)


def parse_query(text: str) -> QueryText:
    """The tree of a cube query.

    Raises:
        CubeSyntaxError: the text does not parse; the error says where.
        UnsupportedQuery: a part of it is SQL, but not of a cube query.
        InvalidInput: it is not a text, or one that cannot be written as UTF-8.
    """
    expect("text", text, str, hint='Give the text of the query, such as "cube select revenue from sales where …"')
    expect_texts(text=text)
    if len(text) > MAX_LENGTH:
        raise CubeSyntaxError("the query is too long", characters=len(text), limit=MAX_LENGTH, hint="Shorten it")
    cube = _CUBE.match(text)
    plain = text if cube is None else f"{cube['before']}    {text[cube.end() :]}"
    plain, options = without_options(plain, text)
    try:
        trees = [tree for tree in parse(plain, dialect=DIALECT) if tree is not None]
    except ParseError as error:
        raise _syntax_error(text, error) from None
    except (SqlglotError, RecursionError) as error:
        raise _unread(text, error) from None
    if len(trees) != 1:
        raise CubeSyntaxError("there is not one query", queries=len(trees), hint="Ask one query at a time")
    (tree,) = trees
    if not isinstance(tree, exp.Select):
        raise CubeSyntaxError("not a cube query", statement=tree.key.upper(), hint=_FORM)
    query = QueryText(text, tree, options)
    _check_parts(query)
    return query


def offset_of(node: exp.Expr) -> int | None:
    """Where a part of a query begins in its text, in characters; None for what is not of the text."""
    starts = (one.meta_get("start") for one in node.walk())  # `meta` makes a dict for each node, and copies have it
    return min((start for start in starts if start is not None), default=None)


def _offset_near(node: exp.Expr) -> int | None:
    """Where a part of a query begins; where its text does not say, as of a parameter, what it stands in does."""
    offset, at = offset_of(node), node.parent
    while offset is None and at is not None and not isinstance(at, _WHOLE):
        offset, at = offset_of(at), at.parent
    return offset


def placed(node: exp.Expr, offset: int | None) -> exp.Expr:
    """A tree that came in the place of a part of a query: it stands where that stood, for errors."""
    for one in node.walk():
        if one.meta_get("start") is not None:
            del one.meta["start"]
    if offset is not None:
        node.meta["start"] = offset
    return node


_FORM: Final = "Write CUBE SELECT … FROM cube WHERE time_range_in(time dimension, 'from', 'to')"


def _unwrap_from(query: QueryText) -> None:
    """Take the brackets in FROM away that change nothing: around its first tables, and around a single one.

    ``((rides) join station on …) join city on …`` joins from the left to the right without brackets, too.
    """
    select = query.select
    first, joins = _unwrapped(query, select.args["from_"].this)
    select.args["from_"].set("this", first)
    select.set("joins", [*joins, *(select.args.get("joins") or ())])
    for join in select.args["joins"]:
        table, inner = _unwrapped(query, join.this)
        if inner:
            what = "brackets around a join stand first in FROM"
            raise query.unsupported(what, table, hint="Join the dimensions one after the other")
        join.set("this", table)


def _unwrapped(query: QueryText, item: exp.Expr) -> tuple[exp.Expr, list[exp.Expr]]:
    """What stands in brackets, and what is joined to it there; as it is, where that is no table."""
    table, joins, alias = item, list[exp.Expr](), None
    while isinstance(table, exp.Subquery) and isinstance(table.this, exp.Subquery | exp.Table):
        joins = [*(table.args.get("joins") or ()), *joins]
        alias = alias or table.args.get("alias")
        table = table.this
    if not isinstance(table, exp.Table):
        return item, []
    joins = [*(table.args.get("joins") or ()), *joins]
    if alias is not None and (joins or table.alias):
        raise query.unsupported("brackets in FROM have a name", table, hint="Name the tables alone")
    table.set("joins", None)
    if alias is not None:
        table.set("alias", alias)
    return table, joins


def _check_parts(query: QueryText) -> None:
    """See that a query has no other clauses and expressions than those of cube queries."""
    select = query.select
    for name, part in select.args.items():
        if part and name not in _PARTS:
            node = part[0] if isinstance(part, list) else part
            clause = name.rstrip("_").replace("_", " ").upper()
            raise query.unsupported(
                f"a cube query has no {clause}",
                node if isinstance(node, exp.Expr) else None,
                hint=_FORM,
            )
    if select.args.get("from_") is None:
        raise CubeSyntaxError("the query names no cube", hint=_FORM)
    _unwrap_from(query)
    for node in select.walk():
        if node is not select:
            _check_node(query, node)
    group, distinct = select.args.get("group"), select.args.get("distinct")
    if group is not None and any(value for name, value in group.args.items() if name != "expressions"):
        hint = "Name the expressions to group by"
        raise query.unsupported("GROUP BY of a cube query is a list", group, hint=hint)
    if distinct is not None and distinct.args.get("on") is not None:
        hint = "Write DISTINCT, or group by what is to be there once"
        raise query.unsupported("a cube query has no DISTINCT ON", distinct, hint=hint)
    _check_numbers(query, select)


def _check_numbers(query: QueryText, select: exp.Select) -> None:
    """See that LIMIT is one that Spark knows, and that no place is negative: places of SELECT are seen later."""
    limit = select.args.get("limit")
    if limit is not None and not (
        isinstance(limit, exp.Limit) and isinstance(limit.expression, exp.Literal) and limit.expression.is_int
    ):
        raise query.unsupported("LIMIT is not a number", limit, hint="Write LIMIT 10")
    if limit is not None and int(limit.expression.this) > MAX_LIMIT:
        hint = f"Give at most {MAX_LIMIT:,}, or leave it out"
        raise query.unsupported("LIMIT is larger than Spark's", limit, hint=hint)
    clauses = filter(None, (select.args.get("group"), select.args.get("order")))
    for one in (expression for clause in clauses for expression in clause.expressions):
        node = one.this if isinstance(one, exp.Ordered) else one
        if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal) and node.this.is_int:
            hint = f"Give 1 to {len(select.expressions)}"
            raise query.unsupported("no such place in SELECT", node, place=f"-{node.this.this}", hint=hint)


def _check_node(query: QueryText, node: exp.Expr) -> None:
    for kind, what, hint in _REFUSED:
        if isinstance(node, kind):
            raise query.unsupported(f"a cube query cannot hold {what}", node, hint=hint)
    if name_of(node) in _OF_SEVERAL_ROWS:
        text = "a cube query cannot hold a function that makes several rows of one"
        raise query.unsupported(text, node, hint=_FORM)
    if isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count):
        text = "a cube query names its fields, and * does not"
        raise query.unsupported(text, node.parent, hint="Name the fields that you want")


def _unread(text: str, error: Exception) -> CubeSyntaxError:
    """The error for a text that is not made of words, texts and signs."""
    at = unclosed(text)
    if at is None:
        return CubeSyntaxError("the query does not parse", reason=error, hint=_FORM)
    sign = "/*" if text[at] == "/" else text[at]
    return CubeSyntaxError(
        "the query does not parse",
        **shown_at(text, at),
        found=sign,
        hint=f"Close the {sign}: all that follows it stands in it",
    )


def _syntax_error(text: str, error: ParseError) -> CubeSyntaxError:
    offset, token, expected = misplaced(text, error)
    if offset is None:
        return CubeSyntaxError("the query does not parse", hint=_FORM)
    return CubeSyntaxError(
        "the query does not parse",
        **shown_at(text, offset),
        found=token,
        **({"expected": expected} if expected else {}),
        hint="Correct what stands at the caret; docs/cube-queries.md has the language",
    )


_OF_ONE_PIECE: Final = (exp.Column, exp.Literal, exp.Boolean, exp.Null, exp.Paren, exp.Dot)

_AROUND: Final = (type(None), exp.Paren, exp.Anonymous, exp.AggFunc)
"""Parents that have brackets of their own, or commas, around each child; none at the root."""


def with_replaced(tree: exp.Expr, of: Callable[[exp.Expr], exp.Expr], *, copy: bool = True) -> exp.Expr:
    """A copy of a tree with others in the places of some of its nodes.

    Args:
        tree: the tree.
        of: what stands in a node's place; the node itself where it stays. What is put in is not looked at again.
        copy: whether it is a copy; else the tree itself is changed, which nobody else may have.
    """

    def replaced(node: exp.Expr) -> exp.Expr:
        other = of(node)
        return other if other is node or isinstance(node.parent, _AROUND) else of_one_piece(other)

    return tree.transform(replaced, copy=copy)


@remembered
def parsed(text: str) -> exp.Expr:
    """The tree of an expression that is not of the query, so that none of it has a place there; not to be changed."""
    return placed(parse_one(text, dialect=DIALECT, into=exp.Condition), None)


def tree_of(text: str, **parts: exp.Expr) -> exp.Expr:
    """The tree of an expression in which names stand for parts.

    >>> tree_of("10 - a", a=tree_of("b - c", b=exp.column("d"), c=exp.column("e"))).sql(DIALECT)
    '10 - (d - e)'
    """
    return with_replaced(parsed(text), lambda node: parts[node.name].copy() if isinstance(node, exp.Column) else node)


def of_one_piece(tree: exp.Expr) -> exp.Expr:
    """A tree as it can stand anywhere in another one: in brackets, where operators beside it could divide it."""
    whole = isinstance(tree, _OF_ONE_PIECE) or (isinstance(tree, exp.Func) and not isinstance(tree, exp.Binary))
    return tree if whole else exp.Paren(this=tree)
