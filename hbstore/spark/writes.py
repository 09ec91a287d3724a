"""Writing a DataFrame into a table's partitions: files and partitions are seen together, or not at all.

Spark writes the files into a staging folder of the table. The driver then publishes them (`hbstore.publishing`): a job
that dies leaves the table as it was, or the next reader or writer of the table finishes it.

Three ways to write follow the number of partitions that a task has open. With values for all partition columns there
is one partition, and each task writes one file (*single*). Else rows are sorted by the partition columns in each task,
which has one file open at a time (*grouped*), or a task keeps a file open for each partition that it meets, which saves
the sort and takes memory (*ungrouped*).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from pyspark.sql import DataFrame

from hbstore.errors import InvalidInput, InvalidPartitionValue, hinting
from hbstore.files.warehouse import Warehouse
from hbstore.filters.builder import spec_filter
from hbstore.keys.partition_names import partition_name, table_name
from hbstore.model.objects import Partition
from hbstore.publishing.manifest import STAGING, hidden_name, new_publication_id
from hbstore.publishing.publisher import Publisher
from hbstore.publishing.removal import file_names, holds_table
from hbstore.spark.arguments import check_arguments
from hbstore.spark.footers import total
from hbstore.spark.opening import opened
from hbstore.spark.staging import Staged, listed, remove_unless_open, stage
from hbstore.spark.write_plan import WritePlan, Writer
from hbstore.store.manifest import Manifest, PartitionWrite
from hbstore.store.partition_store import PartitionStore
from hbstore.store.puts import cells_of, partition_key
from hbstore.store.stream_batches import StreamBatch
from hbstore.store.table_row import TableRow
from hbstore.store.writer import partitioned
from hbstore.texts.wording import plural

Mode: TypeAlias = Literal["append", "overwrite"]
Overwrite: TypeAlias = Literal["dynamic", "static"]


@dataclass(frozen=True, slots=True, repr=False)
class Written:
    """What a job wrote.

    Attributes:
        partitions: the names of the partitions that got files, as the store has them, sorted.
        dropped: the names of those that were overwritten by nothing.
        files: how many files were written.
        size: their bytes.
        rows: how many rows they hold; None for formats whose files do not say.
    """

    partitions: tuple[str, ...]
    dropped: tuple[str, ...]
    files: int
    size: int
    rows: int | None

    def __repr__(self) -> str:
        rows = "" if self.rows is None else f", {plural(self.rows, 'row')}"
        partitions = f"{plural(len(self.partitions), 'partition')}, {len(self.dropped):,} dropped"
        return f"<Written: {partitions}, {plural(self.files, 'file')}, {plural(self.size, 'byte')}{rows}>"


def write_table(
    frame: DataFrame,
    store: PartitionStore | str,
    table: str,
    mode: Mode = "append",
    static: Mapping[str, object] | None = None,
    *,
    overwrite: Overwrite = "dynamic",
    writer: Writer | None = None,
    parameters: Mapping[str, str] | None = None,
) -> Written:
    """Write rows into a table's partitions, in the table's format.

    Args:
        frame: the rows: the table's columns, and those of its partition columns that are not in ``static``, by name.
        store: a store, or its URL.
        table: ``database.table``; it must have a location.
        mode: add to what is there, or replace it.
        static: values for some or all partition columns, as text or as Python has them; None is the null partition.
        overwrite: what mode "overwrite" replaces: the partitions that get rows ("dynamic"), or all that match the
            static values ("static").
        writer: "single", "grouped" or "ungrouped"; by default single where all partition columns are static, else
            grouped.
        parameters: for the partitions, such as their update period.

    Raises:
        InvalidInput: an argument is of another type; there is no such mode; a column is missing, unknown, or of a type
            that does not fit; the table has no location, or does not say in which format its files are; the files of a
            partition that would be replaced are those of the whole table.
        InvalidPartitionValue, InvalidTime: a partition column's values do not fit; nothing was changed.
        WriteConflict: another job is writing one of the partitions; nothing was changed.
        WriteFailed: Spark could not write the files, such as on a full disk; nothing was changed.
        ConcurrentChange: the table was given another location meanwhile; nothing was changed.
        CommitStateUnknown: it is decided, or may be, and could not be shown; the next process does that.

    >>> more = spark.createDataFrame([(4.0, "2013-01-03", 7)], "amount double, ds string, hour int")
    >>> write_table(more, store, "shop.sales").partitions
    ('ds=2013-01-03/hour=7',)
    """
    check_arguments(frame=frame, store=store, table=table, static=static, writer=writer, parameters=parameters)
    if mode not in get_args(Mode) or overwrite not in get_args(Overwrite):
        raise InvalidInput(
            "the mode of writing is unknown",
            mode=mode,
            overwrite=overwrite,
            hint='Use mode "append" or "overwrite", and overwrite "dynamic" or "static"',
        )
    with opened(store) as open_store:
        database, name = table_name(table)
        publisher = Publisher(open_store)
        publisher.recover_before_write(table)
        row = open_store.publications.row(database, name)
        plan = WritePlan.of(partitioned(row.table), static or {}, writer)
        publication = new_publication_id()
        warehouse = Warehouse(plan.root)
        staging = f"{plan.root}/{STAGING}/{publication}"
        try:
            stage(plan.arranged(frame), plan, f"{staging}/data")
            staged = listed(warehouse, plan, f"{staging}/data")
            for one in staged:
                check_values(row, one.values, parameters or {})
            there = partitions_there(
                open_store, row, plan, staged, everything=mode == "overwrite" and overwrite == "static"
            )
            job = WriteJob(row, plan, publication, staging, mode, dict(parameters or {}))
            manifest, moves = job.manifest(warehouse, staged, there)
            if manifest.partitions:
                publisher.publish(table, manifest, moves)
        finally:
            remove_unless_open(publisher, row, publication, staging)
        return summary(plan, manifest, staged)


@dataclass(frozen=True, slots=True)
class WriteJob:
    """What a job is to do with the files that it has staged.

    Attributes:
        row: the table.
        plan: what is written where.
        publication: the id of its publication.
        staging: the folder in whose folder ``data`` the files are.
        mode: whether they are added or replace others.
        parameters: for the partitions.
        batch: the batch of a stream that it is; None for others.
    """

    row: TableRow
    plan: WritePlan
    publication: str
    staging: str
    mode: Mode
    parameters: Mapping[str, str]
    batch: StreamBatch | None = None

    def manifest(
        self, warehouse: Warehouse, staged: Sequence[Staged], existing: Mapping[bytes, Partition]
    ) -> tuple[Manifest, dict[str, str]]:
        """What is to be published, and where each staged file goes first.

        Raises:
            InvalidInput: files of other partitions would be replaced.
        """
        writes = []
        moves = {}
        hides = warehouse.renames(self.staging)
        got = set()
        number = 0
        for staged_partition in staged:
            key = partition_key(self.row, staged_partition.values)
            got.add(key)
            partition = existing.get(key)
            values = staged_partition.values if partition is None else partition.values
            location = self._location(values, partition)
            files = {}
            for path, _ in staged_partition.files:
                shown = path.rpartition("/")[2]
                if not hides:
                    files[f"data/{path}"] = shown
                    continue
                hidden = hidden_name(self.publication, number)
                number += 1
                files[hidden] = shown
                moves[f"{self.staging}/data/{path}"] = f"{location}/{hidden}"
            append = self.mode == "append"
            if not append and holds_table(self.row.table, location):
                raise InvalidInput(
                    "the files of a partition that would be replaced are the files of the whole table",
                    table=self.row.table,
                    location=location,
                    hint="Nothing was changed. Give the partition another location",
                )
            replaced = () if append else _names(warehouse, location)
            statistics = {
                "numFiles": len(staged_partition.files),
                "totalSize": sum(size for _, size in staged_partition.files),
            }
            if staged_partition.rows is not None:
                statistics["numRows"] = staged_partition.rows
            writes.append(PartitionWrite(values, location, files, replaced, append, statistics, dict(self.parameters)))
        gone = [partition for key, partition in existing.items() if key not in got]
        places = [self._location(partition.values, partition) for partition in gone]
        for partition, place, names in zip(gone, places, file_names(warehouse, places), strict=True):
            own = () if holds_table(self.row.table, place) else names
            writes.append(PartitionWrite(partition.values, place, replaced=own, drop=True))
        written = tuple(writes)
        return Manifest(self.publication, self.staging, written, self.batch, hidden=hides, names_drops=True), moves

    def _location(self, values: tuple[str, ...], known: Partition | None) -> str:
        if known is not None and known.location:
            return known.location.rstrip("/")
        return f"{self.plan.root}/{partition_name(self.row.table.partition_column_names, values)}"


def partitions_there(
    store: PartitionStore, row: TableRow, plan: WritePlan, staged: Sequence[Staged], *, everything: bool = False
) -> dict[bytes, Partition]:
    """The partitions that get rows and are there, by key; with ``everything``, all that match the static values."""
    database, name = row.table.database, row.table.name
    if not everything:
        partitions = store.get_partitions(database, name, [staged_partition.values for staged_partition in staged])
    elif (where := spec_filter(plan.static)) is not None:
        partitions = store.get_partitions_by_expr(database, name, where)
    else:
        partitions = store.get_partitions_by_filter(database, name, None)
    return {partition_key(row, partition.values): partition for partition in partitions}


def check_values(row: TableRow, values: tuple[str, ...], parameters: Mapping[str, str]) -> None:
    """Refuse values that the store would refuse once the publication is decided."""
    with hinting(InvalidPartitionValue, "Nothing was changed. Correct the rows"):
        cells = cells_of(row.definition, values, "reject")
    columns = row.definition.time_columns
    if columns is not None:
        columns.times(cells, parameters)


def _names(warehouse: Warehouse, folder: str) -> tuple[str, ...]:
    return tuple(name for name, _ in warehouse.data_files(folder) or [])


def summary(plan: WritePlan, manifest: Manifest, staged: Sequence[Staged]) -> Written:
    """What a job wrote."""
    columns = plan.table.partition_column_names
    return Written(
        tuple(sorted(partition_name(columns, one.values) for one in manifest.partitions if not one.drop)),
        tuple(sorted(partition_name(columns, one.values) for one in manifest.partitions if one.drop)),
        sum(len(one.files) for one in staged),
        sum(size for one in staged for _, size in one.files),
        total([one.rows for one in staged]),
    )
