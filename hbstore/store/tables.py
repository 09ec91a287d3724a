"""Databases and tables: rows of the catalog, each changed by compare-and-put on its definition."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from hbstore.errors import (
    AlreadyExists,
    ConcurrentChange,
    DatabaseNotEmpty,
    DatabaseNotFound,
    InvalidInput,
    TableNotFound,
)
from hbstore.keys import successor
from hbstore.model import Database, Table
from hbstore.names import identifier
from hbstore.rows.interface import Cells, Rows
from hbstore.store.changes import Change
from hbstore.store.journal import JournalCommit
from hbstore.store.journal_cell import Journal
from hbstore.store.outcome import decided
from hbstore.store.table_row import (
    DATABASE_KEYS,
    DEFINITION,
    JOURNAL,
    STATISTICS,
    TABLE_KEYS,
    Definition,
    Definitions,
    TableRow,
    database_key,
    first_definition,
    next_definition,
    table_key,
    table_keys,
)
from hbstore.structs import decode_database, encode_database

_ATTEMPTS: Final = 50
_DROP_BATCH: Final = 5_000


@dataclass(frozen=True, slots=True)
class Tables:
    """The databases and tables of a store.

    Attributes:
        rows: where they are.
    """

    rows: Rows
    _definitions: Definitions = field(default_factory=Definitions)

    def create_database(self, database: Database, *, if_not_exists: bool) -> None:
        """Add a database."""
        if not self.rows.compare_and_put(database_key(database.name), DEFINITION, None, encode_database(database)):
            if if_not_exists:
                return
            raise AlreadyExists("the database is there already", database=database.name)

    def get_database(self, name: str) -> Database:
        """Read a database."""
        return decode_database(self._database_cell(identifier("database", name)))

    def alter_database(self, database: Database) -> None:
        """Replace all of a database but its name."""
        for _ in range(_ATTEMPTS):
            known = self._database_cell(database.name)
            if self.rows.compare_and_put(database_key(database.name), DEFINITION, known, encode_database(database)):
                return
        raise ConcurrentChange("other writers kept changing the database", database=database.name, hint="Try again")

    def databases(self) -> list[Database]:
        """All databases in order of their names."""
        found = self.rows.scan_catalog(*DATABASE_KEYS)
        return [decode_database(cells[DEFINITION]) for _, cells in found if cells.get(DEFINITION)]

    def drop_database(self, name: str, *, cascade: bool, if_exists: bool) -> None:
        """Remove a database; with its tables only when told to.

        The database goes first and its tables are looked at again: a table that was created meanwhile either stops
        the drop or is dropped with the rest, and its creator looks at the database again as well.
        """
        name = identifier("database", name)
        try:
            known = self._database_cell(name)
        except DatabaseNotFound:
            if if_exists:
                return
            raise
        tables = self.names(name)
        if tables and not cascade:
            raise _not_empty(name, tables)
        with decided("the store went away while the database was dropped", database=name):
            for table in tables:
                self.drop_table(name, table, if_exists=True)
            if not self.rows.compare_and_put(database_key(name), DEFINITION, known, b""):
                raise ConcurrentChange("the database was changed meanwhile", database=name, hint="Try again")
            late = self.names(name)
            if late and not cascade:
                self.rows.compare_and_put(database_key(name), DEFINITION, None, known)
                raise _not_empty(name, late)
            for table in late:
                self.drop_table(name, table, if_exists=True)

    def names(self, database: str) -> list[str]:
        """The names of a database's tables in order; an empty list where there is no such database."""
        return [row.table.name for row in self._scan(*table_keys(database))]

    def tables(self, database: str) -> list[Table]:
        """A database's tables in order of their names."""
        database = identifier("database", database)
        self._database_cell(database)
        return [row.table for row in self._scan(*table_keys(database))]

    def all_rows(self) -> Iterator[TableRow]:
        """The rows of all tables."""
        return self._scan(*TABLE_KEYS)

    def create_table(self, table: Table, *, if_not_exists: bool) -> None:
        """Add a table to a database."""
        self._database_cell(table.database)
        if table.create_time == 0:
            table = replace(table, create_time=int(time.time()))
        key = table_key(table.database, table.name)
        cells = self.rows.get(key) or {}
        if Journal.decode(cells.get(JOURNAL)).drops_table:
            self._finish_drop(key, table, cells)
            cells = self.rows.get(key) or {}
        data = first_definition(table)
        if not self.rows.compare_and_put(key, DEFINITION, None, data):
            if if_not_exists:
                return
            raise AlreadyExists("the table is there already", table=table)
        with decided("the table was created, but the store went away before that was checked", table=table):
            try:
                self._database_cell(table.database)
            except DatabaseNotFound:
                self.rows.compare_and_put(key, DEFINITION, data, b"")
                raise
            statistics = cells.get(STATISTICS)
            if statistics:
                self.rows.compare_and_put(key, STATISTICS, statistics, b"")

    def open(self, database: str, name: str) -> TableRow:
        """Read a table's row: definition, journal and statistics at once."""
        database, name = identifier("database", database), identifier("table", name)
        key = table_key(database, name)
        cells = self.rows.get(key)
        if cells is not None and (found := self._row(key, cells)) is not None:
            return found
        self._database_cell(database)
        raise TableNotFound(
            "no such table", table=f"{database}.{name}", hint=f"List them with `hbstore tables {database}`"
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

    def alter_table(self, table: Table) -> None:
        """Replace all of a table but its name and its partition columns."""
        for _ in range(_ATTEMPTS):
            row = self.open(table.database, table.name)
            if row.table.key_types != table.key_types or not _same_names(row.table, table):
                raise InvalidInput(
                    "partition columns cannot be altered, as all row keys are made of them",
                    table=table,
                    hint="Create another table and load the partitions into it",
                )
            known = row.cells[DEFINITION]
            if self.rows.compare_and_put(row.key, DEFINITION, known, next_definition(known, table)):
                return
        raise ConcurrentChange("other writers kept changing the table", table=table, hint="Try again")

    def drop_table(self, database: str, name: str, *, if_exists: bool) -> None:
        """Remove a table and its partitions, and what an earlier drop left that did not come to its end."""
        database, name = identifier("database", database), identifier("table", name)
        key = table_key(database, name)
        cells = self.rows.get(key) or {}
        if Journal.decode(cells.get(JOURNAL)).drops_table:
            self._finish_drop(key, Table(database, name), cells)
        try:
            row = self.open(database, name)
            if not self.rows.atomic:
                self.journal().drop_table(row)
                return
        except (DatabaseNotFound, TableNotFound):
            if if_exists:
                return
            raise
        prefix = row.definition.prefix
        with self.rows.transaction():
            self.rows.compare_and_put(row.key, DEFINITION, row.cells[DEFINITION], b"")
            self.rows.compare_and_put(row.key, STATISTICS, row.cells.get(STATISTICS), b"")
            while keys := [
                key for batch in self.rows.scan(prefix, successor(prefix), None, _DROP_BATCH) for key, _ in batch
            ]:
                self.rows.write((), keys, 0)

    def journal(self) -> JournalCommit:
        """The journal, for finishing intents that need no check."""
        return JournalCommit(self.rows, self.reopen, _unchecked)

    def _finish_drop(self, key: bytes, table: Table, cells: Cells) -> None:
        """A table of this name is being dropped: its rows must be gone before the name is used again."""
        row = TableRow(key, cells, Definition(table))
        for intent in row.journal.intents:
            self.journal().finish(row, intent)

    def _scan(self, start: bytes, stop: bytes) -> Iterator[TableRow]:
        for key, cells in self.rows.scan_catalog(start, stop):
            row = self._row(key, cells)
            if row is not None:
                yield row

    def _row(self, key: bytes, cells: Cells) -> TableRow | None:
        if not cells.get(DEFINITION):
            return None
        row = TableRow(key, cells, self._definitions.of(cells[DEFINITION]))
        return None if cells.get(JOURNAL) and row.journal.drops_table else row

    def _database_cell(self, name: str) -> bytes:
        cells = self.rows.get(database_key(name)) or {}
        if not cells.get(DEFINITION):
            raise DatabaseNotFound("no such database", database=name, hint="List them with `hbstore databases`")
        return cells[DEFINITION]


def _unchecked(change: Change) -> Change:
    return change


def _same_names(left: Table, right: Table) -> bool:
    names = [[name.lower() for name in table.partition_column_names] for table in (left, right)]
    return names[0] == names[1]


def _not_empty(name: str, tables: list[str]) -> DatabaseNotEmpty:
    return DatabaseNotEmpty(
        "the database has tables",
        database=name,
        tables=len(tables),
        hint="Drop them first, or drop with cascade (--cascade)",
    )
