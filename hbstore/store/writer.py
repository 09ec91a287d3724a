"""Writing partitions: add, drop, alter, rename, each call all or nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from hbstore.arguments import expect, expect_flags, expect_many
from hbstore.errors import (
    ConcurrentChange,
    HbstoreError,
    InvalidInput,
    TableNotPartitioned,
)
from hbstore.keys import cell_at, split_key
from hbstore.model import Partition, PartitionValues, Table
from hbstore.rows.interface import Rows
from hbstore.store.annex_keys import annex_keys, is_annex
from hbstore.store.changes import Change, ChangeKind
from hbstore.store.journal import JournalCommit
from hbstore.store.puts import (
    NEEDS_PARTITIONS,
    NEEDS_VALUES,
    InvalidValues,
    Puts,
    already_exists,
    no_such_partition,
    partition_key,
    texts_of,
    touched_by,
)
from hbstore.store.sketch import Sketch
from hbstore.store.table_row import STATISTICS, TableRow
from hbstore.store.table_totals import add_totals
from hbstore.store.tables import Tables
from hbstore.store.timeline_updates import update_timelines
from hbstore.totals import Totals

_STATISTICS_ATTEMPTS: Final = 3
_NEW_KEYS: Final = (ChangeKind.ADD, ChangeKind.RENAME, ChangeKind.REPLACE, ChangeKind.EXCHANGE)


@dataclass(frozen=True, slots=True)
class Writer:
    """Changes partitions.

    Attributes:
        rows: where they are.
        tables: the tables that they belong to.
    """

    rows: Rows
    tables: Tables

    def add(
        self, row: TableRow, partitions: Iterable[Partition], *, if_not_exists: bool, invalid_values: InvalidValues
    ) -> int:
        """Add partitions; how many were added. What they inherit from the table is written into them."""
        partitioned(row.table)
        expect_flags(if_not_exists=if_not_exists)
        given = expect_many("partitions", partitions, Partition, hint=NEEDS_PARTITIONS)

        def adding(row: TableRow) -> Change:
            return _adding(row, given, if_not_exists=if_not_exists, invalid_values=invalid_values)

        done = self._make(row, adding)
        return 0 if done is None else len(done.puts)

    def drop(self, row: TableRow, values: Iterable[PartitionValues], *, if_exists: bool) -> int:
        """Drop partitions; how many were dropped. What is known about them goes with them."""
        partitioned(row.table)
        expect_flags(if_exists=if_exists)
        given = [texts_of(row, one) for one in expect_many("values", values, hint=NEEDS_VALUES)]

        def dropping(row: TableRow) -> Change:
            present = {partition_key(row, one): one for one in given}
            return Change(ChangeKind.DROP, deletes=_with_annexes(row, present), present=present, skip_absent=if_exists)

        done = self._make(row, dropping)
        return 0 if done is None else sum(not is_annex(key) for key in done.deletes)

    def alter(self, row: TableRow, partitions: Iterable[Partition]) -> None:
        """Replace all of existing partitions but their identity."""
        partitioned(row.table)
        given = expect_many("partitions", partitions, Partition, hint=NEEDS_PARTITIONS)

        def altering(row: TableRow) -> Change:
            made = Puts(row, "keep")
            for partition in reversed(given):  # of one that stands twice the last counts
                made.put(partition, untimed=lambda key: self._is_untimed(row, key))
            return Change(ChangeKind.ALTER, tuple(made.rows.values()), present=made.values, times=made.times)

        self._make(row, altering)

    def replace(
        self,
        row: TableRow,
        add: Iterable[Partition],
        put: Iterable[Partition],
        drop: Iterable[PartitionValues],
        expected: Mapping[tuple[str | None, ...], bytes | None],
        invalid_values: InvalidValues,
    ) -> None:
        """Add, add or replace, and drop partitions, if some are as they are expected to be."""
        partitioned(row.table)
        adding = expect_many("add", add, Partition, hint=NEEDS_PARTITIONS)
        putting = expect_many("put", put, Partition, hint=NEEDS_PARTITIONS)
        dropping = [texts_of(row, one) for one in expect_many("drop", drop, hint=NEEDS_VALUES)]
        expect("expected", expected, Mapping, hint="Give stored bytes by partition values, as in {(value, …): bytes}")

        def replacing(row: TableRow) -> Change:
            made = Puts(row, invalid_values)
            absent = {made.put(partition): partition.values for partition in adding}
            for partition in putting:
                made.put(partition)
            present = {partition_key(row, values): values for values in dropping}
            twice = present.keys() & made.rows.keys()
            if twice or len(made.rows) < len(adding) + len(putting):
                raise InvalidInput(
                    "a partition occurs twice in the change",
                    table=row.table,
                    hint="Add, put or drop each partition once",
                )
            return Change(
                ChangeKind.REPLACE,
                tuple(made.rows.values()),
                _with_annexes(row, present),
                absent,
                present,
                expected={partition_key(row, values): payload for values, payload in expected.items()},
                times=made.times,
            )

        self._make(row, replacing)

    def rename(
        self, row: TableRow, values: PartitionValues, renamed: Partition, *, invalid_values: InvalidValues
    ) -> None:
        """Give a partition other values; it is never seen under both or neither by a listing."""
        partitioned(row.table)
        texts = texts_of(row, values)

        def renaming(row: TableRow) -> Change:
            old_key = partition_key(row, texts)
            made = Puts(row, invalid_values)
            new_key = made.put(renamed)
            puts, present = tuple(made.rows.values()), {old_key: texts}
            if new_key == old_key:  # the same typed values in other words: hour=05 becomes hour=5
                return Change(ChangeKind.ALTER, puts, present=present, times=made.times)
            gone = _with_annexes(row, present)
            return Change(ChangeKind.RENAME, puts, gone, made.values, present, times=made.times)

        self._make(row, renaming)

    def _is_untimed(self, row: TableRow, key: bytes) -> bool:
        """Whether a partition was there before its table declared timelines, and has no times that can be told."""
        columns = row.definition.time_columns
        assert columns is not None
        found = self.rows.multi_get([key])
        return bool(found) and not columns.stored_times(
            split_key(key, len(row.definition.schema.names))[1], found[0][1]
        )

    def _make(self, row: TableRow, change: Callable[[TableRow], Change]) -> Change | None:
        """Commit a change that depends on the table, made up anew where that is altered before."""
        while True:
            made = change(row)
            if not made.keys():
                return None
            try:
                return self._commit(row, made)
            except _AlteredError as altered:
                row = altered.row

    def _commit(self, row: TableRow, change: Change) -> Change | None:
        made_for = row

        def check(wanted: Change) -> Change | None:
            return self._checked(made_for, wanted)

        def reopen(known: TableRow) -> TableRow:
            found = self.tables.reopen(known)
            if found.incarnation != made_for.incarnation or _is_another(change, made_for, found):
                raise _AlteredError(found)
            return found

        if not self.rows.atomic:
            done = JournalCommit(self.rows, reopen, check).commit(row, change)
            if done is not None:
                # The change is made, whatever becomes of the statistics: they only choose between right plans.
                with suppress(HbstoreError):
                    self.add_statistics(row, done)
            return done
        with self.rows.transaction():
            row = reopen(row)
            done = check(change)
            if done is not None:
                add_totals(self.rows, row, done.gained)
                self.rows.write(done.puts, done.deletes, 0)
                self.add_statistics(row, done)
                update_timelines(self.rows, row, done.touched)
        return done

    def _checked(self, row: TableRow, change: Change) -> Change | None:
        """The change without what is to be left out, with the times that it touches; None if nothing remains."""
        table = row.table
        columns = row.definition.time_columns
        asked = {**change.absent, **change.present, **change.expected}
        if columns is not None or change.kind is ChangeKind.REPLACE:
            asked |= {put.key: () for put in change.puts}
        there = dict(self.rows.multi_get(sorted(asked))) if asked else {}
        for key, payload in change.expected.items():
            if there.get(key) != payload:
                raise ConcurrentChange(
                    "a partition differs from the expected one",
                    table=table,
                    hint="Nothing was changed; read the partition again",
                )
        left_out: set[bytes] = set()
        taken = there.keys() & change.absent.keys()
        if taken:
            if not change.skip_present:
                adding = change.kind is ChangeKind.ADD
                raise already_exists(table, change.absent[min(taken)], adding=adding)
            left_out |= taken
        missing = change.present.keys() - there
        if missing:
            if not change.skip_absent:
                raise no_such_partition(table, change.present[min(missing)])
            left_out |= missing
        kept = change.without(left_out) if left_out else change
        if not (kept.puts or kept.deletes):
            return None
        touched = kept.touched if columns is None else touched_by(columns, kept, there)
        return replace(kept, touched=touched, gained=_gained(kept, there))

    def add_statistics(self, row: TableRow, change: Change) -> None:
        """Count new prefixes; on HBase after the change, and again if another writer was faster, but not for long."""
        if change.kind not in _NEW_KEYS:
            return
        for _ in range(_STATISTICS_ATTEMPTS):
            known = row.cells.get(STATISTICS)
            sketch = Sketch.decode(known, len(row.definition.schema.names))
            more = sketch.add(put.cells for put in change.puts)
            if more is sketch or self.rows.compare_and_put(row.key, STATISTICS, known, more.encode()):
                return
            row = self.tables.reopen(row)


def _with_annexes(row: TableRow, keys: Iterable[bytes]) -> tuple[bytes, ...]:
    """Keys of partitions with those of their annexes, sorted."""
    partitions = list(keys)
    return tuple(sorted(partitions + annex_keys(row, partitions)))


class _AlteredError(Exception):
    """The table was altered after a change of its partitions was made up."""

    def __init__(self, row: TableRow) -> None:
        super().__init__()
        self.row = row


def _adding(
    row: TableRow, partitions: Iterable[Partition], *, if_not_exists: bool, invalid_values: InvalidValues
) -> Change:
    made = Puts(row, invalid_values, int(time.time()))
    for partition in partitions:
        known = len(made.rows)
        made.put(partition)
        if len(made.rows) == known and not if_not_exists:
            raise already_exists(row.table, partition.values, "occurs twice in the batch", adding=True)
    puts = tuple(made.rows.values())
    return Change(ChangeKind.ADD, puts, absent=made.values, skip_present=if_not_exists, times=made.times)


def _is_another(change: Change, made_for: TableRow, found: TableRow) -> bool:
    """Whether a change has to be made up anew, as it takes from the table's definition what has changed."""
    if change.kind is ChangeKind.ADD:
        return found.definition is not made_for.definition
    columns = (made_for.definition.time_columns, found.definition.time_columns)
    return len({None if one is None else one.declaration for one in columns}) > 1


def refresh_statistics(rows: Rows, row: TableRow) -> Sketch:
    """Count a table's distinct prefixes anew from its keys, and store that. O(partitions)."""
    columns = len(row.definition.schema.names)
    sketch = Sketch.empty(columns)
    start = row.definition.prefix
    for batch in rows.scan(start, start[:-1] + b"\x01"):
        sketch = sketch.add(tuple(cell_at(key, at, columns) for at in range(columns)) for key, _ in batch)
    rows.compare_and_put(row.key, STATISTICS, row.cells.get(STATISTICS), sketch.encode())
    return sketch


def _gained(change: Change, there: Mapping[bytes, bytes]) -> Totals:
    """What a table's totals gain by a change, by what is there now under its keys."""
    keys = {*(put.key for put in change.puts), *change.deletes} & there.keys() if there else ()
    return Totals.of(put.payload for put in change.puts) - Totals.of(there[key] for key in keys if not is_annex(key))


def partitioned(table: Table) -> Table:
    """The table itself; TableNotPartitioned if it has no partition columns."""
    if not table.partition_columns:
        hint = f"The table has only data columns: `hbstore describe {table}` lists them"
        raise TableNotPartitioned("the table has no partition columns", table=table, hint=hint)
    return table
