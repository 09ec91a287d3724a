"""What documents name in each other, and whether it is there.

    derived cube  -> base cube, its measures, expressions and dim attributes
    fact          -> base cube, its fields and time dimensions; storages
    dimtable      -> dimension, its fields; storages

Join chains may name tables that are still to come, as dimensions may lead to each other. A change is checked against
an `Overlay`: the documents as they would be after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from hbstore.cubes.concepts import Cube, DerivedCube, Dimension, Storage
from hbstore.cubes.document import Named
from hbstore.cubes.logical_tables import DimTable, Fact, LogicalTable
from hbstore.errors import InvalidModel, did_you_mean

_USERS: Final = {"cube": ("derived_cube", "fact"), "dimension": ("dimtable",), "storage": ("fact", "dimtable")}
"""The kinds of documents that name one of a kind."""


class Known(Protocol):
    """Finds documents."""

    def find(self, kind: str, name: str) -> Named | None:
        """The document of a kind and name; None if there is none."""

    def list(self, kind: str) -> Sequence[Named]:
        """All documents of a kind."""


def check_references(document: Named, documents: Known) -> None:
    """See that all that a document names is there.

    Raises:
        InvalidModel: something is not; the error says what and where it is named.
    """
    if isinstance(document, DerivedCube):
        check_use(document, _base_cube(document, "parent", document.parent, documents))
    elif isinstance(document, Fact):
        check_use(document, _base_cube(document, "cube", document.cube, documents))
    elif isinstance(document, DimTable):
        dimension = documents.find("dimension", document.dimension)
        if not isinstance(dimension, Dimension):
            expected = f"a dimension {document.dimension}, which does not exist"
            raise _missing(document, "dimension", expected, document.dimension, _names(documents, "dimension"))
        check_use(document, dimension)
    if isinstance(document, LogicalTable):
        _check_storages(document, documents)


def check_use(user: Named, used: Named) -> None:
    """See that all is there that a document names in another one: fields of a cube or a dimension.

    Raises:
        InvalidModel: something is not.
    """
    if isinstance(user, DerivedCube) and isinstance(used, Cube):
        measures = [*(measure.name for measure in used.measures), *(expression.name for expression in used.expressions)]
        _check_names(user, "measures", user.measures, measures, used)
        attributes = [field.name for field in used.dim_attributes]
        _check_names(user, "dim_attributes", user.dim_attributes, attributes, used)
    elif isinstance(user, Fact) and isinstance(used, Cube):
        _check_columns(user, used.field_names(), used)
        _check_time_columns(user, used)
    elif isinstance(user, DimTable) and isinstance(used, Dimension):
        _check_columns(user, used.field_names(), used)


def dependents(document: Named, documents: Known) -> list[Named]:
    """The documents that name one."""
    return [one for kind in _USERS.get(document.kind, ()) for one in documents.list(kind) if uses(one, document)]


def uses(user: Named, used: Named) -> bool:
    """Whether a document names another one."""
    match used.kind:
        case "cube":
            return used.name in (getattr(user, "parent", None), getattr(user, "cube", None))
        case "dimension":
            return getattr(user, "dimension", None) == used.name
        case "storage":
            return isinstance(user, LogicalTable) and used.name in {table.storage for table in user.storage_tables}
    return False


def described(document: Named, documents: Known) -> dict[str, Any]:
    """A document as JSON would hold it, with what uses it and what its storage tables are called."""
    data: dict[str, Any] = document.to_dict()
    users = dependents(document, documents)
    if isinstance(document, LogicalTable):
        data["tables"] = {on.storage: document.table_name(on.storage) for on in document.storage_tables}
    elif isinstance(document, Storage):
        data["used_by"] = [str(user) for user in users]
    elif isinstance(document, Dimension):
        data["dimtables"] = [user.name for user in users]
    elif isinstance(document, Cube):
        data["derived_cubes"] = [user.name for user in users if isinstance(user, DerivedCube)]
        data["facts"] = [user.name for user in users if isinstance(user, Fact)]
    return data


def _base_cube(document: Named, at: str, name: str, documents: Known) -> Cube:
    cube = documents.find("cube", name)
    if not isinstance(cube, Cube):
        derived = documents.find("derived_cube", name) is not None
        expected = f"a base cube, but {name} {'is a derived cube' if derived else 'does not exist'}"
        raise _missing(document, at, expected, name, _names(documents, "cube"))
    return cube


def _check_names(document: Named, at: str, names: Iterable[str], known: Iterable[str], where: Named) -> None:
    there = set(known)
    for number, name in enumerate(names):
        if name not in there:
            expected = f"one of the {at} of the {where}, but {name} is not one"
            raise _missing(document, f"{at}.{number}", expected, name, there)


def _check_columns(document: LogicalTable, fields: Iterable[str], where: Named) -> None:
    names = set(fields)
    for number, column in enumerate(document.columns):
        if column.name not in names and not column.extra:
            raise _missing(
                document,
                f"columns.{number}",
                f"a field of the {where}, but {column.name} is not one",
                column.name,
                names,
                hint="If only the table has the column, set extra: true",
            )


def _check_storages(document: LogicalTable, documents: Known) -> None:
    for number, table in enumerate(document.storage_tables):
        if documents.find("storage", table.storage) is None:
            raise _missing(
                document,
                f"storage_tables.{number}.storage",
                f"a storage, but {table.storage} does not exist",
                table.storage,
                _names(documents, "storage"),
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


def _names(documents: Known, kind: str) -> list[str]:
    return [document.name for document in documents.list(kind)]


def _missing(
    document: Named, at: str, expected: str, name: str = "", names: Iterable[str] = (), hint: str | None = None
) -> InvalidModel:
    return InvalidModel(
        "the description names something that does not exist",
        kind=document.kind,
        name=document.name,
        at=at,
        expected=expected,
        hint=did_you_mean(name, names, hint or "Create the missing description first, or correct the name"),
    )


@dataclass(frozen=True, slots=True)
class Overlay:
    """Documents with others in the place of some, or beside them.

    Attributes:
        documents: those that are there.
        put: those that are to be, by kind and name.
    """

    documents: Known
    put: Mapping[tuple[str, str], Named]

    @staticmethod
    def of(documents: Known, *put: Named) -> Overlay:
        """Documents with these put."""
        return Overlay(documents, {(one.kind, one.name): one for one in put})

    def find(self, kind: str, name: str) -> Named | None:
        """The document of a kind and name; None if there is none."""
        return self.put.get((kind, name)) or self.documents.find(kind, name)

    def list(self, kind: str) -> Sequence[Named]:
        """All documents of a kind; new ones come last."""
        by_name = {(document.kind, document.name): document for document in self.documents.list(kind)}
        return list((by_name | {key: one for key, one in self.put.items() if one.kind == kind}).values())
