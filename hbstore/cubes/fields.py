"""Fields of conceptual tables: measures, dim attributes, expressions; and join chains, by which fields are reached.

>>> Edge.parse("sales.customer_id = customer.id")
Edge(table='sales', field='customer_id', to_table='customer', to_field='id', to_many=False)
>>> str(Edge.parse("sales.customer_id = customer.id"))
'sales.customer_id=customer.id'
"""

from __future__ import annotations

import re
from datetime import datetime
from itertools import pairwise
from typing import Annotated, Any, Final, Protocol, Self, TypeVar

from pydantic import Field, ModelWrapValidatorHandler, model_serializer, model_validator

from hbstore.cubes.document import Document
from hbstore.cubes.values import FieldName, HiveType, Items, Name, Properties, Text, Time, no_twins
from hbstore.model.frozen import FrozenDict

_EDGE: Final = re.compile(r"\s*(\w+)\s*\.\s*(\w+)\s*=\s*(\w+)\s*\.\s*(\w+)\s*(\(many\)\s*)?")


class _Dated(Protocol):
    start_time: datetime | None
    end_time: datetime | None


_T = TypeVar("_T", bound=_Dated)


def _in_order(one: _T) -> _T:
    """See that what counts from one time up to another does so in that order; always, where neither is given."""
    if one.start_time is not None and one.end_time is not None and one.end_time <= one.start_time:
        raise ValueError("an end_time after the start_time")
    return one


class Measure(Document):
    """A quantity of a cube.

    Attributes:
        default_aggregate: how it is rolled up: sum, max, …
        format: how it is shown.
        min: the smallest value that it takes, for information.
        max: the largest.
        tags: names and values for programs that show it, such as a category.
    """

    name: FieldName
    type: HiveType
    default_aggregate: Text | None = None
    format: str | None = None
    unit: str | None = None
    min: float | None = None
    max: float | None = None
    display: str | None = None
    description: str | None = None
    tags: Properties = FrozenDict()
    start_time: Time | None = None
    end_time: Time | None = None

    _in_order = model_validator(mode="after")(_in_order)


class Reference(Document):
    """A field of another conceptual table that an attribute refers to."""

    table: Name
    field: FieldName


class ChainField(Document):
    """A field that is reached by a join chain."""

    chain: FieldName
    field: FieldName


class DimAttribute(Document):
    """A property of the data.

    Attributes:
        references: fields of other tables that its values are those of.
        chain: fields, each reached by a join chain, that it stands for; any of them will do.
        distinct_values: about how many values there are.
        join_key: whether it may join tables.
    """

    name: FieldName
    type: HiveType
    references: Annotated[tuple[Reference, ...], Items] = ()
    chain: Annotated[tuple[ChainField, ...], Items] = ()
    distinct_values: Annotated[int, Field(ge=0)] | None = None
    join_key: bool = False
    values: Annotated[tuple[str, ...], Items] = ()
    display: str | None = None
    description: str | None = None
    tags: Properties = FrozenDict()
    start_time: Time | None = None
    end_time: Time | None = None

    _in_order = model_validator(mode="after")(_in_order)

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if self.references and self.chain:
            raise ValueError("references or chain, not both")
        return self


class Hierarchy(Document):
    """Dim attributes of which each is part of the next, such as a city, a state and a country.

    Attributes:
        attributes: names of dim attributes, or of other hierarchies.
        tags: names and values for programs that show it.
    """

    name: FieldName
    attributes: Annotated[tuple[FieldName, ...], Items, Field(min_length=1)]
    display: str | None = None
    description: str | None = None
    tags: Properties = FrozenDict()

    @model_validator(mode="after")
    def _once(self) -> Self:
        no_twins(self.attributes, "each attribute")
        return self


class ExpressionSpec(Document):
    """An expression and when it counts."""

    expression: Text
    start_time: Time | None = None
    end_time: Time | None = None

    _in_order = model_validator(mode="after")(_in_order)


class Expression(Document):
    """A field that is computed; by different expressions at different times."""

    name: FieldName
    type: HiveType
    specs: Annotated[tuple[ExpressionSpec, ...], Items, Field(min_length=1)]
    display: str | None = None
    description: str | None = None
    tags: Properties = FrozenDict()


class Edge(Document):
    """A step from a table to another, over equal fields. Files have it as text: ``sales.customer_id=customer.id``.

    Attributes:
        to_many: whether one row may meet many, as in ``user.id=user_interests.user_id (many)``.
    """

    table: Name
    field: FieldName
    to_table: Name
    to_field: FieldName
    to_many: bool = False

    @classmethod
    def parse(cls, text: str) -> Edge:
        """The edge of a text; InvalidModel where it is none.

        >>> Edge.parse("rides.city_id=cities.id")
        Edge(table='rides', field='city_id', to_table='cities', to_field='id', to_many=False)
        """
        return cls.model_validate(text)

    @model_validator(mode="wrap")
    @classmethod
    def _from_text(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if isinstance(value, str):
            match = _EDGE.fullmatch(value)
            if match is None:
                raise ValueError("an edge such as sales.customer_id=customer.id")
            *names, many = match.groups()
            value = dict(zip(("table", "field", "to_table", "to_field"), names, strict=True), to_many=many is not None)
        return handler(value)

    @model_serializer
    def __str__(self) -> str:
        return f"{self.table}.{self.field}={self.to_table}.{self.to_field}{' (many)' if self.to_many else ''}"


class JoinChain(Document):
    """A way to another conceptual table, by one or more paths that all end there.

    Attributes:
        name: fields of the other table are written ``name.field``.
        paths: each a sequence of edges; where one ends, the next begins.
    """

    name: FieldName
    paths: Annotated[tuple[Annotated[tuple[Edge, ...], Items, Field(min_length=1)], ...], Items, Field(min_length=1)]
    display: str | None = None
    description: str | None = None
    tags: Properties = FrozenDict()

    @property
    def destination(self) -> str:
        """The table that it leads to.

        >>> JoinChain(name="city", paths=[[Edge.parse("rides.city_id=cities.id")]]).destination
        'cities'
        """
        return self.paths[0][-1].to_table

    @model_validator(mode="after")
    def _connected(self) -> Self:
        for path in self.paths:
            for edge, after in pairwise(path):
                if edge.to_table != after.table:
                    raise ValueError(f"an edge from {edge.to_table} after {edge}, not {after}")
        ends = {path[-1].to_table for path in self.paths}
        if len(ends) > 1:
            raise ValueError(f"paths that end in one table, not in {' and '.join(sorted(ends))}")
        no_twins(("/".join(map(str, path)) for path in self.paths), "each path")
        return self
