"""import_metastore: a running Hive Metastore is copied into a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hbstore.errors import AlreadyExists
from hbstore.model.objects import Table
from hbstore.store.partition_store import PartitionStore
from hbstore.transfer.constraints import ConstraintCopy, StoreSide
from hbstore.transfer.copying import copied, expected, summed
from hbstore.transfer.import_page import ImportPage, same_statistics
from hbstore.transfer.job import Job, run
from hbstore.transfer.listing import PAGE, listing
from hbstore.transfer.metastore import Metastore
from hbstore.transfer.result import Done, TableTransfer, Transfer
from hbstore.transfer.scope import Progress, Scope
from hbstore.transfer.work import THREADS, OnConflict


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
    progress: Progress = lambda *_: None,
) -> Transfer:
    """Copy databases, tables, partitions, statistics, constraints and functions of a metastore. O(partitions).

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
        progress: is told how it gets on.

    Raises:
        InvalidUrl, InvalidInput: it cannot be asked like this.
        DatabaseNotFound, TableNotFound: the metastore has no such database or table.
        MetastoreUnavailable, MetastoreRefused: it does not answer, or with an error.
        TransferConflict: something is there already and differs.
        StoreUnavailable, StoreFull, StoreReadOnly: the store cannot be written.

    The ``uri`` of this example is that of a metastore whose database web has one table, visits:

    >>> done = import_metastore(store, uri, database="web")
    >>> done.is_complete, store.table("web.visits").count()
    (True, 31)
    """
    return run(
        store,
        uri,
        Scope(database, table),
        _Import,
        on_conflict=on_conflict,
        statistics=statistics,
        page=page,
        threads=threads,
        progress=progress,
    )


@dataclass(frozen=True, slots=True)
class _Import:
    job: Job

    def source(self) -> Metastore:
        return self.job.metastore

    def database(self, name: str) -> Done:
        theirs = self.job.metastore.database(name)
        try:
            self.job.store.create_database(theirs)
        except AlreadyExists:
            done = self.job.settled_database(theirs, self.job.store.get_database(name))
            if done == "replaced":
                self.job.store.alter_database(theirs)
            return done
        return "created"

    def table(self, database: str, name: str) -> tuple[Table, Done]:
        theirs = self.job.metastore.table(database, name)
        try:
            self.job.store.create_table(theirs, invalid_types="keep")
        except AlreadyExists:
            ours = self.job.store.get_table(theirs.database, theirs.name)
            dated = theirs if theirs.create_time else replace(theirs, create_time=ours.create_time)
            done = self.job.settled_table(dated, ours)
            if done == "replaced":
                self.job.store.alter_table(theirs, invalid_types="keep")
        else:
            done = "created"
        if self.job.statistics and done != "kept":
            self._table_statistics(theirs)
        return theirs, done

    def _table_statistics(self, table: Table) -> None:
        their_statistics = self.job.metastore.table_statistics(table)
        our_statistics = self.job.store.column_statistics.read_table(table.database, table.name)
        if their_statistics and not same_statistics(their_statistics, our_statistics):
            self.job.store.column_statistics.write_table(table.database, table.name, their_statistics)

    def partitions(self, theirs: Table, done: Done) -> TableTransfer:
        """Copy a table's partitions, and compare both."""
        shown = str(theirs)
        if not theirs.partition_columns:
            return TableTransfer(shown, done)
        table = self.job.store.get_table(theirs.database, theirs.name)
        listed = listing(table, self.job.metastore.partition_names(table.database, table.name))
        pages = listed.pages(self.job.page)
        work = ImportPage(table, self.job.on_conflict, self.job.statistics)
        outcome = copied(self.job.workers, work, table, pages, self.job.progress)
        target, extra = summed(self.job.store, table, expected(table, listed, outcome), outcome.checksum)
        return TableTransfer(
            shown,
            done,
            outcome,
            tuple(listed.untyped),
            tuple(listed.unreadable),
            max(0, extra - len(outcome.kept)),
            target,
        )

    def constraints(self, tables: Sequence[Table], refused: list[tuple[str, str]]) -> int:
        """Copy constraints; how many."""
        return ConstraintCopy(self.job.metastore, StoreSide(self.job.store), self.job.on_conflict, refused).run(tables)

    def functions(self, databases: set[str], refused: list[tuple[str, str]]) -> int:
        """Copy functions; how many."""
        count = 0
        for function in self.job.metastore.functions():
            if function.database not in databases:
                continue
            try:
                self.job.store.hive.functions.create(function)
                count += 1
            except AlreadyExists:
                ours = self.job.store.hive.functions.get(function.database, function.name)
                same = replace(function, create_time=ours.create_time)
                if same != ours and self.job.on_conflict == "replace":
                    self.job.store.hive.functions.alter(function.database, function.name, function)
                    count += 1
                elif same != ours and self.job.on_conflict == "fail":
                    refused.append((f"function {function}", "the function already exists and differs"))
        return count
