"""The statistics of a whole table, for Spark's optimizer: summed up while its partitions are analyzed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pyspark.sql import Column, Row, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import BinaryType, StructField, StructType

from hbstore.keys.row_key import NULL_PARTITION
from hbstore.keys.types import read_value
from hbstore.model.objects import Table
from hbstore.spark.analysis.summary import COLUMNS, SPARK, Summary, SummaryColumn, to_spark
from hbstore.spark.formats import partition_schema
from hbstore.spark.frames import local_frame
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_step import TableStep

ROWS: Final = f"{SPARK}numRows"
SIZE: Final = f"{SPARK}totalSize"
_SKETCHES: Final = 64
"""Sketches of some kilobytes for each column that are held at most; then they become one."""

_EPOCH: Final = dt.date(1970, 1, 1)


class WholeTable:
    """Sums up a table. O(columns + distinct partition values) of memory.

    Args:
        spark: where sketches are united.
        table: the table.
        columns: those of its files whose values are summed up.
    """

    def __init__(self, spark: SparkSession, table: Table, columns: Sequence[SummaryColumn]) -> None:
        self._spark = spark
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
        if len(self._sketches) >= _SKETCHES:
            self._sketches = [[bytes(one) for one in self._united(lambda sketch: sketch)]]

    def summaries(self) -> list[tuple[SummaryColumn, Summary]]:
        """What was summed up of columns; nothing where that was not asked for."""
        if not self._columns:
            return []
        distinct = self._distinct()
        summaries = self._partition_columns.summaries()
        for column in self._columns:
            summary = self._sums.get(column.name)
            if summary is not None:
                more = max(summary.distinct, distinct.get(column.name, 0))
                summaries.append((column, replace(summary, distinct=more)))
        return summaries

    def parameters(self, table: Table, summaries: Sequence[tuple[SummaryColumn, Summary]]) -> dict[str, str]:
        """The parameters of the table, in which Spark finds what was summed up.

        What was known of other columns stays if columns were summed up, or if rows and bytes are what they were.
        """
        totals = {ROWS: str(self._rows), SIZE: str(self._size)}
        before = {name: text for name, text in table.parameters.items() if name.startswith(COLUMNS)}
        if not self._columns and any(table.parameters.get(name) != text for name, text in totals.items()):
            before = {}
        summed_up = (*self._columns, *(column for column, _ in summaries))
        gone = tuple(f"{COLUMNS}{column.name}." for column in summed_up)
        kept = {name: text for name, text in table.parameters.items() if not name.startswith(SPARK)}
        columns = {name: text for name, text in before.items() if not name.startswith(gone)}
        for column, summary in summaries:
            columns |= to_spark(column, summary)
        return {**kept, **totals, **columns}

    def _distinct(self) -> dict[str, int]:
        """About how many distinct values there are, by columns."""
        if not self._sketches:
            return {}
        numbers = self._united(f.hll_sketch_estimate)
        return {column.name: number or 0 for column, number in zip(self._columns, numbers, strict=True)}

    def _united(self, told: Callable[[Column], Column]) -> Row:
        """What is told of the sketches of each column when they are one."""
        names = [f"s{at}" for at in range(len(self._columns))]
        schema = StructType([StructField(name, BinaryType()) for name in names])
        frame = local_frame(self._spark, self._sketches, schema)
        (row,) = frame.agg(*(told(f.hll_union_agg(name)) for name in names)).collect()
        return row


class PartitionColumns:
    """Sums up a table's partition columns from partitions' values. O(distinct values) of memory.

    A text that Spark reads no value from is NULL.
    """

    def __init__(self, table: Table) -> None:
        self._columns = [SummaryColumn.of(one.name, one.dataType) for one in partition_schema(table).fields]
        self._types = table.key_types
        self._seen: list[set[bytes]] = [set() for _ in self._columns]
        self._sums = [Summary() for _ in self._columns]

    def add(self, values: Sequence[str], rows: int) -> None:
        """Count a partition's rows."""
        for at, (kind, text) in enumerate(zip(self._types, values, strict=True)):
            value = None if text in ("", NULL_PARTITION) else read_value(kind, text)
            if value is None:
                self._sums[at] += Summary(rows, nulls=rows)
            elif rows:
                payload = kind.encode(value)
                self._seen[at].add(payload)
                self._sums[at] += _of_value(kind.decode(payload), rows)

    def summaries(self) -> list[tuple[SummaryColumn, Summary]]:
        """What was found, in the order of the columns."""
        return [
            (column, replace(total, distinct=len(seen)))
            for column, total, seen in zip(self._columns, self._sums, self._seen, strict=True)
            if column is not None
        ]


def write_whole(store: PartitionStore, table: Table, whole: WholeTable) -> None:
    """Put a table's statistics among its parameters.

    Raises:
        StoreBusy: other writers kept changing its parameters.
    """
    summaries = whole.summaries()

    def write(step: TableStep) -> None:
        parameters = whole.parameters(step.table, summaries)
        if parameters != step.table.parameters:
            step.alter(replace(step.table, parameters=parameters))

    store.change(str(table), write, hint="The statistics of the partitions are written. Analyze the table again")


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
