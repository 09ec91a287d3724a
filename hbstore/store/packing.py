"""Writing partitions anew as they are now: those that an earlier version wrote whole, and those of earlier epochs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from hbstore.errors import ConcurrentChange, CorruptRow, DatabaseNotFound, TableNotFound
from hbstore.keys.row_key import split_key, successor
from hbstore.rows.interface import PartitionRow
from hbstore.store.table_row import (
    DEFINITION,
    TABLE_KEYS,
    TableRow,
    check_same_table,
    id_and_version,
    names_of,
    renewed_definition,
)
from hbstore.store.tables import Tables
from hbstore.transactions.templates import TEMPLATES, Templates, number_of, values_size
from hbstore.transactions.transaction import Transaction
from hbstore.transactions.unpacked_rows import templates_in

_AT_ONCE: Final = 1_000
"""Partitions that one transaction packs."""


def pack_store(tables: Tables) -> int:
    """Pack the partitions of all tables of a store, and write those of earlier epochs anew; how many. O(partitions)."""
    packed = 0
    for key in [key for key, _ in tables.transactions.rows.scan_catalog(*TABLE_KEYS)]:
        # Dropped, renamed or replaced meanwhile; `hbstore check` names damage.
        with suppress(DatabaseNotFound, TableNotFound, ConcurrentChange, CorruptRow):
            packed += pack_partitions(tables, tables.open(*names_of(key)))
    return packed


def rewrite_earlier(tables: Tables, database: str, name: str) -> None:
    """Write a table's partitions of earlier epochs anew, if these are many. O(partitions) once in many epochs."""
    row = tables.open(database, name)
    if templates_in(row.cells).are_many:
        with suppress(ConcurrentChange):  # of the table that has the name now they may be few
            pack_partitions(tables, row)


def pack_partitions(tables: Tables, row: TableRow) -> int:
    """Write the rows of a table's partitions anew that are whole, or of an earlier epoch; how many. O(partitions).

    What a process that dies on the way has packed stays so, and the next one goes on.

    Raises:
        TableNotFound, DatabaseNotFound: the table was dropped or renamed meanwhile.
        ConcurrentChange: it was, and another table has its name now, to whose epochs its rows do not belong.
    """
    for commit in row.log.commits:  # what is decided may not be written yet
        tables.transactions.roll_forward(row.key, commit)
    templates = templates_in(row.cells)
    packed, left, start = 0, 0, row.definition.prefix
    while keys := list(islice(_stale(tables, row, templates, start), _AT_ONCE)):
        written = _pack(tables, row, keys)
        packed, left, start = packed + written, left + len(keys) - written, keys[-1] + b"\0"
    if not left and templates.epochs != templates.epochs.rewritten():
        _forget(tables, row)
    return packed


def _stale(tables: Tables, row: TableRow, templates: Templates, start: bytes) -> Iterator[bytes]:
    """The keys of partitions that are not packed and can be, or were written in an earlier epoch."""
    current = templates.epochs.current
    for batch in tables.transactions.rows.scan(start, successor(row.definition.prefix)):
        for key, payload in batch:
            epoch = templates.epoch_of(payload)
            if (epoch is not None and epoch < current) or (number_of(payload) is None and values_size(payload)):
                yield key


def _pack(tables: Tables, row: TableRow, keys: Sequence[bytes]) -> int:
    def pack(transaction: Transaction) -> int:
        view, now = tables.view(transaction, row.table.database, row.table.name)
        check_same_table(now, row)
        width = len(now.definition.schema.names)
        puts = []
        for key, payload in view.existing(keys).items():
            with suppress(CorruptRow):  # a damaged key: its row stays as it is
                puts.append(PartitionRow(key, tuple(split_key(key, width)[1]), payload))
        view.write(puts, ())
        return len(puts)

    return tables.transactions.run(pack)


def _forget(tables: Tables, row: TableRow) -> None:
    """Forget the epochs before the one that a table had when all of its rows were written anew."""

    def forget(transaction: Transaction) -> None:
        view, now = tables.view(transaction, row.table.database, row.table.name)
        before = now.cells[DEFINITION]
        if id_and_version(before) == id_and_version(row.cells[DEFINITION]):  # what is written meanwhile is of it, too
            view.put_cell(TEMPLATES, Templates.of(view.cells.get(TEMPLATES)).rewritten().encode())
            # Another version: who has read rows before they were written anew reads them again.
            view.put_cell(DEFINITION, renewed_definition(before, now.key, now.table))

    tables.transactions.run(forget)
