"""Small results: collected as Arrow, and written as Spark would write them, without the work of a job that writes.

What Spark has in its driver already, such as the rows of SHOW TABLES or of ``SELECT 1``, takes no job at all.
"""

from __future__ import annotations

import uuid
from functools import cache
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import DataFrame
from pyspark.sql import types as spark_types

from hbstore.errors import FileOperationFailed
from hbstore.files.locations import LOCAL, parse_location
from hbstore.spark.java_errors import JAVA_ERRORS

_MOST_ROWS: Final = 1_000
_AT_ONCE: Final = 4 * 1024 * 1024
"""Bytes, about, that Java hands over at once."""

_HINT: Final = "Check that the user of the server may write there, and that the disk is not full"
_TOO_LARGE: Final = "spark.driver.maxResultSize"
"""What Spark names when rows are larger than its driver may take."""

_PLANS: Final = "org.apache.spark.sql.catalyst.plans.logical."
_ARROW: Final[dict[type[spark_types.DataType], pa.DataType]] = {
    spark_types.BooleanType: pa.bool_(),
    spark_types.ByteType: pa.int8(),
    spark_types.ShortType: pa.int16(),
    spark_types.IntegerType: pa.int32(),
    spark_types.LongType: pa.int64(),
    spark_types.FloatType: pa.float32(),
    spark_types.DoubleType: pa.float64(),
    spark_types.StringType: pa.string(),
    spark_types.BinaryType: pa.binary(),
    spark_types.DateType: pa.date32(),
    spark_types.TimestampType: pa.timestamp("us", "UTC"),
    spark_types.TimestampNTZType: pa.timestamp("us"),
}


def collected(frame: DataFrame) -> pa.Table | None:
    """The rows of a frame with the columns c0, c1, and so on, as reading Spark's own files would give them.

    Returns:
        None: there may be more than a thousand rows, they are too large for the driver, or of types that only Spark
        writes.

    Raises:
        PySparkException, Py4JError: what Spark says of it.
    """
    kinds = [_arrow_type(field.dataType) for field in frame.schema.fields]
    plan: Any = frame._jdf.queryExecution().optimizedPlan()  # noqa: SLF001  nothing public tells how many rows there are
    if any(kind is None for kind in kinds) or not _is_small(plan):
        return None
    try:
        rows = _rows_of_driver(frame, plan)
        table = frame.toArrow() if rows is None else _table(frame, plan, rows)
    except JAVA_ERRORS as error:
        if _TOO_LARGE in str(error):
            return None
        raise
    schema = pa.schema([(f"c{number}", kind) for number, kind in enumerate(kinds)])
    return table.rename_columns(schema.names).cast(schema)


def write_table(table: pa.Table, location: str) -> int | None:
    """Write rows into a folder that is not there yet, as Spark does: a file, and then the one that says it is complete.

    Returns:
        The bytes of the file; None: something is there.

    Raises:
        FileOperationFailed: the file system refuses it.
    """
    folder = Path(parse_location(location).path)
    file = folder / f"part-00000-{uuid.uuid4()}-c000.snappy.parquet"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir()
        parquet.write_table(table, file, compression="snappy", store_schema=False)
        (folder / "_SUCCESS").touch()
        return file.stat().st_size
    except FileExistsError:
        return None
    except OSError as error:
        raise FileOperationFailed(
            "the result cannot be written", location=location, reason=error, hint=_HINT
        ) from error


def is_writable(location: str) -> bool:
    """Whether `write_table` can write there: on the file system of this machine.

    >>> is_writable("file:/data/results/5f"), is_writable("s3a://data/results/5f")
    (True, False)
    """
    return parse_location(location).scheme == LOCAL


def _is_small(plan: Any) -> bool:
    if plan.getClass().getName() == f"{_PLANS}CommandResult":
        return bool(plan.rows().size() <= _MOST_ROWS)
    most = plan.maxRows()
    return bool(most.isDefined() and most.get() <= _MOST_ROWS)


def _rows_of_driver(frame: DataFrame, plan: Any) -> Any:
    """The rows in Scala, if Spark's driver has them all: of a list, a command, or constants; else None."""
    match plan.getClass().getName().removeprefix(_PLANS):
        case "LocalRelation":
            return plan.data()
        case "CommandResult":
            return plan.rows()
        case "Project" if plan.child().getClass().getName() == f"{_PLANS}OneRowRelation":
            return _row_of_constants(frame.sparkSession._jvm, plan.projectList())  # noqa: SLF001
        case _:
            return None


def _row_of_constants(jvm: Any, columns: Any) -> Any:
    """The row of ``SELECT 1`` as a list; None if a column is no constant."""
    if not all(columns.apply(number).child().foldable() for number in range(columns.size())):
        return None
    projection = _class(jvm, "org.apache.spark.sql.catalyst.expressions.InterpretedProjection")(columns)
    row = projection.apply(_object(jvm, "org.apache.spark.sql.catalyst.InternalRow").empty())
    return _object(jvm, "scala.collection.immutable.Nil").prepended(row)


def _table(frame: DataFrame, plan: Any, rows: Any) -> pa.Table:
    """Rows of the driver's as Arrow."""
    converters = _object(frame.sparkSession._jvm, "org.apache.spark.sql.execution.arrow.ArrowConverters")  # noqa: SLF001
    batches = converters.toBatchWithSchemaIterator(
        rows.iterator(), plan.schema(), _MOST_ROWS, _AT_ONCE, "UTC", False, False
    )
    tables = []
    while batches.hasNext():  # which lets go of its memory at the end
        with pa.ipc.open_stream(batches.next()) as stream:
            tables.append(stream.read_all())
    if tables:
        return pa.concat_tables(tables)
    kinds = [_arrow_type(field.dataType) for field in frame.schema.fields]
    return pa.Table.from_arrays([pa.array([], kind) for kind in kinds], frame.columns)


@cache
def _class(jvm: Any, name: str) -> Any:
    """A class of Java's, which takes several calls to find."""
    return getattr(jvm, name)


@cache
def _object(jvm: Any, name: str) -> Any:
    """An object of Scala's."""
    return getattr(_class(jvm, f"{name}$"), "MODULE$")


def _arrow_type(kind: spark_types.DataType) -> pa.DataType | None:
    """The type of a column as Spark's Parquet files have it; None of those that are not known here."""
    match kind:
        case spark_types.DecimalType():
            return pa.decimal128(kind.precision, kind.scale)
        case spark_types.ArrayType():
            of = _arrow_type(kind.elementType)
            return None if of is None else pa.list_(pa.field("element", of))
        case spark_types.MapType():
            key, value = _arrow_type(kind.keyType), _arrow_type(kind.valueType)
            return None if key is None or value is None else pa.map_(key, value)
        case spark_types.StructType():
            parts = [(one.name, _arrow_type(one.dataType)) for one in kind.fields]
            repeated = len({name for name, _ in parts}) < len(parts)  # which Arrow cannot tell apart
            return None if repeated or any(of is None for _, of in parts) else pa.struct(parts)
        case _:
            return _ARROW.get(type(kind))
