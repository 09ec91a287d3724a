"""Which columns are summed up, and the aggregates of Spark that do it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, Literal

from pyspark.sql import Column, Row
from pyspark.sql import functions as f

from hbstore.errors import InvalidInput
from hbstore.model.objects import Table
from hbstore.spark.analysis.summary import ColumnKind, Summary, SummaryColumn
from hbstore.spark.formats import data_schema
from hbstore.spark.texts import quoted

NUMBER: Final = "hbstore_number"
ROWS: Final = "hbstore_rows"
_MICROSECOND: Final = timedelta(microseconds=1)


def summary_columns(table: Table, columns: Sequence[str] | Literal["all"] | None) -> tuple[SummaryColumn, ...]:
    """The columns of a table's files that are to be summed up, in the table's order.

    Args:
        table: the table.
        columns: their names in any case; "all" for all of which something can be said; None for none. Partition columns
            may be named: what their values are stands in the catalog.

    Raises:
        InvalidInput: there is the column does not exist, or nothing can be said of it.
    """
    if columns is None:
        return ()
    types = {table_column.name.lower(): table_column.type for table_column in table.columns}
    fields = {field.name.lower(): field for field in data_schema(table).fields}
    by_name = {
        name: SummaryColumn.of(field.name, field.dataType, _hive_type(types.get(name), field.dataType.simpleString()))
        for name, field in fields.items()
    }
    if columns == "all":
        return tuple(summary_column for summary_column in by_name.values() if summary_column is not None)
    requested = {column.lower() for column in columns}
    names = {name.lower() for name in table.partition_column_names}
    for column in sorted(requested - names):
        if column not in by_name:
            raise InvalidInput(
                "the column does not exist",
                table=table,
                column=column,
                columns=", ".join([field.name for field in fields.values()] + list(table.partition_column_names)),
                hint="Name columns of the table",
            )
        if by_name[column] is None:
            raise InvalidInput(
                "columns of this type have no statistics",
                table=table,
                column=column,
                type=fields[column].dataType.simpleString(),
                hint="Name columns of numbers, texts, bytes, booleans, dates and times",
            )
    return tuple(
        summary_column for name, summary_column in by_name.items() if summary_column is not None and name in requested
    )


def aggregates(columns: Sequence[SummaryColumn], error: float) -> list[Column]:
    """What is to be aggregated; `summaries` reads the row.

    Args:
        columns: the columns.
        error: the standard deviation, relative, of numbers of distinct values.
    """
    wanted = [f.count(f.lit(1)).alias(ROWS)]
    for at, column in enumerate(columns):
        value = f.col(quoted(column.name))
        wanted += [one.alias(f"{name}{at}") for name, one in _of(column, value, error).items()]
    return wanted


def sketch(column: SummaryColumn) -> Column:
    """A sketch of a column's distinct values, which can be united with others."""
    value = f.col(quoted(column.name))
    return f.hll_sketch_agg(f.when(value.isNotNull(), f.xxhash64(value)))


def summaries(row: Row, columns: Sequence[SummaryColumn]) -> dict[str, Summary]:
    """What the aggregates of `aggregates` say, by the columns' names."""
    return {column.name: _summary(row.asDict(), at, column) for at, column in enumerate(columns)}


def _hive_type(text: str | None, of_files: str) -> str:
    """A column's type as the table has it; that of its files where Spark has put something else into the catalog."""
    return of_files if text is None or "<" in text else text


def _of(column: SummaryColumn, value: Column, error: float) -> dict[str, Column]:
    """The aggregates for one column."""
    counted = {"filled": f.count(value)}
    if column.kind is ColumnKind.BOOLEAN:
        return counted | {"trues": f.count_if(value)}
    counted["distinct"] = f.approx_count_distinct(value, error)
    if column.kind.has_length:
        return counted | {"length": f.sum(f.length(value)), "longest": f.max(f.length(value))}
    if column.kind is ColumnKind.FLOAT:  # NaN is no bound, though Spark sorts it behind all numbers
        value = f.when(~f.isnan(value), value)
    return counted | {"low": _portable(column, f.min(value)), "high": _portable(column, f.max(value))}


def _portable(column: SummaryColumn, value: Column) -> Column:
    """A bound as Python has it in any time zone, and beyond its own years."""
    if column.kind is ColumnKind.DATE:
        return f.unix_date(value)
    if column.kind is ColumnKind.TIME:
        return f.unix_micros(value) if column.zoned else value - f.expr("timestamp_ntz '1970-01-01 00:00:00'")
    return value


def _summary(row: Mapping[str, Any], at: int, column: SummaryColumn) -> Summary:
    rows, filled = row[ROWS], row[f"filled{at}"]
    nulls = rows - filled
    if column.kind is ColumnKind.BOOLEAN:
        trues = row[f"trues{at}"]
        return Summary(rows, nulls, (trues > 0) + (filled > trues), trues=trues)
    distinct = row[f"distinct{at}"]
    if column.kind.has_length:
        return Summary(rows, nulls, distinct, length=row[f"length{at}"] or 0, longest=row[f"longest{at}"] or 0)
    low, high = row[f"low{at}"], row[f"high{at}"]
    if isinstance(low, timedelta):
        low, high = low // _MICROSECOND, high // _MICROSECOND
    return Summary(rows, nulls, distinct, low, high)
