"""Altering and renaming partitions.

A partition that is renamed takes its folder along if that is the one its old name gave it, below a table that is not
external. The folder is moved first, and moved back if the catalog refuses. A crash between leaves the folder under the
new name and the partition under the old one; the same call again finds nothing to move and changes the catalog.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from hbstore.errors import AlreadyExists, PartitionNotFound
from hbstore.files.warehouse import Warehouse
from hbstore.model import Partition, Table
from hbstore.names import partition_name
from hbstore.store.partition_store import PartitionStore
from hbstore.store.writer import Expected
from hbstore.structs import partition_values, partitions_from_payloads
from hbstore.warehouse.accurate_columns import forget_partitions, replaced_columns, without_accurate
from hbstore.warehouse.change_times import with_ddl_time
from hbstore.warehouse.checked_values import checked_values
from hbstore.warehouse.locations import default_location
from hbstore.warehouse.normal_form import lowered_storage
from hbstore.warehouse.partition_updates import OUTRUN
from hbstore.warehouse.quick_statistics import altered_partition_parameters
from hbstore.warehouse.refusals import refusal
from hbstore.warehouse.table_kinds import is_external


def change_partitions(
    store: PartitionStore,
    warehouse: Warehouse,
    table: Table,
    partitions: Sequence[Partition],
    *,
    properties: Mapping[str, str] | None = None,
    replaces: Sequence[bytes] | None = None,
) -> int:
    """Replace all of partitions but their values, all or none.

    Args:
        store: the catalog.
        warehouse: where files are.
        table: the table, with a location unless it is a view.
        partitions: what they become.
        properties: what Hive's clients say about statistics: `hbstore.warehouse.quick_statistics`.
        replaces: the stored bytes that they must still have; None: whatever they are.

    Returns:
        How many they are; one that is given twice counts once.

    Raises:
        PartitionNotFound: one is not there.
        DdlRefused: one has too many or too few values.
        ConcurrentChange: one is not what it replaces; nothing was changed.
    """
    new_partitions = {checked_values(table, partition.values): partition for partition in partitions}

    def change() -> Mapping[frozenset[str], Sequence[tuple[str, ...]]]:
        payloads = store.get_payloads(table.database, table.name, list(new_partitions))
        stored = {partition.values: partition for partition in partitions_from_payloads(payloads)}
        missing = [values for values in new_partitions if values not in stored]
        if missing:
            name = partition_name(table.partition_column_names, missing[0])
            raise refusal(PartitionNotFound, f"alter is not possible: no such partition: {table} {name}")
        changed = []
        replaced: dict[frozenset[str], list[tuple[str, ...]]] = {}
        for values, new in new_partitions.items():
            old = stored[values]
            location = warehouse.qualify(new.location) if new.location else old.location
            gone = _replaced(old, new)
            if gone:
                replaced.setdefault(gone, []).append(values)
            settled = without_accurate(with_ddl_time(new.parameters, zero_is_none=True), gone)
            dated = replace(new, parameters=settled)
            parameters = altered_partition_parameters(warehouse, table, old, dated, location, properties or {})
            changed.append(_merged(old, new, location, parameters))
        unchanged = payloads if replaces is None else replaces
        expected: Expected = {partition_values(payload): payload for payload in unchanged}
        store.alter_partitions(table.database, table.name, changed, expected=expected)
        return replaced

    replaced = change() if replaces is not None else store.patience.retry(change, text=OUTRUN, table=table)
    for gone, some in replaced.items():
        forget_partitions(store, table, gone, some)
    return len(new_partitions)


def rename_partition(
    store: PartitionStore,
    warehouse: Warehouse,
    table: Table,
    values: Sequence[str],
    new: Partition,
    *,
    replaces: bytes | None = None,
) -> None:
    """Replace all of a partition, its values as well; its folder follows if it is where its name says.

    Args:
        store: the catalog.
        warehouse: where files are.
        table: the table, with a location unless it is a view.
        values: those that the partition has.
        new: what it becomes; its location is not looked at.
        replaces: the stored bytes that it must still have; None: whatever it is.

    Raises:
        PartitionNotFound: there is no such partition.
        AlreadyExists: there is one of the new values.
        DdlRefused: there are too many or too few values.
        FileOperationFailed, OutsideWarehouse: the folder cannot be moved.
        ConcurrentChange: it is not what it replaces; nothing was changed.
    """
    dated = replace(new, parameters=with_ddl_time(new.parameters, zero_is_none=True))

    def rename() -> None:
        old = _to_be_renamed(store, table, values, new)
        location = _location_after_rename(warehouse, table, old, new)
        parameters = dated.parameters
        if not is_external(table):
            # The files are counted where they still are.
            parameters = altered_partition_parameters(warehouse, table, old, dated, old.location, {})
        changed = _merged(old, new, location, parameters)
        expected: Expected = {old.values: old.payload if replaces is None else replaces}
        with _moving(warehouse, table, old.location, location):
            store.rename_partition(
                table.database, table.name, values, changed, expected=expected, invalid_values="keep"
            )

    if replaces is not None:
        rename()
    else:
        store.patience.retry(rename, text=OUTRUN, table=table)


def _replaced(old: Partition, new: Partition) -> frozenset[str]:
    """The columns of a partition whose statistics are of something else from now on."""
    before, after = (None if one.storage is None else one.storage.columns for one in (old, new))
    if before is None or after is None or before == after:
        return frozenset()
    return frozenset(replaced_columns(before, after))


def _to_be_renamed(store: PartitionStore, table: Table, values: Sequence[str], new: Partition) -> Partition:
    """The partition with these values, if it may have the new ones.

    Raises:
        PartitionNotFound: it is not there.
        AlreadyExists: one with the new values is.
    """
    new_values = checked_values(table, new.values)
    old = store.get_partition(table.database, table.name, checked_values(table, values))
    if store.get_payloads(table.database, table.name, [new_values]):
        name = partition_name(table.partition_column_names, new_values)
        raise refusal(AlreadyExists, f"Partition already exists: {table} {name}")
    return old


def _merged(old: Partition, new: Partition, location: str | None, parameters: Mapping[str, str]) -> Partition:
    """The partition as it is stored: what the caller left out stays as it was."""
    return replace(
        new,
        location=location,
        parameters=parameters,
        create_time=new.create_time or old.create_time,
        storage=old.storage if new.storage is None else lowered_storage(new.storage),
        privileges=old.privileges if new.privileges is None else new.privileges,
        later_fields=new.later_fields or old.later_fields,
    )


def _location_after_rename(warehouse: Warehouse, table: Table, old: Partition, new: Partition) -> str | None:
    """Where the partition is afterwards: by its new name if it was by its old name, else where it was."""
    own = default_location(table, old.values)
    if is_external(table) or own is None or not warehouse.same_place(old.location, own):
        return old.location
    return default_location(table, new.values)


def _moving(
    warehouse: Warehouse, table: Table, source: str | None, target: str | None
) -> AbstractContextManager[object]:
    """The folder moved for what the block stores, if it is to be moved at all."""
    if source is None or target is None or warehouse.same_place(source, target):
        return nullcontext()
    inside = () if table.location is None else (table.location,)
    return warehouse.moving(source, target, inside=inside)
