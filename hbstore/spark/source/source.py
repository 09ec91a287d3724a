"""``spark.read.format("hbstore")``: a table's partitions as a DataFrame, and partitions added from one.

A Python data source: Spark makes the objects below in processes of its own, sends the reader to every task, and takes
what errors say into its own exceptions.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceWriter, Filter, InputPartition
from pyspark.sql.types import StructType

from hbstore.errors import ConcurrentChange, InvalidInput, InvalidUrl
from hbstore.filters.parser import parse_filter
from hbstore.filters.tree import And, ExpressionTree, joined
from hbstore.keys.partition_names import table_name
from hbstore.keys.row_key import table_prefix
from hbstore.model.objects import Table
from hbstore.plans.execute import fetch
from hbstore.plans.planner import plan_filter
from hbstore.plans.scan_plan import MultiScanPlan
from hbstore.plans.schema import KeySchema
from hbstore.plans.statistics import Statistics
from hbstore.rows.interface import Rows
from hbstore.rows.urls import parse_url, shared_url
from hbstore.spark.key_slices import KeyRange
from hbstore.spark.source.pushdown import pushed_tree
from hbstore.spark.source.rows import ArrowRows, source_schema
from hbstore.spark.source.splits import splits, within
from hbstore.spark.source.writes import SourceWriter
from hbstore.store.partition_store import PartitionStore, connect
from hbstore.store.table_row import TableRow, statistics_of
from hbstore.store.writer import partitioned
from hbstore.times.clock import Now, utc_now

ROWS_PER_TASK: Final = 20_000
"""Partitions that a task reads, about, unless told otherwise."""

_READ_OPTIONS: Final = ("url", "table", "filter", "rows_per_task", "plan", "pushdown")
_WRITE_OPTIONS: Final = ("url", "table", "batch", "if_not_exists")


class HbstoreSource(DataSource):
    """The format ``hbstore``."""

    @classmethod
    def name(cls) -> str:
        """What stands in ``format()``."""
        return "hbstore"

    def schema(self) -> StructType:
        """The columns; the options are checked here, the filter included, before a job starts."""
        reader = self._reader()
        with reader.opened() as store:
            reader.planned(store, reader.selection(store))
        return reader.columns

    def reader(self, schema: StructType) -> DataSourceReader:
        """Reads.

        Raises:
            InvalidInput: an option is missing, unknown or of no use; the schema is not the source's.
            InvalidUrl: tasks cannot open such a store.
        """
        reader = self._reader()
        if schema != reader.columns:
            raise InvalidInput(
                "the schema differs from the table's columns",
                schema=schema.simpleString(),
                columns=reader.columns.simpleString(),
                hint="Leave out schema(), and select or cast columns afterwards",
            )
        return PushingReader(reader) if _flag(self.options, "pushdown", default=False) else reader

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:  # noqa: FBT001  Spark's signature
        """Adds partitions.

        Raises:
            InvalidInput: an option or a column is missing, unknown or of no use; the mode is not ``append``.
            InvalidUrl: tasks cannot open such a store.
        """
        if overwrite:
            raise InvalidInput("this data source only adds partitions", mode="overwrite", hint='Use mode("append")')
        url, database, table = _place(self.options, _WRITE_OPTIONS)
        with connect(url, create=False) as store:
            described = partitioned(store.get_table(database, table))
        batch = _number(self.options, "batch", 1_000)
        return SourceWriter.of(schema, described, url, batch=batch, if_not_exists=_flag(self.options, "if_not_exists"))

    def _reader(self) -> SourceReader:
        url, database, table = _place(self.options, _READ_OPTIONS)
        with connect(url, create=False) as store:
            described = partitioned(store.get_table(database, table))
        return SourceReader(
            url,
            described,
            self.options.get("filter") or None,
            _number(self.options, "rows_per_task", ROWS_PER_TASK),
            _flag(self.options, "plan", default=False),
        )


@dataclass(frozen=True, slots=True)
class ReadSelection:
    """What a read is of, as it is told to every task, so that all of them make the same plan.

    Attributes:
        filter: of the option; as text, since a deep tree cannot be pickled.
        pushed: what Spark pushed; all must hold.
        statistics: what was known of the table.
        table_id: which table of its name it was.
        now: what relative times in the filter are relative to.
    """

    filter: str | None
    pushed: tuple[ExpressionTree, ...]
    statistics: Statistics
    table_id: bytes
    now: dt.datetime

    def plan(self, row: TableRow, rows: Rows) -> MultiScanPlan:
        """The scans.

        Raises:
            ConcurrentChange: the table was dropped meanwhile, and there is another one of its name.
            FilterError: the filter does not fit the table.
        """
        if row.table_id != self.table_id:
            raise ConcurrentChange(
                "the table was dropped and created again after the query was planned",
                table=row.table,
                hint="Call load() again",
            )
        given = parse_filter(self.filter) if self.filter else None
        trees = self.pushed if given is None else (given, *self.pushed)
        tree = joined(And, trees) if trees else None
        return plan_filter(tree, row.definition.schema, self.statistics, rows.costs, now=Now(lambda: self.now))


class Task(InputPartition):
    """One task: what the read selects between two keys."""

    def __init__(self, selection: ReadSelection, split: KeyRange) -> None:
        self.selection = selection
        self.split = split


@dataclass
class SourceReader(DataSourceReader):
    """Reads a table's partitions.

    Attributes:
        url: the store's.
        table: the table.
        filter: of the option.
        rows_per_task: about how many partitions a task reads.
        plan: whether there is a column that says how the rows were read.
        pushed: Spark's filters, as far as they were taken over.
    """

    url: str
    table: Table
    filter: str | None
    rows_per_task: int
    plan: bool
    pushed: list[ExpressionTree] = field(default_factory=list)

    @property
    def columns(self) -> StructType:
        """The columns."""
        return source_schema(self.table, plan=self.plan)

    def opened(self) -> PartitionStore:
        """The store, to be closed."""
        return connect(self.url, create=False)

    def selection(self, store: PartitionStore) -> ReadSelection:
        """What is read, as of now."""
        row = self._row(store)
        return ReadSelection(self.filter, tuple(self.pushed), statistics_of(row), row.table_id, utc_now())

    def planned(self, store: PartitionStore, selection: ReadSelection) -> MultiScanPlan:
        """The scans."""
        return selection.plan(self._row(store), store.rows)

    def partitions(self) -> Sequence[InputPartition]:
        """The tasks."""
        with self.opened() as store:
            selection = self.selection(store)

            def split(row: TableRow, _: object, __: object) -> list[KeyRange]:
                return splits(selection.plan(row, store.rows), store.rows, selection.statistics, self.rows_per_task)

            found = store.read_payloads(self.table.database, self.table.name, None, split, max_parts=0)
        return [Task(selection, one) for one in found]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """One task's rows.

        They are kept until the last is read, as only then it is known on HBase that no partition was moved meanwhile.
        """
        assert isinstance(partition, Task)

        def collect(row: TableRow, _: object, __: object) -> list[pa.RecordBatch]:
            plan = within(partition.selection.plan(row, store.rows), partition.split)
            arrow = ArrowRows(self.table, _described(plan) if self.plan else None)
            return [arrow.batch(payloads) for payloads in fetch(plan, row.unpacked(store.rows)) if payloads]

        with self.opened() as store:
            yield from store.read_payloads(self.table.database, self.table.name, None, collect, max_parts=0)

    def _row(self, store: PartitionStore) -> TableRow:
        def row_itself(row: TableRow, _: object, __: object) -> TableRow:
            return row

        return store.read_payloads(self.table.database, self.table.name, None, row_itself, max_parts=0)


@dataclass
class PushingReader(DataSourceReader):
    """A reader that takes over Spark's filters.

    Spark 4.1 to 4.3 keep what was pushed last with the source, and read every use of the DataFrame by it, those with
    other filters or none too. So it has to be asked for.

    Attributes:
        reader: what reads.
    """

    reader: SourceReader

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802  Spark's name
        """Take over what can be taken over exactly; the rest is given back."""
        table = self.reader.table
        schema = KeySchema(table_prefix(table.database, table.name), table.partition_column_names, table.key_types)
        for one in filters:
            tree = pushed_tree(one, schema)
            if tree is None:
                yield one
            else:
                self.reader.pushed.append(tree)

    def partitions(self) -> Sequence[InputPartition]:
        """The tasks."""
        return self.reader.partitions()

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """One task's rows."""
        return self.reader.read(partition)


