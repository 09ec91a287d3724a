"""PartitionStore: the whole of hbstore's Python interface to databases, tables and partitions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import NoneType, TracebackType
from typing import Final, Self, TypeVar

from hbstore.errors import HbstoreError, InvalidInput, InvalidType
from hbstore.keys.partition_names import table_name
from hbstore.model.constraints import Constraint
from hbstore.model.objects import Database, Partition, PartitionValue, PartitionValues, Privileges, Table
from hbstore.model.structs import partitions_from_payloads
from hbstore.model.totals import Totals
from hbstore.plans.explain import Explain
from hbstore.plans.scan_plan import FilterPlan, MultiScanPlan
from hbstore.rows import connect as connect_rows
from hbstore.rows.interface import Rows
from hbstore.store.belongings import remove_outlived
from hbstore.store.check import Problem, Repaired, check_catalog, check_table, repair, repair_catalog
from hbstore.store.documents import Documents
from hbstore.store.exchange import PartitionExchange
from hbstore.store.folder_changes import FolderChanges
from hbstore.store.hive.column_statistics import ColumnStatistics
from hbstore.store.hive.companions import Companions
from hbstore.store.hive.services import Hive
from hbstore.store.near_names import suggest
from hbstore.store.older_stores import bring_up, rekey
from hbstore.store.publications import Publications
from hbstore.store.purge import Purger, purge
from hbstore.store.puts import InvalidValues
from hbstore.store.reader import Filter, Reader, TableFilter, joined_filters
from hbstore.store.records import NewRecord, Records
from hbstore.store.table_changes import TableChanges
from hbstore.store.table_handle import TableHandle
from hbstore.store.table_row import TableRow
from hbstore.store.table_step import TableStep, run_step
from hbstore.store.tables import Tables
from hbstore.store.timelines.stored_timelines import StoredTimelines
from hbstore.store.writer import Expected, Writer, partitioned
from hbstore.texts.arguments import expect, expect_choice, expect_many, expect_texts
from hbstore.texts.hive_types import InvalidTypes, check_columns
from hbstore.texts.like import LikeDialect
from hbstore.transactions.transaction import Transaction
from hbstore.transactions.transactions import Transactions
from hbstore.transactions.waiting import Patience

T = TypeVar("T")
DEFAULT_PATIENCE: Final = Patience().total
_PATIENCE: Final = "Give a number of seconds, 0 or more"
_PAIRS: Final = 'Give a list of pairs, such as [("shop", "sales")]'
_A_TABLE: Final = 'Give a Table, such as replace(store.get_table("shop", "sales"), owner="ann")'


class PartitionStore:
    """Databases, tables and partitions on ordered rows. Threads may share a store.

    `table` gives the handle of a table, by which people ask. The methods here that take a database's and a table's
    name are those of a Hive Metastore; `hive` has what only Hive asks for. Wherever values of a partition are taken,
    its spec (a dict) does, too; wherever a filter is taken, it is text, an expression made with `col`, or None.

    Attributes:
        hive: functions, locks, transactions, roles, grants and marks.
        timelines: the timelines of all tables; `TableHandle.timelines` are those of one.
        column_statistics: what columns hold, as Hive and Spark's optimizer want it.
        documents: the cubes' definitions, for `hbstore.cubes`.
        records: small texts that belong to no database, such as the queries of `hbstore.query_service`.
        publications, folder_changes: writes of files and partitions under way, for `hbstore.publishing`.

    Raises, in all that follows:
        StoreUnavailable: the backend does not answer.
        DatabaseNotFound, TableNotFound, PartitionNotFound: what the call is about is not there.
        InvalidInput: an argument is of a type or form that the method does not take.

    The examples of the methods go on from this store:

    >>> from hbstore import Column, connect
    >>> store = connect("memory://")
    >>> store.create_database("shop")
    >>> keys = [Column("ds", "date"), Column("hour", "int")]
    >>> amounts = [Column("amount", "decimal(10,2)")]
    >>> store.create_table(Table("shop", "sales", location="s3://shop/sales", columns=amounts, partition_columns=keys))
    >>> days, said = ("2013-01-01", "2013-01-02", "2013-01-03"), {"numRows": "100", "totalSize": "5000"}
    >>> sales = store.table("shop.sales")
    >>> sales.add([Partition((day, str(hour)), parameters=said) for day in days for hour in range(24)])
    72
    >>> sales.names("hour in (5, 7)", max_parts=2)
    ['ds=2013-01-01/hour=5', 'ds=2013-01-01/hour=7']
    """

    def __init__(self, rows: Rows, patience: float = DEFAULT_PATIENCE) -> None:
        transactions = Transactions(rows, Patience(total=patience))
        self._rows = transactions.rows
        self._tables = Tables(transactions)
        self._reader = Reader(self._rows, self._tables)
        self._writer = Writer(self._tables)
        self._table_changes = TableChanges(self._tables)
        self._exchange = PartitionExchange(self._tables)
        self._purger = Purger(transactions)
        companions = Companions(self._tables)
        self.documents = Documents(transactions)
        self.records = Records(transactions)
        self.column_statistics = ColumnStatistics(companions)
        self.hive = Hive.of(transactions, self._tables, companions)
        self.timelines = StoredTimelines(self._tables)
        self.publications = Publications(transactions, self._tables)
        self.folder_changes = FolderChanges(transactions)

    def __repr__(self) -> str:
        return f"<PartitionStore {self._rows.url}>"

    @property
    def rows(self) -> Rows:
        """The backend.

        >>> store.rows.url
        'memory://'
        """
        return self._rows

    @property
    def patience(self) -> Patience:
        """How long changes wait for other writers.

        >>> store.patience.total
        30.0
        """
        return self._tables.transactions.patience

    def table(self, name: str) -> TableHandle:
        """The handle of a table, named ``"database.table"``. One read, O(1).

        Raises:
            TableNotFound, DatabaseNotFound: it is not there.
            InvalidInput: the name is not written so.

        >>> store.table("shop.sales").names("ds = '2013-01-01' and hour < 2")
        ['ds=2013-01-01/hour=0', 'ds=2013-01-01/hour=1']
        """
        try:
            row = self._tables.open(*table_name(name))
        except HbstoreError as error:
            suggest(error, self._tables)
            raise
        return TableHandle(self._tables, self._reader, self._writer, self.timelines, row.table.database, row.table.name)

    def close(self) -> None:
        """Release the backend's connections. Rows of a large table that was just dropped go first, for up to 10 s.

        >>> store.close()
        """
        self._purger.close()
        self._rows.close()

    def __enter__(self) -> Self:
        """The store itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it; an error that a table or a database is not there says what is called almost so."""
        self.suggest(error)
        self.close()

    def suggest(self, error: BaseException | None) -> None:
        """Say in the hint of an error that a table or a database is not there what is called almost so.

        Ask for it where people read the error. Other errors stay as they are. One scan of at most 3,000 names.

        >>> from hbstore import TableNotFound
        >>> error = TableNotFound("the table does not exist", table="shop.salse", hint="List them")
        >>> store.suggest(error)
        >>> error.hint
        'Did you mean shop.sales? List them'
        """
        suggest(error, self._tables)

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
            WriteConflict: files of dropped partitions of a table are being deleted; nothing was changed.
            CommitStateUnknown: HBase went away in the middle; what is left is never seen on the next of its name.

        >>> store.drop_database("shop", cascade=True)
        >>> store.database_names()
        []
        """
        hint, also = "Give the values of store.table_ids, or None", _put(record)
        ids = None if tables is None else expect_many("tables", tables, bytes, hint=hint)
        if self._tables.drop_database(name, cascade=cascade, if_exists=if_exists, also=also, tables=ids):
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
            InvalidInput, DdlRefused: a constraint cannot be, as of `hive.constraints.add`, or the parameters do not say
                how long partitions are kept; nothing was created.
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
            InvalidInput: the partition columns differ, which all row keys are made of, or the parameters do not say how
                long partitions are kept.
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
            WriteConflict: files of its dropped partitions are being deleted; nothing was changed.

        >>> store.drop_table("shop", "sales")
        >>> store.drop_table("shop", "sales", if_exists=True)
        """
        if self._tables.drop_table(database, name, if_exists=if_exists, also=_put(record), same_as=same_as):
            self._purger.begin()

    # Writing partitions

    def add_partitions(
        self,
        database: str,
        table: str,
        partitions: Iterable[Partition],
        if_not_exists: bool = False,  # noqa: FBT001, FBT002  the name is a contract
        *,
        invalid_values: InvalidValues = "reject",
        same_as: TableRow | Table | None = None,
    ) -> int:
        """Add partitions, all or none; how many, as with ``if_not_exists`` those that are there are passed over.

        A partition without a location gets the table's and its own name; without a storage it inherits the table's.
        ``invalid_values="keep"`` takes values that do not fit their column's type: a filter matches such a value where
        engines read one from the text, as from ``9.0`` in an int column. "reject" raises. ``same_as`` is the table as
        the caller has read it: its row, or its definition, whose location it must still have.

        Raises:
            AlreadyExists: one is there already, or stands twice in the batch, unless ``if_not_exists``.
            InvalidPartitionValue: a value does not fit its type, or there are too many or too few.
            TableNotPartitioned: the table has no partition columns.
            ConcurrentChange: it is not the table of ``same_as``; nothing was changed.
            CommitStateUnknown: HBase went away in the middle; the batch will be there wholly or not at all.

        >>> store.add_partitions("shop", "sales", [Partition(("2013-01-04", "0")), Partition(("2013-01-04", "1"))])
        2
        """
        row = self._tables.open(database, table)
        return self._writer.add(
            row, partitions, if_not_exists=if_not_exists, invalid_values=invalid_values, same_as=same_as
        )

    def drop_partitions(
        self, database: str, table: str, values: Iterable[PartitionValues], *, if_exists: bool = False
    ) -> int:
        """Drop partitions, all or none; how many were dropped. Files are not touched. O(n log rows).

        Args:
            database: the database's name.
            table: the table's name.
            values: values in column order, or specs, of each partition.
            if_exists: whether to pass over partitions that are not there.

        Raises:
            PartitionNotFound: one is not there, unless ``if_exists``.
            CommitStateUnknown: the backend went away in the middle; all of them will be gone, or none.

        >>> store.drop_partitions("shop", "sales", [("2013-01-01", "5"), {"hour": "6", "ds": "2013-01-01"}])
        2
        """
        return self._writer.drop(self._tables.open(database, table), values, if_exists=if_exists)

    def alter_partitions(
        self, database: str, table: str, partitions: Iterable[Partition], *, expected: Expected | None = None
    ) -> None:
        """Replace all of partitions but their values, all or none. O(n log rows).

        Args:
            database: the database's name.
            table: the table's name.
            partitions: what they become.
            expected: as for `change_partitions`.

        Raises:
            PartitionNotFound: one is not there; nothing was changed.
            ConcurrentChange: one is not what is expected; nothing was changed.

        >>> store.alter_partitions("shop", "sales", [Partition(("2013-01-01", "5"), parameters={"numRows": "7"})])
        >>> store.get_partition("shop", "sales", ("2013-01-01", "5")).parameters["numRows"]
        '7'
        """
        self._writer.alter(self._tables.open(database, table), partitions, {} if expected is None else expected)

    def rename_partition(
        self,
        database: str,
        table: str,
        values: PartitionValues,
        renamed: Partition | PartitionValues,
        *,
        expected: Expected | None = None,
        moved: str | None = None,
        invalid_values: InvalidValues = "reject",
        same_as: TableRow | None = None,
    ) -> None:
        """Give a partition other values; a `Partition` replaces all else of it as well. Its column statistics stay.

        Args:
            database: the database's name.
            table: the table's name.
            values: the partition's values.
            renamed: its new values, or all of it.
            expected: as for `change_partitions`.
            moved: the publication of `FolderChanges.begin_move` for which its folder has moved.
            invalid_values: as for `add_partitions`.
            same_as: the row of the table that it must be; None: the one that has the name.

        Raises:
            TableNotPartitioned: the table has no partition columns.
            PartitionNotFound: there is none with these values.
            AlreadyExists: there is one with the new values.
            PublicationLost: the publication ``moved`` was given up; nothing was changed.
            ConcurrentChange: a partition is not what is expected; nothing was changed.

        >>> store.rename_partition("shop", "sales", ("2013-01-01", "5"), {"ds": "2013-01-09", "hour": "5"})
        >>> store.partition_names("shop", "sales", "ds > '2013-01-03'")
        ['ds=2013-01-09/hour=5']
        """
        row = self._tables.open(database, table)
        payloads = {} if expected is None else expected
        self._writer.rename(row, values, renamed, payloads, moved=moved, invalid_values=invalid_values, same_as=same_as)

    def exchange_partitions(
        self,
        source: str | tuple[str, str],
        target: str | tuple[str, str],
        values: Sequence[PartitionValues],
        *,
        relocated: tuple[str, str] | None = None,
        publication: str | None = None,
    ) -> list[Partition]:
        """Move partitions from one table to another, all or none; what they are there, in key order. O(n log rows).

        Args:
            source: the table that they leave, ``"database.table"`` or both names.
            target: the table that they come to, with the same partition columns.
            values: values or spec of each partition.
            relocated: the beginning of locations, and what replaces it; locations elsewhere stay.
            publication: the id under which both tables have leased the partitions (`Publisher.lease`), if they have.

        Raises:
            InvalidInput: the partition columns differ, or it is one table.
            PublicationLost: one of the tables has no such lease any more.
            PartitionNotFound: one is not in the source.
            AlreadyExists: one is in the target.

        >>> from dataclasses import replace
        >>> store.create_table(replace(store.get_table("shop", "sales"), name="sold", location="s3://shop/sold"))
        >>> moved = store.exchange_partitions("shop.sales", "shop.sold", [("2013-01-01", "5")])
        >>> store.table("shop.sold").names()
        ['ds=2013-01-01/hour=5']
        """
        leave, come = (table_name(table) if isinstance(table, str) else table for table in (source, target))
        return partitions_from_payloads(
            self._exchange.move(leave, come, values, relocated=relocated, publication=publication)
        )

    def change_partitions(
        self,
        database: str,
        table: str,
        *,
        add: Iterable[Partition] = (),
        put: Iterable[Partition] = (),
        drop: Iterable[PartitionValues] = (),
        expected: Expected | None = None,
        invalid_values: InvalidValues = "reject",
    ) -> None:
        """Add, replace and drop partitions at once, all or none; a listing sees all of it or nothing.

        ``put`` are partitions that are added, or replaced where they are there. ``expected`` are stored bytes
        (`get_payloads`) by values that partitions must still have; None: there must be no such partition.

        Raises:
            AlreadyExists: one of ``add`` is there already.
            PartitionNotFound: one of ``drop`` is not there.
            ConcurrentChange: one is not what is expected; nothing was changed.
            InvalidInput: one stands twice.

        >>> there = store.get_payloads("shop", "sales", [("2013-01-01", "5")])[0]
        >>> renewed = [Partition(("2013-01-01", "5"), parameters={"numRows": "7"})]
        >>> store.change_partitions("shop", "sales", put=renewed, expected={("2013-01-01", "5"): there})
        """
        row = self._tables.open(database, table)
        self._writer.replace(row, add, put, drop, {} if expected is None else expected, invalid_values)

    def change(
        self,
        table: str,
        step: Callable[[TableStep], T],
        *,
        outrun: tuple[type[HbstoreError], ...] = (),
        hint: str = "Try again",
        same_as: TableRow | None = None,
    ) -> T:
        """Change a table by a step that reads of it and then writes, as if nobody else wrote meanwhile.

        Args:
            table: its name, ``"database.table"``.
            step: takes the table as it is, reads partitions by its methods, and writes by them. What it writes about is
                still what it read, in the very same table; where another writer was faster, the step is called again.
            outrun: errors of the step that say that others were faster, besides ConcurrentChange.
            hint: of the error where they always are.
            same_as: the row of the table that it must be; None: the one that has the name.

        Returns:
            What the step returned in the end.

        Raises:
            TableNotFound: the table is not there, or was dropped meanwhile, even if there is another of its name.
            StoreBusy: others were faster for as long as the store has patience.

        >>> def announce(sales):
        ...     hours = sales.select("ds = '2013-01-01'")
        ...     sales.change(put=[replace(hour, parameters={**hour.parameters, "done": "yes"}) for hour in hours])
        ...     return len(hours)
        >>> from dataclasses import replace
        >>> store.change("shop.sales", announce)
        24
        """
        expect("step", step, Callable, hint="Give a function of a table in a step")  # type: ignore[arg-type]
        expect_many("outrun", outrun, type, hint="Give a tuple of classes of errors")
        expect_texts(hint=hint)
        expect("same_as", same_as, TableRow, NoneType, hint="Give the row of store.table_row, or None")
        names = table_name(table)

        def begin() -> TableStep:
            return TableStep(self._tables.open(*names), self._reader, self._writer, self._table_changes)

        return run_step(begin, step, self.patience, outrun, hint, same_as)

    # Reading partitions

    def get_partition(self, database: str, table: str, values: PartitionValues) -> Partition:
        """Read a partition by its values or its spec; an int's text "05" is not "5". One read, O(log rows).

        Raises:
            PartitionNotFound: there is none with these values.

        >>> store.get_partition("shop", "sales", ("2013-01-01", "5"))
        <Partition ('2013-01-01', '5') at s3://shop/sales/ds=2013-01-01/hour=5>
        """
        return self._reader.get(database, table, values)

    def get_partitions(self, database: str, table: str, values: Sequence[PartitionValues]) -> list[Partition]:
        """Read those of some partitions that exist, each once, in key order. One batch of reads, O(n log rows).

        >>> some = [("2013-01-02", "5"), ("2013-01-01", "5"), ("2099-01-01", "5")]
        >>> [partition.values for partition in store.get_partitions("shop", "sales", some)]
        [('2013-01-01', '5'), ('2013-01-02', '5')]
        """
        return partitions_from_payloads(self.get_payloads(database, table, values))

    def get_payloads(self, database: str, table: str, values: Sequence[PartitionValues]) -> list[bytes]:
        """The stored bytes of those of some partitions that exist, each once, in key order: Partition structs.

        >>> len(store.get_payloads("shop", "sales", [("2013-01-01", "5"), ("2099-01-01", "5")]))
        1
        """
        return self._reader.get_many(database, table, values)

    def get_partitions_by_filter(
        self, database: str, table: str, filter: Filter, max_parts: int = -1, like_dialect: LikeDialect = "sql"
    ) -> list[Partition]:
        """The partitions that a filter selects, in key order.

        ``filter`` is text in Hive's partition filter language, empty or None for all; ``max_parts`` the most that are
        wanted, -1 for all; ``like_dialect`` "sql", or "hive2" where ``.*`` is any run and ``.`` one character.

        Raises:
            FilterSyntaxError: it does not parse as a whole; the error says where.
            UnknownColumnError: it names a column that is not a partition column.
            FilterTypeError: a literal cannot be compared with its column exactly.
            FilterTooLarge: it is past the documented caps.

        >>> [one.values for one in store.get_partitions_by_filter("shop", "sales", "ds < '2013-01-03' and hour = 5")]
        [('2013-01-01', '5'), ('2013-01-02', '5')]
        """
        return self._reader.partitions(database, table, filter, max_parts=max_parts, like_dialect=like_dialect)

    def get_partitions_by_expr(
        self, database: str, table: str, expression: Filter, max_parts: int = -1
    ) -> list[Partition]:
        """The partitions that a Python expression selects, in key order; None: all. As `get_partitions_by_filter`.

        >>> from hbstore import col
        >>> len(store.get_partitions_by_expr("shop", "sales", (col("ds") >= "2013-01-02") & col("hour").isin(5, 6)))
        4
        """
        return self._reader.partitions(database, table, expression, max_parts=max_parts, like_dialect="sql")

    def list_partitions_by_filter(
        self, database: str, table: str, expressions: Filter | Sequence[Filter]
    ) -> list[dict[str, str]]:
        """The specs of the partitions that all of some filters select, in key order; of none: all specs.

        A filter may be text or an expression, mixed at will; a single one needs no list.

        Raises:
            TableNotPartitioned: the table has no partition columns.

        >>> from hbstore import col
        >>> store.list_partitions_by_filter("shop", "sales", ["ds = '2013-01-01'", col("hour") > 22])
        [{'ds': '2013-01-01', 'hour': '23'}]
        """
        partitioned(self.get_table(database, table))
        where = joined_filters(expressions)
        row, found = self._reader.selected(database, table, where, max_parts=-1, like_dialect="sql")
        columns = row.table.partition_column_names
        return [dict(zip(columns, one.values, strict=True)) for one in found]

    def read_payloads(
        self,
        database: str,
        table: str,
        filter: Filter | TableFilter,
        consume: Callable[[TableRow, MultiScanPlan, Iterator[Sequence[bytes]]], T],
        *,
        max_parts: int = -1,
        like_dialect: LikeDialect = "sql",
        after: PartitionValues | None = None,
    ) -> T:
        """Hand the stored bytes of the partitions that a filter selects to a function; no object is made of them.

        ``consume`` takes the table's row, the plan, and batches of Partition structs in key order, and reads them in
        this thread before it returns. On HBase it is called again, from the start, where the table was altered or
        partitions moved while it read: what it did must be forgotten then. Returned is what it returned last.
        ``after`` leaves out all partitions up to these values in key order, whether there is a partition of them or
        not: so a listing goes on behind a page of ``max_parts``. A `TableFilter` makes the filter of the table that is
        read.

        >>> store.read_payloads("shop", "sales", "hour = 5", lambda row, plan, batches: sum(map(len, batches)))
        3
        >>> evening = ("2013-01-02", "23")
        >>> store.read_payloads("shop", "sales", "hour = 5", lambda *read: sum(map(len, read[2])), after=evening)
        1
        """
        return self._reader.read(
            database, table, filter, consume, max_parts=max_parts, like_dialect=like_dialect, after=after
        )[1]

    def partition_names(
        self,
        database: str,
        table: str,
        filter: Filter = None,
        *,
        spec: Mapping[str, PartitionValue] | None = None,
        max_parts: int = -1,
        like_dialect: LikeDialect = "sql",
    ) -> list[str]:
        """The names of the partitions that a filter and a partial spec select, in key order.

        >>> store.partition_names("shop", "sales", "ds > '2013-01-01'", spec={"hour": "5"})
        ['ds=2013-01-02/hour=5', 'ds=2013-01-03/hour=5']
        """
        return self._reader.names(database, table, filter, spec, max_parts=max_parts, like_dialect=like_dialect)

    def count_partitions(
        self, database: str, table: str, filter: Filter = None, like_dialect: LikeDialect = "sql"
    ) -> int:
        """How many partitions a filter selects. O(rows that its scans read); the backend counts where it can.

        >>> store.count_partitions("shop", "sales", "hour in (5, 6)")
        6
        """
        return self._reader.count(database, table, filter, like_dialect=like_dialect)

    def totals(self, database: str, table: str) -> Totals:
        """How many partitions a table has, and the rows, files and bytes that they say they have.

        O(1): every change of partitions keeps it, and `repair` counts it anew.

        >>> store.drop_partitions("shop", "sales", [("2013-01-01", "5")])
        1
        >>> store.totals("shop", "sales")
        Totals(partitions=71, rows=7100, files=0, size=355000, without_rows=0, without_files=71, without_size=0)
        """
        return self._tables.open(database, table).totals

    def plan(self, database: str, table: str, filter: Filter = None, like_dialect: LikeDialect = "sql") -> FilterPlan:
        """The scans that a filter becomes; nothing but the table's row is read. O(terms of the filter).

        Raises:
            FilterSyntaxError, UnknownColumnError, FilterTypeError, FilterTooLarge: as `get_partitions_by_filter`.

        >>> print(store.plan("shop", "sales", "ds = '2013-01-01' and hour >= 22"))
        scan ds = '2013-01-01' × hour ∈ [22, ∞)
        """
        return self._reader.plan(database, table, filter, like_dialect=like_dialect)

    def explain(
        self,
        database: str,
        table: str,
        filter: Filter = None,
        analyze: bool = False,  # noqa: FBT001, FBT002  the name is a contract
        like_dialect: LikeDialect = "sql",
    ) -> Explain:
        """What a filter becomes: tree, scans in values and bytes, residuals.

        Args:
            database: the database's name.
            table: the table's name.
            filter: text, an expression, or None for all partitions.
            analyze: run the scans, too, and measure each: rows read, rows returned, round trips, seconds.
            like_dialect: as for `get_partitions_by_filter`.

        >>> store.explain("shop", "sales", "hour = 5", analyze=True).total.rows_returned
        3
        """
        return self._reader.explain(database, table, filter, analyze=analyze, like_dialect=like_dialect)

    # Upkeep

    def check(self, database: str, table: str) -> Iterator[Problem | None]:
        """Look at every row of a table: one item for each, None where keys, cells and payload agree. O(partitions).

        >>> [problem for problem in store.check("shop", "sales") if problem is not None]
        []
        """
        return check_table(self._rows, self._tables.open(database, table))

    def check_catalog(self) -> Iterator[tuple[str, str | None, Problem | None]]:
        """Look at the rows of all databases and tables: database, table or None, and what is wrong or None. O(tables).

        >>> list(store.check_catalog())
        [('shop', None, None), ('shop', 'sales', None)]
        """
        return check_catalog(self._rows)

    def repair(self, database: str, table: str) -> Repaired:
        """Finish what dead writers left unfinished, and count the table's partitions anew. O(partitions).

        >>> store.repair("shop", "sales")
        Repaired(finished=0, miscounted=False)
        """
        row = self._tables.open(database, table)
        rekey(self._tables, row)
        return repair(self._tables.transactions, row)

    def repair_catalog(self) -> int:
        """Finish what dead writers left in the catalog, and remove rows that outlived tables; of how many. O(tables).

        >>> store.repair_catalog()
        0
        """
        return repair_catalog(self._tables.transactions) + remove_outlived(self._tables)

    def purge_dropped_tables(self, stop: threading.Event | None = None) -> int:
        """Remove the rows that dropped tables have left, as another process that dropped them may have died. O(rows).

        Servers do so every hour, and so does `repair_catalog`.

        Args:
            stop: ends it early when it is set; the next call goes on there.

        Returns:
            Of how many names of tables.

        >>> store.purge_dropped_tables()
        0
        """
        expect("stop", stop, threading.Event, NoneType, hint="Give a threading.Event that is set to end it, or None")
        return purge(self._tables.transactions, stop)


def _put(record: NewRecord | None) -> Callable[[Transaction], None] | None:
    """What puts a record in a step."""
    expect("record", record, NewRecord, NoneType, hint='Give a NewRecord("note", "monday", "{}"), or None')
    return None if record is None else record.put


def connect(url: str, *, create: bool = True, patience: float = DEFAULT_PATIENCE) -> PartitionStore:
    """Open the store of a URL (see `hbstore.rows.connect`); where there is none it is created, unless told not to.

    Args:
        url: where it is.
        create: whether it is created where there is none.
        patience: seconds that a change waits for other writers of the same rows, before it raises StoreBusy.

    Raises:
        InvalidUrl: no backend has such URLs.
        InvalidInput: the patience is no number, or less than 0.
        NotAStore: the file is another program's, or the store another version's.
        StoreUnavailable: nobody answers there, or there is no such store.

    >>> store = connect("memory://")  # sqlite:///data/catalog.db, or hbase://127.0.0.1:9090/prefix
    >>> store.database_names()
    []
    """
    expect("patience", patience, int, float, hint=_PATIENCE)
    if not patience >= 0:
        raise InvalidInput("the patience is not 0 or more", patience=patience, hint=_PATIENCE)
    rows = connect_rows(url, create=create)
    try:
        bring_up(Tables(Transactions(rows, Patience(total=patience))))
    except BaseException:
        rows.close()
        raise
    return PartitionStore(rows, patience)
