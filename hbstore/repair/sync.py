"""sync_partitions: a table's partitions are added and dropped until they are those of its folders.

The store is read first, then the folders, then which partitions jobs are writing. So a partition that is added in
between is never taken for one whose folder is gone, and a folder that a job prepares is known to be the job's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Final, TypeAlias

from hbstore.errors import InvalidInput, TableFolderMissing
from hbstore.files.warehouse import Warehouse
from hbstore.filters.builder import spec_filter
from hbstore.keys.partition_names import table_name
from hbstore.model.objects import Partition, Table
from hbstore.publishing.publisher import Publisher
from hbstore.repair.comparison import MODES, Cells, Mode, Repair, compared, unseen
from hbstore.repair.listing import Walked, gone, is_file, is_gone, walk
from hbstore.repair.shape import Shape
from hbstore.repair.staging import remove_staging, unnamed_staging
from hbstore.store.manifest import Manifest
from hbstore.store.partition_store import PartitionStore
from hbstore.store.puts import cells_of
from hbstore.store.table_row import TableRow
from hbstore.store.table_step import TableStep
from hbstore.store.writer import partitioned
from hbstore.texts.arguments import expect, expect_choice, expect_dict, expect_flags, expect_numbers

Progress: TypeAlias = Callable[[str, int, int | None], object]
"""Is told a step (``list``, ``drop``, ``add``), how much of it is done, and of how much, if that is known."""

BATCH: Final = 1000


def sync_partitions(
    store: PartitionStore,
    table: str,
    mode: Mode = "add",
    *,
    spec: Mapping[str, str] | None = None,
    dry_run: bool = False,
    force: bool = False,
    batch: int = BATCH,
    progress: Progress = lambda *_: None,
) -> Repair:
    """Add partitions for folders below a table's own, and drop those whose folders are gone. O(folders + partitions).

    Batches are added and dropped wholly or not at all. When the call is interrupted, calling it again does the rest;
    when there is nothing left to do it changes nothing. Publications that are decided are finished first, and what they
    are writing is left alone.

    Args:
        store: the store.
        table: ``database.table``.
        mode: ``add``, ``drop`` or ``sync``, which is both.
        spec: only partitions with these values; columns may be left out.
        dry_run: change nothing.
        force: drop partitions even if the table's own folder is missing or empty, which may be a disk that is away.
        batch: how many partitions are added or dropped at once.
        progress: is told how it gets on.

    Raises:
        InvalidInput: no such name or mode; the table has no location.
        TableNotFound, DatabaseNotFound, TableNotPartitioned: there is no such partitioned table.
        InvalidPartitionValue: the spec names no partition column, or a value that does not fit its type.
        TableFolderMissing: the table's folder does not exist, or a file, or empty where partitions were to be dropped.
        FileOperationFailed: a folder cannot be looked at; nothing was added or dropped.

    >>> import os, tempfile
    >>> from dataclasses import replace
    >>> root = tempfile.mkdtemp()
    >>> os.makedirs(f"{root}/ds=2013-01-01/hour=5")
    >>> store.create_table(replace(sales.definition, name="local", location=root))
    >>> sync_partitions(store, "shop.local").added
    1
    >>> store.partition_names("shop", "local")
    ['ds=2013-01-01/hour=5']
    """
    database, name = table_name(table)
    expect("store", store, PartitionStore, hint='Give an open store: hbstore.connect("sqlite://shop.db")')
    expect_choice("mode", mode, *MODES)
    expect_flags(dry_run=dry_run, force=force)
    expect_numbers(batch=batch)
    if spec is not None:
        expect_dict("spec", spec, str, hint='Give a dict, such as {"ds": "2013-01-01"}')
    if batch < 1:
        raise InvalidInput(
            "a batch must hold at least one partition", batch=batch, hint="Use batch=1000, or leave it out"
        )
    described = partitioned(store.get_table(database, name))
    location = _location(described)
    shape = Shape.of(described, spec)
    _check_folder(store, described, location, dry_run=dry_run, force=force)
    if not dry_run:
        Publisher(store).recover(f"{database}.{name}")
    partitions = store.get_partitions_by_expr(database, name, spec_filter(spec or {}))
    walked = walk(location, shape, lambda done: progress("list", done, None))
    lost = gone(unseen(described, walked, partitions)) if mode != "add" else set[str]()
    row = store.publications.row(database, name)
    compare = partial(compared, described, walked, partitions, mode=mode, gone=lost, busy=_busy(store, row))
    repair = compare()
    if spec and repair.add:  # a folder may hold the files of a partition that the spec leaves out
        repair = compare(others=store.get_partitions_by_filter(database, name, None))
    if not force and repair.drop and _is_empty(location, walked):
        raise TableFolderMissing(
            "the table's folder is empty, and partitions would be dropped",
            table=described,
            location=location,
            partitions=len(repair.drop),
            hint="Check that its disk is mounted; force=True (--force) drops them",
        )
    staging = unnamed_staging(location, {one.id for one in store.publications.of(row)})
    repair = replace(repair, staging=tuple(staging))
    if dry_run:
        return repair
    dropped = added = 0
    for some in _batches(repair.drop, batch):
        dropped += _drop(store, database, name, some)
        progress("drop", dropped, len(repair.drop))
    for some in _batches(repair.add, batch):
        # Texts that no engine reads as a value were foreign.
        added += store.add_partitions(
            database, name, some, if_not_exists=True, invalid_values="keep", same_as=described
        )
        progress("add", added, len(repair.add))
    remove_staging(location, staging)
    return replace(repair, added=added, dropped=dropped)


def _location(table: Table) -> str:
    if not table.location:
        raise InvalidInput("the table has no location", table=table, hint="Give the table a location")
    return table.location.rstrip("/")


def _check_folder(store: PartitionStore, table: Table, location: str, *, dry_run: bool, force: bool) -> None:
    """See that a table's folder is there.

    Raises:
        TableFolderMissing: it is not, or is a file.
    """
    if not dry_run and is_gone(location):  # a rename that died may have moved it
        Publisher(store).roll_forward_before_use(store.publications.row(table.database, table.name))
    if not force and is_gone(location):
        raise TableFolderMissing(
            "the table's folder does not exist",
            table=table,
            location=location,
            hint="Check that its disk is mounted; force=True (--force) drops all partitions below it",
        )
    if is_file(location):
        raise TableFolderMissing(
            "the table's location is a file",
            table=table,
            location=location,
            hint="Change the table's location, or move the file",
        )


def _is_empty(location: str, walked: Walked) -> bool:
    return not (walked.folders or walked.foreign) and Warehouse(location).is_empty(location)


def _busy(store: PartitionStore, row: TableRow) -> set[Cells]:
    """The partitions that jobs are writing."""
    busy = set()
    for one in store.publications.of(row):
        data = store.publications.manifest(row, one.id)
        if data is not None:
            busy |= {cells_of(row.definition, write.values, "keep") for write in Manifest.decode(data).partitions}
    return busy


def _drop(store: PartitionStore, database: str, table: str, some: Sequence[Partition]) -> int:
    """Drop those of some partitions that are still what they were; how many."""
    before = {partition.values: partition.payload for partition in some}

    def drop(step: TableStep) -> int:
        left = [now for now in step.partitions(list(before)) if now.payload == before[now.values]]
        step.change(drop=left)
        return len(left)

    return store.change(f"{database}.{table}", drop)


def _batches(partitions: Sequence[Partition], size: int) -> Iterator[list[Partition]]:
    remaining = iter(partitions)
    while some := list(islice(remaining, size)):
        yield some
