"""Reading partitions' files to count their rows and sum up their columns: one job, grouped by partition.

Spark lists the folders and says of each row which file it is from. The files' texts are matched with those that were
listed before, so that rows of others, which came in between, are not counted.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from hbstore.errors import FileOperationFailed, ReadFailed
from hbstore.files.locations import LOCAL, Location, parse_location
from hbstore.model import Table
from hbstore.spark.analysis.columns import NUMBER, ROWS, aggregates, sketch, summaries
from hbstore.spark.analysis.summary import Summary, SummaryColumn
from hbstore.spark.formats import FileFormat, data_schema, readable
from hbstore.spark.frames import local_frame
from hbstore.spark.hadoop import hadoop_path, plain_paths
from hbstore.spark.java_errors import JAVA_ERRORS, root_cause
from hbstore.spark.settings import changed_setting
from hbstore.spark.tasks import number_of_slices

_PATH: Final = "hbstore_path"
_DISTINCT_ERROR: Final = "spark.sql.statistics.ndv.maxError"
_LISTING_TASKS: Final = "spark.sql.sources.parallelPartitionDiscovery.parallelism"
_PERHAPS_QUOTED: Final = re.compile(r"[^\w/\-.!~'()*,;:$&+=@]")
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
            ReadFailed: Spark could not read a file.
        """
        try:
            found, sketches = self._aggregated(form, folders)
        except JAVA_ERRORS as error:
            raise self._failed(error, folders) from error
        by_number = {row[NUMBER]: row for row in found}
        if None in by_number:
            self._check_strangers(form, folders)
        rows = [by_number[number][ROWS] if number in by_number else 0 for number in range(len(folders))]
        column_summaries = [
            summaries(by_number[number], self.columns)
            if number in by_number
            else {column.name: Summary() for column in self.columns}
            for number in range(len(folders))
        ]
        return FilesRead(rows, column_summaries, sketches)

    def _aggregated(
        self, form: FileFormat, folders: Sequence[FolderFiles]
    ) -> tuple[list[Row], tuple[bytes, ...] | None]:
        numbered = self._frame(form, folders).join(f.broadcast(self._places(folders)), _PATH, "left")
        error = float(str(self.spark.conf.get(_DISTINCT_ERROR)))
        columns = aggregates(self.columns, error)
        if not (self.columns and self.with_sketches):
            return numbered.groupBy(NUMBER).agg(*columns).collect(), None
        names = [f"sketch{at}" for at in range(len(self.columns))]
        made = [sketch(column).alias(name) for column, name in zip(self.columns, names, strict=True)]
        grouped = numbered.groupBy(NUMBER).agg(*columns, *made).persist()
        try:
            rows = grouped.drop(*names).collect()
            united = grouped.where(f.col(NUMBER).isNotNull()).agg(*(f.hll_union_agg(name) for name in names))
            (row,) = united.collect()
        finally:
            grouped.unpersist()
        return rows, None if None in row else tuple(bytes(one) for one in row)

    def _frame(self, form: FileFormat, folders: Sequence[FolderFiles]) -> DataFrame:
        """The rows of all files in some folders, with the texts of the files in a further column."""
        # Folders in folders are looked into, as they are when files are listed, and do not tell partition values.
        data = readable(data_schema(self.table))
        reader = form.reader(self.spark, data).option("recursiveFileLookup", "true")
        # Spark lists each folder in a task of its own otherwise, which takes longer than the listing.
        with changed_setting(self.spark, _LISTING_TASKS, number_of_slices(self.spark, None)):
            frame = reader.load(plain_paths(one.location for one in folders))
        path = frame.metadataColumn("_metadata").getField("file_path")
        return form.rows(frame.withColumn(_PATH, path), data, [_PATH])

    def _places(self, folders: Sequence[FolderFiles]) -> DataFrame:
        """The numbers of folders by the texts of their files; a file may be in several."""
        systems: dict[tuple[str, str], tuple[str, ...]] = {}
        rows = []
        for number, folder in enumerate(folders):
            place = parse_location(folder.location)
            system = place.scheme, place.authority
            if system not in systems:
                systems[system] = self._beginnings(place)
            roots = [f"{beginning}{java_path(place.path.rstrip('/'))}/" for beginning in systems[system]]
            rows += [(root + java, number) for java in map(java_path, folder.paths) for root in roots]
        schema = StructType([StructField(_PATH, StringType()), StructField(NUMBER, IntegerType())])
        return local_frame(self.spark, rows, schema)

    def _beginnings(self, place: Location) -> tuple[str, ...]:
        """What stands before a path where Spark names a file: one of these."""
        if place.scheme == LOCAL:
            return "file:", "file://"
        root, system = hadoop_path(self.spark, f"{place.scheme}://{place.authority}/")
        return (str(system.makeQualified(root).toUri().toString()).rstrip("/"),)

    def _check_strangers(self, form: FileFormat, folders: Sequence[FolderFiles]) -> None:
        """See that files which were not expected are none of the expected ones in another spelling."""
        unknown = self._frame(form, folders).select(_PATH).join(f.broadcast(self._places(folders)), _PATH, "left_anti")
        known = _by_files(folders)
        for row in unknown.distinct().collect():
            if _path_of(row[0]) in known:
                raise ReadFailed(
                    "Spark reports a file under an unexpected name",
                    table=self.table,
                    file=row[0],
                    hint="Rename the file, or leave its partition out with a filter",
                )

    def _failed(self, error: Exception, folders: Sequence[FolderFiles]) -> ReadFailed:
        matched = _READING.search(str(error))
        folder = None if matched is None else _by_files(folders).get(_path_of(matched[1]))
        return ReadFailed(
            "Spark could not read the files of a partition",
            table=self.table,
            partition="unknown" if folder is None else folder.name,
            file="unknown" if matched is None else unquote(matched[1]),
            reason=root_cause(error),
            hint="Partitions of earlier batches have their statistics. Repair the file, and analyze the others",
        )


def java_path(path: str) -> str:
    """A path as Java writes it in a URI, and Spark in ``_metadata.file_path``.

    >>> java_path("/a b/50%/ü[1]/ds=1")
    '/a%20b/50%25/ü%5B1%5D/ds=1'
    """
    return _PERHAPS_QUOTED.sub(_quoted, path)


def _quoted(found: re.Match[str]) -> str:
    one = found[0]
    return quote(one) if one.isascii() or unicodedata.category(one) in {"Zs", "Zl", "Zp", "Cc"} else one


def _path_of(text: str) -> str:
    """The path of a file that Spark names; nothing if that is none."""
    try:
        return parse_location(unquote(text)).path
    except FileOperationFailed:
        return ""


def _by_files(folders: Sequence[FolderFiles]) -> dict[str, FolderFiles]:
    """Folders by the paths of their files."""
    roots = [(one, parse_location(one.location).path.rstrip("/")) for one in folders]
    return {f"{root}/{path}": one for one, root in roots for path in one.paths}
