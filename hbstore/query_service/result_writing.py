"""Writing the rows of a statement: Parquet files whose order is that of the rows, with columns c0, c1, and so on."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as spark_types

from hbstore.errors import ReadFailed
from hbstore.files.interface import Files
from hbstore.files.local_files import LocalFiles
from hbstore.files.locations import LOCAL, parse_location
from hbstore.files.remote_files import open_remote
from hbstore.query_service.query import Result, ResultColumn
from hbstore.spark.footers import row_counts, total

_SETTINGS: Final = {
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.writeLegacyFormat": "false",
}
"""How results are written, whatever the statement or Spark's configuration set for tables."""

_OPTIONS: Final = {
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "true",  # by its _SUCCESS readers see that it is complete
    "parquet.block.size": str(16 * 1024 * 1024),  # a page is read from the beginning of its row group
}
"""What the writer of files is told, likewise."""

_AS_TEXT: Final = (
    spark_types.NullType,
    spark_types.AnsiIntervalType,
    spark_types.CalendarIntervalType,
    spark_types.VariantType,
)
"""Types that Parquet has not, or holds as numbers or bytes that only Spark can tell from others."""


def write_rows(frame: DataFrame, location: str) -> Result:
    """Compute the rows and write them into a folder that is not there yet; without columns, nothing is written.

    Values of types that Parquet has not become texts, as Spark shows them.

    Args:
        frame: the rows.
        location: the folder's.

    Raises:
        PySparkException, Py4JError: what Spark says of it.
        ReadFailed: what was written cannot be read.
    """
    fields = frame.schema.fields
    if not fields:
        return Result()
    names = [f"c{number}" for number in range(len(fields))]
    columns = [
        f.col(name).cast("string") if is_written_as_text(one.dataType) else f.col(name)
        for name, one in zip(names, fields, strict=True)
    ]
    for name, value in _SETTINGS.items():
        frame.sparkSession.conf.set(name, value)
    frame.toDF(*names).select(*columns).write.mode("errorifexists").options(**_OPTIONS).parquet(location)
    rows, size = _written(location)
    described = (ResultColumn(name=one.name, type=one.dataType.simpleString()) for one in fields)
    return Result(columns=tuple(described), rows=rows, size=size)


def is_written_as_text(kind: spark_types.DataType) -> bool:
    """Whether values of a type are written as texts, because Parquet does not have it, or a type in it.

    >>> from pyspark.sql.types import ArrayType, DayTimeIntervalType, IntegerType
    >>> is_written_as_text(IntegerType()), is_written_as_text(ArrayType(DayTimeIntervalType()))
    (False, True)
    """
    match kind:
        case spark_types.ArrayType():
            return is_written_as_text(kind.elementType)
        case spark_types.MapType():
            return is_written_as_text(kind.keyType) or is_written_as_text(kind.valueType)
        case spark_types.StructType():
            return not kind.fields or any(is_written_as_text(one.dataType) for one in kind.fields)
        case _:
            return isinstance(kind, _AS_TEXT)


def _written(location: str) -> tuple[int, int]:
    """The rows and the bytes of the files below a location."""
    place = parse_location(location)
    files: Files = LocalFiles() if place.scheme == LOCAL else open_remote(place.scheme, place.authority)
    sizes = files.data_files(place.path) or []
    rows = total(row_counts("parquet", [str(place / name) for name, _ in sizes]))
    if rows is None:
        raise ReadFailed("the files of the result cannot be read", location=location, hint="Run the query again")
    return rows, sum(size for _, size in sizes)
