"""Leases: which publications a new one takes partitions from, and which are in its way."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Final

from hbstore.errors import WriteConflict
from hbstore.store.publications_cell import Publication
from hbstore.store.table_row import TableRow

_HASH: Final = 8


def displaced(row: TableRow, known: Iterable[Publication], new: Publication, names: Mapping[str, str]) -> list[str]:
    """The ids of publications of dead jobs that lose their partitions to a new one.

    Args:
        row: the table.
        known: its publications.
        new: the new one.
        names: the names of its partitions, by their places.

    Raises:
        WriteConflict: one of a living job is in its way, or one that is decided.
    """
    dead = []
    for other in known:
        shared = new.places & other.places
        own = new.batch is not None and other.batch is not None and new.batch.stream == other.batch.stream
        if not (shared or own):
            continue
        if other.decided or (not own and other.until > time.time()):
            raise _conflict(row, other, sorted(names[place] for place in shared))
        dead.append(other.id)
    return dead


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


def place_of(row: TableRow, key: bytes) -> str:
    """A partition in a publication: the hash of its cells, which a rename of the table leaves as they are."""
    schema = row.definition.schema
    cells = key[len(schema.prefix) : len(key) - 2 * len(schema.names)]
    return blake2b(cells, digest_size=_HASH).hexdigest()
