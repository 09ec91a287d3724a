"""Storages, and the conceptual tables: base cubes, derived cubes and dimensions.

>>> cube = Cube(
...     name="Sales",
...     measures=[Measure(name="price", type="DOUBLE", default_aggregate="sum")],
...     dim_attributes=[DimAttribute(name="order_time", type="timestamp")],
...     time_dimensions={"order_time": "ot"},
... )
>>> cube.name, cube.field_names(), cube.partition_column("order_time")
('sales', ('price', 'order_time'), 'ot')
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, Field, model_validator

from hbstore.cubes.document import Named
from hbstore.cubes.fields import DimAttribute, Expression, Hierarchy, JoinChain, Measure
from hbstore.cubes.values import FieldName, Items, Name, Properties, no_twins
from hbstore.model.frozen import FrozenDict


class Storage(Named):
    """A physical storage: a file system or a database.

    Attributes:
        class_name: the class that stands for it where there is one, such as Lens's HDFSStorage.
        endpoint: where it is, as a URI.
    """

    kind: ClassVar = "storage"

    class_name: str | None = None
    endpoint: str | None = None
    description: str | None = None
    properties: Properties = FrozenDict()


TimeDimensions = Annotated[Mapping[FieldName, FieldName], AfterValidator(FrozenDict)]
"""Time dimensions of a cube, each with the partition column that storage tables have for it."""


class Cube(Named):
    """A base cube: all of its measures, dim attributes, expressions and join chains."""

    kind: ClassVar = "cube"

    description: str | None = None
    display: str | None = None
    time_dimensions: TimeDimensions = FrozenDict()
    measures: Annotated[tuple[Measure, ...], Items] = ()
    dim_attributes: Annotated[tuple[DimAttribute, ...], Items] = ()
    hierarchies: Annotated[tuple[Hierarchy, ...], Items] = ()
    expressions: Annotated[tuple[Expression, ...], Items] = ()
    join_chains: Annotated[tuple[JoinChain, ...], Items] = ()
    properties: Properties = FrozenDict()

    def field_names(self) -> tuple[str, ...]:
        """The names of all fields.

        >>> list(cubes.cube("rides").field_names())
        ['minutes', 'start_time']
        """
        return (*_names(self.measures), *_names(self.dim_attributes), *_names(self.expressions))

    def partition_column(self, time_dimension: str) -> str | None:
        """The partition column of a time dimension; None if it is none.

        >>> cubes.cube("rides").partition_column("start_time")
        'dt'
        """
        return self.time_dimensions.get(time_dimension.lower())

    @model_validator(mode="after")
    def _sound(self) -> Self:
        _check_fields(self.name, self.field_names(), self.dim_attributes, self.join_chains)
        _check_hierarchies(self.hierarchies, self.field_names(), self.dim_attributes)
        attributes = {attribute.name for attribute in self.dim_attributes}
        for dimension, column in self.time_dimensions.items():
            # A cube may be asked by the time of its partitions, which is then no attribute of the data.
            if dimension not in attributes and dimension != column:
                raise ValueError(f"a dim attribute for the time dimension {dimension}")
        return self


class DerivedCube(Named):
    """Some measures and dim attributes of a base cube, all of which may be asked for together.

    Attributes:
        parent: the base cube.
        measures: names of measures and expressions.
        dim_attributes: names of dim attributes.
    """

    kind: ClassVar = "derived_cube"

    parent: Name
    description: str | None = None
    display: str | None = None
    measures: Annotated[tuple[FieldName, ...], Items] = ()
    dim_attributes: Annotated[tuple[FieldName, ...], Items] = ()
    properties: Properties = FrozenDict()

    @model_validator(mode="after")
    def _sound(self) -> Self:
        no_twins(self.measures, "each measure")
        no_twins(self.dim_attributes, "each dim attribute")
        if self.parent == self.name:
            raise ValueError("a parent other than itself")
        return self


class Dimension(Named):
    """A conceptual table without measures."""

    kind: ClassVar = "dimension"

    description: str | None = None
    display: str | None = None
    dim_attributes: Annotated[tuple[DimAttribute, ...], Items, Field(min_length=1)]
    hierarchies: Annotated[tuple[Hierarchy, ...], Items] = ()
    expressions: Annotated[tuple[Expression, ...], Items] = ()
    join_chains: Annotated[tuple[JoinChain, ...], Items] = ()
    properties: Properties = FrozenDict()

    def field_names(self) -> tuple[str, ...]:
        """The names of all fields.

        >>> Dimension(name="city", dim_attributes=[{"name": "id", "type": "int"}]).field_names()
        ('id',)
        """
        return (*_names(self.dim_attributes), *_names(self.expressions))

    @model_validator(mode="after")
    def _sound(self) -> Self:
        _check_fields(self.name, self.field_names(), self.dim_attributes, self.join_chains)
        _check_hierarchies(self.hierarchies, self.field_names(), self.dim_attributes)
        return self


def _names(fields: Iterable[Measure | DimAttribute | Expression]) -> list[str]:
    return [field.name for field in fields]


def _check_fields(
    name: str, fields: Iterable[str], attributes: Iterable[DimAttribute], chains: Iterable[JoinChain]
) -> None:
    """See that names of fields and chains differ, that chains begin here, and that attributes name chains there are."""
    fields = _set_of(fields, "each field")
    known = _set_of((chain.name for chain in chains), "each join chain")
    for attribute in attributes:
        for reached in attribute.chain:
            if reached.chain not in known:
                raise ValueError(f"a join chain {reached.chain}, which the dim attribute {attribute.name} names")
    for chain in chains:
        for first, *_ in chain.paths:
            if first.table != name:
                raise ValueError(f"paths of the join chain {chain.name} that begin in {name}, not in {first.table}")
            if first.field not in fields:
                raise ValueError(f"a field {first.field}, which the join chain {chain.name} begins with")


def _check_hierarchies(
    hierarchies: Iterable[Hierarchy], fields: Iterable[str], attributes: Iterable[DimAttribute]
) -> None:
    """See that hierarchies have names of their own, and consist of what there is."""
    own = _set_of((one.name for one in hierarchies), "each hierarchy")
    no_twins([*fields, *sorted(own)], "each field or hierarchy")
    known = own.union(attribute.name for attribute in attributes)
    for hierarchy in hierarchies:
        for name in hierarchy.attributes:
            if name not in known or name == hierarchy.name:
                raise ValueError(f"a dim attribute {name}, which the hierarchy {hierarchy.name} names")


def _set_of(names: Iterable[str], what: str) -> set[str]:
    """Names as a set; ValueError where one stands twice."""
    listed = list(names)
    no_twins(listed, what)
    return set(listed)
