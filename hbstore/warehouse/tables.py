"""Tables: created, altered, renamed and dropped, with their folders.

The folder is made before the table is, and removed again if that fails and the catalog does not name it; files are
deleted after the table is dropped.
So there is never a table without its folder, and a crash leaves nothing worse than a folder that belongs to nothing.

A managed table that is renamed takes its folder along (`hbstore.publishing.folder_move`), if that is the one its old
name gave it, and its file system can rename it; the locations of partitions below it follow. In object stores it stays,
and a new table of the old name gets another folder. A new location that a caller gives moves nothing, as with HMS.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from hbstore.errors import (
    AlreadyExists,
    ConcurrentChange,
    DatabaseNotFound,
    DdlRefused,
    InvalidInput,
    InvalidType,
    TableNotFound,
)
from hbstore.files.locations import same_place
from hbstore.files.new_folders import making_folders
from hbstore.files.warehouse import Warehouse
from hbstore.model.constraints import Constraint
from hbstore.model.objects import Partition, Table
from hbstore.model.structs import partitions_from_payloads
from hbstore.plans.scan_plan import MultiScanPlan
from hbstore.publishing.beside_writes import after_writes
from hbstore.publishing.dropped_files import DroppedFiles, after_deletion, delete_dropped, noted, record_of
from hbstore.publishing.folder_move import moved_folder
from hbstore.publishing.publisher import Publisher
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import TableRow
from hbstore.warehouse.accurate_columns import forget_partitions, forget_table, replaced_columns, without_accurate
from hbstore.warehouse.change_times import now, with_ddl_time
from hbstore.warehouse.file_removal import dropped_folders, table_files
from hbstore.warehouse.locations import located, respelt
from hbstore.warehouse.normal_form import incompatible_columns, invalid_skew, invalid_type, lowered_table
from hbstore.warehouse.partition_changes import update_partitions
from hbstore.warehouse.quick_statistics import altered_table_parameters, created_table_parameters
from hbstore.warehouse.refusals import refusal
from hbstore.warehouse.table_kinds import is_external, is_translated, is_view
from hbstore.warehouse.transactional import altered_transactional, created_transactional


def create_table(
    store: PartitionStore,
    warehouse: Warehouse,
    table: Table,
    properties: Mapping[str, str] | None = None,
    constraints: Sequence[Constraint] = (),
) -> None:
    """Add a table and make its folder, which is below its database's if it has no location.

    Args:
        store: the catalog.
        warehouse: where files are.
        table: the table; its privileges are granted.
        properties: what Hive's clients say about statistics: `hbstore.warehouse.quick_statistics`.
        constraints: the table's, which are kept and not enforced.

    Raises:
        AlreadyExists: it is there already.
        DatabaseNotFound: its database is not there.
        InvalidName, InvalidType, InvalidInput: a name, a column's type, the skew or a constraint cannot be.
        DdlRefused: the table cannot be transactional, or a foreign key refers to no key.
        FileOperationFailed: the folder cannot be made.
        StoreBusy: the files of a table that was dropped there are being deleted.
    """
    ready = ready_table(store, warehouse, table)
    if ready.location is not None:
        after_deletion(store, ready.location)
    folders = [] if ready.location is None or is_view(ready) else [ready.location]
    with making_folders(warehouse, folders, lambda: _location(store, ready)) as folders_made:
        parameters = created_table_parameters(warehouse, ready, properties or {}, made_folder=any(folders_made))
        new = replace(ready, parameters=with_ddl_time(parameters), privileges=None)
        store.create_table(new, grants=ready.privileges, constraints=constraints, invalid_types="keep")


def ready_table(store: PartitionStore, warehouse: Warehouse, table: Table) -> Table:
    """A table as `create_table` stores it, with its folder, which is not there yet.

    Raises:
        AlreadyExists, DatabaseNotFound, InvalidType, InvalidInput, DdlRefused: it cannot be created.
    """
    _check_columns(table)
    database = store.get_database(table.database)
    if _is_there(store, table):
        raise refusal(AlreadyExists, f"Table {table.name} already exists")
    ready = replace(lowered_table(table), create_time=now(), parameters=created_transactional(table))
    if is_view(ready):
        return ready
    if ready.location:
        return replace(ready, location=warehouse.qualify(ready.location))
    home = warehouse.table_location(database.location, ready.database, ready.name)
    if _is_of_another(store, warehouse, home):
        home = f"{home}-{uuid.uuid4().hex[:8]}"
    return replace(ready, location=warehouse.qualify(home))


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
        ConcurrentChange: it is not what it replaces, or another table got its name meanwhile; nothing was changed.
        TableNotFound, DatabaseNotFound: there is no such table.
        AlreadyExists: there is a table of the new name.
        InvalidType: a column's type cannot be, or cannot become what it is to be.
        InvalidInput: the partition columns differ.
        DdlRefused: a parameter is not what is expected, or the table would cease to be transactional, or cannot be.
        FileOperationFailed, OutsideWarehouse: the folder cannot be moved.
        StoreBusy: the files of a table that was dropped in the new place are being deleted.
    """
    client_properties = properties or {}
    _check_columns(new)
    renamed = (new.database, new.name) != (database.lower(), name.lower())
    if renamed and _is_there(store, new):
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
        _rename(store, warehouse, row, old, changed, client_properties)
        if gone:
            forget_table(store, row, changed, gone)
        return
    _check_new_place(store, old, changed)
    parameters = altered_table_parameters(warehouse, changed, client_properties)
    changed = replace(changed, parameters=parameters)
    cascade = cascade and bool(old.partition_columns) and old.columns != changed.columns
    try:
        store.alter_table(
            changed,
            cascade=cascade,
            expected_parameters=None if expected is None else {expected.key: expected.value},
            replaces=None if cascade else replaces,
            same_as=row,
            invalid_types="keep",
        )
    except ConcurrentChange as error:
        if expected is None:
            raise
        raise _modified(store.get_table(database, name), expected) from error
    if gone:
        forget_table(store, row, changed, gone)
    if gone and cascade:
        forget_partitions(store, row, gone)


