"""Databases: created, altered, dropped, with their folders.

A database is dropped from the catalog first and its files are deleted afterwards: files without a database harm
nobody, a database without files is a loss that looks like none. Data of external tables, and of tables that were
renamed to other databases, stays wherever it is, even in the database's own folder, which then stays as well.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from hbstore.errors import AlreadyExists, DatabaseNotEmpty, DatabaseNotFound, DdlRefused, TableNotFound
from hbstore.files.locations import is_below, same_place
from hbstore.files.new_folders import making_folders
from hbstore.files.warehouse import Warehouse
from hbstore.keys.partition_names import DEFAULT_DATABASE
from hbstore.model.objects import Database, Table
from hbstore.publishing.dropped_files import (
    DroppedFiles,
    DroppedFolder,
    after_deletion,
    delete_dropped,
    noted,
    record_of,
)
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_step import TableStep
from hbstore.warehouse.file_removal import TableFiles, dropped_folders, table_files
from hbstore.warehouse.locations import located, located_database
from hbstore.warehouse.refusals import refusal
from hbstore.warehouse.table_kinds import is_view

_USER, _ROLE = 1, 2
DEFAULT: Final = Database(DEFAULT_DATABASE, description="Default Hive database", owner="public", owner_type=_ROLE)
"""The database that clients of Hive take for granted; without a location, it has its folder where the warehouse is."""
_LOG: Final = logging.getLogger("hbstore.warehouse")


def create_database(store: PartitionStore, warehouse: Warehouse, database: Database) -> None:
    """Add a database and make its folder, which is below the warehouse if it has no location.

    Raises:
        AlreadyExists: it is there already.
        InvalidName: the name is no name.
        FileOperationFailed: the folder cannot be made.
    """
    location = warehouse.qualify(database.location or warehouse.database_location(database.name))
    if database.name in store.database_names():
        raise refusal(AlreadyExists, f"Database {database.name} already exists")
    after_deletion(store, location)
    with making_folders(warehouse, [location], lambda: _location(store, database.name)):
        owner_type = _USER if database.owner_type is None else database.owner_type
        store.create_database(replace(database, location=location, owner_type=owner_type))


def _location(store: PartitionStore, name: str) -> list[str | None]:
    """The location of a database, if it is there."""
    with suppress(DatabaseNotFound):
        return [store.get_database(name).location]
    return []


def change_database(store: PartitionStore, warehouse: Warehouse, name: str, new: Database) -> None:
    """Replace parameters and owner of a database; description and location where the new one has some.

    The name stays. No file is moved: a new location is for tables that are created later. Those that have none of their
    own, as Python creates them, get the one at which they are.

    Raises:
        DatabaseNotFound: there is none of that name.
    """
    old = store.get_database(name)
    changed = replace(
        old,
        parameters=new.parameters,
        owner=new.owner,
        owner_type=old.owner_type if new.owner_type is None else new.owner_type,
        description=new.description or old.description,
        location=warehouse.qualify(new.location) if new.location else old.location,
        privileges=new.privileges or old.privileges,
        later_fields=new.later_fields or old.later_fields,
    )
    if not same_place(changed.location, located_database(warehouse, old).location):
        for table in store.tables(old.name):
            if table.location is None and not is_view(table):
                _give_location(store, located(store, warehouse, table))
    store.alter_database(changed)


def _give_location(store: PartitionStore, table: Table) -> None:
    """Store where a table is that has no location, unless somebody has given it one meanwhile, or dropped it."""

    def give(step: TableStep) -> None:
        if step.table.location is None:
            step.alter(replace(step.table, location=table.location))

    with suppress(TableNotFound):
        store.change(str(table), give)


def drop_database(
    store: PartitionStore, warehouse: Warehouse, name: str, *, cascade: bool, delete: bool
) -> tuple[str, ...]:
    """Drop a database.

    Args:
        store: the catalog.
        warehouse: where files are.
        name: the database's name.
        cascade: whether its tables and functions are dropped as well; otherwise it must have none.
        delete: whether its files are deleted.

    Returns:
        Locations whose files could not be deleted.

    Raises:
        DatabaseNotFound: there is none of that name.
        DatabaseNotEmpty: it has tables or functions and ``cascade`` is not set.
        DdlRefused: it is the database ``default``.
        OutsideWarehouse: files are to be deleted where the warehouse's roots do not allow it.
        StoreBusy: tables kept coming and leaving, or files of their partitions were being deleted, for as long as the
            store waits; nothing was dropped.
    """
    name = name.lower()
    if name == DEFAULT_DATABASE:
        raise refusal(DdlRefused, "Can not drop default database")
    database = located_database(warehouse, store.get_database(name))
    functions = store.hive.functions.names(name)

    def drop() -> DroppedFiles:
        tables = store.table_names(name)
        if not cascade:
            for what, names in (("tables", tables), ("functions", functions)):
                if names:
                    raise refusal(DatabaseNotEmpty, f"Database {name} is not empty. One or more {what} exist.")
        ids = store.table_ids([(name, table) for table in tables]).values()
        own = [located(store, warehouse, table) for table in store.tables(name)]
        files = [table_files(store, warehouse, table, delete=delete) for table in own]
        dropped = noted(warehouse, name, _dropped_folders(store, warehouse, database, files) if delete else [])
        store.drop_database(name, cascade=cascade, record=record_of(dropped), tables=ids)
        return dropped

    # A table that is renamed to another database meanwhile keeps its files, wherever they are.
    text = "tables kept coming to the database and leaving it, or files of dropped partitions were being deleted"
    return delete_dropped(store, warehouse, store.patience.retry(drop, TableNotFound, text=text, database=name))


def _dropped_folders(
    store: PartitionStore, warehouse: Warehouse, database: Database, files: Sequence[TableFiles]
) -> list[DroppedFolder]:
    """The tables' folders, then the database's unless files of external tables, or of other databases, are in it.

    Raises:
        OutsideWarehouse: it may not be deleted.
    """
    home = database.location
    assert home is not None
    folders = [folder for table in files for folder in dropped_folders(table)]
    kept = _external_data(database, files) or _tables_of_others(store, warehouse, database.name, home)
    if kept:
        _LOG.warning("the folder of database %s stays, because it holds data of others: %s", database.name, kept[0])
        return folders
    warehouse.check_under_roots(home)
    return [*folders, DroppedFolder(home, (home,), purge=False)]


def _external_data(database: Database, files: Sequence[TableFiles]) -> list[str]:
    """The locations of external tables and their partitions that are in the database's folder."""
    home = database.location
    assert home is not None
    kept = [place for table in files for place in table.kept]
    return [place for place in kept if _is_in(place, home)]


def _tables_of_others(store: PartitionStore, warehouse: Warehouse, name: str, home: str) -> list[str]:
    """The locations of other databases' tables that are in a database's folder. O(tables).

    In an object store a table that is renamed to another database leaves its folder where it is.
    """
    places = []
    for other in store.database_names():
        with suppress(DatabaseNotFound):
            tables = [located(store, warehouse, table) for table in (store.tables(other) if other != name else [])]
            places += [table.location for table in tables if table.location and _is_in(table.location, home)]
    return places


def _is_in(place: str, home: str) -> bool:
    return is_below(place, home) or same_place(place, home)
