"""Reading partitions: by identity, by filter, as names, as counts, and the plans behind that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from types import NoneType
from typing import Final, SupportsIndex, TypeAlias, TypeVar, cast, get_args

from hbstore.byte_cache import ByteCache
from hbstore.errors import HbstoreError
from hbstore.filters.builder import Expression
from hbstore.filters.parser import parse_filter
from hbstore.filters.tree import And, ExpressionTree, SpecValue, joined, tree_text
from hbstore.model.name_lists import partition_names
from hbstore.model.objects import Partition, PartitionValue, PartitionValues, Table
from hbstore.model.structs import packed_partitions, partition_from_payload
from hbstore.plans.behind import behind
from hbstore.plans.bind import bind
from hbstore.plans.estimate import Estimator
from hbstore.plans.execute import count, fetch
from hbstore.plans.explain import Explain, explain_plan
from hbstore.plans.planner import plan_filter
from hbstore.plans.scan_plan import MultiScanPlan
from hbstore.plans.statistics import Statistics
from hbstore.rows.interface import Rows, StoredRow
from hbstore.store.plan_cache import PLAN_BYTES, plan_size, row_size, text_size
from hbstore.store.publications_cell import decided_in
from hbstore.store.puts import NEEDS_VALUES, no_such_partition, partition_key, reusable_values, texts_of
from hbstore.store.table_row import DEFINITION, STATISTICS, TableRow, statistics_of
from hbstore.store.tables import Tables
from hbstore.store.value_texts import partial_spec_texts
from hbstore.texts.arguments import expect, expect_flags, expect_many
from hbstore.texts.like import LikeDialect
from hbstore.texts.like import like_dialect as checked_dialect
from hbstore.times.clock import Clock, Now, utc_now
from hbstore.transactions.unpacked_rows import templates_in
from hbstore.transactions.waiting import Waiting

T = TypeVar("T")
_TREES: Final = (NoneType, *get_args(ExpressionTree))
_FILTERS: Final = """Give text such as "ds = '2013-01-01'", an expression such as col("ds") == "2013-01-01", or None"""
Filter: TypeAlias = "str | Expression | ExpressionTree | None"
"""A filter as text, as a Python expression, as a tree, or none: all partitions."""


@dataclass(frozen=True, slots=True)
class TableFilter:
    """A filter that is made of the very table that is read: another one may come to the name at any moment.

    Attributes:
        make: takes the table; it may be called again.
    """

    make: Callable[[Table], Filter]


@dataclass(frozen=True, slots=True, eq=False)
class _Version:
    """The statistics of a table as they were read; plans are kept beside the version that they were made with."""

    cell: bytes | None
    statistics: Statistics


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads partitions, and remembers plans.

    Attributes:
        rows: where they are.
        tables: the tables that they belong to.
        clock: what relative times of filters are relative to.
    """

    rows: Rows
    tables: Tables
    clock: Clock = utc_now
    _cache: ByteCache = field(default_factory=lambda: ByteCache(PLAN_BYTES))

    def get(self, database: str, table: str, values: PartitionValues) -> Partition:
        """One partition by its values."""
        reusable = reusable_values(values)

        def read(row: TableRow) -> list[StoredRow]:
            return row.unpacked(self.rows).multi_get([partition_key(row, reusable)])

        row, found = self._consistent(database, table, read)
        if not found:
            raise no_such_partition(row.table, texts_of(row, reusable))
        return partition_from_payload(found[0][1])

    def get_many(self, database: str, table: str, values: Sequence[PartitionValues]) -> list[bytes]:
        """The stored bytes of those of some partitions that exist, each once, in key order."""
        asked = [reusable_values(one) for one in expect_many("values", values, hint=NEEDS_VALUES)]

        def read(row: TableRow) -> list[StoredRow]:
            return row.unpacked(self.rows).multi_get(sorted({partition_key(row, one) for one in asked}))

        _, found = self._consistent(database, table, read)
        return [payload for _, payload in found]

    def read(
        self,
        database: str,
        table: str,
        where: Filter | TableFilter,
        consume: Callable[[TableRow, MultiScanPlan, Iterator[Sequence[bytes]]], T],
        *,
        max_parts: int,
        like_dialect: LikeDialect,
        after: PartitionValues | None = None,
        packed: bool = False,
    ) -> tuple[TableRow, T]:
        """What ``consume`` makes of the stored bytes of the partitions that a filter selects, in key order.

        And the table's row as of `_consistent`. With ``after``, only of those that are behind these values; with
        ``packed``, of what their rows hold, which is less, and begins with their values. Elsewhere than in a snapshot
        it is called again, from the start, where the table moved under it.
        """
        if not callable(consume):
            expect("consume", consume, Callable, hint="Give a function of a row, a plan and batches")
        if type(max_parts) is not int:  # a look whether a class has a method takes as long as a plan that is kept
            expect("max_parts", max_parts, SupportsIndex, hint="Give a whole number, -1 for all")
        limit = None if max_parts < 0 else max_parts
        last = None if after is None else reusable_values(after)

        def read(row: TableRow) -> T:
            plan = self.planned(row, where.make(row.table) if isinstance(where, TableFilter) else where, like_dialect)
            if last is not None:
                plan = behind(plan, partition_key(row, last))
            rows = self.rows if packed else row.unpacked(self.rows)
            return consume(row, plan, iter(()) if limit == 0 else fetch(plan, rows, limit))

        return self._consistent(database, table, read)

    def selected(
        self, database: str, table: str, where: Filter, *, max_parts: int, like_dialect: LikeDialect
    ) -> tuple[TableRow, list[Partition]]:
        """The partitions that a filter selects, in key order, each unpacked and decoded when one of its fields is read.

        And the table's row, of which nothing is needed then: it was read after the rows, so it has their templates.
        """
        row, found = self.read(
            database, table, where, _collected, max_parts=max_parts, like_dialect=like_dialect, packed=True
        )
        return row, packed_partitions(found, templates_in(row.cells).unpacked)

    def partitions(
        self, database: str, table: str, where: Filter, *, max_parts: int, like_dialect: LikeDialect
    ) -> list[Partition]:
        """The partitions of `selected`."""
        return self.selected(database, table, where, max_parts=max_parts, like_dialect=like_dialect)[1]

    def names(
        self,
        database: str,
        table: str,
        where: Filter,
        spec: Mapping[str, PartitionValue] | None,
        *,
        max_parts: int,
        like_dialect: LikeDialect,
    ) -> list[str]:
        """The names of the partitions that a filter and a partial spec select, in key order."""
        selecting = where if spec is None else TableFilter(lambda table: with_spec(where, spec, table, like_dialect))

        def read(row: TableRow, _: MultiScanPlan, batches: Iterator[Sequence[bytes]]) -> list[str]:
            return partition_names(row.table.partition_column_names, list(chain.from_iterable(batches)))

        _, names = self.read(
            database, table, selecting, read, max_parts=max_parts, like_dialect=like_dialect, packed=True
        )
        return names

    def count(self, database: str, table: str, where: Filter, *, like_dialect: LikeDialect) -> int:
        """How many partitions a filter selects."""

        def read(row: TableRow) -> int:
            return count(self.planned(row, where, like_dialect), self.rows)

        return self._consistent(database, table, read)[1]

    def plan(self, database: str, table: str, where: Filter, *, like_dialect: LikeDialect) -> MultiScanPlan:
        """The scans that a filter becomes."""
        return self.planned(self.tables.open(database, table), where, like_dialect)

    def explain(self, database: str, table: str, where: Filter, *, analyze: bool, like_dialect: LikeDialect) -> Explain:
        """What a filter becomes and, when analyzed, what running it costs."""
        expect_flags(analyze=analyze)
        with self.rows.snapshot():
            row = self.tables.open(database, table)
            tree, plan = filter_tree(where, like_dialect), self.planned(row, where, like_dialect)
            text = where if isinstance(where, str) else None if tree is None else tree_text(tree)
            totals = row.totals
            schema = row.definition.schema
            predicate = bind(tree, schema, Now(self.clock))
            estimator = Estimator(schema, self._version(row).statistics, self.rows.costs)
            rows = row.unpacked(self.rows) if analyze else None
            return explain_plan(str(row.table), text, tree, plan, predicate, estimator, rows, totals)

    def planned(self, row: TableRow, where: Filter, like_dialect: LikeDialect) -> MultiScanPlan:
        """A filter's plan; plans of texts are kept while the table and its statistics stay the same.

        A plan that depends on when it was made is never kept.
        """
        like_dialect = checked_dialect(like_dialect)
        definition, version = row.definition, self._version(row)
        if where is not None and not isinstance(where, str):
            tree = filter_tree(where, like_dialect)
            return plan_filter(tree, definition.schema, version.statistics, self.rows.costs, now=Now(self.clock))
        key = (definition, where or "", like_dialect)
        made_with, plan = self._cache.get(key, (None, None))
        if made_with is version:
            return cast("MultiScanPlan", plan)
        now = Now(self.clock)
        tree = parse_filter(where or "", like_dialect)
        plan = plan_filter(tree, definition.schema, version.statistics, self.rows.costs, now=now)
        if not now.was_asked:
            self._cache.put(key, (version, plan), text_size(key[1]) + plan_size(plan))
        return plan

    def _version(self, row: TableRow) -> _Version:
        cell = row.cells.get(STATISTICS)
        version: _Version | None = self._cache.get(row.definition)
        if version is None or version.cell != cell:
            version = _Version(cell, statistics_of(row))
            self._cache.put(row.definition, version, row_size(row))
        return version

    def _consistent(self, database: str, table: str, read: Callable[[TableRow], T]) -> tuple[TableRow, T]:
        """What ``read`` makes of a table's row and its partitions, as they were at one moment.

        Where reads are snapshots, that is what they are. Elsewhere the table's row is read *after* the partitions: if
        it is still what it was when it was last read, no partition was renamed meanwhile, from ahead of the reader to
        behind it, or exchanged, and the table was not altered, renamed or dropped, and the row names all jobs that have
        decided something about the partitions and not shown their files. So a table that is asked often costs one read
        of its row for each question, and one that changed is read again.
        """
        if self.tables.transactions.reads_one_moment:
            with self.rows.snapshot():
                row = self.tables.open(database, table)
                return row, read(row)
        recent: TableRow | None = self._cache.get((database, table))
        row = recent or self.tables.open(database, table)
        waiting: Waiting | None = None
        while True:
            self._roll_forward_moves(row)
            try:
                answer = read(row)
            except HbstoreError:
                now = self.tables.open(database, table)  # perhaps the error is about what the table was
                if row is not recent and now.cells[DEFINITION] == row.cells[DEFINITION]:
                    raise
                row = now
                continue
            now = self.tables.open(database, table)
            unmoved = now.log.moves == row.log.moves and not any(commit.moves for commit in now.log.commits)
            unmoved = unmoved and decided_in(now) == decided_in(row)
            if unmoved and now.cells[DEFINITION] == row.cells[DEFINITION]:
                self._cache.put((database, table), now, row_size(now))
                return now, answer
            if row is not recent:  # what is kept from an earlier question is often old
                waiting = waiting or Waiting(self.tables.transactions.patience)
                waiting.pause("other writers kept changing the table while it was read", "Try again", table=row.table)
            row = now

    def _roll_forward_moves(self, row: TableRow) -> None:
        """Bring to an end what moves partitions of a table."""
        for commit in row.log.commits:
            if commit.moves:
                self.tables.transactions.roll_forward(row.key, commit)


