"""What files partitions have, and how many rows those say that they hold: looked at by tasks."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, NamedTuple

from pyspark.sql import SparkSession

from hbstore.files.warehouse import Warehouse
from hbstore.spark.footers import row_counts, total
from hbstore.spark.tasks import dealt, number_of_slices, run_tasks

_AT_ONCE: Final = 8


class Place(NamedTuple):
    """Where a partition's files are.

    Attributes:
        location: the folder.
        form: the format of the files.
        footers: whether they are asked how many rows they hold.
    """

    location: str
    form: str
    footers: bool


@dataclass(frozen=True, slots=True)
class PartitionFiles:
    """The files of a partition.

    Attributes:
        found: paths below the folder and bytes, sorted; None if the folder is not there.
        rows: how many rows they hold together; None if they do not say, or were not asked.
    """

    found: tuple[tuple[str, int], ...] | None
    rows: int | None

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.found or ())

    @property
    def size(self) -> int:
        """Their bytes."""
        return sum(size for _, size in self.found or ())


def files_of(spark: SparkSession, places: Sequence[Place]) -> list[PartitionFiles]:
    """The files of partitions, in their order. O(files), over all cores.

    Files and folders whose names begin with ``_`` or ``.`` are left out, as by Hive; an empty file holds no rows.

    Raises:
        FileOperationFailed: a folder cannot be listed.
    """
    work = dealt(places, number_of_slices(spark, None))
    looked = run_tasks(spark, _look, work)
    return [looked[at % len(work)][at // len(work)] for at in range(len(places))]


def _look(places: list[Place]) -> list[PartitionFiles]:
    warehouse = Warehouse(places[0].location)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        listed = list(pool.map(lambda one: warehouse.data_files(one.location), places))
    found = [None if files is None else tuple(sorted(files)) for files in listed]
    return [PartitionFiles(files, rows) for files, rows in zip(found, _rows(places, found), strict=True)]


def _rows(places: Sequence[Place], listed: Sequence[tuple[tuple[str, int], ...] | None]) -> list[int | None]:
    """The rows of each partition's files, of which all of one format are asked at once."""
    paths: dict[str, list[str]] = {}
    for place, files in zip(places, listed, strict=True):
        if place.footers:
            root = place.location.rstrip("/")
            paths.setdefault(place.form, []).extend(f"{root}/{path}" for path, size in files or () if size)
    said = {form: iter(row_counts(form, locations)) for form, locations in paths.items()}
    rows: list[int | None] = []
    for place, files in zip(places, listed, strict=True):
        if place.footers:
            rows.append(total([next(said[place.form]) if size else 0 for _, size in files or ()]))
        else:
            rows.append(None)
    return rows
