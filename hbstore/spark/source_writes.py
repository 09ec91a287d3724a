"""``df.write.format("hbstore")``: a DataFrame's rows as partitions, each task in batches of its own."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from pyspark.sql import Row
from pyspark.sql import types as spark_types
from pyspark.sql.datasource import DataSourceWriter, WriterCommitMessage

from hbstore.errors import InvalidInput
from hbstore.model import Partition, Table
from hbstore.spark.register import Outcome, Registering, raise_first
from hbstore.types import FloatType, TimestampType

_TEXT_MAP: Final = spark_types.MapType(spark_types.StringType(), spark_types.StringType())
_EXTRAS: Final = ("location", "parameters")
_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001  partition values have no zone
_SECOND: Final = dt.timedelta(seconds=1)
_PLAIN: Final = range(-3, 7)
"""Exponents of ten at which Java writes a number without one."""


@dataclass(frozen=True)
class Written(WriterCommitMessage):
    """What a task gives back."""

    outcome: Outcome


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
        names = [one.name.lower() for one in schema.fields]
        wanted = [name.lower() for name in table.partition_column_names]
        extras = [name for name in _EXTRAS if name not in wanted]
        unknown = sorted({name for name in names if name not in (*wanted, *extras) or names.count(name) > 1})
        missing = [name for name in wanted if name not in names]
        if missing or unknown:
            raise InvalidInput(
                "the DataFrame's columns are not those of the table's partitions",
                missing=", ".join(missing) or "none",
                unknown=", ".join(unknown) or "none",
                hint=f"Select {', '.join(table.partition_column_names)} and, if there are any, {' and '.join(extras)}",
            )
        kinds: Mapping[str, spark_types.DataType] = {"location": spark_types.StringType(), "parameters": _TEXT_MAP}
        places = {name: names.index(name) for name in extras if name in names}
        for name, place in places.items():
            if schema.fields[place].dataType.simpleString() != kinds[name].simpleString():
                raise _no_text(schema.fields[place], f"Cast it to {kinds[name].simpleString()}")
        return SourceWriter(
            Registering(url, table.database, table.name, batch, if_not_exists),
            [(names.index(name), _text_of(schema.fields[names.index(name)])) for name in wanted],
            places.get("location"),
            places.get("parameters"),
        )

    def write(self, iterator: Iterator[Row]) -> WriterCommitMessage:
        """Add one task's rows; an error comes back as a value, as Spark would run a failed task again in vain."""
        return Written(self.task.add(map(self._partition, iterator)))

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Raise the first error that stopped a task."""
        raise_first([one.outcome for one in messages if isinstance(one, Written)])

    def _partition(self, row: Row) -> Partition:
        values = [None if row[at] is None else text(row[at]) or None for at, text in self.values]
        location = None if self.location is None else row[self.location]
        parameters = None if self.parameters is None else row[self.parameters]
        return Partition(values, location=location, parameters=parameters or {})


def _text_of(field: spark_types.StructField) -> Callable[[Any], str]:  # noqa: PLR0911  one line for each type
    """What makes the text of a column's values, as Spark and Hive write them."""
    match field.dataType:
        case spark_types.StringType() | spark_types.IntegralType() | spark_types.NullType():
            return str
        case spark_types.BooleanType():
            return lambda value: "true" if value else "false"
        case spark_types.DateType():
            return dt.date.isoformat
        case spark_types.DecimalType() as kind:
            scale = kind.scale
            return lambda value: f"{value:.{scale}f}"
        case spark_types.FloatType():
            return lambda value: _java_text(FloatType("float", 4).text(value))
        case spark_types.DoubleType():
            return lambda value: _java_text(repr(value))
        case spark_types.TimestampNTZType():
            return _time
        case spark_types.TimestampType():
            raise _no_text(field, "Cast it to timestamp_ntz, in the session's time zone, or to a string")
        case _:
            raise _no_text(field, "Cast it to a string")


def _time(moment: dt.datetime) -> str:
    since = moment - _EPOCH
    return TimestampType().text((since // _SECOND, since.microseconds * 1_000))


def _java_text(text: str) -> str:
    """Digits as Java writes them: ``1.0E10``.

    >>> [_java_text(text) for text in ("0.5", "1e10", "nan", "-inf", "0.00012", "-0.0")]
    ['0.5', '1.0E10', 'NaN', '-Infinity', '1.2E-4', '-0.0']
    """
    special = {"nan": "NaN", "inf": "Infinity", "infinity": "Infinity"}.get(text.lower().lstrip("-"))
    if special:
        return f"-{special}" if text.startswith("-") else special
    number = Decimal(text)
    if not number or number.adjusted() in _PLAIN:
        plain = f"{number:f}"
        return plain if "." in plain else f"{plain}.0"
    digits = "".join(map(str, number.as_tuple().digits)).rstrip("0")
    return f"{'-' * number.is_signed()}{digits[0]}.{digits[1:] or '0'}E{number.adjusted()}"


def _no_text(field: spark_types.StructField, hint: str) -> InvalidInput:
    return InvalidInput(
        "a column's type has no text that could be a partition value",
        column=field.name,
        type=field.dataType.simpleString(),
        hint=hint,
    )
