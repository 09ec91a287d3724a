"""Altering tables: columns, parameters, location, name.

A managed table that is renamed takes its folder along, if that is the one its old name gave it; the locations of
partitions below it follow. The folder is moved first, and moved back if the catalog refuses. A crash between leaves the
folder under the new name and the table under the old one; the same call again finds nothing to move and changes the
catalog. A new location that a client gives moves nothing, as with HMS.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from hbstore.errors import ConcurrentChange, TableNotFound
from hbstore.metastore.accurate_columns import forget_partitions, forget_table, replaced_columns, without_accurate
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.column_types import incompatible_columns
from hbstore.metastore.environment import environment, properties_of, with_ddl_time
from hbstore.metastore.naming import database_name
from hbstore.metastore.normal_form import lowered_table
from hbstore.metastore.protocol import THRIFT
from hbstore.metastore.quick_statistics import altered_table_parameters
from hbstore.metastore.spelling import spell_partitions_alike
from hbstore.metastore.table_kinds import is_external, is_view
from hbstore.metastore.table_locations import located_table
from hbstore.metastore.tables import check_columns
from hbstore.metastore.transactional import altered_transactional
from hbstore.model import Table

handlers = Handlers()
_EXPECTED_KEY: Final = "expected_parameter_key"
_EXPECTED_VALUE: Final = "expected_parameter_value"
_CASCADE: Final = "CASCADE"


@handlers.answers("alter_table", "alter_table_with_environment_context", "alter_table_with_cascade", writes=True)
def alter_table(call: Call) -> None:
    """Replace all of a table but its partition columns; another name, or database, renames it.

    Raises:
        InvalidOperationException: there is no such table, there is one of the new name, the partition columns differ,
            or a column's type cannot be, or cannot become what it is to be on a server that is strict about that.
        MetaException: a parameter is not what the client expects it to be, the folder cannot be moved, or the table
            would cease to be transactional, or cannot be.
    """
    given = call.arguments
    cascade = bool(getattr(given, "cascade", None))
    _alter(call, given.dbname, given.tbl_name, given.new_tbl, environment(call), cascade=cascade)


@handlers.answers("alter_table_req", writes=True)
def alter_table_req(call: Call) -> Any:
    """As alter_table; the request has fields for what the environment context of Hive 2.3 says about a parameter.

    Raises:
        InvalidOperationException, MetaException: as of alter_table; the last also without a table.
    """
    request = call.arguments.req
    if request.table is None:
        raise THRIFT.MetaException("the request has no table")
    expected = {_EXPECTED_KEY: request.expectedParameterKey, _EXPECTED_VALUE: request.expectedParameterValue}
    properties = {
        **properties_of(request.environmentContext),
        **{name: text for name, text in expected.items() if text is not None},
    }
    _alter(call, request.dbName, request.tableName, request.table, properties)
    return THRIFT.AlterTableResponse()


def change_table(
    call: Call,
    database: str,
    name: str,
    new: Table,
    properties: Mapping[str, str],
    *,
    cascade: bool = False,
    replaces: Table | None = None,
) -> None:
    """Replace all of a table but its partition columns; another name, or database, renames it.

    Args:
        call: what is answered.
        database: the database's name.
        name: the table's name.
        new: what it becomes.
        properties: the call's environment context.
        cascade: whether the columns of partitions become the table's; a rename takes none.
        replaces: the stored table that it must still be, where neither a rename nor a cascade is asked for; None:
            whatever it is.

    Raises:
        ConcurrentChange: it is not what it replaces; nothing was changed.
        InvalidOperationException, MetaException: as of `alter_table`.
    """
    check_columns(new, THRIFT.InvalidOperationException)
    renamed = (new.database, new.name) != (database.lower(), name.lower())
    if renamed and _is_there(call, new):
        raise THRIFT.InvalidOperationException(f"new table {new} already exists")
    old = located_table(call, database, name)
    expected = _expected(old, new, properties)
    changed = _merged(call, old, replace(lowered_table(new), parameters=altered_transactional(old, new)))
    if not is_view(old):
        _check_partition_columns(old, changed)
        if call.service.strict_types:
            _check_types(old, new)
    gone = replaced_columns(old.columns, changed.columns)
    changed = replace(changed, parameters=without_accurate(changed.parameters, gone))
    if renamed:
        _rename(call, old, changed, properties)
        if gone:
            forget_table(call.store, changed, gone)
        return
    parameters = altered_table_parameters(call.warehouse, changed, properties)
    changed = replace(changed, parameters=parameters)
    cascade = cascade and bool(old.partition_columns) and old.columns != changed.columns
    try:
        call.store.alter_table(
            changed,
            cascade=cascade,
            expected_parameters=expected,
            replaces=None if cascade else replaces,
            invalid_types="keep",
        )
    except ConcurrentChange as error:
        if expected is None:
            raise
        raise _modified(call.store.get_table(database, name), properties) from error
    if gone:
        forget_table(call.store, changed, gone)
    if gone and cascade:
        forget_partitions(call.store, changed, gone)


def _alter(
    call: Call,
    database: str | None,
    name: str | None,
    new: Table,
    properties: Mapping[str, str],
    *,
    cascade: bool = False,
) -> None:
    known = database_name(database)
    call.note(table=f"{known}.{name}")
    cascade = cascade or properties.get(_CASCADE) == "true"
    change_table(call, known, name or "", new, properties, cascade=cascade)


def _is_there(call: Call, table: Table) -> bool:
    try:
        call.store.read_table(table.database, table.name)
    except TableNotFound:
        return False
    return True


def _expected(old: Table, new: Table, properties: Mapping[str, str]) -> dict[str, str | None] | None:
    """The parameter that must still be what the client read, as Iceberg commits; None if it does not say.

    Raises:
        MetaException: it is something else already, or the new table does not set it.
    """
    key, value = properties.get(_EXPECTED_KEY), properties.get(_EXPECTED_VALUE)
    if key is None or value is None:
        return None
    if key not in new.parameters:
        raise THRIFT.MetaException(f"New value for expected key {key} is not set")
    if old.parameters.get(key) != value:
        raise _modified(old, properties)
    return {key: value}


def _modified(table: Table, properties: Mapping[str, str]) -> Exception:
    key, value = properties[_EXPECTED_KEY], properties[_EXPECTED_VALUE]
    text = "The table has been modified. The parameter value for key '{}' is '{}'. The expected was value was '{}'"
    return THRIFT.MetaException(text.format(key, table.parameters.get(key), value))  # type: ignore[no-any-return]


def _merged(call: Call, old: Table, new: Table) -> Table:
    """The table as it is stored: when it was created, and what the client left out, stays as it was."""
    location = call.warehouse.qualify(new.location) if new.location and not is_view(new) else new.location
    return replace(
        new,
        location=old.location if not location and not is_view(new) else location,
        create_time=old.create_time,
        parameters=with_ddl_time(new.parameters),
        privileges=old.privileges if new.privileges is None else new.privileges,
        later_fields=new.later_fields or old.later_fields,
    )


def _check_partition_columns(old: Table, new: Table) -> None:
    if [name.lower() for name in old.partition_column_names] != list(new.partition_column_names):
        raise THRIFT.InvalidOperationException("partition keys can not be changed.")


def _check_types(old: Table, new: Table) -> None:
    names = incompatible_columns(old.columns, new.columns)
    if names:
        raise THRIFT.InvalidOperationException(
            "The following columns have types incompatible with the existing columns in their respective positions :\n"
            + ",".join(names)
        )


def _rename(call: Call, old: Table, new: Table, properties: Mapping[str, str]) -> None:
    """Rename a table; with its folder, if that is the one its name gave it. Files that stay are counted, as in Hive."""
    before = call.store.get_database(old.database)
    after = call.store.get_database(new.database)
    home = call.warehouse.table_location(before.location, old.database, old.name)
    follows = (
        not is_view(old)
        and not is_external(old)
        and call.warehouse.same_place(old.location, new.location)
        and call.warehouse.same_place(old.location, home)
    )
    if not follows or old.location is None:
        parameters = altered_table_parameters(call.warehouse, new, properties)
        call.store.rename_table(old.database, old.name, replace(new, parameters=parameters), invalid_types="keep")
        return
    location = call.warehouse.table_location(after.location, new.database, new.name)
    for place in (old.location, location):
        call.warehouse.check_under_roots(place)
    spell_partitions_alike(call, old)
    inside = [one for one in (old.location, after.location) if one is not None]
    with call.warehouse.moving(old.location, location, inside=inside):
        relocated = (old.location, location)
        call.store.rename_table(
            old.database, old.name, replace(new, location=location), relocated=relocated, invalid_types="keep"
        )
