"""The methods that drop partitions; `hbstore.warehouse.partition_changes` does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hbstore.errors import FilterError, InvalidPartitionValue
from hbstore.keys.partition_names import name_reader
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.environment import asks_to_purge, environment, properties_of
from hbstore.metastore.methods.expressions import is_msck, named_partitions, selection_of
from hbstore.metastore.methods.filters import EXPRESSION_DIALECT
from hbstore.metastore.methods.table_locations import named_table
from hbstore.metastore.protocol import THRIFT
from hbstore.model.objects import Table
from hbstore.warehouse.normal_form import checked_values
from hbstore.warehouse.partition_changes import drop_partitions

handlers = Handlers()


@handlers.answers("drop_partition", "drop_partition_with_environment_context", writes=True)
def drop_partition(call: Call) -> bool:
    """Drop one partition by its values; with ``deleteData`` its files, unless the table is external.

    Raises:
        NoSuchObjectException: there is no such partition or table.
        MetaException: too many or too few values.
    """
    arguments = call.arguments
    table = named_table(call, arguments.db_name, arguments.tbl_name)
    return _drop_one(
        call, table, arguments.part_vals or (), delete=bool(arguments.deleteData), properties=environment(call)
    )


@handlers.answers("drop_partition_by_name", "drop_partition_by_name_with_environment_context", writes=True)
def drop_partition_by_name(call: Call) -> bool:
    """Drop one partition by its name; with ``deleteData`` its files, unless the table is external.

    Raises:
        NoSuchObjectException: there is no such partition or table, or it is no name.
    """
    arguments = call.arguments
    table = named_table(call, arguments.db_name, arguments.tbl_name)
    values = _values(table, arguments.part_name)
    return _drop_one(call, table, values, delete=bool(arguments.deleteData), properties=environment(call))


@handlers.answers("drop_partition_req", writes=True)
def drop_partition_req(call: Call) -> bool:
    """As drop_partition_by_name, or without a name as drop_partition.

    Raises:
        NoSuchObjectException: there is no such partition or table, or it is no name.
        MetaException: too many or too few values.
    """
    request = call.arguments.dropPartitionReq
    table = named_table(call, request.dbName, request.tblName)
    values = request.partVals or () if request.partName is None else _values(table, request.partName)
    properties = properties_of(request.environmentContext)
    return _drop_one(call, table, values, delete=bool(request.deleteData), properties=properties)


@handlers.answers("drop_partitions_req", writes=True)
def drop_partitions_req(call: Call) -> Any:
    """Drop partitions by names, or by expressions, all or none; they come back.

    Raises:
        NoSuchObjectException: one is not there, or an expression selects none, unless ``ifExists``.
        MetaException: an expression is no filter on this table, or is Hive's own and not read as a whole.
    """
    request = call.arguments.req
    table = named_table(call, request.dbName, request.tblName)
    parts = request.parts
    if parts is None or (parts.names is None) is (parts.exprs is None):
        raise THRIFT.MetaException("send either names or expressions of partitions")
    if parts.names is not None:
        payloads = _by_names(call, table, parts.names, if_exists=bool(request.ifExists))
    else:
        payloads = _by_expressions(call, table, [one.expr for one in parts.exprs], if_exists=bool(request.ifExists))
    properties = properties_of(request.environmentContext)
    _drop(call, table, payloads, delete=bool(request.deleteData), properties=properties)
    if not request.needResult:
        return THRIFT.DropPartitionsResult()
    return THRIFT.DropPartitionsResult(partitions=payloads)


def _values(table: Table, name: str | None) -> Sequence[str]:
    try:
        return name_reader(table.partition_column_names)(name or "")
    except InvalidPartitionValue as error:
        raise THRIFT.NoSuchObjectException(str(error)) from error


def _drop_one(call: Call, table: Table, values: Sequence[str], *, delete: bool, properties: Mapping[str, str]) -> bool:
    payloads = call.store.get_payloads(table.database, table.name, [checked_values(table, values)])
    if not payloads:
        raise THRIFT.NoSuchObjectException(f"Partition doesn't exist. {list(values)}")
    _drop(call, table, payloads, delete=delete, properties=properties)
    return True


def _by_names(call: Call, table: Table, names: Sequence[str], *, if_exists: bool) -> list[bytes]:
    read = name_reader(table.partition_column_names)
    values = [read(name) for name in names]
    payloads = call.store.get_payloads(table.database, table.name, values)
    if not if_exists and len(payloads) != len({checked_values(table, some) for some in values}):
        raise THRIFT.NoSuchObjectException(f"One of these partitions of {table} doesn't exist: {', '.join(names)}")
    return payloads


def _by_expressions(call: Call, table: Table, expressions: Sequence[bytes | None], *, if_exists: bool) -> list[bytes]:
    """What any of the filters selects, each partition once.

    What is not wholly understood selects nothing: an expression that was read as a wider one would drop what nobody
    meant to.
    """
    payloads: dict[bytes, None] = {}
    for expression in expressions:
        selected = _selected(call, table, expression)
        if not selected and not if_exists:
            raise THRIFT.NoSuchObjectException(f"There are no partitions of {table} to drop by one of the expressions")
        payloads.update(dict.fromkeys(selected))
    return list(payloads)


def _selected(call: Call, table: Table, expression: bytes | None) -> list[bytes]:
    try:
        selection = selection_of(table, expression)
    except FilterError as error:
        raise THRIFT.MetaException(str(error)) from error
    if isinstance(selection.where, str) and not selection.where.strip():
        raise THRIFT.MetaException("an empty expression would drop all partitions: name them, or drop the table")
    if selection.unread:
        raise THRIFT.MetaException(str(selection.unread[0]))
    where = selection.where
    if isinstance(where, str) and is_msck(call.session.settings):
        where = named_partitions(where)
    partitions = call.store.get_partitions_by_filter(table.database, table.name, where, like_dialect=EXPRESSION_DIALECT)
    return [partition.payload for partition in partitions if partition.payload is not None]


def _drop(call: Call, table: Table, payloads: Sequence[bytes], *, delete: bool, properties: Mapping[str, str]) -> None:
    left = drop_partitions(call.store, call.warehouse, table, payloads, delete=delete, purge=asks_to_purge(properties))
    call.note(partitions=len(payloads))
    call.note_left(left)
