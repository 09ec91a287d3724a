"""Older stores: partitions whose keys an earlier version made get the keys that this one makes of their values.

Up to format 3 a respelled value had the value's own key, such as ``05`` in an int column, or was kept as a text that no
comparison selects, such as ``9.0``. Such partitions move to their new keys, some in each transaction. Only then the
store says that it has this version's format; so nobody asks a store that is half moved, and where a process dies on the
way the next one goes on.

Since format 5 the rows of partitions are packed (`hbstore.transactions.templates`), since 6 a table's keys may begin
with another name than its own. Both are read, so nothing has to be written; `hbstore upgrade` packs what there is
(`packing.py`). Only a drop or rename that an earlier version decided and did not finish is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Final

from hbstore.errors import (
    ConcurrentChange,
    CorruptRow,
    DatabaseNotFound,
    InvalidPartitionValue,
    NotAStore,
    StoreReadOnly,
    TableNotFound,
)
from hbstore.keys.row_key import row_key, successor
from hbstore.model.structs import partition_values
from hbstore.rows.format_number import FORMAT, KEYS_OF_TEXTS
from hbstore.rows.interface import PartitionRow
from hbstore.store.changes import Change
from hbstore.store.companion_keys import companion_keys
from hbstore.store.publications_cell import is_decided_by_earlier_version
from hbstore.store.puts import cells_of, partition_key
from hbstore.store.table_row import TABLE_KEYS, TableRow, check_same_table, names_of
from hbstore.store.tables import Tables
from hbstore.store.writer import write_change
from hbstore.transactions.log import LOG, Log
from hbstore.transactions.payloads import get_payload
from hbstore.transactions.transaction import Transaction

_ALL: Final = (b"A", b"[")
"""All catalog rows have a capital letter first."""
_AT_ONCE: Final = 1_000
"""Partitions that one transaction moves."""


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What became of a store when this version opened it.

    Attributes:
        before: the number of its format.
        after: the same now; the one before where nothing had to move and the store can only be read.
        moved: partitions that have other keys now.
    """

    before: int
    after: int
    moved: int = 0


def bring_up(tables: Tables) -> Upgrade:
    """Give a store that an earlier version made this version's format; nothing where it has that. O(partitions)."""
    rows = tables.transactions.rows
    before, moved = rows.format_number(), 0
    if before == FORMAT:
        return Upgrade(before, before)
    for _, cells in rows.scan_catalog(*_ALL, (LOG,)):
        with suppress(CorruptRow):  # `hbstore check` names what is damaged
            for commit in Log.decode(cells.get(LOG)).commits:
                get_payload(rows, commit.primary, commit.id)
    opened: list[TableRow] = []
    for key in [key for key, _ in rows.scan_catalog(*TABLE_KEYS)]:
        with suppress(DatabaseNotFound, TableNotFound, CorruptRow):
            opened.append(tables.open(*names_of(key)))
    for row in opened:
        if is_decided_by_earlier_version(row):
            raise NotAStore(
                "an earlier version of hbstore made the store, and has decided a write that it did not finish",
                table=row.table,
                hint="Nothing was changed; run `hbstore repair` of that version, and open the store with this one then",
            )
    for row in opened if before < KEYS_OF_TEXTS else ():
        with suppress(DatabaseNotFound, TableNotFound, ConcurrentChange, CorruptRow):
            moved += rekey(tables, row)
    with suppress(StoreReadOnly):  # nothing had to move, so it can be read as it is
        rows.set_format_number(FORMAT)
    return Upgrade(before, rows.format_number(), moved)


def rekey(tables: Tables, row: TableRow) -> int:
    """Move the partitions of a table that have an earlier version's keys to their own; how many. O(partitions).

    Raises:
        TableNotFound, DatabaseNotFound: the table was dropped or renamed meanwhile.
        ConcurrentChange: it was, and another table has its name now, to which its partitions do not belong.
    """
    for commit in row.log.commits:  # what is decided may not be written yet
        tables.transactions.roll_forward(row.key, commit)
    moved, start = 0, row.definition.prefix
    while stale := list(islice(_stale(tables, row, start), _AT_ONCE)):
        moved += _move(tables, row, stale)
        start = stale[-1] + b"\0"
    return moved


def _stale(tables: Tables, row: TableRow, start: bytes) -> Iterator[bytes]:
    """The keys of partitions that have other keys now; those of damaged ones stay."""
    types = row.definition.schema.types
    if all(column_type.name == "string" for column_type in types):  # any text is a value of it, and its own spelling
        return
    for batch in row.unpacked(tables.transactions.rows).scan(start, successor(row.definition.prefix)):
        for key, payload in batch:
            with suppress(CorruptRow, InvalidPartitionValue):
                if partition_key(row, partition_values(payload)) != key:
                    yield key


def _move(tables: Tables, row: TableRow, keys: Sequence[bytes]) -> int:
    """Move some partitions, with all that is known about them; one that is under its own key, too, stays only there."""

    def move(transaction: Transaction) -> int:
        view, now = tables.view(transaction, row.table.database, row.table.name)
        check_same_table(now, row)
        definition, columns = now.definition, now.definition.time_columns
        stored = view.existing(keys)
        places = {}
        for key, payload in stored.items():
            cells = cells_of(definition, partition_values(payload), "keep")
            places[key] = PartitionRow(row_key(definition.prefix, cells), cells, payload)
        taken = view.existing(place.key for place in places.values())
        moving = {key: place for key, place in places.items() if place.key not in taken}
        companions = view.existing(companion_keys(now, places))
        puts, deletes = list(moving.values()), [*places, *companions]
        new_keys = companion_keys(now, [place.key for place in puts])
        for key, new_key in zip(companion_keys(now, moving), new_keys, strict=True):
            if key in companions:
                puts.append(PartitionRow(new_key, (), companions[key]))
        times = (
            {}
            if columns is None
            else {place.key: columns.stored_times(place.cells, place.payload) for place in moving.values()}
        )
        present = {key: partition_values(place.payload) for key, place in places.items()}
        write_change(view, now, Change(tuple(puts), tuple(sorted(deletes)), present=present, times=times))
        return len(places)

    return tables.transactions.run(move)
