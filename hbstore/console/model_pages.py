"""Pages of a model: all its descriptions in tables that lead to each other, and each with its YAML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hbstore.console.rendering import address, page
from hbstore.cubes import Cube, Cubes, DerivedCube, Dimension, DimTable, Fact, Storage, write_documents
from hbstore.cubes.document import Named
from hbstore.cubes.files import KINDS
from hbstore.cubes.references import dependents
from hbstore.cubes.stored_model import Model
from hbstore.warehouse.service import Service

_TITLES: Final = {
    "storage": "Storages",
    "cube": "Cubes",
    "derived_cube": "Derived cubes",
    "dimension": "Dimensions",
    "fact": "Facts",
    "dimtable": "Dimension tables",
}
_KIND_OF: Final = {f"{kind}s": kind for kind in KINDS}
"""Kinds as addresses name them."""


@dataclass(frozen=True, slots=True)
class LinkedText:
    """A text of a table, perhaps a link.

    Attributes:
        text: what is read.
        leads_to: an address.
        is_code: whether it is read as code.
    """

    text: str
    leads_to: str | None = None
    is_code: bool = False


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table of a page.

    Attributes:
        title: above it.
        headings: of its columns.
        rows: each of as many cells, which are texts next to one another.
    """

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[Sequence[LinkedText]]]


def model_pages(service: Service) -> list[Route]:
    """The pages of models."""
    store = service.store

    def whole(request: Request) -> Response:
        cubes = Cubes(store, request.path_params["database"])
        listings = [_all_of(cubes.database, kind, cubes.list(kind)) for kind in KINDS]
        return page(
            request,
            "model.html",
            title=f"Model of {cubes.database}",
            database=cubes.database,
            listings=[listing for listing in listings if listing.rows],
        )

    def entity(request: Request) -> Response:
        cubes = Cubes(store, request.path_params["database"])
        kind = request.path_params["kind"]
        document = cubes.get(_KIND_OF.get(kind, kind), request.path_params["name"])
        return page(
            request,
            "entity.html",
            title=document.name,
            database=cubes.database,
            entity=document,
            kind=_TITLES[document.kind][:-1].lower(),
            listings=[listing for listing in _of_entity(cubes, document) if listing.rows],
            yaml=write_documents([document]),
        )

    return [
        Route("/databases/{database}/model", whole),
        Route("/databases/{database}/model/{kind}/{name}", entity),
    ]


def _all_of(database: str, kind: str, documents: Sequence[Named]) -> PageTable:
    """The documents of a kind, and what each is about."""
    rows = [[[_link(database, one.kind, one.name)], *_about(database, one)] for one in documents]
    return PageTable(_TITLES[kind], ("Name", *_HEADINGS[kind]), rows)


_HEADINGS: Final = {
    "storage": ("Endpoint", "Description"),
    "cube": ("Measures", "Dimensions", "Description"),
    "derived_cube": ("Cube", "Measures", "Description"),
    "dimension": ("Attributes", "Description"),
    "fact": ("Cube", "Storage tables", "Times", "Description"),
    "dimtable": ("Dimension", "Storage tables", "Description"),
}


def _about(database: str, document: Named) -> Iterator[list[LinkedText]]:
    """The other cells of a document's line."""
    if isinstance(document, Storage):
        yield _code(document.endpoint)
    elif isinstance(document, Cube):
        yield _texts(field.name for field in document.measures)
        yield _texts(field.name for field in document.dim_attributes)
    elif isinstance(document, DerivedCube):
        yield [_link(database, "cube", document.parent)]
        yield _texts(document.measures)
    elif isinstance(document, Dimension):
        yield _texts(field.name for field in document.dim_attributes)
    elif isinstance(document, Fact):
        yield [_link(database, "cube", document.cube)]
        yield _tables(database, document)
        yield [LinkedText("timelines and covers", address("databases", database, "facts", document.name))]
    elif isinstance(document, DimTable):
        yield [_link(database, "dimension", document.dimension)]
        yield _tables(database, document)
    yield _text(getattr(document, "description", None))


