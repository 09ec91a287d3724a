"""What the logs of the catalog say of its databases, tables and documents: when each changed last, and what is open.

One scan reads two small cells of each row. Nobody is waited for and nothing is finished: a change that its process has
not brought to an end may show with the next look only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from hbstore.rows.interface import Rows
from hbstore.store.documents import DOCUMENT_KEYS
from hbstore.store.publications_cell import WRITES, Publication, publications_in
from hbstore.store.table_row import DATABASE_KEYS, TABLE_KEYS
from hbstore.transactions.identity import began_at, holder_of
from hbstore.transactions.log import LOG, Log

_RANGES: Final = (DATABASE_KEYS, TABLE_KEYS, DOCUMENT_KEYS)
_KINDS: Final = {b"D": "database", b"T": "table"}


@dataclass(frozen=True, slots=True)
class CatalogObject:
    """A database, a table or a document, as the log of its row tells of it.

    Attributes:
        kind: ``database``, ``table``, or the kind of a document, such as ``fact``.
        names: its database's name, and behind it its own.
        log: of its row.
        publications: those of a table that are not finished.
    """

    kind: str
    names: Sequence[str]
    log: Log
    publications: Sequence[Publication] = ()

    @property
    def name(self) -> str:
        """Its whole name.

        >>> CatalogObject("table", ("shop", "sales"), Log()).name
        'shop.sales'
        """
        return ".".join(self.names)

    @property
    def is_there(self) -> bool:
        """Whether it was not dropped; a log outlives its object."""
        return bool(self.log.state)

    @property
    def changed_at(self) -> int | None:
        """When its last change began, in seconds since 1970; None where the log does not say.

        >>> CatalogObject("table", ("shop", "sales"), Log(last="1732500000/lake1/4711/5e0f")).changed_at
        1732500000
        """
        with suppress(ValueError):  # nothing has changed yet, or the log is damaged
            return began_at(self.log.last)
        return None

    @property
    def changed_by(self) -> str | None:
        """The process that made its last change, for people; None where the log does not say.

        >>> CatalogObject("table", ("shop", "sales"), Log(last="1732500000/lake1/4711/5e0f")).changed_by
        'process 4711 on lake1'
        """
        with suppress(ValueError):
            return holder_of(self.log.last)
        return None


def catalog_objects(rows: Rows, ranges: Sequence[tuple[bytes, bytes]] = _RANGES) -> Iterator[CatalogObject]:
    """The databases, tables and documents of a store, also those that were dropped. A scan of each range, O(objects).

    Args:
        rows: those of the store.
        ranges: of the keys of the objects that are looked at.

    Raises:
        StoreUnavailable: the store does not answer.
        CorruptRow: a row cannot be read.

    >>> [(seen.kind, seen.name) for seen in catalog_objects(store.rows)]
    [('database', 'shop'), ('table', 'shop.sales')]
    """
    for start, stop in ranges:
        for key, cells in rows.scan_catalog(start, stop, (LOG, WRITES)):
            parts = key[1:].decode(errors="replace").split("\0")
            kind = _KINDS.get(key[:1]) or parts.pop(1 if len(parts) > 1 else 0)  # documents have theirs in their keys
            publications = publications_in(cells.get(WRITES), table=".".join(parts))
            yield CatalogObject(kind, tuple(parts), Log.decode(cells.get(LOG)), tuple(publications))
