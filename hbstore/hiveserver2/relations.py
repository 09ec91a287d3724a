"""What queries can name: tables and views of a store, and cubes, dimensions and facts as views."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from hbstore.cubes.concepts import Cube, DerivedCube, Dimension
from hbstore.cubes.fields import DimAttribute, Expression, Measure
from hbstore.cubes.logical_tables import Fact
from hbstore.cubes.stored_model import Model
from hbstore.errors import DatabaseNotFound, InvalidName, TableNotFound
from hbstore.hiveserver2.table_heads import TableHead
from hbstore.model.objects import Column
from hbstore.store.partition_store import PartitionStore
from hbstore.warehouse.name_patterns import NamePattern
from hbstore.warehouse.table_kinds import is_view, settled_type

TABLE: Final = "TABLE"
VIEW: Final = "VIEW"

_READ_SINGLY: Final = 4
"""Reading a table alone costs as much as so many of a scan, about."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A table or a view as clients see it.

    Attributes:
        database: its database.
        name: its name there.
        type: ``TABLE`` or ``VIEW``.
        kind: the same in Hive's words, such as ``EXTERNAL_TABLE``.
        remarks: what it is.
        table: where a table of the store has its columns.
        fields: the columns of a view of the model.
    """

    database: str
    name: str
    type: str
    kind: str
    remarks: str
    table: TableHead | None = None
    fields: tuple[Column, ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        """Its columns in order."""
        return self.fields if self.table is None else self.table.columns


def relations(store: PartitionStore, schemas: NamePattern, tables: NamePattern) -> Iterator[Relation]:
    """Tables and views in order of their databases and names.

    For each database one scan of names. Few tables are then read one by one, many by a scan.

    Args:
        store: where they are.
        schemas: for names of databases.
        tables: for names of tables and views.
    """
    for database in store.database_names():
        if schemas.matches(database):
            with suppress(DatabaseNotFound):  # somebody drops it
                yield from _of_database(store, database, tables)


def _of_database(store: PartitionStore, database: str, pattern: NamePattern) -> list[Relation]:
    stored = {head.name: _relation(database, head) for head in _tables(store, database, pattern)}
    views = {view.name: view for view in reversed(model_views(store, database)) if pattern.matches(view.name)}
    both = views | stored
    return [both[name] for name in sorted(both)]


def _tables(store: PartitionStore, database: str, pattern: NamePattern) -> list[TableHead]:
    names = pattern.names
    if names is None:
        every = store.table_names(database)
        names = [name for name in every if pattern.matches(name)]
        if len(names) * _READ_SINGLY > len(every):
            matches = pattern.matches
            return [head for head in map(TableHead.of, store.read_tables(database)) if matches(head.name)]
    heads = []
    for name in names:
        with suppress(TableNotFound, InvalidName):
            heads.append(TableHead.of(store.read_table(database, name)))
    return heads


def _relation(database: str, table: TableHead) -> Relation:
    return Relation(
        database,
        table.name,
        VIEW if is_view(table) else TABLE,
        settled_type(table),
        table.parameters.get("comment", ""),
        table,
    )


def model_views(store: PartitionStore, database: str) -> list[Relation]:
    """The cubes, dimensions and facts of a database; a fact may have the name of one of the others."""
    model = Model(store, database)
    cubes = {cube.name: cube for cube in model.list("cube") if isinstance(cube, Cube)}
    view = partial(_view, database)
    views = [view(cube.name, "cube", cube.name, cube.description, _fields(cube)) for cube in cubes.values()]
    for derived in model.list("derived_cube"):
        if isinstance(derived, DerivedCube) and (parent := cubes.get(derived.parent)) is not None:
            names = {*derived.measures, *derived.dim_attributes}
            fields = [field for field in _fields(parent) if field.name in names]
            what = f"derived cube of {derived.parent}"
            views.append(view(derived.name, what, derived.name, derived.description, fields))
    dimensions = [dimension for dimension in model.list("dimension") if isinstance(dimension, Dimension)]
    views += [
        view(dimension.name, "dimension", dimension.name, dimension.description, _fields(dimension))
        for dimension in dimensions
    ]
    for fact in model.list("fact"):
        if isinstance(fact, Fact):
            fields = [Column(column.name, column.type, column.comment) for column in fact.columns]
            views.append(view(fact.name, f"fact of the cube {fact.cube}", fact.cube, fact.description, fields))
    return views


def _view(
    database: str, name: str, what: str, queried: str, description: str | None, fields: Sequence[Column]
) -> Relation:
    """A view of the model.

    Args:
        database: its database.
        name: its name.
        what: it is.
        queried: the name of what a query names for it.
        description: what the model says of it.
        fields: its columns.
    """
    remarks = f"{description}\n" if description else ""
    remarks += f"A {what}. Ask it by CUBE SELECT … FROM {queried}"
    return Relation(database, name, VIEW, VIEW, remarks, fields=tuple(fields))


def _fields(concept: Cube | Dimension) -> list[Column]:
    fields: list[Measure | DimAttribute | Expression] = [*concept.dim_attributes, *concept.expressions]
    if isinstance(concept, Cube):
        fields = [*concept.measures, *fields]
    return [Column(field.name, field.type, field.description or field.display) for field in fields]
