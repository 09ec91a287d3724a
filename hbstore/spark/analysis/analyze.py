"""Analyzing: rows, bytes, files and column statistics of a table's partitions, gathered by Spark jobs.

Partitions are analyzed in batches. Tasks list the files of a batch's partitions and ask Parquet and ORC files how many
rows they hold. Where files do not say, or columns are summed up, one job over the whole batch reads them, grouped by
partition. Then what was found is kept with the partitions, if they and their files are still what they were, and the
next batch's turn comes. So a batch is written wholly or not at all, and what is kept of it is all that memory holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from pyspark.sql import SparkSession

from hbstore.errors import InvalidInput, ReadFailed, TableFolderMissing
from hbstore.files.locations import parse_location
from hbstore.keys.partition_names import parse_partition_name, partition_name, table_name
from hbstore.model.objects import Partition, Table
from hbstore.publishing.publisher import Publisher
from hbstore.repair.listing import is_gone
from hbstore.spark.analysis.columns import summary_columns
from hbstore.spark.analysis.commit import Found, StatisticsCommit, known_rows
from hbstore.spark.analysis.files import PartitionFiles, Place, files_of
from hbstore.spark.analysis.reading import FileReading, FolderFiles
from hbstore.spark.analysis.summary import Summary, SummaryColumn, from_hive
from hbstore.spark.analysis.whole import WholeTable, write_whole
from hbstore.spark.arguments import check_arguments
from hbstore.spark.formats import FileFormat, format_of
from hbstore.spark.opening import opened
from hbstore.spark.reads import Where
from hbstore.store.partition_store import PartitionStore
from hbstore.store.writer import partitioned
from hbstore.warehouse.quick_statistics import TOTAL_SIZE

Progress: TypeAlias = Callable[[int, int], object]
"""Is told how many partitions are done, and of how many."""

BATCH: Final = 1000
ATTEMPTS: Final = 3
"""How often a partition is analyzed that somebody changes meanwhile."""


@dataclass(frozen=True, slots=True)
class Analyzed:
    """What an analysis found.

    Attributes:
        table: the table.
        columns: the columns whose statistics were gathered.
        partitions: how many partitions got statistics.
        passed_over: how many had them already, with ``only_missing``.
        rows: of the partitions that got statistics.
        files: theirs.
        size: their bytes.
        missing: the names of those of them whose folders are not there, and which count as empty.
        changed: the names of those that somebody kept changing; they got none.
        whole: whether the table's own statistics were written.
    """

    table: str
    columns: tuple[str, ...] = ()
    partitions: int = 0
    passed_over: int = 0
    rows: int = 0
    files: int = 0
    size: int = 0
    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    whole: bool = False


def analyze_table(
    spark: SparkSession,
    store: PartitionStore | str,
    table: str,
    filter: Where = None,
    *,
    columns: Sequence[str] | Literal["all"] | None = None,
    only_missing: bool = False,
    progress: Progress | None = None,
    batch: int = BATCH,
) -> Analyzed:
    """Gather the statistics of partitions by Spark jobs, and keep them with the partitions. O(rows), over all cores.

    A partition gets the parameters numRows, numFiles and totalSize, those of Spark, and COLUMN_STATS_ACCURATE; column
    statistics are kept as the metastore serves them. Without a filter the table itself gets Spark's statistics as well.
    A machine that runs tasks must have hbstore installed and must reach the files, but not the store.

    When the call is interrupted, calling it again with ``only_missing`` does the rest.

    Args:
        spark: where the jobs run.
        store: a store, or its URL.
        table: ``database.table``.
        filter: only partitions that it selects: text or a Python expression.
        columns: also gather the statistics of these columns, or of "all" that can have some.
        only_missing: pass over partitions that have all of that.
        progress: is told how it gets on.
        batch: how many partitions are analyzed at once.

    Raises:
        InvalidInput: an argument is of another type; no such name or column; a column that can have no statistics; the
            table does not say in which format its files are; the partition has no location.
        TableNotFound, TableNotPartitioned: there is no such partitioned table.
        FilterSyntaxError, UnknownColumnError, FilterTypeError: the filter.
        TableFolderMissing: the table's own folder is not there, and so are not partitions in it.
        FileOperationFailed, ReadFailed: a folder cannot be listed, or a file not be read; earlier batches are kept.

    >>> analyzed = analyze_table(spark, store, "shop.sales", "ds = '2013-01-01'", columns=["amount"])
    >>> analyzed.partitions, analyzed.rows
    (2, 2)
    """
    check_arguments(
        spark=spark,
        store=store,
        table=table,
        filter=filter,
        columns=None if columns == "all" else columns,
        only_missing=only_missing,
        progress=progress,
        batch=batch,
    )
    if batch < 1:
        raise InvalidInput(
            "a batch must hold at least one partition", batch=batch, hint="Use batch=1000, or leave it out"
        )
    database, name = table_name(table)
    with opened(store) as open_store:
        described = partitioned(open_store.get_table(database, name))
        chosen = summary_columns(described, columns)
        analysis = _Analysis(
            spark,
            open_store,
            described,
            chosen,
            StatisticsCommit(open_store, described, chosen),
            WholeTable(spark, described, chosen) if filter is None else None,
            only_missing,
            batch,
        )
        return analysis.run(open_store.partition_names(database, name, filter), progress or (lambda *_: None))


@dataclass(slots=True)
class _Work:
    """A partition that is analyzed."""

    name: str
    partition: Partition
    form: FileFormat
    files: PartitionFiles
    rows: int
    summaries: dict[str, Summary]

    @property
    def folder(self) -> FolderFiles:
        return FolderFiles(self.name, self.partition.location or "", tuple(path for path, _ in self.files.found or ()))

    @property
    def found(self) -> Found:
        return Found(self.partition, self.rows, self.files.count, self.files.size, self.summaries)


@dataclass(slots=True)
class _Analysis:
    """One call of `analyze_table`."""

    spark: SparkSession
    store: PartitionStore
    table: Table
    columns: tuple[SummaryColumn, ...]
    commit: StatisticsCommit
    whole: WholeTable | None
    only_missing: bool
    batch: int
    tries: Counter[str] = field(default_factory=Counter)
    sums: Counter[str] = field(default_factory=Counter)
    missing: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)

    def run(self, names: Sequence[str], progress: Progress) -> Analyzed:
        """Analyze partitions; those that change meanwhile again when all others are done."""
        total, done = len(names), 0
        todo = list(names)
        progress(done, total)
        while todo:
            again: list[str] = []
            for some in _batches(todo, self.batch):
                left = self._analyze(some)
                again += left
                done += len(some) - len(left)
                progress(done, total)
            todo = again
        whole = None if self.changed else self.whole
        if whole is not None:
            write_whole(self.store, self.table, whole)
        return Analyzed(
            str(self.table),
            tuple(column.name for column in self.columns),
            missing=tuple(self.missing),
            changed=tuple(self.changed),
            whole=whole is not None,
            **self.sums,
        )

    def _analyze(self, names: Sequence[str]) -> list[str]:
        """Analyze a batch; the names of those partitions that have to be analyzed again."""
        values = [tuple(parse_partition_name(name).values()) for name in names]
        partitions, moving = self._settled(values)
        counted = (
            {partition.values: known_rows(partition, self.columns) for partition in partitions}
            if self.only_missing
            else {}
        )
        self._pass_over(
            [(partition, rows) for partition in partitions if (rows := counted.get(partition.values)) is not None]
        )
        work = self._listed([partition for partition in partitions if counted.get(partition.values) is None])
        read = [item for item in work if item.files.count and (self.columns or item.files.rows is None)]
        try:
            self._read(read)
        except ReadFailed:
            moved = self._moved(read)  # what is gone could not be read
            if not moved:
                raise
            return [*self._again(moved | moving), *(item.name for item in work if item.name not in moved)]
        moved = self._moved(read)
        kept, changed = self.commit.write([item.found for item in work if item.name not in moved])
        for item in work:
            if item.partition.values in kept:
                self._count(item)
        return self._again(moved | moving | {self._name(values) for values in changed})

    def _settled(self, values: Sequence[tuple[str, ...]]) -> tuple[list[Partition], set[str]]:
        """Those of some partitions whose files are shown, and the names of the others, whose files are on their way."""
        database, name = self.table.database, self.table.name
        partitions = self.store.get_partitions(database, name, values)
        Publisher(self.store).roll_forward_before_use(self.store.publications.row(database, name))
        busy = self.commit.busy(partitions)
        return [one for one in partitions if one.values not in busy], {self._name(one) for one in busy}

    def _pass_over(self, partitions: Sequence[tuple[Partition, int]]) -> None:
        """Count in partitions that have their statistics, and so many rows, from these."""
        self.sums["passed_over"] += len(partitions)
        if self.whole is None or not partitions:
            return
        names = [column.name for column in self.columns]
        values = [partition.values for partition, _ in partitions]
        kept = self.store.column_statistics.read_partitions(self.table.database, self.table.name, values, names)
        for partition, rows in partitions:
            statistics = {statistic.column: statistic for statistic in kept.get(partition.values, ())}
            summaries = {}
            for column in self.columns:
                statistic = statistics.get(column.name.lower())
                summary = None if statistic is None else from_hive(column, statistic, rows)
                if summary is not None:
                    summaries[column.name] = summary
            self.whole.add(partition.values, rows, int(partition.parameters[TOTAL_SIZE]), summaries)

    def _listed(self, partitions: Sequence[Partition]) -> list[_Work]:
        """The partitions with their files, and the rows that these say."""
        if not partitions:
            return []
        forms = [format_of(self.table, partition.storage) for partition in partitions]
        files = files_of(
            self.spark, [self._place(partition, form) for partition, form in zip(partitions, forms, strict=True)]
        )
        nothing = {column.name: Summary() for column in self.columns}
        work = [
            _Work(self._name(partition.values), partition, form, found, found.rows or 0, nothing)
            for partition, form, found in zip(partitions, forms, files, strict=True)
        ]
        self._check_root([item.partition for item in work if item.files.found is None])
        return work

    def _place(self, partition: Partition, form: FileFormat) -> Place:
        if not partition.location:
            raise InvalidInput(
                "the partition has no location",
                table=self.table,
                partition=self._name(partition.values),
                hint="Give the partition a location, or leave it out with a filter",
            )
        return Place(partition.location, form.name, not self.columns)

    def _check_root(self, missing: Sequence[Partition]) -> None:
        """Refuse to take partitions for empty whose whole table is away, as a disk may be."""
        root = self.table.location
        if not root or not missing:
            return
        place = parse_location(root)
        if any(parse_location(one.location or "").is_below(place) for one in missing) and is_gone(root):
            raise TableFolderMissing(
                "the table's folder does not exist",
                table=self.table,
                location=root,
                hint="Check that its disk is mounted; otherwise partitions without folders would count as empty",
            )

    def _read(self, work: Sequence[_Work]) -> None:
        """Count the rows of partitions by reading them, and sum up their columns."""
        forms: dict[FileFormat, list[_Work]] = {}
        for item in work:
            forms.setdefault(item.form, []).append(item)
        for some in forms.values():
            reading = FileReading(self.spark, self.table, self.columns, self.whole is not None)
            read = reading.read(some[0].form, [item.folder for item in some])
            for item, rows, summaries in zip(some, read.rows, read.summaries, strict=True):
                item.rows, item.summaries = rows, summaries
            if self.whole is not None and read.sketches is not None:
                self.whole.add_sketches(read.sketches)

    def _moved(self, read: Sequence[_Work]) -> set[str]:
        """The names of partitions whose files are not what they were before they were read."""
        places = [Place(one.partition.location or "", one.form.name, footers=False) for one in read]
        now = files_of(self.spark, places) if places else []
        return {one.name for one, files in zip(read, now, strict=True) if files.found != one.files.found}

    def _again(self, moved: Collection[str]) -> list[str]:
        """Those of some partitions that are to be analyzed again; the others are given up."""
        self.tries.update(moved)
        given_up = [name for name in moved if self.tries[name] >= ATTEMPTS]
        self.changed += sorted(given_up)
        return sorted(set(moved) - set(given_up))

    def _count(self, one: _Work) -> None:
        """Count in a partition that has its statistics now."""
        self.sums.update(partitions=1, rows=one.rows, files=one.files.count, size=one.files.size)
        if one.files.found is None:
            self.missing.append(one.name)
        if self.whole is not None:
            self.whole.add(one.partition.values, one.rows, one.files.size, one.summaries)

    def _name(self, values: Sequence[str]) -> str:
        return partition_name(self.table.partition_column_names, values)


def _batches(names: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (names[at : at + size] for at in range(0, len(names), size))
