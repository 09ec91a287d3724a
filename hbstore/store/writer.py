"""Writing partitions: add, drop, alter, rename, each call all or nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from hbstore.errors import (
    AlreadyExists,
    HbstoreError,
    InvalidInput,
    InvalidPartitionValue,
    PartitionNotFound,
    TableNotPartitioned,
)
from hbstore.keys import MAX_KEY, TAG_TEXT, cell_at, row_key, text_cell
from hbstore.model import Partition, Table, partition_value_texts
from hbstore.names import partition_name
from hbstore.rows.interface import PartitionRow, Rows
from hbstore.store.annex_keys import annex_keys, is_annex
from hbstore.store.changes import Change, ChangeKind
from hbstore.store.journal import JournalCommit
from hbstore.store.sketch import Sketch
from hbstore.store.table_row import STATISTICS, Definition, TableRow
from hbstore.store.tables import Tables
from hbstore.structs import PartitionEncoder, partition_from_payload

InvalidValues: TypeAlias = Literal["reject", "keep"]
"""What to do with text that does not fit its column's type: refuse it, or keep it as text that nothing matches."""

PartitionValues: TypeAlias = Sequence[str | None]
"""One text for each partition column; None is the null partition."""

MAX_PAYLOAD: Final = 8 * 1024 * 1024
"""Bytes of a stored partition; HBase takes 10 MiB in a cell, and a store should be movable to another backend."""

MAX_PREFIX: Final = 2 * 129
"""Bytes of the longest names of a database and a table, each with the NUL behind it."""

_STATISTICS_ATTEMPTS: Final = 3


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
        given = list(partitions)

        def adding(row: TableRow) -> Change:
            return _adding(row, given, if_not_exists=if_not_exists, invalid_values=invalid_values)

        done = self._make(row, adding)
        return 0 if done is None else len(done.puts)

    def drop(self, row: TableRow, values: Iterable[PartitionValues], *, if_exists: bool) -> int:
        """Drop partitions; how many were dropped. What is known about them goes with them."""
        partitioned(row.table)
        given = [partition_value_texts(one) for one in values]

        def dropping(row: TableRow) -> Change:
            definition = row.definition
            present = {row_key(definition.prefix, cells_of(definition, one, "keep")): one for one in given}
            return Change(ChangeKind.DROP, deletes=_with_annexes(row, present), present=present, skip_absent=if_exists)

        done = self._make(row, dropping)
        return 0 if done is None else sum(not is_annex(key) for key in done.deletes)

    def alter(self, row: TableRow, partitions: Iterable[Partition]) -> None:
        """Replace all of existing partitions but their identity."""
        table = partitioned(row.table)
        encoder = PartitionEncoder(table)
        puts: dict[bytes, PartitionRow] = {}
        for partition in partitions:
            cells = cells_of(row.definition, partition.values, "keep")
            key = row_key(row.definition.prefix, cells)
            puts[key] = PartitionRow(key, cells, _payload(encoder, partition, table))
        if puts:
            present = dict(_texts(puts))
            self._commit(row, Change(ChangeKind.ALTER, tuple(puts.values()), present=present))

    def rename(
        self, row: TableRow, values: PartitionValues, renamed: Partition, *, invalid_values: InvalidValues
    ) -> None:
        """Give a partition other values; it is never seen under both or neither by a listing."""
        table = partitioned(row.table)
        texts = partition_value_texts(values)

        def renaming(row: TableRow) -> Change:
            definition = row.definition
            old_key = row_key(definition.prefix, cells_of(definition, texts, "keep"))
            cells = cells_of(definition, renamed.values, invalid_values)
            new_key = _new_key(definition, cells)
            put = PartitionRow(new_key, cells, _payload(PartitionEncoder(table), renamed, table))
            present = {old_key: texts}
            if new_key == old_key:  # the same typed values in other words: hour=05 becomes hour=5
                return Change(ChangeKind.ALTER, (put,), present=present)
            absent = {new_key: renamed.values}
            return Change(ChangeKind.RENAME, (put,), _with_annexes(row, present), absent, present)

        self._make(row, renaming)

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
        table = row.table

        def check(wanted: Change) -> Change | None:
            return self._checked(table, wanted)

        def reopen(known: TableRow) -> TableRow:
            found = self.tables.reopen(known)
            inherits = change.kind is ChangeKind.ADD
            if found.incarnation != row.incarnation or (inherits and found.definition is not row.definition):
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
                self.rows.write(done.puts, done.deletes, 0)
                self.add_statistics(row, done)
        return done

    def _checked(self, table: Table, change: Change) -> Change | None:
        """The change without what is to be left out; None if nothing remains."""
        asked = sorted({**change.absent, **change.present})
        there = {key for key, _ in self.rows.multi_get(asked)} if asked else set()
        left_out: set[bytes] = set()
        taken = there & change.absent.keys()
        if taken:
            if not change.skip_present:
                raise _already_exists(table, _name(table, change.absent[min(taken)]), "is there already")
            left_out |= taken
        missing = change.present.keys() - there
        if missing:
            if not change.skip_absent:
                raise PartitionNotFound(
                    "no such partition", table=table, partition=_name(table, change.present[min(missing)])
                )
            left_out |= missing
        if not left_out:
            return change
        kept = change.without(left_out)
        return kept if kept.puts or kept.deletes else None

    def add_statistics(self, row: TableRow, change: Change) -> None:
        """Count new prefixes; on HBase after the change, and again if another writer was faster, but not for long."""
        if change.kind not in (ChangeKind.ADD, ChangeKind.RENAME, ChangeKind.EXCHANGE):
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
    table = row.table
    encoder = PartitionEncoder(table, int(time.time()))
    puts: dict[bytes, PartitionRow] = {}
    names: dict[bytes, tuple[str, ...]] = {}
    for partition in partitions:
        cells = cells_of(row.definition, partition.values, invalid_values)
        key = _new_key(row.definition, cells)
        if key in puts:
            if if_not_exists:
                continue
            raise _already_exists(table, _name(table, partition.values), "stands twice in the batch")
        puts[key] = PartitionRow(key, cells, _payload(encoder, partition, table))
        names[key] = partition.values
    return Change(ChangeKind.ADD, tuple(puts.values()), absent=names, skip_present=if_not_exists)


