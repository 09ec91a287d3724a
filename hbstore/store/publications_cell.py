"""The cell ``i:writes`` of a table's row: the publications that are not finished. It goes with the table."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from hbstore.errors import ConcurrentChange, CorruptRow, PublicationLost
from hbstore.rows.damage import RESTORE
from hbstore.store.manifest import EXCHANGES
from hbstore.store.stream_batches import Stream, StreamBatch
from hbstore.store.table_row import TableRow
from hbstore.texts.wording import plural

_DELETING: Final = 30.0
"""Seconds for which the process that has copied a folder is taken to delete the original."""

WRITES: Final = "i:writes"


class Move(NamedTuple):
    """A folder that moves for a rename.

    Attributes:
        source: where it was.
        target: where it goes.
        folder: which one it is, where the file system can tell: `Warehouse.identity`.
        is_copied: whether it is copied before the rename is decided, and what it was copied from deleted afterwards.
    """

    source: str
    target: str
    folder: str | None = None
    is_copied: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Publication:
    """A publication that is not finished.

    Attributes:
        id: unique.
        decided: whether it will be done in any case; if not, it may still be given up.
        until: seconds since 1970; until then its job is taken to be alive.
        places: hashes of the keys of its partitions.
        batch: the batch of a stream that it is; None for others.
        move: the folder that moves for a rename; None for others. It moves before the rename is decided, which takes
            this publication away; until then the catalog names its source.
        is_removal: whether only the files of partitions that are dropped are left to be deleted. Until ``until`` one
            process is at it; nobody who reads needs it.
    """

    id: str
    decided: bool
    until: float
    places: frozenset[str]
    batch: StreamBatch | None = None
    move: Move | None = None
    is_removal: bool = False

    def __repr__(self) -> str:
        state = "decided" if self.decided else "leased"
        return f"<Publication {self.id}: {state}, {plural(len(self.places), 'partition')}>"


def has_publications(row: TableRow) -> bool:
    """Whether a table has publications that are not finished. O(1)."""
    return WRITES in row.cells


def decided_in(row: TableRow) -> list[str]:
    """The ids of what is decided and whose files are perhaps not shown. O(1) where nobody writes."""
    return [one.id for one in publications_of(row) if one.decided] if has_publications(row) else []


def publications_of(row: TableRow) -> list[Publication]:
    """The publications of a table that are not finished. O(1) where nobody writes.

    Raises:
        CorruptRow: the cell does not decode.
    """
    return publications_in(row.cells.get(WRITES), row.table)


def publications_in(content: bytes | None, table: object) -> list[Publication]:
    """The publications in a table's cell, which are none where there is no cell.

    Args:
        content: the cell.
        table: whose it is, for the error.

    Raises:
        CorruptRow: the cell does not decode.
    """
    if not content:
        return []
    try:
        document = json.loads(content)
        if isinstance(document, dict):  # as an earlier version wrote it; its leases have ended
            document = []
        return list(map(_decoded, document))
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise CorruptRow("the publications of a table cannot be decoded", table=table, hint=RESTORE) from error


def is_decided_by_earlier_version(row: TableRow) -> bool:
    """Whether an earlier version has decided a write to the table and not finished it; this one cannot."""
    with suppress(ValueError, KeyError, TypeError, IndexError):
        document = json.loads(row.cells.get(WRITES) or b"null")
        if isinstance(document, dict) and document["table"] == row.table_id.hex():
            return any(one[1] for one in document["open"])
    return False


def encoded_publications(publications: list[Publication]) -> bytes:
    """The cell of publications, empty where there are none."""
    if not publications:
        return b""
    listed = [[one.id, one.decided, one.until, sorted(one.places), *_further(one)] for one in publications]
    return json.dumps(listed, separators=(",", ":")).encode()


def check_movable(row: TableRow, mine: str | None = None) -> None:
    """See that no files are on their way: what is decided names the table and its folders.

    Args:
        row: the table's.
        mine: the publication for which its own folder moves; None: no folder does.

    Raises:
        ConcurrentChange: a write is decided and its files are not shown, partitions are being exchanged, or a folder
            moves for another rename.
    """
    under_way = [
        one
        for one in publications_of(row)
        if one.id != mine and (one.decided or one.move is not None or one.id.startswith(EXCHANGES))
    ]
    if under_way:
        raise ConcurrentChange(
            "a write to the table is decided but not finished",
            table=row.table,
            publication=under_way[0].id,
            hint=f"Nothing was changed; `hbstore repair {row.table}` finishes it. Then try again",
        )


def check_in_place(row: TableRow, *, partitions: bool = False) -> None:
    """See that the folder of a table does not move, nor, ``partitions``, that of one of its partitions.

    Raises:
        ConcurrentChange: it does, for a rename.
    """
    moves = [one for one in publications_of(row) if one.move is not None] if has_publications(row) else []
    if any(partitions or not one.places for one in moves):
        what = "a partition of the table" if moves[0].places else "the table"
        raise ConcurrentChange(
            f"{what} is being renamed", table=row.table, hint="Nothing was changed; read the table again"
        )


def without_move(row: TableRow, publication: str, places: frozenset[str] = frozenset()) -> bytes:
    """The cell of a table's publications when the rename is decided for which a folder has moved.

    The publication is gone; of a folder that was copied it is left to delete what it was copied from.

    Args:
        row: the table's.
        publication: its id.
        places: that of the partition under its old name.

    Raises:
        PublicationLost: the publication was given up, and the folder moved back.
    """
    known = publications_of(row)
    left = [one for one in known if one.id != publication]
    mine = next((one for one in known if one.id == publication), None)
    if mine is not None and mine.move is not None and mine.move.is_copied:
        until = time.time() + _DELETING
        left.append(replace(mine, decided=True, until=until, places=places, move=None, is_removal=True))
    if mine is None:
        raise PublicationLost(
            "the rename took so long that it was given up",
            table=row.table,
            publication=publication,
            hint="Nothing was changed; try again",
        )
    return encoded_publications(left)


def _decoded(document: list[Any]) -> Publication:
    id_, is_decided, until, places, *further = document
    publication = Publication(id_, bool(is_decided), float(until), frozenset(places))
    if further and isinstance(further[0], dict):
        if "removal" in further[0]:
            return replace(publication, is_removal=True)
        return replace(publication, move=Move(*further[0]["move"]))
    return replace(publication, batch=_batch(*further))


def _further(publication: Publication) -> list[object]:
    if publication.is_removal:
        return [{"removal": True}]
    return _of_batch(publication.batch) if publication.move is None else [{"move": publication.move}]


def _batch(query: str | None = None, sink: str = "", number: int = 0, digest: str = "") -> StreamBatch | None:
    return None if query is None else StreamBatch(Stream(query, sink), number, digest)


def _of_batch(batch: StreamBatch | None) -> list[object]:
    return [] if batch is None else [batch.stream.query, batch.stream.sink, batch.number, batch.digest]
