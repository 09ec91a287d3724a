"""Trees of expressions: what takes the place of a part stands there in brackets, unless it is of one piece.

A tree is written node by node, and brackets are nodes of their own: ``a - b`` in the place of ``d`` in ``10 - d`` would
be written ``10 - a - b``. So whatever puts a tree into another one does it here.

>>> from sqlglot import parse_one
>>> from hbstore.cubes.query.text import DIALECT
>>> meant = {"d": parse_one("a - b", dialect=DIALECT), "e": parse_one("f(x)", dialect=DIALECT)}
>>> tree = parse_one("10 - d + e", dialect=DIALECT)
>>> with_replaced(tree, lambda node: meant[node.name] if isinstance(node, exp.Column) else node).sql(DIALECT)
'10 - (a - b) + F(x)'
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlglot import exp

_OF_ONE_PIECE: Final = (exp.Column, exp.Literal, exp.Boolean, exp.Null, exp.Paren, exp.Dot)

_AROUND: Final = (type(None), exp.Paren, exp.Anonymous, exp.AggFunc)
"""Parents that have brackets of their own, or commas, around each child; none at the root."""


def with_replaced(tree: exp.Expr, of: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """A copy of a tree with others in the places of some of its nodes.

    Args:
        tree: the tree.
        of: what stands in a node's place; the node itself where it stays. What is put in is not looked at again.
    """

    def replaced(node: exp.Expr) -> exp.Expr:
        other = of(node)
        return other if other is node or isinstance(node.parent, _AROUND) else of_one_piece(other)

    return tree.transform(replaced)


def of_one_piece(tree: exp.Expr) -> exp.Expr:
    """A tree as it can stand anywhere in another one: in brackets, where operators beside it could divide it."""
    whole = isinstance(tree, _OF_ONE_PIECE) or (isinstance(tree, exp.Func) and not isinstance(tree, exp.Binary))
    return tree if whole else exp.Paren(this=tree)
