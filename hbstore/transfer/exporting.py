"""export_metastore: a store is copied into a running Hive Metastore."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, fields, replace
from typing import Any

from hbstore.errors import HbstoreError, InvalidInput, MetastoreRefused
from hbstore.metastore.environment import DDL_TIME
from hbstore.metastore.normal_form import lowered_table
from hbstore.model import Database, FrozenDict, Table
from hbstore.store.partition_store import PartitionStore
from hbstore.transfer.checksum import without_empty_skew
from hbstore.transfer.connection import Address
from hbstore.transfer.copying import FEW, IMPOSSIBLE, copied, verified
from hbstore.transfer.export_page import ExportPage, VerifyPage, is_same_place, unmarked
from hbstore.transfer.import_page import same_statistics
from hbstore.transfer.listing import PAGE, listing
from hbstore.transfer.metastore import Metastore
from hbstore.transfer.result import Done, TableTransfer, Transfer
from hbstore.transfer.scope import DEFAULT, Progress, Scope, checked_policy, settled
from hbstore.transfer.work import THREADS, MakeWorkers, OnConflict, Threads, Workers


def export_metastore(
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
    """Copy databases, tables, partitions, statistics of columns and functions into a metastore. O(partitions).

    The other way of `hbstore.transfer.import_metastore`, with the same arguments. The metastore makes the folders of
    what it does not have yet, and sets when tables were created.

    Raises:
        InvalidUrl, InvalidInput: it cannot be asked like this.
        DatabaseNotFound, TableNotFound: the store has no such database or table.
        MetastoreUnavailable, MetastoreRefused: the metastore does not answer, or with an error.
        TransferConflict: something is there already and differs.
        StoreUnavailable: the store cannot be read.
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
        return _Export(store, metastore, scope, on_conflict, statistics, page, few, many, progress).run()


@dataclass(frozen=True, slots=True)
class _Export:
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
        there = set(self.metastore.database_names())
        for database in self.scope.databases(self.store):
            try:
                databases[database] = self._database(self.store.get_database(database), there=database in there)
            except IMPOSSIBLE as error:
                refused.append((f"database {database}", self._reason(error)))
                continue
            known = set(self.metastore.table_names(database))
            for name in self.scope.tables(self.store, database):
                given = self.store.get_table(database, name)
                try:
                    done = self._table(lowered_table(given), there=name in known)
                except IMPOSSIBLE as error:
                    refused.append((f"table {given}", self._reason(error)))
                    continue
                tables.append(self._partitions(given, done))
        functions = 0 if self.scope.table is not None else self._functions(set(databases), refused)
        return Transfer(str(self.metastore.address), databases, tuple(tables), tuple(refused), functions)

    def _reason(self, error: HbstoreError) -> str:
        """Why something cannot be copied; an error where it is all that was asked for."""
        if self.scope.table is not None:
            raise error
        return str(error)

    def _database(self, given: Database, *, there: bool) -> Done:
        if not there:
            self.metastore.create_database(given)
            return "created"
        found = self.metastore.database(given.name)
        if is_same_place(found.location, given.location):
            found = replace(found, location=given.location)
        # What the store does not say the metastore says for itself.
        unsaid: dict[str, Any] = {one.name: None for one in fields(given) if getattr(given, one.name) is None}
        found = replace(found, **{"privileges": given.privileges, **unsaid})
        if given.name == DEFAULT or self.scope.table is not None:
            return "same" if given == found else "kept"
        done = settled("database", given, found, self.on_conflict)
        if done == "replaced":
            self.metastore.alter_database(given)
        return done

    def _table(self, given: Table, *, there: bool) -> Done:
        given = _dated(given)
        if not there:
            self.metastore.create_table(given)
            self._table_statistics(given)
            self.metastore.alter_table(given)  # which was marked for its statistics, and its files were counted
            return "created"
        found = self.metastore.table(given.database, given.name)
        if found.partition_columns != given.partition_columns:
            raise InvalidInput(
                "the table is there already with other partition columns",
                table=given,
                hint="Drop it, or leave it out",
            )
        known = _aligned(found, given)
        done = settled("table", given, known, self.on_conflict)
        if done == "kept":
            return done
        if self._table_statistics(given) or done == "replaced" or known.parameters != found.parameters:
            self.metastore.alter_table(given)
        return done

    def _table_statistics(self, table: Table) -> bool:
        """Write the statistics of a table's columns if they differ; whether they did."""
        given = self.store.column_statistics.read_table(table.database, table.name) if self.statistics else []
        if not given or same_statistics(given, self.metastore.table_statistics(table)):
            return False
        self.metastore.put_statistics(table, {None: given})
        return True

    def _partitions(self, table: Table, done: Done) -> TableTransfer:
        """Copy a table's partitions, and compare both."""
        shown = str(table)
        if not table.partition_columns:
            return TableTransfer(shown, done)
        found = listing(table, self.store.partition_names(table.database, table.name))
        pages = found.pages(self.page)
        workers = self.few if len(pages) <= FEW else self.many
        work = ExportPage(table, self.on_conflict, self.statistics)
        outcome = copied(workers, work, table, pages, self.progress)
        seen = verified(workers, VerifyPage(table), table, pages, outcome, self.progress)
        names = set(self.metastore.partition_names(table.database, table.name))
        extra = len(names - set(found.names.values()))
        outcome = replace(outcome, wrong=seen.wrong)
        return TableTransfer(shown, done, outcome, untyped=tuple(found.untyped), extra=extra, target=seen.checksum)

    def _functions(self, databases: set[str], refused: list[tuple[str, str]]) -> int:
        """Copy functions; how many."""
        there = {str(one): one for one in self.metastore.functions()}
        count = 0
        for function in self.store.functions.all():
            known = there.get(str(function))
            if function.database not in databases:
                continue
            if known is None:
                try:
                    self.metastore.create_function(function)
                    count += 1
                except MetastoreRefused as error:
                    refused.append((f"function {function}", str(error)))
            elif replace(known, create_time=function.create_time) != function and self.on_conflict != "keep":
                refused.append((f"function {function}", "it is there already and differs"))
        return count


def _dated(table: Table) -> Table:
    """A table with a time of its last change, which a metastore would add."""
    if table.parameters.get(DDL_TIME) not in (None, "", "0"):
        return table
    return replace(table, parameters=FrozenDict({**table.parameters, DDL_TIME: str(table.create_time or 1)}))


def _aligned(found: Table, given: Table) -> Table:
    """What a metastore has, with what is the metastore's own as it was given."""
    location = given.location if is_same_place(found.location, given.location) else found.location
    rewritten = (
        given.rewrite_enabled if not found.rewrite_enabled and not given.rewrite_enabled else found.rewrite_enabled
    )
    storages = (without_empty_skew(found.storage), without_empty_skew(given.storage))
    return replace(
        found,
        parameters=unmarked(found.parameters, given.parameters),
        storage=given.storage if storages[0] == storages[1] else found.storage,
        location=location,
        create_time=given.create_time,
        privileges=given.privileges,
        rewrite_enabled=rewritten,
    )
