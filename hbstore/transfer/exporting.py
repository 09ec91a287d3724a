"""export_metastore: a store is copied into a running Hive Metastore."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from hbstore.errors import MetastoreRefused
from hbstore.model.frozen import FrozenDict
from hbstore.model.objects import Table
from hbstore.store.partition_store import PartitionStore
from hbstore.transfer.checksum import comparable
from hbstore.transfer.constraints import ConstraintCopy, StoreSide
from hbstore.transfer.copying import copied, verified
from hbstore.transfer.export_page import ExportPage, VerifyPage, is_same_place, unmarked
from hbstore.transfer.import_page import same_statistics
from hbstore.transfer.job import Job, run
from hbstore.transfer.listing import PAGE, listing
from hbstore.transfer.result import Done, TableTransfer, Transfer
from hbstore.transfer.scope import Progress, Scope
from hbstore.transfer.work import THREADS, OnConflict
from hbstore.warehouse.change_times import DDL_TIME
from hbstore.warehouse.normal_form import lowered_table


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
    progress: Progress = lambda *_: None,
) -> Transfer:
    """Copy databases, tables, partitions, statistics, constraints and functions into a metastore. O(partitions).

    The other way of `hbstore.transfer.import_metastore`, with the same arguments. The metastore makes the folders of
    what it does not have yet, and sets when tables were created.

    Raises:
        InvalidUrl, InvalidInput: it cannot be asked like this.
        DatabaseNotFound, TableNotFound: the store has no such database or table.
        MetastoreUnavailable, MetastoreRefused: the metastore does not answer, or with an error.
        TransferConflict: something is there already and differs.
        StoreUnavailable: the store cannot be read.

    The ``uri`` of this example is that of a metastore. It must reach the folders of the tables:

    >>> import tempfile
    >>> from dataclasses import replace
    >>> folder = tempfile.TemporaryDirectory()
    >>> store.create_table(replace(sales.definition, name="local", location=f"file:{folder.name}"))
    >>> store.table("shop.local").add([("2013-01-09", "0")])
    1
    >>> done = export_metastore(store, uri, database="shop", table="local")
    >>> done.is_complete, done.tables
    (True, (<TableTransfer of shop.local: created, 1 partition>,))
    """
    return run(
        store,
        uri,
        Scope(database, table),
        lambda job: _Export(job, frozenset(job.metastore.database_names())),
        on_conflict=on_conflict,
        statistics=statistics,
        page=page,
        threads=threads,
        progress=progress,
    )


@dataclass(frozen=True, slots=True)
class _Export:
    job: Job
    their_databases: frozenset[str]
    """Databases that the metastore has already."""
    their_tables: dict[str, set[str]] = field(default_factory=dict)
    """Tables that the metastore has, by database, as far as they were asked for."""

    def source(self) -> PartitionStore:
        return self.job.store

    def database(self, name: str) -> Done:
        ours = self.job.store.get_database(name)
        if name not in self.their_databases:
            # Hive 4 makes the folder of a later field, for managed tables, and would refuse one that is there.
            self.job.metastore.create_database(replace(ours, later_fields=b""))
            if ours.later_fields:
                self.job.metastore.alter_database(ours)
            return "created"
        theirs = self.job.metastore.database(ours.name)
        if is_same_place(theirs.location, ours.location):
            theirs = replace(theirs, location=ours.location)
        # What the store does not say the metastore says for itself.
        unsaid: dict[str, Any] = {one.name: None for one in fields(ours) if getattr(ours, one.name) is None}
        theirs = replace(theirs, **{"privileges": ours.privileges, "later_fields": ours.later_fields, **unsaid})
        done = self.job.settled_database(ours, theirs)
        if done == "replaced":
            self.job.metastore.alter_database(ours)
        return done

    def table(self, database: str, name: str) -> tuple[Table, Done]:
        stored = self.job.store.get_table(database, name)
        if database not in self.their_tables:
            self.their_tables[database] = set(self.job.metastore.table_names(database))
        ours, done = self._table(_dated(lowered_table(stored)), exists=name in self.their_tables[database])
        return replace(stored, location=ours.location), done

    def _table(self, ours: Table, *, exists: bool) -> tuple[Table, Done]:
        """Copy a table itself; it, in the folder that the metastore chose if the store names none."""
        if not exists:
            self.job.metastore.create_table(ours)
            if ours.location is None:
                ours = replace(ours, location=self.job.metastore.table(ours.database, ours.name).location)
            self._table_statistics(ours)
            self.job.metastore.alter_table(ours)  # which was marked for its statistics, and its files were counted
            return ours, "created"
        theirs = self.job.metastore.table(ours.database, ours.name)
        ours = replace(ours, location=ours.location or theirs.location)
        aligned = _aligned(theirs, ours)
        done = self.job.settled_table(ours, aligned)
        if done == "kept":
            return ours, done
        if self._table_statistics(ours) or done == "replaced" or aligned.parameters != theirs.parameters:
            self.job.metastore.alter_table(ours)
        return ours, done

    def _table_statistics(self, table: Table) -> bool:
        """Write the statistics of a table's columns if they differ; whether they did."""
        statistics = (
            self.job.store.column_statistics.read_table(table.database, table.name) if self.job.statistics else []
        )
        if not statistics or same_statistics(statistics, self.job.metastore.table_statistics(table)):
            return False
        self.job.metastore.put_statistics(table, {None: statistics})
        return True

    def partitions(self, table: Table, done: Done) -> TableTransfer:
        """Copy a table's partitions, and compare both."""
        shown = str(table)
        if not table.partition_columns:
            return TableTransfer(shown, done)
        listed = listing(table, self.job.store.partition_names(table.database, table.name))
        pages = listed.pages(self.job.page)
        work = ExportPage(table, self.job.on_conflict, self.job.statistics)
        outcome = copied(self.job.workers, work, table, pages, self.job.progress)
        seen = verified(self.job.workers, VerifyPage(table), table, pages, outcome, self.job.progress)
        names = set(self.job.metastore.partition_names(table.database, table.name))
        extra = len(names - set(listed.names.values()))
        outcome = replace(outcome, wrong=seen.wrong)
        return TableTransfer(shown, done, outcome, untyped=tuple(listed.untyped), extra=extra, target=seen.checksum)

    def constraints(self, tables: Sequence[Table], refused: list[tuple[str, str]]) -> int:
        """Copy constraints; how many."""
        return ConstraintCopy(StoreSide(self.job.store), self.job.metastore, self.job.on_conflict, refused).run(tables)

    def functions(self, databases: set[str], refused: list[tuple[str, str]]) -> int:
        """Copy functions; how many."""
        their_functions = {str(function): function for function in self.job.metastore.functions()}
        count = 0
        for function in self.job.store.hive.functions.all():
            theirs = their_functions.get(str(function))
            if function.database not in databases:
                continue
            if theirs is None:
                try:
                    self.job.metastore.create_function(function)
                    count += 1
                except MetastoreRefused as error:
                    refused.append((f"function {function}", str(error)))
                continue
            theirs = replace(theirs, create_time=function.create_time, later_fields=function.later_fields)
            if theirs != function and self.job.on_conflict != "keep":
                refused.append((f"function {function}", "the function already exists and differs"))
        return count


def _dated(table: Table) -> Table:
    """A table with a time of its last change, which a metastore would add."""
    if table.parameters.get(DDL_TIME) not in (None, "", "0"):
        return table
    return replace(table, parameters=FrozenDict({**table.parameters, DDL_TIME: str(table.create_time or 1)}))


def _aligned(theirs: Table, ours: Table) -> Table:
    """What a metastore has, with what is the metastore's own as it was given."""
    same_place = is_same_place(theirs.location, ours.location)
    same_storage = comparable(theirs.storage) == comparable(ours.storage)
    same_rewriting = bool(theirs.rewrite_enabled) == bool(ours.rewrite_enabled)
    return replace(
        theirs,
        parameters=unmarked(theirs.parameters, ours.parameters),
        storage=ours.storage if same_storage else theirs.storage,
        location=ours.location if same_place else theirs.location,
        create_time=ours.create_time,
        privileges=ours.privileges,
        rewrite_enabled=ours.rewrite_enabled if same_rewriting else theirs.rewrite_enabled,
        later_fields=ours.later_fields,
    )
