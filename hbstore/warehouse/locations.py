"""Where databases, tables and partitions are that were created without a location.

Those who know no warehouse create them so. Clients count on a location: Spark fails without one. So each is where the
Hive Metastore would have put it, and that is what everybody is told who asks here. The first client that alters a table
stores its location.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hbstore.files.warehouse import Warehouse
from hbstore.model import Database, Table
from hbstore.names import partition_name
from hbstore.store.partition_store import PartitionStore
from hbstore.warehouse.table_kinds import is_view


def located_database(warehouse: Warehouse, database: Database) -> Database:
    """A database with the location that it has, or that the warehouse gives it."""
    if database.location is not None:
        return database
    return replace(database, location=warehouse.database_location(database.name))


def located(store: PartitionStore, warehouse: Warehouse, table: Table) -> Table:
    """A table with the location that it has, or that the warehouse gives it, unless it is a view."""
    if table.location is not None or is_view(table):
        return table
    database = store.get_database(table.database)
    return replace(table, location=warehouse.table_location(database.location, table.database, table.name))


def default_location(table: Table, values: Sequence[str]) -> str | None:
    """Where a partition has its folder if nothing else is said: below its table's, by its name."""
    if table.location is None:
        return None
    return f"{table.location.rstrip('/')}/{partition_name(table.partition_column_names, values)}"
