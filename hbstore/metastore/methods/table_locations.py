"""Tables as calls read them: with a location, as clients count on one."""

from __future__ import annotations

from contextlib import suppress

from hbstore.errors import FileOperationFailed, OutsideWarehouse
from hbstore.metastore.calls import Call
from hbstore.metastore.naming import database_name
from hbstore.model.objects import Table
from hbstore.model.structs import encode_table
from hbstore.warehouse.locations import located


def named_table(call: Call, database: str | None, name: str | None) -> Table:
    """The table that a call is about, with a location unless it is a view; the log hears of it first."""
    target = database_name(database)
    call.note(table=f"{target}.{name}")
    row = call.store.table_row(target, name or "")
    call.show_files(row)
    return located(call.store, call.warehouse, row.table)


def located_bytes(call: Call, database: str, name: str) -> bytes:
    """The bytes of a table with a location, unless it is a view; the stored ones, where these have one.

    Spark writes into a table without partitions only if its folder is there, so the folder is made.
    """
    row = call.store.table_row(database, name)
    call.show_files(row)
    table = located(call.store, call.warehouse, row.table)
    if table is row.table:
        return row.struct
    if not table.partition_columns and table.location is not None and not call.service.read_only:
        with suppress(FileOperationFailed, OutsideWarehouse):  # the client has an error of its own for this
            call.warehouse.make_folder(table.location)
    return encode_table(table)
