"""Databases and tables: rows of the catalog, each changed by compare-and-put on its definition."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from types import NoneType
from typing import Final

from hbstore.arguments import expect, expect_flags
from hbstore.errors import (
    AlreadyExists,
    CommitStateUnknown,
    ConcurrentChange,
    DatabaseNotEmpty,
    DatabaseNotFound,
    TableNotFound,
)
from hbstore.keys import successor
from hbstore.model import Database, Table
from hbstore.names import identifier
from hbstore.rows.interface import Cells, Rows
from hbstore.store.annex_keys import table_annex_key
from hbstore.store.changes import Change
from hbstore.store.database_drop import DatabaseDrop, belongings, defined, definition_cell, remove_belonging
from hbstore.store.finishing import Finisher
from hbstore.store.journal import JournalCommit
from hbstore.store.journal_cell import Journal
from hbstore.store.reservation import Reservation, is_reserved
from hbstore.store.table_row import (
    DATABASE_KEYS,
    DEFINITION,
    JOURNAL,
    STATISTICS,
    TableRow,
    database_key,
    definition_of,
    first_definition,
    struct_of,
    table_key,
    table_keys,
)
from hbstore.store.timeline_classes import check_classes
from hbstore.store.timeline_moves import clear_timelines
from hbstore.structs import decode_database, encode_database
from hbstore.transactions.outcome import decided

_ATTEMPTS: Final = 50
_IF_NOT_EXISTS: Final = "Use if_not_exists=True (--if-not-exists) to keep the existing one"
_LISTINGS: Final = 10
_DROP_BATCH: Final = 5_000
_PATIENCE: Final = 0.05
"""Seconds that a writer gets that is about to give its table this name."""


@dataclass(frozen=True, slots=True)
class Tables:
    """The databases and tables of a store.

    Attributes:
        rows: where they are.
    """

    rows: Rows

    def create_database(self, database: Database, *, if_not_exists: bool) -> None:
        """Add a database; where one of its name is being dropped, that is brought to its end first."""
        expect_flags(if_not_exists=if_not_exists)
        key, data = database_key(database.name), encode_database(database)
        for _ in range(_ATTEMPTS):
            if self.rows.compare_and_put(key, DEFINITION, None, data):
                return
            if defined(definition_cell(self.rows, database.name)):
                if if_not_exists:
                    return
                raise AlreadyExists("the database already exists", database=database.name, hint=_IF_NOT_EXISTS)
            self.finish_drop(database.name)
        raise ConcurrentChange(
            "other writers kept taking the database's name", database=database.name, hint="Try again"
        )

    def get_database(self, name: str) -> Database:
        """Read a database."""
        return decode_database(self.database_cell(identifier("database", name)))

    def alter_database(self, database: Database, *, replaces: Database | None) -> None:
        """Replace all of a database but its name, if it is what is expected."""
        expect("database", database, Database, hint='Give a Database, such as Database("shop", owner="ann")')
        expect("replaces", replaces, Database, NoneType, hint="Give the Database that it is now, or None")
        for _ in range(_ATTEMPTS):
            known = self.database_cell(database.name)
            if replaces is not None and decode_database(known) != replaces:
                raise ConcurrentChange(
                    "the database differs from the expected one",
                    database=database.name,
                    hint="Nothing was changed; read the database again",
                )
            if self.rows.compare_and_put(database_key(database.name), DEFINITION, known, encode_database(database)):
                return
        raise ConcurrentChange("other writers kept changing the database", database=database.name, hint="Try again")

    def databases(self) -> list[Database]:
        """All databases in order of their names."""
        found = self.rows.scan_catalog(*DATABASE_KEYS)
        return [decode_database(cells[DEFINITION]) for _, cells in found if defined(cells.get(DEFINITION))]

    def drop_database(self, name: str, *, cascade: bool, if_exists: bool) -> None:
        """Remove a database and all that belongs to it; with its tables only when told to."""
        expect_flags(cascade=cascade, if_exists=if_exists)
        name = identifier("database", name)
        try:
            if not self.rows.atomic:
                self._drop_by_mark(name, cascade=cascade)
                return
            with self.rows.transaction():
                known = self._droppable(name, cascade=cascade)
                for table in self.names(name):
                    self._remove(self.open(name, table))
                for row, log in list(belongings(self.rows, name)):
                    remove_belonging(self.rows, row, log)
                self.rows.compare_and_put(database_key(name), DEFINITION, known, b"")
        except DatabaseNotFound:
            if not if_exists:
                raise

    def _drop_by_mark(self, name: str, *, cascade: bool) -> None:
        """Drop a database where that takes many writes: the mark decides, where nothing stops it.

        Without cascade the tables are looked at again behind the mark: a table that was created meanwhile stops the
        drop, and its creator looks at the database again as well.
        """
        if DatabaseDrop.of(definition_cell(self.rows, name)) is not None:
            self.finish_drop(name)  # what a dead one left
        for _ in range(_ATTEMPTS):
            known = self._droppable(name, cascade=cascade)
            mark = DatabaseDrop.new(b"" if cascade else known)
            if self.rows.compare_and_put(database_key(name), DEFINITION, known, mark.encode()):
                break
        else:
            raise ConcurrentChange("other writers kept changing the database", database=name, hint="Try again")
        with decided("the store became unavailable while the database was dropped", database=name):
            tables = self._finish_drop(name, mark)
        if tables:
            raise _not_empty(name, tables)

    def _droppable(self, name: str, *, cascade: bool) -> bytes:
        """The definition of a database that may be dropped."""
        known = self.database_cell(name)
        tables = [] if cascade else self.names(name)
        if tables:
            raise _not_empty(name, tables)
        return known

    def finish_drop(self, name: str) -> bool:
        """Bring the drop of a database that is under way to its end; whether there was one."""
        mark = DatabaseDrop.of(definition_cell(self.rows, name))
        if mark is not None:
            self._finish_drop(name, mark)
        return mark is not None

    def _finish_drop(self, name: str, mark: DatabaseDrop) -> list[str]:
        """Finish a drop that others may finish, too; the tables that stopped it.

        What is removed was read while the mark stood, and is removed only if it is still the same. So a slow one never
        takes anything from a database that is created after the others were done.
        """
        self._settle_names(name)
        key, cell = database_key(name), mark.encode()
        if mark.definition:
            late = self.names(name)
            decision = mark.definition if late else DatabaseDrop(mark.id).encode()
            if not self.rows.compare_and_put(key, DEFINITION, cell, decision):
                decision = definition_cell(self.rows, name)  # which another has made meanwhile
            if decision == mark.definition:
                return late or self.names(name)
            cell = DatabaseDrop(mark.id).encode()
        for _ in range(_ATTEMPTS):
            tables = list(self._scan(*table_keys(name)))
            others = list(belongings(self.rows, name))
            if definition_cell(self.rows, name) != cell:
                return []
            if not tables and not others:
                self.rows.compare_and_put(key, DEFINITION, cell, b"")
                return []
            for table in tables:
                with suppress(ConcurrentChange):  # another one has its name
                    self.drop_table(name, table.table.name, if_exists=True, incarnation=table.incarnation)
            for row, log in others:
                remove_belonging(self.rows, row, log)
        raise CommitStateUnknown(
            "the database is dropped, but other writers kept changing its contents",
            database=name,
            hint="Readers no longer see the database; `hbstore repair` removes the rest",
        )

    def database_names(self) -> list[str]:
        """The names of all databases in order; nothing is decoded."""
        found = self.rows.scan_catalog(*DATABASE_KEYS)
        return [key[1:].decode() for key, cells in found if defined(cells.get(DEFINITION))]

    def names(self, database: str) -> list[str]:
        """The names of a database's tables in order, none where it is not there; no definition is decoded."""
        start, stop = table_keys(database)
        return [key[len(start) :].decode() for key in self._there(start, stop)]

    def table_names(self, database: str) -> list[str]:
        """The names of a database's tables in order; DatabaseNotFound if it is not there."""
        database = identifier("database", database)
        self.database_cell(database)
        return self.names(database)

    def tables(self, database: str) -> list[Table]:
        """A database's tables in order of their names."""
        database = identifier("database", database)
        self.database_cell(database)
        return [row.table for row in self._scan(*table_keys(database))]

    def structs(self, database: str) -> list[bytes]:
        """A database's tables as they are stored, in order of their names."""
        database = identifier("database", database)
        self.database_cell(database)
        return [struct_of(cells[DEFINITION]) for cells in self._there(*table_keys(database)).values()]

    def create_table(self, table: Table, *, if_not_exists: bool) -> None:
        """Add a table to a database."""
        expect_flags(if_not_exists=if_not_exists)
        self.database_cell(table.database)
        check_classes(table)
        if table.create_time == 0:
            table = replace(table, create_time=int(time.time()))
        key = table_key(table.database, table.name)
        data = first_definition(table)
        for attempt in range(_ATTEMPTS):
            try:
                cells = self.vacant(table, patient=not attempt)
            except AlreadyExists:
                if if_not_exists:
                    return
                raise
            if self.rows.compare_and_put(key, DEFINITION, None, data):
                break
        else:
            raise ConcurrentChange("other writers kept taking the table's name", table=table, hint="Try again")
        with decided(
            "the table was created, but the store became unavailable before its database was checked", table=table
        ):
            if not self.rows.atomic:
                Finisher(self.rows).finish_all(key)  # of a table that was here and went while the name was looked at
            try:
                self.database_cell(table.database)
            except DatabaseNotFound:
                # A drop that is not decided yet gives way to this table.
                if not self.finish_drop(table.database) or not defined(definition_cell(self.rows, table.database)):
                    self.rows.compare_and_put(key, DEFINITION, data, b"")
                    raise
            statistics = cells.get(STATISTICS)
            if statistics:
                self.rows.compare_and_put(key, STATISTICS, statistics, b"")

    def vacant(self, table: Table, *, patient: bool) -> Cells:
        """The row of a name that no table has, after all that is left of an earlier one is gone.

        Args:
            table: whose name it is to be.
            patient: where a rename is under way to that name, give its writer a moment before it is settled.

        Raises:
            AlreadyExists: there is a table of that name.
        """
        key = table_key(table.database, table.name)
        finisher = Finisher(self.rows)
        for _ in range(_ATTEMPTS):
            cells = self.rows.get(key) or {}
            reservation = Reservation.of(cells)
            if reservation is not None:
                if patient:
                    time.sleep(_PATIENCE)
                else:
                    finisher.settle(key, reservation)
                patient = False
            elif self.is_there(cells):
                raise AlreadyExists("the table already exists", table=table, hint=_IF_NOT_EXISTS)
            elif Journal.decode(cells.get(JOURNAL)).intents:
                finisher.finish_all(key)
            else:
                return cells
        raise ConcurrentChange("other writers kept taking the table's name", table=table, hint="Try again")

    def open(self, database: str, name: str) -> TableRow:
        """Read a table's row: definition, journal and statistics at once."""
        database, name = identifier("database", database), identifier("table", name)
        key = table_key(database, name)
        cells = self.rows.get(key)
        if cells is not None and (found := self.row(key, cells)) is not None:
            return found
        self.database_cell(database)
        raise TableNotFound(
            "the table does not exist",
            table=f"{database}.{name}",
            hint=f"List the tables with `hbstore tables {database}`",
        )

    def reopen(self, row: TableRow) -> TableRow:
        """Read a table's row again.

        Raises:
            ConcurrentChange: another table has its name now, whose keys are made otherwise.
        """
        found = self.open(row.table.database, row.table.name)
        if found.definition is not row.definition and found.definition.schema != row.definition.schema:
            raise ConcurrentChange(
                "the table was dropped and created with other partition columns", table=row.table, hint="Try again"
            )
        return found

    def drop_table(self, database: str, name: str, *, if_exists: bool, incarnation: bytes | None = None) -> None:
        """Remove a table and its partitions, and what an earlier drop left that did not come to its end."""
        database, name = identifier("database", database), identifier("table", name)
        expect_flags(if_exists=if_exists)
        expect("incarnation", incarnation, bytes, NoneType, hint="Give what table_incarnation returned, or None")
        key = table_key(database, name)
        try:
            if self.rows.atomic:
                with self.rows.transaction():
                    self._remove(_checked(self.open(database, name), incarnation))
            else:
                # Another table of the name comes after a drop or a rename, either of which changes the journal.
                self._finish_removal(key)
                commit = JournalCommit(self.rows, lambda row: _checked(self.reopen(row), incarnation), _unchecked)
                commit.drop_table(_checked(self.open(database, name), incarnation))
        except (DatabaseNotFound, TableNotFound):
            if not if_exists:
                raise

    def _remove(self, row: TableRow) -> None:
        """Remove a table, its partitions and all annexes, inside a transaction."""
        clear_timelines(self.rows, row.key, None)
        self.rows.compare_and_put(row.key, DEFINITION, row.cells[DEFINITION], b"")
        self.rows.compare_and_put(row.key, STATISTICS, row.cells.get(STATISTICS), b"")
        for prefix in (row.definition.prefix, table_annex_key(row)):
            while keys := [
                key for batch in self.rows.scan(prefix, successor(prefix), None, _DROP_BATCH) for key, _ in batch
            ]:
                self.rows.write((), keys, 0)

    def _finish_removal(self, key: bytes) -> None:
        """Remove what is left of a table that is being dropped or has another name by now."""
        cells = self.rows.get(key) or {}
        if not self.is_there(cells) and Reservation.of(cells) is None:
            Finisher(self.rows).finish_all(key)

    def _settle_names(self, database: str) -> None:
        """Tables that are about to get a name in a database get it now, or not at all; those that go are gone."""
        finisher = Finisher(self.rows)
        for key, cells in list(self.rows.scan_catalog(*table_keys(database))):
            reservation = Reservation.of(cells)
            if reservation is not None:
                finisher.settle(key, reservation)
            elif not self.is_there(cells) and Journal.decode(cells.get(JOURNAL)).intents:
                finisher.finish_all(key)

    def _scan(self, start: bytes, stop: bytes) -> Iterator[TableRow]:
        for key, cells in self._there(start, stop).items():
            yield TableRow(key, cells, definition_of(cells[DEFINITION]))

    def _there(self, start: bytes, stop: bytes) -> dict[bytes, Cells]:
        """The rows of the tables in a range.

        Where a scan is no snapshot, a table that is renamed meanwhile may be met under both names, or be missed under
        both. So all are looked at until that gives the same tables twice.
        """
        found: dict[bytes, Cells] = {}
        for attempt in range(_LISTINGS):
            before = list(found)
            found = {key: cells for key, cells in self.rows.scan_catalog(start, stop) if self.is_there(cells)}
            if self.rows.atomic or (attempt and list(found) == before):
                break
        return found

    def row(self, key: bytes, cells: Cells) -> TableRow | None:
        """What a table's cells say; None if no table is there."""
        return TableRow(key, cells, definition_of(cells[DEFINITION])) if self.is_there(cells) else None

    def is_there(self, cells: Cells) -> bool:
        """Whether there is a table in a row: defined, not being dropped, and not under another name by now."""
        if not cells.get(DEFINITION) or Reservation.of(cells) is not None:
            return False
        if not cells.get(JOURNAL):
            return True
        journal = Journal.decode(cells[JOURNAL])
        leaving = journal.renames_table
        return not journal.drops_table and (leaving is None or is_reserved(self.rows.get(leaving.peer), leaving.id))

    def database_cell(self, name: str) -> bytes:
        """The definition of a database that must be there."""
        cell = definition_cell(self.rows, name)
        if not defined(cell):
            raise DatabaseNotFound(
                "the database does not exist", database=name, hint="List the databases with `hbstore databases`"
            )
        return cell


def _checked(row: TableRow, incarnation: bytes | None) -> TableRow:
    """A table's row, if it is of the table that was seen; None: of any."""
    if incarnation not in (None, row.incarnation):
        raise ConcurrentChange(
            "another table has this name now", table=row.table, hint="Nothing was changed; read the table again"
        )
    return row


def _unchecked(change: Change) -> Change:
    return change


def _not_empty(name: str, tables: list[str]) -> DatabaseNotEmpty:
    return DatabaseNotEmpty(
        "the database has tables",
        database=name,
        tables=len(tables),
        hint="Drop them first, or drop with cascade (--cascade)",
    )
