"""Calls about the catalog, by which tools show what there is. Each answers with an operation whose rows are there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from hbstore.hiveserver2.calls import DriverCall
from hbstore.hiveserver2.catalog import JdbcCatalog
from hbstore.hiveserver2.cursor import MAX_ROWS
from hbstore.hiveserver2.listings import CatalogRows
from hbstore.hiveserver2.operations import ListingOperation, StatementOperation
from hbstore.hiveserver2.port_service import PortService
from hbstore.hiveserver2.protocol import RESPONSES, OperationType
from hbstore.hiveserver2.sessions import DriverSession
from hbstore.query_service.query import Request

_TYPES: Final = {
    "GetTypeInfo": OperationType.GET_TYPE_INFO,
    "GetCatalogs": OperationType.GET_CATALOGS,
    "GetSchemas": OperationType.GET_SCHEMAS,
    "GetTables": OperationType.GET_TABLES,
    "GetTableTypes": OperationType.GET_TABLE_TYPES,
    "GetColumns": OperationType.GET_COLUMNS,
    "GetFunctions": OperationType.GET_FUNCTIONS,
    "GetPrimaryKeys": OperationType.UNKNOWN,
    "GetCrossReference": OperationType.UNKNOWN,
}

LISTINGS: Final[dict[str, Callable[[JdbcCatalog, Any], CatalogRows]]] = {
    "GetTypeInfo": lambda catalog, _: catalog.type_info(),
    "GetCatalogs": lambda catalog, _: catalog.catalogs(),
    "GetSchemas": lambda catalog, asked: catalog.schemas(asked.schemaName),
    "GetTables": lambda catalog, asked: catalog.tables(asked.schemaName, asked.tableName, asked.tableTypes),
    "GetTableTypes": lambda catalog, _: catalog.table_types(),
    "GetColumns": lambda catalog, asked: catalog.columns(asked.schemaName, asked.tableName, asked.columnName),
    "GetPrimaryKeys": lambda catalog, asked: catalog.primary_keys(asked.schemaName, asked.tableName),
    "GetCrossReference": lambda catalog, asked: catalog.cross_reference(
        (asked.parentSchemaName, asked.parentTableName), (asked.foreignSchemaName, asked.foreignTableName)
    ),
}
"""What each call that `list_catalog` answers lists."""


def list_catalog(call: DriverCall[PortService]) -> Any:
    """What the store has."""
    session = call.service.session(call.request.sessionHandle)
    return _answer(call, session, LISTINGS[call.method.name](JdbcCatalog(call.service.store), call.request))


def list_functions(call: DriverCall[PortService]) -> Any:
    """The functions that statements of the session can call, which Spark says."""
    service = call.service
    session = service.session(call.request.sessionHandle)
    asked = Request(text="SHOW FUNCTIONS", database=session.database, user=session.user, session=session.in_spark())
    statement = StatementOperation(service.queries, service.queries.submit(asked).id, asked.text)
    try:
        statement.at_its_end().check()
        names: list[str] = []
        while len(page := statement.page(MAX_ROWS, from_start=False).arrays[0]):
            names += page.to_pylist()
    finally:
        statement.close()
    return _answer(call, session, JdbcCatalog(service.store).functions(names, call.request.functionName))


def _answer(call: DriverCall[PortService], session: DriverSession, listing: CatalogRows) -> Any:
    operation = ListingOperation(listing.columns, listing.batch)
    call.service.sessions.add(session, operation)
    handle = call.service.operation_handle(operation, _TYPES[call.method.name], has_rows=True)
    return RESPONSES[call.method.name](operationHandle=handle)
