"""import_metastore: a running Hive Metastore is copied into a store."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace

from hbstore.errors import AlreadyExists, HbstoreError, InvalidInput
from hbstore.model import Table
from hbstore.store.partition_store import PartitionStore
from hbstore.transfer.connection import Address
from hbstore.transfer.copying import FEW, IMPOSSIBLE, copied, expected, summed
from hbstore.transfer.import_page import ImportPage, same_statistics
from hbstore.transfer.listing import PAGE, listing
from hbstore.transfer.metastore import Metastore
from hbstore.transfer.result import Done, TableTransfer, Transfer
from hbstore.transfer.scope import DEFAULT, Progress, Scope, checked_policy, settled
from hbstore.transfer.work import THREADS, MakeWorkers, OnConflict, Threads, Workers


def import_metastore(
    store: PartitionStore,
    uri: str,
    *,
    database: str | None = None,
    table: str | None = None,
    on_conflict: OnConflict = "fail",
    statistics: bool = True,
    page: int = PAGE,
    threads: int = THREADS,
    workers: MakeWorkers | None = None,
    progress: Progress = lambda *_: None,
) -> Transfer:
    """Copy databases, tables, partitions, statistics of columns and functions of a metastore. O(partitions).

    The metastore is read and never changed. When the call is interrupted, calling it again goes on: what is there just
    so is passed over. At the end of each table the partitions of both are compared by number and by checksum.

    Args:
        store: where it all goes.
        uri: the metastore, as ``thrift://host:9083``.
        database: only this one.
        table: only this one.
        on_conflict: what to do with what is there already and differs: ``fail``, ``keep`` or ``replace``.
        statistics: copy statistics of columns, too, for which the metastore is asked once more for each page.
        page: how many partitions are asked for and written at once.
        threads: how many threads copy partitions.
        workers: who copies them instead.
        progress: is told how it gets on.

    Raises:
        InvalidUrl, InvalidInput: it cannot be asked like this.
        DatabaseNotFound, TableNotFound: the metastore has no such database or table.
        MetastoreUnavailable, MetastoreRefused: it does not answer, or with an error.
        TransferConflict: something is there already and differs.
        StoreUnavailable, StoreFull, StoreReadOnly: the store cannot be written.
    """
    checked_policy(on_conflict)
    if page < 1 or threads < 1:
        raise InvalidInput("a page has at least one partition, and somebody copies it", page=page, threads=threads)
    scope = Scope(database, table)
    address = Address.of(uri)
    with closing(Metastore(address)) as metastore:
        by_requests = metastore.by_requests
        few = Threads(store, address, by_requests, threads)
        many = few if workers is None else workers(by_requests)
        job = _Import(store, metastore, scope, on_conflict, statistics, page, few, many, progress)
        return job.run()


@dataclass(frozen=True, slots=True)
class _Import:
    store: PartitionStore
    metastore: Metastore
    scope: Scope
    on_conflict: OnConflict
    statistics: bool
    page: int
    few: Workers
    many: Workers
    progress: Progress

    def run(self) -> Transfer:
        databases: dict[str, Done] = {}
        tables: list[TableTransfer] = []
        refused: list[tuple[str, str]] = []
        for database in self.scope.databases(self.metastore):
            try:
                databases[database] = self._database(database)
            except IMPOSSIBLE as error:
                refused.append((f"database {database}", self._reason(error)))
                continue
            for name in self.scope.tables(self.metastore, database):
                try:
                    given = self.metastore.table(database, name)
                    done = self._table(given)
                except IMPOSSIBLE as error:
                    refused.append((f"table {database}.{name}", self._reason(error)))
                    continue
                tables.append(self._partitions(given, done))
        functions = 0 if self.scope.table is not None else self._functions(set(databases), refused)
        return Transfer(str(self.metastore.address), databases, tuple(tables), tuple(refused), functions)

    def _reason(self, error: HbstoreError) -> str:
        """Why something cannot be copied; an error where it is all that was asked for."""
        if self.scope.table is not None:
            raise error
        return str(error)

    def _database(self, name: str) -> Done:
        given = self.metastore.database(name)
        try:
            self.store.create_database(given)
        except AlreadyExists:
            there = self.store.get_database(name)
            if name == DEFAULT or self.scope.table is not None:
                return "same" if given == there else "kept"
            done = settled("database", given, there, self.on_conflict)
            if done == "replaced":
                self.store.alter_database(given)
            return done
        return "created"

    def _table(self, given: Table) -> Done:
        try:
            self.store.create_table(given)
        except AlreadyExists:
            there = self.store.get_table(given.database, given.name)
            done = settled(
                "table",
                given if given.create_time else replace(given, create_time=there.create_time),
                there,
                self.on_conflict,
            )
            if there.partition_columns != given.partition_columns:
                raise InvalidInput(
                    "the table is there already with other partition columns",
                    table=given,
                    hint="Drop it, or leave it out",
                ) from None
            if done == "replaced":
                self.store.alter_table(given)
        else:
            done = "created"
        if self.statistics and done != "kept":
            self._table_statistics(given)
        return done

    def _table_statistics(self, table: Table) -> None:
        given = self.metastore.table_statistics(table)
        there = self.store.column_statistics.read_table(table.database, table.name)
        if given and not same_statistics(given, there):
            self.store.column_statistics.write_table(table.database, table.name, given)

    def _partitions(self, given: Table, done: Done) -> TableTransfer:
        """Copy a table's partitions, and compare both."""
        shown = str(given)
        if not given.partition_columns:
            return TableTransfer(shown, done)
        table = self.store.get_table(given.database, given.name)
        found = listing(table, self.metastore.partition_names(table.database, table.name))
        pages = found.pages(self.page)
        workers = self.few if len(pages) <= FEW else self.many
        work = ImportPage(table, self.on_conflict, self.statistics)
        outcome = copied(workers, work, table, pages, self.progress)
        target, extra = summed(self.store, table, expected(table, found, outcome), outcome.checksum)
        return TableTransfer(
            shown,
            done,
            outcome,
            tuple(found.collided),
            tuple(found.untyped),
            tuple(found.unreadable),
            max(0, extra - len(outcome.kept)),
            target,
        )

    def _functions(self, databases: set[str], refused: list[tuple[str, str]]) -> int:
        """Copy functions; how many."""
        copied = 0
        for function in self.metastore.functions():
            if function.database not in databases:
                continue
            try:
                self.store.functions.create(function)
                copied += 1
            except AlreadyExists:
                there = self.store.functions.get(function.database, function.name)
                same = replace(function, create_time=there.create_time)
                if same != there and self.on_conflict == "replace":
                    self.store.functions.alter(function.database, function.name, function)
                    copied += 1
                elif same != there and self.on_conflict == "fail":
                    refused.append((f"function {function}", "it is there already and differs"))
        return copied
