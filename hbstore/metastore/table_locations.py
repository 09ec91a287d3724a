"""Where tables are that were created without a location, by those who know no warehouse.

Clients count on a location: Spark fails without one. So such a table is where the Hive Metastore would have put it, and
that is what everybody is told who asks here. The first client that alters the table stores it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from hbstore.errors import FileOperationFailed, OutsideWarehouse
from hbstore.metastore.calls import Call, Service
from hbstore.metastore.table_kinds import is_view
from hbstore.model import Table
from hbstore.structs import encode_table


def located_table(call: Call, database: str, name: str) -> Table:
    """A table with a location, unless it is a view."""
    return located(call.service, call.store.get_table(database, name))


def located_bytes(call: Call, database: str, name: str) -> bytes:
    """The bytes of a table with a location, unless it is a view; the stored ones, where these have one.

    Spark writes into a table without partitions only if its folder is there, so the folder is made.
    """
    row = call.store.table_row(database, name)
    table = located(call.service, row.table)
    if table is row.table:
        return row.struct
    if not table.partition_columns and table.location is not None and not call.service.read_only:
        with suppress(FileOperationFailed, OutsideWarehouse):  # the client has an error of its own for this
            call.warehouse.make_folder(table.location)
    return encode_table(table)


def located(service: Service, table: Table) -> Table:
    """A table with the location that it has, or that the warehouse gives it, unless it is a view."""
    if table.location is not None or is_view(table):
        return table
    database = service.store.get_database(table.database)
    return replace(table, location=service.warehouse.table_location(database.location, table.database, table.name))
