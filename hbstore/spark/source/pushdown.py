"""Spark's pushed filters as ExpressionTrees: exactly, or not at all.

Spark drops a condition that a source takes over. So one is taken over only where hbstore selects the very rows that
Spark would; the others stay with Spark. Where the two differ:

* NULL is the null partition, and text that does not fit its column's type as well. Comparisons select neither, here
  and there; ``is not null`` is ``like '%'``, which selects just the values; ``is null`` can be said only of a string
  column, whose texts all fit.
* In a filter the text ``__HIVE_DEFAULT_PARTITION__`` means the null partition; in Spark it is a text.
* Spark's timestamps have microseconds, stored ones may have nanoseconds: a comparison with one is a comparison with
  all of its microsecond.
* NaN and infinities have no literal.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from pyspark.sql import datasource as spark_filters

from hbstore.errors import FilterError
from hbstore.filters.builder import col, literal
from hbstore.filters.tree import And, Comparison, ExpressionTree, In, Literal, Not, Operator, Timestamp, joined
from hbstore.filters.tree import Or as AnyOf
from hbstore.keys.row_key import NULL_PARTITION
from hbstore.keys.types import BooleanType, ColumnType, DateType, DecimalType, FloatType, IntegerType, StringType
from hbstore.plans.bind import bind
from hbstore.plans.schema import KeySchema
from hbstore.times.clock import Now

_OPERATORS: Final = {
    spark_filters.EqualTo: Operator.EQ,
    spark_filters.EqualNullSafe: Operator.EQ,
    spark_filters.GreaterThan: Operator.GT,
    spark_filters.GreaterThanOrEqual: Operator.GE,
    spark_filters.LessThan: Operator.LT,
    spark_filters.LessThanOrEqual: Operator.LE,
}
_PATTERNS: Final = {
    spark_filters.StringStartsWith: "{}%",
    spark_filters.StringEndsWith: "%{}",
    spark_filters.StringContains: "%{}%",
}
_MICROSECOND: Final = 1_000  # nanoseconds
_SECOND: Final = 1_000_000_000
_WILD: Final = re.compile(r"[%_\\]")


def pushed_tree(condition: spark_filters.Filter, schema: KeySchema) -> ExpressionTree | None:
    r"""What selects the rows that Spark's condition selects; None where there is no such filter.

    >>> from hbstore.keys.types import parse_type
    >>> schema = KeySchema(b"", ("ds", "hour"), (parse_type("string"), parse_type("int")))
    >>> print(pushed_tree(spark_filters.StringStartsWith(("ds",), "2013_"), schema))
    ds like '2013\_%'
    >>> print(pushed_tree(spark_filters.IsNull(("hour",)), schema))
    None
    """
    negated = isinstance(condition, spark_filters.Not)
    positive = condition.child if isinstance(condition, spark_filters.Not) else condition
    path: Sequence[str] = getattr(positive, "attribute", ())
    if len(path) != 1 or path[0] not in schema.names:
        return None
    name = path[0]
    column_type = schema.types[schema.names.index(name)]
    if isinstance(positive, spark_filters.IsNull | spark_filters.IsNotNull):
        return _null(name, column_type, null=isinstance(positive, spark_filters.IsNull) is not negated)
    if isinstance(positive, spark_filters.EqualNullSafe):
        if positive.value is None:
            return _null(name, column_type, null=not negated)
        if negated:  # holds for NULL, which a negated comparison does not
            return None
    try:
        tree = _positive(positive, name, column_type)
        if tree is not None:
            bind(tree, schema, Now())
    except FilterError:
        return None
    return Not(tree) if negated and tree is not None else tree


def _null(name: str, column_type: ColumnType, *, null: bool) -> ExpressionTree | None:
    if not null:
        return col(name).like("%").tree
    plain = isinstance(column_type, StringType) and column_type.limit is None
    return col(name).is_null().tree if plain else None


def _positive(condition: spark_filters.Filter, name: str, column_type: ColumnType) -> ExpressionTree | None:
    operand = condition.value  # type: ignore[attr-defined]
    if isinstance(condition, spark_filters.In):
        return _in(name, [_literal(value, column_type) for value in operand])
    pattern = _PATTERNS.get(type(condition))
    if pattern is not None and isinstance(column_type, StringType):
        return col(name).like(pattern.format(_WILD.sub(r"\\\g<0>", operand))).tree
    operator = _OPERATORS.get(type(condition))
    value = None if operator is None else _literal(operand, column_type)
    return None if operator is None or value is None else _compared(name, operator, value)


def _in(name: str, literals: Sequence[Literal | None]) -> ExpressionTree | None:
    values = tuple(value for value in literals if value is not None)
    if not values or len(values) < len(literals):
        return None
    if not isinstance(values[0], Timestamp):
        return In(name, values)
    return joined(AnyOf, [_compared(name, Operator.EQ, value) for value in values])


def _compared(name: str, operator: Operator, value: Literal) -> ExpressionTree:
    """A comparison; a time is all the nanoseconds of its microsecond."""
    if not isinstance(value, Timestamp):
        return Comparison(name, operator, value)
    seconds, nanoseconds = value.value
    carry, rest = divmod(nanoseconds + _MICROSECOND, _SECOND)
    after = Timestamp((seconds + carry, rest))
    match operator:
        case Operator.EQ:
            return And((Comparison(name, Operator.GE, value), Comparison(name, Operator.LT, after)))
        case Operator.GT:
            return Comparison(name, Operator.GE, after)
        case Operator.LE:
            return Comparison(name, Operator.LT, after)
        case _:
            return Comparison(name, operator, value)


def _literal(value: object, column_type: ColumnType) -> Literal | None:
    """The literal of a value of the column's own type; None for others.

    Raises:
        FilterError: it has none, such as NaN.
    """
    match column_type:
        case StringType():
            fits = isinstance(value, str) and value != NULL_PARTITION
        case BooleanType():
            fits = isinstance(value, bool)
        case IntegerType():
            fits = isinstance(value, int) and not isinstance(value, bool)
        case FloatType():
            fits = isinstance(value, float)
        case DecimalType():
            fits = isinstance(value, Decimal)
        case DateType():
            fits = isinstance(value, dt.date) and not isinstance(value, dt.datetime)
        case _:
            fits = isinstance(value, dt.datetime) and value.tzinfo is None
    return literal(value) if fits else None
