"""Tables: created and dropped, with their folders.

The folder is made before the table is, and removed again if that fails; files are deleted after the table is dropped.
So there is never a table without its folder, and a crash leaves nothing worse than a folder that belongs to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hbstore.errors import AlreadyExists, InvalidInput, InvalidType, TableNotFound
from hbstore.files.warehouse import Warehouse
from hbstore.model import Table
from hbstore.publishing.publisher import Publisher
from hbstore.store.partition_store import PartitionStore
from hbstore.warehouse.change_times import now, with_ddl_time
from hbstore.warehouse.file_removal import remove_files, table_files
from hbstore.warehouse.locations import located
from hbstore.warehouse.normal_form import invalid_skew, invalid_type, lowered_table
from hbstore.warehouse.quick_statistics import created_table_parameters
from hbstore.warehouse.refusals import refusal
from hbstore.warehouse.table_kinds import is_view
from hbstore.warehouse.transactional import created_transactional


def create_table(
    store: PartitionStore, warehouse: Warehouse, table: Table, properties: Mapping[str, str] | None = None
) -> None:
    """Add a table and make its folder, which is below its database's if it has no location.

    Args:
        store: the catalog.
        warehouse: where files are.
        table: the table; its privileges are granted.
        properties: what Hive's clients say about statistics: `hbstore.warehouse.quick_statistics`.

    Raises:
        AlreadyExists: it is there already.
        DatabaseNotFound: its database is not there.
        InvalidName, InvalidType, InvalidInput: a name, a column's type or the skew cannot be.
        DdlRefused: the table cannot be transactional.
        FileOperationFailed: the folder cannot be made.
    """
    ready = ready_table(store, warehouse, table)
    folders = [] if ready.location is None or is_view(ready) else [ready.location]
    with warehouse.making_folders(folders) as folders_made:
        parameters = created_table_parameters(warehouse, ready, properties or {}, made_folder=any(folders_made))
        new = replace(ready, parameters=with_ddl_time(parameters), privileges=None)
        store.create_table(new, grants=ready.privileges, invalid_types="keep")


def ready_table(store: PartitionStore, warehouse: Warehouse, table: Table) -> Table:
    """A table as `create_table` stores it, with its folder, which is not there yet.

    Raises:
        AlreadyExists, DatabaseNotFound, InvalidType, InvalidInput, DdlRefused: it cannot be created.
    """
    check_columns(table)
    database = store.get_database(table.database)
    if is_there(store, table):
        raise refusal(AlreadyExists, f"Table {table.name} already exists")
    ready = replace(lowered_table(table), create_time=now(), parameters=created_transactional(table))
    if is_view(ready):
        return ready
    home = warehouse.table_location(database.location, ready.database, ready.name)
    return replace(ready, location=warehouse.qualify(ready.location or home))


def drop_table(
    store: PartitionStore, warehouse: Warehouse, database: str, name: str, *, delete: bool, purge: bool = False
) -> tuple[str, ...]:
    """Drop a table and its partitions.

    Args:
        store: the catalog.
        warehouse: where files are.
        database: the database's name.
        name: the table's name.
        delete: whether files are deleted; those of an external table stay nevertheless.
        purge: whether they pass the trash, even where the table does not say so.

    Returns:
        Locations whose files could not be deleted.

    Raises:
        TableNotFound, DatabaseNotFound: there is no such table.
        OutsideWarehouse: files are to be deleted where the warehouse's roots do not allow it.
        FileOperationFailed: folders of exchanged partitions are not moved yet; nothing was dropped.
    """
    row = store.table_row(database, name)
    Publisher(store).roll_forward_before_use(row)
    table = located(store, warehouse, row.table)
    files = table_files(store, warehouse, table, delete=delete)
    store.drop_table(database, name)
    return remove_files(warehouse, files, purge=purge)


def check_columns(table: Table) -> None:
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


def is_there(store: PartitionStore, table: Table) -> bool:
    """Whether there is a table of this one's name."""
    try:
        store.read_table(table.database, table.name)
    except TableNotFound:
        return False
    return True
