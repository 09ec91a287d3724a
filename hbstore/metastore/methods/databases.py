"""The methods of databases; `hbstore.warehouse.databases` creates, alters and drops them."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from hbstore.errors import DatabaseNotFound
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.catalogs import CATALOG
from hbstore.metastore.methods.struct_cuts import field_slices
from hbstore.metastore.naming import database_name, without_catalog
from hbstore.metastore.protocol import THRIFT
from hbstore.model.objects import Database
from hbstore.thrift.wire import I32, STRING, field_head
from hbstore.warehouse import databases
from hbstore.warehouse.locations import located_database
from hbstore.warehouse.name_patterns import NamePattern

handlers = Handlers()
_STOP: Final = b"\0"
_HEAD: Final = 3
"""Bytes of a field's head."""
_NATIVE: Final = 1
_CATALOG_NAME, _CREATED, _TYPE = 8, 9, 11
_TOLD: Final = {
    _CATALOG_NAME: field_head(STRING, _CATALOG_NAME) + STRING.write(CATALOG),
    _TYPE: field_head(I32, _TYPE) + I32.write(_NATIVE),
}
"""What clients of Hive 4 are told of a database that others created: fields of later versions, by their numbers."""


@handlers.answers("create_database", writes=True)
def create_database(call: Call) -> None:
    """Add a database and make its folder, which is below the warehouse if the client names none.

    Raises:
        AlreadyExistsException: it is there already.
        InvalidObjectException: the name is no name.
        MetaException: the folder cannot be made.
    """
    databases.create_database(call.store, call.warehouse, _created(call, call.arguments.database))


@handlers.answers("create_database_req", writes=True)
def create_database_req(call: Call) -> None:
    """As create_database: the request has the fields of a database, under the same numbers.

    Raises:
        AlreadyExistsException, InvalidObjectException, MetaException: as of create_database.
    """
    databases.create_database(call.store, call.warehouse, _created(call, call.arguments.createDatabaseRequest))


@handlers.answers("get_database")
def get_database(call: Call) -> Database:
    """One database; without a location of its own it has the default one, as clients count on some.

    Raises:
        NoSuchObjectException: there is none of that name.
    """
    return located_database(call.warehouse, call.store.get_database(database_name(call.arguments.name)))


@handlers.answers("get_database_req")
def get_database_req(call: Call) -> Database:
    """As get_database; it is in the one catalog and of the native type, which Hive 4 counts on, unless it says more.

    Raises:
        NoSuchObjectException: there is none of that name.
    """
    database = located_database(call.warehouse, call.store.get_database(database_name(call.arguments.request.name)))
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
    existing = []
    for name in _matching(call, call.arguments.request.pattern):
        with suppress(DatabaseNotFound):  # it was dropped meanwhile
            existing.append(located_database(call.warehouse, call.store.get_database(name)))
    return THRIFT.GetDatabaseObjectsResponse(databases=existing)


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
    arguments, new = call.arguments, call.arguments.db
    name = database_name(arguments.dbname)
    if new.later_fields and not _field(new.later_fields, _CREATED):  # which few clients send back
        created = _field(call.store.get_database(name).later_fields, _CREATED)
        new = replace(new, later_fields=new.later_fields + created)
    databases.change_database(call.store, call.warehouse, name, new)


@handlers.answers("drop_database", writes=True)
def drop_database(call: Call) -> None:
    """Drop a database; with ``cascade`` its tables and functions as well, with ``deleteData`` their files.

    Raises:
        NoSuchObjectException: there is none of that name.
        InvalidOperationException: it has tables or functions and ``cascade`` is not set.
        MetaException: it is the database ``default``, or files are to be deleted where the server may not.
    """
    arguments = call.arguments
    left = databases.drop_database(
        call.store,
        call.warehouse,
        database_name(arguments.name),
        cascade=bool(arguments.cascade),
        delete=bool(arguments.deleteData),
    )
    call.note_left(left)


def _created(call: Call, database: Database) -> Database:
    """A database as clients of Hive 3 and later, who name a catalog, find it again: with an owner and its time."""
    if not _field(database.later_fields, _CATALOG_NAME):
        return database
    told = b"" if _field(database.later_fields, _CREATED) else field_head(I32, _CREATED) + I32.write(int(time.time()))
    return replace(database, owner=database.owner or call.session.user, later_fields=database.later_fields + told)


def _field(later_fields: bytes, number: int) -> bytes:
    """A field among the later ones with its head; empty if it is not there."""
    place = field_slices(later_fields + _STOP, 0).get(number)
    return b"" if place is None else later_fields[place[0] - _HEAD : place[1]]


def _matching(call: Call, pattern: str | None) -> list[str]:
    matches = NamePattern.of_hive(without_catalog(pattern)).matches
    return [name for name in call.store.database_names() if matches(name)]
