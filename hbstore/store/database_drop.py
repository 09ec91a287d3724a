"""Databases that are being dropped: the mark in their definition, and the rows that go with them.

Where a drop is no transaction, the mark takes the place of the definition by compare-and-put. From then on nobody sees
the database; what belonged to it is removed, then the mark. Who wants the name meanwhile does that first.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from hbstore.rows.interface import Rows
from hbstore.store.table_row import DEFINITION, database_key
from hbstore.transactions.log import LOG, Log

_MARK: Final = b"\0"
"""No definition begins so: the first byte of a struct is the type of its first field."""
_ID: Final = 8


@dataclass(frozen=True, slots=True)
class DatabaseDrop:
    """The mark of a drop.

    Attributes:
        id: random bytes, which no other drop has.
        definition: what the definition was, as long as a table that turns up stops the drop; empty: it is decided.
    """

    id: bytes
    definition: bytes = b""

    @classmethod
    def new(cls, definition: bytes = b"") -> DatabaseDrop:
        """The mark of another drop."""
        return cls(os.urandom(_ID), definition)

    @classmethod
    def of(cls, cell: bytes | None) -> DatabaseDrop | None:
        """The mark in the definition of a database; None if there is none."""
        if not cell or not cell.startswith(_MARK):
            return None
        return cls(cell[1 : 1 + _ID], cell[1 + _ID :])

    def encode(self) -> bytes:
        """What stands in the definition."""
        return _MARK + self.id + self.definition


def defined(cell: bytes | None) -> bool:
    """Whether the definition of a database says that it is there."""
    return bool(cell) and DatabaseDrop.of(cell) is None


def definition_cell(rows: Rows, name: str) -> bytes:
    """What stands in the definition of a database; nothing where it was never there, or is dropped."""
    return (rows.get(database_key(name)) or {}).get(DEFINITION, b"")


def belongings(rows: Rows, name: str) -> Iterator[tuple[bytes, bytes]]:
    """The rows of a database's functions and documents, and of what is granted on it and its tables, with their logs.

    A row whose state is empty is none of them.
    """
    start = name.encode()
    found = [(b"G" + start, rows.get(b"G" + start) or {})]
    scans = [rows.scan_catalog(kind + start + b"\0", kind + start + b"\1") for kind in (b"F", b"M", b"G")]
    for row, cells in chain(found, *scans):
        if Log.decode(cells.get(LOG)).state:
            yield row, cells[LOG]


def remove_belonging(rows: Rows, row: bytes, cell: bytes) -> None:
    """Empty the state of a row of `belongings`, if its log is still what was read."""
    log = Log.decode(cell)
    rows.compare_and_put(row, LOG, cell, replace(log, sequence=log.sequence + 1, state=b"").encode())
