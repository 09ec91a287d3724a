"""Time dimensions as columns: what of a partition's time a query may look at.

The time of a partition says of its rows in which part of its update period they are, and no more. So
``date_trunc('month', order_time)`` and ``year(order_time)`` are answered by the time of partitions that lie within
months and years; ``order_time`` alone needs a fact that has it as a column.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from sqlglot import exp, parse_one

from hbstore.cubes.dialect import name_of
from hbstore.cubes.query.text import DIALECT
from hbstore.times.update_period import UpdatePeriod
from hbstore.types import ColumnType, DateType, StringType

_IN_SESSION: Final = "hbstore.in_session"
"""What a tree's node has in its `meta` that Spark computes in its session's time zone."""

TIME_OF: Final = "time of "
"""What the column of rows is called that holds the beginning of the partition's time, or a finer time."""

_UNITS: Final[Mapping[str, UpdatePeriod]] = {
    "YEAR": UpdatePeriod.YEARLY,
    "YYYY": UpdatePeriod.YEARLY,
    "YY": UpdatePeriod.YEARLY,
    "QUARTER": UpdatePeriod.QUARTERLY,
    "MONTH": UpdatePeriod.MONTHLY,
    "MM": UpdatePeriod.MONTHLY,
    "MON": UpdatePeriod.MONTHLY,
    "WEEK": UpdatePeriod.WEEKLY,
    "DAY": UpdatePeriod.DAILY,
    "DD": UpdatePeriod.DAILY,
    "HOUR": UpdatePeriod.HOURLY,
    "MINUTE": UpdatePeriod.MINUTELY,
    "SECOND": UpdatePeriod.SECONDLY,
}
_FUNCTIONS: Final[Mapping[str, UpdatePeriod]] = {
    "year": UpdatePeriod.YEARLY,
    "quarter": UpdatePeriod.QUARTERLY,
    "month": UpdatePeriod.MONTHLY,
    "monthname": UpdatePeriod.MONTHLY,
    "last_day": UpdatePeriod.MONTHLY,
    "day": UpdatePeriod.DAILY,
    "dayname": UpdatePeriod.DAILY,
    "dayofmonth": UpdatePeriod.DAILY,
    "dayofweek": UpdatePeriod.DAILY,
    "dayofyear": UpdatePeriod.DAILY,
    "weekday": UpdatePeriod.DAILY,
    "weekofyear": UpdatePeriod.WEEKLY,
    "hour": UpdatePeriod.HOURLY,
    "minute": UpdatePeriod.MINUTELY,
    "second": UpdatePeriod.SECONDLY,
    "to_date": UpdatePeriod.DAILY,
    "date": UpdatePeriod.DAILY,
}
"""Functions of a time alone."""

_WEEK: Final = (
    "CAST(date_add(CAST(date_trunc('WEEK', to_date(concat(substr(x, 1, 4), '-01-04'))) AS DATE),"
    " 7 * (CAST(substr(x, 7, 2) AS INT) - 1)) AS TIMESTAMP)"
)
"""The Monday of ``2015-W05``: Spark reads no such texts. January 4 is always in the first week."""

_FORMATS: Final[Mapping[UpdatePeriod, str]] = {
    UpdatePeriod.YEARLY: "yyyy",
    UpdatePeriod.QUARTERLY: "yyyy-MM",
    UpdatePeriod.MONTHLY: "yyyy-MM",
    UpdatePeriod.DAILY: "yyyy-MM-dd",
    UpdatePeriod.HOURLY: "yyyy-MM-dd-HH",
    UpdatePeriod.MINUTELY: "yyyy-MM-dd-HH-mm",
    UpdatePeriod.SECONDLY: "yyyy-MM-dd-HH-mm-ss",
    UpdatePeriod.CONTINUOUS: "yyyy-MM-dd-HH-mm-ss",
}


def with_times(tree: exp.Expr, root: str, names: Collection[str], bounds: dict[str, UpdatePeriod]) -> exp.Expr:
    """A copy of a tree in which columns `TIME_OF` stand where partitions' times do.

    Args:
        tree: whose columns have the cube's alias before them.
        root: that alias.
        names: the time dimensions of the partition column.
        bounds: gets, by time dimension, the largest period whose partitions' times will do.
    """

    def replaced(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column) or node.table != root or node.name not in names:
            return node
        bound = None
        parent = node.parent
        while parent is not None:
            found = _period_of(parent)
            if found is None and not isinstance(parent, exp.Paren):
                break
            bound, parent = found or bound, parent.parent
        if bound is None:
            return node
        known = bounds.get(node.name)
        bounds[node.name] = bound if known is None else _finer(known, bound)
        return exp.column(TIME_OF + node.name, table=root, quoted=True)

    return tree.transform(replaced)


def beginning(column: exp.Expr, kind: ColumnType, period: UpdatePeriod) -> exp.Expr:
    """When the partition's time begins, as a timestamp."""
    tree = parse_one(_beginning(kind, period), dialect=DIALECT)
    return in_session(tree.transform(lambda node: column.copy() if isinstance(node, exp.Column) else node))


def timestamp(tree: exp.Expr) -> exp.Expr:
    """A text, a date or a timestamp as a timestamp."""
    return in_session(exp.cast(tree, "timestamp"))


def in_session(tree: exp.Expr) -> exp.Expr:
    """The tree, marked as one that is a time of hbstore in UTC alone: Spark computes it in its session's time zone."""
    tree.meta[_IN_SESSION] = True
    return tree


def needs_utc(query: exp.Expr) -> bool:
    """Whether a written query holds what was marked so."""
    return any(_IN_SESSION in node.meta for node in query.walk())


def _beginning(kind: ColumnType, period: UpdatePeriod) -> str:
    if isinstance(kind, StringType):
        return _WEEK if period is UpdatePeriod.WEEKLY else f"to_timestamp(x, '{_FORMATS[period]}')"
    if isinstance(kind, DateType):
        return "CAST(x AS TIMESTAMP)"
    return "x"


def _period_of(node: exp.Expr) -> UpdatePeriod | None:
    """The parts of time within which the result of a function is the same; None for other nodes."""
    if isinstance(node, exp.Extract):
        return _UNITS.get(node.this.name.upper())
    if isinstance(node, exp.Cast):
        return UpdatePeriod.DAILY if node.to.is_type("date") else None
    match name_of(node), node.expressions:
        case ("date_trunc", [exp.Literal(is_string=True) as unit, _]) | (
            "trunc",
            [_, exp.Literal(is_string=True) as unit],
        ):
            return _UNITS.get(unit.name.upper())
        case str(name), [_]:
            return _FUNCTIONS.get(name)
    return None


def _finer(one: UpdatePeriod, other: UpdatePeriod) -> UpdatePeriod:
    """The largest period whose parts lie within those of both."""
    if one is not other and UpdatePeriod.WEEKLY in (one, other):
        return min(one, other, UpdatePeriod.DAILY, key=lambda period: period.rank)
    return min(one, other, key=lambda period: period.rank)
