"""The methods that create, drop and empty tables; `hbstore.warehouse` does it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from hbstore.errors import DatabaseNotFound
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.environment import asks_to_purge, environment, properties_of
from hbstore.metastore.methods.constraint_calls import requested_constraints
from hbstore.metastore.methods.table_locations import named_table
from hbstore.metastore.naming import database_name
from hbstore.metastore.protocol import THRIFT
from hbstore.model.objects import Table
from hbstore.warehouse import tables, truncation

handlers = Handlers()


@handlers.answers("create_table", "create_table_with_environment_context", "create_table_with_constraints", writes=True)
def create_table(call: Call) -> None:
    """Add a table and make its folder, which is below its database's if the client names none.

    Raises:
        AlreadyExistsException: it is there already.
        InvalidObjectException: its database is not there, or a name, a column's type or a constraint cannot be.
        MetaException: the folder cannot be made, a foreign key refers to no key, or the table cannot be transactional.
    """
    _create(call, call.arguments.tbl, call.arguments, environment(call))


@handlers.answers("create_table_req", writes=True)
def create_table_req(call: Call) -> None:
    """As create_table.

    Raises:
        AlreadyExistsException, InvalidObjectException, MetaException: as of create_table, or there is no table.
    """
    request = call.arguments.request
    _create(call, _requested(request), request, properties_of(request.envContext))


@handlers.answers("translate_table_dryrun")
def translate_table_dryrun(call: Call) -> Table:
    """The table as create_table would store it, which Hive 4 asks for before it writes what a table is created from.

    Raises:
        AlreadyExistsException, InvalidObjectException, MetaException: as of create_table, or there is no table.
    """
    table = _requested(call.arguments.request)
    with _without_database():
        return tables.ready_table(call.store, call.warehouse, table)


@handlers.answers("drop_table", "drop_table_with_environment_context", writes=True)
def drop_table(call: Call) -> None:
    """Drop a table and its partitions; with ``deleteData`` their files, unless the table is external.

    Raises:
        NoSuchObjectException: there is no such table.
        MetaException: files are to be deleted where the server may not.
    """
    arguments = call.arguments
    database, name = database_name(arguments.dbname), arguments.name or ""
    call.note(table=f"{database}.{name}")
    purge = asks_to_purge(environment(call))
    delete = bool(arguments.deleteData)
    call.note_left(tables.drop_table(call.store, call.warehouse, database, name, delete=delete, purge=purge))


@handlers.answers("truncate_table", writes=True)
def truncate_table(call: Call) -> None:
    """Delete the files of a table, or of some of its partitions, and set their counts to 0.

    Raises:
        MetaException: there is no such table or partition, or the files are not the table's own: it is external.
    """
    arguments = call.arguments
    table = named_table(call, arguments.dbName, arguments.tableName)
    number = truncation.truncate_table(call.store, call.warehouse, table, arguments.partNames)
    if number is not None:
        call.note(partitions=number)


def _requested(request: Any) -> Table:
    if request.table is None:
        raise THRIFT.MetaException("the request has no table")
    table: Table = request.table
    return table


def _create(call: Call, new: Table, constraints: Any, properties: Mapping[str, str]) -> None:
    """Create a table.

    Args:
        call: what is answered.
        new: the table as a client sends it.
        constraints: has the lists of its constraints, if any, as attributes.
        properties: the call's environment context.
    """
    call.note(table=str(new))
    kept = requested_constraints(new, constraints)
    with _without_database():
        tables.create_table(call.store, call.warehouse, new, properties, kept)


@contextmanager
def _without_database() -> Iterator[None]:
    """That there is no such database is the table's fault, as clients of HMS know it.

    Raises:
        InvalidObjectException: there is no such database.
    """
    try:
        yield
    except DatabaseNotFound as error:
        raise THRIFT.InvalidObjectException(str(error)) from error
