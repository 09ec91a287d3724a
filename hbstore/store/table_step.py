"""Steps of `PartitionStore.change`: changes of one table that rest on what they have read of it.

A step reads, and then writes if all that it writes about is still as it was read, in the very table that it was read
from. Where another writer was faster, the step runs again. So no room above the store has a loop of its own, and none
writes into a table that was created under the name of a dropped one meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeVar

from hbstore.errors import HbstoreError, TableNotFound
from hbstore.model.objects import Partition, PartitionValues, Table
from hbstore.model.structs import partitions_from_payloads
from hbstore.store.puts import NEEDS_PARTITIONS, NEEDS_VALUES, reusable_values, texts_of
from hbstore.store.reader import Filter, Reader
from hbstore.store.table_changes import TableChanges
from hbstore.store.table_row import TableRow
from hbstore.store.writer import Expected, Writer
from hbstore.texts.arguments import expect, expect_many
from hbstore.texts.like import LikeDialect
from hbstore.transactions.waiting import Patience

T = TypeVar("T")


@dataclass(frozen=True, slots=True, repr=False)
class TableStep:
    """A table in a step.

    Attributes:
        row: the table's row as it was when the step began.
    """

    row: TableRow
    _reader: Reader
    _writer: Writer
    _table_changes: TableChanges
    _read: dict[tuple[str | None, ...], bytes | None] = field(default_factory=dict)
    """The stored bytes of partitions that the step has read, by their values; None where there was none."""

    @property
    def table(self) -> Table:
        """The table when the step began."""
        return self.row.table

    def partitions(self, values: Sequence[PartitionValues]) -> list[Partition]:
        """Those of some partitions that are there, each once, in key order. One batch of reads."""
        asked = [reusable_values(one) for one in expect_many("values", values, hint=NEEDS_VALUES)]
        self._read.update(dict.fromkeys(texts_of(self.row, one) for one in asked))
        payloads = self._reader.get_many(self.table.database, self.table.name, asked)
        return self._remembered(partitions_from_payloads(payloads))

    def select(self, filter: Filter = None, like_dialect: LikeDialect = "sql") -> list[Partition]:
        """The partitions that a filter selects, in key order."""
        database, name = self.table.database, self.table.name
        return self._remembered(
            self._reader.partitions(database, name, filter, max_parts=-1, like_dialect=like_dialect)
        )

    def change(
        self,
        *,
        add: Iterable[Partition] = (),
        put: Iterable[Partition] = (),
        drop: Iterable[PartitionValues] = (),
        unchanged: Iterable[PartitionValues] = (),
    ) -> None:
        """Add, put and drop partitions at once, all or none, as `PartitionStore.change_partitions`.

        Args:
            add: partitions that are not there.
            put: what partitions become.
            drop: partitions that go.
            unchanged: further partitions that must still be what they were when the step read them.

        Raises:
            ConcurrentChange: one of these is not what the step read, or the table is another one; nothing was changed.
        """
        adding = expect_many("add", add, Partition, hint=NEEDS_PARTITIONS)
        putting = expect_many("put", put, Partition, hint=NEEDS_PARTITIONS)
        dropping = [reusable_values(one) for one in expect_many("drop", drop, hint=NEEDS_VALUES)]
        kept = expect_many("unchanged", unchanged, hint=NEEDS_VALUES)
        if adding or putting or dropping:
            touched = {texts_of(self.row, values) for values in (*putting, *dropping, *kept)}
            expected: Expected = {values: self._read[values] for values in touched & self._read.keys()}
            self._writer.replace(self.row, adding, putting, dropping, expected, "keep", same_as=self.row)

    def alter(self, table: Table) -> None:
        """Replace all of the table but its name and its partition columns, if it is what it was when the step began.

        Raises:
            ConcurrentChange: it is not; nothing was changed.
        """
        expect("table", table, Table, hint="Give a Table, such as dataclasses.replace(step.table, owner='ann')")
        self._table_changes.alter(table, cascade=False, expected=None, replaces=self.row.table, same_as=self.row)

    def _remembered(self, partitions: list[Partition]) -> list[Partition]:
        self._read.update((partition.values, partition.payload) for partition in partitions)
        return partitions


def run_step(
    begin: Callable[[], TableStep],
    step: Callable[[TableStep], T],
    patience: Patience,
    outrun: tuple[type[HbstoreError], ...],
    hint: str,
    same_as: TableRow | None,
) -> T:
    """Run a step until nobody was faster, on the table that it began with; see `PartitionStore.change`.

    Args:
        begin: reads the table as it is.
        step: what to do with it.
        patience: for how long.
        outrun: errors that say that others were faster, besides ConcurrentChange.
        hint: of the error where they always are.
        same_as: the table as the caller has read it; None: it is the one that has the name when the step begins.
    """
    first = begin()
    table_id = (same_as or first.row).table_id
    steps = chain([first], iter(begin, None))

    def attempt() -> T:
        now = next(steps)
        if now.row.table_id != table_id:
            raise TableNotFound(
                "the table was dropped or renamed, and another one has its name now",
                table=first.table,
                hint="Nothing was changed in the other table. Repeat the call if it is the one that you mean",
            )
        return step(now)

    text = "other writers kept changing the table"
    return patience.retry(attempt, *outrun, text=text, hint=hint, table=first.table)
