"""The rows of a backend as the store reads them: each partition is the struct that was written (`templates.py`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, cast

from hbstore.byte_cache import ByteCache
from hbstore.errors import CorruptRow
from hbstore.rows.interface import Cells, PartitionRow, Rows, StoredRow
from hbstore.rows.predicate import Predicate
from hbstore.transactions.log import LOG, Log
from hbstore.transactions.templates import ID, NO_TEMPLATES, TEMPLATES, Templates, number_of, unpacked_with

COMPANION: Final = b"\x01"
"""What the keys of companion rows begin with, below those of all partitions; they are never packed."""

_CACHE_BYTES: Final = 16 << 20


def row_of_prefix(prefix: bytes) -> bytes:
    r"""The key of the table's row, by what the keys of its partitions begin with.

    >>> row_of_prefix(b"shop\0sales\0")
    b'Tshop\x00sales'
    """
    return b"T" + prefix[:-1]


def prefix_of_row(key: bytes) -> bytes | None:
    r"""What the keys of a table's partitions begin with; None if the row is no table's.

    >>> prefix_of_row(b"Tshop\0sales"), prefix_of_row(b"Dshop")
    (b'shop\x00sales\x00', None)
    """
    return key[1:] + b"\0" if key.startswith(b"T") else None


def unpacked(rows: Rows) -> Rows:
    """The rows as the store reads them, and as any change writes them."""
    return rows if isinstance(rows, UnpackedRows) else cast("Rows", UnpackedRows(rows))


def stored(rows: Rows) -> Rows:
    """The rows as the backend has them."""
    return rows.stored if isinstance(rows, UnpackedRows) else rows


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class UnpackedRows:
    """`Rows` whose reads give whole structs; all else is the backend's.

    A template that a row names is read with the table's row where it is not kept in memory yet. Its number never means
    another one, so what is kept is true for good.

    Attributes:
        stored: the backend.
    """

    stored: Rows
    _templates: ByteCache = field(default_factory=lambda: ByteCache(_CACHE_BYTES))

    def __repr__(self) -> str:
        return repr(self.stored)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stored, name)

    def get(self, key: bytes) -> Cells | None:
        """As of `Rows`. A table's row is read before its partitions, so their templates are there then."""
        cells = self.stored.get(key)
        if cells and TEMPLATES in cells and self._templates.get(key) is None:
            self._keep(key, templates_in(cells))
        return cells

    def multi_get(self, keys: Sequence[bytes]) -> list[StoredRow]:
        """As of `Rows`."""
        return self._rows(self.stored.multi_get(keys))

    def scan(
        self, start: bytes, stop: bytes, residual: Predicate | None = None, limit: int | None = None
    ) -> Iterator[Sequence[StoredRow]]:
        """As of `Rows`."""
        for batch in self.stored.scan(start, stop, residual, limit):
            yield self._rows(batch)

    def payloads(
        self, start: bytes, stop: bytes, residual: Predicate | None = None, limit: int | None = None
    ) -> Iterator[Sequence[bytes]]:
        """As of `Rows`."""
        prefix = _prefix(start)
        for batch in self.stored.payloads(start, stop, residual, limit):
            yield self._payloads(prefix, batch)

    def whole_rows(self, start: bytes, stop: bytes) -> Iterator[PartitionRow]:
        """As of `Rows`."""
        for row in self.stored.whole_rows(start, stop):
            yield row._replace(payload=self._payloads(_prefix(row.key), (row.payload,))[0])

    def _rows(self, rows: Sequence[StoredRow]) -> list[StoredRow]:
        """Rows of tables in key order."""
        if not rows:
            return []
        keys, payloads = zip(*rows, strict=True)
        prefix = _prefix(keys[0])
        if keys[-1].startswith(prefix):
            return list(zip(keys, self._payloads(prefix, payloads), strict=True))
        return [(key, self._payloads(_prefix(key), (payload,))[0]) for key, payload in rows]

    def _payloads(self, prefix: bytes, payloads: Iterable[bytes]) -> list[bytes]:
        """Payloads of one table. O(bytes), some 1.5 µs for each that is packed."""
        if prefix.startswith(COMPANION):
            return list(payloads)
        texts: dict[bytes, bytes] = self._templates.get(row_of_prefix(prefix), NO_TEMPLATES).texts
        missing: set[bytes] = set()
        whole = []
        for payload in payloads:
            size = payload[-1] if payload else 0  # as `number_of`, written out for those that are known
            text = texts.get(payload[size : size + ID]) if size else None
            if text is None and (number := number_of(payload)) is not None and number not in missing:
                texts = self._read(prefix).texts
                text = texts.get(number)
                missing.update({number} - texts.keys())
            whole.append(payload if text is None else unpacked_with(text, payload))
        return whole

    def _read(self, prefix: bytes) -> Templates:
        """The templates of a table as they are now: those of what is decided are among them."""
        row = row_of_prefix(prefix)
        cells = self.stored.get(row) or {}
        templates = templates_in(Log.decode(cells.get(LOG)).overlaid(cells))
        self._keep(row, templates)
        return templates

    def _keep(self, row: bytes, templates: Templates) -> None:
        self._templates.put(row, templates, len(row) + sum(map(len, templates.texts.values())) + 1_000)


def templates_in(cells: Cells) -> Templates:
    """The templates in a table's row; none where they are damaged, so that it can be looked at and dropped."""
    with suppress(CorruptRow):
        return Templates.of(cells.get(TEMPLATES))
    return NO_TEMPLATES


def _prefix(key: bytes) -> bytes:
    """The names before a key's cells; all of it where there are none."""
    return key[: key.find(b"\0", key.find(b"\0") + 1) + 1] or key
