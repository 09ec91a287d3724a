"""Altering, renaming, exchanging and dropping partitions.

A partition that is renamed takes its folder along if that is in the folder of a table that is not external, however it
is called there: `hbstore.publishing.folder_move`.

A drop changes the catalog first and deletes files afterwards: `hbstore.publishing.removal`. What jobs are writing into
the partitions comes before: `hbstore.publishing.beside_writes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Final, TypeVar

from hbstore.errors import AlreadyExists, DdlRefused, PartitionNotFound
from hbstore.files.locations import is_below, same_place
from hbstore.files.warehouse import Warehouse
from hbstore.keys.partition_names import partition_name
from hbstore.model.objects import Column, Partition, Table
from hbstore.model.structs import partition_values, partitions_from_payloads
from hbstore.publishing import exchanger
from hbstore.publishing.beside_writes import after_writes, finishing_writes
from hbstore.publishing.dropped_files import after_deletion
from hbstore.publishing.exchanger import Exchanged
from hbstore.publishing.folder_move import moved_folder
from hbstore.publishing.removal import drop_with_files
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import TableRow
from hbstore.store.table_step import TableStep
from hbstore.store.writer import Expected
from hbstore.warehouse.accurate_columns import forget_partitions, replaced_columns, without_accurate
from hbstore.warehouse.change_times import with_ddl_time
from hbstore.warehouse.file_removal import check_partition_files
from hbstore.warehouse.locations import default_location, elsewhere, located, respelt
from hbstore.warehouse.normal_form import checked_values, lowered_storage
from hbstore.warehouse.quick_statistics import altered_partition_parameters
from hbstore.warehouse.refusals import refusal
from hbstore.warehouse.table_kinds import is_external, is_purged, keeps_files

T = TypeVar("T")

_OUTRUN: Final = "other writers kept changing the partitions"


def change_partitions(
    store: PartitionStore,
    warehouse: Warehouse,
    table: Table,
    partitions: Sequence[Partition],
    *,
    properties: Mapping[str, str] | None = None,
    replaces: Sequence[bytes] | None = None,
    keep_slashes: bool = False,
) -> int:
    """Replace all of partitions but their values, all or none.

    Args:
        store: the catalog.
        warehouse: where files are.
        table: the table, with a location unless it is a view.
        partitions: what they become.
        properties: what Hive's clients say about statistics: `hbstore.warehouse.quick_statistics`.
        replaces: the stored bytes that they must still have; None: whatever they are.
        keep_slashes: whether ``file:///x`` is stored so, and not as ``file:/x``.

    Returns:
        How many they are; one that is given twice counts once.

    Raises:
        PartitionNotFound: one is not there.
        DdlRefused: one has too many or too few values.
        ConcurrentChange: one is not what it replaces; nothing was changed.
        StoreBusy: the files of a table that was dropped at the new location of one are being deleted.
    """
    new_partitions = {checked_values(table, partition.values): partition for partition in partitions}

    def change() -> tuple[TableRow | None, Mapping[frozenset[str], Sequence[tuple[str, ...]]]]:
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
            if keep_slashes and location is not None and new.location == location.replace("file:/", "file:///", 1):
                location = new.location
            gone = _replaced(old, new)
            if gone:
                replaced.setdefault(gone, []).append(values)
            settled = without_accurate(with_ddl_time(new.parameters, zero_is_none=True), gone)
            dated = replace(new, parameters=settled)
            parameters = altered_partition_parameters(warehouse, table, old, dated, location, properties or {})
            changed.append(_merged(old, new, location, parameters))
        moved = (one.location for one in changed if one.location != stored[one.values].location)
        if far := elsewhere(moved, table):
            after_deletion(store, *far)
        unchanged = payloads if replaces is None else replaces
        expected: Expected = {partition_values(payload): payload for payload in unchanged}
        row = store.table_row(table.database, table.name) if replaced else None
        store.alter_partitions(table.database, table.name, changed, expected=expected)
        return row, replaced

    row, replaced = _tried(store, table, change, once=replaces is not None)
    if row is not None:
        for gone, some in replaced.items():
            forget_partitions(store, row, gone, some)
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
    """Replace all of a partition, its values as well; its folder follows if it is in the table's folder.

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
        row = store.publications.row(table.database, table.name)
        table_now = located(store, warehouse, row.table)
        old = _to_be_renamed(store, table_now, values, new)
        location = _location_after_rename(table_now, old, new)
        parameters = dated.parameters
        if not is_external(table_now):
            # The files are counted where they still are.
            parameters = altered_partition_parameters(warehouse, table_now, old, dated, old.location, {})
        changed = _merged(old, new, location, parameters)
        expected: Expected = {old.values: old.payload if replaces is None else replaces}
        with _moving(store, warehouse, row, table_now.location, old, changed) as moved:
            store.rename_partition(
                table.database,
                table.name,
                values,
                changed,
                expected=expected,
                moved=moved,
                invalid_values="keep",
                same_as=row,
            )

    _tried(store, table, rename, once=replaces is not None)


