"""Writing partitions: add, drop, alter, rename, each call all or nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import NoneType
from typing import Final, TypeAlias

from hbstore.errors import ConcurrentChange, InvalidInput, TableNotPartitioned
from hbstore.keys.row_key import is_respelled, split_key
from hbstore.model.objects import Partition, PartitionValues, Table
from hbstore.model.service_structs import NOTHING, decode_companion, encode_companion
from hbstore.model.structs import partition_from_payload
from hbstore.rows.interface import PartitionRow
from hbstore.store.changes import Change
from hbstore.store.companion_keys import companion_keys, is_companion
from hbstore.store.leases import check_unwritten, place_of
from hbstore.store.publications_cell import WRITES, check_in_place, without_move
from hbstore.store.puts import (
    NEEDS_PARTITIONS,
    NEEDS_VALUES,
    InvalidValues,
    Puts,
    affected_by,
    already_exists,
    no_such_partition,
    partition_key,
    texts_of,
)
from hbstore.store.recount import gained, note_change
from hbstore.store.sketch import Sketch
from hbstore.store.table_row import (
    DEFINITION,
    STATISTICS,
    TableRow,
    check_same_table,
    respelled_definition,
    totals_state,
)
from hbstore.store.tables import Tables
from hbstore.store.timeline_updates import update_timelines
from hbstore.texts.arguments import expect, expect_flags, expect_many
from hbstore.transactions.transaction import RowView, Transaction

Expected: TypeAlias = Mapping[tuple[str | None, ...], bytes | None]
"""Stored bytes by values that partitions must still have; None: there must be no such partition."""

_NEEDS_PAYLOADS: Final = "Give stored bytes by partition values, as in {(value, …): bytes}"


@dataclass(frozen=True, slots=True)
class Writer:
    """Changes partitions.

    Attributes:
        tables: the tables that they belong to.
    """

    tables: Tables

    def add(
        self,
        row: TableRow,
        partitions: Iterable[Partition],
        *,
        if_not_exists: bool,
        invalid_values: InvalidValues,
        same_as: TableRow | Table | None = None,
    ) -> int:
        """Add partitions; how many were added. What they inherit from the table is written into them."""
        partitioned(row.table)
        expect_flags(if_not_exists=if_not_exists)
        given = expect_many("partitions", partitions, Partition, hint=NEEDS_PARTITIONS)

        def adding(row: TableRow) -> Change:
            return _adding(row, given, if_not_exists=if_not_exists, invalid_values=invalid_values)

        return len(self._make_of(row, adding, same_as=same_as).puts)

    def drop(self, row: TableRow, values: Iterable[PartitionValues], *, if_exists: bool) -> int:
        """Drop partitions; how many were dropped. What is known about them goes with them."""
        partitioned(row.table)
        expect_flags(if_exists=if_exists)
        given = [texts_of(row, one) for one in expect_many("values", values, hint=NEEDS_VALUES)]

        def dropping(row: TableRow) -> Change:
            present = {partition_key(row, one): one for one in given}
            return Change(deletes=_with_companions(row, present), present=present, skip_absent=if_exists)

        return sum(not is_companion(key) for key in self._make_of(row, dropping).deletes)

    def alter(self, row: TableRow, partitions: Iterable[Partition], expected: Expected) -> None:
        """Replace all of existing partitions but their identity, if some are as they are expected to be."""
        partitioned(row.table)
        altered = expect_many("partitions", partitions, Partition, hint=NEEDS_PARTITIONS)
        expect("expected", expected, Mapping, hint=_NEEDS_PAYLOADS)

        def altering(row: TableRow) -> Change:
            batch = Puts(row, "keep")
            for partition in reversed(altered):  # of one that stands twice the last counts
                batch.put(partition, may_be_untimed=True)
            puts, payloads = tuple(batch.rows.values()), _by_key(row, expected)
            return Change(puts, present=batch.values, expected=payloads, times=batch.times, untimed=batch.untimed)

        self._make_of(row, altering)

    def replace(
        self,
        row: TableRow,
        add: Iterable[Partition],
        put: Iterable[Partition],
        drop: Iterable[PartitionValues],
        expected: Expected,
        invalid_values: InvalidValues,
        *,
        same_as: TableRow | None = None,
    ) -> None:
        """Add, add or replace, and drop partitions, if some are as they are expected to be, and perhaps the table."""
        partitioned(row.table)
        adding = expect_many("add", add, Partition, hint=NEEDS_PARTITIONS)
        putting = expect_many("put", put, Partition, hint=NEEDS_PARTITIONS)
        dropping = [texts_of(row, one) for one in expect_many("drop", drop, hint=NEEDS_VALUES)]
        expect("expected", expected, Mapping, hint=_NEEDS_PAYLOADS)

        def replacing(row: TableRow) -> Change:
            batch = Puts(row, invalid_values)
            absent = {batch.put(partition): partition.values for partition in adding}
            for partition in putting:
                batch.put(partition, may_be_untimed=True)
            present = {partition_key(row, values): values for values in dropping}
            twice = present.keys() & batch.rows.keys()
            if twice or len(batch.rows) < len(adding) + len(putting):
                raise InvalidInput(
                    "a partition occurs twice in the change",
                    table=row.table,
                    hint="Add, put or drop each partition once",
                )
            return Change(
                tuple(batch.rows.values()),
                _with_companions(row, present),
                absent,
                present,
                expected=_by_key(row, expected),
                times=batch.times,
                untimed=batch.untimed,
            )

        self._make_of(row, replacing, same_as=same_as)

    def rename(
        self,
        row: TableRow,
        values: PartitionValues,
        renamed: Partition | PartitionValues,
        expected: Expected,
        *,
        moved: str | None,
        invalid_values: InvalidValues,
        same_as: TableRow | None = None,
    ) -> None:
        """Give a partition other values; it is never seen under both or neither by a listing."""
        partitioned(row.table)
        expect("expected", expected, Mapping, hint=_NEEDS_PAYLOADS)
        texts = texts_of(row, values)
        new_texts = renamed.values if isinstance(renamed, Partition) else texts_of(row, renamed)

        def renaming(row: TableRow, view: RowView) -> Change:
            old_key = partition_key(row, texts)
            if moved is not None:
                view.put_cell(WRITES, without_move(row, moved, frozenset([place_of(row, old_key)])))
            else:
                check_in_place(row, partitions=True)
            batch = Puts(row, invalid_values)
            if isinstance(renamed, Partition):
                new_key = batch.put(renamed)
            else:
                stored = view.existing([old_key]).get(old_key)
                if stored is None:
                    raise no_such_partition(row.table, texts)
                new_key = batch.put(replace(partition_from_payload(stored), values=new_texts))
            puts, present = tuple(batch.rows.values()), {old_key: texts}
            payloads = _by_key(row, expected)
            if new_key == old_key:  # it keeps its values, and all else may change
                return Change(puts, present=present, expected=payloads, times=batch.times)
            gone = _with_companions(row, present)
            puts += _statistics_of_renamed(row, view, old_key, new_key)
            return Change(puts, gone, batch.values, present, expected=payloads, times=batch.times)

        self._make(row, renaming, same_as=same_as, publication=moved)

    def _make_of(
        self,
        row: TableRow,
        change: Callable[[TableRow], Change],
        *,
        same_as: TableRow | Table | None = None,
        publication: str | None = None,
    ) -> Change:
        """Commit a change that is made up of a table's definition alone, as `_make` does.

        Encoding many partitions takes longer than writing them. So it is done before the step, which holds the write
        lock of SQLite and runs again on HBase, and once more only where the table was altered in between.
        """
        definition, encoded = row.cells[DEFINITION], change(row)

        def of_now(now: TableRow, _: RowView) -> Change:
            nonlocal definition, encoded
            if now.cells[DEFINITION] != definition:
                definition, encoded = now.cells[DEFINITION], change(now)
            return encoded

        return self._make(row, of_now, same_as=same_as, publication=publication)

    def _make(
        self,
        row: TableRow,
        change: Callable[[TableRow, RowView], Change],
        *,
        same_as: TableRow | Table | None = None,
        publication: str | None = None,
    ) -> Change:
        """Commit a change that is made up of the table as it is; what was done, without what was left out.

        Raises:
            ConcurrentChange: another table has its name now, whose keys are made otherwise, or that is not the same.
        """

        def step(transaction: Transaction) -> Change:
            view, now = self.tables.view(transaction, row.table.database, row.table.name)
            check_in_place(now)
            check_same_table(now, same_as)
            if now.definition is not row.definition and not _has_keys_of(now, row):
                raise ConcurrentChange(
                    "the table was dropped and created with other partition columns", table=row.table, hint="Try again"
                )
            return write_change(view, now, change(now, view), publication=publication)

        return self.tables.transactions.run(step)


def _has_keys_of(row: TableRow, other: TableRow) -> bool:
    """Whether two rows of a table make the same keys of the same specs."""
    schema, expected = row.definition.schema, other.definition.schema
    return (schema.prefix, schema.names, schema.types) == (expected.prefix, expected.names, expected.types)


def write_change(
    view: RowView,
    row: TableRow,
    change: Change,
    *,
    publication: str | None = None,
    stored: Mapping[bytes, bytes] | None = None,
) -> Change:
    """Write a change in a transaction, with the totals, the statistics and the timelines that it moves.

    Args:
        view: the table in the transaction.
        row: what it says.
        change: what is wanted.
        publication: the one that does it; None for other changes.
        stored: what the transaction has read of the change's keys, if it has.

    Returns:
        What was written: the change without what was to be left out.

    Raises:
        WriteConflict: files are on their way into a partition that is dropped, added or relocated.
    """
    stored = view.existing(change.keys()) if stored is None else stored
    done = _checked(row, change, stored)
    if not (done.puts or done.deletes):
        return done
    check_unwritten(row, done, stored, publication)
    view.write(done.puts, done.deletes)
    mark_respelled(view, row, done.puts)
    view.set_state(totals_state(row.totals + gained(done.puts, done.deletes, stored)))
    note_change(view, row, done.puts, done.deletes, stored)
    add_statistics(view, row, done)
    columns = row.definition.time_columns
    if columns is not None:
        update_timelines(view, row, columns, affected_by(columns, done, stored))
    return done


def _checked(row: TableRow, change: Change, stored: Mapping[bytes, bytes]) -> Change:
    """The change without what is to be left out.

    Args:
        row: the table.
        change: what is wanted.
        stored: the payloads that are there now, by those of the change's keys.
    """
    table = row.table
    for key, payload in change.expected.items():
        if stored.get(key) != payload:
            raise ConcurrentChange(
                "a partition differs from the expected one",
                table=table,
                hint="Nothing was changed; read the partition again",
            )
    left_out: set[bytes] = set()
    taken = stored.keys() & change.absent.keys()
    if taken:
        if not change.skip_present:
            raise already_exists(table, change.absent[min(taken)], adding=not (change.present or change.deletes))
        left_out |= taken
    missing = change.present.keys() - stored
    if missing:
        if not change.skip_absent:
            raise no_such_partition(table, change.present[min(missing)])
        left_out.update(missing, companion_keys(row, missing))
    for key, error in change.untimed.items():
        if not _is_untimed(row, key, stored):
            raise error
    return change.without(left_out) if left_out else change


def _by_key(row: TableRow, expected: Expected) -> dict[bytes, bytes | None]:
    for payload in expected.values():
        expect("expected", payload, bytes, NoneType, hint=_NEEDS_PAYLOADS)
    return {partition_key(row, values): payload for values, payload in expected.items()}


def mark_respelled(view: RowView, row: TableRow, puts: Iterable[PartitionRow]) -> None:
    """Write into a table's definition which of its columns hold respelled values now."""
    types = row.definition.schema.types
    columns = [(at, column_type) for at, column_type in enumerate(types) if column_type.width is not None]
    more = {
        at
        for put in puts
        if not is_companion(put.key)
        for at, column_type in columns
        if is_respelled(column_type, put.cells[at])
    }
    if not more <= row.definition.respelled:
        view.put_cell(DEFINITION, respelled_definition(row.cells[DEFINITION], more))


