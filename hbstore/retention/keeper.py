"""The thread of a server that drops what is older than tables keep it, and empties the trash of it.

It also removes the rows of tables, and deletes the files of tables and databases, whose dropping was not finished by
processes that died.
"""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from threading import Event
from typing import Final

from hbstore.errors import DatabaseNotFound, HbstoreError, TableNotFound
from hbstore.files.warehouse import Warehouse
from hbstore.model.retention import retention_of
from hbstore.publishing.dropped_files import finish_drops
from hbstore.retention.expiry import KEPT, delete_runs, expire, undo_command
from hbstore.retention.kept_files import parted
from hbstore.retention.old_partitions import old_partitions
from hbstore.servers.threads import beside
from hbstore.store.partition_store import PartitionStore
from hbstore.texts.wording import plural

EVERY: Final = 3_600.0
"""Seconds between two looks at all tables."""

_LOG: Final = logging.getLogger("hbstore.retention")


def keeping_retention(
    store: PartitionStore, warehouse: Warehouse, every: float = EVERY
) -> AbstractContextManager[None]:
    """Look at all tables now and then in a thread, as long as the block runs.

    Several servers may do so: of two that drop one partition one does.

    Args:
        store: the catalog.
        warehouse: where files are.
        every: seconds between two looks.
    """

    def keep(ended: Event) -> None:
        while True:
            keep_once(store, warehouse, datetime.now(UTC), ended)
            if ended.wait(every):
                return

    return beside(keep, "retention")


def keep_once(store: PartitionStore, warehouse: Warehouse, now: datetime, ended: Event) -> None:
    """Drop what is too old in every table that says how long it keeps its partitions, and delete old runs.

    What fails of one table does not keep it from the others: it is a warning in the log.

    Args:
        store: the catalog.
        warehouse: where files are.
        now: the time.
        ended: set when no more is to be done.
    """
    try:
        finish_drops(store)
    except HbstoreError as error:
        _LOG.warning("the files of dropped tables are not deleted: %s", error)
    try:
        store.purge_dropped_tables(ended)
        for database in store.database_names():
            for name in _table_names(store, database):
                _keep_table(store, warehouse, database, name, now, ended)
        if not ended.is_set():
            delete_runs(store, warehouse, now - KEPT)
    except HbstoreError as error:
        _LOG.warning("old partitions are not dropped: %s", error)


def _table_names(store: PartitionStore, database: str) -> list[str]:
    """The names of a database's tables; none of one that was dropped meanwhile."""
    try:
        return store.table_names(database)
    except DatabaseNotFound:
        return []


def _keep_table(
    store: PartitionStore, warehouse: Warehouse, database: str, name: str, now: datetime, ended: Event
) -> None:
    try:
        table = store.get_table(database, name)
        retention = retention_of(table)
        if retention is None or ended.is_set():
            return
        old = old_partitions(store, table, retention, now)
        movable, kept = parted(store, warehouse, table, old.payloads)
        if kept:
            name, reason = next(iter(kept.items()))
            _LOG.warning("%s: kept %s, such as %s: %s", table, plural(len(kept), "old partition"), name, reason)
        for run in expire(store, warehouse, table, movable, now):
            undone = undo_command(store, run.id, warehouse.root)
            _LOG.info("%s: dropped %s; %s", table, plural(run.partitions, "old partition"), undone)
            if ended.is_set():
                return
    except (DatabaseNotFound, TableNotFound):  # it was dropped meanwhile
        return
    except HbstoreError as error:
        _LOG.warning("%s.%s: old partitions are not dropped: %s", database, name, error)
