"""The cell ``i:writes`` of a table's row: the publications that are not finished. It goes with the table."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from hbstore.errors import ConcurrentChange, CorruptRow
from hbstore.rows.damage import RESTORE
from hbstore.store.manifest import EXCHANGES
from hbstore.store.stream_batches import Stream, StreamBatch
from hbstore.store.table_row import TableRow
from hbstore.texts.wording import plural

WRITES: Final = "i:writes"


@dataclass(frozen=True, slots=True, repr=False)
class Publication:
    """A publication that is not finished.

    Attributes:
        id: unique.
        decided: whether it will be done in any case; if not, it may still be given up.
        until: seconds since 1970; until then its job is taken to be alive.
        places: hashes of the keys of its partitions.
        batch: the batch of a stream that it is; None for others.
    """

    id: str
    decided: bool
    until: float
    places: frozenset[str]
    batch: StreamBatch | None = None

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
        return [
            Publication(one[0], bool(one[1]), float(one[2]), frozenset(one[3]), _batch(*one[4:])) for one in document
        ]
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
    listed = [[one.id, one.decided, one.until, sorted(one.places), *_of_batch(one.batch)] for one in publications]
    return json.dumps(listed, separators=(",", ":")).encode()


def check_movable(row: TableRow) -> None:
    """See that no files are on their way: what is decided names the table and its folders.

    Raises:
        ConcurrentChange: a write is decided and its files are not shown, or partitions are being exchanged.
    """
    under_way = [one for one in publications_of(row) if one.decided or one.id.startswith(EXCHANGES)]
    if under_way:
        raise ConcurrentChange(
            "a write to the table is decided but not finished",
            table=row.table,
            publication=under_way[0].id,
            hint=f"Nothing was changed; `hbstore repair {row.table}` finishes it. Then try again",
        )


def _batch(query: str | None = None, sink: str = "", number: int = 0, digest: str = "") -> StreamBatch | None:
    return None if query is None else StreamBatch(Stream(query, sink), number, digest)


def _of_batch(batch: StreamBatch | None) -> list[object]:
    return [] if batch is None else [batch.stream.query, batch.stream.sink, batch.number, batch.digest]
