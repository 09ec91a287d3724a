"""Texts of partition values as Hive and Spark write them: of columns of a DataFrame, and of Python's values."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from numbers import Integral
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as spark_types

from hbstore.errors import InvalidInput
from hbstore.keys.number_types import java_text
from hbstore.keys.row_key import NULL_PARTITION
from hbstore.keys.types import TimestampType

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

_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001  partition values have no zone
_SECOND: Final = dt.timedelta(seconds=1)
_TIMESTAMP: Final = TimestampType()


def quoted(name: str) -> str:
    """A name as Spark SQL reads it, whatever characters are in it.

    >>> quoted("a.b`c")
    '`a.b``c`'
    """
    return "`" + name.replace("`", "``") + "`"


def column_of(frame: DataFrame, name: str) -> Column:
    """The column of exactly this name."""
    return frame[quoted(name)]


def text_column(column: Column, field: spark_types.StructField) -> Column:
    """A column's texts, by the type that it has.

    Raises:
        InvalidInput: its type has no text.
    """
    kind = field.dataType
    if not isinstance(kind, _AS_TEXT):
        raise no_text(field, "Cast it to a string")
    if isinstance(kind, spark_types.DecimalType):
        # A cast would write 1E-7 where ANSI mode is off; this writes 1,234.50 and all the digits.
        return f.translate(f.format_number(column, kind.scale), ",", "")
    return column.cast(spark_types.StringType())


def value_text(value: object) -> str:
    """The text of one of Python's values; None and the empty text are the null partition, as in Spark's folders.

    Raises:
        InvalidInput: a value of this type has no text that could be a partition value.

    >>> [value_text(value) for value in (True, 7, 0.5, Decimal("1E-7"), dt.date(2013, 1, 2), "7")]
    ['true', '7', '0.5', '0.0000001', '2013-01-02', '7']
    >>> value_text(dt.datetime(2013, 1, 2, 5, 0, 0, 120_000)), value_text(None)
    ('2013-01-02 05:00:00.12', '__HIVE_DEFAULT_PARTITION__')
    """
    match value:
        case None | "":
            return NULL_PARTITION
        case bool():
            return "true" if value else "false"
        case float():
            return java_text(repr(value))
        case Decimal():
            return f"{value:f}"
        case dt.datetime():
            since = value.replace(tzinfo=None) - _EPOCH
            return _TIMESTAMP.text((since // _SECOND, since.microseconds * 1_000))
        case str() | dt.date() | Integral():
            return str(value)
        case _:
            raise InvalidInput(
                "a value cannot be written as a partition value",
                type=type(value).__name__,
                hint="Give a text, a number, a bool, a date, a datetime or None",
            )


def no_text(field: spark_types.StructField, hint: str) -> InvalidInput:
    """The error of a column whose values have no one text."""
    return InvalidInput(
        "the type of a column cannot be written as a partition value",
        column=field.name,
        type=field.dataType.simpleString(),
        hint=hint,
    )
