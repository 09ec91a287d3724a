"""Writing a rewritten query: one Spark SQL text over the storage tables.

    SELECT city.name, SUM(rides.fare) FROM (
        SELECT station_id, fare FROM shop.lake_rides_monthly WHERE dt IN ('2015-01', '2015-02')
        UNION ALL
        SELECT station_id, fare FROM shop.lake_rides_daily WHERE dt >= '2015-03-01' AND …
    ) AS rides LEFT JOIN (SELECT id, name FROM shop.lake_stations WHERE dt = 'latest') AS city ON … GROUP BY city.name

The rows of all partitions stand below each other, and each aggregate is computed once, over all of them. What a table
does not have, and another block is asked for, is NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import count
from typing import Final, TypeAlias

from sqlglot import exp

from hbstore.cubes.concepts import Dimension
from hbstore.cubes.query.aggregate_calls import is_aggregate
from hbstore.cubes.query.aggregates import with_aggregates
from hbstore.cubes.query.answer import Answer
from hbstore.cubes.query.branches import BLOCK, Branch, UnionColumns, branches_of, columns_of, computed
from hbstore.cubes.query.bridges import KEY
from hbstore.cubes.query.candidates import StorageCandidate
from hbstore.cubes.query.dimensions import dimension_rows
from hbstore.cubes.query.options import QueryOptions
from hbstore.cubes.query.partition_conditions import partition_condition, time_condition
from hbstore.cubes.query.ranges import RANGE
from hbstore.cubes.query.relations import PartitionTime
from hbstore.cubes.query.resolved import Bridge, Join, Resolved
from hbstore.cubes.query.star import Star
from hbstore.cubes.query.text import with_replaced
from hbstore.cubes.query.times import TIME_OF, beginning, timestamp, with_dates
from hbstore.cubes.rereading import BUILT
from hbstore.keys.types import TimestampType
from hbstore.times.update_period import UpdatePeriod

OrderedBy: TypeAlias = tuple[exp.Expr, bool, bool | None]
"""What rows are ordered by, whether it descends, and whether nulls come first."""

_KINDS: Final = {
    "INNER": {"kind": "INNER"},
    "SEMI": {"side": "LEFT", "kind": "SEMI"},
    "ANTI": {"side": "LEFT", "kind": "ANTI"},
}
"""Joins whose name is not their side alone."""


def answer_query(answer: Answer, options: QueryOptions) -> exp.Select:
    """The query that an answer is."""
    rows = _named(_rows(answer, columns_of(answer), options), answer.way.resolved.root)
    return _query(answer.way.question.star, answer.way.resolved, rows, partial(computed, answer), options)


def dimension_query(
    star: Star, resolved: Resolved, aggregates: Sequence[exp.Expr], options: QueryOptions
) -> exp.Select:
    """The query of dimensions alone."""
    assert resolved.dimension is not None
    trees = [*resolved.trees(), *aggregates]
    rows = _dimension(star, resolved.root, resolved.dimension, trees, options)
    return _query(star, resolved, rows, lambda number: aggregates[number].copy(), options)


def _query(
    star: Star, resolved: Resolved, source: exp.Expr, aggregate: Callable[[int], exp.Expr], options: QueryOptions
) -> exp.Select:
    """A query over its rows, with the dimensions that it joins."""
    query = exp.Select()
    trees = [with_aggregates(tree, aggregate) for _, tree in resolved.select]
    where, having = (
        None if one is None else with_aggregates(one, aggregate) for one in (resolved.where, resolved.having)
    )
    group = [with_aggregates(tree, aggregate) for tree in resolved.group]
    order = [(with_aggregates(tree, aggregate), descends, nulls) for tree, descends, nulls in resolved.order]
    aliases = (alias for alias, _ in resolved.select)
    columns = (exp.alias_(tree, alias, quoted=True, copy=False) for alias, tree in zip(aliases, trees, strict=True))
    query = query.select(*columns, copy=False).from_(source, copy=False)
    all_trees = [*trees, *filter(None, (where, having)), *group, *(tree for tree, *_ in order)]
    all_trees += [join.on for join in resolved.joins.values()]
    for join in resolved.joins.values():
        query.append("joins", _join(star, join, all_trees, options))
    if where is not None:
        query = query.where(where, copy=False)
    if group:
        query = query.group_by(*map(_no_place, group), copy=False)
    if having is not None:
        query = query.having(having, copy=False)
    if resolved.distinct:
        query = query.distinct(copy=False)
    if having is not None and any(is_aggregate(node) for tree, *_ in order for node in tree.walk()):
        query, order = _with_order(query, order)
    for tree, descends, nulls in order:
        by = exp.Ordered(this=tree, desc=descends, nulls_first=nulls)
        query = query.order_by(by, copy=False)
    return query if resolved.limit is None else query.limit(resolved.limit, copy=False)


def _with_order(query: exp.Select, order: Sequence[OrderedBy]) -> tuple[exp.Select, list[OrderedBy]]:
    """A query around one that selects what it is ordered by: beside HAVING, Spark finds no aggregates in ORDER BY."""
    selected = [(column.alias, column.this) for column in query.expressions]
    meant = {alias.lower(): tree for alias, tree in selected}

    def without_aliases(node: exp.Expr) -> exp.Expr:
        return meant[node.name.lower()].copy() if isinstance(node, exp.Column) and not node.table else node

    trees = [*(tree for _, tree in selected), *(with_replaced(tree, without_aliases) for tree, *_ in order)]
    # A name in ORDER BY is first what is selected by it, and so no other column may have it.
    free = (name for at in count() if (name := f"column {at}") not in meant)
    names = [next(free) for _ in trees]
    query.set("expressions", [exp.alias_(tree, name, quoted=True) for name, tree in zip(names, trees, strict=True)])
    columns = [exp.column(name, quoted=True) for name in names]
    shown = (exp.alias_(column, alias, quoted=True) for column, (alias, _) in zip(columns, selected, strict=False))
    by = zip(columns[len(selected) :], order, strict=True)
    ordered: list[OrderedBy] = [(column, descends, nulls) for column, (_, descends, nulls) in by]
    return exp.select(*shown).from_(_named(query, "groups"), copy=False), ordered


def _no_place(tree: exp.Expr) -> exp.Expr:
    """What is grouped by: a number that is selected under a name is none of a column."""
    number = tree.unnest()
    return exp.cast(number, "int") if isinstance(number, exp.Literal) and number.is_int else tree


def _join(star: Star, join: Join, trees: Iterable[exp.Expr], options: QueryOptions) -> exp.Join:
    """A join of a dimension, or of a bridge, with the columns that trees name."""
    if join.bridge is None:
        rows = _dimension(star, join.alias, join.dimension, trees, options)
    else:
        rows = _bridge(star, join, join.bridge, options)
    side = join.side or options.join_type
    return exp.Join(this=rows, on=join.on.copy(), **_KINDS.get(side, {"side": side}))


def _bridge(star: Star, join: Join, bridge: Bridge, options: QueryOptions) -> exp.Subquery:
    """The rows of a bridge: one for each key."""
    trees = [bridge.key, *bridge.columns.values(), *(joined.on for joined in bridge.joins)]
    query = exp.select(exp.alias_(bridge.key.copy(), KEY, quoted=True))
    columns = (exp.alias_(tree.copy(), name, quoted=True) for name, tree in bridge.columns.items())
    rows = _dimension(star, join.alias, join.dimension, trees, options)
    query = query.select(*columns, copy=False).from_(rows, copy=False)
    for joined in bridge.joins:
        query.append("joins", _join(star, joined, trees, options))
    return _named(query.group_by(bridge.key.copy(), copy=False), join.alias)


def _dimension(
    star: Star, alias: str, dimension: Dimension, trees: Iterable[exp.Expr], options: QueryOptions
) -> exp.Subquery:
    """The rows of a dimension, with the columns that trees name."""
    columns = {column.name for tree in trees for column in tree.find_all(exp.Column) if column.table == alias}
    rows = dimension_rows(star, dimension, columns or {dimension.dim_attributes[0].name}, options)
    return _named(rows, alias)


def _named(rows: exp.Query, alias: str) -> exp.Subquery:
    return exp.Subquery(this=rows, alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))


def _rows(answer: Answer, columns: UnionColumns, options: QueryOptions) -> exp.Query:
    """The query of the rows of all branches, below each other."""
    union: exp.Query | None = None
    star, by = answer.way.question.star, answer.way.needs.by
    for branch in branches_of(answer):
        selected = list(_selected(branch, by.column, columns))
        if timestamps := {name for name in columns.dates if branch.candidate.is_of(name, TimestampType)}:
            selected = list(with_dates(selected, timestamps))
        table = exp.table_(branch.candidate.table, db=star.model.database, quoted=True)
        condition = _condition(branch, by)
        if branch.candidate.reached:
            rows = _read(["*"], table, condition)
            own = _reaching(answer, branch.candidate, rows, selected, options)
        else:
            own = _read(selected, table, condition)
        union = own if union is None else exp.union(union, own, distinct=False, copy=False)
    assert union is not None
    return union


def _read(columns: Iterable[exp.Expr | str], table: exp.Table, condition: exp.Expr) -> exp.Select:
    """The query of the rows of a table's partitions."""
    rows = exp.Select().select(*columns, copy=False).from_(table, copy=False).where(condition, copy=False)
    rows.args["where"].meta[BUILT] = True
    return rows


