"""Aggregates of a query: what each needs of the rows of facts, so that it is right on rolled-up rows, too.

A rolled-up fact holds one row for all rows of the cube that are alike in its attributes and in its partition's time.
What an aggregate of the query says of such rows is what it says of the cube's rows only if

* it is the default aggregate of a measure, and one that can be made from parts: the sum of sums, the least of the
  least, the sum of counts; also ``sum(case when region = 'eu' then price * 2 end)``, as a rolled-up row has one region;
* or it looks at attributes alone and does not mind how often a value comes: ``count(distinct customer)``, ``max(day)``.

All other aggregates need a fact whose rows are not rolled up: ``max(price)`` where prices are summed, ``sum(a * b)``,
``count(*)``.

A bare measure outside of aggregates stands for its default aggregate, as in Lens: ``revenue / rides`` is a ratio of
sums.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import Final

from sqlglot import exp, parse_one

from hbstore.cubes.fields import Measure
from hbstore.cubes.query.ranges import RANGE
from hbstore.cubes.query.resolved import DATED
from hbstore.cubes.query.text import DIALECT, QueryText
from hbstore.cubes.query.times import TIME_OF
from hbstore.errors import UnsupportedQuery

COUNTED: Final = "count of "
"""What the column of rows is called that holds how many values of a measure a row stands for."""

_ROLLED: Final = ("sum", "min", "max", "count", "bool_and", "bool_or", "bit_and", "bit_or")
"""Default aggregates that can be made from parts."""

_INSENSITIVE: Final = (
    *(exp.Min, exp.Max, exp.ApproxDistinct, exp.ArrayUniqueAgg, exp.LogicalAnd, exp.LogicalOr),
    *(exp.BitwiseAndAgg, exp.BitwiseOrAgg),
)
"""Aggregates that do not mind how often a value comes."""

_OTHERS: Final = frozenset(
    [
        "aggregate_by",
        "bit_xor",
        "bitmap_construct_agg",
        "bitmap_or_agg",
        "bool_and",
        "bool_or",
        "collect_list",
        "collect_set",
        "count_if",
        "count_min_sketch",
        "covar_pop",
        "covar_samp",
        "every",
        "histogram_numeric",
        "hll_sketch_agg",
        "hll_union_agg",
        "kurtosis",
        "listagg",
        "max_by",
        "mean",
        "min_by",
        "mode",
        "percentile",
        "percentile_approx",
        "percentile_cont",
        "percentile_disc",
        "regr_avgx",
        "regr_avgy",
        "regr_count",
        "regr_intercept",
        "regr_r2",
        "regr_slope",
        "regr_sxx",
        "regr_sxy",
        "regr_syy",
        "skewness",
        "some",
        "std",
        "string_agg",
        "try_avg",
        "try_sum",
        "user_defined_aggregate",
    ]
)
"""Aggregates of Spark that sqlglot takes for functions of a row."""


class Grain(Enum):
    """Which rows an aggregate may be computed from."""

    ANY = "any"
    ROLLED = "rolled"
    RAW = "raw"


@dataclass(slots=True)
class Unit:
    """An aggregate of the query, and what it needs in one row.

    Attributes:
        tree: as it is computed from the rows that the facts give.
        text: as it is written, for people.
        measures: columns of measures.
        attributes: columns of attributes.
        grain: which rows will do.
        counted: the measure whose counts are summed; None: no measure's.
        guarded: the argument that counts only in rows of the facts that have it, and what it is part of.
    """

    tree: exp.Expr
    text: str
    measures: frozenset[str]
    attributes: frozenset[str]
    grain: Grain
    counted: str | None = None


@dataclass(slots=True)
class Units:
    """The aggregates of a query by their text.

    Attributes:
        query: for errors.
        root: the alias of the cube.
        measures: of the cube, by name.
        found: the units; trees hold columns named ``unit <number>`` in their places.
    """

    query: QueryText
    root: str
    measures: Mapping[str, Measure]
    found: list[Unit] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)

    def taken_from(self, tree: exp.Expr) -> exp.Expr:
        """A copy of a resolved tree, with placeholders for its aggregates and for its bare measures."""

        def replaced(node: exp.Expr) -> exp.Expr:
            if is_aggregate(node):
                return self._placeholder(node)
            if DATED in node.meta and any(self.is_measure(one) or is_aggregate(one) for one in node.walk()):
                raise self.query.error(
                    UnsupportedQuery,
                    "the definition of the expression changes within the ranges",
                    node,
                    expression=node.meta[DATED],
                    hint=f"Aggregate its rows, as sum({node.meta[DATED]}), or ask for ranges within one definition",
                )
            if isinstance(node, exp.Column) and self.is_measure(node):
                return self._placeholder(self._default(node))
            return node

        return tree.transform(replaced)

    def has(self, tree: exp.Expr) -> bool:
        """Whether there is an aggregate in a tree that `taken_from` made."""
        return any(unit_of(node) is not None for node in tree.walk())

    def is_measure(self, node: exp.Expr) -> bool:
        """Whether a column is a measure of the cube."""
        return isinstance(node, exp.Column) and node.table == self.root and node.name in self.measures

    def columns(self, tree: exp.Expr) -> tuple[frozenset[str], frozenset[str]]:
        """The measures, and the other fields of the cube, that a tree names."""
        own = {one.name for one in tree.find_all(exp.Column) if one.table == self.root}
        measures = frozenset(name for name in own if name in self.measures)
        return measures, frozenset(name for name in own - measures if not name.startswith((RANGE, TIME_OF)))

    def _default(self, node: exp.Column) -> exp.Expr:
        measure = self.measures[node.name]
        if measure.default_aggregate is None:
            raise self.query.error(
                UnsupportedQuery,
                "the measure has no default aggregate",
                node,
                measure=measure.name,
                cause="NO_DEFAULT_AGGREGATE",
                hint=f"Say how it is aggregated, such as sum({measure.name})",
            )
        return _call(measure.default_aggregate.lower(), node)

    def _placeholder(self, node: exp.Expr) -> exp.Expr:
        for inner in node.walk():
            if inner is not node and is_aggregate(inner):
                raise self.query.error(
                    UnsupportedQuery, "an aggregate stands within another", inner, hint="Ask for the inner one alone"
                )
        text = node.sql(DIALECT, comments=False)
        if text not in self._numbers:
            self._numbers[text] = len(self.found)
            self.found.append(self._unit(node, text))
        made = exp.column(f"unit {self._numbers[text]}", quoted=True)
        made.meta[_UNIT] = self._numbers[text]
        return made

    def _unit(self, node: exp.Expr, text: str) -> Unit:
        measures, attributes = self.columns(node)
        if not measures:
            return Unit(node, text, measures, attributes, Grain.ANY if _is_insensitive(node) else Grain.RAW)
        if len(measures) == 1:
            (name,) = measures
            default = (self.measures[name].default_aggregate or "").lower()
            argument = _argument(node)
            if default in _ROLLED and argument is not None and _same(node, default, argument):
                if self.is_measure(argument):
                    if default == "count":
                        column = exp.column(COUNTED + name, table=self.root, quoted=True)
                        total = exp.Coalesce(this=exp.Sum(this=column), expressions=[exp.Literal.number(0)])
                        return Unit(total, text, measures, attributes, Grain.ROLLED, counted=name)
                    return Unit(node, text, measures, attributes, Grain.ROLLED)
                if default in ("sum", "min", "max") and self._chooses(argument, default):
                    return Unit(node, text, measures, attributes, Grain.ROLLED)
        return Unit(node, text, measures, attributes, Grain.RAW)

    def _chooses(self, node: exp.Expr, default: str) -> bool:
        """Whether an expression is the measure, or nothing, as attributes decide; of sums also times these."""
        if self.is_measure(node) or isinstance(node, exp.Null):
            return True
        if isinstance(node, exp.Literal):
            return default == "sum" and node.this == "0"
        attributes, values = _branches(node, linear=default == "sum")
        if isinstance(node, exp.Mul) and values and self.columns(values[0])[0] == frozenset():
            attributes, values = values, attributes
        return (
            bool(values)
            and not any(self.columns(one)[0] for one in attributes)
            and all(self._chooses(one, default) for one in values)
        )


_UNIT: Final = "hbstore.unit"


def unit_of(node: exp.Expr) -> int | None:
    """The number of the unit that a node stands for; None for other nodes."""
    found = node.meta.get(_UNIT)
    return found if isinstance(found, int) else None


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node is a call of an aggregate function."""
    if isinstance(node, exp.AggFunc):
        return True
    return isinstance(node, exp.Anonymous) and str(node.this).lower() in _OTHERS


