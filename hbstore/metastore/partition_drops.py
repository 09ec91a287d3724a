"""Dropping partitions. The catalog changes first, then files are deleted: `data_removal` says why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hbstore.errors import FilterError, InvalidPartitionValue, PartitionNotFound
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.data_removal import check_partition_files, remove_partition_files
from hbstore.metastore.environment import environment, properties_of
from hbstore.metastore.expressions import selection_of
from hbstore.metastore.filters import EXPRESSION_DIALECT
from hbstore.metastore.naming import database_name
from hbstore.metastore.new_partitions import identity_of
from hbstore.metastore.partition_names import name_reader
from hbstore.metastore.protocol import THRIFT
from hbstore.metastore.table_kinds import is_external, is_purged
from hbstore.metastore.table_locations import located_table
from hbstore.model import Partition, Table
from hbstore.structs import partition_values, partitions_from_payloads

handlers = Handlers()


@handlers.answers("drop_partition", "drop_partition_with_environment_context", writes=True)
def drop_partition(call: Call) -> bool:
    """Drop one partition by its values; with ``deleteData`` its files, unless the table is external.

    Raises:
        NoSuchObjectException: there is no such partition or table.
        MetaException: too many or too few values.
    """
    given = call.arguments
    table = _table(call, given.db_name, given.tbl_name)
    return _drop_one(call, table, given.part_vals or (), delete=bool(given.deleteData), properties=environment(call))


@handlers.answers("drop_partition_by_name", "drop_partition_by_name_with_environment_context", writes=True)
def drop_partition_by_name(call: Call) -> bool:
    """Drop one partition by its name; with ``deleteData`` its files, unless the table is external.

    Raises:
        NoSuchObjectException: there is no such partition or table, or it is no name.
    """
    given = call.arguments
    table = _table(call, given.db_name, given.tbl_name)
    values = _values(table, given.part_name)
    return _drop_one(call, table, values, delete=bool(given.deleteData), properties=environment(call))


@handlers.answers("drop_partition_req", writes=True)
def drop_partition_req(call: Call) -> bool:
    """As drop_partition_by_name, or without a name as drop_partition.

    Raises:
        NoSuchObjectException: there is no such partition or table, or it is no name.
        MetaException: too many or too few values.
    """
    request = call.arguments.dropPartitionReq
    table = _table(call, request.dbName, request.tblName)
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
    table = _table(call, request.dbName, request.tblName)
    parts = request.parts
    if parts is None or (parts.names is None) is (parts.exprs is None):
        raise THRIFT.MetaException("send either names or expressions of partitions")
    if parts.names is not None:
        found = _by_names(call, table, parts.names, if_exists=bool(request.ifExists))
    else:
        found = _by_expressions(call, table, [one.expr for one in parts.exprs], if_exists=bool(request.ifExists))
    properties = properties_of(request.environmentContext)
    dropped = drop_read(call, table, found, delete=bool(request.deleteData), properties=properties)
    if not request.needResult:
        return THRIFT.DropPartitionsResult()
    return THRIFT.DropPartitionsResult(partitions=dropped)


def _table(call: Call, database: str | None, name: str | None) -> Table:
    call.note(table=f"{database_name(database)}.{name}")
    return located_table(call, database_name(database), name or "")


def _values(table: Table, name: str | None) -> Sequence[str]:
    try:
        return name_reader(table)(name or "")
    except InvalidPartitionValue as error:
        raise THRIFT.NoSuchObjectException(str(error)) from error


def _drop_one(call: Call, table: Table, values: Sequence[str], *, delete: bool, properties: Mapping[str, str]) -> bool:
    identity_of(table)(values)
    found = call.store.get_payloads(table.database, table.name, [values])
    if not found:
        raise THRIFT.NoSuchObjectException(f"Partition doesn't exist. {list(values)}")
    drop_read(call, table, found, delete=delete, properties=properties)
    return True


def _by_names(call: Call, table: Table, names: Sequence[str], *, if_exists: bool) -> list[bytes]:
    read = name_reader(table)
    wanted = [read(name) for name in names]
    found = call.store.get_payloads(table.database, table.name, wanted)
    if not if_exists and len(found) != len(set(map(identity_of(table), wanted))):
        raise THRIFT.NoSuchObjectException(f"One of these partitions of {table} doesn't exist: {', '.join(names)}")
    return found


def _by_expressions(call: Call, table: Table, expressions: Sequence[bytes | None], *, if_exists: bool) -> list[bytes]:
    """What any of the filters selects, each partition once.

    What is not wholly understood selects nothing: an expression that was read as a wider one would drop what nobody
    meant to.
    """
    found: dict[bytes, None] = {}
    for expression in expressions:
        selected = _selected(call, table, expression)
        if not selected and not if_exists:
            raise THRIFT.NoSuchObjectException(f"There are no partitions of {table} to drop by one of the expressions")
        found.update(dict.fromkeys(selected))
    return list(found)


def _selected(call: Call, table: Table, expression: bytes | None) -> list[bytes]:
    try:
        selection = selection_of(table, expression)
    except FilterError as error:
        raise THRIFT.MetaException(str(error)) from error
    if isinstance(selection.where, str) and not selection.where.strip():
        raise THRIFT.MetaException("an empty expression would drop all partitions: name them, or drop the table")
    if selection.unread:
        raise THRIFT.MetaException(str(selection.unread[0]))
    found = call.store.get_partitions_by_filter(
        table.database, table.name, selection.where, like_dialect=EXPRESSION_DIALECT
    )
    return [one.payload for one in found if one.payload is not None]


def drop_read(
    call: Call,
    table: Table,
    payloads: Sequence[bytes],
    *,
    delete: bool,
    properties: Mapping[str, str],
    unchanged: bool = False,
) -> Sequence[bytes]:
    """Drop partitions that were read, then delete their files.

    Args:
        call: what is answered.
        table: the table, with a location.
        payloads: stored bytes of what is dropped.
        delete: whether their files are deleted, unless the table is external.
        properties: the call's environment context.
        unchanged: only if all of them are still what was read.

    Raises:
        NoSuchObjectException: one is not there any more.
        ConcurrentChange: one is not what was read; nothing was dropped.
        OutsideWarehouse: files are to be deleted where the server may not.
    """
    partitions: list[Partition] = partitions_from_payloads(payloads)
    places = [one.location for one in partitions] if delete and not is_external(table) else []
    check_partition_files(call, table, places)
    values = [partition_values(one) for one in payloads]
    try:
        if unchanged:
            read: dict[tuple[str | None, ...], bytes | None] = dict(zip(values, payloads, strict=True))
            call.store.change_partitions(table.database, table.name, drop=values, expected=read)
        else:
            call.store.drop_partitions(table.database, table.name, values)
    except PartitionNotFound as error:  # somebody else was faster
        raise THRIFT.NoSuchObjectException(str(error)) from error
    call.note(partitions=len(payloads))
    remove_partition_files(call, table, places, purge=is_purged(table, properties))
    return payloads
