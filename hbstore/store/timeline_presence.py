"""Which times have a partition: what decides whether a time that lost one stays in its timeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from hbstore.keys import after_cell, split_key, successor, text_cell
from hbstore.plans.execute import fetch
from hbstore.plans.planner import plan_predicate
from hbstore.rows.interface import Rows
from hbstore.rows.predicate import CellIn
from hbstore.rows.ranges import unite
from hbstore.store.table_row import TableRow
from hbstore.store.time_columns import TimeColumns, timeline_name
from hbstore.structs import partition_from_payload
from hbstore.timelines.runs import Runs
from hbstore.times.update_period import UpdatePeriod

_AT_ONCE: Final = 1_000
"""Values in one filter."""


def present(rows: Rows, row: TableRow, columns: TimeColumns, period: UpdatePeriod, column: str, wanted: Runs) -> Runs:
    """Those of some indexes that a partition has in a column.

    By the first partition column it costs a seek for each index, by another one a scan such as a filter on it does.

    Args:
        rows: where the partitions are.
        row: their table's.
        columns: the table's time partition columns.
        period: the partitions' update period.
        column: one of the time partition columns.
        wanted: the indexes.
    """
    indexes = (index for start, stop in wanted for index in range(start, stop))
    found: set[int] = set()
    if columns.place(column) == 0:
        name = timeline_name(period, column)
        for index in indexes:
            prefix = row.definition.prefix + columns.cell(column, period, index)
            if any((name, index) in times for times in _times_below(rows, row, columns, prefix)):
                found.add(index)
    else:
        while batch := set(islice(indexes, _AT_ONCE)):
            found |= _met(rows, row, columns, period, column, batch)
    return Runs.of(sorted(found))


def _times_below(rows: Rows, row: TableRow, columns: TimeColumns, prefix: bytes) -> Iterator[Sequence[tuple[str, int]]]:
    """The times of the partitions whose keys begin alike: first of one, which nearly always decides."""
    width = len(row.definition.schema.names)
    for limit in (1, None):
        for batch in rows.scan(prefix, successor(prefix), None, limit):
            for key, payload in batch:
                yield columns.known_times(split_key(key, width)[1], partition_from_payload(payload).parameters)


def _met(
    rows: Rows, row: TableRow, columns: TimeColumns, period: UpdatePeriod, column: str, wanted: set[int]
) -> set[int]:
    """Those of some indexes that are met in a scan, which ends when all are."""
    schema, at = row.definition.schema, columns.place(column)
    cells = [columns.cell(column, period, index) for index in wanted]
    ranges = unite((cell, after_cell(schema.types[at], cell)) for cell in sorted(cells))
    plan = plan_predicate(CellIn(at, ranges), schema, row.statistics, rows.costs)
    name = timeline_name(period, column)
    found: set[int] = set()
    for batch in fetch(plan, rows):
        for payload in batch:
            partition = partition_from_payload(payload)
            times = columns.known_times(tuple(map(text_cell, schema.types, partition.values)), partition.parameters)
            found.update(index for one, index in times if one == name)
        if found >= wanted:
            break
    return found & wanted
