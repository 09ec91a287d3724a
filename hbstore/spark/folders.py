"""The partition folders below a table's root, as Spark's ``partitionBy`` and Hive write them: ``root/ds=…/hour=…``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from hbstore.errors import InvalidInput
from hbstore.keys.types import parse_type
from hbstore.model.objects import Partition
from hbstore.repair.listing import LocalTree
from hbstore.repair.shape import ROOT, Entry, Folder, Shape
from hbstore.spark.arguments import check_arguments
from hbstore.spark.frames import local_frame
from hbstore.texts.arguments import expect_many

LOCATION: Final = "location"
"""The column of `folders_frame` behind the partition columns."""

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")


def partition_folders(root: str | os.PathLike[str], columns: Sequence[str]) -> Iterator[Partition]:
    """The partitions that the folders below a table's root are, in the order of their names. O(folders).

    For tables that are not in a store yet, of which only the names of the columns are known;
    `hbstore.repair.sync_partitions` is for those that are. Files are not looked at, so that an empty folder is a
    partition too, as it is for Hive. As in Spark, names that begin with ``.``, or with ``_`` and without ``=``, are
    passed over (``_SUCCESS``, ``_temporary``).

    Args:
        root: the table's root: a path, or a ``file:`` location. Locations of partitions begin with it as given, but
            for a relative path, which becomes absolute.
        columns: the table's partition columns in order.

    Raises:
        InvalidInput: the root is no local folder, or there is a folder that is no partition of such a table.

    >>> import tempfile
    >>> root = tempfile.mkdtemp()
    >>> os.makedirs(f"{root}/ds=2013-01-01/at=00%3A30")
    >>> [partition.values for partition in partition_folders(root, ["ds", "at"])]
    [('2013-01-01', '00:30')]
    """
    columns = _checked(root, columns)
    text = os.fspath(root)
    matched = _SCHEME.match(text)
    if matched and matched[1].lower() != "file":
        raise InvalidInput("the root is not a local folder", root=text, hint="Give a path or a file: location")
    path = Path(re.sub(r"\Afile:(?://(?=/))?", "", text, flags=re.IGNORECASE) if matched else os.path.abspath(text))  # noqa: PTH100  a link's name stays
    if not path.is_dir():
        raise InvalidInput("the table's root is not a folder", root=text, hint="Check that its disk is mounted")
    location = (text if matched else str(path)).rstrip("/")
    if not columns:
        raise InvalidInput("no partition columns are named", root=text, hint="Name the partition columns")
    shape = Shape(tuple(columns), (parse_type("string"),) * len(columns), (None,) * len(columns))
    for folder in _below(LocalTree(str(path)), shape, ROOT):
        yield Partition(folder.values, location=f"{location}/{folder.path}")


def folders_frame(spark: SparkSession, root: str | os.PathLike[str], columns: Sequence[str]) -> DataFrame:
    """`partition_folders` as a DataFrame for `register_partitions`: the partition columns as text, and ``location``.

    >>> sorted(row.hour for row in folders_frame(spark, f"{folder}/sales", ["ds", "hour"]).collect())
    ['0', '1', '5']
    """
    check_arguments(spark=spark)
    columns = _checked(root, columns)
    schema = StructType([StructField(name, StringType()) for name in (*columns, LOCATION)])
    return local_frame(spark, ((*one.values, one.location) for one in partition_folders(root, columns)), schema)


def _checked(root: object, columns: Sequence[str]) -> list[str]:
    check_arguments(root=root)
    return expect_many("columns", columns, str, hint="Give a list of the partition columns' names")


def _below(tree: LocalTree, shape: Shape, folder: Folder) -> Iterator[Folder]:
    if len(folder.values) == len(shape.columns):
        yield folder
        return
    entries = sorted(Entry(entry.name) for entry in tree.entries(folder.path))  # wherever a link leads
    folders, foreign = shape.sort(folder, entries)
    for path, why in foreign:
        raise InvalidInput(
            "a folder is not a partition of the table",
            folder=f"{tree.root}/{path}",
            reason=why,
            expected=f"{shape.columns[len(folder.values)]}=…",
            hint="Name the partition columns in the order of the folders",
        )
    for subfolder in folders:
        yield from _below(tree, shape, subfolder)
