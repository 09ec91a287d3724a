"""Marks: that a partition was marked for an event, such as that its data is complete.

As in Hive, a partition can be marked before it is there. Unlike there, a mark goes with its partition when that is
dropped: the next of its name is another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hbstore.model.service_structs import Companion
from hbstore.store.companion_keys import companion_keys
from hbstore.store.hive.companions import Companions
from hbstore.store.puts import partition_key, texts_of
from hbstore.store.table_row import TableRow
from hbstore.store.writer import partitioned
from hbstore.texts.arguments import expect_numbers

LOAD_DONE = 1
"""The one kind of event that Hive names."""


@dataclass(frozen=True, slots=True, repr=False)
class Marks:
    """Sets and looks up marks; a partition is named by a whole spec, its columns in any order and case.

    Attributes:
        companions: where they stand.
    """

    companions: Companions

    def __repr__(self) -> str:
        return f"<Marks of {self.companions.tables.transactions.rows.url}>"

    def mark(self, database: str, table: str, spec: Mapping[str, str], event: int = LOAD_DONE) -> None:
        """Mark a partition for a kind of event; again changes nothing.

        Raises:
            TableNotFound, DatabaseNotFound, TableNotPartitioned: there can be no such partition.
            InvalidPartitionValue: the spec names not just the partition columns.

        >>> store.hive.marks.mark("shop", "sales", {"ds": "2013-01-01", "hour": "5"})
        >>> store.hive.marks.is_marked("shop", "sales", {"hour": "5", "ds": "2013-01-01"})
        True
        """
        expect_numbers(event=event)
        row, values = self._place(database, table, spec)
        key = partition_key(row, values)
        (companion_key,) = companion_keys(row, [key])

        def step(companion: Companion) -> Companion:
            return replace(companion, events=tuple(sorted({*companion.events, event})))

        self.companions.change(row, {companion_key: step}, {key: values}, must_exist=False)

    def is_marked(self, database: str, table: str, spec: Mapping[str, str], event: int = LOAD_DONE) -> bool:
        """Whether a partition was marked for a kind of event; raises what `mark` raises.

        >>> store.hive.marks.is_marked("shop", "sales", {"ds": "2013-01-01", "hour": "5"})
        False
        """
        expect_numbers(event=event)
        row, values = self._place(database, table, spec)
        (key,) = companion_keys(row, [partition_key(row, values)])
        companion = self.companions.read([key]).get(key)
        return companion is not None and event in companion.events

    def _place(self, database: str, table: str, spec: Mapping[str, str]) -> tuple[TableRow, tuple[str, ...]]:
        row = self.companions.tables.open(database, table)
        partitioned(row.table)
        return row, texts_of(row, spec)
