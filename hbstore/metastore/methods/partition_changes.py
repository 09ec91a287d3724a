"""The methods that alter and rename partitions; `hbstore.warehouse.partition_changes` does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hbstore.errors import PartitionNotFound
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.environment import environment, properties_of
from hbstore.metastore.methods.sent_partitions import with_columns
from hbstore.metastore.methods.table_locations import named_table
from hbstore.metastore.protocol import THRIFT, SentPartition
from hbstore.model.objects import Partition, Table
from hbstore.warehouse import partition_changes

handlers = Handlers()


@handlers.answers("alter_partition", "alter_partition_with_environment_context", writes=True)
def alter_partition(call: Call) -> None:
    """Replace all of a partition but its values.

    Raises:
        InvalidOperationException: there is no such partition or table.
    """
    sent_partition: SentPartition = call.arguments.new_part
    _change(call, _table(call), [sent_partition.partition], environment(call))


@handlers.answers("alter_partitions", "alter_partitions_with_environment_context", writes=True)
def alter_partitions(call: Call) -> None:
    """Replace all of several partitions but their values, all or none.

    Raises:
        InvalidOperationException: one is not there, or there is no such table.
    """
    sent_partitions: Sequence[SentPartition] = call.arguments.new_parts or ()
    _change(call, _table(call), [sent_partition.partition for sent_partition in sent_partitions], environment(call))


@handlers.answers("alter_partitions_req", writes=True)
def alter_partitions_req(call: Call) -> Any:
    """As alter_partitions; columns may stand beside the partitions, and ``file:///x`` stays spelt so.

    Raises:
        InvalidOperationException: one is not there, or there is no such table.
    """
    request = call.arguments.req
    sent_partitions: Sequence[SentPartition] = request.partitions or ()
    if request.skipColumnSchemaForPartition and request.partitionColSchema is not None:
        sent_partitions = with_columns(sent_partitions, request.partitionColSchema)
    table = named_table(call, request.dbName, request.tableName)
    _change(
        call,
        table,
        [sent_partition.partition for sent_partition in sent_partitions],
        properties_of(request.environmentContext),
        keep_slashes=True,
    )
    return THRIFT.AlterPartitionsResponse()


@handlers.answers("rename_partition", writes=True)
def rename_partition(call: Call) -> None:
    """Replace all of a partition, its values as well; its folder follows if it is where its name says.

    Raises:
        InvalidOperationException: there is no such partition, or there is one of the new values.
        MetaException: the folder cannot be moved.
    """
    arguments = call.arguments
    new: Partition = arguments.new_part.partition
    table = _table(call)
    if not arguments.part_vals:
        _change(call, table, [new], environment(call))
        return
    try:
        partition_changes.rename_partition(call.store, call.warehouse, table, arguments.part_vals, new)
    except PartitionNotFound as error:
        text = "Unable to rename partition because old partition does not exist"
        raise THRIFT.InvalidOperationException(text) from error
    call.note(partitions=1)


def _change(
    call: Call,
    table: Table,
    partitions: Sequence[Partition],
    properties: Mapping[str, str],
    *,
    keep_slashes: bool = False,
) -> None:
    number = partition_changes.change_partitions(
        call.store, call.warehouse, table, partitions, properties=properties, keep_slashes=keep_slashes
    )
    call.note(partitions=number)


def _table(call: Call) -> Table:
    return named_table(call, call.arguments.db_name, call.arguments.tbl_name)