def drop_table(
    store: PartitionStore, warehouse: Warehouse, database: str, name: str, *, delete: bool, purge: bool = False
) -> tuple[str, ...]:
    """Drop a table and its partitions.

    Args:
        store: the catalog.
        warehouse: where files are.
        database: the database's name.
        name: the table's name.
        delete: whether files are deleted; those of an external table stay unless they are purged.
        purge: whether they pass the trash, even where the table does not say so.

    Returns:
        Locations whose files could not be deleted.

    Raises:
        TableNotFound, DatabaseNotFound: there is no such table.
        OutsideWarehouse: files are to be deleted where the warehouse's roots do not allow it.
        FileOperationFailed: folders of exchanged partitions are not moved yet; nothing was dropped.
        ConcurrentChange: another table got its name meanwhile; nothing was dropped.
        StoreBusy: files of its partitions were being deleted for as long as the store waits; nothing was dropped.
    """
    row = store.table_row(database, name)
    Publisher(store).roll_forward_before_use(row)
    table = located(store, warehouse, row.table)

    def drop() -> DroppedFiles:
        files = table_files(store, warehouse, table, delete=delete)
        dropped = noted(warehouse, str(table), dropped_folders(files, purge=purge))
        store.drop_table(database, name, record=record_of(dropped), same_as=row)
        return dropped

    return delete_dropped(store, warehouse, after_writes(store, table, drop))


def spell_partitions_alike(store: PartitionStore, table: Table) -> None:
    """Write the locations of a table's partitions as its own is written. O(partitions)."""
    if table.location is None or not table.partition_columns:
        return

    def collect(_: TableRow, __: MultiScanPlan, batches: Iterator[Sequence[bytes]]) -> list[Partition]:
        partitions = (partition for batch in batches for partition in partitions_from_payloads(batch))
        return [partition for partition in partitions if respelt(partition, table) is not None]

    partitions = store.read_payloads(table.database, table.name, None, collect)
    update_partitions(store, table, partitions, lambda partition: respelt(partition, table))


