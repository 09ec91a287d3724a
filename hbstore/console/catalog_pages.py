"""Pages of all databases and of one: their cubes, their tables with partitions, rows and bytes, and a search."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hbstore.console.model_search import ModelLine, model_lines
from hbstore.console.rendering import page
from hbstore.cubes.files import KINDS
from hbstore.model.objects import Database, Table
from hbstore.model.totals import Totals
from hbstore.store.partition_store import PartitionStore
from hbstore.warehouse.service import Service

_MOST: Final = 500
"""Tables on a page at most, and cubes of a database; a search finds the others."""


@dataclass(frozen=True, slots=True)
class TableLine:
    """A table in a list.

    Attributes:
        table: it.
        totals: of its partitions; None: it has no partition columns.
    """

    table: Table
    totals: Totals | None


@dataclass(frozen=True, slots=True)
class ListedDatabase:
    """A database in a list.

    Attributes:
        database: it.
        tables: those that are shown.
        others: how many more tables it has, or the search finds in it.
        models: its cubes, or what the search finds of its model.
    """

    database: Database
    tables: list[TableLine]
    others: int
    models: list[ModelLine]


def catalog_pages(service: Service) -> list[Route]:
    """The pages of databases."""
    store = service.store

    def all_databases(request: Request) -> Response:
        words = request.query_params.get("search", "").lower().split()
        shown, left = [], _MOST
        for database in store.databases():
            listed = _listed(store, database, words, left)
            left -= len(listed.tables)
            if listed.tables or listed.models or not words:
                shown.append(listed)
        return page(request, "databases.html", title="Catalog", databases=shown, search=" ".join(words))

    def one_database(request: Request) -> Response:
        database = store.get_database(request.path_params["database"])
        words = request.query_params.get("search", "").lower().split()
        listed = _listed(store, database, words, _MOST)
        return page(
            request,
            "database.html",
            title=database.name,
            listed=listed,
            search=" ".join(words),
            has_model=any(store.documents.names(database.name, kind) for kind in KINDS),
        )

    return [
        Route("/databases", all_databases),
        Route("/databases/{database}", one_database),
        Route("/databases/{database}/tables", one_database),
    ]


def _listed(store: PartitionStore, database: Database, words: list[str], most: int) -> ListedDatabase:
    """A database with what a search finds of it: each word in the names of database, table, columns or fields."""
    tables = [table for table in store.tables(database.name) if all(word in _searched(table) for word in words)]
    shown = [
        TableLine(table, store.totals(table.database, table.name) if table.partition_columns else None)
        for table in tables[:most]
    ]
    models = list(islice(model_lines(store, database.name, words), most))
    return ListedDatabase(database, shown, len(tables) - len(shown), models)


def _searched(table: Table) -> str:
    columns = " ".join(column.name for column in (*table.columns, *table.partition_columns))
    return f"{table} {columns} {table.owner or ''}".lower()
