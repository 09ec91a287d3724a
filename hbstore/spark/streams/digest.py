"""The digest of a batch's rows: equal for equal rows in whatever order, files or tasks they come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType, UserDefinedType, VariantType

from hbstore.spark.texts import column_of

_COUNT: Final = "rows"
_HIGH: Final = "high"
_LOW: Final = "low"
_LOW_BITS: Final = 0xFFFFFFFF
_WORD: Final = 1 << 64
_NESTED: Final = (ArrayType, MapType, StructType, UserDefinedType, VariantType)


def digest_columns(frame: DataFrame, static: Mapping[str, str]) -> list[Column]:
    """Aggregates of rows of which `digest_text` makes the digest.

    The 64-bit hashes of the rows are added, their halves apart, so that no sum overflows below 2^31 rows. A row's hash
    is of the names and values of its columns in the order of the names; those that are null are left out, so that a
    column which a table has got meanwhile changes nothing.

    Args:
        frame: the rows.
        static: values that all of them have besides.
    """
    parts = [f.lit(f"{name}={text}") for name, text in sorted(static.items())]
    for field in sorted(frame.schema.fields, key=lambda one: one.name):
        value = column_of(frame, field.name)
        parts += [f.when(value.isNotNull(), f.lit(field.name)), _hashable(value, field)]
    hashed = f.xxhash64(*parts)
    return [
        f.count(f.lit(1)).alias(_COUNT),
        f.sum(f.shiftright(hashed, 32)).alias(_HIGH),
        f.sum(hashed.bitwiseAND(f.lit(_LOW_BITS))).alias(_LOW),
    ]


def digest_text(found: Mapping[str, Any]) -> str:
    """The digest of the aggregates' values.

    >>> digest_text({"rows": 3, "high": -1, "low": 5})
    '3-ffffffff00000005'
    >>> digest_text({"rows": 0, "high": None, "low": None})
    '0-0000000000000000'
    """
    total = ((found[_HIGH] or 0) * (_LOW_BITS + 1) + (found[_LOW] or 0)) % _WORD
    return f"{found[_COUNT]}-{total:016x}"


def digest_of(frame: DataFrame, static: Mapping[str, str]) -> str:
    """The digest of rows that are not written: one pass over them."""
    (row,) = frame.agg(*digest_columns(frame, static)).collect()
    return digest_text(row.asDict())


def _hashable(value: Column, field: StructField) -> Column:
    """What Spark hashes of a value: it takes no maps, and passes over nulls that are nested in others."""
    if not _is_nested(field.dataType):
        return value
    return f.to_json(f.struct(value.alias("v")), {"ignoreNullFields": "false"})


def _is_nested(kind: DataType) -> bool:
    return isinstance(kind, _NESTED)
