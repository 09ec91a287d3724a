"""Databases and tables: what is there, created, altered and dropped; each change is one transaction."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import NoneType
from typing import Final, TypeVar

from hbstore.byte_cache import ByteCache
from hbstore.errors import (
    AlreadyExists,
    ConcurrentChange,
    DatabaseNotEmpty,
    DatabaseNotFound,
    TableNotFound,
)
from hbstore.keys.partition_names import identifier
from hbstore.keys.row_key import successor, table_prefix
from hbstore.model.constraints import Constraint
from hbstore.model.objects import Database, Privileges, Table
from hbstore.model.structs import decode_database, encode_database
from hbstore.model.totals import NOTHING
from hbstore.servers.call_limits import check_wanted
from hbstore.store.companion_keys import companions_of
from hbstore.store.constraint_changes import add_constraints, forget_constraints
from hbstore.store.grants_row import GRANTS, grant_first, grants_key
from hbstore.store.leases import check_no_deletions
from hbstore.store.publications_cell import WRITES, check_in_place
from hbstore.store.purge import OF_NAME, remove_rows
from hbstore.store.stream_batches import record_keys
from hbstore.store.table_parameters import check_parameters
from hbstore.store.table_row import (
    DATABASE_KEYS,
    DEFINITION,
    TABLE_KEYS,
    TableRow,
    check_same_table,
    database_key,
    definition_of,
    first_definition,
    prefix_of,
    struct_of,
    table_id_of,
    table_key,
    table_keys,
    totals_state,
)
from hbstore.texts.arguments import expect, expect_flags
from hbstore.transactions.transaction import RowView, Transaction
from hbstore.transactions.transactions import Transactions
from hbstore.transactions.waiting import Waiting

T = TypeVar("T")
_IF_NOT_EXISTS: Final = "Use if_not_exists=True (--if-not-exists) to keep the existing one"
ARRIVALS_BYTES: Final = 1 << 20
"""Bytes of what is kept of databases, so that a list of their tables takes one read less."""
_ARRIVAL: Final = 200
_BELONGINGS: Final = (b"F", b"M", GRANTS)
"""What the keys of rows begin with that hold a database's functions, documents, and what is granted on its tables."""


