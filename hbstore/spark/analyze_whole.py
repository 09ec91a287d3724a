"""The statistics of a whole table, for Spark's optimizer: summed up while its partitions are analyzed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pyspark.sql import SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import BinaryType, StructField, StructType

from hbstore.errors import ConcurrentChange
from hbstore.keys import TAG_VALUE, text_cell
from hbstore.model import Table
from hbstore.spark.analyze_summary import Summary, SummaryColumn, to_spark
from hbstore.spark.formats import partition_schema
from hbstore.store.partition_store import PartitionStore
from hbstore.store.pauses import pause

SPARK: Final = "spark.sql.statistics."
"""What the names of parameters begin with from which Spark's optimizer reads statistics."""

ROWS: Final = f"{SPARK}numRows"
SIZE: Final = f"{SPARK}totalSize"
_COLUMNS: Final = f"{SPARK}colStats."
_ATTEMPTS: Final = 20
_EPOCH: Final = dt.date(1970, 1, 1)


class Whole:
    """Sums up a table. O(columns + distinct partition values) of memory, and a sketch for each column and batch.

    Args:
        table: the table.
        columns: those of its files whose values are summed up.
    """

    def __init__(self, table: Table, columns: Sequence[SummaryColumn]) -> None:
        self._columns = columns
        self._partition_columns = PartitionColumns(table)
        self._rows = 0
        self._size = 0
        self._sums = {column.name: Summary() for column in columns}
        self._sketches: list[Sequence[bytes]] = []

    def add(self, values: Sequence[str], rows: int, size: int, summaries: Mapping[str, Summary]) -> None:
        """Count a partition in. A column of which nothing is said is one of which nothing will be said."""
        self._rows += rows
        self._size += size
        self._partition_columns.add(values, rows)
        if rows:
            self._sums = {name: one + summaries[name] for name, one in self._sums.items() if name in summaries}

    def add_sketches(self, sketches: Sequence[bytes]) -> None:
        """Count in the distinct values of some partitions, of all columns."""
        self._sketches.append(sketches)

    def parameters(self, spark: SparkSession, table: Table) -> dict[str, str]:
        """The parameters of the table, in which Spark finds what was summed up.

        What was known of other columns stays if columns were summed up, or if rows and bytes are what they were.
        """
        totals = {ROWS: str(self._rows), SIZE: str(self._size)}
        before = {name: text for name, text in table.parameters.items() if name.startswith(_COLUMNS)}
        if not self._columns and any(table.parameters.get(name) != text for name, text in totals.items()):
            before = {}
        found = self._of_columns(spark) if self._columns else []
        gone = tuple(f"{_COLUMNS}{name}." for name in (*(one.name for one in self._columns), *_names(found)))
        kept = {name: text for name, text in table.parameters.items() if not name.startswith(SPARK)}
        columns = {name: text for name, text in before.items() if not name.startswith(gone)}
        for column, summary in found:
            columns |= to_spark(column, summary)
        return {**kept, **totals, **columns}

    def _of_columns(self, spark: SparkSession) -> list[tuple[SummaryColumn, Summary]]:
        distinct = self._distinct(spark)
        found = self._partition_columns.summaries()
        for column in self._columns:
            summary = self._sums.get(column.name)
            if summary is not None:
                more = max(summary.distinct, distinct.get(column.name, 0))
                found.append((column, replace(summary, distinct=more)))
        return found

    def _distinct(self, spark: SparkSession) -> dict[str, int]:
        """About how many distinct values there are, by columns."""
        if not self._sketches:
            return {}
        names = [f"s{at}" for at in range(len(self._columns))]
        frame = spark.createDataFrame(self._sketches, StructType([StructField(name, BinaryType()) for name in names]))
        (row,) = frame.agg(*(f.hll_sketch_estimate(f.hll_union_agg(name)) for name in names)).collect()
        return {column.name: number or 0 for column, number in zip(self._columns, row, strict=True)}


class PartitionColumns:
    """Sums up a table's partition columns from partitions' values. O(distinct values) of memory.

    A value that is not of its column's type is NULL, as Spark reads it.
    """

    def __init__(self, table: Table) -> None:
        self._columns = [SummaryColumn.of(one.name, one.dataType) for one in partition_schema(table).fields]
        self._types = table.key_types
        self._seen: list[set[bytes]] = [set() for _ in self._columns]
        self._sums = [Summary() for _ in self._columns]

    def add(self, values: Sequence[str], rows: int) -> None:
        """Count a partition's rows."""
        for at, (kind, text) in enumerate(zip(self._types, values, strict=True)):
            cell = text_cell(kind, text)
            if cell[:1] != TAG_VALUE:
                self._sums[at] += Summary(rows, nulls=rows)
            elif rows:
                self._seen[at].add(cell)
                self._sums[at] += _of_value(kind.decode(cell[1:]), rows)

    def summaries(self) -> list[tuple[SummaryColumn, Summary]]:
        """What was found, in the order of the columns."""
        return [
            (column, replace(total, distinct=len(seen)))
            for column, total, seen in zip(self._columns, self._sums, self._seen, strict=True)
            if column is not None
        ]


def write_whole(store: PartitionStore, spark: SparkSession, table: Table, whole: Whole) -> None:
    """Put a table's statistics among its parameters.

    Raises:
        ConcurrentChange: others kept changing its parameters.
    """
    for attempt in range(_ATTEMPTS):
        found = store.get_table(table.database, table.name)
        parameters = whole.parameters(spark, found)
        if parameters == found.parameters:
            return
        expected = {name: found.parameters.get(name) for name in {*found.parameters, *parameters}}
        try:
            store.alter_table(replace(found, parameters=parameters), expected_parameters=expected)
        except ConcurrentChange:
            pause(attempt)
        else:
            return
    raise ConcurrentChange("others kept changing the table", table=table, hint="Its partitions have their statistics")


def _names(found: Sequence[tuple[SummaryColumn, Summary]]) -> list[str]:
    return [column.name for column, _ in found]


def _of_value(value: Any, rows: int) -> Summary:
    """Rows that all have one partition value."""
    match value:
        case bool():
            return Summary(rows, trues=rows if value else 0)
        case str():
            return Summary(rows, length=len(value) * rows, longest=len(value))
        case dt.date():
            return Summary(rows, low=(days := (value - _EPOCH).days), high=days)
        case (int() as seconds, int() as nanoseconds):
            return Summary(rows, low=(micros := seconds * 1_000_000 + nanoseconds // 1000), high=micros)
        case _:
            return Summary(rows, low=value, high=value)
