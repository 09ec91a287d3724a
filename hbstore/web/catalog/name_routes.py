"""What a statement in a database can name, with types and descriptions: for editors that complete words.

The model's cubes and dimensions come with their fields, also those that join chains reach (``city.name``); tables and
views with their columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict

from hbstore.cubes.concepts import Cube, DerivedCube, Dimension
from hbstore.cubes.fields import DimAttribute, Expression, Measure
from hbstore.cubes.stored_model import Model
from hbstore.hiveserver2.table_heads import TableHead, table_columns
from hbstore.model.objects import Table
from hbstore.model.structs import decode_table
from hbstore.store.partition_store import PartitionStore
from hbstore.warehouse.service import Service
from hbstore.warehouse.table_kinds import is_view
from hbstore.web.catalog.catalog_routes import DATABASE

_WITH_COLUMNS: Final = 500
"""Tables whose columns are named; of others only their names."""


FieldKind = Literal["measure", "dimension", "time dimension", "expression", "column", "partition column"]
"""What a field is of its relation."""


class NamedField(BaseModel):
    """A field or a column.

    Attributes:
        name: as it is written in a statement.
        type: in Hive's words.
        kind: what it is of its relation.
        description: what is said of it; empty where nothing is.
    """

    name: str
    type: str
    kind: FieldKind
    description: str = ""


class NamedRelation(BaseModel):
    """What stands behind FROM.

    Attributes:
        name: as it is written in a statement.
        kind: what it is; cubes, derived cubes and dimensions are asked by CUBE SELECT.
        description: what is said of it; empty where nothing is.
        fields: in their order.
    """

    name: str
    kind: Literal["cube", "derived cube", "dimension", "table", "view"]
    description: str = ""
    fields: list[NamedField] = []


class NamesDocument(BaseModel):
    """What a statement in a database can name."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "names": [
                        {
                            "name": "rides",
                            "kind": "cube",
                            "description": "",
                            "fields": [{"name": "fare", "type": "bigint", "kind": "measure", "description": ""}],
                        }
                    ]
                }
            ]
        }
    )

    names: list[NamedRelation]


def name_routes(service: Service) -> APIRouter:
    """The route of names."""
    router, store = APIRouter(tags=["catalog"]), service.store

    @router.get(f"{DATABASE}/names", response_model=NamesDocument)
    def names(database: str) -> Response:
        """What a statement in the database can name: cubes and dimensions with their fields, tables with their columns.

        The model comes first. Columns are those of the first 500 tables.
        """
        found = store.get_database(database).name
        document = NamesDocument(names=[*_of_model(Model(store, found)), *_of_tables(store, found)])
        return Response(document.model_dump_json(), media_type="application/json")  # which is not checked once more

    return router


def _of_model(model: Model) -> Iterator[NamedRelation]:
    dimensions = {
        dimension.name: dimension for dimension in model.list("dimension") if isinstance(dimension, Dimension)
    }
    cubes = {cube.name: cube for cube in model.list("cube") if isinstance(cube, Cube)}
    for cube in cubes.values():
        fields = _fields_of(cube, dimensions)
        yield NamedRelation(name=cube.name, kind="cube", description=_said(cube), fields=fields)
    for derived in model.list("derived_cube"):
        if isinstance(derived, DerivedCube) and (parent := cubes.get(derived.parent)) is not None:
            names = {*derived.measures, *derived.dim_attributes}
            fields = [field for field in _fields_of(parent, dimensions) if field.name in names]
            yield NamedRelation(name=derived.name, kind="derived cube", description=_said(derived), fields=fields)
    for dimension in dimensions.values():
        fields = _fields_of(dimension, dimensions)
        yield NamedRelation(name=dimension.name, kind="dimension", description=_said(dimension), fields=fields)


def _fields_of(entity: Cube | Dimension, dimensions: dict[str, Dimension]) -> list[NamedField]:
    """The fields of a cube or a dimension, its own ones first."""
    times = entity.time_dimensions if isinstance(entity, Cube) else {}
    fields = [_field(field, field.name, "measure") for field in entity.measures] if isinstance(entity, Cube) else []
    fields += [
        _field(field, field.name, "time dimension" if field.name in times else "dimension")
        for field in entity.dim_attributes
    ]
    own = {field.name for field in entity.dim_attributes}
    fields += [
        NamedField(name=name, type="timestamp", kind="time dimension") for name in times if name not in own
    ]  # which are the times of partitions
    fields += [_field(field, field.name, "expression") for field in entity.expressions]
    for chain in entity.join_chains:
        if (reached := dimensions.get(chain.destination)) is not None:
            fields += [_field(field, f"{chain.name}.{field.name}", "dimension") for field in reached.dim_attributes]
            fields += [_field(field, f"{chain.name}.{field.name}", "expression") for field in reached.expressions]
    return fields


def _field(one: Measure | DimAttribute | Expression, name: str, kind: FieldKind) -> NamedField:
    return NamedField(name=name, type=one.type, kind=kind, description=_said(one))


def _said(one: Cube | DerivedCube | Dimension | Measure | DimAttribute | Expression) -> str:
    return one.description or one.display or ""


def _of_tables(store: PartitionStore, database: str) -> Iterator[NamedRelation]:
    for number, stored in enumerate(store.read_tables(database)):
        head = TableHead.of(stored)
        yield NamedRelation(
            name=head.name,
            kind="view" if is_view(head) else "table",
            description=head.parameters.get("comment", ""),
            fields=_columns_of(decode_table(stored)) if number < _WITH_COLUMNS else [],
        )


def _columns_of(table: Table) -> list[NamedField]:
    columns = table_columns(table)
    data = len(columns) - len(table.partition_columns)
    return [
        NamedField(
            name=column.name,
            type=column.type,
            kind="column" if number < data else "partition column",
            description=column.comment or "",
        )
        for number, column in enumerate(columns)
    ]
