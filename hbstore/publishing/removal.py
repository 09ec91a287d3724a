"""The files of dropped partitions: they are deleted after the partitions are gone, and a note says which they are.

1. *Decide*: the step that drops the partitions notes on the table's row which files they have.
2. Delete their folders, or move them into the trash. One process does so, and nobody adds the partitions meanwhile.
3. Take the note off.

Where that process dies the next one that writes the partitions goes on, or `hbstore repair`. It deletes the files that
were noted, and no others: somebody may be writing new ones into the folders by then. Readers do not wait for it. Files
that cannot be deleted stay, and the log names them: to the client the drop is done.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import accumulate
from typing import Final

from hbstore.errors import FileOperationFailed, OutsideWarehouse, PublicationLost, StoreBusy
from hbstore.files.locations import is_below, same_place
from hbstore.files.remote_files import AT_ONCE
from hbstore.files.warehouse import Warehouse
from hbstore.model.objects import Table
from hbstore.publishing.held_folder import all_held
from hbstore.publishing.lease import Lease
from hbstore.publishing.manifest import ALIVE, new_publication_id
from hbstore.store.manifest import Manifest, PartitionWrite, Removal
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import TableRow

_MOST: Final = 100_000
"""Files that are noted at most; where a process dies that deletes more, the others stay."""

_HELD: Final = 50
"""Folders that are held at once."""

_LOG: Final = logging.getLogger("hbstore.warehouse")


def drop_with_files(
    store: PartitionStore,
    warehouse: Warehouse,
    table: Table,
    locations: Mapping[tuple[str, ...], str],
    *,
    purge: bool,
    expected: Mapping[tuple[str | None, ...], bytes | None],
) -> tuple[str, ...]:
    """Drop partitions, all or none, then delete their files.

    Args:
        store: the catalog.
        warehouse: deletes the files.
        table: their table, with the location that it has or, where it has none, would have.
        locations: where the files are, by the values of the partitions; empty for one without files.
        purge: whether they pass the trash.
        expected: stored bytes that partitions must still have.

    Returns:
        Locations whose files could not be deleted.

    Raises:
        PartitionNotFound: one is not there.
        WriteConflict: a job is writing one.
        ConcurrentChange: one is elsewhere, or not as expected. After all of these nothing was dropped.
    """
    own = {values: place for values, place in locations.items() if place and not holds_table(table, place)}
    names = dict(zip(own, noted_names(warehouse, list(own.values())), strict=True))
    writes = (
        PartitionWrite(values, place, replaced=names.get(values, ()), drop=True) for values, place in locations.items()
    )
    manifest = Manifest(new_publication_id(), "", tuple(writes), removal=Removal(purge, warehouse.trash))
    row = store.publications.row(table.database, table.name)
    store.folder_changes.drop(row, manifest, expected, time.time() + ALIVE)
    left: list[str] = []
    with suppress(PublicationLost), noting_later(table):  # it took too long, and another process has gone on
        lease = Lease(store, row, manifest.id)
        # One that holds another goes first, and takes it along: in the trash both are where they were.
        folders = sorted(location for location in locations.values() if location)
        for start in range(0, len(folders), _HELD):
            some = folders[start : start + _HELD]
            with all_held(warehouse, some, store.patience):
                identities = [warehouse.identity(location) for location in some]
                lease.check()
                for location, identity in zip(some, identities, strict=True):
                    lease.keep()
                    if not _remove_partition_files(warehouse, table, location, identity, purge=purge):
                        left.append(location)
        store.publications.close(row, manifest.id)
    return tuple(left)


@contextmanager
def noting_later(what: object) -> Iterator[None]:
    """Inside, files of what was dropped are deleted; where a halted process holds their folder, others do so later."""
    try:
        yield
    except StoreBusy as busy:
        _LOG.warning("%s: the files of what was dropped are deleted later: %s", what, busy)


def finish_removal(store: PartitionStore, row: TableRow, manifest: Manifest) -> bool:
    """Delete the files of what a publication has dropped, unless another process is at it; whether that is done.

    Those that were noted, with the folders that are empty then; of what an earlier version dropped, the folders.
    """
    if not store.folder_changes.take_removal(row, manifest.id, time.time() + ALIVE):
        return False
    lease, home = Lease(store, row, manifest.id), row.table.location
    removal = manifest.removal or Removal(purge=False, trash=None)
    with suppress(PublicationLost):
        for write in manifest.partitions:
            if not (write.drop and write.location):
                continue
            warehouse = Warehouse(home or write.location, trash=removal.trash)
            names = write.replaced if manifest.removal is not None or manifest.names_drops else ("",)
            with all_held(warehouse, [write.location]) as is_held:
                if not is_held:
                    return False
                identity = warehouse.identity(write.location)
                lease.check()
                _delete_noted(warehouse, home, write.location, names, lease, identity, purge=removal.purge)
        store.publications.close(row, manifest.id)
    return True


def _delete_noted(
    warehouse: Warehouse,
    home: str | None,
    location: str,
    names: Sequence[str],
    lease: Lease,
    identity: str | None,
    *,
    purge: bool,
) -> None:
    """Delete some files of a dropped partition, or its folder, and folders in its table's that are empty then."""
    inside = (location,) if home is None else (home, location)
    for name in names:
        lease.keep()
        place, folder = (f"{location}/{name}", None) if name else (location, identity)
        remove_tree(warehouse, place, inside=inside, purge=purge, identity=folder)
        if home is not None:
            warehouse.delete_empty_parents(f"{location}/{name}".rstrip("/"), below=home)
    if home is not None and not names:
        warehouse.delete_empty_parents(f"{location}/_", below=home)
    if not (warehouse.renames(location) or warehouse.data_files(location, hidden=True)):
        remove_tree(warehouse, location, inside=inside, purge=True)  # markers of folders


