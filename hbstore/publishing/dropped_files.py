"""The files of dropped tables and databases: a record of the store says which are yet to be deleted.

1. *Decide*: the step that drops the table or database puts the record, with the names of its files.
2. Delete the folders, or move them into the trash. The record says that this process is at it.
3. Take the record away.

Where that process dies the next server goes on, or `hbstore repair`, or who creates something at the same place. It
deletes the files that were noted, and folders that are empty then: Spark, which asks nobody, may be writing new ones.
Nobody creates a table or a database at a place whose files are being deleted, nor is one, or a partition, given that
location. Files that cannot be deleted stay, and the log names them: to the client the drop is done.
"""

from __future__ import annotations

import base64
import json
import logging
import time
import zlib
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from threading import Event
from typing import Final

from hbstore.errors import CorruptRow, HbstoreError
from hbstore.files.locations import is_below, same_place
from hbstore.files.warehouse import Warehouse
from hbstore.publishing.held_folder import all_held
from hbstore.publishing.manifest import ALIVE, new_publication_id
from hbstore.publishing.removal import noted_names, noting_later, remove_tree
from hbstore.rows.damage import RESTORE
from hbstore.servers.threads import beside
from hbstore.store.partition_store import PartitionStore
from hbstore.store.records import NewRecord
from hbstore.transactions.waiting import Waiting

DROPPED: Final = "dropped"
"""The kind of the records."""

_MOST: Final = 3 << 20
"""Bytes of a record; where there are more names, the files of the last ones stay if the process dies."""

_LOG: Final = logging.getLogger("hbstore.warehouse")


@dataclass(frozen=True, slots=True)
class DroppedFolder:
    """A folder that is to be deleted.

    Attributes:
        location: where it is.
        inside: the locations of the table or database, as for `Warehouse.delete`.
        purge: whether its files pass the trash.
        names: the paths in it of the files that were there.
    """

    location: str
    inside: tuple[str, ...]
    purge: bool
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DroppedFiles:
    """What a record says.

    Attributes:
        id: the record's name.
        what: the table or the database, such as ``shop.sales``.
        folders: what is to be deleted, in this order.
        root: of the warehouse.
        trash: the location of the trash; None where there is none.
        until: seconds since 1970; until then a process is at it.
    """

    id: str
    what: str
    folders: tuple[DroppedFolder, ...]
    root: str
    trash: str | None
    until: float

    def encode(self) -> str:
        """JSON, packed.

        >>> folder = DroppedFolder("file:/wh/a", ("file:/wh/a",), purge=False, names=("part-0",))
        >>> dropped = DroppedFiles("7", "shop.a", (folder,), "file:/wh", None, until=4e9)
        >>> DroppedFiles.decode(dropped.encode()) == dropped
        True
        """
        folders = [(one.location, one.inside, one.purge, one.names) for one in self.folders]
        rest = {"id": self.id, "what": self.what, "root": self.root, "trash": self.trash, "until": self.until}
        return base64.b64encode(zlib.compress(json.dumps({**rest, "folders": folders}).encode())).decode()

    @staticmethod
    def decode(text: str) -> DroppedFiles:
        """The value of `encode`'s text.

        Raises:
            CorruptRow: it is none.
        """
        try:
            document = json.loads(zlib.decompress(base64.b64decode(text)))
            folders = tuple(
                DroppedFolder(location, tuple(inside), purge, tuple(names))
                for location, inside, purge, names in document.pop("folders")
            )
            return DroppedFiles(folders=folders, **document)
        except (ValueError, KeyError, TypeError, zlib.error) as error:
            raise CorruptRow("the record of dropped files cannot be decoded", hint=RESTORE) from error

    def meets(self, location: str) -> bool:
        """Whether a folder is one of these, or in one.

        >>> folder = DroppedFolder("file:/wh/a", ("file:/wh/a",), purge=False)
        >>> dropped = DroppedFiles("7", "shop.a", (folder,), "file:/wh", None, until=4e9)
        >>> dropped.meets("file:/wh/a/b"), dropped.meets("file:///wh/a"), dropped.meets("file:/wh/ab")
        (True, True, False)
        """
        places = [folder.location for folder in self.folders]
        return any(same_place(one, location) or is_below(location, one) for one in places)