def with_units(tree: exp.Expr, of: Callable[[int], exp.Expr]) -> exp.Expr:
    """A copy of a tree with its placeholders replaced."""

    def replaced(node: exp.Expr) -> exp.Expr:
        number = unit_of(node)
        return node if number is None else of(number)

    return tree.transform(replaced)


def _branches(node: exp.Expr, *, linear: bool) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """What decides of the values that an expression may have, and these; nothing of other expressions.

    Args:
        node: the expression.
        linear: whether a product, and the negative, of a value will do.
    """
    match node:
        case exp.Paren():
            return [], [node.this]
        case exp.Case():
            ifs = node.args.get("ifs") or []
            values = [*(one.args.get("true") for one in ifs), node.args.get("default")]
            return [*filter(None, [node.this, *(one.this for one in ifs)])], [*filter(None, values)]
        case exp.If():
            return [node.this], [*filter(None, (node.args.get("true"), node.args.get("false")))]
        case exp.Mul() if linear:
            return [node.expression], [node.this]
        case exp.Neg() if linear:
            return [], [node.this]
        case _:
            return [], []


def _call(name: str, argument: exp.Expr) -> exp.Expr:
    """A call of an aggregate by the name that models have for it."""
    if name == "count_distinct":
        return exp.Count(this=exp.Distinct(expressions=[argument.copy()]))
    return _call_of_a_column(name).transform(lambda node: argument.copy() if isinstance(node, exp.Column) else node)


@cache
def _call_of_a_column(name: str) -> exp.Expr:
    return parse_one(f"{name}(x)", dialect=DIALECT)


def _argument(node: exp.Expr) -> exp.Expr | None:
    """The only argument of a call; None where there are others, or DISTINCT."""
    found = [value for value in node.args.values() if isinstance(value, exp.Expr)]
    lists = [one for value in node.args.values() if isinstance(value, list) for one in value]
    return found[0] if len(found) == 1 and not lists and not isinstance(found[0], exp.Distinct) else None


def _same(node: exp.Expr, name: str, argument: exp.Expr) -> bool:
    """Whether a call is that of the aggregate of a name."""
    return node == _call(name, argument)


def _is_insensitive(node: exp.Expr) -> bool:
    if isinstance(node, _INSENSITIVE):
        return True
    return isinstance(node.this, exp.Distinct) and isinstance(node, exp.AggFunc)
