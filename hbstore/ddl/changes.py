"""Statements that change partitions and their files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from hbstore.ddl.asking import ask, files_left, struct
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
    TruncateTable,
)
from hbstore.errors import AlreadyExists, PartitionNotFound
from hbstore.metastore.calls import Service
from hbstore.metastore.exchanges import exchange_found
from hbstore.metastore.partition_names import name_reader
from hbstore.metastore.protocol import GivenPartition
from hbstore.model import Partition, Table
from hbstore.names import partition_name
from hbstore.repair import Mode, sync_partitions

BATCH: Final = 1_000
"""Partitions that are dropped in one change."""


def add_partitions(service: Service, table: Table, statement: AddPartitions) -> Result:
    """Add partitions and make their folders, all or none.

    Raises:
        AlreadyExists: one is there already, unless IF NOT EXISTS.
        InvalidPartitionValue: a spec is not whole, or a value does not fit its column's type.
    """
    given = []
    for one in statement.partitions:
        values = whole_values(table, one.spec)
        check_types(table, values)
        given.append(GivenPartition(table.database, table.name, Partition(values, location=one.location)))
    request = struct(
        "AddPartitionsRequest",
        dbName=table.database,
        tblName=table.name,
        parts=given,
        ifNotExists=statement.if_not_exists,
        needResult=False,
    )
    record = ask(service, "add_partitions_req", request=request)
    return Result(statement, changed=record.noted("partitions"))


def drop_partitions(service: Service, table: Table, statement: DropPartitions) -> Result:
    """Drop the partitions that any of the conjunctions selects, with their files unless the table is external.

    They are found first, then dropped `BATCH` by `BATCH`, each batch wholly or not at all.

    Raises:
        PartitionNotFound: a conjunction selects none, unless IF EXISTS; nothing was dropped.
    """
    found: dict[str, None] = {}
    for conditions in statement.selected:
        names = selected_names(service.store, table, conditions)
        if not names and not statement.if_exists:
            raise PartitionNotFound(
                "the partition does not exist",
                table=table,
                partition=_shown(conditions),
                hint="Nothing was dropped; IF EXISTS skips missing partitions",
            )
        found.update(dict.fromkeys(names))
    dropped = 0
    notes: list[str] = []
    wanted = list(found)
    for begin in range(0, len(wanted), BATCH):
        request = struct(
            "DropPartitionsRequest",
            dbName=table.database,
            tblName=table.name,
            parts=struct("RequestPartsSpec", names=wanted[begin : begin + BATCH]),
            ifExists=True,  # what somebody else dropped meanwhile is dropped
            deleteData=True,
            needResult=False,
            environmentContext=struct("EnvironmentContext", properties={"ifPurge": str(statement.purge).lower()}),
        )
        record = ask(service, "drop_partitions_req", req=request)
        dropped += record.noted("partitions")
        notes += files_left(record)
    return Result(statement, changed=dropped, notes=tuple(notes))


def rename_partition(service: Service, table: Table, statement: RenamePartition) -> Result:
    """Give a partition other values; its folder follows if it is where its old name says.

    Raises:
        PartitionNotFound: there is none of the old values.
        AlreadyExists: there is one of the new values.
    """
    values, renamed = whole_values(table, statement.spec), whole_values(table, statement.renamed)
    check_types(table, renamed)
    old = service.store.get_partition(table.database, table.name, values)
    there = service.store.get_partitions(table.database, table.name, [renamed])
    if there and (there[0].values != old.values or renamed == old.values):
        raise AlreadyExists(
            "a partition already exists",
            table=table,
            partition=partition_name(table.partition_column_names, there[0].values),
            hint="Drop that partition first, or rename to other values",
        )
    new = GivenPartition(table.database, table.name, replace(old, values=renamed))
    ask(service, "rename_partition", db_name=table.database, tbl_name=table.name, part_vals=list(values), new_part=new)
    return Result(statement, changed=1)


def exchange_partitions(service: Service, table: Table, source: Table, statement: ExchangePartitions) -> Result:
    """Move partitions and their folders from ``source`` to ``table``, those of all specs at once or none.

    Raises:
        PartitionNotFound: a spec selects none in the source.
        AlreadyExists: the target has one of them, or two specs select one.
        DdlRefused: the tables' columns differ. After all of these nothing was changed.
    """
    found: dict[str, None] = {}
    for spec in statement.specs:
        names = selected_names(service.store, source, conditions_of(source, spec))
        _check_found(source, spec, names)
        twice = found.keys() & names
        if twice:
            raise AlreadyExists(
                "the statement selects a partition twice", partition=min(twice), hint="Name each partition once"
            )
        found.update(dict.fromkeys(names))
    values = list(map(name_reader(source), found))
    partitions = service.store.get_partitions(source.database, source.name, values)
    done = exchange_found(service, source, table, partitions)
    return Result(statement, changed=len(done.partitions), notes=done.left)


def truncate_table(service: Service, table: Table, statement: TruncateTable) -> Result:
    """Delete the files of a table, or of the partitions that a spec selects; the partitions stay.

    Raises:
        PartitionNotFound: the spec selects none.
        DdlRefused: the files are not the table's own: it is external, or a view.
    """
    names = None
    if statement.spec is not None:
        names = selected_names(service.store, table, conditions_of(table, statement.spec))
        _check_found(table, statement.spec, names)
    record = ask(service, "truncate_table", dbName=table.database, tableName=table.name, partNames=names)
    return Result(statement, changed=record.noted("partitions"))


def repair_table(service: Service, table: Table, statement: RepairTable) -> Result:
    """Add partitions for folders that have none, drop those whose folders are gone, or both: a row for each.

    Raises:
        TableFolderMissing: the table's folder is not there, or is empty where partitions were to be dropped.
    """
    mode: Mode = "drop" if statement.change == "DROP" else "sync" if statement.change == "SYNC" else "add"
    done = sync_partitions(service.store, str(table), mode)
    rows = [("added", name) for name in done.names(done.add)] + [("dropped", name) for name in done.names(done.drop)]
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
