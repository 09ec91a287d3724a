"""The files of exchanged partitions: they follow the partitions into the other table's folder.

Partitions change tables first, all at once, and keep their locations: their files are read where they are. Then their
folders move, some at a time, each time before the locations of these change. So a reader misses at most the files of
these few, for a moment, and after a crash the next process goes on where it ended.

Where folders cannot be renamed they are copied, the locations change, and then what was copied is deleted: a reader
misses nothing.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from hbstore.errors import (
    CommitStateUnknown,
    DatabaseNotFound,
    FileOperationFailed,
    HbstoreError,
    OutsideWarehouse,
    PartitionNotFound,
    PublicationLost,
    StoreBusy,
    TableNotFound,
)
from hbstore.files.interface import Hold
from hbstore.files.warehouse import Warehouse
from hbstore.model.objects import Partition
from hbstore.publishing.held_folder import for_a_moment, held_at_last
from hbstore.publishing.lease import Lease
from hbstore.store.manifest import Exchange, Manifest
from hbstore.store.partition_store import PartitionStore
from hbstore.store.publications_cell import Publication
from hbstore.store.table_row import TableRow
from hbstore.transactions.waiting import Patience

_BATCH: Final = 100
"""Folders that move before their partitions' locations change."""

_COPIED: Final = 4
"""The same where they are copied, all at once; of each some files are copied at once."""


