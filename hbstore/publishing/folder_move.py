"""The folder of a table or partition that is renamed: it moves along.

1. Hold the table's folder, so that no process moves a folder of it meanwhile: `hbstore.publishing.held_folder`.
2. *Note* on the table's row where it moves: no other folder of the table moves until then, and no partition changes.
   Move the folder, and let the table's folder go.
3. *Decide*: the step that renames takes the note away, with the new location. It fails where the note is gone.

Where folders cannot be renamed, nothing is held, 2 copies it, and after 3 what it was copied from is deleted, as the
files of a dropped partition are: `hbstore.publishing.removal`. Until then it is read where it was.

What fails moves the folder back, or deletes the copies, if the catalog still names the place that it came from, and
takes the note away. So does the next process that comes to the table and meets a note which is five seconds old, or,
of a copy, one whose process has not said for five minutes that it lives.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from hbstore.errors import (
    CommitStateUnknown,
    ConcurrentChange,
    DatabaseNotFound,
    FileOperationFailed,
    TableNotFound,
)
from hbstore.files.interface import Hold
from hbstore.files.locations import parse_location
from hbstore.files.warehouse import Warehouse
from hbstore.publishing.held_folder import held_at_last
from hbstore.publishing.lease import Lease
from hbstore.publishing.manifest import new_publication_id
from hbstore.publishing.removal import remove_tree
from hbstore.store.manifest import Manifest, PartitionWrite, Removal
from hbstore.store.partition_store import PartitionStore
from hbstore.store.publications_cell import Move, check_in_place
from hbstore.store.table_row import TableRow
from hbstore.transactions.waiting import Waiting

_RENAMING: Final = 5.0
"""Seconds after which the process of a note is taken for dead: nobody reads the folder meanwhile."""

_LATEST: Final = 1.0
"""Seconds after which a process that has noted a rename does not move the folder any more."""

_COPYING: Final = 300.0
"""Seconds after which a process that copies a folder is taken for dead, since it said so last: a file may take long."""


@dataclass(frozen=True, slots=True)
class FolderMove:
    """A folder that moves.

    Attributes:
        store: the store.
        row: the table's, under its old name.
        id: of the publication that notes it.
        move: the folder, where it was and where it goes.
        partition: the values of the partition whose folder it is; none: it is the table's, or another process began.
    """

    store: PartitionStore
    row: TableRow
    id: str
    move: Move
    partition: tuple[str, ...] = ()

    def note(self, warehouse: Warehouse, partitions: Sequence[tuple[str, ...]]) -> FolderMove:
        """Note it on the table's row, if nothing is where the folder goes; the move of the folder that is there now.

        Args:
            warehouse: where the folder is.
            partitions: the values that the partition has and gets whose folder it is; none: it is the table's.

        Raises:
            FileOperationFailed: something is there.
            HbstoreError: as of `hbstore.store.folder_changes.FolderChanges.begin_move`. Nothing was changed.
        """
        source, target, _, is_copied = self.move
        _check_free(warehouse, source, target)
        noted = replace(self, move=Move(source, target, warehouse.identity(source), is_copied))
        old = self.copied_from(warehouse) if is_copied else None
        until = time.time() + (_COPYING if is_copied else _RENAMING)
        self.store.folder_changes.begin_move(self.row, self.id, noted.move, until, partitions, old)
        return noted

    def undo(self, *, own: bool = False) -> bool:
        """Move the folder back unless the rename is decided, and take the note away; whether it was there.

        Args:
            own: this process has moved it, and the note may be gone: another one took this for dead, before it moved.

        Raises:
            FileOperationFailed: the folder cannot be moved back.
        """
        source, target, _, is_copied = self.move
        warehouse = Warehouse(str(parse_location(source)).rpartition("/")[0])
        if is_copied:
            if not self.is_noted(or_named=own):
                return False
            warehouse.delete_copies(source, target, inside=[source, target])
            return self.store.publications.withdraw(self.row, self.id)
        with self.held(warehouse) as hold:  # else it is alive, or another one moves the folder back
            # Who gives a held folder up has moved it back; where there are no locks it may have moved after that.
            if hold is Hold.OTHERS or not self.is_noted(or_named=own and hold is Hold.UNTOLD):
                return False
            self._move_back(warehouse)
            self.store.publications.withdraw(self.row, self.id)
        return True

    @contextmanager
    def held(self, warehouse: Warehouse) -> Iterator[Hold]:
        """Hold the table's folder, wherever it is: all do so that move folders of it."""
        source, target, folder, _ = self.move
        home = self.row.table.location
        is_partition = home is not None and home != source
        for place in (home,) if is_partition else (source, target):
            with warehouse.held(place or source, None if is_partition else folder) as hold:
                if hold is not Hold.GONE:
                    yield hold
                    return
        yield Hold.GONE

    def is_noted(self, *, or_named: bool = False) -> bool:
        """Whether the note is there, or, ``or_named``, the catalog names the place that the folder came from."""
        now = self._now()
        if now is None:
            return False
        is_there = any(one.id == self.id for one in self.store.publications.of(now))
        return is_there or (or_named and self._is_named(now))

    def _move_back(self, warehouse: Warehouse) -> None:
        source, target, folder, _ = self.move
        # Where both are there a job may have staged files anew where the folder was, or others have made the target.
        is_ours = folder is not None and warehouse.identity(target) == folder
        if warehouse.exists(target) and (is_ours or not warehouse.renames(source) or not warehouse.exists(source)):
            warehouse.move_once(target, source, inside=[source, target], identity=folder)
            self._make_again(warehouse)

    def copied_from(self, warehouse: Warehouse) -> Manifest:
        """What is to be deleted when a folder is copied and the rename decided."""
        source = self.move.source
        names = tuple(name for name, _ in warehouse.data_files(source, hidden=True) or ())
        old = PartitionWrite(self.partition, source, replaced=names, drop=True)
        return Manifest(self.id, "", (old,), removal=Removal(purge=True, trash=None))

    def _make_again(self, warehouse: Warehouse) -> None:
        """Make a folder for a table that was created in the new place while the folder was there. O(tables)."""
        if self.row.table.location not in {None, self.move.source}:
            return  # it is a partition's: none of its new name is added meanwhile
        for database in self.store.database_names():
            with suppress(DatabaseNotFound):
                if any(table.location == self.move.target for table in self.store.tables(database)):
                    warehouse.make_folder(self.move.target)

    def _is_named(self, now: TableRow) -> bool:
        """Whether the catalog still names the place that the folder came from."""
        if not self.partition:
            return now.table.location in {None, self.move.source}
        partitions = self.store.get_partitions(now.table.database, now.table.name, [self.partition])
        return any(one.location == self.move.source for one in partitions)

    def _now(self) -> TableRow | None:
        """The table as it is now, if it still has the name that it had."""
        try:
            now = self.store.publications.row(self.row.table.database, self.row.table.name)
        except (TableNotFound, DatabaseNotFound):
            return None
        return now if now.table_id == self.row.table_id else None


