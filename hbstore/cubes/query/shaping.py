"""Shaping a resolved query: its ranges, time dimensions, aggregates and groups get the form in which rows answer it.

Each step changes the trees of a `Resolved` in place:

1. markers of ranges become what holds of the rows that are read, or conditions on a column;
2. time dimensions become the partition's time where that is enough;
3. aggregates become placeholders, and bare measures placeholders of their default aggregates;
4. what is selected and not aggregated is grouped by, where the query has no GROUP BY.

What is then known is what the query needs of the rows that answer it. It is refused where rows do not say
on which side of a border in time they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from hbstore.cubes.concepts import Cube
from hbstore.cubes.query.aggregate_calls import is_aggregate
from hbstore.cubes.query.aggregates import Aggregates, aggregate_number
from hbstore.cubes.query.needs import Needs
from hbstore.cubes.query.ranges import RANGE, ConditionRange, QueryRange, moments_text, number_of, stretches, truth
from hbstore.cubes.query.relations import PartitionTime
from hbstore.cubes.query.resolved import STANDS_FOR, Resolved
from hbstore.cubes.query.rolling_up import RollingUp
from hbstore.cubes.query.star import ONLY_DERIVED, Star, fields_of
from hbstore.cubes.query.text import QueryText, offset_of, with_replaced
from hbstore.cubes.query.time_functions import Years
from hbstore.cubes.query.times import TIME_OF, TimeLook, mark_functions, timestamp, with_times
from hbstore.times.moments import DAY, LIMIT, sql_text, time_at
from hbstore.times.update_period import UpdatePeriod


def shape(query: QueryText, star: Star, cube: Cube, resolved: Resolved, by: PartitionTime) -> Needs:
    """What a query whose partitions are chosen so needs of rows. Changes its trees as this module says.

    Raises:
        UnsupportedQuery: it could not be exact.
    """
    ranges = resolved.ranges
    chosen = [at for at, query_range in enumerate(ranges) if query_range.dimension == by.dimension]
    needed = stretches(query, resolved.where, chosen, ranges)
    check_dated(query, resolved)
    if by.relation is not None:
        needed, chosen = by.relation.stretches_of(needed), []
    check_days(query, cube, ranges, chosen)
    replace_ranges(resolved, ranges, chosen, needed)
    start, stop = (needed[0].start, needed[-1].stop) if needed else (0, LIMIT)
    looks, finer = replace_times(resolved, cube, by, Years(time_at(start).year, time_at(stop).year))
    aggregates = Aggregates(query, RollingUp.of(cube, resolved.root))
    take_aggregates(resolved, aggregates)
    group(query, resolved, aggregates)
    check_together(query, star, cube, resolved, aggregates)
    columns = [aggregates.fields.columns(tree) for tree in resolved.trees()]
    trees = [*resolved.trees(), *(aggregate.tree for aggregate in aggregates.taken)]
    names = {column.name for tree in trees for column in tree.find_all(exp.Column)}
    return Needs(
        cube,
        by,
        attributes=frozenset(name for _, attributes in columns for name in attributes),
        measures=frozenset(name for measures, _ in columns for name in measures),
        looks=looks,
        finer=finer,
        aggregates=aggregates.taken,
        stretches=needed,
        flagged=tuple(number for number in chosen if f"{RANGE}{number}" in names),
    )


def replace_ranges(
    resolved: Resolved, ranges: Sequence[QueryRange], chosen: Sequence[int], stretches: Sequence[ConditionRange]
) -> None:
    """Put conditions in the places of markers.

    Args:
        resolved: the query.
        ranges: by number.
        chosen: those of the dimension by which partitions are chosen; the others become conditions on the column.
        stretches: the time that is read.
    """

    def replaced(node: exp.Expr) -> exp.Expr:
        number = number_of(node)
        if number is None:
            return node
        if number not in chosen:
            return _within(ranges[number], resolved.root)
        truths = {stretch.holds[number] for stretch in stretches}
        if len(truths) > 1:
            return exp.column(f"{RANGE}{number}", table=resolved.root, quoted=True)
        return exp.true() if truths == {True} else exp.false()

    def settled(node: exp.Expr) -> exp.Expr:
        # Not left to the rows, as a row of a right join has no times, and yet belongs to the answer.
        return exp.true() if {truth(node, stretch.holds) for stretch in stretches} == {True} else node

    resolved.where = None if resolved.where is None else resolved.where.transform(settled, copy=False)
    _map(resolved, lambda tree: with_replaced(tree, replaced, copy=False), where=True)
    where = None if resolved.where is None else _without_true(resolved.where)
    resolved.where = None if where == exp.true() else where


def replace_times(
    resolved: Resolved, cube: Cube, by: PartitionTime, years: Years
) -> tuple[list[TimeLook], list[TimeLook]]:
    """Put the partition's time in the places of time dimensions where that is enough.

    Args:
        resolved: the query.
        cube: the cube.
        by: the partition column by which partitions are chosen.
        years: those that are asked for.

    Returns:
        What the query looks at of the time dimensions of that column, and what of any times dates do not tell.
    """
    types = {attribute.name: attribute.type.lower() for attribute in cube.dim_attributes}
    times = {name: types.get(name, "") for name in cube.time_dimensions}
    own = {name: kind for name, kind in times.items() if cube.time_dimensions[name] == by.column}
    times |= {name: kind for name, kind in types.items() if kind.startswith("timestamp")}
    looks: list[TimeLook] = []
    trees = [with_times(tree, resolved.root, times, years, looks) for tree in resolved.trees()]
    # A time that stands alone is a column of all rows; then its functions, perhaps of its alias, are of the column.
    nodes = (node for tree in trees for node in tree.walk(prune=is_aggregate))
    alone = {node.name for node in nodes if isinstance(node, exp.Column) and node.table == resolved.root}
    of_column = [look for look in looks if look.dimension in own and not (look.periods and look.dimension in alone)]
    finer = [look for look in looks if _tells_more_than_days(look, times[look.dimension])]
    own = {name: kind for name, kind in own.items() if name not in alone}
    _map(resolved, lambda tree: with_times(tree, resolved.root, own, years, [], copy=False), where=True)
    clocks = {name for name, kind in times.items() if kind == "timestamp" and name in cube.time_dimensions}
    for tree in resolved.trees():
        mark_functions(tree, resolved.root, clocks)
    return of_column, finer


def _tells_more_than_days(look: TimeLook, kind: str) -> bool:
    """Whether it takes more than the day of a time; the kind is that of the time dimension in the model."""
    if kind == "date" or UpdatePeriod.DAILY in look.periods or isinstance(look.tree, exp.Is | exp.Count):
        return False
    return bool(look.periods) or kind.startswith("timestamp")


def take_aggregates(resolved: Resolved, aggregates: Aggregates) -> None:
    """Put placeholders in the places of aggregates and bare measures; WHERE, GROUP BY and ON look at single rows.

    Raises:
        UnsupportedQuery: an aggregate stands in one of these, or in another aggregate.
    """
    where = [] if resolved.where is None else [resolved.where]
    for clause, trees, hint in (
        ("WHERE", where, "Put the condition into HAVING"),
        ("GROUP BY", resolved.group, "Group by fields of the rows"),
        ("ON", [join.on for join in resolved.joins.values()], "Join by fields of the rows"),
    ):
        for node in (node for tree in trees for node in tree.walk() if is_aggregate(node)):
            raise aggregates.query.unsupported(f"an aggregate stands in {clause}", node, hint=hint)
    _map(resolved, aggregates.taken_from, where=False)


def group(query: QueryText, resolved: Resolved, aggregates: Aggregates) -> None:
    """Group by what is selected and not aggregated, where the query does not say; take rows once where nothing is.

    HAVING looks at groups, so with it rows come once by being grouped: Spark takes no DISTINCT beside it.

    Raises:
        UnsupportedQuery: a field is neither aggregated nor grouped by, or rows that come once are ordered by another.
    """
    if not (resolved.grouped or aggregates.taken or resolved.having is not None):
        resolved.distinct = resolved.distinct or resolved.cube is not None
    else:
        _group(query, resolved, aggregates)
    _order(query, resolved)


def _group(query: QueryText, resolved: Resolved, aggregates: Aggregates) -> None:
    if not resolved.grouped:
        plain = (tree for _, tree in resolved.select if not aggregates.has(tree))
        resolved.group = [tree.unnest().copy() for tree in plain if tree.find(exp.Column) is not None]
        if not (resolved.group or aggregates.taken):
            resolved.group = [exp.Literal.string("")]  # or Spark makes a row of no rows
    for tree in _grouped_trees(resolved):
        for node in tree.walk(prune=lambda node: node in resolved.group):
            if isinstance(node, exp.Column) and node not in resolved.group and aggregate_number(node) is None:
                raise query.unsupported(
                    "a field is neither aggregated nor grouped by",
                    node,
                    field=node.meta_get(STANDS_FOR, node.name.removeprefix(TIME_OF)),
                    hint="Add it to GROUP BY, or aggregate it",
                )


def _order(query: QueryText, resolved: Resolved) -> None:
    """Let ORDER BY name what is selected by its alias, as DISTINCT asks for; by its place where others are called so.

    Raises:
        UnsupportedQuery: rows that come once are ordered by what is not selected.
    """
    named = Counter(alias.lower() for alias, _ in resolved.select)
    places = {tree.unnest(): place for place, (_, tree) in reversed([*enumerate(resolved.select, 1)])}

    def alias_of(node: exp.Expr) -> exp.Expr:
        alias = resolved.select[places[node] - 1][0] if node in places else ""
        return exp.column(alias, quoted=True) if named[alias.lower()] == 1 else node

    for number, (tree, descends, nulls) in enumerate(resolved.order):
        ordered = alias_of(tree)
        if ordered is tree:
            place, bare = places.get(tree.unnest()), tree.unnest()
            # A number would be read as a place itself.
            by_place = place is not None and (resolved.distinct or isinstance(bare, exp.Literal | exp.Neg))
            ordered = exp.Literal.number(place) if by_place else tree.transform(alias_of)
        for node in ordered.find_all(exp.Column) if resolved.distinct else ():
            if node.table or aggregate_number(node) is not None:
                raise query.unsupported(
                    "rows that come once are ordered by what is not selected",
                    node if offset_of(node) is not None else tree,
                    hint="Select it as well, under a name of its own",
                )
        resolved.order[number] = (ordered, descends, nulls)


def check_together(query: QueryText, star: Star, cube: Cube, resolved: Resolved, aggregates: Aggregates) -> None:
    """See that fields may be asked together, where only the derived cubes of a cube say which may.

    An attribute behind a chain counts as that at which the chain begins, and an expression that no derived cube lists
    as the fields that it names.

    Raises:
        UnsupportedQuery: no derived cube has them.
    """
    if resolved.derived is not None or cube.properties.get(ONLY_DERIVED, "true").strip().lower() != "false":
        return
    attributes = {attribute.name: attribute for attribute in cube.dim_attributes}
    derived = star.derived_cubes(cube)
    listed = {name for derived_cube in derived for name in derived_cube.measures}
    expressions = {expression.name for expression in cube.expressions if expression.name in resolved.named_fields}
    columns = [
        aggregates.fields.columns(tree)
        for tree in (*resolved.trees(), *(aggregate.tree for aggregate in aggregates.taken))
    ]
    read = {name for _, names in columns for name in names}
    named = {name for name in resolved.named_fields & attributes.keys() if name in read or not attributes[name].chain}
    named |= {name for join in resolved.joins.values() for name in aggregates.fields.columns(join.on)[1]}
    measures = resolved.named_fields & fields_of(cube).keys() - attributes.keys() - (expressions - listed)
    if not expressions <= listed:
        named |= read & attributes.keys()
        measures |= {name for names, _ in columns for name in names}
    named -= set(cube.time_dimensions)
    derived = [derived_cube for derived_cube in derived if named <= set(derived_cube.dim_attributes)]
    lone = [name for name in measures if not any(name in derived_cube.measures for derived_cube in derived)]
    if lone or not derived:
        raise query.unsupported(
            "the fields cannot be asked together",
            None,
            cause="FIELDS_CANNOT_BE_QUERIED_TOGETHER",
            fields=", ".join(sorted([*(lone or measures), *named])),
            hint=f"Ask for fields that one derived cube of {cube.name} has",
        )


def _map(resolved: Resolved, changed: Callable[[exp.Expr], exp.Expr], *, where: bool) -> None:
    """Change the trees of a query in place; with ``where`` also those that are looked at in each row."""
    resolved.select = [(alias, changed(tree)) for alias, tree in resolved.select]
    resolved.having = None if resolved.having is None else changed(resolved.having)
    resolved.order = [(changed(tree), descends, nulls) for tree, descends, nulls in resolved.order]
    if where:
        resolved.where = None if resolved.where is None else changed(resolved.where)
        resolved.group = [changed(tree) for tree in resolved.group]
        resolved.joins = {key: replace(one, on=changed(one.on)) for key, one in resolved.joins.items()}


def _grouped_trees(resolved: Resolved) -> Iterator[exp.Expr]:
    yield from (tree for _, tree in resolved.select)
    if resolved.having is not None:
        yield resolved.having
    yield from (tree for tree, *_ in resolved.order)


def _within(one: QueryRange, root: str) -> exp.Expr:
    """The condition that a time dimension, as a column, is in a range."""
    column = timestamp(exp.column(one.dimension, table=root, quoted=True))
    texts = (sql_text(time_at(at), "microseconds") for at in (one.start, one.stop))
    begin, end = (timestamp(exp.Literal.string(text)) for text in texts)
    return exp.and_(exp.GTE(this=column, expression=begin), exp.LT(this=column.copy(), expression=end))


def _without_true(tree: exp.Expr) -> exp.Expr:
    """A condition without what is always true beside AND."""
    if isinstance(tree, exp.And):
        parts = [one for one in map(_without_true, tree.flatten()) if one != exp.true()]
        return exp.and_(*parts) if parts else exp.true()
    if isinstance(tree, exp.Paren):
        inner = _without_true(tree.this)
        return inner if inner == exp.true() else exp.paren(inner)
    return tree


def check_dated(query: QueryText, resolved: Resolved) -> None:
    """See that each expression has a definition at all times that are read.

    Raises:
        UnsupportedQuery: one has none at some of them.
    """
    for name, numbers in resolved.dated:
        dimension = resolved.ranges[numbers[0]].dimension
        chosen = [at for at, query_range in enumerate(resolved.ranges) if query_range.dimension == dimension]
        for stretch in stretches(query, resolved.where, chosen, resolved.ranges):
            if not any(stretch.holds[number] for number in numbers):
                raise query.unsupported(
                    "the expression has no definition at some of the times",
                    None,
                    expression=name,
                    times=moments_text([(stretch.start, stretch.stop)]),
                    hint="Ask for times at which it has one, or give it a definition for these",
                )


def check_days(query: QueryText, cube: Cube, ranges: Sequence[QueryRange], chosen: Collection[int]) -> None:
    """See that ranges that become conditions on dates are of whole days.

    Raises:
        UnsupportedQuery: one is not, and dates do not say on which side of its border they are.
    """
    dates = {attribute.name for attribute in cube.dim_attributes if attribute.type.lower() == "date"}
    for number, time_range in enumerate(ranges):
        if number not in chosen and time_range.dimension in dates and (time_range.start % DAY or time_range.stop % DAY):
            raise query.unsupported(
                "the range of a date begins or ends within a day",
                time_range.column,
                range=moments_text([(time_range.start, time_range.stop)]),
                hint="Ask for whole days",
            )
