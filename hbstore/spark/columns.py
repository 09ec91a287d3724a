"""A DataFrame's columns as partitions: a column for each partition column, and what else is known of a partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import MapType, StringType, StructField, StructType

from hbstore.errors import InvalidInput
from hbstore.spark.texts import column_of, text_column

EXTRAS: Final = {"location": StringType(), "parameters": MapType(StringType(), StringType())}
"""What a DataFrame may hold beside the partition columns; a partition column of such a name comes first."""


@dataclass(frozen=True, slots=True)
class PartitionFields:
    """Which of a DataFrame's columns are what of a partition.

    Attributes:
        values: the columns of its values, in the order of the partition columns.
        extras: the columns of the `EXTRAS` that there are.
    """

    values: tuple[StructField, ...]
    extras: dict[str, StructField]

    @staticmethod
    def of(schema: StructType, columns: Sequence[str]) -> PartitionFields:
        """By name, in any order and case.

        Args:
            schema: the DataFrame's.
            columns: the table's partition columns.

        Raises:
            InvalidInput: a column is missing, not known, or there twice.
        """
        fields = fields_by_name(schema)
        names = [name.lower() for name in columns]
        extras = [name for name in EXTRAS if name not in names]
        unknown = sorted(set(fields) - set(names) - set(extras))
        missing = [name for name in names if name not in fields]
        if missing or unknown:
            raise InvalidInput(
                "the columns of the DataFrame are not the partition columns of the table",
                missing=", ".join(missing) or "none",
                unknown=", ".join(unknown) or "none",
                hint=f"Select {', '.join(columns)} and, if there are any, {' and '.join(extras)}",
            )
        return PartitionFields(
            tuple(fields[name] for name in names), {name: fields[name] for name in extras if name in fields}
        )


def fields_by_name(schema: StructType) -> dict[str, StructField]:
    """A DataFrame's columns by their names in lower case.

    Raises:
        InvalidInput: two columns have one name.
    """
    fields: dict[str, StructField] = {}
    for field in schema.fields:
        if field.name.lower() in fields:
            raise InvalidInput(
                "the DataFrame has two columns of the same name", column=field.name, hint="Rename or drop one of them"
            )
        fields[field.name.lower()] = field
    return fields


def as_texts(partitions: DataFrame, columns: Sequence[str]) -> DataFrame:
    """A DataFrame's partition columns as texts, then its location and its parameters.

    Raises:
        InvalidInput: a column is missing, not known, there twice, or of a type that has no text.
    """
    fields = PartitionFields.of(partitions.schema, columns)
    selected = [
        text_column(column_of(partitions, field.name), field).alias(f"value{at}")
        for at, field in enumerate(fields.values)
    ]
    for name, kind in EXTRAS.items():
        field = fields.extras.get(name)
        column = f.lit(None) if field is None else column_of(partitions, field.name)
        selected.append(column.cast(kind).alias(name))
    return partitions.select(*selected)
