"""Exchanging partitions: they leave one table and come to another, with their folders."""

from __future__ import annotations

from collections.abc import Sequence

from hbstore.errors import AlreadyExists, DatabaseNotFound, DdlRefused, TableNotFound
from hbstore.metastore.calls import Call, Handlers, Service
from hbstore.metastore.listing import Batches, read_partitions
from hbstore.metastore.naming import database_name
from hbstore.metastore.partial_values import partial_values
from hbstore.metastore.protocol import THRIFT
from hbstore.metastore.spelling import respelt
from hbstore.metastore.table_locations import located
from hbstore.model import Column, Partition, Table
from hbstore.names import spec_values
from hbstore.publishing.exchanger import Exchanged
from hbstore.publishing.exchanger import exchange_partitions as move_partitions
from hbstore.publishing.publisher import Publisher
from hbstore.structs import partitions_from_payloads

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


def exchange_found(service: Service, source: Table, target: Table, found: Sequence[Partition]) -> Exchanged:
    """Move partitions that were found, with the folders that are in the source's, all or none.

    Raises:
        DdlRefused: the tables' columns differ.
        HbstoreError: as of `hbstore.publishing.exchanger.exchange_partitions`.
    """
    if not (_alike(source.columns, target.columns) and _alike(source.partition_columns, target.partition_columns)):
        raise DdlRefused(
            "The tables have different schemas. Their partitions cannot be exchanged.",
            source=source,
            target=target,
            hint="Give both tables the same columns and partition columns",
        )
    source, target = located(service, source), located(service, target)
    odd = {one.values: one for one in respelt(found, source)}
    service.store.alter_partitions(source.database, source.name, odd.values())
    alike = [odd.get(one.values, one) for one in found]
    return move_partitions(service.store, service.warehouse, source, target, alike)


def _exchanged(call: Call) -> list[bytes]:
    given = call.arguments
    target = _table(call, "destination", given.dest_db, given.dest_table_name)
    source = _table(call, "source", given.source_db, given.source_table_name)
    spec = {column: value for column, value in (given.partitionSpecs or {}).items() if value}
    values = spec_values(source.partition_column_names, spec)
    found = _matching(call, source, [value or "" for value in values])
    if not found:
        raise THRIFT.MetaException(f"No partition is found with the values {spec} for the table {source.name}")
    if (source.database, source.name) == (target.database, target.name):
        raise THRIFT.MetaException(f"The partitions are in the table {source.name} already")
    try:
        done = exchange_found(call.service, source, target, found)
    except AlreadyExists as error:
        raise THRIFT.MetaException(str(error)) from error
    call.note(table=str(source), partitions=len(done.partitions))
    if done.left:
        call.note(files_left=done.left[0])
    return [one.payload for one in done.partitions if one.payload is not None]


def _table(call: Call, role: str, database: str | None, name: str | None) -> Table:
    place = database_name(database), name or ""
    try:
        Publisher(call.store).finish_before_use(call.store.publications.row(*place))  # such as this call's first try
        return call.store.get_table(*place)
    except (TableNotFound, DatabaseNotFound) as error:
        raise THRIFT.MetaException(f"The {role} table {database}.{name} not found") from error


def _alike(left: Sequence[Column], right: Sequence[Column]) -> bool:
    """Whether columns have the same names and types, whatever their case and their comments."""
    one, other = ([(column.name.lower(), column.type.lower()) for column in columns] for columns in (left, right))
    return one == other


def _matching(call: Call, table: Table, values: Sequence[str]) -> list[Partition]:
    partial = partial_values(table, values)

    def collect(_: Table, batches: Batches) -> list[Partition]:
        selected = partial.select(batches) if partial.others else batches
        return partitions_from_payloads(payload for batch in selected for payload in batch)

    return read_partitions(call, table.database, table.name, partial.where, collect)
