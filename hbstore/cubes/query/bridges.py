"""Bridges: what lies behind an edge that leads to many rows is joined as one row for each key, so no row is multiplied.

    select sport.description, revenue …    where sport.description = 'Cricket'
    ->  LEFT JOIN (
            SELECT user_id AS `key`, SORT_ARRAY(COLLECT_SET(sport.description)) AS `set 0`,
                BOOL_OR(sport.description = 'Cricket') AS `has 1`
            FROM interests LEFT JOIN sports AS sport ON … GROUP BY user_id
        ) AS sport_0 ON payments.user_id = sport_0.`key`
        WHERE sport_0.`has 1` GROUP BY sport_0.`set 0`

All joins from the first such edge on go into the subquery. An expression that names their fields is computed there, in
each row, and becomes the set of its values; a comparison in WHERE becomes whether it holds for one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from hbstore.cubes.query.aggregates import is_aggregate
from hbstore.cubes.query.options import QueryOptions
from hbstore.cubes.query.resolved import Bridge, Join, Resolved
from hbstore.cubes.query.text import QueryText, offset_of, placed
from hbstore.errors import UnsupportedQuery

KEY: Final = "key"
"""What the column of a bridge is called by which it is joined."""

_CONNECTIVES: Final = (exp.And, exp.Or, exp.Not, exp.Paren)


def flatten(query: QueryText, resolved: Resolved, options: QueryOptions) -> None:
    """Put the joins of a query that lie behind edges to many rows into bridges, and its expressions with them.

    Raises:
        UnsupportedQuery: an expression looks at more than one bridge, or stands where a set cannot.
    """
    bridges = _Bridges(query, {})
    bridges.take_joins(resolved)
    if not bridges.of:
        return
    if options.join_type not in ("LEFT", "INNER"):
        raise query.error(
            UnsupportedQuery,
            "bridge tables are flattened only by left and inner joins",
            None,
            join_type=options.join_type.lower(),
            hint="Ask with join_type left or inner, or without flatten_bridges",
        )
    resolved.select = [(alias, bridges.as_set(tree)) for alias, tree in resolved.select]
    resolved.group = [bridges.as_set(tree) for tree in resolved.group]
    resolved.order = [(bridges.as_set(tree), descends, nulls) for tree, descends, nulls in resolved.order]
    if resolved.where is not None:
        resolved.where = bridges.condition(resolved.where)
    if resolved.having is not None:
        bridges.refuse(resolved.having, "HAVING names a field behind a bridge table", "Put the condition into WHERE")


@dataclass(slots=True)
class _Bridges:
    """The bridges of a query.

    Attributes:
        query: for errors.
        of: by the alias of a join that lies behind a bridge, the join that leads to the bridge.
    """

    query: QueryText
    of: dict[str, Join]

    def take_joins(self, resolved: Resolved) -> None:
        """Move the joins behind bridges into these."""
        made: dict[object, Join] = {}
        for key, join in resolved.joins.items():
            found = self._found(join.on)
            if join.side is not None:
                hint = "Join the dimension by a field of the cube, or ask without flatten_bridges"
                self.refuse(join.on, "ON names a field behind a bridge table", hint)
                made[key] = join
            elif found:
                bridge = found[0].bridge
                assert bridge is not None
                bridge.joins.append(join)
                self.of[join.alias] = found[0]
            elif join.to_many:
                here, there = join.on.this, join.on.expression
                on = exp.EQ(this=here, expression=exp.column(KEY, table=join.alias, quoted=True))
                made[key] = Join(join.alias, join.dimension, on, bridge=Bridge(there))
                self.of[join.alias] = made[key]
            else:
                made[key] = join
        resolved.joins = made

    def as_set(self, tree: exp.Expr) -> exp.Expr:
        """The sorted set of an expression's values; the expression itself where it names nothing behind a bridge."""
        join = self._bridge(tree)
        if join is None:
            return tree
        return self._column(join, "set", tree, _sorted_set(tree))

    def condition(self, tree: exp.Expr) -> exp.Expr:
        """A condition in which each comparison behind a bridge asks whether it holds for one value of the set."""

        def changed(node: exp.Expr) -> exp.Expr:
            join = None if isinstance(node, _CONNECTIVES) else self._bridge(node)
            if join is None:
                return node
            if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
                # A set holds no NULL: it is empty or not, and there is none for a row that meets no bridge row.
                some = exp.Coalesce(this=self._has(join, _negated(node)), expressions=[exp.false()])
                return exp.Not(this=some)
            if isinstance(node, exp.NEQ | exp.NullSafeNEQ) or node.args.get("negate"):
                return exp.Not(this=self._has(join, _negated(node)))
            return self._has(join, node)

        return tree.transform(changed)

    def refuse(self, tree: exp.Expr, text: str, hint: str) -> None:
        """Refuse an expression that names a field behind a bridge."""
        for node in tree.find_all(exp.Column):
            if node.table in self.of:
                at = tree if offset_of(node) is None else node  # fields of a model's expression are not in the text
                raise self.query.error(UnsupportedQuery, text, at, field=f"{node.table}.{node.name}", hint=hint)

    def _has(self, join: Join, condition: exp.Expr) -> exp.Expr:
        return self._column(join, "has", condition, exp.LogicalOr(this=condition.copy()))

    def _column(self, join: Join, kind: str, tree: exp.Expr, aggregate: exp.Expr) -> exp.Expr:
        """A column of a bridge that holds an aggregate of its rows."""
        assert join.bridge is not None
        columns = join.bridge.columns
        name = next((name for name, one in columns.items() if one == aggregate), f"{kind} {len(columns)}")
        columns.setdefault(name, aggregate)
        return placed(exp.column(name, table=join.alias, quoted=True), offset_of(tree))

    def _found(self, tree: exp.Expr) -> list[Join]:
        """The joins to the bridges that a tree looks at, each once."""
        joins = (self.of[one.table] for one in tree.find_all(exp.Column) if one.table in self.of)
        return list({join.alias: join for join in joins}.values())

    def _bridge(self, tree: exp.Expr) -> Join | None:
        """The join to the bridge that an expression looks at; None where it looks at none."""
        found = self._found(tree)
        if not found:
            return None
        if any(is_aggregate(node) for node in tree.walk()):
            hint = "Ask for it without flatten_bridges; a condition on the field can stand in WHERE"
            self.refuse(tree, "an aggregate looks at a field behind a bridge table", hint)
        if any(self.of.get(node.table) is not found[0] for node in tree.find_all(exp.Column)):
            hint = "Let each expression and each comparison name fields behind one bridge table alone"
            self.refuse(tree, "an expression looks at both a bridge table's field and others", hint)
        return found[0]


def _sorted_set(tree: exp.Expr) -> exp.Expr:
    # With nulls_first sqlglot writes Spark's sort_array, and array_sort without it.
    return exp.ArraySort(this=exp.ArrayUniqueAgg(this=tree.copy()), nulls_first=exp.true())


def _negated(node: exp.Expr) -> exp.Expr:
    return exp.Not(this=node.copy())
