"""File formats of tables as Spark reads and writes them: told from what Spark or Hive wrote into the table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pyspark.errors import ParseException
from pyspark.sql import DataFrame, DataFrameReader, DataFrameWriter, SparkSession
from pyspark.sql.types import (
    CharType,
    DataType,
    StringType,
    StructField,
    StructType,
    VarcharType,
    _parse_datatype_string,
)

from hbstore.byte_cache import remembered
from hbstore.errors import InvalidInput
from hbstore.model.frozen import FrozenDict
from hbstore.model.objects import Column, StorageDescriptor, Table, check_columns_apart
from hbstore.model.spark_schema import SCHEMA, schema_text
from hbstore.model.stored_as import FILE_FORMATS, PROVIDER, reader_of
from hbstore.spark.hive_text import LINES, Asked, HiveText, asked_of
from hbstore.spark.texts import quoted

_NOT_OPTIONS: Final = frozenset(("path", "serialization.format"))


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A file format and its options.

    Attributes:
        name: as in ``spark.read.format(name)``.
        options: for reading and writing.
        lines: how values stand in Hive's text, which Spark reads and writes line by line; None for other formats.
    """

    name: str
    options: Mapping[str, str] = field(default_factory=FrozenDict)
    lines: HiveText | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", FrozenDict(self.options))

    def reader(self, spark: SparkSession, data: StructType, values: Sequence[StructField] = ()) -> DataFrameReader:
        """What reads files with some columns, in folders that tell some values; `rows` makes rows of what it reads."""
        schema = StructType([*(data if self.lines is None else LINES).fields, *values])
        return spark.read.format(self.name).options(**self.options).schema(schema)

    def rows(
        self, read: DataFrame, data: StructType, others: Sequence[str] = (), names_asked: Asked = None
    ) -> DataFrame:
        """The rows of what was read: the columns of the files, then others that were read or added.

        Args:
            read: what `reader` read.
            data: the columns of the files.
            others: those behind them.
            names_asked: the columns of the files that are asked for, in lower case; None: all.
        """
        if self.lines is not None:
            return self.lines.rows(read, data, others, names_asked)
        return read if names_asked is None else read.select(*map(quoted, [*asked_of(data, names_asked), *others]))

    def written(self, rows: DataFrame, data: StructType, others: Sequence[str] = ()) -> DataFrameWriter:
        """What writes rows into files, in folders that tell the values of other columns."""
        frame = rows if self.lines is None else self.lines.lines(rows, data, others)
        writer = frame.write.format(self.name).options(**self.options)
        return writer.partitionBy(*others) if others else writer


def format_of(table: Table, storage: StorageDescriptor | None = None) -> FileFormat:
    """The format of a table's files, or of a partition's that differs from it.

    Args:
        table: the table.
        storage: the partition's; None for the table's.

    Raises:
        InvalidInput: the table does not say, or it is none of Parquet, ORC, CSV, JSON and text.

    >>> format_of(Table("shop", "sales", parameters={"spark.sql.sources.provider": "PARQUET"}))
    FileFormat(name='parquet', options={}, lines=None)
    """
    storage = table.storage if storage is None else storage
    serde = storage.serde
    provider = table.parameters.get(PROVIDER, "").lower()
    name = reader_of(table.parameters, storage)
    if name is not None and provider:
        return FileFormat(name, {key: value for key, value in serde.parameters.items() if key not in _NOT_OPTIONS})
    if name is not None:
        return FileFormat(
            name, _options(name, serde.parameters), HiveText.of(serde.parameters) if name == "text" else None
        )
    raise InvalidInput(
        "the format of the table's files is unknown",
        table=table,
        provider=provider or "none",
        serde=serde.library or "none",
        hint=_hint(table),
    )


def data_schema(table: Table) -> StructType:
    """The columns of a table's files, in the case in which Spark wrote them if it did.

    Raises:
        InvalidInput: what Spark wrote does not parse, or it has no such type.
        InvalidName: a partition column has the name of one of them, and Spark would read its values for the column's.
    """
    whole = _written(table)
    if whole is None:
        return StructType([_field(table, one) for one in check_columns_apart(table).columns])
    names = {name.lower() for name in table.partition_column_names}
    return StructType([one for one in whole.fields if one.name.lower() not in names])


def partition_schema(table: Table) -> StructType:
    """The partition columns, typed."""
    return StructType([_field(table, one) for one in table.partition_columns])


def readable(schema: StructType) -> StructType:
    """The columns as Spark reads them from files, which know no char and no varchar."""
    kinds = [StringType() if isinstance(one.dataType, CharType | VarcharType) else one.dataType for one in schema]
    return StructType([StructField(one.name, kind) for one, kind in zip(schema.fields, kinds, strict=True)])


@remembered
def spark_type(text: str) -> DataType:
    """The type that a text such as ``decimal(10,2)`` names; Java is asked once, which takes some milliseconds."""
    return _parse_datatype_string(text)


def _field(table: Table, column: Column) -> StructField:
    try:
        return StructField(column.name, spark_type(column.type))
    except ParseException as error:
        raise InvalidInput(
            "Spark does not support the type of a column",
            table=table,
            column=column.name,
            type=column.type,
            hint="Alter the column's type to what its files hold",
        ) from error


def _written(table: Table) -> StructType | None:
    """The schema that Spark wrote among a table's parameters; None if it wrote none."""
    try:
        text = schema_text(table.parameters)
        return StructType.fromJson(json.loads(text)) if text else None
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InvalidInput(
            "the schema that Spark wrote into the table's parameters does not parse",
            table=table,
            reason=repr(error),
            hint=f"Remove the parameters that begin with {SCHEMA}: then Spark uses the table's own columns",
        ) from error


def _options(name: str, parameters: Mapping[str, str]) -> dict[str, str]:
    """What the parameters of OpenCSVSerde are for Spark's CSV."""
    names = {"separatorChar": "sep", "quoteChar": "quote", "escapeChar": "escape"} if name == "csv" else {}
    return {names[key]: value for key, value in parameters.items() if key in names}


def _hint(table: Table) -> str:
    """What gives a table a format: the model if it is a storage table, else who made it."""
    for kind in ("fact", "dimtable"):
        if f"cube.storagetable.{kind}" in table.parameters:
            name = table.parameters[f"cube.storagetable.{kind}"]
            return f"Set format: … in the description of the storage table of the {kind} {name}: hbstore model alter"
    return f"Alter the table's storage to hbstore.model.stored_as.stored_as({' or '.join(map(repr, FILE_FORMATS))})"
