"""Range scans: batches of rows, read on after a failure, with no connection held while the caller is busy."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from hbstore.rows.hbase_failures import DECLARED, FAILURES
from hbstore.rows.hbase_idl import TScan
from hbstore.rows.hbase_link import Link
from hbstore.rows.hbase_pool import Kind, Pool

FIRST_BATCH: Final = 1_000
MAX_BATCH: Final = 10_000
BATCH_BYTES: Final = 8 << 20
"""Both ends hold a batch in memory, so large rows come in smaller batches."""
_SAMPLE: Final = 20
_PATIENCE: Final = 0.75
"""The part of the timeout after which a silent scan is asked about."""


@dataclass(slots=True)
class _Scanner:
    """A scanner in the gateway. Its number means something on its own connection only."""

    link: Link
    number: int


@dataclass(slots=True)
class RangeScan:
    """A scan of one table's rows with start <= key < stop.

    Between two batches the connection goes back to the pool. The scanner in the gateway is read on if its connection is
    still free afterwards, else a new one starts behind the last row: the way in which a scan survives a failure too.

    Attributes:
        pool: where connections come from.
        table: the HBase table.
        start: the first key that was not returned yet.
        stop: the key after the last.
        columns: those to return; all if None.
        filter: a filter string, if any.
        page: rows that are wanted at most; None for all.
        first: rows in the first batch at most.
    """

    pool: Pool
    table: bytes
    start: bytes
    stop: bytes
    columns: list[bytes] | None
    filter: bytes | None = None
    page: int | None = None
    first: int = FIRST_BATCH
    _scanner: _Scanner | None = None

    def batches(self) -> Generator[list[Any]]:
        """The rows, in batches that are never empty."""
        size = min(self.page or self.first, self.first)
        try:
            while self.start < self.stop:
                prefer = self._scanner.link if self._scanner else None
                rows = self.pool.run(partial(self._fetch, size), Kind.READ, prefer)
                if rows:
                    self.start = rows[-1].row + b"\x00"
                    yield rows
                if len(rows) < size:
                    return
                size = next_size(rows)
        finally:
            self._leave()

    def _fetch(self, size: int, link: Link) -> list[Any]:
        """A batch from the scanner of this connection, or from a new one. A short batch is the last."""
        scanner, self._scanner = self._scanner, None
        if scanner is None or scanner.link is not link:
            if scanner is not None:
                scanner.link.orphans.append(scanner.number)
            while link.orphans:
                _close(link, link.orphans.pop())
            scan = TScan(
                startRow=self.start,
                stopRow=self.stop,
                columns=self.columns,
                caching=min(self.page or MAX_BATCH, MAX_BATCH),
                filterString=self.filter,
            )
            scanner = _Scanner(link, link.client.scannerOpenWithScan(self.table, scan, {}))
        try:
            rows = self._read(scanner, size)
        except FAILURES:
            link.orphans.append(scanner.number)
            raise
        if len(rows) < size or (self.page is not None and size >= self.page):
            _close(link, scanner.number)
        else:
            self._scanner = scanner
        return rows

    def _read(self, scanner: _Scanner, size: int) -> list[Any]:
        """A filter that matches nothing in millions of rows makes a long silence, which is not a failure.

        So before the timeout is over, HBase is asked for one row on another connection, and while it answers that
        the scan may go on.
        """
        link, timeout = scanner.link, self.pool.address.timeout
        link.client._send("scannerGetList", id=scanner.number, nbRows=size)  # noqa: SLF001
        while self.filter is not None and not link.answered(timeout * _PATIENCE):
            if not self.pool.lonely(self._one_row, timeout * (1 - _PATIENCE)):
                raise TimeoutError("timed out")
            link.until(time.monotonic() + timeout)
        rows: list[Any] = link.client._recv("scannerGetList")  # noqa: SLF001
        return rows

    def _one_row(self, link: Link) -> object:
        return link.client.getRowWithColumns(self.table, self.start or b"\x00", [b"k:0"], {})

    def _leave(self) -> None:
        """Close the scanner of a scan that was not read to its end."""
        scanner, self._scanner = self._scanner, None
        if scanner is None:
            return
        if not self.pool.borrow(scanner.link):
            scanner.link.orphans.append(scanner.number)
            return
        try:
            _close(scanner.link, scanner.number)
        except FAILURES:
            self.pool.drop(scanner.link)
        except BaseException:
            self.pool.drop(scanner.link)
            raise
        else:
            self.pool.hand_back(scanner.link)


def next_size(rows: Sequence[Any]) -> int:
    """How many rows to ask for next, by the size of these."""
    sample = rows[:: max(1, len(rows) // _SAMPLE)]
    size = sum(len(row.row) + sum(len(cell.value) + 20 for cell in row.columns.values()) for row in sample)
    return max(1, min(MAX_BATCH, BATCH_BYTES * len(sample) // max(size, 1)))


def _close(link: Link, number: int) -> None:
    """Close a scanner; one that has expired meanwhile is closed already."""
    with contextlib.suppress(*DECLARED):
        link.client.scannerClose(number)
