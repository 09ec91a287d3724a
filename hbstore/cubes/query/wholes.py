"""Wholes of parts: aggregates as they are made from what rolled-up rows hold of a field.

    sum(pace)                      SUM(`sum of pace`)
    count(fare)                    COALESCE(SUM(`count of fare`), 0)
    avg(fare)                      SUM(fare) / NULLIF(SUM(`count of fare`), 0)
    approx_count_distinct(rider)   HLL_SKETCH_ESTIMATE(HLL_UNION_AGG(`sketches of rider`))

A row that is not rolled up stands for its own value: that is its sum, and it counts one, or none if it is NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from sqlglot import exp

from hbstore.cubes.function_calls import call
from hbstore.cubes.parts import Parts
from hbstore.cubes.query.aggregate_calls import call_of
from hbstore.cubes.query.units import Piece, RolledUp
from hbstore.errors import InvalidType
from hbstore.types import ColumnType, DecimalType, FloatType, IntegerType, StringType, parse_type

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


def whole_of(function: str, field: str, type_: str, parts: Parts, of: Callable[[str], exp.Expr]) -> RolledUp | None:
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
        return RolledUp(tree, tree, {field: Piece.column(field)})
    columns = [(kind, getattr(parts, kind)) for kind in DECLARED_PARTS[function]]
    if any(column is None for _, column in columns):
        return None
    pieces = dict(one for kind, column in columns for one in _pieces(kind, field, column))
    mixed, alone = _trees(function, [of(name) for name in pieces], _type(type_))
    return RolledUp(mixed, alone, pieces)


def _pieces(kind: str, field: str, part: str) -> Iterator[tuple[str, Piece]]:
    """The columns of rows that hold a part, each with its name."""
    value, held = (exp.column(name, quoted=True) for name in (field, part))
    if kind == "sketch":
        yield f"values of {field}", Piece(value, None)
        yield f"sketches of {field}", Piece(None, held)
    elif kind == "count":
        is_null = exp.If(this=exp.Is(this=value, expression=exp.Null()), true=exp.Literal.number(0))
        yield f"count of {field}", Piece(exp.Case(ifs=[is_null], default=exp.Literal.number(1)), held)
    else:
        yield field if field == part else f"sum of {field}", Piece(value, held)


def _trees(function: str, values: list[exp.Expr], kind: ColumnType | None) -> tuple[exp.Expr, exp.Expr]:
    """The aggregate of rows of both kinds, and of rolled-up rows alone."""
    if function == "approx_count_distinct":
        return _distinct(values[0], values[1], kind)
    if function == "sum":
        tree: exp.Expr = exp.Sum(this=values[0])
    elif function == "count":
        tree = call("coalesce", exp.Sum(this=values[0]), exp.Literal.number(0))
    else:
        tree = _mean(values[0], values[1], kind)
    return tree, tree


def _mean(values: exp.Expr, counts: exp.Expr, kind: ColumnType | None) -> exp.Expr:
    """The mean, of the type that Spark's avg has; NULL where nothing is counted."""
    counted = call("nullif", exp.Sum(this=counts), exp.Literal.number(0))
    if isinstance(kind, DecimalType):
        total = exp.cast(exp.Sum(this=values), f"decimal({min(kind.precision + 10, 38)},{kind.scale})")
        mean = f"decimal({min(kind.precision + 4, 38)},{min(kind.scale + 4, 38)})"
        return exp.cast(exp.Div(this=total, expression=counted), mean)  # both types are those of avg
    if isinstance(kind, IntegerType | FloatType | StringType):
        values = exp.cast(values, "double")  # as avg does, which does not overflow
    return exp.Div(this=exp.Sum(this=values), expression=counted)


def _distinct(values: exp.Expr, sketches: exp.Expr, kind: ColumnType | None) -> tuple[exp.Expr, exp.Expr]:
    """The estimates of how many different values there are in values and sketches, and in sketches alone."""
    if isinstance(kind, IntegerType):
        values = exp.cast(values, "bigint")  # there is no sketch of tinyint and smallint, and one of int and bigint
    of_values = call("hll_sketch_agg", values)
    of_sketches = call("hll_union_agg", sketches, exp.true())  # true: sketches may be of several sizes
    both = call("hll_union", of_values, of_sketches, exp.true())
    either = call("coalesce", both, of_values.copy(), of_sketches.copy())
    mixed, alone = (
        call("coalesce", call("hll_sketch_estimate", one), exp.Literal.number(0))
        for one in (either, of_sketches.copy())
    )
    return mixed, alone


def _type(text: str) -> ColumnType | None:
    """A type; None for those that no partition column has."""
    try:
        return parse_type(text)
    except InvalidType:
        return None
