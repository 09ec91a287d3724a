"""The methods of a store for databases and tables; `hbstore.store.partition_store` says what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import NoneType
from typing import Final

from hbstore.errors import InvalidType
from hbstore.model.constraints import Constraint
from hbstore.model.objects import Database, Privileges, Table
from hbstore.store.purge import Purger
from hbstore.store.records import NewRecord
from hbstore.store.table_changes import TableChanges
from hbstore.store.table_row import TableRow
from hbstore.store.tables import Tables
from hbstore.texts.arguments import expect, expect_choice, expect_many
from hbstore.texts.hive_types import InvalidTypes, check_columns
from hbstore.transactions.transaction import Transaction

_PAIRS: Final = 'Give a list of pairs, such as [("shop", "sales")]'
_A_TABLE: Final = 'Give a Table, such as replace(store.get_table("shop", "sales"), owner="ann")'


class CatalogMethods:
    """Databases and tables, as one catalog."""

    _tables: Tables
    _table_changes: TableChanges
    _purger: Purger

    # Databases

    def create_database(self, database: str | Database, *, if_not_exists: bool = False) -> None:
        """Add a database. O(1).

        Args:
            database: its name, or all of it.
            if_not_exists: whether one that is there already is no error; it stays what it is.

        Raises:
            AlreadyExists: there is one of the name, unless ``if_not_exists``.
            InvalidName: the name is not letters, digits and underscores.

        >>> store.create_database(Database("attic", description="what is not asked any more"))
        >>> store.database_names()
        ['attic', 'shop']
        """
        made = database if isinstance(database, Database) else Database(database)
        self._tables.create_database(made, if_not_exists=if_not_exists)

    def get_database(self, name: str) -> Database:
        """Read a database. One read, O(1).

        Raises:
            DatabaseNotFound: there is none.

        >>> store.get_database("SHOP")
        <Database shop>
        """
        return self._tables.get_database(name)

    def databases(self) -> list[Database]:
        """All databases in order of their names. One scan, O(databases).

        >>> store.databases()
        [<Database shop>]
        """
        return self._tables.databases()

    def database_names(self) -> list[str]:
        """The names of all databases in order, which cost less than the databases.

        >>> store.database_names()
        ['shop']
        """
        return self._tables.database_names()

    def alter_database(self, database: Database, *, replaces: Database | None = None) -> None:
        """Replace all of a database but its name. O(1).

        Args:
            database: what it becomes.
            replaces: what it must still be; None: whatever it is.

        Raises:
            DatabaseNotFound: there is none of the name.
            ConcurrentChange: it is not what it replaces, or other writers altered it again and again meanwhile;
                nothing was changed.

        >>> store.alter_database(Database("shop", owner="ann"))
        >>> store.get_database("shop").owner
        'ann'
        """
        self._tables.alter_database(database, replaces=replaces)

    def drop_database(
        self,
        name: str,
        *,
        cascade: bool = False,
        if_exists: bool = False,
        record: NewRecord | None = None,
        tables: Collection[bytes] | None = None,
    ) -> None:
        """Remove a database with its functions, documents and grants: all of it or nothing. O(partitions).

        Args:
            name: the database's name.
            cascade: whether its tables and their partitions go as well. Files are not touched.
            if_exists: whether it is no error that there is none.
            record: what is put into the store's records in the same step.
            tables: the ids that its tables must have (`table_ids`); None: whatever they are.

        Raises:
            DatabaseNotFound: there is none, unless ``if_exists``.
            DatabaseNotEmpty: it has tables, and ``cascade`` is not said; nothing was changed.
            ConcurrentChange: it has other tables than ``tables``; nothing was changed.
            CommitStateUnknown: HBase went away in the middle; what is left is never seen on the next of its name.

        >>> store.drop_database("shop", cascade=True)
        >>> store.database_names()
        []
        """
        also = _put(record)
        if self._tables.drop_database(name, cascade=cascade, if_exists=if_exists, also=also, tables=tables):
            self._purger.begin()

    # Tables

    def create_table(
        self,
        table: Table,
        *,
        if_not_exists: bool = False,
        grants: Privileges | None = None,
        constraints: Sequence[Constraint] = (),
        invalid_types: InvalidTypes = "reject",
    ) -> None:
        """Add a table to a database. O(1).

        Args:
            table: its names, columns and storage.
            grants: what users, groups and roles are granted on it at once; `hive.grants` lists that.
            if_not_exists: whether one that is there already is no error; it stays what it is.
            constraints: keys, NOT NULL, defaults and checks, which are kept and not enforced; `hive.constraints` lists
                them.
            invalid_types: "keep" takes columns of types that Hive does not have, as an import does; "reject" raises.

        Raises:
            DatabaseNotFound: the table's database is not there.
            AlreadyExists: there is one of the name, unless ``if_not_exists``.
            InvalidType: a column's type is none of Hive's.
            InvalidInput, DdlRefused: a constraint cannot be, as of `hive.constraints.add`; nothing was created.
            UnknownUpdatePeriod, UnknownTimelineClass: the parameters declare timelines that cannot be.

        >>> from hbstore import Column
        >>> store.create_table(Table("shop", "returns", partition_columns=[Column("ds", "date")]))
        >>> store.table_names("shop")
        ['returns', 'sales']
        """
        expect("table", table, Table, hint=_A_TABLE)
        expect_choice("invalid_types", invalid_types, "reject", "keep")
        if invalid_types == "reject":
            check_columns((column.name, column.type) for column in table.columns)
        given = expect_many("constraints", constraints, Constraint, hint="Give a list of Constraint")
        self._tables.create_table(table, if_not_exists=if_not_exists, grants=grants, constraints=given)

    def get_table(self, database: str, name: str) -> Table:
        """Read a table. One read, O(1).

        >>> store.get_table("shop", "sales")
        <Table shop.sales (ds date, hour int), 1 column at s3://shop/sales>
        """
        return self.table_row(database, name).table

    def read_table(self, database: str, name: str) -> bytes:
        r"""The stored bytes of a table: the Hive Metastore's Table struct.

        >>> store.read_table("shop", "sales")[:1]
        b'\x0b'
        """
        return self.table_row(database, name).struct

    def table_row(self, database: str, name: str) -> TableRow:
        """A table and its bytes in one read.

        >>> store.table_row("shop", "sales").table.location
        's3://shop/sales'
        """
        return self._tables.open(database, name)

    def table_ids(self, names: Iterable[tuple[str, str]]) -> dict[tuple[str, str], bytes]:
        """The ids of those of some tables that are there, by database and table: one read on HBase.

        >>> list(store.table_ids([("shop", "sales"), ("shop", "none")]))
        [('shop', 'sales')]
        """
        return self._tables.ids_of(expect_many("names", names, tuple, hint=_PAIRS))

    def tables(self, database: str) -> list[Table]:
        """A database's tables in order of their names. One scan, O(tables).

        >>> [table.name for table in store.tables("shop")]
        ['sales']
        """
        return self._tables.tables(database)

    def table_names(self, database: str) -> list[str]:
        """The names of a database's tables in order, which cost less than the tables.

        >>> store.table_names("shop")
        ['sales']
        """
        return self._tables.table_names(database)

    def read_tables(self, database: str) -> list[bytes]:
        r"""The stored bytes of a database's tables in order of their names. One scan, in which nothing is decoded.

        >>> [struct[:1] for struct in store.read_tables("shop")]
        [b'\x0b']
        """
        return self._tables.structs(database)

    def alter_table(
        self,
        table: Table,
        *,
        cascade: bool = False,
        expected_parameters: Mapping[str, str | None] | None = None,
        replaces: Table | None = None,
        same_as: TableRow | None = None,
        invalid_types: InvalidTypes = "reject",
    ) -> None:
        """Replace all of a table but its name and its partition columns.

        With ``cascade`` the columns of every partition's storage become the table's, as quickly as a rename. With
        ``expected_parameters`` it is done only if the very version that is replaced has these (None: has it not), with
        ``replaces`` only if that version equals this table, with ``same_as`` only if it is the table of that row.
        ``invalid_types`` is as for `create_table`; columns that stay as they are are not looked at.

        Raises:
            InvalidType: a column is now of a type that Hive does not have.
            InvalidInput: the partition columns differ, which all row keys are made of.
            ConcurrentChange: a parameter, or the table, is not what is expected; nothing was changed.

        >>> from dataclasses import replace
        >>> store.alter_table(replace(store.get_table("shop", "sales"), owner="ann"))
        >>> store.get_table("shop", "sales").owner
        'ann'
        """
        expect("table", table, Table, hint=_A_TABLE)
        expect_choice("invalid_types", invalid_types, "reject", "keep")
        if invalid_types == "reject":
            self._check_new_types(table, table.database, table.name)
        expected = expected_parameters
        self._table_changes.alter(table, cascade=cascade, expected=expected, replaces=replaces, same_as=same_as)

    def rename_table(
        self,
        database: str,
        name: str,
        table: Table,
        *,
        relocated: tuple[str, str] | None = None,
        moved: str | None = None,
        same_as: TableRow | None = None,
        invalid_types: InvalidTypes = "reject",
    ) -> None:
        """Give a table another name, in its database or another one, with all its partitions, in a few writes.

        Readers find the table whole under its old name until that is decided, from then on under the new one, on HBase
        as well (docs/hbase.md). ``table`` is what it becomes, with the same partition columns; ``relocated`` the
        beginning of partitions' locations and what replaces it, while locations elsewhere stay; ``moved`` the
        publication of `FolderChanges.begin_move` for which its folder has moved. ``same_as`` and ``invalid_types`` are
        as for `alter_table`. O(1), but for one of many renames and alterations, which writes the rows anew,
        O(partitions).

        Raises:
            AlreadyExists: there is a table of the new name.
            PublicationLost: the publication ``moved`` was given up; nothing was changed.
            InvalidType: a column is now of a type that Hive does not have.
            InvalidInput: the name is the same, or the partition columns are not.
            ConcurrentChange: files of a decided write or of an exchange are on their way, or it is not the table of
                ``same_as``; nothing was changed.

        >>> from dataclasses import replace
        >>> store.rename_table("shop", "sales", replace(store.get_table("shop", "sales"), name="sold"))
        >>> store.table("shop.sold").count()
        72
        """
        expect("table", table, Table, hint=_A_TABLE)
        expect_choice("invalid_types", invalid_types, "reject", "keep")
        if invalid_types == "reject":
            self._check_new_types(table, database, name)
        self._table_changes.rename(database, name, table, relocated=relocated, moved=moved, same_as=same_as)

    def _check_new_types(self, table: Table, database: str, name: str) -> None:
        """See that the columns of a table that is to be altered are of Hive's types, if they were not before."""
        columns = [(column.name, column.type) for column in table.columns]
        try:
            check_columns(columns)
        except InvalidType:
            before = {(column.name, column.type) for column in self._tables.open(database, name).table.columns}
            check_columns(one for one in columns if one not in before)

    def drop_table(
        self,
        database: str,
        name: str,
        *,
        if_exists: bool = False,
        record: NewRecord | None = None,
        same_as: TableRow | None = None,
    ) -> None:
        """Remove a table and all its partitions. Files are not touched. A record may be put in the same step. O(1).

        More than 100 partition rows are removed in the background; nobody sees them, and the name is free at once.
        ``same_as`` is as for `alter_table`.

        Raises:
            TableNotFound, DatabaseNotFound: there is none, unless ``if_exists``.
            ConcurrentChange: folders of it are on their way, or it is not the table of ``same_as``; nothing was
                changed.

        >>> store.drop_table("shop", "sales")
        >>> store.drop_table("shop", "sales", if_exists=True)
        """
        if self._tables.drop_table(database, name, if_exists=if_exists, also=_put(record), same_as=same_as):
            self._purger.begin()


def _put(record: NewRecord | None) -> Callable[[Transaction], None] | None:
    """What puts a record in a step."""
    expect("record", record, NewRecord, NoneType, hint='Give a NewRecord("note", "monday", "{}"), or None')
    return None if record is None else record.put
