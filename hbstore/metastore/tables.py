"""Tables: made, dropped, emptied.

The folder is made before the table is, and removed again if that fails; files are deleted after the table is dropped.
So there is never a table without its folder, and a crash leaves nothing worse than a folder that belongs to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from hbstore.errors import DatabaseNotFound, TableNotFound
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.data_removal import remove_files, table_files
from hbstore.metastore.environment import environment, now, properties_of, with_ddl_time
from hbstore.metastore.naming import database_name
from hbstore.metastore.normal_form import invalid_skew, invalid_type, lowered_table
from hbstore.metastore.protocol import THRIFT
from hbstore.metastore.quick_statistics import created_table_parameters
from hbstore.metastore.schemas import CONSTRAINT_KINDS
from hbstore.metastore.table_kinds import is_purged, is_view
from hbstore.metastore.table_locations import located_table
from hbstore.metastore.transactional import created_transactional
from hbstore.model import Table

handlers = Handlers()
_NOT_KEPT: Final = (
    "hbstore does not store constraints: leave them out of the table, or keep the table in another metastore"
)


@handlers.answers("create_table", "create_table_with_environment_context", "create_table_with_constraints", writes=True)
def create_table(call: Call) -> None:
    """Add a table and make its folder, which is below its database's if the client names none.

    Raises:
        AlreadyExistsException: it is there already.
        InvalidObjectException: its database is not there, or a name or a column's type cannot be.
        MetaException: the folder cannot be made, constraints are to be kept, or the table cannot be transactional.
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
    return _ready(call, _requested(call.arguments.request))


@handlers.answers("drop_table", "drop_table_with_environment_context", writes=True)
def drop_table(call: Call) -> None:
    """Drop a table and its partitions; with ``deleteData`` their files, unless the table is external.

    Raises:
        NoSuchObjectException: there is no such table.
        MetaException: files are to be deleted where the server may not.
    """
    given = call.arguments
    database, name = database_name(given.dbname), given.name or ""
    call.note(table=f"{database}.{name}")
    table = located_table(call, database, name)
    files = table_files(call, table, delete=bool(given.deleteData))
    call.store.drop_table(database, name)
    remove_files(call, files, purge=is_purged(table, environment(call)))


def check_columns(table: Table, refusal: type[Exception]) -> None:
    """See that a table's columns are of Hive's types, and the skew's columns among them.

    Raises:
        refusal: they are not.
    """
    unknown = invalid_type(table.columns)
    if unknown is not None:
        raise refusal(f"Invalid column type: {unknown}")
    unknown = invalid_type(table.partition_columns)
    if unknown is not None:
        raise refusal(f"Invalid partition column type: {unknown}")
    skewed = invalid_skew(table.storage.skew, table.columns)
    if skewed is not None:
        raise refusal(f"Invalid skew column Skewed column not found: {skewed}")


def _requested(request: Any) -> Table:
    if request.table is None:
        raise THRIFT.MetaException("the request has no table")
    table: Table = request.table
    return table


def _create(call: Call, given: Table, constraints: Any, properties: Mapping[str, str]) -> None:
    """Create a table.

    Args:
        call: what is answered.
        given: the table as a client sends it.
        constraints: has the lists of constraints that are to be kept, if any, as attributes.
        properties: the call's environment context.
    """
    call.note(table=str(given))
    if any(getattr(constraints, kind, None) for kind in CONSTRAINT_KINDS):
        raise THRIFT.MetaException(_NOT_KEPT)
    table = _ready(call, given)
    folders = [] if table.location is None or is_view(table) else [table.location]
    with call.warehouse.making_folders(folders) as made:
        parameters = created_table_parameters(call.warehouse, table, properties, made_folder=any(made))
        call.store.create_table(replace(table, parameters=with_ddl_time(parameters)), invalid_types="keep")


def _ready(call: Call, given: Table) -> Table:
    """A table as it is stored, with its folder, which is not there yet.

    Raises:
        AlreadyExistsException, InvalidObjectException, MetaException: it cannot be created.
    """
    check_columns(given, THRIFT.InvalidObjectException)
    try:
        database = call.store.get_database(given.database)
    except DatabaseNotFound as error:  # clients of HMS know this as the table's fault
        raise THRIFT.InvalidObjectException(str(error)) from error
    if _is_there(call, given):
        raise THRIFT.AlreadyExistsException(f"Table {given.name} already exists")
    table = replace(lowered_table(given), create_time=now(), parameters=created_transactional(given))
    if is_view(table):
        return table
    home = call.warehouse.table_location(database.location, table.database, table.name)
    return replace(table, location=call.warehouse.qualify(table.location or home))


def _is_there(call: Call, table: Table) -> bool:
    try:
        call.store.read_table(table.database, table.name)
    except TableNotFound:
        return False
    return True
