"""What is not finished of a store: publications of its tables, and files of dropped tables and databases.

For people, at the command line and in the console: they see it, finish it or give it up.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from hbstore.errors import DatabaseNotFound, InvalidInput, TableNotFound
from hbstore.keys.partition_names import table_name
from hbstore.publishing.dropped_files import abandon_drop, finish_drops, unfinished_drops
from hbstore.publishing.publisher import Publisher
from hbstore.store.catalog_logs import catalog_objects
from hbstore.store.partition_store import PartitionStore
from hbstore.store.publications_cell import Publication
from hbstore.store.table_row import TABLE_KEYS


@dataclass(frozen=True, slots=True)
class OpenPublication:
    """One of them.

    Attributes:
        table: its table; of what was dropped, the table or database that it was.
        publication: its id.
        state: ``leased`` (its job works), ``decided`` (its files are being shown), ``renaming`` (a folder moves),
            ``deleting`` (files of what was dropped are), or ``overdue`` (its job died).
        partitions: how many it is about.
        overdue: seconds since its process was to say that it lives; 0 where it did.
    """

    table: str
    publication: str
    state: str
    partitions: int
    overdue: int


def open_publications(store: PartitionStore, table: str | None = None) -> list[OpenPublication]:
    """Those of a table, or of all. O(tables) where none is named.

    Raises:
        TableNotFound, DatabaseNotFound: there is no such table, nor was it dropped.

    >>> open_publications(store, "shop.sales")
    []
    """
    now = time.time()
    drops = unfinished_drops(store, table)
    found = [
        OpenPublication(name, one.id, publication_state(one, now), len(one.places), _overdue(one.until, now))
        for name, one in _of_tables(store, table, was_dropped=bool(drops))
    ]
    return found + [OpenPublication(one.what, one.id, "deleting", 0, _overdue(one.until, now)) for one in drops]


def finish_publications(store: PartitionStore, table: str) -> int:
    """Finish those of a table, or clear them away where their jobs died; how many that was.

    Raises:
        HbstoreError: why the first one that could not be finished was not; all others were tried.

    >>> finish_publications(store, "shop.sales")
    0
    """
    was_dropped = bool(unfinished_drops(store, table))
    done = finish_drops(store, table)
    try:
        return done + Publisher(store).recover(table)
    except (TableNotFound, DatabaseNotFound, InvalidInput):
        if was_dropped:
            return done
        raise


def abandon_publication(store: PartitionStore, table: str, publication: str) -> tuple[str, ...]:
    """Give one up that cannot be finished: the locations of files and folders that stay where they are.

    Raises:
        InvalidInput: the table has no publication of this id.
        StoreBusy: its process is moving a folder.

    >>> abandon_publication(store, "shop.sales", "7")
    Traceback (most recent call last):
    hbstore.errors.InvalidInput: there is no such publication: ...
    """
    left = abandon_drop(store, table, publication)
    return Publisher(store).abandon(table, publication) if left is None else left


def _of_tables(store: PartitionStore, table: str | None, *, was_dropped: bool) -> Iterator[tuple[str, Publication]]:
    if table is None:
        for seen in catalog_objects(store.rows, [TABLE_KEYS]):
            if seen.is_there:
                yield from ((seen.name, publication) for publication in seen.publications)
        return
    try:
        row = store.publications.row(*table_name(table))
    except (TableNotFound, DatabaseNotFound, InvalidInput):  # a database has no name of a table
        if was_dropped:
            return
        raise
    yield from ((str(row.table), publication) for publication in store.publications.of(row))


def _overdue(until: float, now: float) -> int:
    return max(0, round(now - until))


def publication_state(publication: Publication, now: float) -> str:
    """What a publication of a table is doing, in a word.

    Args:
        publication: it.
        now: seconds since 1970.

    >>> publication_state(Publication("7", decided=True, until=0.0, places=frozenset()), 1.0)
    'decided'
    """
    if publication.is_removal:
        return "deleting"
    if publication.decided:
        return "decided"
    if publication.move is not None:
        return "renaming"
    return "leased" if publication.until > now else "overdue"
