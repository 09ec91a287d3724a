"""How aggregates roll up: what of a cube's rows its rolled-up rows still tell.

A rolled-up fact holds one row for all rows of the cube that are alike in its attributes and in its partition's time.
What an aggregate says of such rows is what it says of the cube's rows only if

* it looks at attributes alone and does not mind how often a value comes: ``count(distinct customer)``, ``max(day)``;
* or it is made from parts that the rows hold: the sum of sums, the least of the least, the sum of counts, the mean as
  the sum of sums by the sum of counts, an approximate distinct count from the union of sketches; also
  ``sum(case when region = 'eu' then price * 2 end)``, as a rolled-up row has one region.

All other aggregates need a fact whose rows are not rolled up: ``max(price)`` where prices are summed, ``sum(a * b)``,
``count(*)``, medians.

    sum(pace)                      SUM(`sum of pace`)
    count(fare)                    COALESCE(SUM(`count of fare`), 0)
    avg(fare)                      SUM(fare) / NULLIF(SUM(`count of fare`), 0)
    approx_count_distinct(rider)   HLL_SKETCH_ESTIMATE(HLL_UNION_AGG(`sketches of rider`))

A row that is not rolled up stands for its own value: that is its sum, and it counts one, or none if it is NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from hbstore.cubes.concepts import Cube
from hbstore.cubes.fields import Measure
from hbstore.cubes.partial_aggregates import PartialAggregates, part_property, partial_aggregates_of
from hbstore.cubes.query.aggregate_calls import (
    argument_of,
    call_of,
    function_of,
    is_call_of,
    is_distinct,
    is_insensitive,
    only_where,
)
from hbstore.cubes.query.aggregate_inputs import Aggregate, AggregateInput, RolledUp, RollUpRefusal
from hbstore.cubes.query.ranges import RANGE
from hbstore.cubes.query.text import tree_of
from hbstore.cubes.query.times import TIME_OF
from hbstore.errors import InvalidType
from hbstore.keys.types import ColumnType, DecimalType, FloatType, IntegerType, StringType, parse_type

_ROWS = "they do not say how many rows each of them stands for"


@dataclass(frozen=True, slots=True)
class RollingUp:
    """How the aggregates of one query roll up.

    Attributes:
        root: the alias of the cube.
        measures: of the cube, by name.
        types: those of its measures and attributes, by name.
        parts: the columns of rolled-up facts that hold parts of them, by name.
    """

    root: str
    measures: Mapping[str, Measure]
    types: Mapping[str, str]
    parts: Mapping[str, PartialAggregates]

    @staticmethod
    def of(cube: Cube | None, root: str) -> RollingUp:
        """How the fields of a cube roll up; without a cube there are none."""
        if cube is None:
            return RollingUp(root, {}, {}, {})
        types = {one.name: one.type for one in cube.measures} | {one.name: one.type for one in cube.dim_attributes}
        return RollingUp(root, {measure.name: measure for measure in cube.measures}, types, partial_aggregates_of(cube))

    def is_measure(self, node: exp.Expr) -> bool:
        """Whether a column is a measure of the cube."""
        return isinstance(node, exp.Column) and node.table == self.root and node.name in self.measures

    def columns(self, tree: exp.Expr) -> tuple[frozenset[str], frozenset[str]]:
        """The measures, and the other fields of the cube, that a tree names."""
        own = {column.name for column in tree.find_all(exp.Column) if column.table == self.root}
        measures = frozenset(name for name in own if name in self.measures)
        return measures, frozenset(name for name in own - measures if not name.startswith((RANGE, TIME_OF)))

    def aggregate(self, node: exp.Expr) -> Aggregate:
        """What an aggregate needs of the rows of facts: a call, with or without FILTER."""
        measures, attributes = self.columns(node)
        call, condition = (node.this, node.expression.this) if isinstance(node, exp.Filter) else (node, None)
        insensitive = not measures and is_insensitive(call)
        rolled_up = self._rolled_up(call, condition)
        if isinstance(rolled_up, RollUpRefusal):
            return Aggregate(node, self.root, measures, attributes, insensitive, refusal=rolled_up)
        return Aggregate(node, self.root, measures, attributes, insensitive, rolled_up)

    def _rolled_up(self, call: exp.Expr, condition: exp.Expr | None) -> RolledUp | RollUpRefusal:
        """How an aggregate is computed from rolled-up rows, or why it is not."""
        measures, attributes = self.columns(call)
        if condition is not None and self.columns(condition)[0]:
            return RollUpRefusal("they do not tell of which single rows the condition holds")
        if len(measures) > 1:
            return RollUpRefusal(f"they do not tell which {' and '.join(sorted(measures))} stood in one row")
        argument = argument_of(call)
        for name in measures or sorted(attributes):
            whole = None if argument is None else self._whole(call, argument, name)
            if whole is None:
                continue
            mixed, alone = whole.mixed, whole.alone
            if condition is not None:
                mixed, alone = (only_where(tree, condition) for tree in (mixed, alone))
            others = self.columns(alone)[1] - whole.inputs.keys()
            return RolledUp(mixed, alone, {**{one: AggregateInput.column(one) for one in others}, **whole.inputs})
        return self._refusal(call, argument, measures, attributes)

    def _whole(self, call: exp.Expr, argument: exp.Expr, name: str) -> RolledUp | None:
        """An aggregate of a field as it is made from its parts; None: it is not."""
        function = self._function(call, argument, name)
        if function is None or not self._chooses(argument, name, linear=function == "sum"):
            return None
        parts, type_ = self.parts.get(name, PartialAggregates()), self.types.get(name, "")
        return whole_of(function, name, type_, parts, lambda one: self._with(argument, name, one))

    def _function(self, call: exp.Expr, argument: exp.Expr, name: str) -> str | None:
        """The aggregate that is called, if it is one that is made from parts."""
        default = self._default(name)
        functions = (*DECLARED_PARTS, default) if default in OWN_PARTS else DECLARED_PARTS
        return next((function for function in functions if is_call_of(call, function, argument)), None)

    def _default(self, name: str) -> str:
        """The default aggregate of a measure; empty where there is none, and for attributes."""
        default = self.measures[name].default_aggregate if name in self.measures else None
        return (default or "").lower()

    def _chooses(self, node: exp.Expr, name: str, *, linear: bool) -> bool:
        """Whether an expression is a field or NULL, as attributes decide; if ``linear``, also a multiple of it."""
        if self._is(node, name) or isinstance(node, exp.Null):
            return True
        if isinstance(node, exp.Literal):
            return linear and node.this == "0"
        deciding, values = _branches(node, linear=linear)
        if isinstance(node, exp.Mul) and values and not self._depends(values[0], name):
            deciding, values = values, deciding
        return (
            bool(values)
            and not any(self._depends(one, name) for one in deciding)
            and all(self._chooses(value, name, linear=linear) for value in values)
        )

    def _depends(self, tree: exp.Expr, name: str) -> bool:
        """Whether a tree looks at a field, or at any measure."""
        measures, attributes = self.columns(tree)
        return bool(measures) or name in attributes

    def _is(self, node: exp.Expr, name: str) -> bool:
        return isinstance(node, exp.Column) and node.table == self.root and node.name == name

    def _with(self, tree: exp.Expr, name: str, column: str) -> exp.Expr:
        """A copy of a tree with another column of the rows in the place of a field."""
        other = exp.column(column, table=self.root, quoted=True)
        return tree.transform(lambda node: other.copy() if self._is(node, name) else node)

    def _refusal(
        self, call: exp.Expr, argument: exp.Expr | None, measures: frozenset[str], attributes: frozenset[str]
    ) -> RollUpRefusal:
        """Why rolled-up rows do not answer an aggregate of one measure, or of attributes."""
        name = next(iter([*measures, *sorted(attributes)]), "")
        if name and (is_distinct(call) or isinstance(call, exp.ApproxDistinct)):
            return RollUpRefusal(f"one {name} may be in several of them", self._sketch_hint(call, name))
        return self._refusal_of_measure(call, argument, name) if measures else RollUpRefusal(_ROWS)

    def _refusal_of_measure(self, call: exp.Expr, argument: exp.Expr | None, name: str) -> RollUpRefusal:
        function = None if argument is None else self._function(call, argument, name)
        if argument is not None and not self._chooses(argument, name, linear=function == "sum"):
            return RollUpRefusal(f"they do not tell the {name} of single rows")
        lacks = [part for part in DECLARED_PARTS.get(function or "", ()) if getattr(self.parts[name], part) is None]
        if lacks:
            is_single = len(lacks) == 1
            what = f"{'measure holds' if is_single else 'measures hold'} the {' and '.join(lacks)} of {name}"
            how = " and ".join(part_property(name, part) for part in lacks)
            hint = (
                f"Say which {what} in rolled-up facts, by the cube's {'property' if is_single else 'properties'} {how}"
            )
            return RollUpRefusal(f"the cube does not say which {what}", hint)
        if argument is None or not any(is_call_of(call, aggregate, argument) for aggregate in OWN_PARTS):
            return RollUpRefusal(f"the {function_of(call)} of a whole is not made of those of its parts")
        if self._default(name):
            return RollUpRefusal(f"they hold the {self._default(name)} of {name}")
        return RollUpRefusal(f"the cube does not say how {name} is rolled up", "Give the measure a default_aggregate")

    def _sketch_hint(self, call: exp.Expr, name: str) -> str:
        """What to ask in the place of a distinct count, or to declare."""
        if self.parts.get(name, PartialAggregates()).sketch is not None:
            return f"Ask for approx_count_distinct({name}), which sketches answer"
        if not isinstance(call, exp.ApproxDistinct):
            return ""
        how = part_property(name, "sketch")
        return f"Say which column holds sketches of {name} in rolled-up facts, by the cube's property {how}"


def _branches(node: exp.Expr, *, linear: bool) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """What decides which value an expression has, and the values that it may have; both empty for other expressions.

    Args:
        node: the expression.
        linear: whether the expression may also multiply or negate a value.
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