@dataclass(frozen=True, slots=True)
class Tables:
    """The databases and tables of a store.

    Attributes:
        transactions: on the rows where they are.
    """

    transactions: Transactions
    _arrivals: ByteCache = field(default_factory=lambda: ByteCache(ARRIVALS_BYTES), compare=False, repr=False)
    """Where a scan is no snapshot: what `_turns` said of a database when its tables were listed last."""

    def create_database(self, database: Database, *, if_not_exists: bool) -> None:
        """Add a database."""
        expect_flags(if_not_exists=if_not_exists)

        def create(transaction: Transaction) -> None:
            view = transaction.row(database_key(database.name))
            if not view.state:
                view.set_state(encode_database(database))
            elif not if_not_exists:
                raise AlreadyExists("the database already exists", database=database.name, hint=_IF_NOT_EXISTS)

        self.transactions.run(create)

    def get_database(self, name: str) -> Database:
        """Read a database."""
        return decode_database(self.database_struct(identifier("database", name)))

    def database_struct(self, name: str) -> bytes:
        """The stored bytes of a database that must be there."""
        return existing_database(name, self.transactions.state(database_key(name)))

    def alter_database(self, database: Database, *, replaces: Database | None) -> None:
        """Replace all of a database but its name, if it is what is expected."""
        expect("database", database, Database, hint='Give a Database, such as Database("shop", owner="ann")')
        expect("replaces", replaces, Database, NoneType, hint="Give the Database that it is now, or None")

        def alter(transaction: Transaction) -> None:
            view = transaction.row(database_key(database.name))
            before = existing_database(database.name, view.state)
            if replaces is not None and decode_database(before) != replaces:
                raise ConcurrentChange(
                    "the database differs from the expected one",
                    database=database.name,
                    hint="Nothing was changed; read the database again",
                )
            view.set_state(encode_database(database))

        self.transactions.run(alter)

    def databases(self) -> list[Database]:
        """All databases in order of their names."""
        return [decode_database(log.state) for _, log, _ in self.transactions.scan(*DATABASE_KEYS) if log.state]

    def database_names(self) -> list[str]:
        """The names of all databases in order; nothing is decoded."""
        return [key[1:].decode() for key, log, _ in self.transactions.scan(*DATABASE_KEYS) if log.state]

    def drop_database(
        self,
        name: str,
        *,
        cascade: bool,
        if_exists: bool,
        also: Callable[[Transaction], None] | None = None,
        tables: Collection[bytes] | None = None,
    ) -> bool:
        """Remove a database and all that belongs to it, with tables only when told to; `also` is done with it.

        With ``tables`` only if its tables have these ids.

        Returns:
            Whether rows of its tables are left for `hbstore.store.purge`.
        """
        expect_flags(cascade=cascade, if_exists=if_exists)
        name = identifier("database", name)

        def drop(transaction: Transaction) -> bool:
            view = transaction.row(database_key(name))
            if not view.state and if_exists:
                return False
            existing_database(name, view.state)
            rows = [(key, log, cells) for key, log, cells in transaction.scan(*table_keys(name)) if DEFINITION in cells]
            if rows and not cascade:
                raise _not_empty(name, [key for key, _, _ in rows])
            if tables is not None and {*tables} != {table_id_of(cells[DEFINITION]) for _, _, cells in rows}:
                hint = "Nothing was changed; try again"
                raise ConcurrentChange("tables came to the database or left it", database=name, hint=hint)
            for key, log, cells in rows:
                if WRITES in cells and (row := TableRow.of(key, log, cells)) is not None:
                    check_no_deletions(row)
            view.set_state(b"")
            leaves_rows = [remove_table(transaction, transaction.row(key)) for key, _, _ in rows]
            for key in _belongings(transaction, name):
                transaction.row(key).set_state(b"")
            if also is not None:
                also(transaction)
            return any(leaves_rows)

        return self.transactions.run(drop)

    def change_in_database(self, database: str, step: Callable[[Transaction], None]) -> None:
        """Run a transaction that changes what belongs to a database, which must be there and stay.

        Raises:
            DatabaseNotFound: it is not there.
        """
        name = identifier("database", database)

        def change(transaction: Transaction) -> None:
            step(transaction)
            existing_database(name, transaction.row(database_key(name)).state)

        self.transactions.run(change)

    def names(self, database: str) -> list[str]:
        """The names of a database's tables in order, none where it is not there; no definition is decoded."""
        start = table_keys(database)[0]
        return [key[len(start) :].decode() for key in self._definitions(database)]

    def ids(self) -> set[bytes]:
        """The table ids of all tables of all databases."""
        return {table_id_of(definition) for definition in self._definitions().values()}

    def table_names(self, database: str) -> list[str]:
        """The names of a database's tables in order; DatabaseNotFound if it is not there."""
        database = identifier("database", database)
        start = table_keys(database)[0]
        return [key[len(start) :].decode() for key in self._existing_definitions(database)]

    def tables(self, database: str) -> list[Table]:
        """A database's tables in order of their names."""
        database = identifier("database", database)
        return [definition_of(definition).table for definition in self._existing_definitions(database).values()]

    def structs(self, database: str) -> list[bytes]:
        """A database's tables as they are stored, in order of their names."""
        database = identifier("database", database)
        return [struct_of(definition) for definition in self._existing_definitions(database).values()]

    def create_table(
        self, table: Table, *, if_not_exists: bool, grants: Privileges | None, constraints: Sequence[Constraint]
    ) -> None:
        """Add a table to a database, with what users, groups and roles may do with it, and its constraints."""
        expect_flags(if_not_exists=if_not_exists)
        expect(
            "grants", grants, Privileges, NoneType, hint='Give Privileges(users={"ann": [Grant("SELECT")]}), or None'
        )
        self.database_struct(table.database)
        check_parameters(table)

        def create(transaction: Transaction) -> None:
            table_id = add_table(transaction, table)
            if table_id is not None:
                if grants is not None:
                    grant_first(transaction, table_key(table.database, table.name), table_id, grants)
                if constraints:
                    add_constraints(transaction, table_key(table.database, table.name), constraints)
            elif not if_not_exists:
                raise AlreadyExists("the table already exists", table=table, hint=_IF_NOT_EXISTS)

        self.transactions.run(create)

    def open(self, database: str, name: str) -> TableRow:
        """Read a table's row: definition, log and statistics at once."""
        check_wanted()
        database, name = identifier("database", database), identifier("table", name)
        key = table_key(database, name)
        row = TableRow.of(key, *self.transactions.read(key))
        if row is None:
            self.database_struct(database)
            raise _not_found(database, name)
        return row

    def ids_of(self, names: Iterable[tuple[str, str]]) -> dict[tuple[str, str], bytes]:
        """The table ids of those of some tables that are there, by their names as they were given."""
        keys = {(one, two): table_key(identifier("database", one), identifier("table", two)) for one, two in names}
        read = self.transactions.read_many(sorted(set(keys.values())))
        cells = {name: read[key][1].get(DEFINITION) for name, key in keys.items() if key in read}
        return {name: table_id_of(cell) for name, cell in cells.items() if cell}

    def view(self, transaction: Transaction, database: str, name: str) -> tuple[RowView, TableRow]:
        """A table in a transaction, and what its row says."""
        database, name = identifier("database", database), identifier("table", name)
        view, row = table_in(transaction, database, name)
        if row is None:
            self.database_struct(database)
            raise _not_found(database, name)
        return view, row

    def drop_table(
        self,
        database: str,
        name: str,
        *,
        if_exists: bool,
        also: Callable[[Transaction], None] | None = None,
        same_as: TableRow | None = None,
    ) -> bool:
        """Remove a table and its partitions; `also` is done with it. With ``same_as`` only the table of that row.

        Returns:
            Whether rows are left for `hbstore.store.purge`.
        """
        expect_flags(if_exists=if_exists)

        def drop(transaction: Transaction) -> bool:
            view = transaction.row(table_key(identifier("database", database), identifier("table", name)))
            view.settle()  # also where a drop of it is not finished
            row = self.view(transaction, database, name)[1]
            check_in_place(row)
            check_same_table(row, same_as)
            check_no_deletions(row)
            leaves_rows = remove_table(transaction, view)
            if also is not None:
                also(transaction)
            return leaves_rows

        with suppress(*(DatabaseNotFound, TableNotFound) if if_exists else ()):
            return self.transactions.run(drop)
        return False

    def _existing_definitions(self, database: str) -> dict[bytes, bytes]:
        """The same of a database that must be there, in one scan and one read where no table came to it of late."""
        if self.transactions.reads_one_moment:
            self.database_struct(database)
            return self._definitions(database)
        known = self._arrivals.get(database)
        seen = {} if known is None else self._scanned(database)
        log = self.transactions.read(database_key(database))[0]
        existing_database(database, log.state)
        if known != (log.sequence, log.turn):
            seen = self._definitions(database)
        return seen

    def _definitions(self, database: str | None = None) -> dict[bytes, bytes]:
        """The ``d:def`` cells of a database's tables, or of all, by the keys of their rows."""
        return self.at_one_moment(lambda: self._scanned(database), database)

    def at_one_moment(self, read: Callable[[], T], database: str | None = None) -> T:
        """What is read of the rows of a database's tables, or of those of all, while none comes to it by a rename.

        Where a scan is no snapshot, a table that is renamed meanwhile may be met under both names, or be missed under
        both. So the tables are looked at until no table has come to a database meanwhile, which its log says.
        """
        if self.transactions.reads_one_moment:
            with self.transactions.rows.snapshot():  # many rows are read in pages
                return read()
        waiting = Waiting(self.transactions.patience)
        now = self._turns(database)
        while True:
            before, seen = now, read()
            now = self._turns(database)
            if now == before:
                if database is not None:
                    self._arrivals.put(database, now[0], size=_ARRIVAL + len(database))
                return seen
            waiting.pause("other writers kept renaming or creating tables", "Try again")

    def _scanned(self, database: str | None) -> dict[bytes, bytes]:
        keys = TABLE_KEYS if database is None else table_keys(database)
        return dict(self.transactions.scan_cell(*keys, DEFINITION))

    def _turns(self, database: str | None) -> list[tuple[int, int]]:
        """Numbers that rise when a table comes to a database, or to any."""
        if database is None:
            logs = [log for _, log, _ in self.transactions.scan(*DATABASE_KEYS)]
        else:
            logs = [self.transactions.read(database_key(database))[0]]
        return [(log.sequence, log.turn) for log in logs]