@dataclass(frozen=True, slots=True)
class ExchangeFiles:
    """Has the files of one exchange follow, and closes it.

    Attributes:
        store: the store.
        manifest: the exchange's.
        exchange: the tables and their folders.
        patience: how long a process is waited for that holds the target's folder; None: as the store says.
    """

    store: PartitionStore
    manifest: Manifest
    exchange: Exchange
    patience: Patience | None = None

    def settle(self, *, dead: bool) -> bool:
        """Finish what somebody else began; whether it is over.

        Args:
            dead: whether its job is gone, so that it is given up if no partition has changed tables.

        Raises:
            FileOperationFailed, OutsideWarehouse: a folder cannot be moved; its files are read where they are.
            StoreBusy: a process moves folders, or was halted while it did, and readers do not wait for long.
        """
        soon = ExchangeFiles(self.store, self.manifest, self.exchange, for_a_moment(self.store.patience))
        return soon._settle(dead=dead)

    def _settle(self, *, dead: bool) -> bool:
        source_row, target_row = self._row(self.exchange.source), self._row(self.exchange.target)
        publication = self._publication(target_row)
        if target_row is None or publication is None:  # it is leased first, and closed first
            self.close()
            return True
        if not (publication.decided or self._is_made()):
            return dead and self.withdraw()
        # In the source too, where its lease may have expired while others copy folders.
        for row in (source_row, target_row):
            if row is not None:
                with suppress(PublicationLost):
                    self.store.publications.decide(row, self.manifest.id)
        if self.exchange.new_home is not None:
            warehouse = Warehouse(self.exchange.new_home)
            with self._held(warehouse) as hold:
                if publication.until > time.time() and hold is Hold.UNTOLD:
                    return False  # its process is at it, and nothing would tell it that others were faster
            for error in self.fetch(warehouse).values():
                raise error
        self.close()
        return True

    def fetch(self, warehouse: Warehouse) -> dict[str, HbstoreError]:
        """Move the folders of partitions that are in the target and not yet in its folder.

        Several may do so at once, and again: a folder that was moved half is moved on. While one does, it says that it
        lives, so that others do without.

        Returns:
            Why folders stay where they are, by where that is.

        Raises:
            CommitStateUnknown: the locations of moved folders are yet to be changed; the next process does so.
        """
        moves = self._moves()
        if self.exchange.new_home is not None and not warehouse.renames(self.exchange.new_home):
            return self._fetch_by_copying(warehouse, moves)
        failed: dict[str, HbstoreError] = {}
        for some in _batches(moves, _BATCH):
            with self._held(warehouse) as hold:
                if not self._is_open() or (hold is Hold.UNTOLD and not self._said()):
                    return failed
                failed |= self._fetch_some(warehouse, some)
        for source, _ in moves.values():
            warehouse.delete_empty_parents(source, below=self.exchange.home or source)
        return failed

    def abandon(self) -> tuple[str, ...]:
        """Give up to move folders; the locations of those that are not moved, where their partitions are read.

        And of those that are copied, whose originals nobody reads.

        Raises:
            StoreBusy: another process holds the table's folder.
        """
        if self.exchange.new_home is None:
            return self._abandon()
        with self._held(Warehouse(self.exchange.new_home)):
            return self._abandon()

    def _abandon(self) -> tuple[str, ...]:
        moves = self._moves()
        left = {moves[values][0] for values in self._still_there(moves)}
        if self.exchange.new_home is not None:
            warehouse = Warehouse(self.exchange.new_home)
            originals = (moves[values][0] for values in self._arrived(moves))
            with suppress(HbstoreError):  # of a store that is gone
                left |= {source for source in originals if warehouse.exists(source)}
        self.close()
        return tuple(sorted(left))

    def withdraw(self) -> bool:
        """Give up an exchange that was not made, unless it is decided; whether it is not."""
        for place in (self.exchange.target, self.exchange.source):
            row = self._row(place)
            if row is not None and not self.store.publications.withdraw(row, self.manifest.id):
                return False
        return True

    def close(self) -> None:
        """Take the exchange off both tables."""
        for place in (self.exchange.target, self.exchange.source):
            row = self._row(place)
            if row is not None:
                self.store.publications.close(row, self.manifest.id)

    @contextmanager
    def _held(self, warehouse: Warehouse) -> Iterator[Hold]:
        """Hold the folder of the table to which the partitions came: all do so that move their folders there."""
        home = self.exchange.new_home
        if home is None:
            yield Hold.GONE
            return
        with suppress(FileOperationFailed, OutsideWarehouse):  # as what moves there, which says so
            if warehouse.renames(home):
                warehouse.make_folder(home)
        with held_at_last(lambda: warehouse.held(home), self.patience or self.store.patience, home) as hold:
            yield hold

    def _row(self, place: tuple[str, str]) -> TableRow | None:
        try:
            return self.store.publications.row(*place)
        except (TableNotFound, DatabaseNotFound):
            return None

    def _publication(self, row: TableRow | None) -> Publication | None:
        publications = [] if row is None else self.store.publications.of(row)
        return next((publication for publication in publications if publication.id == self.manifest.id), None)

    def _moves(self) -> dict[tuple[str, ...], tuple[str, str]]:
        """Where the folders are that are to move, and where they go, by their partitions' values."""
        return {
            write.values: (write.location, place)
            for write in self.manifest.partitions
            if (place := self.exchange.place(write.location)) is not None
        }

    def _is_made(self) -> bool:
        """Whether the partitions have changed tables: all did, or none."""
        places = {write.values: write.location for write in self.manifest.partitions}
        left = {partition.values for partition in self._partitions(self.exchange.source, places)}
        return any(
            partition.values not in left and (partition.location or "") == places.get(partition.values)
            for partition in self._partitions(self.exchange.target, places)
        )

    def _partitions(self, place: tuple[str, str], values: Mapping[tuple[str, ...], object]) -> list[Partition]:
        try:
            return self.store.get_partitions(*place, list(values))
        except (TableNotFound, DatabaseNotFound):
            return []

    def _still_there(self, moves: Mapping[tuple[str, ...], tuple[str, str]]) -> dict[tuple[str, ...], Partition]:
        """Those of some partitions that are in the target with their old locations."""
        partitions = self._partitions(self.exchange.target, moves)
        return {
            partition.values: partition
            for partition in partitions
            if partition.values in moves and partition.location == moves[partition.values][0]
        }

    def _arrived(self, moves: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """The values of those of some partitions that are in the target with their new locations."""
        places = self._moves()
        there = {one.values: one.location for one in self._partitions(self.exchange.target, dict.fromkeys(moves))}
        return [values for values in moves if there.get(values) == places[values][1]]

    def _said(self) -> bool:
        """Say that this process lives, so that others do without; whether the exchange is still open."""
        row = self._row(self.exchange.target)
        with suppress(PublicationLost):
            if row is not None:
                Lease(self.store, row, self.manifest.id).say()
                return True
        return False

    def _is_open(self) -> bool:
        return self._publication(self._row(self.exchange.target)) is not None

    def _fetch_by_copying(
        self, warehouse: Warehouse, moves: Mapping[tuple[str, ...], tuple[str, str]]
    ) -> dict[str, HbstoreError]:
        """As `fetch`: nothing is deleted that the catalog names, and nothing once others have closed the exchange."""
        failed: dict[str, HbstoreError] = {}
        inside = [place for place in (self.exchange.home, self.exchange.new_home) if place is not None]
        row = self._row(self.exchange.target)
        if row is None:
            return failed
        lease = Lease(self.store, row, self.manifest.id)

        def copied(move: tuple[str, str]) -> bool:
            return tried(move, lambda: warehouse.copy(*move, inside=inside, before_each=lease.keep))

        def removed(move: tuple[str, str]) -> bool:  # what others have written since is copied first
            return tried(move, lambda: warehouse.move_once(*move, inside=inside))

        def tried(move: tuple[str, str], change: Callable[[], object]) -> bool:
            try:
                change()
            except (FileOperationFailed, OutsideWarehouse) as error:
                failed[move[0]] = error
                return False
            return True

        with suppress(PublicationLost), ThreadPoolExecutor(_COPIED) as pool:
            for some in _batches(moves, _COPIED):
                lease.say()
                waiting = self._still_there(some)
                are_copied = pool.map(copied, [some[values] for values in waiting])
                self._relocate(
                    {values: some[values] for values, is_copied in zip(waiting, are_copied, strict=True) if is_copied}
                )
                lease.say()
                deque(pool.map(removed, [some[values] for values in self._arrived(some)]), maxlen=0)
        return failed

    def _fetch_some(
        self, warehouse: Warehouse, moves: Mapping[tuple[str, ...], tuple[str, str]]
    ) -> dict[str, HbstoreError]:
        """Move some folders, then their partitions' locations; why folders stay where they are, by where that is."""
        inside = [place for place in (self.exchange.home, self.exchange.new_home) if place is not None]
        failed: dict[str, HbstoreError] = {}
        moved: dict[tuple[str, ...], tuple[str, str]] = {}
        # Where there are no locks others may finish the exchange meanwhile, and write into a folder that is to stay.
        identities = {values: warehouse.identity(source) for values, (source, _) in moves.items()}
        for values in self._still_there(moves):
            source, target = moves[values]
            try:
                is_bare = not warehouse.data_files(target)  # but for what a job that was given up has hidden
                warehouse.move_once(source, target, inside=inside, again=is_bare, identity=identities[values])
                moved[values] = moves[values]
            except (FileOperationFailed, OutsideWarehouse) as error:
                failed[source] = error
        self._relocate(moved)
        return failed

    def _relocate(self, moved: Mapping[tuple[str, ...], tuple[str, str]]) -> None:
        """Change the locations of partitions whose folders have moved, where they are still the old ones."""

        def relocate() -> None:
            left = self._still_there(moved)
            if left:
                self.store.change_partitions(
                    *self.exchange.target,
                    put=[replace(one, location=moved[values][1]) for values, one in left.items()],
                    expected={values: one.payload for values, one in left.items()},
                    invalid_values="keep",
                )

        table = ".".join(self.exchange.target)
        try:
            with suppress(TableNotFound):
                text = "other writers kept changing the partitions"
                self.store.patience.retry(relocate, PartitionNotFound, text=text, table=table)
        except StoreBusy as busy:
            raise CommitStateUnknown(
                "the partitions are exchanged, but other writers kept changing them",
                table=table,
                publication=self.manifest.id,
                hint="The next reader or writer of the table changes their locations",
            ) from busy


def _batches(
    moves: Mapping[tuple[str, ...], tuple[str, str]], number: int
) -> Iterator[dict[tuple[str, ...], tuple[str, str]]]:
    """Moves, so many at a time."""
    remaining = iter(moves.items())
    while some := dict(islice(remaining, number)):
        yield some
