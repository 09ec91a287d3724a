"""Pages of a result, one behind the other, as FetchResults takes them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

MAX_ROWS: Final = 10_000
"""Rows of a page, whatever the client asks for."""

MAX_BYTES: Final = 8 * 2**20
"""Bytes of a page's columns in Arrow. A page has more if one batch of the result has more."""


@dataclass(slots=True)
class Cursor:
    """Where a client is in a result. One thread uses it at a time.

    Attributes:
        open: begins to read the result, from its first row on.
        row: the number of the next row, from 0 on.

    >>> cursor = Cursor(lambda: iter([pa.record_batch({"n": [1, 2, 3]}), pa.record_batch({"n": [4]})]))
    >>> cursor.page(2).to_pydict(), cursor.page(9).to_pydict(), cursor.page(9).num_rows
    ({'n': [1, 2]}, {'n': [3, 4]}, 0)
    """

    open: Callable[[], Iterator[pa.RecordBatch]]
    row: int = 0
    _batches: Iterator[pa.RecordBatch] | None = None
    _rest: pa.RecordBatch | None = None
    _none: pa.Table | None = field(default=None, repr=False)

    def page(self, rows: int) -> pa.Table:
        """The next rows; none where there are no more. It may have fewer than are asked for and be followed by others.

        Args:
            rows: how many at most; none for 0 and less.
        """
        left = max(0, min(rows, MAX_ROWS))
        parts: list[pa.RecordBatch] = []
        size = 0
        while left and size < MAX_BYTES and (batch := self._next()) is not None:
            part, self._rest = batch.slice(0, left), batch.slice(left) if batch.num_rows > left else None
            parts.append(part)
            left -= part.num_rows
            size += part.nbytes
        if not parts:
            return self._empty()
        page = pa.Table.from_batches(parts)
        self.row += page.num_rows
        return page

    def restart(self) -> None:
        """Go back to the first row."""
        self.close()
        self._batches, self._rest, self.row = None, None, 0

    def close(self) -> None:
        """Let go of the files."""
        if isinstance(self._batches, Generator):
            self._batches.close()
        self._batches, self._rest = iter(()), None

    def _next(self) -> pa.RecordBatch | None:
        """The next rows that nobody has; none that are empty."""
        rest, self._rest = self._rest, None
        if rest is not None:
            return rest
        if self._batches is None:
            self._batches = self.open()
        for batch in self._batches:
            if self._none is None:
                self._none = pa.Table.from_batches([batch.slice(0, 0)])
            if batch.num_rows:
                return batch
        return None

    def _empty(self) -> pa.Table:
        """No rows, with the result's columns."""
        if self._none is None:
            self._rest = self._next()
        return self._none if self._none is not None else pa.table({})