def existing_database(name: str, struct: bytes) -> bytes:
    """The stored bytes of a database, which is there if there are any.

    Raises:
        DatabaseNotFound: it is not there.
    """
    if not struct:
        raise DatabaseNotFound(
            "the database does not exist",
            database=name,
            hint="List the databases with `hbstore databases`, or create it with `hbstore create-database NAME`",
        )
    return struct


def table_in(transaction: Transaction, database: str, name: str) -> tuple[RowView, TableRow | None]:
    """The row of a table's name in a transaction, and what it says; None where no table is there."""
    view = transaction.row(table_key(database, name))
    return view, TableRow.of(view.key, view.log, view.cells)


def add_table(transaction: Transaction, table: Table) -> bytes | None:
    """Add a table to a database, which must be there; its table id, or None where there is one of its name already."""
    view, row = table_in(transaction, table.database, table.name)
    existing_database(table.database, transaction.row(database_key(table.database)).state)
    if row is not None:
        return None
    view.settle()
    made = table if table.create_time else replace(table, create_time=int(time.time()))
    first = table_prefix(table.database, table.name)
    # A number of a change that made a table is no other one's. Rows of no table may be left under a name that is new.
    is_first = not view.log.sequence and not view.has_partition_rows(first, successor(first))
    definition = first_definition(made, 0 if is_first else view.log.sequence + 1)
    view.put_cell(DEFINITION, definition)
    view.set_state(totals_state(NOTHING))
    return table_id_of(definition)


