"""The methods that exchange partitions; `hbstore.warehouse.partition_changes` does it."""

from __future__ import annotations

from collections.abc import Sequence

from hbstore.errors import AlreadyExists, DatabaseNotFound, TableNotFound
from hbstore.keys.partition_names import spec_values
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.methods.listing import Batches, read_partitions
from hbstore.metastore.naming import database_name
from hbstore.metastore.protocol import THRIFT
from hbstore.model.objects import Partition, Table
from hbstore.model.structs import partitions_from_payloads
from hbstore.warehouse import partition_changes
from hbstore.warehouse.partial_values import partial_values

handlers = Handlers()


@handlers.answers("exchange_partition", writes=True)
def exchange_partition(call: Call) -> bytes:
    """Move partitions from one table to another, all or none; the first of them comes back.

    Raises:
        MetaException: no partition has these values, one is in the other table already, a table is not there, they
            are one table, or their columns differ.
    """
    return _exchanged(call)[0]


@handlers.answers("exchange_partitions", writes=True)
def exchange_partitions(call: Call) -> list[bytes]:
    """Move partitions from one table to another, all or none; they come back as they are there.

    Raises:
        MetaException: no partition has these values, one is in the other table already, a table is not there, they
            are one table, or their columns differ.
    """
    return _exchanged(call)


def _exchanged(call: Call) -> list[bytes]:
    arguments = call.arguments
    target = _table(call, "destination", arguments.dest_db, arguments.dest_table_name)
    source = _table(call, "source", arguments.source_db, arguments.source_table_name)
    spec = {column: value for column, value in (arguments.partitionSpecs or {}).items() if value}
    values = spec_values(source.partition_column_names, spec)
    partitions = _matching(call, source, [value or "" for value in values])
    if not partitions:
        raise THRIFT.MetaException(f"No partition is found with the values {spec} for the table {source.name}")
    if (source.database, source.name) == (target.database, target.name):
        raise THRIFT.MetaException(f"The partitions are in the table {source.name} already")
    try:
        done = partition_changes.exchange_partitions(call.store, call.warehouse, source, target, partitions)
    except AlreadyExists as error:
        raise THRIFT.MetaException(str(error)) from error
    call.note(table=str(source), partitions=len(done.partitions))
    if done.left:
        call.note(files_left=done.left[0])
    return [partition.payload for partition in done.partitions if partition.payload is not None]


def _table(call: Call, role: str, database: str | None, name: str | None) -> Table:
    place = database_name(database), name or ""
    try:
        call.show_files(call.store.table_row(*place))  # such as this call's first try
        return call.store.get_table(*place)
    except (TableNotFound, DatabaseNotFound) as error:
        raise THRIFT.MetaException(f"The {role} table {database}.{name} not found") from error


def _matching(call: Call, table: Table, values: Sequence[str]) -> list[Partition]:
    def collect(_: Table, batches: Batches) -> list[Partition]:
        return partitions_from_payloads(payload for batch in batches for payload in batch)

    return read_partitions(call, table.database, table.name, partial_values(table, values), collect)
