"""What a job writes where: the table's columns and types, its format, static and dynamic partition columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as spark_types
from pyspark.sql.types import CharType, DataType, StringType, StructField, StructType, VarcharType

from hbstore.errors import InvalidInput, did_you_mean
from hbstore.files.warehouse import Warehouse
from hbstore.keys.row_key import NULL_PARTITION, fits
from hbstore.keys.types import ColumnType, FloatType
from hbstore.model.objects import Table, partition_value_texts
from hbstore.spark.columns import fields_by_name
from hbstore.spark.formats import FileFormat, data_schema, format_of, partition_schema
from hbstore.spark.texts import column_of, text_column, value_text

Writer: TypeAlias = Literal["single", "grouped", "ungrouped"]

_WHOLE: Final = (spark_types.ByteType, spark_types.ShortType, spark_types.IntegerType, spark_types.LongType)
_DIGITS: Final = (3, 5, 10, 20)
"""Of each of these whole types."""
_TEXTS: Final = (StringType, CharType, VarcharType)
_TIMESTAMPS: Final = (spark_types.TimestampType, spark_types.TimestampNTZType)
_LOCAL_TIME: Final = r"^\d{4}-\d{1,2}-\d{1,2}([ T]\d{1,2}:\d{2}:\d{2}(\.\d{1,6})?)?$"
"""Texts of timestamps that are the same in all time zones, and whose digits Spark keeps."""


@dataclass(frozen=True, slots=True)
class WritePlan:
    """How rows are written into a table.

    Attributes:
        table: the table.
        root: its location.
        form: the format of its files.
        data: the columns of its files.
        static: texts of partition values that are given.
        dynamic: the other partition columns.
        writer: how many partitions a task writes at a time.
    """

    table: Table
    root: str
    form: FileFormat
    data: StructType
    static: Mapping[str, str]
    dynamic: tuple[str, ...]
    writer: Writer

    @staticmethod
    def of(table: Table, static: Mapping[str, object], writer: Writer | None) -> WritePlan:
        """The plan for a table and static values.

        Raises:
            InvalidInput: the table has no location or no known format, a static value is of no partition column or has
                no text, or the writer cannot write several partitions.
            InvalidPartitionValue: a static value cannot be written as UTF-8.
        """
        if table.location is None:
            raise InvalidInput("the table has no location", table=table, hint="Give the table a location")
        names = {name.lower(): name for name in table.partition_column_names}
        types = dict(zip(table.partition_column_names, table.key_types, strict=True))
        texts = {}
        for column, value in static.items():
            if column.lower() not in names:
                raise InvalidInput(
                    "a static value names a column that is not a partition column",
                    table=table,
                    column=column,
                    partition_columns=", ".join(names.values()),
                    hint=did_you_mean(
                        column,
                        names.values(),
                        "Give static values only for partition columns; put other columns into the DataFrame",
                    ),
                )
            name = names[column.lower()]
            (text,) = partition_value_texts([value_text(value)])
            texts[name] = _static_text(types[name], text)
        dynamic = tuple(name for name in table.partition_column_names if name not in texts)
        if writer is None:
            writer = "grouped" if dynamic else "single"
        if writer not in {"single", "grouped", "ungrouped"} or (writer == "single" and dynamic):
            raise InvalidInput(
                "the writer is unknown, or cannot write several partitions",
                writer=writer,
                dynamic=", ".join(dynamic) or "none",
                hint="Use grouped or ungrouped if a partition column has no static value",
            )
        root = Warehouse(table.location).root
        return WritePlan(table, root, format_of(table), data_schema(table), texts, dynamic, writer)

    def arranged(self, frame: DataFrame) -> DataFrame:
        """The rows with the table's columns in their types, then the dynamic partition columns as text.

        Raises:
            InvalidInput: a column is missing, unknown, there twice, or of a type that does not fit.
        """
        fields = fields_by_name(frame.schema)
        names = [field.name for field in self.data.fields] + list(self.dynamic)
        missing = [name for name in names if name.lower() not in fields]
        unknown = sorted(set(fields) - {name.lower() for name in names})
        if missing or unknown:
            raise InvalidInput(
                "the columns of the DataFrame are not the columns of the table",
                table=self.table,
                missing=", ".join(missing) or "none",
                unknown=", ".join(unknown) or "none",
                hint=f"Select {', '.join(names)}",
            )
        columns = []
        for field in self.data.fields:
            frame_field = fields[field.name.lower()]
            self._check_type(field.name, frame_field.dataType, field.dataType)
            columns.append(column_of(frame, frame_field.name).cast(field.dataType).alias(field.name))
        types = partition_schema(self.table)
        for name in self.dynamic:
            frame_field = fields[name.lower()]
            column = column_of(frame, frame_field.name)
            kind = types[name].dataType
            if not isinstance(frame_field.dataType, _TEXTS):
                self._check_type(name, frame_field.dataType, kind)
                column = text_column(column.cast(kind), types[name])
            elif not isinstance(kind, _TEXTS):
                column = _as_spark_writes(column, types[name])
            columns.append(column.cast("string").alias(name))
        return frame.select(*columns)

    def values(self, spec: Mapping[str, str]) -> tuple[str, ...]:
        """A partition's values, of its static ones and those in a folder's name."""
        return tuple({**self.static, **spec}[name] for name in self.table.partition_column_names)

    def _check_type(self, name: str, source: DataType, target: DataType) -> None:
        if not _widens(source, target):
            raise InvalidInput(
                "the column has another type in the table",
                table=self.table,
                column=name,
                type=source.simpleString(),
                expected=target.simpleString(),
                hint="Cast the column to the expected type",
            )


def _as_spark_writes(column: Column, field: StructField) -> Column:
    """Texts as INSERT writes them: rows of ``05`` belong to ``5`` of an int. What is no value stays, and is refused."""
    if not isinstance(field.dataType, _TIMESTAMPS):
        return f.coalesce(text_column(column.try_cast(field.dataType), field), column)
    text = column.try_cast(spark_types.TimestampNTZType()).cast("string")
    return f.when(column.rlike(_LOCAL_TIME), f.coalesce(text, column)).otherwise(column)


def _static_text(kind: ColumnType, text: str) -> str:
    """The same of a static value, whose text is one of Hive's spellings."""
    if text == NULL_PARTITION or not fits(kind, text):
        return text
    plain = kind.text(kind.parse(text))
    return f"-{plain}" if isinstance(kind, FloatType) and plain == "0.0" and text.startswith("-") else plain


def _widens(source: DataType, target: DataType) -> bool:
    """Whether every value of a type is one of another, so that a cast loses nothing."""
    if isinstance(source, spark_types.NullType) or source.simpleString() == target.simpleString():
        return True
    if isinstance(source, _TEXTS) and isinstance(target, _TEXTS):
        return True
    if isinstance(source, _WHOLE):
        return _holds_whole(_WHOLE.index(type(source)), target)
    if isinstance(source, spark_types.DecimalType) and isinstance(target, spark_types.DecimalType):
        whole = target.precision - target.scale >= source.precision - source.scale
        return whole and target.scale >= source.scale
    return isinstance(source, spark_types.FloatType) and isinstance(target, spark_types.DoubleType)


def _holds_whole(rank: int, target: DataType) -> bool:
    """Whether a type holds every number of a whole one."""
    if isinstance(target, _WHOLE):
        return rank <= _WHOLE.index(type(target))
    if isinstance(target, spark_types.DecimalType):
        return target.precision - target.scale >= _DIGITS[rank]
    return isinstance(target, spark_types.DoubleType) and _WHOLE[rank] is not spark_types.LongType
