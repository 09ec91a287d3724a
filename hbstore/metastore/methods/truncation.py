"""truncate_table; `hbstore.warehouse.truncation` does it."""

from __future__ import annotations

from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.methods.table_locations import named_table
from hbstore.warehouse import truncation

handlers = Handlers()


@handlers.answers("truncate_table", writes=True)
def truncate_table(call: Call) -> None:
    """Delete the files of a table, or of some of its partitions, and set their counts to 0.

    Raises:
        MetaException: there is no such table or partition, or the files are not the table's own: it is external.
    """
    arguments = call.arguments
    table = named_table(call, arguments.dbName, arguments.tableName)
    number = truncation.truncate_table(call.store, call.warehouse, table, arguments.partNames)
    if number is not None:
        call.note(partitions=number)
