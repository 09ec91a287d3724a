"""Altering tables: columns, parameters, location, name.

A managed table that is renamed takes its folder along, if that is the one its old name gave it; the locations of
partitions below it follow. The folder is moved first, and moved back if the catalog refuses. A crash between leaves the
folder under the new name and the table under the old one; the same call again finds nothing to move and changes the
catalog. A new location that a caller gives moves nothing, as with HMS.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from hbstore.errors import AlreadyExists, ConcurrentChange, DdlRefused, InvalidInput, InvalidType
from hbstore.files.warehouse import Warehouse
from hbstore.model import Table
from hbstore.publishing.publisher import Publisher
from hbstore.store.partition_store import PartitionStore
from hbstore.warehouse.accurate_columns import forget_partitions, forget_table, replaced_columns, without_accurate
from hbstore.warehouse.change_times import with_ddl_time
from hbstore.warehouse.column_types import incompatible_columns
from hbstore.warehouse.locations import located
from hbstore.warehouse.normal_form import lowered_table
from hbstore.warehouse.quick_statistics import altered_table_parameters
from hbstore.warehouse.refusals import refusal
from hbstore.warehouse.spelling import spell_partitions_alike
from hbstore.warehouse.table_kinds import is_external, is_view
from hbstore.warehouse.tables import check_columns, is_there
from hbstore.warehouse.transactional import altered_transactional


class ExpectedParameter(NamedTuple):
    """A parameter of a table that must still have a value, as Iceberg commits."""

    key: str
    value: str


def change_table(
    store: PartitionStore,
    warehouse: Warehouse,
    database: str,
    name: str,
    new: Table,
    *,
    properties: Mapping[str, str] | None = None,
    cascade: bool = False,
    expected: ExpectedParameter | None = None,
    replaces: Table | None = None,
    strict_types: bool = False,
) -> None:
    """Replace all of a table but its partition columns; another name, or database, renames it.

    Args:
        store: the catalog.
        warehouse: where files are.
        database: the database's name.
        name: the table's name.
        new: what it becomes.
        properties: what Hive's clients say about statistics: `hbstore.warehouse.quick_statistics`.
        cascade: whether the columns of partitions become the table's; a rename takes none.
        expected: a parameter that must still be what the caller read.
        replaces: the stored table that it must still be, where neither a rename nor a cascade is asked for; None:
            whatever it is.
        strict_types: refuse to change a column's type to one that Hive does not convert it into.

    Raises:
        ConcurrentChange: it is not what it replaces; nothing was changed.
        TableNotFound, DatabaseNotFound: there is no such table.
        AlreadyExists: there is a table of the new name.
        InvalidType: a column's type cannot be, or cannot become what it is to be.
        InvalidInput: the partition columns differ.
        DdlRefused: a parameter is not what is expected, or the table would cease to be transactional, or cannot be.
        FileOperationFailed, OutsideWarehouse: the folder cannot be moved.
    """
    client_properties = properties or {}
    check_columns(new)
    renamed = (new.database, new.name) != (database.lower(), name.lower())
    if renamed and is_there(store, new):
        raise refusal(AlreadyExists, f"new table {new} already exists")
    row = store.table_row(database, name)
    Publisher(store).roll_forward_before_use(row)
    old = located(store, warehouse, row.table)
    _check_expected(old, new, expected)
    changed = _merged(warehouse, old, replace(lowered_table(new), parameters=altered_transactional(old, new)))
    if not is_view(old):
        _check_partition_columns(old, changed)
        if strict_types:
            _check_types(old, new)
    gone = replaced_columns(old.columns, changed.columns)
    changed = replace(changed, parameters=without_accurate(changed.parameters, gone))
    if renamed:
        _rename(store, warehouse, old, changed, client_properties)
        if gone:
            forget_table(store, changed, gone)
        return
    parameters = altered_table_parameters(warehouse, changed, client_properties)
    changed = replace(changed, parameters=parameters)
    cascade = cascade and bool(old.partition_columns) and old.columns != changed.columns
    try:
        store.alter_table(
            changed,
            cascade=cascade,
            expected_parameters=None if expected is None else {expected.key: expected.value},
            replaces=None if cascade else replaces,
            invalid_types="keep",
        )
    except ConcurrentChange as error:
        if expected is None:
            raise
        raise _modified(store.get_table(database, name), expected) from error
    if gone:
        forget_table(store, changed, gone)
    if gone and cascade:
        forget_partitions(store, changed, gone)


def _check_expected(old: Table, new: Table, expected: ExpectedParameter | None) -> None:
    """See that the parameter is what the caller read, before the change compares it once more.

    Raises:
        DdlRefused: it is something else already, or the new table does not set it.
    """
    if expected is None:
        return
    if expected.key not in new.parameters:
        raise refusal(DdlRefused, f"New value for expected key {expected.key} is not set")
    if old.parameters.get(expected.key) != expected.value:
        raise _modified(old, expected)


def _modified(table: Table, expected: ExpectedParameter) -> DdlRefused:
    key, value = expected
    text = "The table has been modified. The parameter value for key '{}' is '{}'. The expected was value was '{}'"
    return refusal(DdlRefused, text.format(key, table.parameters.get(key), value))


def _merged(warehouse: Warehouse, old: Table, new: Table) -> Table:
    """The table as it is stored: when it was created, and what the caller left out, stays as it was.

    Privileges that a client sends are not looked at, as by a Hive Metastore: they are granted and revoked.
    """
    location = warehouse.qualify(new.location) if new.location and not is_view(new) else new.location
    return replace(
        new,
        location=old.location if not location and not is_view(new) else location,
        create_time=old.create_time,
        parameters=with_ddl_time(new.parameters),
        privileges=old.privileges,
        later_fields=new.later_fields or old.later_fields,
    )


def _check_partition_columns(old: Table, new: Table) -> None:
    if [name.lower() for name in old.partition_column_names] != list(new.partition_column_names):
        raise refusal(InvalidInput, "partition keys can not be changed.")


def _check_types(old: Table, new: Table) -> None:
    names = incompatible_columns(old.columns, new.columns)
    if names:
        reason = "The following columns have types incompatible with the existing columns in their respective positions"
        raise refusal(InvalidType, f"{reason} :\n{','.join(names)}")


def _rename(store: PartitionStore, warehouse: Warehouse, old: Table, new: Table, properties: Mapping[str, str]) -> None:
    """Rename a table; with its folder, if that is the one its name gave it. Files that stay are counted, as in Hive."""
    before = store.get_database(old.database)
    after = store.get_database(new.database)
    home = warehouse.table_location(before.location, old.database, old.name)
    follows = (
        not is_view(old)
        and not is_external(old)
        and warehouse.same_place(old.location, new.location)
        and warehouse.same_place(old.location, home)
    )
    if not follows or old.location is None:
        parameters = altered_table_parameters(warehouse, new, properties)
        store.rename_table(old.database, old.name, replace(new, parameters=parameters), invalid_types="keep")
        return
    location = warehouse.table_location(after.location, new.database, new.name)
    for place in (old.location, location):
        warehouse.check_under_roots(place)
    spell_partitions_alike(store, old)
    inside = [place for place in (old.location, after.location) if place is not None]
    with warehouse.moving(old.location, location, inside=inside):
        relocated = (old.location, location)
        store.rename_table(
            old.database, old.name, replace(new, location=location), relocated=relocated, invalid_types="keep"
        )
