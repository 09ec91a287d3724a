"""The cell ``i:writes`` of a table's row: the publications that are not finished."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from hbstore.errors import CorruptRow
from hbstore.rows.damage import RESTORE
from hbstore.store.stream_batches import Stream, StreamBatch
from hbstore.store.table_row import TableRow
from hbstore.wording import plural

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


def decoded_publications(row: TableRow, content: bytes) -> list[Publication]:
    """The publications in a cell; none where they are of another table, that had this name before."""
    if not content:
        return []
    try:
        document = json.loads(content)
        if document["table"] != row.table_id.hex():
            return []
        return [
            Publication(one[0], bool(one[1]), float(one[2]), frozenset(one[3]), _batch(*one[4:]))
            for one in document["open"]
        ]
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise CorruptRow("the publications of a table cannot be decoded", table=row.table, hint=RESTORE) from error


def encoded_publications(row: TableRow, publications: list[Publication]) -> bytes:
    """The cell of publications, empty where there are none."""
    if not publications:
        return b""
    listed = [[one.id, one.decided, one.until, sorted(one.places), *_of_batch(one.batch)] for one in publications]
    return json.dumps({"table": row.table_id.hex(), "open": listed}, separators=(",", ":")).encode()


def _batch(query: str | None = None, sink: str = "", number: int = 0, digest: str = "") -> StreamBatch | None:
    return None if query is None else StreamBatch(Stream(query, sink), number, digest)


def _of_batch(batch: StreamBatch | None) -> list[object]:
    return [] if batch is None else [batch.stream.query, batch.stream.sink, batch.number, batch.digest]
