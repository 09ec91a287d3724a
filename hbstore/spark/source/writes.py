"""``df.write.format("hbstore")``: a DataFrame's rows as partitions, each task in batches of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import Row
from pyspark.sql import types as spark_types
from pyspark.sql.datasource import DataSourceWriter, WriterCommitMessage

from hbstore.keys.types import FloatType
from hbstore.model.objects import Partition, Table
from hbstore.spark.columns import EXTRAS, PartitionFields
from hbstore.spark.register import Registering, TaskOutcome, raise_first
from hbstore.spark.texts import no_text, value_text

_PLAIN: Final = (
    spark_types.StringType,
    spark_types.IntegralType,
    spark_types.NullType,
    spark_types.BooleanType,
    spark_types.DateType,
    spark_types.DoubleType,
    spark_types.TimestampNTZType,
)
"""Types whose values say all that their text needs."""


@dataclass(frozen=True)
class TaskReport(WriterCommitMessage):
    """What a task gives back."""

    outcome: TaskOutcome


@dataclass
class SourceWriter(DataSourceWriter):
    """Adds partitions.

    Attributes:
        task: what adds them.
        values: for each partition column where it stands in a row, and what makes its text.
        location: where a row's location stands; None where there is none.
        parameters: where its parameters stand.
    """

    task: Registering
    values: list[tuple[int, Callable[[Any], str]]]
    location: int | None
    parameters: int | None

    @staticmethod
    def of(schema: spark_types.StructType, table: Table, url: str, *, batch: int, if_not_exists: bool) -> SourceWriter:
        """The writer of rows of this schema.

        Raises:
            InvalidInput: a column is missing, unknown, there twice, or of a type whose values have no one text.
        """
        fields = PartitionFields.of(schema, table.partition_column_names)
        for name, field in fields.extras.items():
            kind = EXTRAS[name].simpleString()
            if field.dataType.simpleString() != kind:
                raise no_text(field, f"Cast it to {kind}")
        places = {name: schema.names.index(field.name) for name, field in fields.extras.items()}
        return SourceWriter(
            Registering(url, table.database, table.name, batch, if_not_exists),
            [(schema.names.index(field.name), _text_of(field)) for field in fields.values],
            places.get("location"),
            places.get("parameters"),
        )

    def write(self, iterator: Iterator[Row]) -> WriterCommitMessage:
        """Add one task's rows; an error comes back as a value, as Spark would run a failed task again in vain."""
        return TaskReport(self.task.add(map(self._partition, iterator)))

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Raise the first error that stopped a task."""
        raise_first([one.outcome for one in messages if isinstance(one, TaskReport)])

    def _partition(self, row: Row) -> Partition:
        values = [None if row[at] is None else text(row[at]) or None for at, text in self.values]
        location = None if self.location is None else row[self.location]
        parameters = None if self.parameters is None else row[self.parameters]
        return Partition(values, location=location, parameters=parameters or {})


def _text_of(field: spark_types.StructField) -> Callable[[Any], str]:
    """What makes the text of a column's values, as Spark and Hive write them."""
    match field.dataType:
        case spark_types.DecimalType() as kind:
            scale = kind.scale
            return lambda value: f"{value:.{scale}f}"
        case spark_types.FloatType():
            single = FloatType("float", 4)
            return single.text
        case spark_types.TimestampType():
            raise no_text(field, "Cast it to timestamp_ntz, in the session's time zone, or to a string")
        case kind if isinstance(kind, _PLAIN):
            return value_text
        case _:
            raise no_text(field, "Cast it to a string")
