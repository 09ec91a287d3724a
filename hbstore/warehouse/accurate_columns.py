"""Columns whose statistics are accurate, as Hive's planner reads them: ``COLUMN_STATS`` in ``COLUMN_STATS_ACCURATE``.

A table or partition says so among its parameters, as ``{"BASIC_STATS":"true","COLUMN_STATS":{"amount":"true"}}``, and
Hive may answer min, max and the number of values from the metastore then. So a partition's columns are marked in the
step that writes their statistics; a table's are marked afterwards, and only those whose statistics are there then.
Where a column is replaced by another of its name, the mark goes first and the statistics afterwards. A crash between
leaves statistics that no client takes for accurate. As with HMS, statistics that a client deletes leave the mark.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from hbstore.errors import ConcurrentChange, DatabaseNotFound, PartitionNotFound, TableNotFound
from hbstore.model.objects import Column, Partition, Table
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import TableRow
from hbstore.store.table_step import TableStep
from hbstore.warehouse.quick_statistics import ACCURATE

_TRUE: Final = "true"
_BASIC: Final = "BASIC_STATS"
_COLUMNS: Final = "COLUMN_STATS"
_GONE: Final = (ConcurrentChange, DatabaseNotFound, TableNotFound)
"""The table was dropped or renamed, and perhaps another one has its name."""
_UNMARKED: Final = "The statistics are written but not marked as accurate. Write them again later"


def with_accurate(parameters: Mapping[str, str], columns: Iterable[str]) -> dict[str, str]:
    """Parameters that say of some columns, beside those before, that their statistics are accurate.

    >>> with_accurate({"COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'}, ["Price"])
    {'COLUMN_STATS_ACCURATE': '{"BASIC_STATS":"true","COLUMN_STATS":{"price":"true"}}'}
    >>> with_accurate({"COLUMN_STATS_ACCURATE": "TRUE"}, [])  # as Hive before 2.1 wrote it
    {'COLUMN_STATS_ACCURATE': '{"BASIC_STATS":"true"}'}
    """
    basic, marks = _read(parameters.get(ACCURATE, ""))
    return {**parameters, ACCURATE: _text(basic, {**marks, **{column.lower(): _TRUE for column in columns}})}


def accurate_columns(parameters: Mapping[str, str]) -> Collection[str]:
    """The columns, in lower case, whose statistics are accurate by these parameters.

    >>> sorted(accurate_columns({"COLUMN_STATS_ACCURATE": '{"COLUMN_STATS":{"a":"true","b":"true"}}'}))
    ['a', 'b']
    """
    return _read(parameters.get(ACCURATE, ""))[1].keys()


def without_accurate(parameters: Mapping[str, str], columns: Collection[str]) -> dict[str, str]:
    """Parameters that say nothing of some columns; those without a mark stay as they are.

    >>> without_accurate({"COLUMN_STATS_ACCURATE": '{"COLUMN_STATS":{"a":"true","b":"true"}}'}, {"a"})
    {'COLUMN_STATS_ACCURATE': '{"COLUMN_STATS":{"b":"true"}}'}
    """
    basic, marks = _read(parameters.get(ACCURATE, ""))
    if marks.keys().isdisjoint(columns):
        return dict(parameters)
    return {**parameters, ACCURATE: _text(basic, {name: mark for name, mark in marks.items() if name not in columns})}


def replaced_columns(before: Sequence[Column], after: Sequence[Column]) -> set[str]:
    """The names of columns that are gone, or are of another type now, so that their statistics are of something else.

    >>> before = [Column("a", "int"), Column("b", "int"), Column("c", "int")]
    >>> sorted(replaced_columns(before, [Column("c", "int", "moved"), Column("A", "bigint")]))
    ['a', 'b']
    """
    kept = {(column.name.lower(), column.type.lower()) for column in after}
    return {column.name.lower() for column in before if (column.name.lower(), column.type.lower()) not in kept}


def mark_table(store: PartitionStore, row: TableRow, columns: Collection[str]) -> None:
    """Say of those of some columns that have statistics that these are accurate; nothing if the table is gone."""
    table = row.table

    def mark(step: TableStep) -> None:
        statistics = store.column_statistics.read_table(table.database, table.name, list(columns))
        present = [statistic.column for statistic in statistics]
        parameters = with_accurate(step.table.parameters, present)
        if present and parameters != step.table.parameters:
            step.alter(replace(step.table, parameters=parameters))

    with suppress(TableNotFound):
        store.change(str(table), mark, hint=_UNMARKED, same_as=row)


def forget_table(store: PartitionStore, row: TableRow, table: Table, columns: Collection[str]) -> None:
    """Delete a table's statistics of columns that were replaced, once the table does not call them accurate.

    Args:
        store: the store.
        row: the table as it was read. If another one has its name by now, that one keeps its statistics.
        table: what it became.
        columns: the columns' names in lower case.
    """
    with suppress(*_GONE):
        for statistic in store.column_statistics.read_table(table.database, table.name, list(columns)):
            store.column_statistics.delete_table(table.database, table.name, statistic.column, same_as=row)


def forget_partitions(
    store: PartitionStore, row: TableRow, columns: Collection[str], values: Sequence[tuple[str, ...]] | None = None
) -> None:
    """Take away marks and statistics of columns that were replaced in partitions. O(partitions).

    Args:
        store: the store.
        row: the table as it was read. If another one has its name by now, that one keeps marks and statistics.
        columns: the columns' names in lower case.
        values: of which partitions; None for all.
    """
    table = row.table

    def unmark(step: TableStep) -> list[tuple[str, ...]]:
        partitions = step.select() if values is None else step.partitions(values)
        _replace_parameters(step, partitions, lambda one: without_accurate(one.parameters, columns))
        return [partition.values for partition in partitions]

    with suppress(*_GONE):
        every = store.change(str(table), unmark, hint=_UNMARKED, same_as=row)
        statistics = store.column_statistics.read_partitions(table.database, table.name, every, list(columns))
        for key, some in statistics.items():
            for statistic in some:
                with suppress(PartitionNotFound):
                    store.column_statistics.delete_partition(
                        table.database, table.name, key, statistic.column, same_as=row
                    )


def _replace_parameters(
    step: TableStep, partitions: Iterable[Partition], parameters: Callable[[Partition], Mapping[str, str]]
) -> None:
    """Give partitions that a step has read other parameters, all or none."""
    after = [(partition, parameters(partition)) for partition in partitions]
    step.change(put=[replace(partition, parameters=new) for partition, new in after if new != partition.parameters])


def _read(text: str) -> tuple[bool, dict[str, str]]:
    """What is accurate: the counts, and columns by name. A text that is neither Hive's JSON nor `true` says nothing."""
    if text.lower() == _TRUE:  # as Hive before 2.1 wrote it
        return True, {}
    parsed: Any = None
    with suppress(ValueError):
        parsed = json.loads(text)
    if not isinstance(parsed, dict):
        return False, {}
    marks = parsed.get(_COLUMNS)
    return parsed.get(_BASIC) == _TRUE, marks if isinstance(marks, dict) else {}


def _text(basic: bool, marks: Mapping[str, str]) -> str:  # noqa: FBT001  read by its name in `_read`
    accurate: dict[str, Any] = {_BASIC: _TRUE} if basic else {}
    if marks:
        accurate[_COLUMNS] = dict(sorted(marks.items()))
    return json.dumps(accurate, separators=(",", ":"))