def _described(plan: MultiScanPlan) -> str:
    more = f" and {len(plan.scans) - 1:,} more" if len(plan.scans) > 1 else ""
    return f"{plan.scans[0]}{more}" if plan.scans else "nothing"


def _place(options: Mapping[str, str], allowed: Sequence[str]) -> tuple[str, str, str]:
    """The store's URL, the database and the table; all other options are known ones."""
    unknown = sorted(set(options) - set(allowed))
    missing = [name for name in ("url", "table") if not options.get(name)]
    if unknown or missing:
        raise InvalidInput(
            "an option is missing or unknown",
            missing=", ".join(missing) or "none",
            unknown=", ".join(unknown) or "none",
            hint=f"The options are {', '.join(allowed)}",
        )
    parsed = parse_url(options["url"])
    if parsed.scheme == "sqlite" and not Path(parsed.place).is_absolute():
        raise InvalidUrl(
            "the path of the store is relative, and Spark's processes run in other folders",
            url=options["url"],
            hint="Use an absolute path",
        )
    return shared_url(options["url"]), *table_name(options["table"])


def _number(options: Mapping[str, str], name: str, default: int) -> int:
    text = options.get(name, str(default))
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise InvalidInput(
            "the option is not a whole number above 0",
            option=name,
            value=text,
            hint=f"Write {default}, or leave it out",
        )
    return int(text)


def _flag(options: Mapping[str, str], name: str, *, default: bool = True) -> bool:
    text = options.get(name, str(default)).lower()
    if text not in ("true", "false"):
        raise InvalidInput("the option is neither true nor false", option=name, value=text, hint="Write true or false")
    return text == "true"