def update_partitions(
    store: PartitionStore,
    table: Table,
    partitions: Iterable[Partition],
    change: Callable[[Partition], Partition | None],
    *,
    same_as: TableRow | None = None,
) -> list[Partition]:
    """Replace partitions by what a function makes of them, all or none. O(n log rows).

    Args:
        store: the catalog.
        table: their table.
        partitions: which they are; those that are gone are left out.
        change: makes of a partition what it becomes, with the same values; None leaves it as it is.
        same_as: the row of the table that it must be; None: the one that has the name.

    Returns:
        What was written.

    Raises:
        StoreBusy: other writers kept changing the table.
    """
    values = [partition.values for partition in partitions]

    def update(step: TableStep) -> list[Partition]:
        changed = [new for old in step.partitions(values) if (new := change(old)) is not None]
        step.change(put=changed)
        return changed

    return store.change(str(table), update, same_as=same_as)


def exchange_partitions(
    store: PartitionStore, warehouse: Warehouse, source: Table, target: Table, partitions: Sequence[Partition]
) -> Exchanged:
    """Move partitions that were read, with the folders that are in the source's, all or none.

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
    source, target = located(store, warehouse, source), located(store, warehouse, target)
    spelt = update_partitions(store, source, partitions, lambda partition: respelt(partition, source))
    by_values = {partition.values: partition for partition in spelt}
    alike = [by_values.get(partition.values, partition) for partition in partitions]
    return exchanger.exchange_partitions(store, warehouse, source, target, alike)


def drop_partitions(
    store: PartitionStore,
    warehouse: Warehouse,
    table: Table,
    payloads: Sequence[bytes],
    *,
    delete: bool,
    purge: bool = False,
    unchanged: bool = False,
) -> tuple[str, ...]:
    """Drop partitions that were read, all or none, then delete their files.

    Args:
        store: the catalog.
        warehouse: where files are.
        table: the table, with a location unless it is a view.
        payloads: stored bytes of what is dropped.
        delete: whether their files are deleted, unless the table keeps them.
        purge: whether files pass the trash, even where the table does not say so.
        unchanged: only if all of them are still what was read.

    Returns:
        Locations whose files could not be deleted.

    Raises:
        PartitionNotFound: one is not there any more.
        ConcurrentChange: one is not what was read; nothing was dropped.
        OutsideWarehouse: files are to be deleted where the warehouse's roots do not allow it.
    """
    values = [partition_values(payload) for payload in payloads]
    expected: Expected = dict(zip(values, payloads, strict=True)) if unchanged else {}
    if not delete or keeps_files(table) or not payloads:
        drop = partial(store.change_partitions, table.database, table.name, drop=values, expected=expected)
        after_writes(store, table, drop)
        return ()
    reads = chain([payloads], iter(lambda: store.get_payloads(table.database, table.name, values), None))
    passes_trash = purge or is_purged(table)

    def drop_with_their_files() -> tuple[str, ...]:
        places = dict.fromkeys(values, "")
        places |= {one.values: one.location or "" for one in partitions_from_payloads(next(reads))}
        check_partition_files(warehouse, table, filter(None, places.values()))
        return drop_with_files(store, warehouse, table, places, purge=passes_trash, expected=expected)

    return _tried(store, table, drop_with_their_files, once=unchanged)


def _replaced(old: Partition, new: Partition) -> frozenset[str]:
    """The columns of a partition whose statistics are of something else from now on."""
    before, after = (None if each.storage is None else each.storage.columns for each in (old, new))
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


def _location_after_rename(table: Table, old: Partition, new: Partition) -> str | None:
    """Where the partition is afterwards: by its new name if it was in the table's folder, else where it was."""
    home = table.location
    if is_external(table) or home is None or old.location is None or not is_below(old.location, home):
        return old.location
    return default_location(table, new.values)


def _tried(store: PartitionStore, table: Table, change: Callable[[], T], *, once: bool) -> T:
    """What a change returns; where other writers were faster it is tried again, or, ``once``, only after jobs."""
    if once:
        return after_writes(store, table, change)
    return store.patience.retry(finishing_writes(store, table, change), text=_OUTRUN, table=table)


def _moving(
    store: PartitionStore, warehouse: Warehouse, row: TableRow, home: str | None, old: Partition, new: Partition
) -> AbstractContextManager[str | None]:
    """The folder moved for what the block stores, if it is to be moved at all."""
    source, target = old.location, new.location
    if source is None or target is None or same_place(source, target):
        return nullcontext()
    inside = [] if home is None else [home]
    return moved_folder(store, warehouse, row, source, target, inside, [old.values, new.values])


def _alike(left: Sequence[Column], right: Sequence[Column]) -> bool:
    """Whether columns have the same names and types, whatever their case and their comments."""
    first, second = ([(column.name.lower(), column.type.lower()) for column in columns] for columns in (left, right))
    return first == second
