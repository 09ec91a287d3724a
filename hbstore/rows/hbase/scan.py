"""Range scans: batches of rows, read on after a failure, with no connection held while the caller is busy."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from hbstore.rows.hbase.failures import DECLARED, FAILURES
from hbstore.rows.hbase.link import Link
from hbstore.rows.hbase.pool import Pool, Repeat
from hbstore.rows.hbase.wire import FoundRow, get_row, open_scanner, read_scanner

FIRST_BATCH: Final = 1_000
MAX_BATCH: Final = 10_000
BATCH_BYTES: Final = 8 << 20
"""Both ends hold a batch in memory, so large rows come in smaller batches."""
_STEP: Final = 1_000
"""Rows in one reply: while one is read here, the gateway fetches those of the next."""
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

    def batches(self) -> Generator[list[FoundRow]]:
        """The rows, in batches that are never empty."""
        size = min(self.page or self.first, self.first)
        try:
            while self.start < self.stop:
                prefer = self._scanner.link if self._scanner else None
                rows = self.pool.run(partial(self._fetch, size), Repeat.READ, prefer)
                if rows:
                    self.start = rows[-1][0] + b"\x00"
                    yield rows
                if len(rows) < size:
                    return
                size = next_size(rows)
        finally:
            self._leave()

    def _fetch(self, size: int, link: Link) -> list[FoundRow]:
        """A batch from the scanner of this connection, or from a new one. A short batch is the last."""
        scanner, self._scanner = self._scanner, None
        if scanner is None or scanner.link is not link:
            if scanner is not None:
                scanner.link.orphans.append(scanner.number)
            caching = min(self.page or MAX_BATCH, MAX_BATCH)
            link.send(open_scanner(self.table, self.start, self.stop, self.columns, self.filter, caching))
            scanner = _Scanner(link, link.replies.number())
        try:
            rows = self._read(scanner, size)
        except FAILURES:
            link.orphans.append(scanner.number)
            raise
        if len(rows) < size or (self.page is not None and size >= self.page):
            link.orphans.append(scanner.number)  # at its end, so that it holds nothing but its number
        else:
            self._scanner = scanner
        return rows

    def _read(self, scanner: _Scanner, size: int) -> list[FoundRow]:
        """So many rows, or all that are left. All calls are sent at once, and their replies read one by one."""
        link = scanner.link
        steps = [min(_STEP, size - at) for at in range(0, size, _STEP)]
        link.send(*(read_scanner(scanner.number, step) for step in steps))
        rows: list[FoundRow] = []
        pending = len(steps)
        try:
            while pending:
                self._wait(link)
                pending -= 1
                rows += link.replies.rows()
        except DECLARED:
            for _ in range(pending):
                with contextlib.suppress(*DECLARED):
                    link.replies.rows()
            raise
        return rows

    def _wait(self, link: Link) -> None:
        """A filter that matches nothing in millions of rows makes a long silence, which is not a failure.

        So before the timeout is over, HBase is asked for one row on another connection, and while it answers that
        the scan may go on.
        """
        timeout = self.pool.address.timeout
        while self.filter is not None and not link.answered(timeout * _PATIENCE):
            if not self.pool.lonely(self._one_row, timeout * (1 - _PATIENCE)):
                raise TimeoutError("timed out")
            link.until(time.monotonic() + timeout)

    def _one_row(self, link: Link) -> object:
        link.send(get_row(self.table, self.start or b"\x00", self.columns and self.columns[:1]))
        return link.replies.rows()

    def _leave(self) -> None:
        """Close the scanner of a scan that was not read to its end."""
        scanner, self._scanner = self._scanner, None
        if scanner is None:
            return
        scanner.link.orphans.append(scanner.number)
        if not self.pool.borrow(scanner.link):
            return
        try:
            scanner.link.send()
        except FAILURES:
            self.pool.drop(scanner.link)
        except BaseException:
            self.pool.drop(scanner.link)
            raise
        else:
            self.pool.hand_back(scanner.link)


def next_size(rows: Sequence[FoundRow]) -> int:
    """How many rows to ask for next, by the size of these."""
    sample = rows[:: max(1, len(rows) // _SAMPLE)]
    size = sum(len(key) + sum(len(value) + 20 for value in cells.values()) for key, cells in sample)
    return max(1, min(MAX_BATCH, BATCH_BYTES * len(sample) // max(size, 1)))
