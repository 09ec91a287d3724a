"""Publications: writes of files and partitions that are to be seen as one.

A job that writes files first *leases* the partitions that it writes, then prepares its files where nobody sees them,
then the publication is *decided*: from that moment it will be done, by the job or by the next process. Two jobs that
lease one partition are told so. All of a table's publications stand in one cell of its row, ``i:writes``, so that
leasing and deciding are one compare-and-put each; what a publication does stands in a row of its own, ``W db 00 table
00 id``.

An exchange of partitions with their files (`hbstore.publishing.exchanger`) leases them in both tables the same way.

A batch of a stream is decided with the number and the digest that it has: they stand in the cell until the publication
is shown, and in the stream's record (`hbstore.store.stream_batches`) before it is taken off.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Final, TypeVar

from hbstore.errors import ConcurrentChange, CorruptRow, InvalidInput, PublicationLost, WriteConflict
from hbstore.rows.damage import RESTORE
from hbstore.rows.interface import CatalogCell
from hbstore.store.publications_cell import WRITES, Publication, decoded_publications, encoded_publications
from hbstore.store.stream_batches import Stream, StreamBatch, StreamRecord, record_key
from hbstore.store.table_row import DEFINITION, TableRow
from hbstore.store.tables import Tables
from hbstore.transactions.outcome import decided
from hbstore.transactions.transaction import Transaction
from hbstore.transactions.transactions import Transactions

T = TypeVar("T")
MAX_MANIFEST: Final = 8 * 1024 * 1024
_HASH: Final = 8


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
    ) -> list[str]:
        """Lease partitions for a publication that is about to be prepared.

        What another run of the same stream has leased it loses at once: a query runs once at a time, so that it is
        dead, or will find that its lease is gone.

        Args:
            row: the table.
            publication_id: unique.
            partitions: their names by their keys, which need not be there.
            manifest: what the publication does, for the process that finishes it.
            until: seconds since 1970 at which the job may be taken for dead.
            batch: the batch of a stream that it is.

        Returns:
            The ids of publications of dead jobs that held some of these, and have lost them.

        Raises:
            WriteConflict: another job is writing one of them, or was and has to be finished first (``decided``), as an
                earlier batch of the same stream has.
            InvalidInput: the manifest is too large.

        >>> key = sales.plan("ds = '2013-01-09' and hour = 0").get_plans()[0].start.key
        >>> row, names = store.table_row("shop", "sales"), {key: "ds=2013-01-09/hour=0"}
        >>> store.publications.lease(row, "7", names, b"what it does", until=4e9)
        []
        >>> store.publications.lease(row, "8", names, b"", until=4e9)
        Traceback (most recent call last):
        hbstore.errors.WriteConflict: another job is writing the same partitions: ...
        """
        packed = zlib.compress(manifest)
        if len(packed) > MAX_MANIFEST:
            raise InvalidInput(
                "the publication lists too many files",
                table=row.table,
                bytes=len(packed),
                limit=MAX_MANIFEST,
                hint="Write fewer and larger files, or in several jobs",
            )
        names = {_place(row, key): name for key, name in partitions.items()}
        mine = Publication(publication_id, decided=False, until=until, places=frozenset(names), batch=batch)
        self.transactions.rows.put_cells([CatalogCell(_manifest_key(row, publication_id), DEFINITION, packed)], 1)

        def leased(publications: list[Publication]) -> tuple[list[Publication], list[str]]:
            dead = []
            for other in publications:
                shared = mine.places & other.places
                own = batch is not None and other.batch is not None and batch.stream == other.batch.stream
                if not (shared or own):
                    continue
                if other.decided or (not own and other.until > time.time()):
                    raise _conflict(row, other, sorted(names[place] for place in shared))
                dead.append(other.id)
            return [*(publication for publication in publications if publication.id not in dead), mine], dead

        try:
            return self._change(row, leased)
        except WriteConflict:
            self.forget_manifest(row, publication_id)
            raise

    def row(self, database: str, table: str) -> TableRow:
        """A table's row as it is now. One read, O(1).

        >>> store.publications.row("shop", "sales")
        <TableRow shop.sales>
        """
        return self.tables.open(database, table)

    def extend(self, row: TableRow, publication_id: str, until: float) -> None:
        """Say that the job is alive.

        Raises:
            PublicationLost: the job was taken for dead, and another one has its partitions.

        >>> publications, row = store.publications, store.table_row("shop", "sales")
        >>> publications.lease(row, "7", {}, b"what it does", until=4e9)
        []
        >>> publications.extend(row, "7", until=5e9)
        """
        self._replace(row, publication_id, lambda one: replace(one, until=until))

    def decide(self, row: TableRow, publication_id: str) -> None:
        """Decide a publication whose files are prepared.

        Raises:
            PublicationLost: the job was taken for dead, and another one has its partitions.

        >>> publications, row = store.publications, store.table_row("shop", "sales")
        >>> publications.lease(row, "7", {}, b"what it does", until=4e9)
        []
        >>> publications.decide(row, "7")
        >>> sorted(publications.decided(publications.row("shop", "sales")))
        ['7']
        """
        self._replace(row, publication_id, lambda one: replace(one, decided=True))

    def take_over(self, row: TableRow, publication_id: str, until: float) -> bool:
        """Become the one who finishes a publication, unless somebody is at it; whether it is so.

        >>> publications, row = store.publications, store.table_row("shop", "sales")
        >>> publications.lease(row, "7", {}, b"what it does", until=0.0)
        []
        >>> publications.take_over(row, "7", until=4e9), publications.take_over(row, "7", until=4e9)
        (True, False)
        """

        def taken(known: list[Publication]) -> tuple[list[Publication] | None, bool]:
            if not any(one.id == publication_id and one.until < time.time() for one in known):
                return None, False
            return [replace(one, until=until) if one.id == publication_id else one for one in known], True

        return self._change(row, taken)

    def batches(self, row: TableRow, stream: Stream) -> StreamRecord:
        """The batches of a stream that are decided, those that are not yet shown as well. Two rows are read.

        What is no more in the first was recorded before, so that the second has it.

        >>> from hbstore.publishing import Stream
        >>> store.publications.batches(store.table_row("shop", "sales"), Stream("4e5f", "shop.sales")).last
        -1
        """
        publications = self.of(self.tables.open(row.table.database, row.table.name))
        decided = [one.batch for one in publications if one.decided and one.batch is not None]
        record = StreamRecord.decode(stream, self.transactions.state(record_key(row.table_id, stream)))
        for batch in decided:
            if batch.stream == stream:
                record = record.after(batch)
        return record

    def record(self, row: TableRow, batch: StreamBatch) -> None:
        """Record a batch that is decided, before its publication is closed; again changes nothing.

        >>> from hbstore.publishing import Stream, StreamBatch
        >>> row, batch = store.table_row("shop", "sales"), StreamBatch(Stream("4e5f", "shop.sales"), 7, "a1")
        >>> store.publications.record(row, batch)
        >>> store.publications.batches(row, batch.stream).last
        7
        """

        def recorded(state: bytes) -> tuple[bytes | None, None]:
            before = StreamRecord.decode(batch.stream, state)
            after = before.after(batch)
            return (None if after == before else after.encode()), None

        self.transactions.change_state(record_key(row.table_id, batch.stream), recorded)

    def close(self, row: TableRow, publication_id: str) -> None:
        """Forget a publication that is done.

        >>> publications, row = store.publications, store.table_row("shop", "sales")
        >>> publications.lease(row, "7", {}, b"what it does", until=4e9)
        []
        >>> publications.close(row, "7")
        >>> publications.of(publications.row("shop", "sales"))
        []
        """
        self._change(row, lambda known: ([one for one in known if one.id != publication_id], None))
        with decided("the publication is forgotten, but perhaps not what it did", publication=publication_id):
            self.forget_manifest(row, publication_id)

    def withdraw(self, row: TableRow, publication_id: str) -> bool:
        """Take a publication's partitions from it, unless it is decided; whether it is not. Its manifest stays.

        >>> publications, row = store.publications, store.table_row("shop", "sales")
        >>> publications.lease(row, "7", {}, b"what it does", until=4e9)
        []
        >>> publications.withdraw(row, "7"), publications.manifest(row, "7")
        (True, b'what it does')
        """

        def withdrawn(known: list[Publication]) -> tuple[list[Publication] | None, bool]:
            if any(one.id == publication_id and one.decided for one in known):
                return None, False
            return [one for one in known if one.id != publication_id], True

        return self._change(row, withdrawn)

    def of(self, row: TableRow) -> list[Publication]:
        """The publications of a table that are not finished, as its row says. Nothing is read.

        >>> publications, row = store.publications, store.table_row("shop", "sales")
        >>> publications.lease(row, "7", {}, b"what it does", until=4e9)
        []
        >>> [(one.id, one.decided) for one in publications.of(publications.row("shop", "sales"))]
        [('7', False)]
        """
        return decoded_publications(row, row.cells.get(WRITES, b""))

    def decided(self, row: TableRow) -> frozenset[str]:
        """The ids of publications that are decided and not shown yet. O(1) where nobody writes.

        >>> store.publications.decided(store.table_row("shop", "sales"))
        frozenset()
        """
        return frozenset(one.id for one in self.of(row) if one.decided)

    def check_none_decided(self, row: TableRow) -> None:
        """See that nothing is decided that is not shown, as what is decided names the table and its folders.

        Raises:
            ConcurrentChange: something is.

        >>> store.publications.check_none_decided(store.table_row("shop", "sales"))
        """
        if self.decided(row):
            raise ConcurrentChange(
                "a write to the table is decided but not finished",
                table=row.table,
                hint=f"`hbstore repair {row.table}` or the next reader of the table finishes it; then try again",
            )

    def manifest(self, row: TableRow, publication_id: str) -> bytes | None:
        """What a publication does; None where it is finished, or given up.

        Raises:
            CorruptRow: the manifest does not decode.

        >>> publications, row = store.publications, store.table_row("shop", "sales")
        >>> publications.lease(row, "7", {}, b"what it does", until=4e9)
        []
        >>> publications.manifest(row, "7")
        b'what it does'
        """
        cells = self.transactions.rows.get(_manifest_key(row, publication_id)) or {}
        packed = cells.get(DEFINITION)
        if not packed:
            return None
        try:
            return zlib.decompress(packed)
        except zlib.error as error:
            raise CorruptRow(
                "a publication cannot be decoded", table=row.table, publication=publication_id, hint=RESTORE
            ) from error

    def forget_manifest(self, row: TableRow, publication_id: str) -> None:
        """Remove the row of a manifest.

        >>> publications, row = store.publications, store.table_row("shop", "sales")
        >>> publications.lease(row, "7", {}, b"what it does", until=4e9)
        []
        >>> publications.forget_manifest(row, "7")
        >>> publications.manifest(row, "7") is None
        True
        """
        self.transactions.rows.remove_row(_manifest_key(row, publication_id))

    def _replace(self, row: TableRow, publication_id: str, change: Callable[[Publication], Publication]) -> None:
        def replaced(publications: list[Publication]) -> tuple[list[Publication], None]:
            if all(publication.id != publication_id for publication in publications):
                raise PublicationLost(
                    "the lease of this job ended, and another job took its partitions",
                    table=row.table,
                    publication=publication_id,
                    hint="Nothing was changed; write again",
                )
            return [
                change(publication) if publication.id == publication_id else publication for publication in publications
            ], None

        self._change(row, replaced)

    def _change(self, row: TableRow, change: Callable[[list[Publication]], tuple[list[Publication] | None, T]]) -> T:
        def step(transaction: Transaction) -> T:
            view = transaction.row(row.key)
            publications, result = change(decoded_publications(row, view.cells.get(WRITES, b"")))
            if publications is not None:
                view.put_cell(WRITES, encoded_publications(row, publications))
            return result

        return self.transactions.run(step)


def _conflict(row: TableRow, other: Publication, shared: list[str]) -> WriteConflict:
    """The error for a publication that is in the way: it has some of the partitions, or is an earlier batch."""
    if shared:
        return WriteConflict(
            "another job is writing the same partitions",
            table=row.table,
            partition=shared[0],
            partitions=len(shared),
            publication=other.id,
            decided=other.decided,
            hint="Nothing was changed; write again when that job is done",
        )
    return WriteConflict(
        "an earlier batch of the stream is decided and not finished",
        table=row.table,
        batch=None if other.batch is None else other.batch.number,
        publication=other.id,
        decided=other.decided,
        hint=f"Nothing was changed; finish that batch with `hbstore repair {row.table}`",
    )


def _place(row: TableRow, key: bytes) -> str:
    """A partition in a publication: the hash of its cells, which a rename of the table leaves as they are."""
    schema = row.definition.schema
    cells = key[len(schema.prefix) : len(key) - 2 * len(schema.names)]
    return blake2b(cells, digest_size=_HASH).hexdigest()


def _manifest_key(row: TableRow, publication_id: str) -> bytes:
    return b"W" + row.key[1:] + b"\x00" + publication_id.encode()
