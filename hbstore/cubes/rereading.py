"""Whether a text says what it was written for: it is read again, and must be the tree that was meant.

sqlglot writes some trees as what Spark reads otherwise: brackets are missing where a name was replaced by an
expression, or a function of another engine has lost an argument on the way. Such a text is never given to Spark.

>>> from sqlglot import parse_one
>>> tree = parse_one("select 10 - a from b", dialect=QueryDialect)
>>> written(tree)
'SELECT 10 - a FROM b'
>>> tree.selects[0].expression.replace(parse_one("c - d", dialect=QueryDialect)).sql(QueryDialect)
'c - d'
>>> written(tree)
Traceback (most recent call last):
    ...
hbstore.errors.UnsupportedQuery: hbstore cannot write an expression so that Spark reads it as it was asked: ...
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from hbstore.cubes.dialect import QueryDialect
from hbstore.errors import UnsupportedQuery

_NOT_WRITTEN: Final = frozenset(("big_int", "quoted", "safe", "typed"))
"""What nodes have in their `args` for other engines alone, or that is written where it is needed."""

_ATOMS: Final = (exp.Boolean, exp.Column, exp.Literal, exp.Null, exp.Star)
_PLAIN_CALLS: Final = frozenset((exp.Avg, exp.Count, exp.Max, exp.Min, exp.Sum))
_PLAIN_COMPARISONS: Final = frozenset((exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NEQ))
"""Operators that, over names, literals and plain calls alone, cannot be read as anything else."""

BUILT: Final = "hbstore.built"
"""What a clause has in its `meta` that hbstore has built of columns and literals alone, and that is not read again: the
conditions by which partitions are read, which may be long."""

_SHOWN: Final = 200
"""Characters of an expression in an error."""


def written(query: exp.Expr, *, pretty: bool = False) -> str:
    """A query as Spark SQL, without comments; each of its expressions is read again. O(nodes).

    Raises:
        UnsupportedQuery: an expression is read as another one.
    """
    for expression in _expressions(query):
        lost = None if _is_plain(expression) else lost_by(expression, _sql(expression))
        if lost is not None:
            raise UnsupportedQuery(
                "hbstore cannot write an expression so that Spark reads it as it was asked",
                expression=_sql(lost)[:_SHOWN],
                hint="Write it with other functions or operators, and put brackets around their operands",
            )
    return _sql(query, pretty=pretty)


def lost_by(tree: exp.Expr, text: str) -> exp.Expr | None:
    """The smallest expression of a tree that a text does not say; None if it says the whole tree, brackets aside."""
    try:
        read = parse_one(text, dialect=QueryDialect, into=None if isinstance(tree, exp.Query) else exp.Condition)
    except SqlglotError:
        return tree
    pending = [(tree, read)]
    while pending:
        meant, actual = (node.unnest() for node in pending.pop())
        if type(meant) is not type(actual):
            return meant
        if isinstance(meant, exp.DataType):  # types have several names
            if _sql(meant) != _sql(actual):
                return _operator_of(meant)
            continue
        for ours, theirs in _parts(meant, actual):
            if isinstance(ours, exp.Expr) and isinstance(theirs, exp.Expr):
                pending.append((ours, theirs))
            elif ours != theirs:
                return _operator_of(meant)
    return None


def outside_built(query: exp.Expr) -> Iterator[exp.Expr]:
    """The nodes of a query, but those of the conditions that hbstore has built. O(nodes)."""
    return query.bfs(prune=lambda node: isinstance(node, exp.Where) and node.meta_get(BUILT))


def _expressions(query: exp.Expr) -> Iterator[exp.Expr]:
    """What a query selects, joins by, filters, groups and sorts by; so do the queries within it."""
    for select in outside_built(query):
        if not isinstance(select, exp.Select):
            continue
        yield from (column.unalias() for column in select.expressions)
        yield from (join.args["on"] for join in select.args.get("joins") or () if join.args.get("on") is not None)
        conditions = (select.args.get(name) for name in ("where", "having"))
        yield from (clause.this for clause in conditions if clause is not None and not clause.meta_get(BUILT))
        clauses = (select.args.get(name) for name in ("group", "order"))
        listed = (expression for clause in clauses if clause is not None for expression in clause.expressions)
        yield from (one.this if isinstance(one, exp.Ordered) else one for one in listed)


def _is_plain(node: exp.Expr) -> bool:
    """Whether there is nothing in an expression that could be lost."""
    if type(node) in _PLAIN_COMPARISONS:
        return all(map(_is_plain_operand, node.iter_expressions()))
    if isinstance(node, exp.Filter):  # FILTER (WHERE …) has brackets of its own
        return type(node.this) in _PLAIN_CALLS and _is_plain_operand(node.this) and _is_plain(node.expression.this)
    return _is_plain_operand(node)


def _is_plain_operand(node: exp.Expr) -> bool:
    is_call = type(node) in _PLAIN_CALLS
    return isinstance(node, _ATOMS) or (is_call and all(map(_is_plain_operand, node.iter_expressions())))


def _sql(tree: exp.Expr, *, pretty: bool = False) -> str:
    return tree.sql(QueryDialect, copy=False, pretty=pretty, comments=False)


def _parts(meant: exp.Expr, actual: exp.Expr) -> Iterator[tuple[Any, Any]]:
    """What two nodes of one class have in the same places."""
    if isinstance(meant, exp.Connector):  # of one kind, these may be grouped in any way
        yield from _pairs(list(meant.flatten()), list(actual.flatten()))
        return
    for name in {*meant.args, *actual.args} - _NOT_WRITTEN:
        ours, theirs = (node.args.get(name) or None for node in (meant, actual))
        if isinstance(ours, list) and isinstance(theirs, list):
            yield from _pairs(ours, theirs)
        elif name == "this" and isinstance(meant, exp.Anonymous):
            yield str(ours).upper(), str(theirs).upper()
        else:
            yield ours, theirs


def _pairs(ours: list[Any], theirs: list[Any]) -> Iterator[tuple[Any, Any]]:
    yield len(ours), len(theirs)
    yield from zip(ours, theirs, strict=False)


def _operator_of(node: exp.Expr) -> exp.Expr:
    """What a name, a number or a type stands in, which says more to people."""
    while isinstance(node, exp.Identifier | exp.Literal | exp.DataType | exp.Column) and node.parent is not None:
        node = node.parent
    return node
