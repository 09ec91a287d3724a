"""Partial aggregates: what rolled-up facts hold of a field's values beside the default aggregate of a measure.

The mean of means is not the mean, but the sum of sums by the sum of counts is. A cube says by properties which columns
of its facts hold such parts:

    cube.measure.fare.count = fare_count      how many values of fare a row stands for: a measure that is counted
    cube.measure.pace.sum = pace_sum          their sum, where pace itself is not summed: a measure that is
    cube.measure.rider.sketch = rider_sketch  Spark's hll_sketch_agg of them: a binary column; rider may be an attribute

>>> from hbstore.cubes.fields import Measure
>>> measures = [
...     Measure(name="fare", type="double", default_aggregate="sum"),
...     Measure(name="fare_count", type="bigint", default_aggregate="count"),
... ]
>>> cube = Cube(name="rides", measures=measures, properties={"cube.measure.fare.count": "fare_count"})
>>> partial_aggregates_of(cube)["fare"]
PartialAggregates(sum='fare', count='fare_count', sketch=None)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from hbstore.cubes.concepts import Cube
from hbstore.cubes.fields import DimAttribute, Measure
from hbstore.cubes.logical_tables import Fact
from hbstore.errors import InvalidType
from hbstore.keys.types import IntegerType, StringType, parse_type

PREFIX: Final = "cube.measure."
"""The prefix of properties that say which columns hold parts of a field."""

_PART: Final = re.compile(r"cube\.measure\.(\w+)\.(\w+)")
_Field: TypeAlias = Measure | DimAttribute

_KINDS: Final = ("sum", "count", "sketch")


@dataclass(frozen=True, slots=True)
class PartialAggregates:
    """The columns of rolled-up rows that hold parts of a field; None: none does.

    Attributes:
        sum: the sum of its values.
        count: how many values there are.
        sketch: a sketch of its different values.
    """

    sum: str | None = None
    count: str | None = None
    sketch: str | None = None


@dataclass(frozen=True, slots=True)
class WrongPartialAggregate:
    """A property that does not say which column holds a part.

    Attributes:
        property: its name.
        field: the field whose part it is.
        expected: what should stand there.
        found: what stands there instead.
    """

    property: str
    field: str
    expected: str
    found: str


def part_property(field: str, kind: str) -> str:
    """The property that names the column of a field's sums, counts or sketches."""
    return f"{PREFIX}{field}.{kind}"


def partial_aggregates_of(cube: Cube) -> dict[str, PartialAggregates]:
    """The parts of a cube's measures and attributes, by their names. O(fields)."""
    wrong = {one.property for one in wrong_parts(cube)}  # an older version may have stored some
    properties = {name: _column(text) for name, text in cube.properties.items() if name not in wrong}
    parts = {}
    fields: tuple[_Field, ...] = (*cube.measures, *cube.dim_attributes)
    for field in fields:
        own = {_default(field): field.name}  # the column of a measure that is summed holds its sums
        named = {kind: properties.get(part_property(field.name, kind), own.get(kind)) for kind in _KINDS}
        parts[field.name] = PartialAggregates(**named)
    return parts


def can_be_sketched(type_: str) -> bool:
    """Whether Spark's hll_sketch_agg takes values of a type, such that equal values of two such types are one."""
    try:
        kind = parse_type(type_)
    except InvalidType:
        return type_.strip().lower() == "binary"
    return isinstance(kind, IntegerType) or (isinstance(kind, StringType) and not kind.name.startswith("char"))


def wrong_parts(cube: Cube) -> Iterator[WrongPartialAggregate]:
    """The properties of a cube that name no column which could hold a part."""
    measures = {measure.name: measure for measure in cube.measures}
    fields: dict[str, _Field] = {**measures, **{attribute.name: attribute for attribute in cube.dim_attributes}}
    for name, text in cube.properties.items():
        match = _PART.fullmatch(name)
        if match is None:
            continue
        field, kind, part = match[1], match[2], _column(text)
        if kind not in _KINDS:
            yield WrongPartialAggregate(name, field, f"a property that ends with .{', .'.join(_KINDS)}", kind)
        elif field not in (fields if kind == "sketch" else measures):
            what = "measure or dim attribute" if kind == "sketch" else "measure"
            yield WrongPartialAggregate(name, field, f"a {what} of the {cube}", field)
        elif kind == "sketch":
            yield from _wrong_sketch(name, fields[field], fields.get(part), text)
        else:
            yield from _wrong_measure(name, measures[field], kind, measures.get(part), text)


def wrong_sketches(fact: Fact, cube: Cube) -> Iterator[tuple[int, str, str]]:
    """The columns of a fact that should hold sketches and have another type: place, name and type."""
    sketches = {one.sketch for one in partial_aggregates_of(cube).values()}
    for number, column in enumerate(fact.columns):
        if column.name in sketches and column.type.strip().lower() != "binary":
            yield number, column.name, column.type


def _wrong_sketch(name: str, field: _Field, part: _Field | None, text: str) -> Iterator[WrongPartialAggregate]:
    if not can_be_sketched(field.type):
        yield WrongPartialAggregate(
            name, field.name, "a field of type string, varchar, binary or a whole number", field.type
        )
    elif re.fullmatch(r"\w+", _column(text)) is None:
        yield WrongPartialAggregate(name, field.name, "the name of a column", text)
    elif part is not None and part.type.strip().lower() != "binary":
        yield WrongPartialAggregate(name, field.name, "a column of type binary", f"{part.name} {part.type}")


def _wrong_measure(
    name: str, measure: Measure, kind: str, part: Measure | None, text: str
) -> Iterator[WrongPartialAggregate]:
    if _default(measure) == kind:
        yield WrongPartialAggregate(name, measure.name, f"no such property, as the default aggregate is {kind}", text)
    elif part is None or _default(part) != kind:
        instead = text if part is None else f"{part.name} with {part.default_aggregate or 'none'}"
        yield WrongPartialAggregate(name, measure.name, f"a measure with the default aggregate {kind}", instead)
    elif not _lives_as_long(part, measure):
        yield WrongPartialAggregate(
            name, measure.name, "a measure that counts at all times at which this one does", part.name
        )


def _lives_as_long(part: Measure, whole: Measure) -> bool:
    """Whether a measure counts at all times at which another one does."""
    start = part.start_time is None or (whole.start_time is not None and part.start_time <= whole.start_time)
    end = part.end_time is None or (whole.end_time is not None and whole.end_time <= part.end_time)
    return start and end


def _default(field: _Field) -> str:
    return (field.default_aggregate or "").lower() if isinstance(field, Measure) else ""


def _column(text: str) -> str:
    return text.strip().lower()
