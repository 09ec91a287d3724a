"""The methods that add partitions; `hbstore.warehouse.new_partitions` does it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hbstore.errors import InvalidPartitionValue
from hbstore.keys.partition_names import name_reader
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.catalogs import IN_CATALOG
from hbstore.metastore.environment import environment, properties_of
from hbstore.metastore.methods.sent_partitions import partitions_of, with_columns
from hbstore.metastore.methods.table_locations import named_table
from hbstore.metastore.naming import database_name
from hbstore.metastore.protocol import THRIFT, SentPartition
from hbstore.model.objects import Partition, StorageDescriptor, Table
from hbstore.model.structs import PartitionEncoder
from hbstore.warehouse.new_partitions import Addition, add_partitions

handlers = Handlers()


@handlers.answers("add_partition", "add_partition_with_environment_context", writes=True)
def add_partition(call: Call) -> bytes:
    """Add one partition; it comes back as it is stored.

    Raises:
        AlreadyExistsException: it is there already.
        InvalidObjectException: there is no such table.
    """
    sent_partition: SentPartition = call.arguments.new_part
    return _add(
        call, sent_partition.database, sent_partition.table, [sent_partition], properties=environment(call)
    ).stored(call)[0]


@handlers.answers("add_partitions", writes=True)
def add_several(call: Call) -> int:
    """Add partitions of one table, all or none; how many were added.

    Raises:
        AlreadyExistsException: one is there already.
        InvalidObjectException: there is no such table.
        MetaException: two are equal, or of different tables.
    """
    sent_partitions: Sequence[SentPartition] = call.arguments.new_parts or ()
    if not sent_partitions:
        return 0
    return _add(call, sent_partitions[0].database, sent_partitions[0].table, sent_partitions).added.number


@handlers.answers("add_partitions_req", writes=True)
def add_partitions_req(call: Call) -> Any:
    """Add partitions of one table, all or none, or with ``ifNotExists`` those that are not there; they come back.

    Raises:
        AlreadyExistsException: one is there already.
        InvalidObjectException: there is no such table.
        MetaException: two are equal, or of another table.
    """
    request = call.arguments.request
    if not request.parts:
        return THRIFT.AddPartitionsResult()
    columns = request.partitionColSchema if request.skipColumnSchemaForPartition else None
    batch = _add(
        call,
        request.dbName,
        request.tblName,
        request.parts if columns is None else with_columns(request.parts, columns),
        if_not_exists=bool(request.ifNotExists),
        properties=properties_of(request.environmentContext),
    )
    if not request.needResult:
        return THRIFT.AddPartitionsResult()
    return THRIFT.AddPartitionsResult(partitions=batch.stored(call), partitionColSchema=columns)


@handlers.answers("add_partitions_pspec", writes=True)
def add_partitions_pspec(call: Call) -> int:
    """Add partitions that are given as specs, all or none; how many were added.

    Raises:
        AlreadyExistsException: one is there already.
        InvalidObjectException: there is no such table.
        MetaException: two are equal, or of different tables.
    """
    specs = call.arguments.new_parts or ()
    if not specs:
        return 0
    sent_partitions = [sent_partition for spec in specs for sent_partition in _of_spec(spec)]
    return _add(call, specs[0].dbName, specs[0].tableName, sent_partitions).added.number


@handlers.answers("append_partition", "append_partition_with_environment_context", writes=True)
def append_partition(call: Call) -> bytes:
    """Add a partition of which only the values are given; it comes back as it is stored.

    Raises:
        AlreadyExistsException: it is there already.
        InvalidObjectException: there is no such table.
    """
    arguments = call.arguments
    return _appended(call, arguments.db_name, arguments.tbl_name, arguments.part_vals or (), environment(call))


@handlers.answers("append_partition_req", writes=True)
def append_partition_req(call: Call) -> bytes:
    """As append_partition_by_name, or without a name as append_partition.

    Raises:
        AlreadyExistsException: it is there already.
        InvalidObjectException: there is no such table, or the name is not one of a partition of it.
    """
    request = call.arguments.appendPartitionsReq
    properties = properties_of(request.environmentContext)
    if request.name is not None:
        return _appended_by_name(call, request.dbName, request.tableName, request.name, properties)
    return _appended(call, request.dbName, request.tableName, request.partVals or (), properties)


@handlers.answers("append_partition_by_name", "append_partition_by_name_with_environment_context", writes=True)
def append_partition_by_name(call: Call) -> bytes:
    """Add a partition of which only the name is given; it comes back as it is stored.

    Raises:
        AlreadyExistsException: it is there already.
        InvalidObjectException: there is no such table, or the name is not one of a partition of it.
    """
    arguments = call.arguments
    return _appended_by_name(call, arguments.db_name, arguments.tbl_name, arguments.part_name, environment(call))


@dataclass(frozen=True, slots=True)
class _Batch:
    """What was added to a table."""

    table: Table
    added: Addition

    def stored(self, call: Call) -> list[bytes]:
        """The stored bytes, for a reply."""
        table, added = self.table, self.added
        encode = PartitionEncoder(table).encode
        encoded = [encode(one) for one in added.partitions]
        if added.number == len(encoded):
            return encoded
        # Another writer added some of them meanwhile; those that are stored as given are this call's.
        payloads = call.store.get_payloads(table.database, table.name, [one.values for one in added.partitions])
        return [payload for payload in payloads if payload in encoded]


def _add(
    call: Call,
    database: str | None,
    name: str | None,
    sent_partitions: Sequence[SentPartition],
    *,
    if_not_exists: bool = False,
    properties: Mapping[str, str] | None = None,
) -> _Batch:
    """Add partitions to the table that the call names, if they are all that table's."""
    table = named_table(call, database, name)
    new = partitions_of(table, sent_partitions)
    added = add_partitions(call.store, call.warehouse, table, new, if_not_exists=if_not_exists, properties=properties)
    call.note(partitions=added.number)
    return _Batch(table, added)


def _appended_by_name(
    call: Call, database: str | None, name: str | None, partition: str | None, properties: Mapping[str, str]
) -> bytes:
    table = call.store.get_table(database_name(database), name or "")
    try:
        values = name_reader(table.partition_column_names)(partition or "")
    except InvalidPartitionValue as error:
        raise THRIFT.InvalidObjectException(str(error)) from error
    return _appended(call, database, name, values, properties)


def _appended(
    call: Call, database: str | None, name: str | None, values: Sequence[str], properties: Mapping[str, str]
) -> bytes:
    given = SentPartition(database, name, Partition(values, later_fields=IN_CATALOG))
    return _add(call, database, name, [given], properties=properties).stored(call)[0]


def _of_spec(spec: Any) -> Iterator[SentPartition]:
    """The partitions of a spec: listed as they are, or what differs from a storage that they share."""
    if spec.partitionList is not None:
        yield from spec.partitionList.partitions or ()
    if spec.sharedSDPartitionSpec is None:
        return
    storage, root = spec.sharedSDPartitionSpec.sd or (StorageDescriptor(), None)
    for without_storage in spec.sharedSDPartitionSpec.partitions or ():
        location = None if root is None else root + (without_storage.relativePath or "")
        partition = Partition(
            without_storage.values or (),
            location=location,
            parameters=without_storage.parameters or {},
            last_access_time=without_storage.lastAccessTime or 0,
            storage=storage,
            privileges=without_storage.privileges,
            later_fields=IN_CATALOG,
        )
        yield SentPartition(spec.dbName, spec.tableName, partition)
