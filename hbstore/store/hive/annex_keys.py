"""The keys of annexes: rows beside those of partitions, below every name of a database.

    01 incarnation              of a table
    01 incarnation cells        of a partition; where its cells are long, FF and their digest stand instead

No scan of a table's partitions meets them. `hbstore.store.hive.annexes` says what they are and why they are found so.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

from hbstore.store.changes import ANNEX
from hbstore.store.table_row import DEFINITION, TableRow, incarnation_of

_LONGEST: Final = 255
"""Bytes of cells that stand in a key as they are."""
_LONG: Final = b"\xff"


def table_annex_key(row: TableRow) -> bytes:
    """The key of a table's annex, with which the keys of its partitions' annexes begin."""
    return annexes_of(row.cells[DEFINITION])


def annexes_of(definition: bytes) -> bytes:
    """What the keys of all annexes of a table begin with, by its ``d:def`` cell."""
    return ANNEX + incarnation_of(definition)


def annex_keys(row: TableRow, partition_keys: Iterable[bytes]) -> list[bytes]:
    """The keys of the annexes of partitions, in the order of the partitions' keys that are given."""
    table, start = table_annex_key(row), len(row.definition.prefix)
    trailer = 2 * len(row.definition.schema.names)
    return [table + _tail(key[start : len(key) - trailer]) for key in partition_keys]


def is_annex(key: bytes) -> bool:
    """Whether a key is an annex's."""
    return key.startswith(ANNEX)


def _tail(cells: bytes) -> bytes:
    return cells if len(cells) <= _LONGEST else _LONG + blake2b(cells, digest_size=32).digest()
