"""Altering and renaming partitions.

A partition that is renamed takes its folder along if that is the one its old name gave it, below a table that is not
external. The folder is moved first, and moved back if the catalog refuses. A crash between leaves the folder under the
new name and the partition under the old one; the same call again finds nothing to move and changes the catalog.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from hbstore.errors import PartitionNotFound
from hbstore.metastore.accurate_columns import forget_partitions, replaced_columns, without_accurate
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.environment import environment, properties_of, with_ddl_time
from hbstore.metastore.naming import database_name
from hbstore.metastore.new_partitions import default_location, identity_of, with_columns
from hbstore.metastore.normal_form import lowered_storage
from hbstore.metastore.protocol import THRIFT, GivenPartition
from hbstore.metastore.quick_statistics import altered_partition_parameters
from hbstore.metastore.table_kinds import is_external
from hbstore.metastore.table_locations import located_table
from hbstore.model import Partition, Table
from hbstore.names import partition_name
from hbstore.structs import partition_values, partitions_from_payloads

handlers = Handlers()


@handlers.answers("alter_partition", "alter_partition_with_environment_context", writes=True)
def alter_partition(call: Call) -> None:
    """Replace all of a partition but its values.

    Raises:
        InvalidOperationException: there is no such partition or table.
    """
    given: GivenPartition = call.arguments.new_part
    change_partitions(call, _table(call), [given.partition], environment(call))


@handlers.answers("alter_partitions", "alter_partitions_with_environment_context", writes=True)
def alter_partitions(call: Call) -> None:
    """Replace all of several partitions but their values, all or none.

    Raises:
        InvalidOperationException: one is not there, or there is no such table.
    """
    given: Sequence[GivenPartition] = call.arguments.new_parts or ()
    change_partitions(call, _table(call), [one.partition for one in given], environment(call))


@handlers.answers("alter_partitions_req", writes=True)
def alter_partitions_req(call: Call) -> Any:
    """As alter_partitions; columns that the partitions share may stand beside them.

    Raises:
        InvalidOperationException: one is not there, or there is no such table.
    """
    request = call.arguments.req
    given: Sequence[GivenPartition] = request.partitions or ()
    if request.skipColumnSchemaForPartition and request.partitionColSchema is not None:
        given = with_columns(given, request.partitionColSchema)
    table = _named(call, request.dbName, request.tableName)
    change_partitions(call, table, [one.partition for one in given], properties_of(request.environmentContext))
    return THRIFT.AlterPartitionsResponse()


@handlers.answers("rename_partition", writes=True)
def rename_partition(call: Call) -> None:
    """Replace all of a partition, its values as well; its folder follows if it is where its name says.

    Raises:
        InvalidOperationException: there is no such partition, or there is one of the new values.
        MetaException: the folder cannot be moved.
    """
    given = call.arguments
    new: Partition = given.new_part.partition
    table = _table(call)
    if not given.part_vals:
        change_partitions(call, table, [new], environment(call))
        return
    old = _to_be_renamed(call, table, given.part_vals, new)
    location = _location_after_rename(call, table, old, new)
    parameters = with_ddl_time(new.parameters, zero_is_none=True)
    if not is_external(table):
        # The files are counted where they still are.
        parameters = altered_partition_parameters(
            call.warehouse, table, old, replace(new, parameters=parameters), old.location, {}
        )
    changed = _merged(old, new, location, parameters)
    with _moving(call, table, old.location, location):
        call.store.rename_partition(table.database, table.name, given.part_vals, changed, invalid_values="keep")
    call.note(partitions=1)


def change_partitions(
    call: Call,
    table: Table,
    partitions: Sequence[Partition],
    properties: Mapping[str, str],
    *,
    replaces: Sequence[bytes] | None = None,
) -> None:
    """Replace all of partitions but their values, all or none.

    Args:
        call: what is answered.
        table: the table, with a location.
        partitions: what they become.
        properties: the call's environment context.
        replaces: the stored bytes that they must still have; None: whatever they are.

    Raises:
        InvalidOperationException: one is not there.
        ConcurrentChange: one is not what it replaces; nothing was changed.
    """
    identify = identity_of(table)
    wanted = {identify(one.values): one for one in partitions}
    found = call.store.get_payloads(table.database, table.name, [one.values for one in wanted.values()])
    old = {identify(one.values): one for one in partitions_from_payloads(found)}
    missing = [one for identity, one in wanted.items() if identity not in old]
    if missing:
        name = partition_name(table.partition_column_names, missing[0].values)
        raise THRIFT.InvalidOperationException(f"alter is not possible: no such partition: {table} {name}")
    changed = []
    replaced: dict[frozenset[str], list[tuple[str, ...]]] = {}
    for identity, new in wanted.items():
        known = old[identity]
        location = call.warehouse.qualify(new.location) if new.location else known.location
        gone = _replaced(known, new)
        if gone:
            replaced.setdefault(gone, []).append(known.values)
        settled = without_accurate(with_ddl_time(new.parameters, zero_is_none=True), gone)
        dated = replace(new, parameters=settled)
        parameters = altered_partition_parameters(call.warehouse, table, known, dated, location, properties)
        changed.append(replace(_merged(known, new, location, parameters), values=known.values))
    if replaces is None:
        call.store.alter_partitions(table.database, table.name, changed)
    else:
        expected: dict[tuple[str | None, ...], bytes | None] = {partition_values(one): one for one in replaces}
        call.store.change_partitions(table.database, table.name, put=changed, expected=expected, invalid_values="keep")
    for gone, values in replaced.items():
        forget_partitions(call.store, table, gone, values)
    call.note(partitions=len(changed))


def _replaced(old: Partition, new: Partition) -> frozenset[str]:
    """The columns of a partition whose statistics are of something else from now on."""
    before, after = (None if one.storage is None else one.storage.columns for one in (old, new))
    if before is None or after is None or before == after:
        return frozenset()
    return frozenset(replaced_columns(before, after))


def _table(call: Call) -> Table:
    return _named(call, call.arguments.db_name, call.arguments.tbl_name)


def _named(call: Call, database: str | None, name: str | None) -> Table:
    known = database_name(database)
    call.note(table=f"{known}.{name}")
    return located_table(call, known, name or "")


def _to_be_renamed(call: Call, table: Table, values: Sequence[str], new: Partition) -> Partition:
    """The partition with these values, if it may have the new ones.

    Raises:
        InvalidOperationException: it is not there, or one with the new values is.
    """
    identify = identity_of(table)
    same = identify(values) == identify(new.values)
    try:
        old = call.store.get_partition(table.database, table.name, values)
    except PartitionNotFound as error:
        raise THRIFT.InvalidOperationException(
            "Unable to rename partition because old partition does not exist"
        ) from error
    # The same values in other words, such as hour=5 for hour=05, are a name of their own.
    taken = old.values == new.values if same else call.store.get_payloads(table.database, table.name, [new.values])
    if taken:
        name = partition_name(table.partition_column_names, new.values)
        raise THRIFT.InvalidOperationException(f"Partition already exists: {table} {name}")
    return old


def _merged(old: Partition, new: Partition, location: str | None, parameters: Mapping[str, str]) -> Partition:
    """The partition as it is stored: what the client left out stays as it was."""
    return replace(
        new,
        location=location,
        parameters=parameters,
        create_time=new.create_time or old.create_time,
        storage=old.storage if new.storage is None else lowered_storage(new.storage),
        privileges=old.privileges if new.privileges is None else new.privileges,
        later_fields=new.later_fields or old.later_fields,
    )


def _location_after_rename(call: Call, table: Table, old: Partition, new: Partition) -> str | None:
    """Where the partition is afterwards: by its new name if it was by its old name, else where it was."""
    own = default_location(table, old.values)
    if is_external(table) or own is None or not call.warehouse.same_place(old.location, own):
        return old.location
    return default_location(table, new.values)


def _moving(call: Call, table: Table, source: str | None, target: str | None) -> AbstractContextManager[object]:
    """The folder moved for what the block stores, if it is to be moved at all."""
    if source is None or target is None or call.warehouse.same_place(source, target):
        return nullcontext()
    inside = () if table.location is None else (table.location,)
    return call.warehouse.moving(source, target, inside=inside)