def _check_columns(table: Table) -> None:
    """See that a table's columns are of Hive's types, and the skew's columns among them.

    Raises:
        InvalidType: a column is of another type.
        InvalidInput: a column of the skew is none of the table's.
    """
    unknown = invalid_type(table.columns)
    if unknown is not None:
        raise refusal(InvalidType, f"Invalid column type: {unknown}")
    unknown = invalid_type(table.partition_columns)
    if unknown is not None:
        raise refusal(InvalidType, f"Invalid partition column type: {unknown}")
    skewed = invalid_skew(table.storage.skew, table.columns)
    if skewed is not None:
        raise refusal(InvalidInput, f"Invalid skew column Skewed column not found: {skewed}")


def _location(store: PartitionStore, table: Table) -> list[str | None]:
    """The location of the table of this one's name, if there is one."""
    with suppress(TableNotFound, DatabaseNotFound):
        return [store.get_table(table.database, table.name).location]
    return []


def _is_of_another(store: PartitionStore, warehouse: Warehouse, home: str) -> bool:
    """Whether the folder of a new table may be that of a table which had its name. O(tables), mostly O(1).

    That one has it still if it is external, or in an object store: there also if no file is in it, and so no folder.
    """
    if warehouse.exists(home):
        if not warehouse.renames(home):
            return True
    elif warehouse.renames(home):
        return False
    for database in store.database_names():
        with suppress(DatabaseNotFound):
            if any(same_place(table.location, home) for table in store.tables(database)):
                return True
    return False


def _is_there(store: PartitionStore, table: Table) -> bool:
    """Whether there is a table of this one's name."""
    return bool(store.table_ids([(table.database, table.name)]))


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


def _check_new_place(store: PartitionStore, old: Table, new: Table) -> None:
    """Wait until no files of what was dropped are being deleted at a table's new location, if it gets one."""
    if new.location is not None and not same_place(new.location, old.location):
        after_deletion(store, new.location)


def _check_partition_columns(old: Table, new: Table) -> None:
    if [name.lower() for name in old.partition_column_names] != list(new.partition_column_names):
        raise refusal(InvalidInput, "partition keys can not be changed.")


def _check_types(old: Table, new: Table) -> None:
    names = incompatible_columns(old.columns, new.columns)
    if names:
        reason = "The following columns have types incompatible with the existing columns in their respective positions"
        raise refusal(InvalidType, f"{reason} :\n{','.join(names)}")


def _rename(
    store: PartitionStore, warehouse: Warehouse, row: TableRow, old: Table, new: Table, properties: Mapping[str, str]
) -> None:
    """Rename a table; with its folder, if that is the one its name gave it. Files that stay are counted, as in Hive.

    In an object store they stay: to move them is to copy and delete all of them, while others may write.
    """
    before = store.get_database(old.database)
    after = before if new.database == old.database else store.get_database(new.database)
    home = warehouse.table_location(before.location, old.database, old.name)
    follows = (
        not is_view(old)
        and (not is_external(old) or is_translated(old))
        and same_place(old.location, new.location)
        and same_place(old.location, home)
    )
    if not follows or old.location is None or not warehouse.renames(old.location):
        parameters = altered_table_parameters(warehouse, new, properties)
        named = replace(new, parameters=parameters)
        store.rename_table(old.database, old.name, named, same_as=row, invalid_types="keep")
        return
    location = warehouse.table_location(after.location, new.database, new.name)
    for place in (old.location, location):
        warehouse.check_under_roots(place)
    after_deletion(store, location)
    spell_partitions_alike(store, old)
    inside = [place for place in (old.location, after.location) if place is not None]
    relocated = (old.location, location)
    named = replace(new, location=location)

    def rename() -> None:
        with moved_folder(store, warehouse, row, *relocated, inside) as moved:
            store.rename_table(
                old.database, old.name, named, relocated=relocated, moved=moved, same_as=row, invalid_types="keep"
            )

    after_writes(store, old, rename)
