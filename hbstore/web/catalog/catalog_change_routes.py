"""Databases and tables are created, altered, renamed and dropped; `hbstore.warehouse` does it, with their folders."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Request, Response

from hbstore.errors import AlreadyExists, DatabaseNotEmpty, TableNotFound
from hbstore.model.objects import Table
from hbstore.model.structs import encode_database
from hbstore.store.table_row import DEFINITION
from hbstore.texts.hive_types import check_columns
from hbstore.warehouse.databases import create_database, drop_database
from hbstore.warehouse.locations import located
from hbstore.warehouse.service import Service
from hbstore.warehouse.tables import change_table, create_table, drop_table
from hbstore.web.catalog.catalog_documents import DatabaseDocument, TableDocument
from hbstore.web.catalog.catalog_requests import DatabaseChange, NewDatabase, NewTable, TableChange
from hbstore.web.catalog.catalog_routes import DATABASE, TABLE, database_reply, table_reply
from hbstore.web.catalog.changing import Dropped, writable
from hbstore.web.versions import check_match, matching, tag_of

DeleteDataQuery = Annotated[
    bool, Query(description="delete the files as well; those of external tables stay in any case")
]
PurgeQuery = Annotated[bool, Query(description="delete files past the trash")]
_CREATED: Final = 201


def database_change_routes(service: Service) -> APIRouter:
    """The routes that change databases."""
    router, store = APIRouter(tags=["catalog"], dependencies=[Depends(writable(service))]), service.store
    warehouse = service.warehouse

    @router.post("/databases", status_code=_CREATED, response_model=DatabaseDocument)
    def create(request: Request, new: NewDatabase) -> Response:
        """Create a database and its folder."""
        database = new.database()
        create_database(store, warehouse, database)
        return _created(database_reply(request, service, database.name, status=_CREATED), f"/databases/{database.name}")

    @router.patch(DATABASE, response_model=DatabaseDocument)
    def alter(request: Request, database: str, change: DatabaseChange) -> Response:
        """Change what the request names of a database. No files are moved."""

        def alter() -> None:
            old = store.get_database(database)
            with matching(request, tag_of(encode_database(old))):
                new = change.applied(old)
                if change.location:
                    new = change.model_copy(update={"location": warehouse.qualify(change.location)}).applied(old)
                store.alter_database(new, replaces=old)

        store.patience.retry(alter, text="other writers kept changing the database", database=database)
        return database_reply(request, service, database)

    @router.delete(DATABASE)
    def drop(
        request: Request,
        database: str,
        *,
        cascade: Annotated[bool, Query(description="drop its tables as well")] = False,
        delete_data: DeleteDataQuery = True,
    ) -> Dropped:
        """Drop a database with all that belongs to it, or nothing."""
        check_match(request, tag_of(encode_database(store.get_database(database))))
        tables = store.table_names(database)
        if tables and not cascade:
            raise DatabaseNotEmpty(
                "the database is not empty",
                database=database,
                tables=len(tables),
                hint="Drop its tables first, or say cascade=true",
            )
        return Dropped.of(1, drop_database(store, warehouse, database, cascade=cascade, delete=delete_data))

    return router


def table_change_routes(service: Service) -> APIRouter:
    """The routes that change tables."""
    router, store = APIRouter(tags=["catalog"], dependencies=[Depends(writable(service))]), service.store
    warehouse = service.warehouse

    @router.post(f"{DATABASE}/tables", status_code=_CREATED, response_model=TableDocument)
    def create(request: Request, database: str, new: NewTable) -> Response:
        """Create a table and its folder."""
        table = new.table(store.get_database(database).name)
        check_columns((column.name, column.type) for column in table.columns)
        create_table(store, warehouse, table)
        return _table_reply(request, service, table, status=_CREATED)

    @router.patch(TABLE, response_model=TableDocument)
    def alter(
        request: Request,
        database: str,
        table: str,
        change: TableChange,
        *,
        cascade: Annotated[bool, Query(description="the columns of all partitions become the table's")] = False,
    ) -> Response:
        """Change what the request names of a table. A rename and a cascade compare If-Match before they begin."""

        def alter() -> Table:
            row = store.table_row(database, table)
            with matching(request, tag_of(row.cells[DEFINITION])):
                old = located(store, warehouse, row.table)
                new = change.applied(old)
                check_columns((column.name, column.type) for column in new.columns if column not in old.columns)
                if str(new) != str(old):
                    _check_vacant(service, new)
                change_table(
                    store,
                    warehouse,
                    database,
                    table,
                    new,
                    cascade=cascade,
                    replaces=row.table,
                    strict_types=service.strict_types,
                )
            return new

        text = "other writers kept changing the table"
        altered = store.patience.retry(alter, text=text, table=f"{database}.{table}")
        return _table_reply(request, service, altered)

    @router.delete(TABLE)
    def drop(
        request: Request, database: str, table: str, *, delete_data: DeleteDataQuery = True, purge: PurgeQuery = False
    ) -> Dropped:
        """Drop a table and its partitions. If-Match is compared before the drop begins."""
        check_match(request, tag_of(store.table_row(database, table).cells[DEFINITION]))
        return Dropped.of(1, drop_table(store, warehouse, database, table, delete=delete_data, purge=purge))

    return router


def _check_vacant(service: Service, table: Table) -> None:
    service.store.get_database(table.database)
    try:
        service.store.get_table(table.database, table.name)
    except TableNotFound:
        return
    raise AlreadyExists("the table already exists", table=table, hint="Use another name, or drop that table first")


def _table_reply(request: Request, service: Service, table: Table, *, status: int = 200) -> Response:
    reply = table_reply(request, service, table.database, table.name, status=status)
    return _created(reply, f"/databases/{table.database}/tables/{table.name}")


def _created(reply: Response, address: str) -> Response:
    reply.headers["Location"] = address
    return reply
