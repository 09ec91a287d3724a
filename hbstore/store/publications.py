"""Publications: writes of files and partitions that are to be seen as one.

A job that writes files first *leases* the partitions that it writes, then prepares its files where nobody sees them,
then the publication is *decided*: in one step its partitions are what it makes of them, and from that moment its files
are going to be moved to where readers look, by the job or by the next process. Two jobs that lease one partition are
told so.

All of a table's publications stand in one cell of its row, ``i:writes``, and what each does in a row beside those of
its partitions, ``01 table-id FE id``, which is there as long as the publication is in the cell. Both go with the table,
when it is renamed and when it is dropped; and each step here looks whether the table under the name is still the one
that the job read.

An exchange of partitions with their files (`hbstore.publishing.exchanger`) leases them in both tables the same way;
folders that move or are dropped stand in the same cell (`hbstore.store.folder_changes`).

A batch of a stream is recorded (`hbstore.store.stream_batches`) by the step that decides it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from hbstore.errors import (
    ConcurrentChange,
    PublicationLost,
    StoreBusy,
    StreamConflict,
)
from hbstore.keys.row_key import successor
from hbstore.rows.interface import PartitionRow
from hbstore.store.changes import Change
from hbstore.store.leases import displaced, place_of
from hbstore.store.manifest import Manifest
from hbstore.store.manifest_rows import manifest_key, packed_manifest, unpacked_manifest
from hbstore.store.publication_change import publication_change, written_keys
from hbstore.store.publication_steps import (
    publication_lost,
    put_publications,
    same_table,
    table_gone,
    table_now,
)
from hbstore.store.publications_cell import (
    Publication,
    check_in_place,
    publications_of,
)
from hbstore.store.stream_batches import Stream, StreamBatch, StreamRecord, record_key
from hbstore.store.table_row import DEFINITION, TableRow
from hbstore.store.tables import Tables
from hbstore.store.writer import write_change
from hbstore.transactions.transaction import RowView, Transaction
from hbstore.transactions.transactions import Transactions
from hbstore.transactions.waiting import Waiting

T = TypeVar("T")


@dataclass(frozen=True, slots=True, repr=False)
class Publications:
    """The publications of a store's tables.

    Attributes:
        transactions: those of the rows where they are.
        tables: the tables that they belong to.

    >>> store.publications
    <Publications of memory://>
    """

    transactions: Transactions
    tables: Tables

    def __repr__(self) -> str:
        return f"<Publications of {self.transactions.rows.url}>"

    def lease(
        self,
        row: TableRow,
        publication_id: str,
        partitions: Mapping[bytes, str],
        manifest: bytes,
        until: float,
        batch: StreamBatch | None = None,
    ) -> list[bytes]:
        """Lease partitions for a publication that is about to be prepared.

        What another run of the same stream has leased it loses at once: a query runs once at a time, so that it is
        dead, or will find that its lease is gone.

        Args:
            row: the table.
            publication_id: unique.
            partitions: their names by their keys, which need not be there.
            manifest: what the publication does: `hbstore.publishing.Manifest`, encoded.
            until: seconds since 1970 at which the job may be taken for dead.
            batch: the batch of a stream that it is.

        Returns:
            The manifests of publications of dead jobs that held some of these, and have lost them.

        Raises:
            WriteConflict: another job is writing one of them, or was and has to be finished first (``decided``), as an
                earlier batch of the same stream has.
            ConcurrentChange: the table was dropped or renamed.
            InvalidInput: the manifest is too large.

        >>> key = sales.plan("ds = '2013-01-09' and hour = 0").get_plans()[0].start.key
        >>> row, names = store.table_row("shop", "sales"), {key: "ds=2013-01-09/hour=0"}
        >>> store.publications.lease(row, "7", names, b"what it does", until=4e9)
        []
        >>> store.publications.lease(row, "8", names, b"", until=4e9)
        Traceback (most recent call last):
        hbstore.errors.WriteConflict: another job is writing the same partitions: ...
        """
        packed = packed_manifest(row.table, manifest)
        names = {place_of(row, key): name for key, name in partitions.items()}
        mine = Publication(publication_id, decided=False, until=until, places=frozenset(names), batch=batch)

        def lease(transaction: Transaction) -> list[bytes]:
            view, now = table_now(transaction, row)
            if now is None:
                raise table_gone(row)
            known = publications_of(now)
            dead = displaced(row, known, mine, names)
            lost = view.existing(manifest_key(now, one) for one in dead)
            view.write([PartitionRow(manifest_key(now, publication_id), (), packed)], [])
            put_publications(view, now, [*(one for one in known if one.id not in dead), mine], gone=dead)
            return [unpacked_manifest(row.table, content) for content in lost.values()]

        return self.transactions.run(lease)

    def row(self, database: str, table: str) -> TableRow:
        """A table's row as it is now. One read, O(1).

        >>> store.publications.row("shop", "sales")
        <TableRow shop.sales>
        """
        return self.tables.open(database, table)

    def extend(self, row: TableRow, publication_id: str, until: float) -> None:
        """Say that the job is alive.

        Raises:
            PublicationLost: the job was taken for dead, or the table was dropped or renamed.

        >>> publications, row = store.publications, store.table_row("shop", "sales")
        >>> publications.lease(row, "7", {}, b"what it does", until=4e9)
        []
        >>> publications.extend(row, "7", until=5e9)
        """

        def extend(view: RowView, now: TableRow | None, known: list[Publication]) -> None:
            put_publications(view, now, _with(row, known, publication_id, lambda one: replace(one, until=until)))

        self._change(row, extend)

    def check(self, row: TableRow, publication_id: str) -> None:
        """See that the table takes what a publication does, before its files are prepared. O(its partitions).

        Raises:
            InvalidInput, InvalidPartitionValue, InvalidTime, TimelineMismatch, ConcurrentChange, PublicationLost: as
                for `decide`.

        >>> from hbstore.publishing import Manifest
        >>> publications, row = store.publications, store.table_row("shop", "sales")
        >>> publications.lease(row, "7", {}, Manifest("7", "s3://elsewhere/_hbstore/7", ()).encode(), until=4e9)
        []
        >>> publications.check(row, "7")
        Traceback (most recent call last):
        hbstore.errors.ConcurrentChange: the location of the table changed while its files were written: ...
        """
        self._prepared(row, publication_id)

    def decide(self, row: TableRow, publication_id: str) -> None:
        """Decide a publication whose files are prepared: its partitions are there from now on, for everybody.

        One that is decided stays as it is. O(its partitions).

        Raises:
            PublicationLost: the job was taken for dead, or the table was dropped or renamed.
            InvalidInput, InvalidPartitionValue, InvalidTime, TimelineMismatch: the table does not take one of the
                partitions, or two of them are one.
            StreamConflict: it is a batch of a stream that another run has written.
            ConcurrentChange: the table was given another location since the files were staged.
            StoreBusy: others kept changing the partitions.
            CommitStateUnknown: it may be decided. After all of the others nothing was changed.

        >>> from hbstore.publishing import Manifest, PartitionWrite
        >>> publications, row = store.publications, store.table_row("shop", "sales")
        >>> write = PartitionWrite(("2013-01-09", "0"), "s3://shop/sales/ds=2013-01-09/hour=0")
        >>> manifest = Manifest("7", "s3://shop/sales/_hbstore/7", (write,))
        >>> publications.lease(row, "7", {}, manifest.encode(), until=4e9)
        []
        >>> publications.decide(row, "7")
        >>> sorted(publications.decided(publications.row("shop", "sales"))), sales.names("ds > '2013-01-03'")
        (['7'], ['ds=2013-01-09/hour=0'])
        """
        waiting: Waiting | None = None
        while True:
            prepared = self._prepared(row, publication_id)
            try:
                return self.transactions.run(partial(self._decide, row, prepared))
            except (StoreBusy, PublicationLost):
                raise
            except ConcurrentChange as error:  # of what was prepared for
                waiting = waiting or Waiting(self.transactions.patience)
                text = "other writers kept changing the partitions"
                waiting.pause(text, "Nothing was changed; write again", error, table=row.table)

    def batches(self, row: TableRow, stream: Stream) -> StreamRecord:
        """The batches of a stream that are decided. One read, O(1).

        >>> from hbstore.publishing import Stream
        >>> store.publications.batches(store.table_row("shop", "sales"), Stream("4e5f", "shop.sales")).last
        -1
        """
        return StreamRecord.decode(stream, self.transactions.state(record_key(row.table_id, stream)))

    def close(self, row: TableRow, publication_id: str) -> None:
        """Forget a publication that is done.

        >>> publications, row = store.publications, store.table_row("shop", "sales")
        >>> publications.lease(row, "7", {}, b"what it does", until=4e9)
        []
        >>> publications.close(row, "7")
        >>> publications.of(publications.row("shop", "sales")), publications.manifest(row, "7")
        ([], None)
        """

        def close(view: RowView, now: TableRow | None, known: list[Publication]) -> None:
            put_publications(view, now, [one for one in known if one.id != publication_id], gone=[publication_id])

        self._change(row, close)

    def withdraw(self, row: TableRow, publication_id: str) -> bool:
        """Take a publication off the table, unless it is decided; whether it is not.

        >>> publications, row = store.publications, store.table_row("shop", "sales")
        >>> publications.lease(row, "7", {}, b"what it does", until=4e9)
        []
        >>> publications.withdraw(row, "7"), publications.manifest(row, "7")
        (True, None)
        """

        def withdraw(view: RowView, now: TableRow | None, known: list[Publication]) -> bool:
            if any(one.id == publication_id and one.decided for one in known):
                return False
            put_publications(view, now, [one for one in known if one.id != publication_id], gone=[publication_id])
            return True

        return self._change(row, withdraw)

    def of(self, row: TableRow) -> list[Publication]:
        """The publications of a table that are not finished, as its row says. Nothing is read.

        >>> publications, row = store.publications, store.table_row("shop", "sales")
        >>> publications.lease(row, "7", {}, b"what it does", until=4e9)
        []
        >>> [(one.id, one.decided) for one in publications.of(publications.row("shop", "sales"))]
        [('7', False)]
        """
        return publications_of(row)

    def decided(self, row: TableRow) -> frozenset[str]:
        """The ids of publications that are decided and whose files are not shown yet. O(1) where nobody writes.

        >>> store.publications.decided(store.table_row("shop", "sales"))
        frozenset()
        """
        return frozenset(one.id for one in self.of(row) if one.decided and not one.is_removal)

    def manifest(self, row: TableRow, publication_id: str) -> bytes | None:
        """What a publication does; None where it is finished or given up, and where the table is gone.

        Raises:
            CorruptRow: the manifest does not decode.

        >>> publications, row = store.publications, store.table_row("shop", "sales")
        >>> publications.lease(row, "7", {}, b"what it does", until=4e9)
        []
        >>> publications.manifest(row, "7")
        b'what it does'
        """
        key = manifest_key(row, publication_id)
        if not self.transactions.reads_one_moment:  # its process may have died before it wrote it
            self._change(row, lambda view, *_: view.settle(key, successor(key)))
        packed = dict(self.transactions.rows.multi_get([key])).get(key)
        return None if packed is None else unpacked_manifest(row.table, packed)

    def _prepared(self, row: TableRow, publication_id: str) -> _Prepared:
        """What the decision of a publication will change, made before the step that decides, as it may take long."""
        now = same_table(row, TableRow.of(row.key, *self.transactions.read(row.key)))
        content = None if now is None else self.manifest(now, publication_id)
        if now is None or content is None:
            raise publication_lost(row, publication_id)
        manifest = Manifest.decode(content)
        if manifest.exchange is not None:
            return _Prepared(now, manifest, Change())
        stored = dict(now.unpacked(self.transactions.rows).multi_get(sorted(written_keys(now, manifest))))
        return _Prepared(now, manifest, publication_change(now, manifest, stored))

    def _decide(self, row: TableRow, prepared: _Prepared, transaction: Transaction) -> None:
        manifest = prepared.manifest
        view, now = table_now(transaction, row)
        known = [] if now is None else publications_of(now)
        decided = _with(row, known, manifest.id, lambda one: replace(one, decided=True))
        if now is None or decided == known:
            return
        if now.cells[DEFINITION] != prepared.row.cells[DEFINITION]:
            raise ConcurrentChange("the table was altered", table=row.table, hint="Try again")
        check_in_place(now)
        view.seen_at_once = len(manifest.partitions) > 1  # a row is changed at once anyway
        write_change(view, now, prepared.change, publication=manifest.id)
        put_publications(view, now, decided)
        if manifest.batch is not None:
            _record(transaction, now, manifest.batch)

    def _change(self, row: TableRow, change: Callable[[RowView, TableRow | None, list[Publication]], T]) -> T:
        """What a step makes of the publications of a table, which are none where the table is gone."""

        def step(transaction: Transaction) -> T:
            view, now = table_now(transaction, row)
            return change(view, now, [] if now is None else publications_of(now))

        return self.transactions.run(step)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What a decision changes if the table's definition and its partitions are still what they were.

    Attributes:
        row: the table as it was.
        manifest: of the publication.
        change: of the table's partitions.
    """

    row: TableRow
    manifest: Manifest
    change: Change


def _record(transaction: Transaction, row: TableRow, batch: StreamBatch) -> None:
    """Record a batch that is decided; no other run of its query has written it.

    Raises:
        StreamConflict: another one has.
    """
    view = transaction.row(record_key(row.table_id, batch.stream))
    record = StreamRecord.decode(batch.stream, view.state)
    if record.last >= batch.number:
        raise StreamConflict(
            "another run of the query has written this batch",
            stream=batch.stream,
            batch=batch.number,
            hint="Nothing was changed. Run only one instance of a query at a time. A restarted query continues",
        )
    view.set_state(record.after(batch).encode())


def _with(
    row: TableRow, known: list[Publication], publication_id: str, change: Callable[[Publication], Publication]
) -> list[Publication]:
    """Publications of which one is changed."""
    if all(one.id != publication_id for one in known):
        raise publication_lost(row, publication_id)
    return [change(one) if one.id == publication_id else one for one in known]
