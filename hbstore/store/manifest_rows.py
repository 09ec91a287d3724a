"""The rows of manifests: what each publication of a table does, as long as it is in the table's cell ``i:writes``.

They are companions of the table, ``01 table-id FE id``: they go along when it is renamed, and go when it is dropped.
"""

from __future__ import annotations

import zlib
from typing import Final

from hbstore.errors import CorruptRow, InvalidInput
from hbstore.model.objects import Table
from hbstore.rows.damage import RESTORE
from hbstore.store.companion_keys import table_companion_key
from hbstore.store.table_row import TableRow

MAX_MANIFEST: Final = 8 * 1024 * 1024
_MANIFEST: Final = b"\xfe"
"""No cell of a partition's key begins with it."""


def manifests_of(row: TableRow) -> bytes:
    """What the keys of all manifests of a table begin with."""
    return table_companion_key(row) + _MANIFEST


def manifest_key(row: TableRow, publication_id: str) -> bytes:
    """The key of what a publication of a table does."""
    return manifests_of(row) + publication_id.encode()


def packed_manifest(table: Table, manifest: bytes) -> bytes:
    """A manifest as it is stored.

    Raises:
        InvalidInput: it is too large.
    """
    packed = zlib.compress(manifest)
    if len(packed) > MAX_MANIFEST:
        raise InvalidInput(
            "the publication lists too many files",
            table=table,
            bytes=len(packed),
            limit=MAX_MANIFEST,
            hint="Write fewer and larger files, or in several jobs",
        )
    return packed


def unpacked_manifest(table: Table, packed: bytes) -> bytes:
    """The manifest of `packed_manifest`'s bytes.

    Raises:
        CorruptRow: they are not.
    """
    try:
        return zlib.decompress(packed)
    except zlib.error as error:
        raise CorruptRow("a publication cannot be decoded", table=table, hint=RESTORE) from error
