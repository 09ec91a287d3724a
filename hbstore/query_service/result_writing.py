"""Writing the rows of a statement: Parquet files whose order is that of the rows, with columns c0, c1, and so on."""

from __future__ import annotations

from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as spark_types

from hbstore.errors import ReadFailed
from hbstore.files.interface import Files
from hbstore.files.local_files import LocalFiles
from hbstore.files.locations import LOCAL, parse_location
from hbstore.files.remote_files import open_remote
from hbstore.query_service.query import QueryResult, ResultColumn
from hbstore.query_service.small_results import collected, is_writable, write_table
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


def write_rows(frame: DataFrame, location: str) -> QueryResult:
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
        return QueryResult()
    count, size = _written_small(frame, location) or _written_by_spark(frame, location)
    described = tuple(ResultColumn(name=one.name, type=one.dataType.simpleString()) for one in fields)
    zone = str(frame.sparkSession.conf.get("spark.sql.session.timeZone"))
    return QueryResult(columns=described, rows=count, size=size, time_zone=zone)


def _written_small(frame: DataFrame, location: str) -> tuple[int, int] | None:
    """Write rows without Spark, if they are few; how many, and how many bytes. None: nothing is written."""
    if not is_writable(location):
        return None
    table = collected(_as_written(frame) if any(_are_texts(frame)) else frame)
    size = None if table is None else write_table(table, location)
    return None if table is None or size is None else (table.num_rows, size)


def _written_by_spark(frame: DataFrame, location: str) -> tuple[int, int]:
    _apart(_as_written(frame)).write.mode("errorifexists").options(**_OPTIONS).parquet(location)
    return _written(location)


def _as_written(frame: DataFrame) -> DataFrame:
    """The rows with columns c0, c1, and so on."""
    columns = []
    for number, is_text in enumerate(_are_texts(frame)):
        column = f.col(f"c{number}")
        columns.append(column.cast("string").alias(f"c{number}") if is_text else column)
    return frame.toDF(*(f"c{number}" for number in range(len(columns)))).select(*columns)


def _are_texts(frame: DataFrame) -> list[bool]:
    return [is_written_as_text(one.dataType) for one in frame.schema.fields]


def _apart(frame: DataFrame) -> DataFrame:
    """The rows in a copy of their session, which has the settings of results: the user's stays as it is."""
    spark = frame.sparkSession
    java = spark._jsparkSession.cloneSession()  # noqa: SLF001  neither this nor the next has a name in Python
    copied = SparkSession(spark.sparkContext, java)
    for name, value in _SETTINGS.items():
        copied.conf.set(name, value)
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001
    datasets = getattr(jvm, "org.apache.spark.sql.classic.Dataset")
    return DataFrame(datasets.ofRows(java, frame._jdf.logicalPlan()), copied)  # noqa: SLF001


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
