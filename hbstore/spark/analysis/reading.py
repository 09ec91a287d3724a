"""Reading partitions' files to count their rows and sum up their columns: one job, grouped by partition.

Spark lists the folders anew. Files that were not there when they were listed before came in between: their rows are
not counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from hbstore.errors import ReadFailed
from hbstore.model.objects import Table
from hbstore.spark.analysis.columns import NUMBER, ROWS, aggregates, sketch, summaries
from hbstore.spark.analysis.summary import Summary, SummaryColumn
from hbstore.spark.formats import FileFormat, data_schema, readable
from hbstore.spark.frames import local_frame
from hbstore.spark.java_errors import JAVA_ERRORS, root_cause
from hbstore.spark.listed_files import file_column, file_path, listed_files, load_folders, path_namer

_FILE: Final = "hbstore_file"
_DISTINCT_ERROR: Final = "spark.sql.statistics.ndv.maxError"
_READING: Final = re.compile(r"reading file (\S+?)\.(?:\s|$)")


class FolderFiles(NamedTuple):
    """What is read of a partition.

    Attributes:
        name: the partition's.
        location: the folder.
        paths: the files, below the folder.
    """

    name: str
    location: str
    paths: tuple[str, ...]


class FilesRead(NamedTuple):
    """What was read.

    Attributes:
        rows: how many rows each folder's files hold.
        summaries: what is known of its columns, by name.
        sketches: of the distinct values of all folders, for each column; None where there are no rows.
    """

    rows: list[int]
    summaries: list[dict[str, Summary]]
    sketches: tuple[bytes, ...] | None


@dataclass(frozen=True, slots=True)
class FileReading:
    """How files are read.

    Attributes:
        spark: the session.
        table: the table.
        columns: the columns that are summed up; none to count rows.
        with_sketches: whether the distinct values of all partitions together are wanted.
    """

    spark: SparkSession
    table: Table
    columns: Sequence[SummaryColumn]
    with_sketches: bool

    def read(self, form: FileFormat, folders: Sequence[FolderFiles]) -> FilesRead:
        """Read folders of one format. One job over all rows, of as many columns as are summed up.

        Raises:
            ReadFailed: Spark could not read a file, or does not find it.
            FileOperationFailed: the file system of a folder is not available.
        """
        path_of = path_namer(self.spark)
        numbers: dict[str, list[int]] = {}  # a file may be in several folders
        for number, folder in enumerate(folders):
            root = path_of(folder.location)
            for path in folder.paths:
                numbers.setdefault(f"{root}/{path}", []).append(number)
        try:
            aggregated, sketches = self._aggregated(form, folders, numbers)
        except JAVA_ERRORS as error:
            matched = _READING.search(str(error))
            file = "unknown" if matched is None else file_path(matched[1])
            inside = [folders[number].name for number in numbers.get(file, ())[:1]]
            raise ReadFailed(
                "Spark could not read the files of a partition",
                table=self.table,
                partition=inside[0] if inside else "unknown",
                file=file,
                reason=root_cause(error),
                hint="Partitions of earlier batches have their statistics. Repair the file, and analyze the others",
            ) from error
        by_number = {row[NUMBER]: row for row in aggregated}
        rows = [by_number[number][ROWS] if number in by_number else 0 for number in range(len(folders))]
        column_summaries = [
            summaries(by_number[number], self.columns)
            if number in by_number
            else {column.name: Summary() for column in self.columns}
            for number in range(len(folders))
        ]
        return FilesRead(rows, column_summaries, sketches)

    def _aggregated(
        self, form: FileFormat, folders: Sequence[FolderFiles], numbers: Mapping[str, Sequence[int]]
    ) -> tuple[list[Row], tuple[bytes, ...] | None]:
        rows = self._rows(form, folders, numbers)
        error = float(str(self.spark.conf.get(_DISTINCT_ERROR)))
        columns = aggregates(self.columns, error)
        if not (self.columns and self.with_sketches):
            return rows.groupBy(NUMBER).agg(*columns).collect(), None
        names = [f"sketch{at}" for at in range(len(self.columns))]
        made = [sketch(column).alias(name) for column, name in zip(self.columns, names, strict=True)]
        grouped = rows.groupBy(NUMBER).agg(*columns, *made).persist()
        try:
            of_folders = grouped.drop(*names).collect()
            (row,) = grouped.agg(*(f.hll_union_agg(name) for name in names)).collect()
        finally:
            grouped.unpersist()
        return of_folders, None if None in row else tuple(bytes(one) for one in row)

    def _rows(
        self, form: FileFormat, folders: Sequence[FolderFiles], numbers: Mapping[str, Sequence[int]]
    ) -> DataFrame:
        """The rows of the files, with the number of their folder in a further column.

        Raises:
            ReadFailed: Spark does not find one of the files.
        """
        # Folders in folders are looked into, as they are when files are listed, and do not tell partition values.
        data = readable(data_schema(self.table))
        reader = form.reader(self.spark, data).option("recursiveFileLookup", "true")
        frame = load_folders(self.spark, reader, (folder.location for folder in folders))
        listed = listed_files(frame)
        gone = sorted(numbers.keys() - listed)
        if gone:
            raise ReadFailed(
                "Spark does not find a file of a partition",
                table=self.table,
                partition=folders[numbers[gone[0]][0]].name,
                file=gone[0],
                hint="Rename the file if it is there, or leave its partition out with a filter",
            )
        schema = StructType([StructField(_FILE, StringType()), StructField(NUMBER, IntegerType())])
        places = [(listed[path], number) for path, several in numbers.items() for number in several]
        rows = form.rows(frame.withColumn(_FILE, file_column(frame)), data, [_FILE])
        return rows.join(f.broadcast(local_frame(self.spark, places, schema)), _FILE)
