"""Databases and tables as resources, for reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Request, Response

from hbstore.model.structs import encode_database, encode_table
from hbstore.store.table_row import DEFINITION
from hbstore.warehouse.locations import located
from hbstore.warehouse.service import Service
from hbstore.web.asked_form import asked_form
from hbstore.web.catalog.catalog_documents import (
    ConstraintDocument,
    ConstraintsDocument,
    DatabaseDocument,
    DatabasesDocument,
    ForeignKeyDocument,
    ListedTable,
    TableDocument,
    TablesDocument,
    TotalsDocument,
)
from hbstore.web.versions import tag_of, tagged

STORED_FORMS: Final = {"json": "application/json", "thrift": "application/vnd.apache.thrift.binary"}
"""Forms of what is stored as a struct of the Hive Metastore."""

StoredFormQuery = Annotated[
    Literal["json", "thrift"] | None,
    Query(description="json, or thrift: the struct of the Hive Metastore in Thrift's binary protocol"),
]


def also(media_types: Mapping[str, str]) -> dict[int | str, dict[str, Any]]:
    """What /docs says of a reply in several forms, of which that of JSON says itself what it is.

    >>> also({"json": "application/json", "text": "text/plain"})
    {200: {'content': {'text/plain': {'schema': {'type': 'string'}}}}}
    """
    others = [kind for form, kind in media_types.items() if form != "json"]
    return {200: {"content": {kind: {"schema": {"type": "string"}} for kind in others}}}


DATABASE: Final = "/databases/{database}"
TABLE: Final = "/databases/{database}/tables/{table}"


def catalog_routes(service: Service) -> APIRouter:
    """The routes that read databases and tables."""
    router, store = APIRouter(tags=["catalog"]), service.store

    @router.get("/databases")
    def databases() -> DatabasesDocument:
        """All databases in order of their names."""
        return DatabasesDocument(databases=[DatabaseDocument.of(definition) for definition in store.databases()])

    @router.get(DATABASE, response_model=DatabaseDocument)
    def database(request: Request, database: str) -> Response:
        """One database."""
        return database_reply(request, service, database)

    @router.get(f"{DATABASE}/tables")
    def tables(database: str) -> TablesDocument:
        """The tables of a database in order of their names."""
        return TablesDocument(
            tables=[
                ListedTable.of(located(service.store, service.warehouse, definition))
                for definition in store.tables(database)
            ]
        )

    @router.get(TABLE, response_model=TableDocument, responses=also(STORED_FORMS))
    def table(request: Request, database: str, table: str, *, format: StoredFormQuery = None) -> Response:
        """One table. Where it was created without a location, it has the one that the warehouse gives it."""
        if asked_form(request, format, STORED_FORMS) == "thrift":
            definition = located(service.store, service.warehouse, store.table_row(database, table).table)
            return Response(encode_table(definition), media_type=STORED_FORMS["thrift"], headers={"Vary": "Accept"})
        return table_reply(request, service, database, table)

    @router.get(f"{TABLE}/totals")
    def totals(database: str, table: str) -> TotalsDocument:
        """How many partitions the table has, and the rows, files and bytes that they say they have."""
        return TotalsDocument.model_validate(store.totals(database, table).to_dict())

    @router.get(f"{TABLE}/constraints")
    def constraints(database: str, table: str) -> ConstraintsDocument:
        """The table's keys, NOT NULL, defaults and checks, and the foreign keys that refer to it."""
        own, referring = store.hive.constraints.of(database, table), store.hive.constraints.referring(database, table)
        return ConstraintsDocument(
            constraints=[ConstraintDocument.of(one) for one in own],
            referring=[ForeignKeyDocument.of(one) for one in referring],
        )

    return router


def database_reply(request: Request, service: Service, name: str, *, status: int = 200) -> Response:
    """The reply with a database."""
    found = service.store.get_database(name)
    return tagged(request, DatabaseDocument.of(found), tag_of(encode_database(found)), status=status)


def table_reply(request: Request, service: Service, database: str, name: str, *, status: int = 200) -> Response:
    """The reply with a table."""
    row = service.store.table_row(database, name)
    found = TableDocument.of(located(service.store, service.warehouse, row.table))
    return tagged(request, found, tag_of(row.cells[DEFINITION]), status=status)
