"""Statements that change partitions and their files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from hbstore.ddl.results import Result
from hbstore.ddl.selection import check_types, conditions_of, selected_names, whole_values
from hbstore.ddl.statements import (
    AddPartitions,
    Condition,
    DropPartitions,
    ExchangePartitions,
    PartitionSpec,
    RenamePartition,
    RepairTable,
    SetLocation,
    TruncateTable,
)
from hbstore.errors import AlreadyExists, DdlRefused, PartitionNotFound, hinting
from hbstore.files.warehouse import Warehouse
from hbstore.keys.partition_names import name_reader, partition_name
from hbstore.model.objects import Partition, Table
from hbstore.repair import Mode, sync_partitions
from hbstore.store.partition_store import PartitionStore
from hbstore.warehouse import new_partitions, partition_changes, tables, truncation
from hbstore.warehouse.table_kinds import is_view

BATCH: Final = 1_000
"""Partitions that are dropped in one change."""

_PATH: Final = "path"
_AS_THE_REASON_SAYS: Final = "Change the statement as the reason says"


def add_partitions(store: PartitionStore, warehouse: Warehouse, table: Table, statement: AddPartitions) -> Result:
    """Add partitions and make their folders, all or none.

    Raises:
        AlreadyExists: one is there already, unless IF NOT EXISTS.
        InvalidPartitionValue: a spec is not whole, or a value does not fit its column's type.
    """
    partitions = []
    for named in statement.partitions:
        values = whole_values(table, named.spec)
        check_types(table, values)
        partitions.append(Partition(values, location=named.location))
    with hinting(DdlRefused, _AS_THE_REASON_SAYS):
        added = new_partitions.add_partitions(
            store, warehouse, table, partitions, if_not_exists=statement.if_not_exists
        )
    return Result(statement, changed=added.number)


def drop_partitions(store: PartitionStore, warehouse: Warehouse, table: Table, statement: DropPartitions) -> Result:
    """Drop the partitions that any of the conjunctions selects, with their files unless the table is external.

    They are found first, then dropped `BATCH` by `BATCH`, each batch wholly or not at all.

    Raises:
        PartitionNotFound: a conjunction selects none, unless IF EXISTS; nothing was dropped.
    """
    to_drop: dict[str, None] = {}
    for conditions in statement.selected:
        names = selected_names(store, table, conditions)
        if not names and not statement.if_exists:
            raise PartitionNotFound(
                "the partition does not exist",
                table=table,
                partition=_shown(conditions),
                hint="Nothing was dropped; IF EXISTS skips missing partitions",
            )
        to_drop.update(dict.fromkeys(names))
    dropped = 0
    notes: list[str] = []
    ordered_names = list(to_drop)
    for begin in range(0, len(ordered_names), BATCH):
        values = map(name_reader(table.partition_column_names), ordered_names[begin : begin + BATCH])
        payloads = store.get_payloads(table.database, table.name, list(values))  # others may have dropped some
        with hinting(PartitionNotFound, "SHOW PARTITIONS lists the partitions of a table"):
            left = partition_changes.drop_partitions(
                store, warehouse, table, payloads, delete=True, purge=statement.purge
            )
        dropped += len(payloads)
        notes += [f"files that belong to no partition remain, such as those in {place}" for place in left[-1:]]
    return Result(statement, changed=dropped, notes=tuple(notes))


def rename_partition(store: PartitionStore, warehouse: Warehouse, table: Table, statement: RenamePartition) -> Result:
    """Give a partition other values; its folder follows if it is where its old name says.

    Raises:
        PartitionNotFound: there is none of the old values.
        AlreadyExists: there is one of the new values.
    """
    values, renamed = whole_values(table, statement.spec), whole_values(table, statement.renamed)
    check_types(table, renamed)

    def rename() -> None:
        old = store.get_partition(table.database, table.name, values)
        existing = store.get_partitions(table.database, table.name, [renamed])
        if existing and (existing[0].values != old.values or renamed == old.values):
            raise AlreadyExists(
                "a partition already exists",
                table=table,
                partition=partition_name(table.partition_column_names, existing[0].values),
                hint="Drop that partition first, or rename to other values",
            )
        new = replace(old, values=renamed)
        partition_changes.rename_partition(store, warehouse, table, values, new, replaces=old.payload)

    with hinting(DdlRefused, _AS_THE_REASON_SAYS):
        store.patience.retry(rename, text="other writers kept changing the partition", table=table)
    return Result(statement, changed=1)


def set_location(store: PartitionStore, warehouse: Warehouse, table: Table, statement: SetLocation) -> Result:
    """Say that the files of a partition, or of a table, are elsewhere; no file is moved.

    Raises:
        PartitionNotFound: there is no such partition.
        DdlRefused: the table is a view, which has no files.
    """
    if statement.spec is None:
        return _set_table_location(store, warehouse, table, statement)
    values = whole_values(table, statement.spec)

    def change() -> None:
        old = store.get_partition(table.database, table.name, values)
        new = replace(old, location=statement.location)
        replaces = None if old.payload is None else [old.payload]
        partition_changes.change_partitions(store, warehouse, table, [new], replaces=replaces)

    with hinting(DdlRefused, _AS_THE_REASON_SAYS):
        store.patience.retry(change, text="other writers kept changing the partition", table=table)
    return Result(statement, changed=1)


def _set_table_location(store: PartitionStore, warehouse: Warehouse, table: Table, statement: SetLocation) -> Result:
    if is_view(table):
        raise DdlRefused("a view has no files", table=table, hint="Name a table")

    def change() -> None:
        old = store.get_table(table.database, table.name)
        serde = old.storage.serde
        if _PATH in serde.parameters:  # by which Spark finds the files of tables that it has created
            parameters = {**serde.parameters, _PATH: warehouse.qualify(statement.location)}
            serde = replace(serde, parameters=parameters)
        new = replace(old, location=statement.location, storage=replace(old.storage, serde=serde))
        tables.change_table(store, warehouse, table.database, table.name, new, replaces=old)

    with hinting(DdlRefused, _AS_THE_REASON_SAYS):
        store.patience.retry(change, text="other writers kept changing the table", table=table)
    return Result(statement)


def exchange_partitions(
    store: PartitionStore, warehouse: Warehouse, table: Table, source: Table, statement: ExchangePartitions
) -> Result:
    """Move partitions and their folders from ``source`` to ``table``, those of all specs at once or none.

    Raises:
        PartitionNotFound: a spec selects none in the source.
        AlreadyExists: the target has one of them, or two specs select one.
        DdlRefused: the tables' columns differ. After all of these nothing was changed.
    """
    to_move: dict[str, None] = {}
    for spec in statement.specs:
        names = selected_names(store, source, conditions_of(source, spec))
        _check_found(source, spec, names)
        twice = to_move.keys() & names
        if twice:
            raise AlreadyExists(
                "the statement selects a partition twice", partition=min(twice), hint="Name each partition once"
            )
        to_move.update(dict.fromkeys(names))
    values = list(map(name_reader(source.partition_column_names), to_move))
    partitions = store.get_partitions(source.database, source.name, values)
    done = partition_changes.exchange_partitions(store, warehouse, source, table, partitions)
    return Result(statement, changed=len(done.partitions), notes=done.left)


def truncate_table(store: PartitionStore, warehouse: Warehouse, table: Table, statement: TruncateTable) -> Result:
    """Delete the files of a table, or of the partitions that a spec selects; the partitions stay.

    Raises:
        PartitionNotFound: the spec selects none.
        DdlRefused: the files are not the table's own: it is external, or a view.
    """
    names = None
    if statement.spec is not None:
        names = selected_names(store, table, conditions_of(table, statement.spec))
        _check_found(table, statement.spec, names)
    with hinting(DdlRefused, _AS_THE_REASON_SAYS):
        changed = truncation.truncate_table(store, warehouse, table, names)
    return Result(statement, changed=changed)


def repair_table(store: PartitionStore, table: Table, statement: RepairTable) -> Result:
    """Add partitions for folders that have none, drop those whose folders are gone, or both: a row for each.

    Raises:
        TableFolderMissing: the table's folder is not there, or is empty where partitions were to be dropped.
    """
    mode: Mode = "drop" if statement.change == "DROP" else "sync" if statement.change == "SYNC" else "add"
    done = sync_partitions(store, str(table), mode, dry_run=statement.dry_run)
    add, drop = ("to add", "to drop") if statement.dry_run else ("added", "dropped")
    rows = [(add, name) for name in done.names(done.add)] + [(drop, name) for name in done.names(done.drop)]
    notes = [f"{one.folder} is not a partition: {one.why}" for one in done.foreign]
    notes += [f"{name} is unchanged, because a job is writing it" for name in done.busy]
    return Result(statement, ("change", "partition"), tuple(rows), done.added + done.dropped, tuple(notes))


def _check_found(table: Table, spec: PartitionSpec, names: Sequence[str]) -> None:
    if not names:
        raise PartitionNotFound(
            "the partition does not exist",
            table=table,
            partition=str(spec),
            hint=f"SHOW PARTITIONS {table} lists the partitions",
        )


def _shown(conditions: Sequence[Condition]) -> str:
    return f"({', '.join(map(str, conditions))})"
