"""A tree as lines, one for each node, with branches drawn before them."""

from __future__ import annotations

from hbstore.filters.tree import And, ExpressionTree, Not, Or, tree_text
from hbstore.texts.wording import clipped

_LONGEST = 160
"""Characters of a line."""


def tree_lines(tree: ExpressionTree, most: int) -> tuple[list[str], int]:
    r"""The lines of a tree's first nodes, and how many more there are. O(nodes), whatever the depth.

    >>> from hbstore.filters.parser import parse_filter
    >>> print("\n".join(tree_lines(parse_filter("ds = '2013-01-01' and (hour < 3 or hour > 20)"), 10)[0]))
    AND
    ├ ds = '2013-01-01'
    └ OR
      ├ hour < 3
      └ hour > 20
    """
    lines: list[str] = []
    nodes = 0
    pending: list[tuple[ExpressionTree, str, str]] = [(tree, "", "")]
    while pending:
        node, lead, indent = pending.pop()
        nodes += 1
        children: tuple[ExpressionTree, ...] = ()
        if isinstance(node, And | Or | Not):
            children = (node.child,) if isinstance(node, Not) else tuple(node.children)
            text = type(node).__name__.upper()
        else:
            text = tree_text(node)
        if len(lines) < most:
            lines.append(clipped(f"{lead}{text}", _LONGEST))
        last = len(children) - 1
        pending += [
            (child, f"{indent}{'└' if at == last else '├'} ", f"{indent}{' ' if at == last else '│'} ")
            for at, child in reversed(list(enumerate(children)))
        ]
    return lines, nodes - len(lines)
