"""The partition folders below a table's root, as Spark's ``partitionBy`` and Hive write them: ``root/ds=…/hour=…``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from hbstore.errors import InvalidInput, InvalidPartitionValue
from hbstore.model import Partition
from hbstore.names import parse_partition_name

LOCATION: Final = "location"
"""The column of `folders_frame` behind the partition columns."""

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")


def partition_folders(root: str | os.PathLike[str], columns: Sequence[str]) -> Iterator[Partition]:
    """The partitions that the folders below a table's root are, in the order of their names. O(folders).

    Files are not looked at, so that an empty folder is a partition too, as it is for Hive. As in Spark, names that
    begin with ``.``, or with ``_`` and without ``=``, are passed over (``_SUCCESS``, ``_temporary``).

    Args:
        root: the table's root: a path, or a ``file:`` location. Locations of partitions begin with it as given, but
            for a relative path, which becomes absolute.
        columns: the table's partition columns in order.

    Raises:
        InvalidInput: the root is no local folder, or there is a folder that is no partition of such a table.
        InvalidPartitionValue: a folder's name is not UTF-8.

    >>> import tempfile
    >>> root = tempfile.mkdtemp()
    >>> os.makedirs(f"{root}/ds=2013-01-01/at=00%3A30")
    >>> [partition.values for partition in partition_folders(root, ["ds", "at"])]
    [('2013-01-01', '00:30')]
    """
    text = os.fspath(root)
    found = _SCHEME.match(text)
    if found and found[1].lower() != "file":
        raise InvalidInput("only local folders are listed", root=text, hint="Give a path or a file: location")
    path = Path(re.sub(r"\Afile:(?://(?=/))?", "", text, flags=re.IGNORECASE) if found else os.path.abspath(text))  # noqa: PTH100  a link's name stays
    if not path.is_dir():
        raise InvalidInput("the table's root is not a folder", root=text)
    location = (text if found else str(path)).rstrip("/")
    if not columns:
        raise InvalidInput("a table without partition columns has no partition folders", root=text)
    yield from _below(path, location, tuple(columns), ())


def folders_frame(spark: SparkSession, root: str | os.PathLike[str], columns: Sequence[str]) -> DataFrame:
    """`partition_folders` as a DataFrame for `register_partitions`: the partition columns as text, and ``location``."""
    schema = StructType([StructField(name, StringType()) for name in (*columns, LOCATION)])
    return spark.createDataFrame([(*one.values, one.location) for one in partition_folders(root, columns)], schema)


def _below(folder: Path, location: str, columns: tuple[str, ...], values: tuple[str, ...]) -> Iterator[Partition]:
    if len(values) == len(columns):
        yield Partition(values, location=location)
        return
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if _is_hidden(entry.name) or not entry.is_dir():
            continue
        value = _value(entry.name, columns[len(values)], folder)
        yield from _below(folder / entry.name, f"{location}/{entry.name}", columns, (*values, value))


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _value(name: str, column: str, parent: Path) -> str:
    """The value in a folder's name, which must be one of the column."""
    try:
        spec = parse_partition_name(name)
    except InvalidPartitionValue:
        spec = {}
    for found, value in spec.items():
        if found.lower() == column.lower():
            return value
    raise InvalidInput(
        "a folder that is no partition of the table",
        folder=parent / name,
        expected=f"{column}=…",
        hint="Name the partition columns in the order of the folders",
    )