def _of_entity(cubes: Cubes, document: Named) -> Iterator[PageTable]:
    """The tables of a document's page."""
    database = cubes.database
    if isinstance(document, Cube):
        times = [[_text(name), _text(column)] for name, column in document.time_dimensions.items()]
        yield PageTable("Time dimensions", ("Name", "Partition column"), times)
        measures = [
            [
                _text(field.name),
                _code(field.type),
                _text(field.default_aggregate),
                _text(field.unit),
                _text(field.description or field.display),
            ]
            for field in document.measures
        ]
        yield PageTable("Measures", ("Name", "Type", "Aggregate", "Unit", "Description"), measures)
    if isinstance(document, DerivedCube):
        cube = [_link(database, "cube", document.parent)]
        fields = [[cube, _texts(document.measures), _texts(document.dim_attributes)]]
        yield PageTable("Fields", ("Of the cube", "Measures", "Attributes"), fields)
    if isinstance(document, Cube | Dimension):
        attributes = [
            [
                _text(field.name),
                _code(field.type),
                [
                    *(LinkedText(f"{to.table}.{to.field}") for to in field.references),
                    *(LinkedText(f"{by.chain}.{by.field}") for by in field.chain),
                ],
                _text(field.description or field.display),
            ]
            for field in document.dim_attributes
        ]
        yield PageTable("Attributes", ("Name", "Type", "Stands for", "Description"), attributes)
        expressions = [
            [
                _text(field.name),
                _code(field.type),
                [LinkedText(spec.expression, is_code=True) for spec in field.specs],
                _text(field.description or field.display),
            ]
            for field in document.expressions
        ]
        yield PageTable("Expressions", ("Name", "Type", "Expression", "Description"), expressions)
        dimensions = cubes.names("dimension")
        chains = [
            [
                _text(chain.name),
                [_link(database, "dimension", to)] if (to := chain.destination) in dimensions else [LinkedText(to)],
                [LinkedText(" and ".join(map(str, path)), is_code=True) for path in chain.paths],
            ]
            for chain in document.join_chains
        ]
        yield PageTable("Join chains", ("Name", "Leads to", "Paths"), chains)
    if isinstance(document, Fact | DimTable):
        tables = [
            [
                [_link(database, "storage", on.storage)],
                [_table(database, document.table_name(on.storage))],
                _text(", ".join(period.name for period in on.update_periods)),
                _text(", ".join(column.name for column in on.partition_columns)),
                _code(on.description.location),
            ]
            for on in document.storage_tables
        ]
        headings = ("Storage", "Table", "Update periods", "Partition columns", "Location")
        yield PageTable("Storage tables", headings, tables)
        columns = [[_text(column.name), _code(column.type), _text(column.comment)] for column in document.columns]
        yield PageTable("Columns", ("Name", "Type", "Comment"), columns)
    yield from _users(cubes, document)


def _users(cubes: Cubes, document: Named) -> Iterator[PageTable]:
    """What names a document."""
    users = dependents(document, Model(cubes.store, cubes.database))
    for kind in KINDS:
        yield _all_of(cubes.database, kind, [user for user in users if user.kind == kind])


def _tables(database: str, document: Fact | DimTable) -> list[LinkedText]:
    return [_table(database, document.table_name(on.storage)) for on in document.storage_tables]


def _table(database: str, name: str) -> LinkedText:
    return LinkedText(name, address("databases", database, "tables", name))


def _link(database: str, kind: str, name: str) -> LinkedText:
    return LinkedText(name, address("databases", database, "model", f"{kind}s", name))


def _texts(names: Iterable[str]) -> list[LinkedText]:
    return [LinkedText(name) for name in names]


def _text(text: str | None) -> list[LinkedText]:
    return [LinkedText(text)] if text else []


def _code(text: str | None) -> list[LinkedText]:
    return [LinkedText(text, is_code=True)] if text else []