@contextmanager
def moved_folder(
    store: PartitionStore,
    warehouse: Warehouse,
    row: TableRow,
    source: str,
    target: str,
    inside: list[str],
    partitions: Sequence[tuple[str, ...]] = (),
) -> Iterator[str | None]:
    """A folder moved for a rename that the block decides; if it fails, the folder moves back.

    It stays where the outcome is not known (CommitStateUnknown): the note says how to go on.

    Args:
        store: the store.
        warehouse: moves it.
        row: the table's.
        source: where the folder is.
        target: where it goes; nothing may be there.
        inside: as for `Warehouse.move`.
        partitions: the values that the partition has and gets whose folder it is; none: it is the table's.

    Returns:
        What the rename is to be given as ``moved``; None where there is no folder.

    Raises:
        WriteConflict: files are on their way into it.
        StoreBusy: other folders of the table move, one after the other.
        FileOperationFailed, OutsideWarehouse: it cannot be moved; nothing was changed.
    """
    _wait_for_others(store, row)
    if not warehouse.exists(source):
        check_in_place(store.publications.row(row.table.database, row.table.name), partitions=True)
        _check_free(warehouse, source, target)  # else what is renamed gets the files, or the folder, of others
        yield None
        return
    is_copied = not warehouse.renames(source)
    noted = Move(source, target, is_copied=is_copied)
    move = FolderMove(store, row, new_publication_id(), noted, next(iter(partitions), ()))
    has_moved = False
    try:
        if is_copied:
            move.note(warehouse, partitions)
            lease = Lease(store, row, move.id, alive=_COPYING)
            has_moved = warehouse.copy(source, target, inside=inside, before_each=lease.keep)
        else:
            with held_at_last(partial(move.held, warehouse), store.patience, source) as hold:
                began = time.monotonic()
                move = move.note(warehouse, partitions)
                # Where there are no locks others may have given it up some seconds later, and renamed it themselves.
                if hold is Hold.MINE or (hold is Hold.UNTOLD and time.monotonic() - began < _LATEST):
                    has_moved = warehouse.move(source, target, inside=inside, identity=move.move.folder)
        _check_moved(has_moved, source)
        yield move.id
    except CommitStateUnknown:
        raise
    except BaseException:
        move.undo(own=has_moved)
        raise
    if is_copied:
        remove_tree(warehouse, source, inside=inside, purge=True)
        store.publications.close(row, move.id)


def _check_free(warehouse: Warehouse, source: str, target: str) -> None:
    """See that nothing is where a folder goes.

    Raises:
        FileOperationFailed: something is.
    """
    if warehouse.exists(target):
        raise FileOperationFailed(
            "the new folder already exists",
            source=source,
            target=target,
            hint="Nothing was changed. Remove that folder, or choose another name",
        )


def _wait_for_others(store: PartitionStore, row: TableRow) -> None:
    """Wait until no other folder of a table moves, and move those back whose processes are dead.

    Raises:
        StoreBusy: others always came between; nothing was changed.
    """
    waiting = Waiting(store.patience)
    while True:
        now = store.publications.row(row.table.database, row.table.name)
        others = [one for one in store.publications.of(now) if one.move is not None]
        if not others:
            return
        for other in others:
            if other.move is not None and other.until < time.time():
                FolderMove(store, now, other.id, other.move).undo()
        waiting.pause("another rename of the table is under way", "Nothing was changed", table=row.table)


def _check_moved(has_moved: bool, source: str) -> None:  # noqa: FBT001
    """See that the folder was still there: a process that was taken for dead may just have moved it.

    Raises:
        ConcurrentChange: it was not, and that process moves it back; or this one was too slow.
    """
    if not has_moved:
        text = "the folder has just been moved, or the rename took too long to begin"
        raise ConcurrentChange(text, source=source, hint="Nothing was changed; try again")