def noted(warehouse: Warehouse, what: str, folders: Sequence[DroppedFolder]) -> DroppedFiles:
    """What is to be noted of a drop: the names of the files are read now. O(files)."""
    names = noted_names(warehouse, [folder.location for folder in folders])
    found = tuple(replace(folder, names=tuple(some)) for folder, some in zip(folders, names, strict=True))
    dropped = DroppedFiles(new_publication_id(), what, found, warehouse.root, warehouse.trash, time.time() + ALIVE)
    while len(dropped.encode()) > _MOST:
        half = tuple(replace(folder, names=folder.names[: len(folder.names) // 2]) for folder in dropped.folders)
        dropped = replace(dropped, folders=half)
    return dropped


def record_of(dropped: DroppedFiles) -> NewRecord | None:
    """What the step that drops puts; None where there is nothing to be deleted."""
    return NewRecord(DROPPED, dropped.id, dropped.encode()) if dropped.folders else None


def delete_dropped(store: PartitionStore, warehouse: Warehouse, dropped: DroppedFiles) -> tuple[str, ...]:
    """Delete the folders of what this process has dropped, and take the record away.

    Returns:
        Locations whose files could not be deleted.
    """
    left: list[str] = []
    if not dropped.folders:
        return ()
    with noting_later(dropped.what), _alive(store, dropped):
        for folder in dropped.folders:
            with all_held(warehouse, [folder.location], store.patience):
                if store.records.get(DROPPED, dropped.id) is None:  # it took too long, and another process has gone on
                    return tuple(left)
                if not remove_tree(warehouse, folder.location, inside=folder.inside, purge=folder.purge):
                    left.append(folder.location)
        _close(store, dropped)
    return tuple(left)


def unfinished_drops(store: PartitionStore, what: str | None = None) -> list[DroppedFiles]:
    """What was dropped and has files yet to be deleted: of one table or database, or all. O(their number)."""
    unfinished = []
    for name, text in store.records.list(DROPPED):
        try:
            dropped = DroppedFiles.decode(text)
        except CorruptRow as error:  # which keeps nobody from creating tables
            _LOG.warning("files of something dropped stay, as record %s does not say which: %s", name, error)
            continue
        if what is None or what.lower() == dropped.what:
            unfinished.append(dropped)
    return unfinished


def finish_drops(store: PartitionStore, what: str | None = None) -> int:
    """Delete what dead processes had dropped and not deleted; of how many tables and databases that was."""
    return sum(_finish(store, dropped) for dropped in unfinished_drops(store, what))


def abandon_drop(store: PartitionStore, what: str, record: str) -> tuple[str, ...] | None:
    """Delete no more of what was dropped: the folders that stay; None where there is no such record."""
    for dropped in unfinished_drops(store, what):
        if dropped.id == record:
            store.records.drop(DROPPED, record)
            return tuple(folder.location for folder in dropped.folders)
    return None


def after_deletion(store: PartitionStore, *locations: str) -> None:
    """Wait until no files of what was dropped are being deleted at some places, and delete those of dead processes.

    Called after it was seen that what is to be created is not there.

    Raises:
        StoreBusy: they were being deleted for as long as the store waits; nothing was changed.
    """
    waiting: Waiting | None = None
    while in_the_way := [one for one in unfinished_drops(store) if any(map(one.meets, locations))]:
        if not sum(_finish(store, one) for one in in_the_way):
            waiting = waiting or Waiting(store.patience)
            text = "the files of a table or database that was dropped there are being deleted"
            met = next(filter(in_the_way[0].meets, locations))
            waiting.pause(text, "Nothing was changed; try again", location=met, dropped=in_the_way[0].what)


def _finish(store: PartitionStore, dropped: DroppedFiles) -> bool:
    """Delete what is noted, unless another process is at it; whether that was done."""
    if not _take(store, dropped):
        return False
    with _alive(store, dropped):
        for folder in dropped.folders:
            try:
                if not _delete_noted(store, dropped, folder):
                    return False
            except HbstoreError as error:
                _LOG.warning("files that belong to no table or partition remain: %s", error)
    _close(store, dropped)
    return True


def _delete_noted(store: PartitionStore, dropped: DroppedFiles, folder: DroppedFolder) -> bool:
    """Delete the files of a folder that are noted; whether no other process is at it, or has done so."""
    warehouse = Warehouse(dropped.root, trash=dropped.trash)
    with all_held(warehouse, [folder.location]) as is_held:
        if not is_held or store.records.get(DROPPED, dropped.id) is None:
            return False
        _delete_files(warehouse, folder)
    return True


def _delete_files(warehouse: Warehouse, folder: DroppedFolder) -> None:
    place = folder.location.rstrip("/")
    names_now = {name for name, _ in warehouse.data_files(place, hidden=True) or ()}
    if not warehouse.renames(place) and names_now <= {*folder.names}:
        remove_tree(warehouse, place, inside=folder.inside, purge=folder.purge)  # with the markers of folders
        return
    for name in folder.names:
        if name in names_now:
            remove_tree(warehouse, f"{place}/{name}".rstrip("/"), inside=folder.inside, purge=folder.purge)
    warehouse.delete_empty_folders(place)


def _take(store: PartitionStore, dropped: DroppedFiles) -> bool:
    """Let this process delete, as the only one, if no other is at it; whether it may."""
    taken = False

    def take(text: str) -> str | None:
        nonlocal taken
        now = DroppedFiles.decode(text)
        taken = now.until < time.time()
        return replace(now, until=time.time() + ALIVE).encode() if taken else None

    return store.records.change(DROPPED, dropped.id, take) is not None and taken


def _alive(store: PartitionStore, dropped: DroppedFiles) -> AbstractContextManager[None]:
    """Say now and then that this process is at it: a folder may take long."""

    def said(_: str) -> str:
        return replace(dropped, until=time.time() + ALIVE).encode()

    def say(over: Event) -> None:
        while not over.wait(ALIVE / 4):
            with suppress(HbstoreError):  # of a store that does not answer now
                store.records.change(DROPPED, dropped.id, said)

    return beside(say, "deleting")


def _close(store: PartitionStore, dropped: DroppedFiles) -> None:
    try:
        store.records.drop(DROPPED, dropped.id)
    except HbstoreError as error:  # the drop is done; the next one finds nothing to delete
        _LOG.warning("the record of the files of %s, which are deleted, stays for a while: %s", dropped.what, error)
