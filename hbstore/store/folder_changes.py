"""Folders that move for a rename, and partitions that are dropped with their files: each is a publication of its own.

While a folder moves nothing else of the table does; what is dropped stays noted until its files are deleted. Both stand
among the table's publications (`hbstore.store.publications`), so that whatever writes there sees them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hbstore.errors import ConcurrentChange
from hbstore.files.locations import location_or_none
from hbstore.keys.partition_names import partition_name
from hbstore.model.objects import PartitionValues
from hbstore.model.structs import partition_from_payload
from hbstore.rows.interface import PartitionRow
from hbstore.store.leases import check_no_writes, place_of
from hbstore.store.manifest import Manifest
from hbstore.store.manifest_rows import manifest_key, packed_manifest
from hbstore.store.publication_change import drop_change, written_keys
from hbstore.store.publication_steps import put_publications, table_gone, table_now
from hbstore.store.publications_cell import Move, Publication, check_in_place, publications_of
from hbstore.store.puts import partition_key, texts_of
from hbstore.store.table_row import TableRow
from hbstore.store.writer import write_change
from hbstore.transactions.transaction import RowView, Transaction
from hbstore.transactions.transactions import Transactions


@dataclass(frozen=True, slots=True, repr=False)
class FolderChanges:
    """The steps that note a change of folders in a table's row, and the change with it.

    Attributes:
        transactions: those of the rows where the tables are.

    >>> store.folder_changes
    <FolderChanges of memory://>
    """

    transactions: Transactions

    def __repr__(self) -> str:
        return f"<FolderChanges of {self.transactions.rows.url}>"

    def begin_move(
        self,
        row: TableRow,
        publication_id: str,
        move: Move,
        until: float,
        partitions: Sequence[PartitionValues] = (),
        manifest: Manifest | None = None,
    ) -> None:
        """Note that a folder of a table is about to move for a rename: none else of the table moves meanwhile.

        Args:
            row: the table.
            publication_id: unique.
            move: the folder.
            until: seconds since 1970 at which the process may be taken for dead.
            partitions: the values that the partition has and gets whose folder it is; none: it is the table's.
            manifest: what is to be deleted when the rename is decided, where the folder is copied.

        Raises:
            WriteConflict: files are on their way into it, or another folder of the table moves.
            ConcurrentChange: it is elsewhere, the table or partition was dropped or renamed, or there is one with the
                values that it gets.

        >>> from dataclasses import replace
        >>> store.create_table(replace(sales.definition, name="local", location="file:/data/local"))
        >>> row = store.table_row("shop", "local")
        >>> from hbstore.store.publications_cell import Move
        >>> store.folder_changes.begin_move(row, "7", Move("file:/data/local", "file:/data/sold"), until=4e9)
        >>> [one.move.target for one in store.publications.of(store.publications.row("shop", "local"))]
        ['file:/data/sold']
        """
        columns = row.table.partition_column_names
        named = [texts_of(row, one) for one in partitions]
        keys = [partition_key(row, one) for one in named]
        places = {place_of(row, key): partition_name(columns, one) for key, one in zip(keys, named, strict=True)}
        packed = None if manifest is None else packed_manifest(row.table, manifest.encode())

        def begin(transaction: Transaction) -> None:
            view, now = table_now(transaction, row)
            if now is None:
                raise table_gone(row)
            check_no_writes(now, places)
            _check_is_at(view, now, move.source, keys)
            mine = Publication(publication_id, decided=False, until=until, places=frozenset(places), move=move)
            if packed is not None:
                view.write([PartitionRow(manifest_key(now, publication_id), (), packed)], [])
            put_publications(view, now, [*publications_of(now), mine])

        self.transactions.run(begin)

    def drop(
        self,
        row: TableRow,
        manifest: Manifest,
        expected: Mapping[tuple[str | None, ...], bytes | None],
        until: float,
    ) -> None:
        """Drop partitions, and note that their files are to be deleted. O(its partitions).

        Args:
            row: the table.
            manifest: which partitions, and where their files are.
            expected: stored bytes by values that partitions must still have.
            until: seconds since 1970 until which this process deletes the files.

        Raises:
            PartitionNotFound: one is not there.
            WriteConflict: a job is writing one of them.
            ConcurrentChange: one is elsewhere or not as expected, or the table was dropped or renamed.
            InvalidInput: they are too many. After all of these nothing was changed.

        >>> from hbstore.publishing import Manifest, PartitionWrite
        >>> row = store.table_row("shop", "sales")
        >>> drop = PartitionWrite(("2013-01-01", "5"), "s3://shop/sales/ds=2013-01-01/hour=5", drop=True)
        >>> store.folder_changes.drop(row, Manifest("7", "", (drop,)), {}, until=4e9)
        >>> sales.names("ds = '2013-01-01' and hour = 5"), len(store.publications.of(store.table_row("shop", "sales")))
        ([], 1)
        """
        packed = packed_manifest(row.table, manifest.encode())

        def drop(transaction: Transaction) -> None:
            view, now = table_now(transaction, row)
            if now is None:
                raise table_gone(row)
            check_in_place(now)
            view.seen_at_once = len(manifest.partitions) > 1
            write_change(view, now, drop_change(now, manifest, view.existing, expected))
            view.write([PartitionRow(manifest_key(now, manifest.id), (), packed)], [])
            places = frozenset(place_of(now, key) for key in written_keys(now, manifest))
            mine = Publication(manifest.id, decided=True, until=until, places=places, is_removal=True)
            put_publications(view, now, [*publications_of(now), mine])

        self.transactions.run(drop)

    def take_removal(self, row: TableRow, publication_id: str, until: float) -> bool:
        """Let this process delete the files of what a publication has dropped, as the only one, until a time.

        Returns:
            Whether it may: others are not at it, or are taken for dead, and it is decided and not finished.

        >>> row = store.table_row("shop", "sales")
        >>> store.folder_changes.take_removal(row, "7", until=4e9)
        False
        """

        def take(transaction: Transaction) -> bool:
            view, now = table_now(transaction, row)
            publications = [] if now is None else publications_of(now)
            mine = next((one for one in publications if one.id == publication_id), None)
            if mine is None or not mine.decided or (mine.is_removal and mine.until > time.time()):
                return False
            taken = replace(mine, is_removal=True, until=until)
            put_publications(view, now, [taken if one is mine else one for one in publications])
            return True

        return self.transactions.run(take)


def _check_is_at(view: RowView, now: TableRow, source: str, keys: Sequence[bytes]) -> None:
    """See that a folder is that of the table or, with keys, of the partition with the first, and that none has another.

    Raises:
        ConcurrentChange: it is not, or one has.
    """
    location = now.table.location or source  # a table without one is where its name says
    there = view.existing(keys)
    if keys:
        payload = there.pop(keys[0], None)
        location = "" if payload is None else partition_from_payload(payload).location or ""
    if there or location_or_none(location) != location_or_none(source):
        hint = "Nothing was changed; read it again"
        text = "what is to be renamed is elsewhere or gone, or the new name is taken"
        raise ConcurrentChange(text, table=now.table, folder=source, hint=hint)
