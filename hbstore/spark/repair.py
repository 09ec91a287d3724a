"""Repairing a table's partitions by a Spark job: the folders below the table's own are listed by its tasks.

The driver lists the first levels, until there are enough folders for all tasks, and the tasks what is below. They need
no store: what the folders and the partitions say of each other is decided in the driver, by `hbstore.repair`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from pyspark.sql import SparkSession

from hbstore.repair import Mode, Repair, Threads, Walked
from hbstore.repair import sync_partitions as sync_with
from hbstore.repair.listing import Told, walk
from hbstore.repair.shape import ROOT, Folder, Shape
from hbstore.repair.sync import BATCH, Progress
from hbstore.spark.arguments import check_arguments
from hbstore.spark.opening import opened
from hbstore.spark.tasks import dealt, number_of_slices, run_tasks
from hbstore.store.partition_store import PartitionStore

_FEW: Final = 1000
"""Locations that the driver looks at by itself, as a job takes longer."""


def sync_partitions(
    spark: SparkSession,
    store: PartitionStore | str,
    table: str,
    mode: Mode = "add",
    *,
    spec: Mapping[str, str] | None = None,
    dry_run: bool = False,
    force: bool = False,
    batch: int = BATCH,
    slices: int | None = None,
    progress: Progress = lambda *_: None,
) -> Repair:
    """As `hbstore.repair.sync_partitions`, with the folders listed in parallel. O(folders), over all cores.

    A machine that runs tasks must have hbstore installed and must reach the files, but not the store.

    Args:
        spark: where the job runs.
        store: a store, or its URL.
        table: ``database.table``.
        mode: ``add``, ``drop`` or ``sync``, which is both.
        spec: only partitions with these values; columns may be left out.
        dry_run: change nothing.
        force: drop partitions even if the table's own folder is missing or empty.
        batch: how many partitions are added or dropped at once.
        slices: how many tasks at most; by default four for each core.
        progress: is told how it gets on.

    Raises:
        InvalidInput: an argument is of another type; there are to be no slices; or as `hbstore.repair.sync_partitions`
            does.
        TableFolderMissing, FileOperationFailed: as there.

    >>> dropped = store.table("shop.sales").drop([("2013-01-02", "5")])  # its folder stays
    >>> sync_partitions(spark, store, "shop.sales").added
    1
    """
    check_arguments(
        spark=spark,
        store=store,
        table=table,
        spec=spec,
        dry_run=dry_run,
        force=force,
        batch=batch,
        slices=slices,
        progress=progress,
    )
    number = number_of_slices(spark, slices)
    with opened(store) as given:
        return sync_with(
            given,
            table,
            mode,
            spec=spec,
            dry_run=dry_run,
            force=force,
            batch=batch,
            explorer=_Tasks(spark, number),
            progress=progress,
        )


@dataclass(frozen=True, slots=True)
class _Tasks:
    """An `Explorer` whose work is done by tasks.

    Attributes:
        spark: where.
        slices: how many there are at most.
    """

    spark: SparkSession
    slices: int

    def walk(self, location: str, shape: Shape, told: Told) -> Walked:
        """See `Explorer.walk`."""
        above = walk(location, shape, [ROOT], told, enough=self.slices)
        walked = run_tasks(self.spark, _List(location, shape), dealt(above.folders, self.slices))
        folders = list(chain.from_iterable(one.folders for one in walked))
        told(len(folders))
        return Walked(folders, [*above.foreign, *chain.from_iterable(one.foreign for one in walked)])

    def gone(self, locations: Sequence[str]) -> set[str]:
        """See `Explorer.gone`."""
        if len(locations) <= _FEW:
            return Threads().gone(locations)
        return set(chain.from_iterable(run_tasks(self.spark, _gone, dealt(locations, self.slices))))


@dataclass(frozen=True, slots=True)
class _List:
    """Lists what is below some folders of one level."""

    location: str
    shape: Shape

    def __call__(self, folders: list[Folder]) -> Walked:
        return walk(self.location, self.shape, folders)


def _gone(locations: list[str]) -> set[str]:
    return Threads().gone(locations)
