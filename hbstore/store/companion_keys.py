"""The keys of companions: rows beside those of partitions, below every name of a database.

    01 table-id                 of a table
    01 table-id cells           of a partition; where its cells are long, FF and their digest stand instead
    01 table-id FE id           of a publication: its manifest (`hbstore.store.manifest_rows`)
    01 table-id FD …            of a change, while a backup follows the table (`hbstore.transactions.noted_changes`)

No scan of a table's partitions meets them. `hbstore.store.hive.companions` says what they are, and why their keys are
these.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

from hbstore.store.table_row import DEFINITION, TableRow, table_id_of

COMPANION: Final = b"\x01"
"""What the keys of companions begin with, below every name of a database."""
_LONGEST: Final = 255
"""Bytes of cells that stand in a key as they are."""
_LONG: Final = b"\xff"


def table_companion_key(row: TableRow) -> bytes:
    """The key of a table's companion, with which the keys of its partitions' companions begin."""
    return companions_of(row.cells[DEFINITION])


def companions_of(definition: bytes) -> bytes:
    """What the keys of all companions of a table begin with, by its ``d:def`` cell."""
    return COMPANION + table_id_of(definition)


def companion_keys(row: TableRow, partition_keys: Iterable[bytes]) -> list[bytes]:
    """The keys of the companions of partitions, in the order of the partitions' keys."""
    table, start = table_companion_key(row), len(row.definition.prefix)
    trailer = 2 * len(row.definition.schema.names)
    return [table + _tail(key[start : len(key) - trailer]) for key in partition_keys]


def is_companion(key: bytes) -> bool:
    """Whether a key is a companion's."""
    return key.startswith(COMPANION)


def _tail(cells: bytes) -> bytes:
    return cells if len(cells) <= _LONGEST else _LONG + blake2b(cells, digest_size=32).digest()