def noted_names(warehouse: Warehouse, locations: Sequence[str]) -> list[tuple[str, ...]]:
    """The names of the files at some locations, as far as they are to be noted."""
    listed = file_names(warehouse, locations, failing=())  # what cannot be listed cannot be deleted either
    numbers = accumulate(map(len, listed))
    return [one if number <= _MOST else () for one, number in zip(listed, numbers, strict=True)]


def file_names(
    warehouse: Warehouse, locations: Sequence[str], *, failing: tuple[str, ...] | None = None
) -> list[tuple[str, ...]]:
    """The names of the files at some locations, hidden ones too. O(files).

    Args:
        warehouse: where they are.
        locations: the folders.
        failing: stands for the names in a folder that cannot be listed; None: that is an error.

    Raises:
        FileOperationFailed: see above.
    """

    def names(location: str) -> tuple[str, ...]:
        try:
            return tuple(name for name, _ in warehouse.data_files(location, hidden=True) or ())
        except FileOperationFailed:
            if failing is None:
                raise
            return failing

    if all(map(warehouse.renames, locations)):
        return list(map(names, locations))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(names, locations))


def _remove_partition_files(
    warehouse: Warehouse, table: Table, location: str, identity: str | None, *, purge: bool
) -> bool:
    """Delete a dropped partition's folder, and those around it in the table's that are empty then; if that went well.

    Another folder that is there by now stays: of a table that has the place since this one was dropped.
    """
    if holds_table(table, location):
        _LOG.warning("%s: the files of %s stay, because they are the files of the whole table", table, location)
        return False
    inside = () if table.location is None else (table.location,)
    if not remove_tree(warehouse, location, inside=inside, purge=purge, identity=identity):
        return False
    if table.location is not None:
        warehouse.delete_empty_parents(location, below=table.location)
    return True


def holds_table(table: Table, location: str) -> bool:
    """Whether a partition's location is its table's, or one around that, so that more than the partition is there."""
    home = table.location
    return home is not None and (same_place(location, home) or is_below(home, location))


def remove_tree(
    warehouse: Warehouse, location: str, *, inside: Sequence[str], purge: bool, identity: str | None = None
) -> bool:
    """Delete a folder with everything in it; whether that went well. If not, the log says so.

    Args:
        warehouse: deletes it.
        location: the folder.
        inside: as for `Warehouse.delete`.
        purge: whether it passes the trash.
        identity: of the folder, where another one that is there by now is to stay; None: any.
    """
    try:
        warehouse.delete(location, inside=inside, purge=purge, identity=identity)
    except (FileOperationFailed, OutsideWarehouse) as error:
        _LOG.warning("files that belong to no table or partition remain: %s", error)
        return False
    return True
