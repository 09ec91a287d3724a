"""Locations of databases, tables and partitions: where each is that has none, and how those of partitions are spelt.

What is created through an interface that knows no warehouse, such as Python's, has no location. Clients count on one:
Spark fails without it. So everybody who asks here gets the location that a Hive Metastore would have given it. The
first client that alters a table stores its location.

``file:/x``, ``file:///x`` and ``/x`` are one place, and clients write all three. When a table's folder moves, the store
replaces the beginning of its partitions' locations, letter by letter. So those that are in the folder and spelt
otherwise are first written as the table's own location is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from hbstore.errors import FileOperationFailed
from hbstore.files.locations import parse_location
from hbstore.files.warehouse import Warehouse
from hbstore.keys.partition_names import partition_name
from hbstore.model.objects import Database, Partition, Table
from hbstore.store.partition_store import PartitionStore
from hbstore.warehouse.table_kinds import is_view

_UNRESOLVED: Final = re.compile(r"/(?:[./]|\Z)")
"""What a location has in which names are empty, or perhaps ``.`` or ``..``."""


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


def spelt_alike(location: str, home: str) -> str:
    """A location, written as another one is if it is in it, or is it, and else not as if it were.

    >>> spelt_alike("file:///wh/sales/ds=1", "/wh/sales/"), spelt_alike("file:/wh/visits", "/wh/sales")
    ('/wh/sales/ds=1', 'file:/wh/visits')
    >>> [spelt_alike(location, "/wh/sales") for location in ("file:///wh/sales", "/wh/sales/./a/", "/wh/sales/../b")]
    ['/wh/sales', '/wh/sales/a', 'file:/wh/b']
    """
    root = home.rstrip("/")
    is_written_so = location.startswith(f"{root}/")
    if is_written_so and not _UNRESOLVED.search(location, len(root)):
        return location
    try:
        place, around = parse_location(location), parse_location(home)
    except FileOperationFailed:
        return location
    if place.is_at_or_below(around):
        return "/".join([root, *place.parts[len(around.parts) :]])
    return str(place) if is_written_so else location


def elsewhere(locations: Iterable[str | None], table: Table) -> list[str]:
    """Those of some locations that are not in a table's folder, as they are written.

    >>> elsewhere(["/wh/sales/ds=1", "/wh/sales/../far", "/far", None], Table("shop", "sales", location="/wh/sales"))
    ['/wh/sales/../far', '/far']
    """
    root = (table.location or "").rstrip("/")
    there = [location for location in locations if location]
    if table.location is None:
        return there
    return [place for place in there if not place.startswith(f"{root}/") or _UNRESOLVED.search(place, len(root))]


def respelt(partition: Partition, table: Table) -> Partition | None:
    """A partition with its location spelt as the table's is; None if it is spelt so."""
    if partition.location is None or table.location is None:
        return None
    alike = spelt_alike(partition.location, table.location)
    return None if alike == partition.location else replace(partition, location=alike)
