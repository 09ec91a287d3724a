"""Columns whose statistics are accurate, as Hive's planner reads them: ``COLUMN_STATS`` in ``COLUMN_STATS_ACCURATE``.

A table or partition says so among its parameters, as ``{"BASIC_STATS":"true","COLUMN_STATS":{"amount":"true"}}``, and
Hive may answer min, max and the number of values from the metastore then. So statistics are written first and columns
marked afterwards, and only those whose statistics are there then. Where a column is replaced by another of its name,
the mark goes first and the statistics afterwards. A crash between leaves statistics that no client takes for accurate.
As with HMS, statistics that a client deletes leave the mark.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from hbstore.errors import PartitionNotFound
from hbstore.model import Column, Partition, Table
from hbstore.store.partition_store import PartitionStore
from hbstore.structs import partitions_from_payloads
from hbstore.warehouse.quick_statistics import ACCURATE

_TRUE: Final = "true"
_BASIC: Final = "BASIC_STATS"
_COLUMNS: Final = "COLUMN_STATS"
_OUTRUN: Final = "other writers kept changing the table"
_UNMARKED: Final = "The statistics are written but not marked as accurate. Write them again later"


def with_accurate(parameters: Mapping[str, str], columns: Iterable[str]) -> dict[str, str]:
    """Parameters that say of some columns, beside those before, that their statistics are accurate.

    >>> with_accurate({"COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'}, ["Price"])
    {'COLUMN_STATS_ACCURATE': '{"BASIC_STATS":"true","COLUMN_STATS":{"price":"true"}}'}
    """
    basic, marks = _read(parameters.get(ACCURATE, ""))
    return {**parameters, ACCURATE: _text(basic, {**marks, **{column.lower(): _TRUE for column in columns}})}


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


def mark_table(store: PartitionStore, database: str, name: str, columns: Collection[str]) -> None:
    """Say of those of some columns that have statistics that these are accurate."""

    def mark() -> None:
        table = store.get_table(database, name)
        statistics = store.column_statistics.read_table(database, name, list(columns))
        present = [statistic.column for statistic in statistics]
        parameters = with_accurate(table.parameters, present)
        if present and parameters != table.parameters:
            store.alter_table(replace(table, parameters=parameters), replaces=table)

    store.patience.retry(mark, text=_OUTRUN, hint=_UNMARKED, table=f"{database}.{name}")


def mark_partitions(store: PartitionStore, table: Table, columns: Mapping[tuple[str, ...], Collection[str]]) -> None:
    """The same for columns of many partitions, by the partitions' values; those that are gone are passed over."""
    names = sorted({name for some in columns.values() for name in some})

    def marked(partition: Partition, present: Collection[str]) -> Mapping[str, str]:
        return with_accurate(partition.parameters, present) if present else partition.parameters

    def mark() -> None:
        partitions = partitions_from_payloads(store.get_payloads(table.database, table.name, list(columns)))
        values = [partition.values for partition in partitions]
        statistics = store.column_statistics.read_partitions(table.database, table.name, values, names)
        present = {key: [statistic.column for statistic in some] for key, some in statistics.items()}
        changed = {partition.values: marked(partition, present.get(partition.values, ())) for partition in partitions}
        _replace_parameters(store, table, partitions, changed)

    store.patience.retry(mark, PartitionNotFound, text=_OUTRUN, hint=_UNMARKED, table=table)


def forget_table(store: PartitionStore, table: Table, columns: Collection[str]) -> None:
    """Delete a table's statistics of columns that were replaced, once the table does not call them accurate."""
    for statistic in store.column_statistics.read_table(table.database, table.name, list(columns)):
        store.column_statistics.delete_table(table.database, table.name, statistic.column)


def forget_partitions(
    store: PartitionStore, table: Table, columns: Collection[str], values: Sequence[tuple[str, ...]] | None = None
) -> None:
    """Take away marks and statistics of columns that were replaced in partitions. O(partitions).

    Args:
        store: the store.
        table: the table.
        columns: the columns' names in lower case.
        values: of which partitions; None for all.
    """

    def unmark() -> list[tuple[str, ...]]:
        if values is None:
            partitions = store.get_partitions_by_filter(table.database, table.name, None)
        else:
            partitions = store.get_partitions(table.database, table.name, values)
        changed = {partition.values: without_accurate(partition.parameters, columns) for partition in partitions}
        _replace_parameters(store, table, partitions, changed)
        return [partition.values for partition in partitions]

    every = store.patience.retry(unmark, PartitionNotFound, text=_OUTRUN, hint=_UNMARKED, table=table)
    statistics = store.column_statistics.read_partitions(table.database, table.name, every, list(columns))
    for key, some in statistics.items():
        for statistic in some:
            with suppress(PartitionNotFound):
                store.column_statistics.delete_partition(table.database, table.name, key, statistic.column)


def _replace_parameters(
    store: PartitionStore,
    table: Table,
    partitions: Iterable[Partition],
    parameters: Mapping[tuple[str, ...], Mapping[str, str]],
) -> None:
    """Give partitions other parameters, all or none.

    Raises:
        ConcurrentChange, PartitionNotFound: others were faster; nothing was changed.
    """
    different = [partition for partition in partitions if parameters[partition.values] != partition.parameters]
    if different:
        store.change_partitions(
            table.database,
            table.name,
            put=[replace(partition, parameters=parameters[partition.values]) for partition in different],
            expected={partition.values: partition.payload for partition in different},
            invalid_values="keep",
        )


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
