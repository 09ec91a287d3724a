"""What documents name in each other, and whether it is there.

    derived cube  -> base cube, its measures, expressions and dim attributes
    fact          -> base cube, its fields and time dimensions; storages
    dimtable      -> dimension, its fields; storages

Join chains may name tables that are still to come, as dimensions may lead to each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from hbstore.cubes.concepts import Cube, DerivedCube, Dimension, Storage
from hbstore.cubes.document import Named
from hbstore.cubes.logical_tables import DimTable, Fact, LogicalTable
from hbstore.errors import InvalidModel


class Known(Protocol):
    """Finds documents."""

    def find(self, kind: str, name: str) -> Named | None:
        """The document of a kind and name; None if there is none."""

    def list(self, kind: str) -> Sequence[Named]:
        """All documents of a kind."""


def check_references(document: Named, known: Known) -> None:
    """See that all that a document names is there.

    Raises:
        InvalidModel: something is not; the error says what and where it is named.
    """
    if isinstance(document, DerivedCube):
        parent = _base_cube(document, "parent", document.parent, known)
        measures = [*(one.name for one in parent.measures), *(one.name for one in parent.expressions)]
        _check_names(document, "measures", document.measures, measures, parent)
        attributes = [field.name for field in parent.dim_attributes]
        _check_names(document, "dim_attributes", document.dim_attributes, attributes, parent)
    elif isinstance(document, Fact):
        cube = _base_cube(document, "cube", document.cube, known)
        _check_columns(document, cube.field_names(), cube)
        _check_storages(document, known)
        _check_time_columns(document, cube)
    elif isinstance(document, DimTable):
        dimension = known.find("dimension", document.dimension)
        if not isinstance(dimension, Dimension):
            raise _missing(document, "dimension", f"a dimension {document.dimension}, which does not exist")
        _check_columns(document, dimension.field_names(), dimension)
        _check_storages(document, known)


def dependents(document: Named, known: Known) -> list[Named]:
    """The documents that name one."""
    documents: list[Named] = []
    if document.kind == "cube":
        documents += [one for one in known.list("derived_cube") if getattr(one, "parent", None) == document.name]
        documents += [one for one in known.list("fact") if getattr(one, "cube", None) == document.name]
    elif document.kind == "dimension":
        documents += [one for one in known.list("dimtable") if getattr(one, "dimension", None) == document.name]
    elif document.kind == "storage":
        documents += [
            one
            for kind in ("fact", "dimtable")
            for one in known.list(kind)
            if isinstance(one, LogicalTable) and document.name in {table.storage for table in one.storage_tables}
        ]
    return documents


def described(document: Named, known: Known) -> dict[str, Any]:
    """A document as JSON would hold it, with what uses it and what its storage tables are called."""
    found: dict[str, Any] = document.to_dict()
    users = dependents(document, known)
    if isinstance(document, LogicalTable):
        found["tables"] = {one.storage: document.table_name(one.storage) for one in document.storage_tables}
    elif isinstance(document, Storage):
        found["used_by"] = [str(one) for one in users]
    elif isinstance(document, Dimension):
        found["dimtables"] = [one.name for one in users]
    elif isinstance(document, Cube):
        found["derived_cubes"] = [one.name for one in users if isinstance(one, DerivedCube)]
        found["facts"] = [one.name for one in users if isinstance(one, Fact)]
    return found


def _base_cube(document: Named, at: str, name: str, known: Known) -> Cube:
    found = known.find("cube", name)
    if not isinstance(found, Cube):
        derived = known.find("derived_cube", name) is not None
        raise _missing(document, at, f"a base cube, but {name} {'is a derived cube' if derived else 'does not exist'}")
    return found


def _check_names(document: Named, at: str, names: Iterable[str], known: Iterable[str], where: Named) -> None:
    there = set(known)
    for number, name in enumerate(names):
        if name not in there:
            raise _missing(document, f"{at}.{number}", f"one of the {at} of the {where}, but {name} is not one")


def _check_columns(document: LogicalTable, fields: Iterable[str], where: Named) -> None:
    there = set(fields)
    for number, column in enumerate(document.columns):
        if column.name not in there and not column.extra:
            raise _missing(
                document,
                f"columns.{number}",
                f"a field of the {where}, but {column.name} is not one",
                hint="If only the table has the column, set extra: true",
            )


def _check_storages(document: LogicalTable, known: Known) -> None:
    for number, table in enumerate(document.storage_tables):
        if known.find("storage", table.storage) is None:
            raise _missing(
                document, f"storage_tables.{number}.storage", f"a storage, but {table.storage} does not exist"
            )


def _check_time_columns(fact: Fact, cube: Cube) -> None:
    """A fact of a cube with time dimensions can be asked by one of them on each storage."""
    columns = set(cube.time_dimensions.values())
    for number, table in enumerate(fact.storage_tables):
        if columns and not table.is_continuous and not columns & set(table.time_partition_columns):
            raise _missing(
                fact,
                f"storage_tables.{number}.time_partition_columns",
                f"a partition column of one of the time dimensions of the {cube}: {', '.join(sorted(columns))}",
            )


def _missing(document: Named, at: str, expected: str, hint: str | None = None) -> InvalidModel:
    return InvalidModel(
        "the description names something that does not exist",
        kind=document.kind,
        name=document.name,
        at=at,
        expected=expected,
        hint=hint or "Create the missing description first, or correct the name",
    )
