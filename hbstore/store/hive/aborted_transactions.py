"""Which transactions were aborted, and in which tables their rows must be passed over.

Readers of files that transactions wrote pass over those of aborted ones, so an aborted transaction that may have
written is kept for good: nothing compacts the files here. One that wrote nothing matters only to its own client, which
may still ask what became of it: of these the last `REMEMBERED` are kept.

    table            runs of ids
    4f1d…            3 to 9, 12            allocated write ids in that table
    (any table)      15                    locked what it writes, as Hive 2.3 does, or no tables were noted then
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from hbstore.model.service_objects import HiveTransaction

Runs: TypeAlias = tuple[tuple[int, int], ...]
"""First and last ids of runs without gaps, rising."""
ANY_TABLE: Final = ""
"""Stands for the table's id where a transaction may have written into any table."""
REMEMBERED: Final = 1_000
"""Aborted transactions that wrote nothing whose ids are kept."""


@dataclass(frozen=True, slots=True)
class AbortedTransactions:
    """The aborted transactions of a store.

    Attributes:
        by_table: the ids of those that may have written into a table, by the table's id in hexadecimal or `ANY_TABLE`.
        idle: the ids of the last that wrote nothing, in the order in which they were aborted.
        forgotten: the largest id of those that wrote nothing and are not kept any more; 0 where there is none.

    >>> aborted = AbortedTransactions().with_aborted([HiveTransaction(3, tables=("4f1d",)), HiveTransaction(4)])
    >>> aborted.of_table("4f1d"), aborted.of_table("9e02"), aborted.ids(), 4 in aborted
    ((3,), (), (3, 4), True)
    """

    by_table: Mapping[str, Runs] = field(default_factory=dict)
    idle: tuple[int, ...] = ()
    forgotten: int = 0

    def __contains__(self, number: int) -> bool:
        """Whether a transaction was aborted and is kept. O(tables)."""
        return number in self.idle or any(_holds(runs, number) for runs in self.by_table.values())

    def ids(self) -> tuple[int, ...]:
        """The ids of all that are kept, rising."""
        return tuple(sorted({*self.idle, *(number for runs in self.by_table.values() for number in _members(runs))}))

    def of_table(self, table_id: str) -> tuple[int, ...]:
        """The ids of those that may have written into a table, rising."""
        return tuple(_members(self.by_table.get(table_id, ())))

    def with_aborted(self, transactions: Iterable[HiveTransaction]) -> AbortedTransactions:
        """With some more that were aborted. O(theirs and the runs of their tables)."""
        written: dict[str, list[int]] = {}
        idle = list(self.idle)
        for transaction in transactions:
            tables = transaction.tables or ((ANY_TABLE,) if transaction.writes else ())
            for table in tables:
                written.setdefault(table, []).append(transaction.id)
            if not tables:
                idle.append(transaction.id)
        lost = idle[:-REMEMBERED]
        more = {table: _runs([*_members(self.by_table.get(table, ())), *ids]) for table, ids in written.items()}
        return AbortedTransactions({**self.by_table, **more}, tuple(idle[len(lost) :]), max(self.forgotten, *lost, 0))

    def encode(self) -> list[object]:
        """For the JSON of the lock table. Older stores have the first element alone: who wrote where was not noted."""
        others = {table: runs for table, runs in self.by_table.items() if table != ANY_TABLE}
        return [self.by_table.get(ANY_TABLE, ()), others, self.idle, self.forgotten]

    @staticmethod
    def decode(
        any_table: Iterable[Any],
        by_table: Mapping[str, Any] | None = None,
        idle: Iterable[int] = (),
        forgotten: int = 0,
    ) -> AbortedTransactions:
        """Those of `encode`'s elements."""
        everywhere = _decoded(any_table)
        tables = {table: _decoded(runs) for table, runs in (by_table or {}).items()}
        return AbortedTransactions(
            {ANY_TABLE: everywhere, **tables} if everywhere else tables, tuple(idle), int(forgotten)
        )


def _members(runs: Iterable[tuple[int, int]]) -> Iterator[int]:
    """The ids of runs."""
    for first, last in runs:
        yield from range(first, last + 1)


def _holds(runs: Runs, number: int) -> bool:
    at = bisect_right(runs, number, key=lambda run: run[0]) - 1
    return at >= 0 and number <= runs[at][1]


def _runs(numbers: Iterable[int]) -> Runs:
    runs: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if runs and runs[-1][1] + 1 == number:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return tuple(runs)


def _decoded(runs: Iterable[Any]) -> Runs:
    return tuple((int(first), int(last)) for first, last in runs)