OWN_PARTS: Final = ("min", "max", "bool_and", "bool_or", "bit_and", "bit_or")
"""Default aggregates that are made from parts of the same aggregate."""

DECLARED_PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "sum": ("sum",),
    "count": ("count",),
    "avg": ("sum", "count"),
    "mean": ("sum", "count"),
    "approx_count_distinct": ("sketch",),
}
"""Aggregates that are made from parts that a cube declares, with these parts."""


def whole_of(
    function: str, field: str, type_: str, parts: PartialAggregates, of: Callable[[str], exp.Expr]
) -> RolledUp | None:
    """An aggregate of a field as it is made from its parts; None where the cube does not say which columns hold them.

    Args:
        function: one of `OWN_PARTS` or `DECLARED_PARTS`.
        field: whose parts.
        type_: the field's.
        parts: the columns that hold them.
        of: what is aggregated, with the column of a name in the field's place.
    """
    if function in OWN_PARTS:
        tree = call_of(function, of(field))
        return RolledUp(tree, tree, {field: AggregateInput.column(field)})
    columns = [(kind, getattr(parts, kind)) for kind in DECLARED_PARTS[function]]
    if any(column is None for _, column in columns):
        return None
    inputs = dict(one for kind, column in columns for one in _inputs(kind, field, column))
    mixed, alone = _trees(function, [of(name) for name in inputs], _type(type_))
    return RolledUp(mixed, alone, inputs)


