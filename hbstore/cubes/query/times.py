"""Time dimensions as columns: what of a partition's time a query may look at.

The time of a partition says of its rows in which part of its update period they are, and no more. So
``date_trunc('month', order_time)`` and ``year(order_time)`` are answered by the time of partitions that lie within
months and years; ``order_time`` alone needs a fact that has it as a column. Where the time of partitions will do, it
is the beginning of each that stands in the place of the times of its rows.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from hbstore.cubes.query.aggregate_calls import is_aggregate
from hbstore.cubes.query.dependence import THE_TIME, Periods, TimeForm, as_a, start_of
from hbstore.cubes.query.text import DIALECT, tree_of, with_replaced
from hbstore.cubes.query.time_functions import Use, Years, effect
from hbstore.keys.types import ColumnType, DateType, StringType
from hbstore.times.update_period import UpdatePeriod

_IN_SESSION: Final = "hbstore.in_session"
"""What a tree's node has in its `meta` that Spark computes in its session's time zone."""

_IN_ALL_ZONES: Final = (exp.Paren, exp.Min, exp.Max, exp.Coalesce, exp.Case, exp.If)
"""What gives a time that it gets."""

TIME_OF: Final = "time of "
"""What the column of rows is called that holds the beginning of the partition's time, or a finer time."""

_WEEK: Final = (
    "CAST(date_add(CAST(date_trunc('WEEK', to_date(concat(substr(x, 1, 4), '-01-04'))) AS DATE),"
    " 7 * (CAST(substr(x, 7, 2) AS INT) - 1)) AS TIMESTAMP)"
)
"""The Monday of ``2015-W05``: Spark reads no such texts. January 4 is always in the first week."""


@dataclass(frozen=True, slots=True)
class TimeLook:
    """What a query looks at of a time dimension, in one place.

    Attributes:
        dimension: the time dimension.
        tree: the expression that is the same in each part of the periods; where there are none, the first one around it
            that is not known to be.
        root: the alias of the cube in it.
        periods: those whose partitions' times will do in the place of rows' times.
    """

    dimension: str
    tree: exp.Expr
    root: str
    periods: Periods

    @property
    def text(self) -> str:
        """The expression as people write it."""
        return plain_text(self.tree, self.root)


def plain_text(tree: exp.Expr, root: str) -> str:
    """An expression as people write it: the fields of the cube by their names alone."""

    def plain(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        own = node.table == root
        return exp.column(node.name.removeprefix(TIME_OF) if own else node.name, table=None if own else node.table)

    return tree.transform(plain).sql(DIALECT, comments=False)


def with_times(
    tree: exp.Expr, root: str, types: Mapping[str, str], years: Years, looks: list[TimeLook], *, copy: bool = True
) -> exp.Expr:
    """A copy of a tree in which columns `TIME_OF` stand where partitions' times do.

    Args:
        tree: whose columns have the cube's alias before them.
        root: that alias.
        types: the time dimensions of the partition column, with their types in the model; empty where it has none.
        years: those that are asked for.
        looks: gets what the tree looks at.
        copy: whether it is a copy; else the tree itself is changed.
    """

    def replaced(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column) or node.table != root or node.name not in types:
            return node
        look = _look(node, types[node.name], years)
        looks.append(look)
        if not look.periods:
            return node
        time = exp.column(TIME_OF + node.name, table=root, quoted=True)
        return exp.cast(time, "date") if types[node.name] == "date" else time

    return tree.transform(replaced, copy=copy)


def _look(column: exp.Column, kind: str, years: Years) -> TimeLook:
    """What the functions around a time dimension look at of it: from the inside out, as far as they are known."""
    dependence = THE_TIME.then(start_of(UpdatePeriod.DAILY)) if kind == "date" else THE_TIME
    if kind.startswith(("string", "varchar", "char")):
        dependence = as_a(TimeForm.TEXT)
    tree: exp.Expr = column
    part = tree
    while dependence.form is not TimeForm.OTHER and isinstance(node := part.parent, exp.Condition):
        outer = effect(Use(node, part, dependence, years))
        if outer is None:
            tree = tree if dependence.same and tree is not column else node
            break
        dependence, part = dependence.then(outer), node
        tree = tree if isinstance(node, exp.Paren) else node
    # A date alone stays a column, as the facts have it.
    return TimeLook(column.name, tree, column.table, Periods() if tree is column else dependence.same)


def with_dates(selected: Iterable[exp.Expr], timestamps: Container[str]) -> Iterator[exp.Expr]:
    """What is selected of rows, with dates in the places of some columns that rows have as timestamps."""

    def date(node: exp.Expr) -> exp.Expr:
        is_one = isinstance(node, exp.Column) and node.name in timestamps
        return in_session(exp.cast(node, "date")) if is_one else node

    return (exp.alias_(with_replaced(one.unalias(), date), one.alias_or_name, quoted=True) for one in selected)


def beginning(column: exp.Expr, kind: ColumnType, period: UpdatePeriod) -> exp.Expr:
    """When the partition's time begins, as a timestamp."""
    if isinstance(kind, StringType):
        text = _WEEK if period is UpdatePeriod.WEEKLY else f"to_timestamp(x, '{period.pattern}')"
    else:
        text = "CAST(x AS TIMESTAMP)" if isinstance(kind, DateType) else "x"
    return in_session(tree_of(text, x=column))


def timestamp(tree: exp.Expr) -> exp.Expr:
    """A text, a date or a timestamp as a timestamp."""
    return in_session(exp.cast(tree, "timestamp"))


def in_session(tree: exp.Expr) -> exp.Expr:
    """The tree, marked as one that is a time of hbstore in UTC alone: Spark computes it in its session's time zone."""
    tree.meta[_IN_SESSION] = True
    return tree


def mark_functions(tree: exp.Expr, root: str, times: Container[str]) -> None:
    """Mark what a tree computes of some timestamps of the cube that stay columns: Spark looks at clocks for it.

    Not their smallest and largest, one of several, and comparisons of two, which are the same in all time zones.
    """
    for column in tree.find_all(exp.Column):
        node = column.parent if column.table == root and column.name in times else None
        while isinstance(node, _IN_ALL_ZONES):
            node = node.parent
        if isinstance(node, exp.Predicate):
            is_computed = any(literal.is_string for literal in node.find_all(exp.Literal))
        else:
            is_computed = isinstance(node, exp.Func | exp.Binary) and not is_aggregate(node)
        if node is not None and is_computed:
            in_session(node)


def needs_utc(query: exp.Expr) -> bool:
    """Whether a written query holds what was marked so."""
    return any(node.meta_get(_IN_SESSION) for node in query.walk())
