"""Which times have a partition: what decides whether a time that lost one stays in its timeline."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Final

from hbstore.errors import CorruptRow
from hbstore.keys.row_key import after_cell, cell_at, split_key, successor, text_cell, value_part
from hbstore.model.structs import partition_values
from hbstore.plans.execute import fetch
from hbstore.plans.planner import plan_predicate
from hbstore.rows.interface import Rows, StoredRow
from hbstore.rows.predicate import CellIn
from hbstore.rows.ranges import unite
from hbstore.store.table_row import TableRow, statistics_of
from hbstore.store.time_columns import TimeColumns, timeline_name
from hbstore.timelines.runs import Runs
from hbstore.times.update_period import UpdatePeriod

_AT_ONCE: Final = 1_000
"""Values in one filter, and rows of a change in one page."""


def present(
    rows: Rows,
    row: TableRow,
    columns: TimeColumns,
    period: UpdatePeriod,
    column: str,
    runs: Runs,
    without: AbstractSet[bytes] = frozenset(),
) -> Runs:
    """Those of some indexes that a partition has in a column.

    By the first partition column it costs a seek for each index at most, and fewer where few rows stand between them;
    by another column a scan such as a filter on it does.

    Args:
        rows: where the partitions are.
        row: their table's.
        columns: the table's time partition columns.
        period: the partitions' update period.
        column: one of the time partition columns.
        runs: the indexes.
        without: the payloads of partitions that do not count.
    """
    rows = row.unpacked(rows)
    indexes = [index for start, stop in runs for index in range(start, stop)]
    if columns.place(column) == 0:
        return Runs.of(sorted(_met_in_leaps(rows, row, columns, period, column, indexes, without)))
    found: set[int] = set()
    for at in range(0, len(indexes), _AT_ONCE):
        found |= _met(rows, row, columns, period, column, set(indexes[at : at + _AT_ONCE]), without)
    return Runs.of(sorted(found))


def _met_in_leaps(
    rows: Rows,
    row: TableRow,
    columns: TimeColumns,
    period: UpdatePeriod,
    column: str,
    indexes: Sequence[int],
    without: AbstractSet[bytes],
) -> set[int]:
    """Those of some ascending indexes that the leading column has.

    Rows are read in pages, and behind each page it leaps to the next index. A page has as many rows as cost what a seek
    does; so it is never much dearer than a seek for each index, nor than reading all that stands between them. Rows
    that do not count stand there until the change is written that removes them: up to 1,000 of them fit in besides.
    """
    prefix, width = row.definition.prefix, len(row.definition.schema.names)
    name = timeline_name(period, column)
    size = max(1, round(rows.costs.seek / rows.costs.read)) + min(len(without), _AT_ONCE)
    met: set[int] = set()

    def cell_of(index: int) -> bytes:
        return columns.cell(column, period, index)

    def look(page: Sequence[StoredRow]) -> None:
        for key, payload in page:
            if payload in without:
                continue
            times = columns.stored_times(split_key(key, width)[1], payload)
            met.update(index for one, index in times if one == name)

    at = 0
    while at < len(indexes):
        stop = successor(prefix + cell_of(indexes[-1]))
        page = [pair for batch in rows.scan(prefix + cell_of(indexes[at]), stop, None, size) for pair in batch]
        look(page)
        if len(page) < size:
            break
        last = page[-1][0]
        cell = value_part(row.definition.schema.types[0], cell_at(last, 0, width))
        at = bisect_right(indexes, cell, at, key=cell_of)
        undecided = indexes[at - 1] if at and cell_of(indexes[at - 1]) == cell else None
        if undecided is not None and undecided not in met:  # its first rows are of another period
            for batch in rows.scan(last + b"\0", successor(prefix + cell)):
                look(batch)
                if undecided in met:
                    break
    return met.intersection(indexes)


def _met(
    rows: Rows,
    row: TableRow,
    columns: TimeColumns,
    period: UpdatePeriod,
    column: str,
    indexes: set[int],
    without: AbstractSet[bytes],
) -> set[int]:
    """Those of some indexes that are met in a scan, which ends when all are."""
    schema, at = row.definition.schema, columns.place(column)
    # A range for all times that follow one another: what else stands there, such as days among hours, is passed over.
    runs = [
        (columns.cell(column, period, start), columns.cell(column, period, stop - 1))
        for start, stop in Runs.of(sorted(indexes))
    ]
    ranges = unite((first, after_cell(schema.types[at], last)) for first, last in runs)
    plan = plan_predicate(CellIn(at, ranges), schema, statistics_of(row), rows.costs)
    name = timeline_name(period, column)
    met: set[int] = set()
    for batch in fetch(plan, rows):
        for payload in batch:
            if payload in without:
                continue
            with suppress(CorruptRow):
                times = columns.stored_times(tuple(map(text_cell, schema.types, partition_values(payload))), payload)
                met.update(index for one, index in times if one == name)
        if met >= indexes:
            break
    return met & indexes
