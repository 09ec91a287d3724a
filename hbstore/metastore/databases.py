"""Databases: made, read, listed, altered, dropped.

A database is dropped from the catalog first and its files are deleted afterwards: files without a database harm
nobody, a database without files is a loss that looks like none. Data of external tables stays wherever it is, even in
the database's own folder, which then stays as well.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from hbstore.errors import DatabaseNotFound
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.catalogs import CATALOG
from hbstore.metastore.data_removal import TableFiles, remove_files, remove_tree, table_files
from hbstore.metastore.name_patterns import name_pattern
from hbstore.metastore.naming import database_name, without_catalog
from hbstore.metastore.protocol import THRIFT
from hbstore.metastore.struct_cuts import field_slices
from hbstore.model import Database
from hbstore.names import DEFAULT_DATABASE
from hbstore.wire import I32, STRING, field_head

handlers = Handlers()
_USER: Final = 1
_STOP: Final = b"\0"
_NATIVE: Final = 1
_CATALOG_NAME, _TYPE = 8, 11
_TOLD: Final = {
    _CATALOG_NAME: field_head(STRING, _CATALOG_NAME) + STRING.write(CATALOG),
    _TYPE: field_head(I32, _TYPE) + I32.write(_NATIVE),
}
"""What clients of Hive 4 are told of a database that others created: fields of later versions, by their numbers."""
_LOG: Final = logging.getLogger("hbstore.metastore")


@handlers.answers("create_database", writes=True)
def create_database(call: Call) -> None:
    """Add a database and make its folder, which is below the warehouse if the client names none.

    Raises:
        AlreadyExistsException: it is there already.
        InvalidObjectException: the name is no name.
        MetaException: the folder cannot be made.
    """
    _create(call, call.arguments.database)


@handlers.answers("create_database_req", writes=True)
def create_database_req(call: Call) -> None:
    """As create_database: the request has the fields of a database, under the same numbers.

    Raises:
        AlreadyExistsException, InvalidObjectException, MetaException: as of create_database.
    """
    _create(call, call.arguments.createDatabaseRequest)


@handlers.answers("get_database")
def get_database(call: Call) -> Database:
    """One database; without a location of its own it has the default one, as clients count on some.

    Raises:
        NoSuchObjectException: there is none of that name.
    """
    return _located(call, call.store.get_database(database_name(call.arguments.name)))


@handlers.answers("get_database_req")
def get_database_req(call: Call) -> Database:
    """As get_database; it is in the one catalog and of the native type, which Hive 4 counts on, unless it says more.

    Raises:
        NoSuchObjectException: there is none of that name.
    """
    database = _located(call, call.store.get_database(database_name(call.arguments.request.name)))
    stored = field_slices(database.later_fields + _STOP, 0)
    told = b"".join(field for number, field in _TOLD.items() if number not in stored)
    return replace(database, later_fields=database.later_fields + told)


@handlers.answers("get_databases")
def get_databases(call: Call) -> list[str]:
    """The names that a pattern matches, in order; all without a pattern."""
    return _matching(call, call.arguments.pattern)


@handlers.answers("get_databases_req")
def get_databases_req(call: Call) -> Any:
    """The databases whose names a pattern matches, in the order of their names; all without a pattern."""
    found = []
    for name in _matching(call, call.arguments.request.pattern):
        with suppress(DatabaseNotFound):  # it was dropped meanwhile
            found.append(_located(call, call.store.get_database(name)))
    return THRIFT.GetDatabaseObjectsResponse(databases=found)


@handlers.answers("get_all_databases")
def get_all_databases(call: Call) -> list[str]:
    """All names in order."""
    return call.store.database_names()


@handlers.answers("alter_database", writes=True)
def alter_database(call: Call) -> None:
    """Replace parameters and owner; description and location where the client gives some. The name stays.

    No file is moved: a new location is for tables that are created later.

    Raises:
        NoSuchObjectException: there is no such database.
    """
    given: Database = call.arguments.db
    known = call.store.get_database(database_name(call.arguments.dbname))
    changed = replace(
        known,
        parameters=given.parameters,
        owner=given.owner,
        owner_type=known.owner_type if given.owner_type is None else given.owner_type,
        description=given.description or known.description,
        location=call.warehouse.qualify(given.location) if given.location else known.location,
        privileges=given.privileges or known.privileges,
        later_fields=given.later_fields or known.later_fields,
    )
    call.store.alter_database(changed)


@handlers.answers("drop_database", writes=True)
def drop_database(call: Call) -> None:
    """Drop a database; with ``cascade`` its tables and functions as well, with ``deleteData`` their files.

    Raises:
        NoSuchObjectException: there is none of that name.
        InvalidOperationException: it has tables or functions and ``cascade`` is not set.
        MetaException: it is the database ``default``, or files are to be deleted where the server may not.
    """
    given = call.arguments
    name = database_name(given.name).lower()
    if name == DEFAULT_DATABASE:
        raise THRIFT.MetaException("Can not drop default database")
    database = _located(call, call.store.get_database(name))
    tables = call.store.table_names(name)
    functions = call.store.hive.functions.names(name)
    if not given.cascade:
        for what, found in (("tables", tables), ("functions", functions)):
            if found:
                raise THRIFT.InvalidOperationException(f"Database {name} is not empty. One or more {what} exist.")
    files = [table_files(call, table, delete=bool(given.deleteData)) for table in call.store.tables(name)]
    if given.deleteData and not _external_data(call, database, files):
        assert database.location is not None
        call.warehouse.check_under_roots(database.location)
    call.store.drop_database(name, cascade=bool(given.cascade))
    if given.deleteData:
        _remove_files(call, database, files)


def _matching(call: Call, pattern: str | None) -> list[str]:
    matches = name_pattern(without_catalog(pattern))
    return [name for name in call.store.database_names() if matches(name)]


def _create(call: Call, given: Database) -> None:
    location = call.warehouse.qualify(given.location or call.warehouse.database_location(given.name))
    if given.name in call.store.database_names():
        raise THRIFT.AlreadyExistsException(f"Database {given.name} already exists")
    with call.warehouse.making_folders([location]):
        owner_type = _USER if given.owner_type is None else given.owner_type
        call.store.create_database(replace(given, location=location, owner_type=owner_type))


def _located(call: Call, database: Database) -> Database:
    """A database that another program made without a location, with the default one."""
    if database.location is not None:
        return database
    return replace(database, location=call.warehouse.database_location(database.name))


def _remove_files(call: Call, database: Database, files: list[TableFiles]) -> None:
    """Delete the tables' files, then the database's folder unless files of external tables are in it."""
    for found in files:
        remove_files(call, found, purge=False)
    external = _external_data(call, database, files)
    if external:
        _LOG.warning("the folder of database %s stays, because it holds external data: %s", database.name, external[0])
        return
    home = database.location
    assert home is not None
    remove_tree(call, home, inside=[home], purge=False)


def _external_data(call: Call, database: Database, files: Sequence[TableFiles]) -> list[str]:
    """The locations of external tables and their partitions that are in the database's folder."""
    home, warehouse = database.location, call.warehouse
    assert home is not None
    kept = [place for one in files for place in one.kept]
    return [place for place in kept if warehouse.is_below(place, home) or warehouse.same_place(place, home)]