def add_statistics(view: RowView, row: TableRow, change: Change) -> None:
    """Count the prefixes of keys that a change brings."""
    known = Sketch.decode(row.cells.get(STATISTICS), len(row.definition.schema.names))
    more = known.add(put.cells for put in change.puts if not is_companion(put.key))
    if more is not known:
        view.put_cell(STATISTICS, more.encode())


def _statistics_of_renamed(row: TableRow, view: RowView, key: bytes, new_key: bytes) -> tuple[PartitionRow, ...]:
    """The companion of a partition under its new key: with its column statistics. Marks stay with the values."""
    companion_key, new_companion_key = companion_keys(row, [key, new_key])
    payloads = view.existing([companion_key, new_companion_key])
    companions = {key: decode_companion(payload) for key, payload in payloads.items()}
    statistics = companions.get(companion_key, NOTHING).statistics
    if not statistics:
        return ()
    companion = replace(companions.get(new_companion_key, NOTHING), statistics=statistics)
    return (PartitionRow(new_companion_key, (), encode_companion(companion)),)


def _with_companions(row: TableRow, keys: Iterable[bytes]) -> tuple[bytes, ...]:
    """Keys of partitions with those of their companions, sorted."""
    partitions = list(keys)
    return tuple(sorted(partitions + companion_keys(row, partitions)))


def _adding(
    row: TableRow, partitions: Iterable[Partition], *, if_not_exists: bool, invalid_values: InvalidValues
) -> Change:
    batch = Puts(row, invalid_values, int(time.time()))
    for partition in partitions:
        known = len(batch.rows)
        batch.put(partition)
        if len(batch.rows) == known and not if_not_exists:
            raise already_exists(row.table, partition.values, "occurs twice in the batch", adding=True)
    puts = tuple(batch.rows.values())
    return Change(puts, absent=batch.values, skip_present=if_not_exists, times=batch.times)


def _is_untimed(row: TableRow, key: bytes, stored: Mapping[bytes, bytes]) -> bool:
    """Whether a partition was there before its table declared timelines, and has no times that can be told."""
    columns = row.definition.time_columns
    cells = split_key(key, len(row.definition.schema.names))[1]
    return columns is not None and key in stored and not columns.stored_times(cells, stored[key])


def partitioned(table: Table) -> Table:
    """The table itself; TableNotPartitioned if it has no partition columns."""
    if not table.partition_columns:
        hint = f"The table has only data columns: `hbstore describe {table}` lists them"
        raise TableNotPartitioned("the table has no partition columns", table=table, hint=hint)
    return table