def _reaching(
    answer: Answer, candidate: StorageCandidate, rows: exp.Select, selected: Iterable[exp.Expr], options: QueryOptions
) -> exp.Select:
    """What is selected of rows, with the dimensions joined behind which fields of it are.

    SELECT customer.name AS customer_name, fare FROM (SELECT * FROM shop.lake_rides WHERE …) AS rides
    LEFT JOIN (SELECT id, name FROM shop.lake_customers) AS customer ON rides.customer_id = customer.id
    """
    root, joins = answer.way.resolved.root, {}

    def taken(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column) or node.table:
            return node
        reached = candidate.reached.get(node.name)
        if reached is None:
            return exp.column(node.name, table=root, quoted=True)
        joins.update({join.alias: join for join in reached.joins})
        return reached.tree.copy()

    query = exp.select(
        *(exp.alias_(with_replaced(one.unalias(), taken), one.alias_or_name, quoted=True) for one in selected)
    )
    query = query.from_(_named(rows, root), copy=False)
    trees = [*query.expressions, *(join.on for join in joins.values())]
    for join in joins.values():
        query.append("joins", _join(answer.way.question.star, join, trees, options))
    return query


def _condition(branch: Branch, by: PartitionTime) -> exp.Expr:
    own = branch.candidate.own_time(by)
    if own is not None:
        return time_condition(exp.column(own[0], quoted=True), own[1], branch.moments)
    whole = partition_condition(exp.column(by.column, quoted=True), branch.candidate.time_type(by.column), branch.runs)
    if not branch.moments:
        return whole
    return exp.and_(whole, time_condition(exp.column(by.own, quoted=True), TimestampType(), branch.moments), copy=False)


