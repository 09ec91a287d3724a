"""A DataFrame's columns as partition values: texts as Hive writes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as spark_types

from hbstore.errors import InvalidInput

_EXTRAS: Final = {
    "location": spark_types.StringType(),
    "parameters": spark_types.MapType(spark_types.StringType(), spark_types.StringType()),
}
"""What a DataFrame may hold beside the partition columns; a partition column of such a name comes first."""

_AS_TEXT: Final = (
    spark_types.StringType,
    spark_types.CharType,
    spark_types.VarcharType,
    spark_types.BooleanType,
    spark_types.NumericType,
    spark_types.DateType,
    spark_types.TimestampType,
    spark_types.TimestampNTZType,
    spark_types.NullType,
)
"""Types whose values have one text. Timestamps are written in the session's time zone, as in Spark's folder names."""


def as_texts(partitions: DataFrame, columns: Sequence[str]) -> DataFrame:
    """A DataFrame's partition columns as texts, then its location and its parameters.

    Raises:
        InvalidInput: a column is missing, not known, there twice, or of a type that has no text.
    """
    given = _fields(partitions)
    wanted = [name.lower() for name in columns]
    extras = {name: kind for name, kind in _EXTRAS.items() if name not in wanted}
    unknown = sorted(set(given) - set(wanted) - set(extras))
    missing = [name for name in wanted if name not in given]
    if missing or unknown:
        raise InvalidInput(
            "the DataFrame's columns are not those of the table's partitions",
            missing=", ".join(missing) or "none",
            unknown=", ".join(unknown) or "none",
            hint=f"Select {', '.join(columns)} and, if there are any, {' and '.join(extras)}",
        )
    selected = [_text(partitions, given[name]).alias(f"value{at}") for at, name in enumerate(wanted)]
    for name, kind in _EXTRAS.items():
        known = name in extras and name in given
        column = _column(partitions, given[name]) if known else f.lit(None)
        selected.append(column.cast(kind).alias(name))
    return partitions.select(*selected)


def _fields(partitions: DataFrame) -> dict[str, spark_types.StructField]:
    """The DataFrame's columns by their names in lower case."""
    found: dict[str, spark_types.StructField] = {}
    for field in partitions.schema.fields:
        if field.name.lower() in found:
            raise InvalidInput("the DataFrame has two columns of one name", column=field.name)
        found[field.name.lower()] = field
    return found


def _text(partitions: DataFrame, field: spark_types.StructField) -> Column:
    if not isinstance(field.dataType, _AS_TEXT):
        raise InvalidInput(
            "a column's type has no text that could be a partition value",
            column=field.name,
            type=field.dataType.simpleString(),
            hint="Cast it to a string",
        )
    column = _column(partitions, field)
    if isinstance(field.dataType, spark_types.DecimalType):
        # A cast would write 1E-7 where ANSI mode is off; this writes 1,234.50 and all the digits.
        return f.translate(f.format_number(column, field.dataType.scale), ",", "")
    return column.cast(spark_types.StringType())


def _column(partitions: DataFrame, field: spark_types.StructField) -> Column:
    """The column of exactly this name, whatever characters are in it."""
    quoted = field.name.replace("`", "``")
    return partitions[f"`{quoted}`"]