def remove_table(transaction: Transaction, view: RowView) -> bool:
    """Remove a table with its partitions, constraints, grants, and what streams have written into it.

    Returns:
        Whether rows are left for `hbstore.store.purge`.
    """
    definition = view.cells.get(DEFINITION)
    forget_constraints(transaction, view.key)
    for name in view.all_cells():
        if name not in OF_NAME:
            view.put_cell(name, b"")
    view.set_state(b"")
    if definition is None:
        return False
    granted = grants_key(view.key)
    # Nobody adds to these meanwhile: who grants, or decides a batch of a stream, locks the table's row.
    for start, stop in ((granted, granted + b"\0"), record_keys(table_id_of(definition))):
        for key, log, _ in transaction.scan(start, stop):
            if log.state:
                transaction.row(key).set_state(b"")
    return remove_rows(view, (prefix_of(view.key, definition), companions_of(definition)))


def _belongings(transaction: Transaction, database: str) -> Iterator[bytes]:
    """The keys of rows that hold a database's functions and documents, and what is granted on it and its tables."""
    start = database.encode()
    yield GRANTS + start
    for kind in _BELONGINGS:
        for key, log, _ in transaction.scan(kind + start + b"\0", kind + start + b"\1"):
            if log.state:
                yield key


def _not_found(database: str, name: str) -> TableNotFound:
    return TableNotFound(
        "the table does not exist",
        table=f"{database}.{name}",
        hint=f"List the tables with `hbstore tables {database}`",
    )


def _not_empty(name: str, tables: list[bytes]) -> DatabaseNotEmpty:
    return DatabaseNotEmpty(
        "the database has tables",
        database=name,
        tables=len(tables),
        hint="Drop them first, or drop with cascade (--cascade)",
    )
