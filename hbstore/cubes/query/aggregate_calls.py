"""Calls of aggregate functions: which nodes are some, what they aggregate, and the same over fewer rows."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from hbstore.cubes.function_calls import name_of
from hbstore.cubes.query.text import DIALECT, parsed, tree_of

_INSENSITIVE: Final = (
    *(exp.Min, exp.Max, exp.ApproxDistinct, exp.ArrayUniqueAgg, exp.LogicalAnd, exp.LogicalOr),
    *(exp.BitwiseAndAgg, exp.BitwiseOrAgg),
)
"""Aggregates that do not mind how often a value comes."""

_OTHERS: Final = frozenset(
    [
        *("any", "any_value", "approx_percentile", "approx_top_k", "approx_top_k_accumulate"),
        *("approx_top_k_combine", "array_agg", "bit_xor", "bitmap_and_agg", "bitmap_construct_agg"),
        *("bitmap_or_agg", "collect_list", "collect_union", "corr", "count_if", "count_min_sketch"),
        *("covar_pop", "covar_samp", "every", "first", "first_value", "histogram_numeric"),
        *("hll_sketch_agg", "hll_union_agg", "kll_merge_agg_bigint", "kll_merge_agg_double"),
        *("kll_merge_agg_float", "kll_sketch_agg_bigint", "kll_sketch_agg_double", "kll_sketch_agg_float"),
        *("kurtosis", "last", "last_value", "listagg", "max_by", "mean", "measure", "median", "min_by"),
        *("mode", "percentile", "percentile_approx", "percentile_cont", "percentile_disc", "regr_avgx"),
        *("regr_avgy", "regr_count", "regr_intercept", "regr_r2", "regr_slope", "regr_sxx", "regr_sxy", "regr_syy"),
        *("schema_of_variant_agg", "skewness", "some", "std", "stddev", "stddev_pop", "stddev_samp"),
        *("string_agg", "theta_intersection_agg", "theta_sketch_agg", "theta_union_agg", "try_avg"),
        *("try_sum", "tuple_intersection_agg_double", "tuple_intersection_agg_integer"),
        *("tuple_sketch_agg_double", "tuple_sketch_agg_integer", "tuple_union_agg_double"),
        *("tuple_union_agg_integer", "var_pop", "var_samp", "variance"),
    ]
)
"""Aggregates of Spark that have no classes."""


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node is a call of an aggregate function, with its WITHIN GROUP."""
    return isinstance(node, exp.AggFunc | exp.WithinGroup) or name_of(node) in _OTHERS


def is_filtered(node: exp.Expr) -> bool:
    """Whether a node is a call of an aggregate function with FILTER (WHERE …)."""
    return isinstance(node, exp.Filter) and is_aggregate(node.this)


def only_where(tree: exp.Expr, condition: exp.Expr) -> exp.Expr:
    """A copy of a tree whose aggregates look only at the rows for which a condition holds.

    >>> only_where(parsed("sum(a) / count(b) filter (where c > 1)"), exp.column("d")).sql(DIALECT)
    'SUM(a) FILTER(WHERE d) / COUNT(b) FILTER(WHERE c > 1 AND d)'
    """

    def replaced(node: exp.Expr) -> exp.Expr:
        if is_filtered(node):
            both = exp.and_(node.expression.this, condition)
            return exp.Filter(this=node.this, expression=exp.Where(this=both))
        return exp.Filter(this=node, expression=exp.Where(this=condition.copy())) if is_aggregate(node) else node

    return tree.transform(replaced)


def call_of(name: str, argument: exp.Expr) -> exp.Expr:
    """A call of an aggregate by the name that models have for it."""
    if name == "count_distinct":
        return exp.Count(this=exp.Distinct(expressions=[argument.copy()]))
    return tree_of(f"{name}(x)", x=argument)


def argument_of(call: exp.Expr) -> exp.Expr | None:
    """The only argument of a call; None where there are others, or DISTINCT."""
    arguments = list(call.iter_expressions())
    return arguments[0] if len(arguments) == 1 and not isinstance(arguments[0], exp.Distinct) else None


def is_call_of(call: exp.Expr, name: str, argument: exp.Expr) -> bool:
    """Whether a call is that of an aggregate of one argument."""
    return type(call) is type(parsed(f"{name}(x)")) and call == call_of(name, argument)


def function_of(call: exp.Expr) -> str:
    """The name of the function that is called, in lower case."""
    return call.sql(DIALECT).partition("(")[0].lower()


def is_distinct(call: exp.Expr) -> bool:
    """Whether an aggregate looks at each value once, as it says DISTINCT."""
    call = call.this if isinstance(call, exp.WithinGroup) else call
    return is_aggregate(call) and any(isinstance(inner, exp.Distinct) for inner in call.iter_expressions())


def is_insensitive(call: exp.Expr) -> bool:
    """Whether an aggregate does not mind how often a value comes."""
    return isinstance(call, _INSENSITIVE) or is_distinct(call)
