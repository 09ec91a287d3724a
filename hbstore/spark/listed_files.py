"""The files that Spark has listed for a DataFrame, and which file each row is from.

Spark writes a file as a URI, and differently in its list and in its rows. Here both have one form, and the driver
decodes the list, so that files are compared by their paths and joined with rows by Spark's own texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Final
from urllib.parse import unquote

from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as f

from hbstore.files.locations import LOCAL, parse_location
from hbstore.spark.hadoop import hadoop_path, plain_paths
from hbstore.spark.java_errors import files_fail
from hbstore.spark.settings import changed_setting
from hbstore.spark.tasks import number_of_slices

_LISTING_TASKS: Final = "spark.sql.sources.parallelPartitionDiscovery.parallelism"
_LOCAL_ROOT: Final = "^file:/+"


def load_folders(spark: SparkSession, reader: DataFrameReader, locations: Iterable[str]) -> DataFrame:
    """The rows of all files in some folders. O(folders + files): the folders are listed, no file is opened.

    Spark lists each folder in a task of its own otherwise, which takes seven times as long.
    """
    with changed_setting(spark, _LISTING_TASKS, number_of_slices(spark, None)):
        return reader.load(plain_paths(locations))


def listed_files(frame: DataFrame) -> dict[str, str]:
    """The paths of a DataFrame's files, as `path_namer` writes them, with their texts in `file_column`. O(files)."""
    return {file_path(text): re.sub(_LOCAL_ROOT, f"{LOCAL}:/", text) for text in frame.inputFiles()}


def file_path(text: str) -> str:
    """The path of a file that Spark names.

    >>> file_path("file:///data/a%20b/part-0.parquet")
    'file:/data/a b/part-0.parquet'
    """
    return unquote(re.sub(_LOCAL_ROOT, f"{LOCAL}:/", text))


def file_column(frame: DataFrame) -> Column:
    """The text of the file that a row is from."""
    return f.regexp_replace(frame.metadataColumn("_metadata").getField("file_path"), _LOCAL_ROOT, f"{LOCAL}:/")


def path_namer(spark: SparkSession) -> Callable[[str], str]:
    """A function that writes the path of a location as `listed_files` does: ``file:/data/a b`` for ``/data//a b/``.

    The function raises FileOperationFailed where a text is no location, or its file system is not available.
    """

    @cache
    def root(scheme: str, authority: str) -> str:
        if scheme == LOCAL:
            return f"{LOCAL}:"
        path, system = hadoop_path(spark, f"{scheme}://{authority}/")
        return str(system.makeQualified(path).toUri().toString()).rstrip("/")

    def name(location: str) -> str:
        place = parse_location(location)
        with files_fail("the folder of a partition cannot be read", location):
            return root(place.scheme, place.authority) + place.path.rstrip("/")

    return name