def _collected(_: TableRow, __: MultiScanPlan, batches: Iterator[Sequence[bytes]]) -> list[bytes]:
    return list(chain.from_iterable(batches))


def joined_filters(filters: Filter | Iterable[Filter]) -> ExpressionTree | None:
    """Several filters as the one that selects what all of them select; a single one is itself."""
    if isinstance(filters, Iterable) and not isinstance(filters, str | bytes):
        trees = [filter_tree(one, "sql") for one in filters]
    else:
        trees = [filter_tree(filters, "sql")]
    parts = [tree for tree in trees if tree is not None]
    return joined(And, parts) if parts else None


def filter_tree(where: Filter, like_dialect: LikeDialect) -> ExpressionTree | None:
    """The tree of a filter; None of none.

    Raises:
        FilterSyntaxError, FilterTooLarge: its text cannot be used.
        InvalidInput: it is no filter.

    >>> filter_tree("hour = 5", "sql")
    <Comparison hour = 5>
    """
    if isinstance(where, str):
        return parse_filter(where, checked_dialect(like_dialect))
    return where.tree if isinstance(where, Expression) else expect("filter", where, *_TREES, hint=_FILTERS)


def with_spec(where: Filter, spec: Mapping[str, PartitionValue], table: Table, like_dialect: LikeDialect) -> Filter:
    """A filter and a partial partition spec as one filter.

    Raises:
        InvalidInput: the spec is no dict.
        InvalidPartitionValue: as of `partial_spec_texts`.

    >>> from datetime import date
    >>> print(with_spec("hour = 5", {"ds": date(2013, 1, 1)}, sales.definition, "sql"))
    ds = '2013-01-01' and hour = 5
    """
    texts = partial_spec_texts(table, spec)
    if not texts:
        return where
    parts: list[ExpressionTree] = [SpecValue(column, text) for column, text in texts.items()]
    tree = filter_tree(where, like_dialect)
    if tree is not None:
        parts.append(tree)
    return joined(And, parts)
