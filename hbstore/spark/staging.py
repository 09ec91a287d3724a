"""Staging: Spark writes files where nobody looks, and they are listed by partition."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame

from hbstore.errors import FileOperationFailed, HbstoreError, WriteFailed
from hbstore.files.warehouse import Warehouse
from hbstore.keys.partition_names import parse_partition_name
from hbstore.publishing.manifest import warehouse_of
from hbstore.publishing.publisher import Publisher
from hbstore.spark.footers import row_counts, total
from hbstore.spark.java_errors import JAVA_ERRORS, root_cause
from hbstore.spark.settings import changed_setting
from hbstore.spark.write_plan import WritePlan
from hbstore.store.table_row import TableRow

_CONCURRENT_WRITERS: Final = "spark.sql.maxConcurrentOutputFileWriters"
_MANY: Final = "100000"


@dataclass(frozen=True, slots=True)
class Staged:
    """Files of one partition.

    Attributes:
        values: the partition's.
        files: paths below the staging folder, with their bytes.
        rows: how many rows they hold; None where the files do not say.
    """

    values: tuple[str, ...]
    files: tuple[tuple[str, int], ...]
    rows: int | None


def stage(frame: DataFrame, plan: WritePlan, folder: str) -> None:
    """Have Spark write the files.

    Raises:
        WriteFailed: it could not.
    """
    writer = plan.form.written(frame, plan.data, plan.dynamic)
    at_once = _MANY if plan.writer == "ungrouped" else 0  # a session may have set a number that nobody asked for here
    try:
        with changed_setting(frame.sparkSession, _CONCURRENT_WRITERS, at_once):
            writer.save(folder)
    except JAVA_ERRORS as error:
        raise WriteFailed(
            "Spark could not write the files",
            table=plan.table,
            reason=root_cause(error),
            hint="Nothing was changed; write again when the reason is corrected",
        ) from error


def listed(warehouse: Warehouse, plan: WritePlan, folder: str) -> list[Staged]:
    """The staged files by partition, in the order of the partitions' names."""
    by_folder: dict[str, list[tuple[str, int]]] = {}
    for path, size in sorted(warehouse.data_files(folder) or []):
        by_folder.setdefault(path.rpartition("/")[0], []).append((path, size))
    paths = [path for files in by_folder.values() for path, _ in files]
    rows = dict(zip(paths, row_counts(plan.form.name, [f"{folder}/{path}" for path in paths]), strict=True))
    found = []
    for name, files in by_folder.items():
        values = plan.values(parse_partition_name(name) if name else {})
        found.append(Staged(values, tuple(files), total([rows[path] for path, _ in files])))
    return found


def remove(warehouse: Warehouse, staging: str, root: str) -> None:
    """Remove what was staged; what cannot be removed harms nobody."""
    with suppress(FileOperationFailed):
        warehouse.delete(staging, inside=[root], purge=True)


def remove_unless_open(publisher: Publisher, row: TableRow, publication: str, staging: str) -> None:
    """Remove what was staged for a publication, unless that is open: then what finishes it, or gives it up, does so."""
    with suppress(HbstoreError):  # a store that does not answer may have decided it
        if not publisher.is_open(row, publication):
            remove(warehouse_of(row), staging, staging)
