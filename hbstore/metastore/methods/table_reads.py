"""Reading tables. Stored bytes are the reply, but for tables without a location."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from hbstore.errors import DatabaseNotFound, InvalidName, TableNotFound
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.catalogs import CATALOG
from hbstore.metastore.methods.table_filter import table_filter
from hbstore.metastore.methods.table_locations import located_bytes
from hbstore.metastore.naming import database_name, without_catalog
from hbstore.metastore.protocol import THRIFT
from hbstore.model.objects import Table
from hbstore.warehouse.name_patterns import NamePattern

handlers = Handlers()
_COMMENT: Final = "comment"
_MATERIALIZED_VIEW: Final = "MATERIALIZED_VIEW"
_USER: Final = 1


@handlers.answers("get_table")
def get_table(call: Call) -> bytes:
    """One table.

    Raises:
        NoSuchObjectException: there is none of that name.
    """
    arguments = call.arguments
    return located_bytes(call, database_name(arguments.dbname), arguments.tbl_name or "")


@handlers.answers("get_table_req")
def get_table_req(call: Call) -> Any:
    """One table; what the client is able to understand is not looked at, as HMS looks at it only where told to.

    Raises:
        NoSuchObjectException: there is none of that name.
    """
    request = call.arguments.req
    table = located_bytes(call, database_name(request.dbName), request.tblName or "")
    return THRIFT.GetTableResult(table=table)


@handlers.answers("get_table_objects_by_name")
def get_table_objects_by_name(call: Call) -> list[bytes]:
    """Those of some tables that are there, each once, in the order of their names.

    Raises:
        UnknownDBException: the database is not there.
    """
    return _tables(call, call.arguments.dbname, call.arguments.tbl_names)


@handlers.answers("get_table_objects_by_name_req")
def get_table_objects_by_name_req(call: Call) -> Any:
    """Those of some tables that are there, each once, in the order of their names.

    Raises:
        UnknownDBException: the database is not there.
        InvalidOperationException: no names were sent.
    """
    request = call.arguments.req
    names = request.tblNames
    if names is None and request.tablesPattern is not None:  # which Hive 4 may send instead
        matches = NamePattern.of_hive(request.tablesPattern).matches
        names = [name for name in _names(call, request.dbName) if matches(name)]
    return THRIFT.GetTablesResult(tables=_tables(call, request.dbName, names))


@handlers.answers("get_all_tables")
def get_all_tables(call: Call) -> list[str]:
    """The names of a database's tables in order; none if there is no such database, as with HMS."""
    return _names(call, call.arguments.db_name)


@handlers.answers("get_tables")
def get_tables(call: Call) -> list[str]:
    """The names that a pattern matches, in order; all without a pattern."""
    matches = NamePattern.of_hive(call.arguments.pattern).matches
    return [name for name in _names(call, call.arguments.db_name) if matches(name)]


@handlers.answers("get_tables_by_type")
def get_tables_by_type(call: Call) -> list[str]:
    """The names that a pattern matches, of tables of one type; without a type, of all."""
    arguments = call.arguments
    matches = NamePattern.of_hive(arguments.pattern).matches
    if not arguments.tableType:
        return [name for name in _names(call, arguments.db_name) if matches(name)]
    tables = _described(call, database_name(arguments.db_name))
    return [table.name for table in tables if table.table_type == arguments.tableType and matches(table.name)]


@handlers.answers("get_table_meta")
def get_table_meta(call: Call) -> list[Any]:
    """Name, type and comment of the tables that patterns and types select, in order."""
    arguments = call.arguments
    in_database = NamePattern.of_hive(without_catalog(arguments.db_patterns)).matches
    in_table = NamePattern.of_hive(arguments.tbl_patterns).matches
    types = frozenset(arguments.tbl_types or ())
    return [
        THRIFT.TableMeta(
            dbName=table.database,
            tableName=table.name,
            tableType=table.table_type,
            comments=table.parameters.get(_COMMENT),
            catName=CATALOG,
            ownerName=table.owner,
            ownerType=_USER,
        )
        for database in call.store.database_names()
        if in_database(database)
        for table in _described(call, database)
        if in_table(table.name) and (not types or table.table_type in types)
    ]


@handlers.answers("get_tables_ext")
def get_tables_ext(call: Call) -> list[Any]:
    """The names that a pattern matches, in order, or the first so many; of what Hive 4 may say beside them nothing."""
    request = call.arguments.req
    matches = NamePattern.of_hive(request.tableNamePattern).matches
    names = [name for name in _names(call, request.database) if matches(name)]
    most = request.limit
    return [THRIFT.ExtendedTableInfo(tblName=name) for name in (names if most is None or most < 0 else names[:most])]


@handlers.answers("get_materialized_views_for_rewriting")
def get_materialized_views_for_rewriting(call: Call) -> list[str]:
    """The names of a database's materialized views that Hive may read instead of what a query names."""
    return [table.name for table in _described(call, database_name(call.arguments.db_name)) if _rewrites(table)]


@handlers.answers("get_all_materialized_view_objects_for_rewriting")
def get_all_materialized_view_objects_for_rewriting(call: Call) -> list[Table]:
    """The same of all databases, as tables."""
    names = call.store.database_names()
    return [table for database in names for table in _described(call, database) if _rewrites(table)]


@handlers.answers("get_table_names_by_filter")
def get_table_names_by_filter(call: Call) -> list[str]:
    """The names of a database's tables that a filter on tables selects, in order; none if there is no such database.

    Raises:
        InvalidOperationException: there is no filter.
        MetaException: it is none that Hive has.
    """
    arguments = call.arguments
    if arguments.filter is None:
        raise THRIFT.InvalidOperationException("null cannot apply filter")
    selects = table_filter(arguments.filter)
    names = [table.name for table in _described(call, database_name(arguments.dbname)) if selects(table)]
    most = arguments.max_tables
    return names if most is None or most < 0 else names[:most]


def _rewrites(table: Table) -> bool:
    return table.table_type == _MATERIALIZED_VIEW and bool(table.rewrite_enabled)


def _tables(call: Call, database: str | None, names: Sequence[str] | None) -> list[bytes]:
    if names is None:
        raise THRIFT.InvalidOperationException("the request names no tables")
    existing_database = _known_database(call, database)
    payloads = []
    for name in sorted({one.lower() for one in names}):
        try:
            payloads.append(located_bytes(call, existing_database, name))
        except (TableNotFound, InvalidName):
            continue
    return payloads


def _known_database(call: Call, name: str | None) -> str:
    """A database's name, if it is there.

    Raises:
        UnknownDBException: it is not.
    """
    database = database_name(name)
    try:
        call.store.get_database(database)
    except (DatabaseNotFound, InvalidName) as error:
        raise THRIFT.UnknownDBException(str(error)) from error
    return database


def _names(call: Call, database: str | None) -> list[str]:
    try:
        return call.store.table_names(database_name(database))
    except (DatabaseNotFound, InvalidName):
        return []


def _described(call: Call, database: str) -> list[Table]:
    try:
        return call.store.tables(database)
    except (DatabaseNotFound, InvalidName):
        return []
