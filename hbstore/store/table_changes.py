"""Changing a whole table with its partitions: another name, other columns, another location.

Where there are transactions it is one. Elsewhere it is an intent on the table's row, and for a rename the new name is
reserved before that is decided; docs/protocols/whole-table-changes.md tells how.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from types import NoneType
from typing import Final

from hbstore.arguments import expect, expect_flags
from hbstore.errors import (
    CommitStateUnknown,
    ConcurrentChange,
    InvalidInput,
    StoreUnavailable,
)
from hbstore.keys import successor
from hbstore.model import Table
from hbstore.names import identifier
from hbstore.rows.interface import Rows
from hbstore.store.changes import TABLE_WIDE, ChangeKind
from hbstore.store.finishing import Finisher
from hbstore.store.journal import open_intent
from hbstore.store.journal_cell import Intent, Journal
from hbstore.store.pauses import pause
from hbstore.store.payloads import checked_relocation
from hbstore.store.reservation import Reservation, is_reserved
from hbstore.store.slots import Slots, new_intent_id
from hbstore.store.table_change import TableChange, digest_of, in_batches, prefix_of
from hbstore.store.table_row import (
    DEFINITION,
    JOURNAL,
    STATISTICS,
    TableRow,
    journal_of,
    next_definition,
    restamped_definition,
    stamp_of,
    stamped_definition,
    table_key,
)
from hbstore.store.table_totals import copy_totals
from hbstore.store.tables import Tables
from hbstore.store.time_columns import declared_by
from hbstore.store.timeline_classes import check_classes
from hbstore.store.timeline_moves import clear_timelines, copy_timelines
from hbstore.transactions.outcome import decided, undecided

_ATTEMPTS: Final = 200


@dataclass(frozen=True, slots=True)
class _Expectation:
    """What a table must be for a change to be made; it is true if it says anything.

    Attributes:
        parameters: values of its parameters; None: it has no such one.
        table: all of it; None: whatever it is.
    """

    parameters: Mapping[str, str | None]
    table: Table | None

    def __bool__(self) -> bool:
        return bool(self.parameters) or self.table is not None

    def check(self, row: TableRow) -> None:
        """Raise ConcurrentChange if a table is not what was expected."""
        hint = "Nothing was changed; read the table again"
        if self.table is not None and row.table != self.table:
            raise ConcurrentChange("the table differs from the expected one", table=row.table, hint=hint)
        for name, value in self.parameters.items():
            if row.table.parameters.get(name) != value:
                raise ConcurrentChange(
                    "a parameter of the table differs from its expected value",
                    table=row.table,
                    parameter=name,
                    expected=value,
                    found=row.table.parameters.get(name),
                    hint=hint,
                )


@dataclass(frozen=True, slots=True)
class TableChanges:
    """Changes tables.

    Attributes:
        rows: where they are.
        tables: the tables.
    """

    rows: Rows
    tables: Tables

    def alter(
        self,
        table: Table,
        *,
        cascade: bool,
        relocated: tuple[str, str] | None,
        expected: Mapping[str, str | None] | None,
        replaces: Table | None,
    ) -> None:
        """Replace all of a table but its name and its partition columns.

        Another declaration of timelines is a change of the whole table as well: no change of its partitions is made up
        by the one and finished by the other, and no timeline counts that was not kept meanwhile.
        """
        expect_flags(cascade=cascade)
        relocated = None if relocated is None else checked_relocation(relocated)
        declared_by(table)
        expect("replaces", replaces, Table, NoneType, hint="Give the Table that it is now, or None")
        expect("expected_parameters", expected, Mapping, NoneType, hint="Give the parameters in a dict")
        alone = not table.partition_columns or not (cascade or relocated)
        expectation = _Expectation(expected or {}, replaces)
        if alone and self._alter_definition(table, expectation):
            return
        if expectation and not alone:
            raise InvalidInput(
                "expectations are allowed only for a change of the table alone",
                table=table,
                hint="Alter the table first, and its partitions (cascade, relocated) in a second call",
            )
        if self.rows.atomic:
            with self.rows.transaction():
                row = self._alterable(table)
                expectation.check(row)
                self._apply(row, _change(row, table, relocated, cascade=cascade), row.key)
            return
        for attempt in range(_ATTEMPTS):
            row = self._alterable(table)
            if not self._finish_table_wide(row):
                expectation.check(row)
                change = _change(row, table, relocated, cascade=cascade)
                if expectation:
                    change = replace(change, expected=digest_of(row.cells[DEFINITION]))
                intent = self._open(row, change, ChangeKind.ALTER_TABLE, new_intent_id())
                if intent is not None:
                    self._finish(row, intent)
                    if not expectation or self._was_made(row, change):
                        return
            pause(attempt)
        raise _busy(table)

    def rename(self, database: str, name: str, table: Table, *, relocated: tuple[str, str] | None) -> None:
        """Give a table another name; all else of its definition is replaced as well."""
        declared_by(table)
        relocated = None if relocated is None else checked_relocation(relocated)
        if (identifier("database", database), identifier("table", name)) == (table.database, table.name):
            raise InvalidInput(
                "the new name of the table is its old name",
                table=table,
                hint="To change the rest of the table, alter it",
            )
        if self.rows.atomic:
            with self.rows.transaction():
                self._rename_at_once(self._renamable(database, name, table), table, relocated)
            return
        for attempt in range(_ATTEMPTS):
            row = self._renamable(database, name, table)
            if not self._finish_table_wide(row) and self._rename(row, table, relocated, patient=not attempt):
                return
            pause(attempt)
        raise _busy(row.table)

    def _alter_definition(self, table: Table, expectation: _Expectation) -> bool:
        """Replace the definition alone; False, and nothing is changed, where it declares other timelines."""
        for attempt in range(_ATTEMPTS):
            row = self._alterable(table)
            if self._finish_table_wide(row):
                continue
            if _redeclares(row, table):
                return False
            expectation.check(row)
            known = row.cells[DEFINITION]
            if self.rows.compare_and_put(row.key, DEFINITION, known, next_definition(known, table)):
                return True
            pause(attempt)
        raise _busy(table)

    def _alterable(self, table: Table) -> TableRow:
        row = self.tables.open(table.database, table.name)
        if not row.definition.has_partition_columns_of(table):
            raise InvalidInput(
                "partition columns cannot be altered, because all row keys contain their values",
                table=table,
                hint="Create another table and load the partitions into it",
            )
        check_classes(table, row.table)
        return row

    def _renamable(self, database: str, name: str, table: Table) -> TableRow:
        row = self.tables.open(database, name)
        if not row.definition.has_partition_columns_of(table):
            raise InvalidInput(
                "a rename cannot change the partition columns",
                table=row.table,
                hint="Create another table and load the partitions into it",
            )
        check_classes(table, row.table)
        return row

    # In one transaction

    def _rename_at_once(self, row: TableRow, table: Table, relocated: tuple[str, str] | None) -> None:
        target = table_key(table.database, table.name)
        self.tables.database_cell(table.database)
        before = self.tables.vacant(table, patient=False)
        change = _change(row, table, relocated)
        put = self.rows.compare_and_put
        put(target, DEFINITION, None, change.definition)
        put(target, STATISTICS, before.get(STATISTICS), row.cells.get(STATISTICS, b""))
        copy_totals(self.rows, row.key, target, None)
        copy_timelines(self.rows, row.key, target, None)
        clear_timelines(self.rows, row.key, None)
        put(row.key, DEFINITION, row.cells[DEFINITION], b"")
        put(row.key, STATISTICS, row.cells.get(STATISTICS), b"")
        self._apply(row, change, target)

    def _apply(self, row: TableRow, change: TableChange, target: bytes) -> None:
        """Rewrite all rows, which for a rename are deleted under their old keys."""
        if target == row.key:
            if change.redeclared:
                clear_timelines(self.rows, row.key, None)
            self.rows.compare_and_put(row.key, DEFINITION, row.cells[DEFINITION], change.definition)
            if not change.rewrites:
                return
        changed = change.of_rows(row.key, target)
        start = prefix_of(row.key)
        for batch in in_batches(self.rows.whole_rows(start, successor(start))):
            gone = [] if target == row.key else [one.key for one in batch]
            self.rows.write([after for before in batch if (after := changed(before)) != before], gone, 0)

    # By an intent

    def _finish_table_wide(self, row: TableRow) -> bool:
        """Finish what changes the whole table already; whether there was any such intent."""
        pending = [intent for intent in journal_of(row).intents if intent.kind in TABLE_WIDE]
        for intent in pending:
            Finisher(self.rows).finish(row.key, intent)
        return bool(pending)

    def _rename(self, row: TableRow, table: Table, relocated: tuple[str, str] | None, *, patient: bool) -> bool:
        """Reserve the new name, decide, and move the rows; False where somebody else came between."""
        target = table_key(table.database, table.name)
        change = _change(row, table, relocated)
        self.tables.database_cell(table.database)
        reservation = Reservation(new_intent_id(), row.key, journal_of(row).last_sequence)
        intent, unknown = None, False
        try:
            with undecided():
                sequence = self._reserve(target, table, reservation, patient=patient)
            if sequence is not None:
                intent = self._open(row, change, ChangeKind.RENAME_TABLE, reservation.id, target, sequence)
        except CommitStateUnknown:
            unknown = True  # it may yet be decided, so the name stays reserved
            raise
        finally:
            if intent is None and not unknown:
                self._withdraw(target, reservation)
        if intent is None:
            return False
        self._finish(row, intent)
        return True

    def _reserve(self, target: bytes, table: Table, reservation: Reservation, *, patient: bool) -> int | None:
        """Reserve a name; the sequence number of what is written there, or None where somebody else came between.

        The number is above all that was ever written there, and above all of the table that comes.

        Raises:
            AlreadyExists: there is a table of that name.
            DatabaseNotFound: there is no such database, or it was dropped before the name was reserved.
        """
        self.tables.vacant(table, patient=patient)
        mark = reservation.encode()
        if not self._put_or_found(target, DEFINITION, None, mark):
            return None
        self.tables.database_cell(table.database)
        for attempt in range(_ATTEMPTS):
            cells = self.rows.get(target) or {}
            if cells.get(DEFINITION) != mark:
                return None
            journal = Journal.decode(cells.get(JOURNAL))
            advanced = journal.advanced(reservation.sequence + 1)
            if journal.intents:  # of a table that is being dropped, by someone who decided that long ago
                Finisher(self.rows).finish_all(target)
            elif self._put_or_found(target, JOURNAL, cells.get(JOURNAL), advanced.encode()):
                kept = (self.rows.get(target) or {}).get(DEFINITION) == mark
                return advanced.last_sequence if kept else None
            else:
                pause(attempt)
        return None

    def _put_or_found(self, key: bytes, cell: str, expected: bytes | None, value: bytes) -> bool:
        """Put a cell; where the answer is lost, look whether it is there. The value is nobody else's."""
        try:
            return self.rows.compare_and_put(key, cell, expected, value)
        except CommitStateUnknown:
            if (self.rows.get(key) or {}).get(cell) == value:
                return True
            raise

    def _withdraw(self, target: bytes, reservation: Reservation) -> None:
        """Free a name again if it is still reserved; where that fails, the next who wants it does so."""
        with suppress(StoreUnavailable, CommitStateUnknown, ConcurrentChange):
            if is_reserved(self.rows.get(target), reservation.id):
                Finisher(self.rows).settle(target, reservation)

    def _open(
        self, row: TableRow, change: TableChange, kind: ChangeKind, name: str, target: bytes = b"", sequence: int = 0
    ) -> Intent | None:
        """Open the intent of a change if the table's journal is what it was; this decides the change."""
        slots = Slots(self.rows)
        slot: int | None = slots.store(row.key, name, change.encode())
        assert slot is not None
        ends = row.definition.prefix, successor(row.definition.prefix)
        intent = Intent(name, slot, journal_of(row).last_sequence + 1, kind, *ends, target, sequence)
        try:
            if open_intent(self.rows, row, intent):
                slot = None
                return intent
        except CommitStateUnknown:
            slot = None
            raise
        finally:
            if slot is not None:
                slots.abandon(row.key, slot)
        return None

    def _was_made(self, row: TableRow, change: TableChange) -> bool:
        """Whether a change that is finished was made, or the table was not what was expected any more.

        Raises:
            CommitStateUnknown: another change of the whole table has come since, which does not tell.
        """
        text = "the change is decided, but others changed the table before its outcome was read"
        with decided(text, table=row.table):
            stamp = stamp_of((self.rows.get(row.key) or {}).get(DEFINITION, b""))
        made = stamp_of(change.definition)
        if stamp in (made, stamp_of(restamped_definition(change.definition, change.refusal))):
            return stamp == made
        raise CommitStateUnknown(text, table=row.table, hint="Read the table to see what was changed")

    def _finish(self, row: TableRow, intent: Intent) -> None:
        with decided(
            "the change is decided, but the store became unavailable before the change was finished", table=row.table
        ):
            Finisher(self.rows).apply(row.key, intent)


def _change(row: TableRow, table: Table, relocated: tuple[str, str] | None, *, cascade: bool = False) -> TableChange:
    """What a table becomes; it was created when it was, unless told otherwise."""
    if table.create_time == 0:
        table = replace(table, create_time=row.table.create_time)
    cell = row.cells[DEFINITION]
    redeclared = _redeclares(row, table)
    return TableChange(stamped_definition(cell, table), stamp_of(cell), relocated, cascade, redeclared)


def _redeclares(row: TableRow, table: Table) -> bool:
    """Whether a table would keep other timelines than it does."""
    columns = row.definition.time_columns
    return (None if columns is None else columns.declaration) != declared_by(table)


def _busy(table: Table) -> ConcurrentChange:
    return ConcurrentChange("other writers kept changing the table", table=table, hint="Nothing was changed; try again")
