"""File formats of tables as Spark reads and writes them: told from what Spark or Hive wrote into the table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from pyspark.errors import ParseException
from pyspark.sql.types import DataType, StructField, StructType, _parse_datatype_string

from hbstore.errors import InvalidInput
from hbstore.model import Column, StorageDescriptor, Table

PROVIDER: Final = "spark.sql.sources.provider"
_SCHEMA: Final = "spark.sql.sources.schema"
_KNOWN: Final = ("parquet", "orc", "csv", "json", "text")
_NOT_OPTIONS: Final = frozenset(("path", "serialization.format"))

# By what the class of the serialization library ends with, in lower case.
_SERDES: Final = {
    "parquethiveserde": "parquet",
    "orcserde": "orc",
    "jsonserde": "json",
    "opencsvserde": "csv",
    "lazysimpleserde": "csv",
}


@dataclass(frozen=True, slots=True)
class Format:
    """A file format and its options.

    Attributes:
        name: as in ``spark.read.format(name)``.
        options: for reading and writing.
    """

    name: str
    options: Mapping[str, str] = field(default_factory=dict)


def format_of(table: Table, storage: StorageDescriptor | None = None) -> Format:
    """The format of a table's files, or of a partition's that differs from it.

    Args:
        table: the table.
        storage: the partition's; None for the table's.

    Raises:
        InvalidInput: the table does not say, or it is none of Parquet, ORC, CSV, JSON and text.

    >>> format_of(Table("shop", "sales", parameters={"spark.sql.sources.provider": "PARQUET"}))
    Format(name='parquet', options={})
    """
    storage = table.storage if storage is None else storage
    serde = storage.serde
    provider = table.parameters.get(PROVIDER, "").lower()
    if provider in _KNOWN:
        return Format(provider, {key: value for key, value in serde.parameters.items() if key not in _NOT_OPTIONS})
    library = (serde.library or "").lower().rpartition(".")[2]
    name = _SERDES.get(library)
    if not provider and name is not None:
        return Format(name, _hive_options(library, serde.parameters))
    raise InvalidInput(
        "the table does not say in which format its files are",
        table=table,
        provider=provider or "none",
        serde=serde.library or "none",
        hint=f"Set the table's parameter {PROVIDER} to one of {', '.join(_KNOWN)}",
    )


def data_schema(table: Table) -> StructType:
    """The columns of a table's files, in the case in which Spark wrote them if it did.

    Raises:
        InvalidInput: what Spark wrote does not parse, or it has no such type.
    """
    whole = _written(table)
    if whole is None:
        return StructType([_field(table, one) for one in table.columns])
    names = {name.lower() for name in table.partition_column_names}
    return StructType([one for one in whole.fields if one.name.lower() not in names])


def partition_schema(table: Table) -> StructType:
    """The partition columns, typed."""
    return StructType([_field(table, one) for one in table.partition_columns])


@lru_cache(maxsize=1_000)
def spark_type(text: str) -> DataType:
    """The type that a text such as ``decimal(10,2)`` names; Java is asked once, which takes some milliseconds."""
    return _parse_datatype_string(text)


def _field(table: Table, column: Column) -> StructField:
    try:
        return StructField(column.name, spark_type(column.type))
    except ParseException as error:
        raise InvalidInput(
            "Spark has no such type",
            table=table,
            column=column.name,
            type=column.type,
            hint="Alter the column's type to what its files hold",
        ) from error


def _written(table: Table) -> StructType | None:
    """The schema that Spark wrote among a table's parameters; None if it wrote none."""
    try:
        text = table.parameters.get(_SCHEMA) or _parts(table.parameters)
        return StructType.fromJson(json.loads(text)) if text else None
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(
            "the schema that Spark wrote into the table's parameters does not parse",
            table=table,
            reason=repr(error),
            hint=f"Take the parameters that begin with {_SCHEMA} away: the table's own columns count then",
        ) from error


def _parts(parameters: Mapping[str, str]) -> str:
    """A schema that older versions of Spark cut into parts of 4,000 characters."""
    count = int(parameters.get(f"{_SCHEMA}.numParts", "0"))
    return "".join(parameters[f"{_SCHEMA}.part.{number}"] for number in range(count))


def _hive_options(library: str, parameters: Mapping[str, str]) -> dict[str, str]:
    """What Hive's text formats are for Spark's CSV."""
    if library == "lazysimpleserde":
        separator = parameters.get("field.delim", parameters.get("serialization.format", "\x01"))
        separator = "\x01" if separator == "1" else separator
        options = {"sep": separator, "nullValue": parameters.get("serialization.null.format", "\\N"), "quote": ""}
        return options | ({"escape": parameters["escape.delim"]} if "escape.delim" in parameters else {})
    if library == "opencsvserde":
        names = {"separatorChar": "sep", "quoteChar": "quote", "escapeChar": "escape"}
        return {names[key]: value for key, value in parameters.items() if key in names}
    return {}
