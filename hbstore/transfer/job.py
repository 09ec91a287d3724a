"""What importing and exporting have in common: what is asked for, and the way through a catalog."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol

from hbstore.errors import DatabaseNotFound, HbstoreError, InvalidInput, MetastoreRefused, TableNotFound
from hbstore.keys.partition_names import DEFAULT_DATABASE
from hbstore.model.objects import Database, Table
from hbstore.store.partition_store import PartitionStore
from hbstore.texts.arguments import expect, expect_flags, expect_numbers
from hbstore.transfer.connection import Address
from hbstore.transfer.copying import IMPOSSIBLE
from hbstore.transfer.metastore import Metastore
from hbstore.transfer.result import Done, TableTransfer, Transfer
from hbstore.transfer.scope import CatalogListing, Progress, Scope, checked_policy, settled
from hbstore.transfer.work import POLICIES, OnConflict, Workers


@dataclass(frozen=True, slots=True)
class Job:
    """What is asked for.

    Attributes:
        store: the store.
        metastore: the metastore.
        scope: what of the source is copied.
        on_conflict: what to do with what is there already and differs.
        statistics: whether statistics of columns are copied, too.
        page: how many partitions are asked for and written at once.
        workers: what copies partitions.
        progress: is told how it gets on.
    """

    store: PartitionStore
    metastore: Metastore
    scope: Scope
    on_conflict: OnConflict
    statistics: bool
    page: int
    workers: Workers
    progress: Progress

    def settled_database(self, source: Database, target: Database) -> Done:
        """What is to become of a database that is there already.

        It stays as it is where nobody asked for it, or every metastore makes it for itself.

        Raises:
            TransferConflict: it differs, and that is an error.
        """
        if source.name == DEFAULT_DATABASE or self.scope.table is not None:
            return "same" if source == target else "kept"
        return settled("database", source, target, self.on_conflict)

    def settled_table(self, source: Table, target: Table) -> Done:
        """What is to become of a table that is there already.

        Raises:
            InvalidInput: it has other partition columns, which no table can be given.
            TransferConflict: it differs, and that is an error.
        """
        if target.partition_columns != source.partition_columns:
            raise InvalidInput(
                "the table already exists with other partition columns",
                table=source,
                hint="Drop the table in the target, or do not copy it",
            )
        return settled("table", source, target, self.on_conflict)


class Copying(Protocol):
    """One of the two ways. What is `IMPOSSIBLE` for a database, a table or a function says nothing about others."""

    def source(self) -> CatalogListing:
        """Where databases and tables are listed."""

    def database(self, name: str) -> Done:
        """Copy a database."""

    def table(self, database: str, name: str) -> tuple[Table, Done]:
        """Copy a table without its partitions: the table as the source has it, and what was done."""

    def partitions(self, table: Table, done: Done) -> TableTransfer:
        """Copy a table's partitions, and compare both."""

    def constraints(self, tables: Sequence[Table], refused: list[tuple[str, str]]) -> int:
        """Copy the constraints of tables that were copied; how many. Those that are refused are added to a list."""

    def functions(self, databases: set[str], refused: list[tuple[str, str]]) -> int:
        """Copy the functions of some databases; how many. Those that are refused are added to a list."""


def run(
    store: PartitionStore,
    uri: str,
    scope: Scope,
    way: Callable[[Job], Copying],
    *,
    on_conflict: OnConflict,
    statistics: bool,
    page: int,
    threads: int,
    progress: Progress,
) -> Transfer:
    """Copy what is asked for, one way or the other.

    Raises:
        InvalidUrl, InvalidInput: it cannot be asked like this.
        HbstoreError: what ended the work.
    """
    expect("store", store, PartitionStore, hint='Give an open store: hbstore.connect("sqlite://shop.db")')
    expect_flags(statistics=statistics)
    expect_numbers(page=page, threads=threads)
    expect("uri", uri, str, hint='Give the metastore as a text, such as "thrift://host:9083"')
    expect("on_conflict", on_conflict, str, hint=f"Give one of {', '.join(POLICIES)}")
    checked_policy(on_conflict)
    if page < 1 or threads < 1:
        raise InvalidInput(
            "the page size and the number of threads must be at least 1",
            page=page,
            threads=threads,
            hint="Give whole numbers above 0, or leave them out",
        )
    address = Address.of(uri)
    with closing(Metastore(address)) as metastore:
        workers = Workers(store, address, metastore.by_requests, threads)
        job = Job(store, metastore, scope, on_conflict, statistics, page, workers, progress)
        return _copied(way(job), scope, str(address))


def _copied(copying: Copying, scope: Scope, metastore: str) -> Transfer:
    databases: dict[str, Done] = {}
    tables: list[TableTransfer] = []
    refused: list[tuple[str, str]] = []
    settled_tables: list[Table] = []

    def refuse(what: str, error: HbstoreError) -> None:
        if scope.table is not None:  # it is all that was asked for
            raise error
        refused.append((what, str(error)))

    source = copying.source()
    for database in scope.databases(source):
        try:
            databases[database] = copying.database(database)
            names = scope.tables(source, database)
        except (*IMPOSSIBLE, DatabaseNotFound) as error:
            refuse(f"database {database}", error)
            continue
        for name in names:
            try:
                table, done = copying.table(database, name)
                tables.append(copying.partitions(table, done))
                if done != "kept":
                    settled_tables.append(table)
            except (*IMPOSSIBLE, TableNotFound, DatabaseNotFound) as error:
                dropped = not _is_there(source, database, name)
                if not dropped and not isinstance(error, IMPOSSIBLE):
                    raise
                refuse(f"table {database}.{name}{', dropped meanwhile' if dropped else ''}", error)
    constraints = copying.constraints(settled_tables, refused)
    functions = 0 if scope.table is not None else copying.functions(set(databases), refused)
    return Transfer(metastore, databases, tuple(tables), tuple(refused), functions, constraints)


def _is_there(source: CatalogListing, database: str, table: str) -> bool:
    """Whether a table is still in the source."""
    try:
        return table in source.table_names(database)
    except (MetastoreRefused, DatabaseNotFound):
        return False
