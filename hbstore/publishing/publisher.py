"""Publisher: what a job has staged becomes a table's partitions, all at once.

1. *Lease* the partitions: no other job writes them meanwhile.
2. *Prepare*: move the staged files into their folders, under hidden names.
3. *Decide*, by the step that adds, alters and drops the partitions with their statistics: all see that at once.
4. *Show*: remove the files that are replaced, give the new ones their names, remove the folders of dropped partitions,
   close.

A job that dies before 3 leaves what no reader sees, and the next job or `Publisher.recover` clears away. One that dies
after it leaves a decided publication, whose files are hidden. What of hbstore reads or writes files of the table shows
them first: every part of 4 may be repeated, and be done by several at once.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from hbstore.errors import (
    CommitStateUnknown,
    DatabaseNotFound,
    FileOperationFailed,
    HbstoreError,
    InvalidInput,
    StoreBusy,
    StoreUnavailable,
    TableNotFound,
    WriteConflict,
)
from hbstore.keys.partition_names import partition_name, table_name
from hbstore.model.objects import Partition
from hbstore.publishing.exchange_files import ExchangeFiles
from hbstore.publishing.folder_move import FolderMove
from hbstore.publishing.held_folder import for_a_moment, held_at_last
from hbstore.publishing.lease import Lease
from hbstore.publishing.manifest import ALIVE, STAGING, places_of, staged_in, warehouse_of
from hbstore.publishing.removal import finish_removal
from hbstore.publishing.unfinished import UNFINISHED
from hbstore.store.manifest import EXCHANGES, Manifest, PartitionWrite
from hbstore.store.partition_store import PartitionStore
from hbstore.store.publications_cell import Publication, has_publications
from hbstore.store.puts import partition_key
from hbstore.store.table_row import TableRow
from hbstore.transactions.waiting import Patience, Waiting


@dataclass(frozen=True, slots=True, repr=False)
class Publisher:
    """Publishes what jobs write into one store.

    Attributes:
        store: the store.
    """

    store: PartitionStore

    def __repr__(self) -> str:
        return f"<Publisher of {self.store.rows.url}>"

    def publish(self, table: str, manifest: Manifest, staged: Mapping[str, str]) -> None:
        """Publish a manifest.

        Args:
            table: ``"shop.sales"``.
            manifest: what is to be done.
            staged: for each staged file the place of its hidden one, as locations; none where files are not hidden.

        Raises:
            WriteConflict: another job is writing one of the partitions; nothing was changed.
            PublicationLost: the job took so long that it was taken for dead; nothing was changed.
            StreamConflict: it is a batch of a stream that another run of its query has written; nothing was changed.
            ConcurrentChange: the table was given another location since the files were staged; nothing was changed.
            InvalidInput, InvalidPartitionValue, InvalidTime, TimelineMismatch: the store does not take one of the
                partitions, or two of them are one; nothing was changed.
            FileOperationFailed: a file cannot be moved; nothing was changed.
            CommitStateUnknown: it is decided, or may be, and something went wrong then. It is finished by the next who
                reads or writes the table.

        >>> import pathlib, tempfile
        >>> from dataclasses import replace
        >>> folder = tempfile.TemporaryDirectory()
        >>> store.create_table(replace(sales.definition, name="local", location=f"file:{folder.name}"))
        >>> home = f"{folder.name}/ds=2013-01-09/hour=0"
        >>> staged = pathlib.Path(folder.name, "_hbstore/7/part-0")
        >>> staged.parent.mkdir(parents=True)
        >>> _ = staged.write_text("2.50")
        >>> from hbstore.publishing import PartitionWrite
        >>> write = PartitionWrite(("2013-01-09", "0"), f"file:{home}", {"_hidden": "part-0"})
        >>> manifest = Manifest("7", f"file:{staged.parent}", (write,))
        >>> Publisher(store).publish("shop.local", manifest, {f"file:{staged}": f"file:{home}/_hidden"})
        >>> pathlib.Path(home, "part-0").read_text(), store.table("shop.local").names()
        ('2.50', ['ds=2013-01-09/hour=0'])
        """
        row = self.lease(table, manifest)
        try:
            self.store.publications.check(row, manifest.id)
            self._prepare(row, manifest, staged)
            self.store.publications.decide(row, manifest.id)
        except BaseException:
            with suppress(Exception):
                self._give_up(row, manifest)
            raise
        with _after_the_decision(row, manifest):
            self._show(row, manifest, self.store.patience)

    def recover(self, table: str) -> int:
        """Finish what is decided, and clear away what dead jobs left; how many publications there were.

        One read of the table's row where there is nothing to do.

        Raises:
            HbstoreError: why the first one that could not be finished was not; all others were tried.

        >>> Publisher(store).recover("shop.sales")
        0
        """
        done, failed = self._recover(self.store.publications.row(*table_name(table)), all_dead=True)
        for error in failed.values():
            raise error
        return done

    def recover_before_write(self, table: str) -> None:
        """As `recover`, but what cannot be finished stays, and is logged: a job may write other partitions.

        >>> Publisher(store).recover_before_write("shop.sales")
        """
        row = self.store.publications.row(*table_name(table))
        self._note(row, self._recover(row, all_dead=True)[1])

    def roll_forward_before_use(self, row: TableRow) -> None:
        """Show the files of what is decided, before a table's files are read; where that fails, it is logged.

        A reader of files reads the partitions first, and then the row that it gives here: what these partitions have is
        shown when this returns, and what is decided later changes their bytes. What could not be finished is tried
        again after a while, and readers are answered meanwhile.

        >>> Publisher(store).roll_forward_before_use(store.table_row("shop", "sales"))
        """
        if has_publications(row):
            self._note(row, self._recover(row, all_dead=False, only_due=True)[1])

    def has_files_to_show(self, row: TableRow) -> bool:
        """Whether `roll_forward_before_use` has something to try now. Nothing is read. O(publications).

        >>> Publisher(store).has_files_to_show(store.table_row("shop", "sales"))
        False
        """
        url = self.store.rows.url
        return has_publications(row) and any(
            UNFINISHED.is_due(url, one.id) and _is_due(one) for one in self.store.publications.of(row)
        )

    def abandon(self, table: str, publication: str) -> tuple[str, ...]:
        """Give a publication up that cannot be finished. What it decided of partitions stays as it is.

        Returns:
            The locations of files that are not shown and stay where they are, if it was decided; else they are removed.

        Raises:
            InvalidInput: the table has no publication of this id.
            StoreBusy: its process is moving a folder.

        >>> Publisher(store).abandon("shop.sales", "7")
        Traceback (most recent call last):
        hbstore.errors.InvalidInput: there is no such publication: ...
        """
        row = self.store.publications.row(*table_name(table))
        data = self.store.publications.manifest(row, publication)
        move = next((one.move for one in self.store.publications.of(row) if one.id == publication), None)
        if move is not None:
            if not FolderMove(self.store, row, publication, move).undo() and self.is_open(row, publication):
                hint = "Wait for it; if it was halted, let it go on or end it"
                raise StoreBusy("the process of the rename is moving the folder", table=table, hint=hint)
            return ()
        if data is None or not self.is_open(row, publication):
            hint = f"`hbstore publications list {table}` lists those that are there"
            raise InvalidInput("there is no such publication", table=table, publication=publication, hint=hint)
        manifest = Manifest.decode(data)
        left: tuple[str, ...] = ()
        if manifest.exchange is not None:
            left = ExchangeFiles(self.store, manifest, manifest.exchange).abandon()
        elif manifest.removal is not None:
            left = tuple(write.location for write in manifest.partitions)
            self.store.publications.close(row, publication)
        elif publication in self.store.publications.decided(row):
            warehouse = warehouse_of(row)
            files = [manifest.prepared(write, name) for write in manifest.partitions for name in write.files]
            left = tuple(file for file in files if warehouse.exists(file))
            self.store.publications.close(row, publication)
        else:
            self._give_up(row, manifest)
        UNFINISHED.finished(self.store.rows.url, publication)
        return left

    def is_open(self, row: TableRow, publication: str) -> bool:
        """Whether a publication of a table is leased or decided, and not finished. One read, O(1).

        >>> Publisher(store).is_open(store.table_row("shop", "sales"), "7")
        False
        """
        try:
            now = self.store.publications.row(row.table.database, row.table.name)
        except (TableNotFound, DatabaseNotFound):
            return False
        return now.table_id == row.table_id and any(one.id == publication for one in self.store.publications.of(now))

    def has_moving_folders(self, table: str) -> bool:
        """Whether folders of partitions that are exchanged may still lie in the folder of a table, or come to it.

        >>> Publisher(store).has_moving_folders("shop.sales")
        False
        """
        row = self.store.publications.row(*table_name(table))
        return any(one.id.startswith(EXCHANGES) for one in self.store.publications.of(row))

    def lease(self, table: str, manifest: Manifest) -> TableRow:
        """Lease the partitions of a manifest in a table, whose row comes back.

        Raises:
            WriteConflict: another job is writing one of them; nothing was changed.
            StoreBusy: other jobs always came between; nothing was changed.

        >>> from hbstore.publishing import PartitionWrite
        >>> manifest = Manifest("7", "file:/data/_hbstore/7", (PartitionWrite(("2013-01-09", "0"), "file:/data/x"),))
        >>> Publisher(store).lease("shop.sales", manifest).table.name
        'sales'
        """
        publications, waiting = self.store.publications, Waiting(self.store.patience)
        while True:
            row = publications.row(*table_name(table))
            try:
                if not self._settle_exchanges(row, manifest):
                    dead = self._lease(row, manifest)
                    break
            except WriteConflict as conflict:
                if not (conflict.fields["decided"] or "folder" in conflict.fields):
                    raise
                for error in self._recover(row, all_dead=False)[1].values():
                    raise error from conflict
            waiting.pause("other jobs kept writing the partitions", "Nothing was changed", table=row.table)
        for lost in dead:
            self._clear_away(row, Manifest.decode(lost))
        return row

    def _lease(self, row: TableRow, manifest: Manifest) -> list[bytes]:
        """Lease the partitions of a manifest; the manifests of dead publications that had them."""
        columns = row.table.partition_column_names
        names = {
            partition_key(row, write.values): partition_name(columns, write.values) for write in manifest.partitions
        }
        until = time.time() + ALIVE
        return self.store.publications.lease(row, manifest.id, names, manifest.encode(), until, manifest.batch)

    def _recover(self, row: TableRow, *, all_dead: bool, only_due: bool = False) -> tuple[int, dict[str, HbstoreError]]:
        """Finish what is decided, and, ``all_dead``, clear away what is not and whose jobs are dead.

        Args:
            row: the table's.
            all_dead: see above.
            only_due: leave out what this process could not finish a short while ago.

        Returns:
            How many publications there were, and why others could not be finished, by their ids.
        """
        done, failed = 0, {}
        for publication in self.store.publications.of(row):
            if only_due and not UNFINISHED.is_due(self.store.rows.url, publication.id):
                continue
            try:
                done += self._finish(row, publication, dead=all_dead and publication.until < time.time())
            except StoreUnavailable:
                raise
            except HbstoreError as error:
                failed[publication.id] = error
            else:
                UNFINISHED.finished(self.store.rows.url, publication.id)
        return done, failed

    def _note(self, row: TableRow, failed: Mapping[str, HbstoreError]) -> None:
        for publication, error in failed.items():
            UNFINISHED.failed(self.store.rows.url, publication, row.table, error)

    def _finish(self, row: TableRow, publication: Publication, *, dead: bool) -> bool:
        """Finish a publication if it is decided, or give it up if its job is dead; whether that was done."""
        if not (dead or _is_due(publication)):
            return False
        if publication.move is not None:
            return FolderMove(self.store, row, publication.id, publication.move).undo()
        data = self.store.publications.manifest(row, publication.id)
        if data is None:
            return False
        manifest = Manifest.decode(data)
        if manifest.exchange is not None:
            return ExchangeFiles(self.store, manifest, manifest.exchange).settle(dead=dead)
        if publication.is_removal:
            return finish_removal(self.store, row, manifest)
        if publication.decided:
            self._show(row, manifest, for_a_moment(self.store.patience))
        else:
            self._give_up(row, manifest)
        return True

    def _settle_exchanges(self, row: TableRow, taker: Manifest) -> bool:
        """Finish the exchanges of a table that were made, and give up those of dead jobs; whether there were any.

        One that is not made yet loses its leases to another exchange, the ``taker``, that wants the same partitions: so
        a statement whose process died may be repeated at once.
        """
        done = False
        for publication in self.store.publications.of(row):
            if not publication.id.startswith(EXCHANGES):
                continue
            data = self.store.publications.manifest(row, publication.id)
            manifest = None if data is None else Manifest.decode(data)
            if manifest is None or manifest.exchange is None:
                continue
            taken = taker.exchange is not None and manifest.shares(taker)
            dead = publication.until < time.time() or taken
            done |= ExchangeFiles(self.store, manifest, manifest.exchange).settle(dead=dead)
        return done

    def _prepare(self, row: TableRow, manifest: Manifest, staged: Mapping[str, str]) -> None:
        warehouse, inside = warehouse_of(row), places_of(row, manifest)
        if not manifest.hidden:
            for write in manifest.partitions:
                if write.files:
                    warehouse.check_reach(manifest.staging, write.location)
        lease = Lease(self.store, row, manifest.id)
        for source, target in staged.items():
            lease.keep()
            if not warehouse.move(source, target, inside=inside):
                raise FileOperationFailed(
                    "a staged file is missing", file=source, hint="Nothing was changed; write again"
                )

    def _give_up(self, row: TableRow, manifest: Manifest) -> None:
        """Clear away what is not decided; a late job finds that it cannot decide it any more."""
        if self.store.publications.withdraw(row, manifest.id):
            self._clear_away(row, manifest)

    def _clear_away(self, row: TableRow, manifest: Manifest) -> None:
        if manifest.exchange is not None:
            ExchangeFiles(self.store, manifest, manifest.exchange).close()
            return
        hidden = [write for write in manifest.partitions if write.files] if manifest.hidden else []
        if not (hidden or manifest.staging):  # a truncation, whose table need not have a location
            return
        warehouse, inside = warehouse_of(row), places_of(row, manifest)
        for write in hidden:
            for name in write.files:
                warehouse.delete(f"{write.location}/{name}", inside=inside, purge=True)
            if row.table.location is not None:
                warehouse.delete_empty_parents(f"{write.location}/{STAGING}", below=row.table.location)
        if manifest.staging:
            warehouse.delete(manifest.staging, inside=inside, purge=True)
        with suppress(TableNotFound, DatabaseNotFound):  # one that was empty before keeps its folder
            for one in self._there(row, [write.values for write in hidden]) if hidden else ():
                if one.location is not None:
                    warehouse.make_folder(one.location)

    def _show(self, row: TableRow, manifest: Manifest, patience: Patience) -> None:
        if not self.is_open(row, manifest.id):  # its table is gone, or somebody else was faster
            return
        self._there(row, [write.values for write in manifest.partitions])  # on HBase they are written now, if not yet
        warehouse, inside = warehouse_of(row), places_of(row, manifest)
        for write in manifest.partitions:
            if write.replaced and not write.drop and not self._delete_replaced(row, manifest, write, patience):
                return
            files = {manifest.prepared(write, name): f"{write.location}/{shown}" for name, shown in write.files.items()}
            try:
                warehouse.bring(files, inside=inside)
            except FileOperationFailed:
                if not self.is_open(row, manifest.id):  # somebody else has finished it, and others may have gone on
                    return
                if self._there(row, [write.values]):
                    raise  # else others have dropped the partition since, with its folder
        if not self.is_open(row, manifest.id):
            return
        warehouse.delete(manifest.staging, inside=inside, purge=True)
        if any(write.drop for write in manifest.partitions):
            finish_removal(self.store, row, manifest)
        else:
            self.store.publications.close(row, manifest.id)

    def _delete_replaced(self, row: TableRow, manifest: Manifest, write: PartitionWrite, patience: Patience) -> bool:
        """Delete the files of a partition that others replace; whether the publication was still open then.

        Where it is not, another table or partition may have this place by now, with files of the same names.
        """
        warehouse, inside = warehouse_of(row), places_of(row, manifest)
        home = staged_in(manifest) or row.table.location or write.location
        with held_at_last(lambda: warehouse.held(home), patience, home):
            if not self.is_open(row, manifest.id):
                return False
            for name in write.replaced:
                warehouse.delete(f"{write.location}/{name}", inside=inside, purge=False)
        return True

    def _there(self, row: TableRow, values: Sequence[tuple[str, ...]]) -> list[Partition]:
        return self.store.get_partitions(row.table.database, row.table.name, values)


def _is_due(publication: Publication) -> bool:
    """Whether there is something to do about a publication whose job is not known to be dead."""
    if publication.move is not None or publication.is_removal:  # no reader needs it, and its process is at it
        return publication.until < time.time()
    return publication.decided or publication.id.startswith(EXCHANGES)


@contextmanager
def _after_the_decision(row: TableRow, manifest: Manifest) -> Iterator[None]:
    """Inside, no error may say that nothing was changed: who then wrote again would write twice."""
    try:
        yield
    except HbstoreError as error:
        raise CommitStateUnknown(
            "the write is decided, but could not be finished",
            table=row.table,
            publication=manifest.id,
            reason=error,
            hint="Do not repeat the write: the next reader or writer of the table or `hbstore repair` finishes it",
        ) from error
