"""The methods that add partitions; `hbstore.metastore.new_partitions` does it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hbstore.errors import InvalidPartitionValue
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.catalogs import IN_CATALOG
from hbstore.metastore.environment import environment, properties_of
from hbstore.metastore.naming import database_name
from hbstore.metastore.new_partitions import Added, add_partitions, stored_bytes, with_columns
from hbstore.metastore.partition_names import name_reader
from hbstore.metastore.protocol import THRIFT, GivenPartition
from hbstore.model import Partition, StorageDescriptor

handlers = Handlers()


@handlers.answers("add_partition", "add_partition_with_environment_context", writes=True)
def add_partition(call: Call) -> bytes:
    """Add one partition; it comes back as it is stored.

    Raises:
        AlreadyExistsException: it is there already.
        InvalidObjectException: there is no such table.
    """
    given: GivenPartition = call.arguments.new_part
    return _one(call, add_partitions(call, given.database, given.table, [given], properties=environment(call)))


@handlers.answers("add_partitions", writes=True)
def add_several(call: Call) -> int:
    """Add partitions of one table, all or none; how many were added.

    Raises:
        AlreadyExistsException: one is there already.
        InvalidObjectException: there is no such table.
        MetaException: two are equal, or of different tables.
    """
    given: Sequence[GivenPartition] = call.arguments.new_parts or ()
    if not given:
        return 0
    return add_partitions(call, given[0].database, given[0].table, given).number


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
    added = add_partitions(
        call,
        request.dbName,
        request.tblName,
        request.parts if columns is None else with_columns(request.parts, columns),
        if_not_exists=bool(request.ifNotExists),
        properties=properties_of(request.environmentContext),
    )
    if not request.needResult:
        return THRIFT.AddPartitionsResult()
    return THRIFT.AddPartitionsResult(partitions=stored_bytes(call, added), partitionColSchema=columns)


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
    given = [one for spec in specs for one in _of_spec(spec)]
    return add_partitions(call, specs[0].dbName, specs[0].tableName, given).number


@handlers.answers("append_partition", "append_partition_with_environment_context", writes=True)
def append_partition(call: Call) -> bytes:
    """Add a partition of which only the values are given; it comes back as it is stored.

    Raises:
        AlreadyExistsException: it is there already.
        InvalidObjectException: there is no such table.
    """
    given = call.arguments
    return _appended(call, given.db_name, given.tbl_name, given.part_vals or (), environment(call))


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
    given = call.arguments
    return _appended_by_name(call, given.db_name, given.tbl_name, given.part_name, environment(call))


def _appended_by_name(
    call: Call, database: str | None, name: str | None, partition: str | None, properties: Mapping[str, str]
) -> bytes:
    table = call.store.get_table(database_name(database), name or "")
    try:
        values = name_reader(table)(partition or "")
    except InvalidPartitionValue as error:
        raise THRIFT.InvalidObjectException(str(error)) from error
    return _appended(call, database, name, values, properties)


def _appended(
    call: Call, database: str | None, name: str | None, values: Sequence[str], properties: Mapping[str, str]
) -> bytes:
    given = GivenPartition(database, name, Partition(values, later_fields=IN_CATALOG))
    return _one(call, add_partitions(call, database, name, [given], properties=properties))


def _one(call: Call, added: Added) -> bytes:
    return stored_bytes(call, added)[0]


def _of_spec(spec: Any) -> Iterator[GivenPartition]:
    """The partitions of a spec: listed as they are, or what differs from a storage that they share."""
    if spec.partitionList is not None:
        yield from spec.partitionList.partitions or ()
    if spec.sharedSDPartitionSpec is None:
        return
    storage, root = spec.sharedSDPartitionSpec.sd or (StorageDescriptor(), None)
    for one in spec.sharedSDPartitionSpec.partitions or ():
        location = None if root is None else root + (one.relativePath or "")
        partition = Partition(
            one.values or (),
            location=location,
            parameters=one.parameters or {},
            last_access_time=one.lastAccessTime or 0,
            storage=storage,
            privileges=one.privileges,
            later_fields=IN_CATALOG,
        )
        yield GivenPartition(spec.dbName, spec.tableName, partition)