def _inputs(kind: str, field: str, part: str) -> Iterator[tuple[str, AggregateInput]]:
    """The columns of rows that hold a part, each with its name."""
    value, held = (exp.column(name, quoted=True) for name in (field, part))
    if kind == "sketch":
        yield f"values of {field}", AggregateInput(value, None)
        yield f"sketches of {field}", AggregateInput(None, held)
    elif kind == "count":
        yield f"count of {field}", AggregateInput(tree_of("case when a is null then 0 else 1 end", a=value), held)
    else:
        yield field if field == part else f"sum of {field}", AggregateInput(value, held)


def _trees(function: str, values: list[exp.Expr], kind: ColumnType | None) -> tuple[exp.Expr, exp.Expr]:
    """The aggregate of rows of both kinds, and of rolled-up rows alone."""
    if function == "approx_count_distinct":
        return _distinct(values[0], values[1], kind)
    if function == "sum":
        tree = tree_of("sum(a)", a=values[0])
    elif function == "count":
        tree = tree_of("coalesce(sum(a), 0)", a=values[0])
    else:
        tree = _mean(values[0], values[1], kind)
    return tree, tree


def _mean(values: exp.Expr, counts: exp.Expr, kind: ColumnType | None) -> exp.Expr:
    """The mean, of the type that Spark's avg has; NULL where nothing is counted."""
    if isinstance(kind, DecimalType):  # both types are those of avg
        total = f"decimal({min(kind.precision + 10, 38)}, {kind.scale})"
        mean = f"decimal({min(kind.precision + 4, 38)}, {min(kind.scale + 4, 38)})"
        return tree_of(f"cast(cast(sum(a) as {total}) / nullif(sum(b), 0) as {mean})", a=values, b=counts)
    if isinstance(kind, IntegerType | FloatType | StringType):
        values = exp.cast(values, "double")  # as avg does, which does not overflow
    return tree_of("sum(a) / nullif(sum(b), 0)", a=values, b=counts)


def _distinct(values: exp.Expr, sketches: exp.Expr, kind: ColumnType | None) -> tuple[exp.Expr, exp.Expr]:
    """The estimates of how many different values there are in values and sketches, and in sketches alone."""
    if isinstance(kind, IntegerType):
        values = exp.cast(values, "bigint")  # there is no sketch of tinyint and smallint, and one of int and bigint
    of_values = tree_of("hll_sketch_agg(a)", a=values)
    of_sketches = tree_of("hll_union_agg(a, true)", a=sketches)  # true: sketches may be of several sizes
    either = tree_of("coalesce(hll_union(a, b, true), a, b)", a=of_values, b=of_sketches)
    estimate = "coalesce(hll_sketch_estimate(a), 0)"
    return tree_of(estimate, a=either), tree_of(estimate, a=of_sketches)


def _type(text: str) -> ColumnType | None:
    """A type; None for those that no partition column has."""
    try:
        return parse_type(text)
    except InvalidType:
        return None
