"""The format number of a store: whether this version of hbstore can read what is in it.

SQLite has it in ``user_version``, HBase in the cell ``d:format`` of the catalog row ``V``; memory needs none.
"""

from __future__ import annotations

from typing import Final

from hbstore.errors import NotAStore
from hbstore.rows.interface import CatalogCell, Rows

FORMAT: Final = 6
"""Rises when rows are written that earlier versions would not understand."""

KEYS_OF_TEXTS: Final = 4
"""The first format in which each text of a value has a key of its own."""

OLDEST: Final = 3
"""The oldest format that this version takes; `hbstore.store.older_stores` gives such a store this version's."""

FORMAT_KEY: Final = b"V"
_CELL: Final = "d:format"
_RESTORING: Final = "d:restoring"
_OTHERS: Final = (b"A", b"[")
"""All catalog rows have a capital letter first."""


def check_format(number: int, place: str) -> None:
    """See that a store has a format that this version takes.

    Args:
        number: the store's.
        place: its path or URL.

    Raises:
        NotAStore: it has another one.
    """
    if OLDEST <= number <= FORMAT:
        return
    age, hint = "a newer", "The store was not changed; upgrade hbstore"
    if number < OLDEST:
        age = "an older"
        hint = (
            "The store was not changed. Serve it with the version that created it (`hbstore serve`), then copy it into "
            "a new store with this version (`hbstore import thrift://HOST:9083`)"
        )
    raise NotAStore(
        f"{age} version of hbstore created the store", store=place, version=number, supported=FORMAT, hint=hint
    )


def ensure_format(rows: Rows) -> None:
    """See that the catalog rows of a store have a format that this version takes, and put its own into a new store.

    Raises:
        NotAStore: they have another one; those of versions before 2 have no number. Or a restore was broken off there.
    """
    cells = rows.get(FORMAT_KEY) or {}
    if cells.get(_RESTORING):
        raise NotAStore(
            "a restore into the store is under way, or was broken off",
            store=rows.url,
            hint="Wait for it; if it was broken off, restore into another prefix",
        )
    number = int(cells[_CELL]) if _CELL in cells else None
    if number is None:
        has_rows = next(rows.scan_catalog(*_OTHERS), None) is not None
        number = stored_format(rows)  # another process may have created the store meanwhile
    if number is None:
        number = 1 if has_rows else FORMAT
        if not has_rows:
            store_format(rows, FORMAT)
    check_format(number, rows.url)


def stored_format(rows: Rows) -> int | None:
    """The format number in the catalog rows of a store, if it has any. One read."""
    cell = (rows.get(FORMAT_KEY) or {}).get(_CELL)
    return None if cell is None else int(cell)


def store_format(rows: Rows, number: int) -> None:
    """Put a format number into the catalog rows of a store."""
    rows.put_cells([CatalogCell(FORMAT_KEY, _CELL, b"%d" % number)], number)


def begin_restore(rows: Rows) -> None:
    """Say that the rows of a store are not all there: nobody opens it from now on."""
    rows.put_cells([CatalogCell(FORMAT_KEY, _RESTORING, b"1")], 1)


def end_restore(rows: Rows) -> None:
    """Say that they are."""
    rows.put_cells([CatalogCell(FORMAT_KEY, _RESTORING, b"")], 2)
