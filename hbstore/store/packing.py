"""Packing the partitions that an earlier version wrote whole: the rows of new ones are packed as they are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from hbstore.errors import CorruptRow, DatabaseNotFound, TableNotFound
from hbstore.keys.row_key import split_key, successor
from hbstore.rows.interface import PartitionRow
from hbstore.store.table_row import TABLE_KEYS, TableRow, names_of
from hbstore.store.tables import Tables
from hbstore.transactions.templates import number_of, values_size
from hbstore.transactions.transaction import Transaction
from hbstore.transactions.unpacked_rows import stored

_AT_ONCE: Final = 1_000
"""Partitions that one transaction packs."""


def pack_store(tables: Tables) -> int:
    """Pack the partitions of all tables of a store; how many. O(partitions)."""
    packed = 0
    for key in [key for key, _ in tables.transactions.rows.scan_catalog(*TABLE_KEYS)]:
        with suppress(DatabaseNotFound, TableNotFound, CorruptRow):  # dropped meanwhile; `hbstore check` names damage
            packed += pack_partitions(tables, tables.open(*names_of(key)))
    return packed


def pack_partitions(tables: Tables, row: TableRow) -> int:
    """Pack the rows of a table's partitions that are whole; how many. O(partitions).

    What a process that dies on the way has packed stays so, and the next one goes on.
    """
    for commit in row.log.commits:  # what is decided may not be written yet
        tables.transactions.roll_forward(row.key, commit)
    packed, start = 0, row.definition.prefix
    while keys := list(islice(_whole(tables, row, start), _AT_ONCE)):
        packed += _pack(tables, row, keys)
        start = keys[-1] + b"\0"
    return packed


def _whole(tables: Tables, row: TableRow, start: bytes) -> Iterator[bytes]:
    """The keys of partitions that are not packed and can be."""
    for batch in stored(tables.transactions.rows).scan(start, successor(row.definition.prefix)):
        for key, payload in batch:
            if number_of(payload) is None and values_size(payload):
                yield key


def _pack(tables: Tables, row: TableRow, keys: Sequence[bytes]) -> int:
    def pack(transaction: Transaction) -> int:
        view, now = tables.view(transaction, row.table.database, row.table.name)
        width = len(now.definition.schema.names)
        puts = []
        for key, payload in view.existing(keys).items():
            with suppress(CorruptRow):  # a damaged key: its row stays as it is
                puts.append(PartitionRow(key, tuple(split_key(key, width)[1]), payload))
        view.write(puts, ())
        return len(puts)

    return tables.transactions.run(pack)
