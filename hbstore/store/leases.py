"""Leases: which publications a new one takes partitions from, and which are in the way of it or of a change."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Final

from hbstore.errors import WriteConflict
from hbstore.files.locations import location_or_none
from hbstore.keys.partition_names import partition_name
from hbstore.model.structs import partition_from_payload
from hbstore.rows.interface import PartitionRow
from hbstore.store.changes import Change
from hbstore.store.companion_keys import is_companion
from hbstore.store.manifest import EXCHANGES, TRUNCATIONS
from hbstore.store.publications_cell import Publication, has_publications, publications_of
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
        moves_table = other.move is not None and not other.places
        if not (shared or own or moves_table):
            continue
        if other.decided or other.move is not None or (not own and other.until > time.time()):
            raise _conflict(row, other, sorted(names[place] for place in shared))
        dead.append(other.id)
    return dead


def check_unwritten(row: TableRow, change: Change, stored: Mapping[bytes, bytes], mine: str | None = None) -> None:
    """See that no files are on their way into partitions that a change drops, adds or gives another location.

    O(1) where nobody writes.

    Args:
        row: the table.
        change: what is to be done.
        stored: the payloads that are there, by keys.
        mine: what the id of the publication begins with that does it; None for other changes.

    Raises:
        WriteConflict: a job is writing one of them, its folder moves for a rename, or its files are being deleted.
    """
    if not has_publications(row):
        return
    gone = {key: stored[key] for key in change.deletes if key in stored and not is_companion(key)}
    moved = {put.key: put.payload for put in change.puts if _moves(put, stored.get(put.key))}
    new = {put.key: put.payload for put in change.puts if put.key not in stored and not is_companion(put.key)}
    for other in publications_of(row):
        if mine is not None and other.id.startswith(mine):
            continue
        # A job that has decided nothing finds partitions that are new when it does. An exchange that moves folders
        # leaves those of partitions that were given other locations where they are.
        touched = {
            **gone,
            **({} if other.id.startswith(EXCHANGES) else moved),
            **(new if other.decided or other.move is not None else {}),
        }
        names = {place_of(row, key): payload for key, payload in touched.items()}
        shared = names.keys() & other.places
        if shared:
            columns = row.table.partition_column_names
            values = [partition_from_payload(names[place]).values for place in shared]
            raise _conflict(row, other, sorted(partition_name(columns, one) for one in values))


def check_no_writes(row: TableRow, names: Mapping[str, str]) -> None:
    """See that no files are on their way into partitions or, where none is named, into the table, and no folder moves.

    Args:
        row: the table.
        names: the names of the partitions by their places.

    Raises:
        WriteConflict: files are, or a folder does.
    """
    for other in publications_of(row):
        shared = sorted(names[place] for place in names.keys() & other.places)
        is_under_way = other.decided or other.until > time.time() or other.id.startswith(EXCHANGES)
        if other.move is not None or shared or (is_under_way and not names):
            raise _conflict(row, other, shared)


def check_no_deletions(row: TableRow) -> None:
    """See that no process deletes files of the table's partitions: of those that were dropped, or are truncated.

    It would go on where the next table of this name has its files: with the table its record is gone.

    Raises:
        WriteConflict: one does.
    """
    for other in publications_of(row):
        if (other.is_removal or other.id.startswith(TRUNCATIONS)) and other.until > time.time():
            raise WriteConflict(
                "files of partitions that were dropped, or are truncated, are being deleted",
                table=row.table,
                publication=other.id,
                hint="Nothing was changed; try again when that is done",
            )


def _moves(put: PartitionRow, before: bytes | None) -> bool:
    """Whether a row gives a partition that is there another location."""
    if before is None or is_companion(put.key) or put.payload == before:
        return False
    old, new = partition_from_payload(before).location, partition_from_payload(put.payload).location
    return old != new and location_or_none(old) != location_or_none(new)


def _conflict(row: TableRow, other: Publication, shared: list[str]) -> WriteConflict:
    """The error for a publication that is in the way: it has some of the partitions, or an earlier batch, or all."""
    nothing = "Nothing was changed; "
    partitions = {"partition": shared[0], "partitions": len(shared)} if shared else {}
    fields = {"table": row.table, **partitions, "publication": other.id, "decided": other.decided}
    if other.move is not None:
        what = "a partition of the table" if other.places else "the table"
        hint = f"{nothing}try again when that is done"
        return WriteConflict(f"{what} is being renamed", **fields, folder=other.move.source, hint=hint)
    if other.batch is not None and not shared:
        text = "an earlier batch of the stream is not finished"
        hint = f"{nothing}finish that batch with `hbstore repair {row.table}`"
        return WriteConflict(text, batch=other.batch.number, **fields, hint=hint)
    hint = f"try again when that job is done, or, if it is dead, after `hbstore repair {row.table}`"
    text = "another job is writing the same partitions" if shared else "a job is writing partitions of the table"
    return WriteConflict(text, **fields, hint=nothing + hint)


def place_of(row: TableRow, key: bytes) -> str:
    """A partition in a publication: the hash of its cells, which a rename of the table leaves as they are."""
    schema = row.definition.schema
    cells = key[len(schema.prefix) : len(key) - 2 * len(schema.names)]
    return blake2b(cells, digest_size=_HASH).hexdigest()
