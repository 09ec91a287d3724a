"""Staging: Spark writes files where nobody looks, and they are listed by partition."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from hbstore.errors import FileOperationFailed, WriteFailed
from hbstore.files.warehouse import Warehouse
from hbstore.names import parse_partition_name
from hbstore.spark.footers import row_counts
from hbstore.spark.write_plan import WritePlan

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
    conf = frame.sparkSession.conf
    before = conf.get(_CONCURRENT_WRITERS, None)
    if plan.writer == "ungrouped":
        conf.set(_CONCURRENT_WRITERS, _MANY)
    writer = frame.write.format(plan.form.name).options(**plan.form.options)
    try:
        (writer.partitionBy(*plan.dynamic) if plan.dynamic else writer).save(folder)
    except (PySparkException, Py4JError) as error:
        raise WriteFailed(
            "Spark could not write the files",
            table=plan.table,
            reason=_reason(error),
            hint="Nothing was changed; write again when that is mended",
        ) from error
    finally:
        if plan.writer == "ungrouped":
            conf.unset(_CONCURRENT_WRITERS) if before is None else conf.set(_CONCURRENT_WRITERS, before)


def listed(warehouse: Warehouse, plan: WritePlan, folder: str) -> list[Staged]:
    """The staged files by partition, in the order of the partitions' names."""
    by_folder: dict[str, list[tuple[str, int]]] = {}
    for path, size in sorted(warehouse.data_files(folder) or []):
        by_folder.setdefault(path.rpartition("/")[0], []).append((path, size))
    paths = [path for files in by_folder.values() for path, _ in files]
    rows = dict(zip(paths, row_counts(plan.form.name, [f"{folder}/{path}" for path in paths]), strict=True))
    found = []
    for name, files in by_folder.items():
        counts = [rows[path] for path, _ in files]
        known = [count for count in counts if count is not None]
        found.append(
            Staged(
                plan.values(parse_partition_name(name) if name else {}),
                tuple(files),
                sum(known) if len(known) == len(counts) else None,
            )
        )
    return found


def remove(warehouse: Warehouse, staging: str, root: str) -> None:
    """Remove what was staged; what cannot be removed harms nobody."""
    with suppress(FileOperationFailed):
        warehouse.delete(staging, inside=[root], purge=True)


def _reason(error: Exception) -> str:
    """What went wrong at the bottom of a chain of Java exceptions."""
    causes = [line for line in str(error).splitlines() if line.startswith("Caused by: ")]
    text = causes[-1].removeprefix("Caused by: ") if causes else str(error).strip().partition("\n")[0]
    return text[:500]
