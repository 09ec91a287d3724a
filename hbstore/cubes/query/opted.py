"""What options change of a resolved query: which fields it may name, how it is grouped, and what becomes a set."""

from __future__ import annotations

from sqlglot import exp

from hbstore.cubes.query.aggregate_calls import is_aggregate
from hbstore.cubes.query.bridges import flatten
from hbstore.cubes.query.options import QueryOptions
from hbstore.cubes.query.resolved import Resolved
from hbstore.cubes.query.text import DIALECT, QueryText
from hbstore.errors import UnsupportedQuery


def apply_options(query: QueryText, resolved: Resolved, options: QueryOptions) -> None:
    """Change a resolved query as the options say.

    Raises:
        UnsupportedQuery: it names a field behind a join chain, and may not; or a set stands where none can.
    """
    if not options.join_chains:
        _refuse_chains(query, resolved)
    if options.group_by_to_select and all(_is_aggregated(resolved, tree) for _, tree in resolved.select):
        resolved.select = [*_grouped_by(query, resolved), *resolved.select]
    trees = [*(tree for _, tree in resolved.select), resolved.having, *(tree for tree, *_ in resolved.order)]
    if not options.select_to_group_by and any(_is_aggregated(resolved, tree) for tree in trees):
        resolved.grouped = True
    if options.flatten_bridges:
        flatten(query, resolved, options)


def _refuse_chains(query: QueryText, resolved: Resolved) -> None:
    for join in resolved.joins.values():
        if join.side is None:
            raise query.error(
                UnsupportedQuery,
                "the query names a field behind a join chain, and the option join_chains says that it may not",
                None,
                cause="NO_JOIN_CONDITION_AVAILABLE",
                chain=join.alias,
                hint=f"Write JOIN {join.dimension.name} ON …, or ask with join_chains = true",
            )


def _grouped_by(query: QueryText, resolved: Resolved) -> list[tuple[str, exp.Expr]]:
    """What the query is grouped by, as it would be selected."""
    group = query.select.args.get("group")
    written = [] if group is None else group.expressions
    names = [one.name.lower() if isinstance(one, exp.Column) else one.sql(DIALECT, comments=False) for one in written]
    return [(name, tree.copy()) for name, tree in zip(names, resolved.group, strict=True)]


def _is_aggregated(resolved: Resolved, tree: exp.Expr | None) -> bool:
    """Whether a tree has an aggregate, or a measure, which stands for one."""
    measures = set() if resolved.cube is None else {one.name for one in resolved.cube.measures}
    return tree is not None and any(
        is_aggregate(node) or (isinstance(node, exp.Column) and node.table == resolved.root and node.name in measures)
        for node in tree.walk()
    )