def _selected(branch: Branch, column: str, columns: UnionColumns) -> Iterator[exp.Expr]:
    null = exp.Null()
    yield from (exp.column(name, quoted=True) for name in columns.attributes)
    for name in columns.times:
        if name in branch.times:
            tree: exp.Expr = timestamp(exp.column(name, quoted=True))
        else:
            period = next((period for period, *_ in branch.runs), UpdatePeriod.DAILY)  # all of a branch are of one
            tree = beginning(exp.column(column, quoted=True), branch.candidate.time_type(column), period)
        yield exp.alias_(tree, TIME_OF + name, quoted=True, copy=False)
    for name, of in columns.inputs.items():
        column_input = of.get((branch.block, branch.candidate.table), null)
        own = isinstance(column_input, exp.Column) and column_input.name == name
        yield column_input.copy() if own else exp.alias_(column_input.copy(), name, quoted=True, copy=False)
    for number in columns.flags:
        yield exp.alias_(exp.true() if branch.block == number else exp.false(), f"{BLOCK}{number}", quoted=True)
    for number in columns.ranges:
        yield exp.alias_(exp.true() if branch.holds[number] else exp.false(), f"{RANGE}{number}", quoted=True)
    if not (columns.attributes or columns.times or columns.inputs or columns.flags or columns.ranges):
        yield exp.alias_(exp.Literal.number(1), "one row", quoted=True)
