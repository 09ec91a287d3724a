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

With ``flatten_early`` the subquery has the sets of fields alone. Expressions are then computed over these: a function
of one value for each value, ``upper(sport.name)`` as ``TRANSFORM(`set 0`, one -> UPPER(one))``; a function of arrays,
such as ``size``, for the whole set; and a comparison asks whether a value of the set meets it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from hbstore.cubes.function_calls import call, name_of
from hbstore.cubes.query.aggregate_calls import is_aggregate
from hbstore.cubes.query.options import QueryOptions
from hbstore.cubes.query.resolved import STANDS_FOR, Bridge, Join, Resolved
from hbstore.cubes.query.text import DIALECT, QueryText, offset_of, placed, tree_of

KEY: Final = "key"
"""The column of a bridge by which it is joined."""

_CONNECTIVES: Final = (exp.And, exp.Or, exp.Not, exp.Paren)
_SET: Final = "set "
_ONE: Final = "one value"
"""The parameter of a function that is applied to each value of a set."""

_OF_ARRAYS: Final = frozenset(
    [
        *("array_contains", "array_distinct", "array_join", "array_max", "array_min", "array_position"),
        *("array_size", "array_sort", "cardinality", "element_at", "exists", "filter", "forall", "size"),
        *("slice", "sort_array", "transform", "try_element_at"),
    ]
)
"""Functions whose first argument is an array, and can be nothing else."""


