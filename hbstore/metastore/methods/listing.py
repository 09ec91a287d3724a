"""Partitions on their way from the store into replies, and what the log says of each such read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final, TypeAlias, TypeVar

from hbstore.filters.builder import Expression
from hbstore.filters.tree import ExpressionTree, tree_text
from hbstore.metastore.calls import Call
from hbstore.metastore.methods.filters import FILTER_DIALECT
from hbstore.metastore.naming import database_name
from hbstore.metastore.replies import PartitionSpool
from hbstore.metastore.short_calls import FEW, SHORT_FILTER, leave_selector
from hbstore.model.objects import Table
from hbstore.plans.rows_looked_at import rows_looked_at
from hbstore.plans.scan_plan import MultiScanPlan, ScanKind
from hbstore.store.reader import Filter, TableFilter
from hbstore.store.table_row import TableRow, statistics_of
from hbstore.texts.like import LikeDialect

T = TypeVar("T")
Batches: TypeAlias = Iterator[Sequence[bytes]]
"""Stored partitions in key order, in batches."""

_SHOWN: Final = 20
"""Scans of a plan that are logged."""


def read_partitions(
    call: Call,
    database: str | None,
    table: str | None,
    where: Filter | TableFilter,
    make: Callable[[Table, Batches], T],
    *,
    max_parts: int | None = None,
    like_dialect: LikeDialect = FILTER_DIALECT,
) -> T:
    """What ``make`` makes of the partitions that a filter selects; the log hears of the table, the filter, the scans.

    Args:
        call: what is answered.
        database: as the client names it, with a catalog or without.
        table: the table's name.
        where: a filter, or what makes it of the table; None for all.
        make: takes the table and its partitions; it may be called again, and begins anew then.
        max_parts: the first so many in key order; all, if it is None or below zero.
        like_dialect: the filter's.
    """

    def consume(row: TableRow, plan: MultiScanPlan, batches: Batches) -> T:
        counted = _Counted(batches)
        made = make(row.table, counted)
        note_plan(call, plan, row, counted.rows)
        return made

    return read_selected(call, database, table, where, consume, max_parts=max_parts, like_dialect=like_dialect)


def read_selected(
    call: Call,
    database: str | None,
    table: str | None,
    where: Filter | TableFilter,
    consume: Callable[[TableRow, MultiScanPlan, Batches], T],
    *,
    max_parts: int | None = None,
    like_dialect: LikeDialect = FILTER_DIALECT,
) -> T:
    """As `read_payloads`; the thread that waits for clients leaves it to another one, unless the filter is short.

    A filter is short if it has few characters and its plan is a few point lookups.
    """
    note_target(call, database, table, where)
    if not isinstance(where, str) or len(where) > SHORT_FILTER:
        leave_selector()

    def consume_if_short(row: TableRow, plan: MultiScanPlan, batches: Batches) -> T:
        if len(plan.scans) > FEW or any(scan.kind is not ScanKind.GET for scan in plan.scans):
            leave_selector()
        return consume(row, plan, batches)

    return read_payloads(call, database, table, where, consume_if_short, max_parts=max_parts, like_dialect=like_dialect)


def read_payloads(
    call: Call,
    database: str | None,
    table: str | None,
    where: Filter | TableFilter,
    consume: Callable[[TableRow, MultiScanPlan, Batches], T],
    *,
    max_parts: int | None = None,
    like_dialect: LikeDialect = FILTER_DIALECT,
) -> T:
    """What `PartitionStore.read_payloads` gives, once the files of all writes are shown that the partitions have."""

    def noted(row: TableRow, plan: MultiScanPlan, batches: Batches) -> tuple[TableRow, T]:
        return row, consume(row, plan, batches)

    def made(definition: Table) -> Filter:
        tree = where.make(definition) if isinstance(where, TableFilter) else where
        _note_filter(call, tree)
        return tree

    row, consumed = call.store.read_payloads(
        database_name(database),
        table or "",
        TableFilter(made) if isinstance(where, TableFilter) else where,
        noted,
        max_parts=-1 if max_parts is None else max_parts,
        like_dialect=like_dialect,
    )
    call.show_files(row)
    return consumed


def spool_partitions(
    call: Call,
    database: str | None,
    table: str | None,
    where: Filter | TableFilter,
    *,
    max_parts: int | None = None,
    like_dialect: LikeDialect = FILTER_DIALECT,
) -> tuple[Table, PartitionSpool]:
    """The partitions that a filter selects, and the table as it was then.

    Args:
        call: what is answered.
        database: as the client names it.
        table: the table's name.
        where: a filter, or what makes it of the table; None for all.
        max_parts: the first so many; all, if it is None or below zero.
        like_dialect: the filter's.
    """
    spool = PartitionSpool(share=call.session.room)

    def fill(table_read: Table, batches: Batches) -> Table:
        spool.clear()
        spool.extend(batches)
        return table_read

    try:
        read = read_partitions(call, database, table, where, fill, max_parts=max_parts, like_dialect=like_dialect)
    except BaseException:
        spool.close()
        raise
    call.note(partitions=spool.count)
    return read, spool


def note_target(call: Call, database: str | None, table: str | None, where: Filter | TableFilter) -> None:
    """Tell the log which table is read and, if it is there already, by which filter, before anything can fail."""
    call.note(table=f"{database_name(database)}.{table}")
    if not isinstance(where, TableFilter):
        _note_filter(call, where)


def note_plan(call: Call, plan: MultiScanPlan, row: TableRow, returned: int) -> None:
    """Tell the log what a plan scans and what it looked at, if the log wants to know: most calls are not logged.

    Args:
        call: what is answered.
        plan: what was run.
        row: the table's, as it was then.
        returned: how many partitions the plan selected.
    """
    call.note(scans=partial(_shown, plan), rows_read=lambda: rows_looked_at(plan, statistics_of(row), returned))


def _note_filter(call: Call, where: Filter) -> None:
    call.note(filter=where if where is None or isinstance(where, str) else partial(tree_text, _tree(where)))


def _tree(where: Expression | ExpressionTree) -> ExpressionTree:
    return where.tree if isinstance(where, Expression) else where


def _shown(plan: MultiScanPlan) -> list[str]:
    """A plan's scans; of many only the first."""
    scans = [str(scan) for scan in islice(plan.scans, _SHOWN)]
    if len(plan.scans) > _SHOWN:
        scans.append(f"… {len(plan.scans) - _SHOWN:,} more")
    return scans


class _Counted:
    """Batches, and how many partitions were in those that were taken."""

    __slots__ = ("_batches", "rows")

    def __init__(self, batches: Batches) -> None:
        self._batches = batches
        self.rows = 0

    def __iter__(self) -> _Counted:
        return self

    def __next__(self) -> Sequence[bytes]:
        batch = next(self._batches)
        self.rows += len(batch)
        return batch