def _new_key(definition: Definition, cells: tuple[bytes, ...]) -> bytes:
    """A partition's key, refused where it would be too long under some other name that the table may get."""
    key = row_key(definition.prefix, cells)
    size = MAX_PREFIX + len(key) - len(definition.prefix)
    if size > MAX_KEY:
        raise InvalidPartitionValue(
            "partition values are too long",
            bytes=size,
            limit=MAX_KEY,
            hint="Shorten the values: they must fit a row key, whatever name the table gets",
        )
    return key


def cells_of(definition: Definition, values: Sequence[str], invalid_values: InvalidValues) -> tuple[bytes, ...]:
    """The cells of a partition's values.

    Raises:
        InvalidPartitionValue: too many or too few values, or one that does not fit its type and is not to be kept.
    """
    types = definition.schema.types
    if len(values) != len(types):
        raise InvalidPartitionValue(
            "a partition needs one value for each partition column",
            table=definition.table,
            values=len(values),
            columns=", ".join(definition.schema.names),
        )
    cells = tuple(map(text_cell, types, values))
    if invalid_values == "reject":
        for at, cell in enumerate(cells):
            if cell[:1] == TAG_TEXT:
                raise InvalidPartitionValue(
                    "a partition value does not fit its column's type",
                    column=definition.schema.names[at],
                    type=types[at].name,
                    value=repr(values[at]),
                    hint="Correct it, or keep it as text with invalid_values='keep' (--keep-invalid)",
                )
    return cells


def _payload(encoder: PartitionEncoder, partition: Partition, table: Table) -> bytes:
    """A partition's bytes, refused before anything is decided where a backend could not take them afterwards."""
    payload = encoder.encode(partition)
    if len(payload) > MAX_PAYLOAD:
        raise InvalidInput(
            "a partition is too large",
            table=table,
            partition=_name(table, partition.values),
            bytes=len(payload),
            limit=MAX_PAYLOAD,
            hint="Shorten its parameters",
        )
    return payload


def refresh_statistics(rows: Rows, row: TableRow) -> Sketch:
    """Count a table's distinct prefixes anew from its keys, and store that. O(partitions)."""
    columns = len(row.definition.schema.names)
    sketch = Sketch.empty(columns)
    start = row.definition.prefix
    for batch in rows.scan(start, start[:-1] + b"\x01"):
        sketch = sketch.add(tuple(cell_at(key, at, columns) for at in range(columns)) for key, _ in batch)
    rows.compare_and_put(row.key, STATISTICS, row.cells.get(STATISTICS), sketch.encode())
    return sketch


def _texts(puts: dict[bytes, PartitionRow]) -> Iterable[tuple[bytes, tuple[str, ...]]]:
    return ((key, partition_from_payload(put.payload).values) for key, put in puts.items())


def _name(table: Table, values: Sequence[str]) -> str:
    return partition_name(table.partition_column_names, values)


def partitioned(table: Table) -> Table:
    """The table itself; TableNotPartitioned if it has no partition columns."""
    if not table.partition_columns:
        raise TableNotPartitioned("the table has no partition columns", table=table)
    return table


def _already_exists(table: Table, name: str, why: str) -> AlreadyExists:
    return AlreadyExists(
        f"the partition {why}", table=table, partition=name, hint="Values are compared by type: 05 and 5 are one int"
    )