def flatten(query: QueryText, resolved: Resolved, options: QueryOptions) -> None:
    """Put the joins of a query that lie behind edges to many rows into bridges, and its expressions with them.

    Raises:
        UnsupportedQuery: an expression looks at more than one bridge, or stands where a set cannot.
    """
    measures = () if resolved.cube is None else [measure.name for measure in resolved.cube.measures]
    bridges = _Bridges(query, {}, frozenset((resolved.root, name) for name in measures), early=options.flatten_early)
    bridges.take_joins(resolved)
    if not bridges.behind:
        return
    if options.join_type not in ("LEFT", "INNER"):
        raise query.unsupported(
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
        behind: by the alias of a join that lies behind a bridge, the join that leads to the bridge.
        measures: of the cube, as alias and name.
        early: whether expressions are computed over sets of fields.
    """

    query: QueryText
    behind: dict[str, Join]
    measures: frozenset[tuple[str, str]]
    early: bool

    def take_joins(self, resolved: Resolved) -> None:
        """Move the joins behind bridges into these."""
        joins: dict[object, Join] = {}
        for key, join in resolved.joins.items():
            behind = self._joins_to(join.on)
            if join.side is not None:
                hint = "Join the dimension by a field of the cube, or ask without flatten_bridges"
                self.refuse(join.on, "ON names a field behind a bridge table", hint)
                joins[key] = join
            elif behind:
                bridge = behind[0].bridge
                assert bridge is not None
                bridge.joins.append(join)
                self.behind[join.alias] = behind[0]
            elif join.to_many:
                nearer, farther = join.on.this, join.on.expression
                on = exp.EQ(this=nearer, expression=exp.column(KEY, table=join.alias, quoted=True))
                joins[key] = Join(join.alias, join.dimension, on, bridge=Bridge(farther))
                self.behind[join.alias] = joins[key]
            else:
                joins[key] = join
        resolved.joins = joins

    def as_set(self, tree: exp.Expr) -> exp.Expr:
        """The sorted set of an expression's values; the expression itself where it names nothing behind a bridge."""
        join = self._bridge(tree)
        if join is None:
            return tree
        if not self.early:
            return self._column(join, "set", tree, _sorted_set(tree))
        over_sets = self._over_sets(tree)
        field = self._field(over_sets)
        if field is None:
            return over_sets
        values = self._column(join, "set", field, _sorted_set(field))
        if over_sets.unnest() == field:
            return values
        return placed(call("transform", values, _for_one(over_sets, field)), offset_of(tree))

    def condition(self, tree: exp.Expr) -> exp.Expr:
        """A condition in which each comparison behind a bridge asks whether it holds for one value of the set."""

        def changed(node: exp.Expr) -> exp.Expr:
            join = None if isinstance(node, _CONNECTIVES) else self._bridge(node)
            if join is None:
                return node
            if self.early:
                node = self._over_sets(node)
                if self._field(node) is None:
                    return node
            if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
                # A set holds no NULL: it is empty or not, and there is none for a row that meets no bridge row.
                some = call("coalesce", self._has(join, _negated(node)), exp.false())
                return exp.Not(this=some)
            if isinstance(node, exp.NEQ | exp.NullSafeNEQ) or node.args.get("negate"):
                return exp.Not(this=self._has(join, _negated(node)))
            return self._has(join, node)

        return tree.transform(changed)

    def refuse(self, tree: exp.Expr, text: str, hint: str) -> None:
        """Refuse an expression that names a field behind a bridge."""
        for node in tree.find_all(exp.Column):
            if node.table in self.behind:
                at = tree if offset_of(node) is None else node  # fields of a model's expression are not in the text
                raise self.query.unsupported(text, at, field=f"{node.table}.{node.name}", hint=hint)

    def _has(self, join: Join, condition: exp.Expr) -> exp.Expr:
        """Whether a condition holds for one value: NULL where it is neither true nor false for any."""
        field = self._field(condition) if self.early else None
        if field is None:
            return self._column(join, "has", condition, exp.LogicalOr(this=condition.copy()))
        values = self._column(join, "set", field, _sorted_set(field))
        ifs = [
            exp.If(this=_any(values, _for_one(one, field)), true=truth)
            for one, truth in ((condition, exp.true()), (_negated(exp.paren(condition)), exp.false()))
        ]
        return placed(exp.Case(ifs=ifs), offset_of(condition))

    def _over_sets(self, tree: exp.Expr) -> exp.Expr:
        """A copy of an expression in which sets stand where its functions take arrays."""

        def changed(node: exp.Expr) -> exp.Expr:
            for argument in _arrays_of(node):
                if self._field(argument) is not None:
                    argument.replace(self.as_set(argument.copy()))
            return node

        copied = tree.copy()
        copied.meta.update(tree.meta)
        return copied.transform(changed, copy=False)

    def _field(self, tree: exp.Expr) -> exp.Column | None:
        """The field behind a bridge of which an expression looks at one value; None where it looks at whole sets."""
        fields = [
            column
            for column in tree.find_all(exp.Column)
            if column.table in self.behind and not column.name.startswith(_SET)
        ]
        if any(field != fields[0] for field in fields):
            hint = "Ask with flatten_early = false, or for each field by itself"
            self.refuse(tree, "an expression looks at two fields behind a bridge table, and sets keep no pairs", hint)
        return fields[0] if fields else None

    def _column(self, join: Join, kind: str, tree: exp.Expr, aggregate: exp.Expr) -> exp.Expr:
        """A column of a bridge that holds an aggregate of its rows."""
        assert join.bridge is not None
        columns = join.bridge.columns
        name = next((name for name, one in columns.items() if one == aggregate), f"{kind} {len(columns)}")
        columns.setdefault(name, aggregate)
        column = placed(exp.column(name, table=join.alias, quoted=True), offset_of(tree))
        column.meta[STANDS_FOR] = tree.sql(DIALECT, comments=False)
        return column

    def _joins_to(self, tree: exp.Expr) -> list[Join]:
        """The joins to the bridges that a tree looks at, each once."""
        joins = (self.behind[column.table] for column in tree.find_all(exp.Column) if column.table in self.behind)
        return list({join.alias: join for join in joins}.values())

    def _bridge(self, tree: exp.Expr) -> Join | None:
        """The join to the bridge that an expression looks at; None where it looks at none."""
        joins = self._joins_to(tree)
        if not joins:
            return None
        if any(is_aggregate(node) for node in tree.walk()):
            hint = "Ask for it without flatten_bridges; a condition on the field can stand in WHERE"
            self.refuse(tree, "an aggregate looks at a field behind a bridge table", hint)
        columns = list(tree.find_all(exp.Column))
        if any((node.table, node.name) in self.measures for node in columns):
            self.refuse(
                tree, "an expression looks at both a bridge table's field and a measure", "Ask for each by itself"
            )
        if len(joins) > 1 or (not self.early and any(self.behind.get(node.table) is not joins[0] for node in columns)):
            hint = "Let each expression and each comparison name fields behind one bridge table alone"
            self.refuse(tree, "an expression looks at both a bridge table's field and others", hint)
        return joins[0]


def _sorted_set(tree: exp.Expr) -> exp.Expr:
    return tree_of("sort_array(collect_set(a))", a=tree)


def _negated(node: exp.Expr) -> exp.Expr:
    return exp.Not(this=node.copy())


def _arrays_of(node: exp.Expr) -> list[exp.Expr]:
    """The arguments of a function that can be nothing but arrays, or take them as a whole."""
    if isinstance(node, exp.Bracket):
        return [node.this]
    name = name_of(node)
    if name == "concat_ws":
        return node.expressions[1:]
    return node.expressions[:1] if name in _OF_ARRAYS else []


def _for_one(tree: exp.Expr, field: exp.Column) -> exp.Lambda:
    """An expression as a function of one value of a field."""
    one = exp.to_identifier(_ONE, quoted=True)
    body = tree.copy().transform(lambda node: one.copy() if node == field else node)
    return exp.Lambda(this=body, expressions=[one])


def _any(values: exp.Expr, holds: exp.Lambda) -> exp.Expr:
    """Whether one of some values meets a condition; false where there are none."""
    return tree_of("size(filter(a, b)) > 0", a=values, b=holds)
