"""Repairing a table's partitions by a Spark job: the folders below the table's own are listed by its tasks.

The driver lists the first levels, until there are enough folders for all tasks, and the tasks what is below. They need
no store: what the folders and the partitions say of each other is decided in the driver, by `hbstore.repair`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, NamedTuple, TypeVar

from pyspark.sql import SparkSession

from hbstore.errors import HbstoreError, InvalidInput
from hbstore.repair import Mode, Repair, Threads, Walked
from hbstore.repair import sync_partitions as sync_with
from hbstore.repair.listing import Told, walk
from hbstore.repair.shape import ROOT, Folder, Shape
from hbstore.repair.sync import BATCH, Progress
from hbstore.store.partition_store import PartitionStore, connect

T = TypeVar("T")
_SLICES_FOR_EACH_CORE: Final = 4
"""Folders hold as many others as they happen to: several slices for each core even that out."""

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
        InvalidInput: there are to be no slices; or as `hbstore.repair.sync_partitions` does.
        TableFolderMissing, FileOperationFailed: as there.
    """
    if slices is not None and slices < 1:
        raise InvalidInput("a job has at least one slice", slices=slices)
    if isinstance(store, str):
        with connect(store, create=False) as opened:
            return sync_partitions(
                spark,
                opened,
                table,
                mode,
                spec=spec,
                dry_run=dry_run,
                force=force,
                batch=batch,
                slices=slices,
                progress=progress,
            )
    explorer = _Tasks(spark, slices or _SLICES_FOR_EACH_CORE * spark.sparkContext.defaultParallelism)
    return sync_with(
        store, table, mode, spec=spec, dry_run=dry_run, force=force, batch=batch, explorer=explorer, progress=progress
    )


class _Outcome(NamedTuple):
    """What a task gives back; an error as a value, as Spark would run it again and show it in the midst of its own."""

    walked: Walked = Walked([], [])
    gone: frozenset[str] = frozenset()
    error: HbstoreError | None = None


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
        outcomes = self._run(_List(location, shape), above.folders)
        folders = list(chain.from_iterable(one.walked.folders for one in outcomes))
        told(len(folders))
        return Walked(folders, [*above.foreign, *chain.from_iterable(one.walked.foreign for one in outcomes)])

    def gone(self, locations: Sequence[str]) -> set[str]:
        """See `Explorer.gone`."""
        if len(locations) <= _FEW:
            return Threads().gone(locations)
        return set(chain.from_iterable(one.gone for one in self._run(_look, locations)))

    def _run(self, task: Callable[[list[T]], _Outcome], work: Sequence[T]) -> list[_Outcome]:
        """Deal the work out to the tasks one by one, as what stands together often takes alike long."""
        number = min(self.slices, len(work))
        if not number:
            return []
        dealt = [list(work[at::number]) for at in range(number)]
        outcomes = self.spark.sparkContext.parallelize(dealt, number).map(task).collect()
        for one in outcomes:
            if one.error is not None:
                raise one.error
        return outcomes


@dataclass(frozen=True, slots=True)
class _List:
    """Lists what is below some folders of one level."""

    location: str
    shape: Shape

    def __call__(self, folders: list[Folder]) -> _Outcome:
        try:
            return _Outcome(walk(self.location, self.shape, folders))
        except HbstoreError as error:
            return _Outcome(error=_portable(error))


def _look(locations: list[str]) -> _Outcome:
    """Tell which locations are gone."""
    try:
        return _Outcome(gone=frozenset(Threads().gone(locations)))
    except HbstoreError as error:
        return _Outcome(error=_portable(error))


def _portable(error: HbstoreError) -> HbstoreError:
    """The error with texts as fields, as the exception of a file system's library may not be pickled."""
    return type(error)(error.text, hint=error.hint, **{name: str(value) for name, value in error.fields.items()})
