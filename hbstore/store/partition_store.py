"""PartitionStore: the whole of hbstore's Python interface to databases, tables and partitions.

This module has what a store is made of, and its upkeep. Its other methods are in `catalog_methods` (databases and
tables), `changing_partitions` and `reading_partitions`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import NoneType, TracebackType
from typing import Final, Self

from hbstore.errors import HbstoreError, InvalidInput
from hbstore.keys.partition_names import table_name
from hbstore.rows import connect as connect_rows
from hbstore.rows.interface import Rows
from hbstore.store.belongings import remove_outlived
from hbstore.store.catalog_methods import CatalogMethods
from hbstore.store.changing_partitions import ChangingPartitions
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
from hbstore.store.reader import Reader
from hbstore.store.reading_partitions import ReadingPartitions
from hbstore.store.records import Records
from hbstore.store.table_changes import TableChanges
from hbstore.store.table_handle import TableHandle
from hbstore.store.tables import Tables
from hbstore.store.timelines.stored_timelines import StoredTimelines
from hbstore.store.writer import Writer
from hbstore.texts.arguments import expect
from hbstore.transactions.transactions import Transactions
from hbstore.transactions.waiting import Patience

DEFAULT_PATIENCE: Final = Patience().total
_PATIENCE: Final = "Give a number of seconds, 0 or more"


class PartitionStore(CatalogMethods, ChangingPartitions, ReadingPartitions):
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

    >>> from hbstore import Column, Partition, Table, connect
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
