"""A table's partition rows as the store reads them: each is the struct that was written (`templates.py`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final, cast

from hbstore.errors import CorruptRow
from hbstore.rows.interface import Cells, PartitionRow, Rows, StoredRow
from hbstore.rows.predicate import Predicate
from hbstore.transactions.log import LOG, Log
from hbstore.transactions.templates import ID, NO_TEMPLATES, TEMPLATES, Templates, number_of, unpacked_with

COMPANION: Final = b"\x01"
"""What the keys of companion rows begin with, below those of all partitions; they are never packed."""


def unpacked(rows: Rows, row: bytes, cells: Cells) -> Rows:
    """The rows of a backend for one table, whose partitions are the structs that were written.

    Args:
        rows: the backend.
        row: the key of the table's row.
        cells: what was read of it.
    """
    return cast("Rows", UnpackedRows(rows, row, templates_in(cells)))


def templates_in(cells: Cells) -> Templates:
    """The templates in a table's row; none where they are damaged, so that it can be looked at and dropped."""
    with suppress(CorruptRow):
        return Templates.of(cells.get(TEMPLATES))
    return NO_TEMPLATES


class UnpackedRows:
    """`Rows` whose reads of one table's partitions give whole structs; all else is the backend's.

    Where a partition came with a template that is newer than what was read of the table's row, that is read again.

    Args:
        stored: the backend.
        row: the key of the table's row.
        templates: those that were read of it.
    """

    __slots__ = ("_row", "_stored", "_templates", "_unknown")

    def __init__(self, stored: Rows, row: bytes, templates: Templates) -> None:
        self._stored = stored
        self._row = row
        self._templates = templates
        self._unknown: set[bytes] = set()

    def __repr__(self) -> str:
        return f"<UnpackedRows {self._row!r} of {self._stored!r}>"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stored, name)

    def multi_get(self, keys: Sequence[bytes]) -> list[StoredRow]:
        """As of `Rows`."""
        return self._rows(self._stored.multi_get(keys))

    def scan(
        self, start: bytes, stop: bytes, residual: Predicate | None = None, limit: int | None = None
    ) -> Iterator[Sequence[StoredRow]]:
        """As of `Rows`."""
        for batch in self._stored.scan(start, stop, residual, limit):
            yield self._rows(batch)

    def payloads(
        self, start: bytes, stop: bytes, residual: Predicate | None = None, limit: int | None = None
    ) -> Iterator[Sequence[bytes]]:
        """As of `Rows`."""
        for batch in self._stored.payloads(start, stop, residual, limit):
            yield self._payloads(batch)

    def whole_rows(self, start: bytes, stop: bytes) -> Iterator[PartitionRow]:
        """As of `Rows`."""
        for row in self._stored.whole_rows(start, stop):
            yield row if row.key.startswith(COMPANION) else row._replace(payload=self._payloads((row.payload,))[0])

    def _rows(self, rows: Sequence[StoredRow]) -> list[StoredRow]:
        """Rows in key order."""
        if not rows:
            return []
        keys, payloads = zip(*rows, strict=True)
        if not keys[0].startswith(COMPANION):
            return list(zip(keys, self._payloads(payloads), strict=True))
        return [row if row[0].startswith(COMPANION) else (row[0], self._payloads((row[1],))[0]) for row in rows]

    def _payloads(self, payloads: Iterable[bytes]) -> list[bytes]:
        """Payloads of partitions. O(bytes), some 1.5 µs for each that is packed."""
        if self._templates.epochs.current:
            return [self._of_epochs(payload) for payload in payloads]
        texts = self._templates.texts
        whole = []
        for payload in payloads:
            size = payload[-1] if payload else 0  # as of `number_of`, written out for those that are known
            text = texts.get(payload[size : size + ID]) if size else None
            if text is not None:
                whole.append(unpacked_with(text, payload))
            else:
                whole.append(self._of_epochs(payload) if size else payload)
        return whole

    def _of_epochs(self, payload: bytes) -> bytes:
        """The payload of a partition that may be of an earlier epoch, or of one that came since the row was read."""
        number = number_of(payload)
        is_later = payload[-1:] == b"\1" if number is None else number not in self._templates.texts
        if is_later and self._templates.epoch_of(payload) is None:
            self._read_again(number or payload[-5:])
        return self._templates.unpacked(payload)

    def _read_again(self, mark: bytes) -> None:
        """Read the table's row for a template, or an epoch, that is not known; once for each that it does not have."""
        if mark not in self._unknown:
            self._unknown.add(mark)
            cells = self._stored.get(self._row) or {}
            with suppress(CorruptRow):
                self._templates = templates_in(Log.decode(cells.get(LOG)).overlaid(cells))
