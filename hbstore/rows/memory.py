"""Ordered rows in memory: two sorted dictionaries and a lock.

For tests, examples and short-lived catalogs. With ``memory://?atomic=false`` the same rows behave as HBase's do: no
transactions, no snapshots, and writes ordered by their sequence numbers, so that what `hbstore.transactions` makes of
such rows can be tested without HBase.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any, Final, NoReturn

from sortedcontainers import SortedDict

from hbstore.errors import InvalidUrl, StoreUnavailable, not_picklable
from hbstore.model.name_lists import lay_out
from hbstore.rows.format_number import FORMAT
from hbstore.rows.interface import TIMELINES, CatalogCell, Cells, Costs, PartitionRow, StoredRow
from hbstore.rows.predicate import ALWAYS, Predicate, columns_of, matcher
from hbstore.rows.urls import StoreUrl

# Measured with 100,000 rows of 777 bytes: a scan of one row, 200 keys at once, all rows, and a residual on an int.
_COSTS: Final = Costs(seek=3e-6, get=2e-7, read=2e-7, check=5e-7)
_BATCH: Final = 1000
"""Rows looked at under one hold of the lock."""


class _State:
    """All rows at one moment; a writer that meets a pinned state changes a copy."""

    __slots__ = ("catalog", "partitions", "pins")

    def __init__(self, catalog: Any, partitions: Any) -> None:
        self.catalog = catalog  # SortedDict: key -> dict of cells, never changed in place
        self.partitions = partitions  # SortedDict: key -> PartitionRow
        self.pins = 0


class _Thread(threading.local):
    """What belongs to one thread: its snapshot, whether it is in a transaction, its requests."""

    pinned: _State | None = None
    changing = False
    requests = 0


class MemoryRows:
    """`Rows` in this process; threads may share it.

    >>> rows = MemoryRows()
    >>> rows.write([PartitionRow(b"b", (), b"2"), PartitionRow(b"a", (), b"1")], [], sequence=1)
    >>> list(rows.scan(b"a", b"z"))
    [[(b'a', b'1'), (b'b', b'2')]]
    """

    def __init__(self, url: str = "memory://", *, atomic: bool = True) -> None:
        self._url = url
        self._atomic = atomic
        self._format_number = FORMAT
        self._lock = threading.RLock()
        self._state: _State | None = _State(SortedDict(), SortedDict())
        self._sequences: dict[bytes, int] = {}
        self._cell_sequences: dict[tuple[bytes, str], int] = {}
        self._undo: list[tuple[Any, Sequence[bytes], dict[bytes, Any]]] = []
        """For each write of a transaction: the rows that it changes, the keys that were not there, and what was."""
        self._thread = _Thread()

    def __repr__(self) -> str:
        return f"<MemoryRows {self.url}>"

    def __reduce__(self) -> NoReturn:
        raise not_picklable(self.url, "hbstore.connect")

    @property
    def url(self) -> str:
        """What `connect` was given."""
        return self._url

    @property
    def atomic(self) -> bool:
        """True, unless it plays HBase."""
        return self._atomic

    @property
    def costs(self) -> Costs:
        """Measured on this backend."""
        return _COSTS

    def format_number(self) -> int:
        """This version's: nobody else made the rows, unless told so."""
        return self._format_number

    def set_format_number(self, number: int) -> None:
        """Say that all rows have a format now."""
        self._format_number = number

    def doubt(self) -> str | None:
        """None: there is no file that somebody copies."""
        return None

    def settle_doubt(self) -> None:
        """Nothing to do."""

    def keep_reserve(self) -> None:
        """Nothing: the rows are on no disk of this machine that hbstore could keep room on."""

    def use_reserve(self) -> bool:
        """False: there is none."""
        return False

    def give_back(self) -> None:
        """Nothing to do."""

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside happens at once or not at all; other threads wait, readers too."""
        if not self._atomic:
            raise RuntimeError("a backend that is not atomic has no transactions")
        if self._thread.changing or self._thread.pinned:
            raise RuntimeError("a transaction cannot begin within another transaction or a snapshot")
        with self._lock:
            self._current()
            self._thread.changing = True
            try:
                yield
            except BaseException:
                for rows, new, before in reversed(self._undo):
                    for key in new:
                        rows.pop(key, None)
                    rows.update(before)
                raise
            finally:
                self._thread.changing = False
                self._undo.clear()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Reads inside see one state; writers are not held up, the first of them copies the rows. O(1) otherwise."""
        if not self._atomic or self._thread.changing or self._thread.pinned:
            yield
            return
        with self._lock:
            state = self._current()
            state.pins += 1
        self._thread.pinned = state
        try:
            yield
        finally:
            self._thread.pinned = None
            with self._lock:
                state.pins -= 1

    def get(self, key: bytes) -> Cells | None:
        """The cells of a catalog row. O(1)."""
        with self._lock:
            row = self._read().catalog.get(key)
            return None if row is None else _without_timelines(row) or None

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, Cells]:
        """The cells of some catalog rows."""
        return {key: cells for key in keys if (cells := self.get(key))}

    def get_all(self, key: bytes) -> Cells:
        """All cells of a catalog row, timelines included. O(1)."""
        with self._lock:
            return dict(self._read().catalog.get(key, {}))

    def scan_catalog(
        self,
        start: bytes,
        stop: bytes,
        cells: Sequence[str] | None = None,
        holding: Sequence[tuple[str, bytes]] = (),  # noqa: ARG002
    ) -> Iterator[tuple[bytes, Cells]]:
        """Catalog rows in key order."""
        while start < stop:
            with self._lock:
                catalog = self._read().catalog
                batch = [(key, _without_timelines(catalog[key])) for key in islice(_keys(catalog, start, stop), _BATCH)]
            for key, row in batch:
                wanted = row if cells is None else {cell: row[cell] for cell in cells if cell in row}
                if wanted or cells is None:
                    yield key, wanted
            if len(batch) < _BATCH:
                return
            start = batch[-1][0] + b"\0"

    def compare_and_put(self, key: bytes, cell: str, expected: bytes | None, value: bytes) -> bool:
        """Put one cell of a catalog row if it holds what is expected; an empty cell counts as absent."""
        with self._lock:
            catalog = self._changeable().catalog
            self._thread.requests += 1
            row = catalog.get(key, {})
            if row.get(cell, b"") != (expected or b""):
                return False
            self._put(catalog, key, {**row, cell: value})
            return True

    def put_cells(self, cells: Sequence[CatalogCell], sequence: int) -> None:
        """Put cells of catalog rows; where not atomic, each unless a newer write was there."""
        with self._lock:
            catalog = self._changeable().catalog
            self._thread.requests += 1
            for key, cell, value in cells:
                if self._atomic or sequence >= self._cell_sequences.get((key, cell), sequence):
                    self._cell_sequences[key, cell] = sequence
                    self._put(catalog, key, {**catalog.get(key, {}), cell: value})

    def remove_row(self, key: bytes) -> None:
        """Remove a catalog row."""
        with self._lock:
            catalog = self._changeable().catalog
            self._thread.requests += 1
            self._put(catalog, key, None)

    def multi_get(self, keys: Sequence[bytes]) -> list[StoredRow]:
        """Those of the partition rows that exist. O(1) for each key."""
        with self._lock:
            partitions = self._read().partitions
            return [(key, partitions[key].payload) for key in keys if key in partitions]

    def first_key(self, start: bytes, stop: bytes) -> bytes | None:
        """The smallest partition key in a range. O(log n)."""
        with self._lock:
            partitions = self._read().partitions
            return next(_keys(partitions, start, stop), None) if start < stop else None

    def scan(
        self, start: bytes, stop: bytes, residual: Predicate | None = None, limit: int | None = None
    ) -> Iterator[Sequence[StoredRow]]:
        """Partition rows of a range that the residual selects, in batches. O(log n + rows looked at)."""
        selects = _selector(residual)
        left = limit if limit is not None else -1
        while start < stop and left:
            with self._lock:
                partitions = self._read().partitions
                keys = list(islice(_keys(partitions, start, stop), _BATCH))
                rows = [(key, partitions[key]) for key in keys]
            batch = [(key, row.payload) for key, row in rows if selects is None or selects(row.cells)]
            if left > 0:
                batch = batch[:left]
                left -= len(batch)
            if batch:
                yield batch
            if len(keys) < _BATCH:
                return
            start = keys[-1] + b"\0"

    def payloads(
        self, start: bytes, stop: bytes, residual: Predicate | None = None, limit: int | None = None
    ) -> Iterator[Sequence[bytes]]:
        """The payloads of the rows that `scan` returns."""
        for batch in self.scan(start, stop, residual, limit):
            yield [payload for _, payload in batch]

    def heads(self, start: bytes, stop: bytes, size: int, residual: Predicate | None = None) -> Iterator[bytes]:
        """The beginnings of the payloads that `payloads` returns."""
        for batch in self.payloads(start, stop, residual):
            yield lay_out(batch, size)

    def count(self, start: bytes, stop: bytes, residual: Predicate | None = None) -> int:
        """How many rows `scan` would return. O(log n) without a residual."""
        if residual is not None:
            return sum(map(len, self.scan(start, stop, residual)))
        with self._lock:
            partitions = self._read().partitions
            size: int = partitions.bisect_left(stop) - partitions.bisect_left(start)
            return max(0, size)

    def whole_rows(self, start: bytes, stop: bytes) -> Iterator[PartitionRow]:
        """Partition rows with all their cells."""
        while start < stop:
            with self._lock:
                partitions = self._read().partitions
                batch = [partitions[key] for key in islice(_keys(partitions, start, stop), _BATCH)]
            yield from batch
            if len(batch) < _BATCH:
                return
            start = batch[-1].key + b"\0"

    def write(self, puts: Sequence[PartitionRow], deletes: Sequence[bytes], sequence: int) -> None:
        """Put and delete partition rows; one by one where not atomic, each unless a newer write was there."""
        if self._atomic:
            with self._lock:
                self._thread.requests += 1
                partitions = self._changeable().partitions
                if self._thread.changing:
                    new = [row.key for row in puts if row.key not in partitions]
                    keys = chain((row.key for row in puts), deletes)
                    before = {key: partitions[key] for key in keys if key in partitions}
                    self._undo.append((partitions, new, before))
                partitions.update((row.key, row) for row in puts)
                for key in deletes:
                    partitions.pop(key, None)
            return
        self._thread.requests += 1
        changes: list[tuple[bytes, PartitionRow | None]] = [(row.key, row) for row in puts]
        changes.extend((key, None) for key in deletes)
        for key, stored in changes:
            with self._lock:
                partitions = self._changeable().partitions
                if sequence >= self._sequences.get(key, sequence):
                    self._sequences[key] = sequence
                    _set(partitions, key, stored)

    def round_trips(self) -> int:
        """How many requests this thread has made."""
        return self._thread.requests

    def close(self) -> None:
        """Forget all rows."""
        with self._lock:
            self._state = None

    def _current(self) -> _State:
        if self._state is None:
            raise StoreUnavailable("the store is closed", url=self._url, hint="Connect again")
        return self._state

    def _read(self) -> _State:
        self._thread.requests += 1
        current = self._current()
        return self._thread.pinned or current

    def _changeable(self) -> _State:
        if self._thread.pinned:
            raise RuntimeError("a snapshot cannot contain a write")
        state = self._current()
        if state.pins:
            state = self._state = _State(state.catalog.copy(), state.partitions.copy())
        return state

    def _put(self, rows: Any, key: bytes, row: Any) -> None:
        if self._thread.changing:
            self._undo.append((rows, (), {key: rows[key]}) if key in rows else (rows, (key,), {}))
        _set(rows, key, row)


def connect_memory(url: StoreUrl) -> MemoryRows:
    """Fresh rows for ``memory://`` or ``memory://?atomic=false``."""
    options = url.known_options(("atomic",))
    atomic = options.get("atomic", "true").lower()
    if url.place or atomic not in ("true", "false"):
        raise InvalidUrl("the memory URL is invalid", url=url.text, hint="Use memory:// or memory://?atomic=false")
    return MemoryRows(url.text, atomic=atomic == "true")


def _set(rows: Any, key: bytes, row: Any) -> None:
    if row is None:
        rows.pop(key, None)
    else:
        rows[key] = row


def _without_timelines(row: Cells) -> Cells:
    return {name: value for name, value in row.items() if name < TIMELINES}


def _keys(rows: Any, start: bytes, stop: bytes) -> Iterator[bytes]:
    keys: Iterator[bytes] = rows.irange(start, stop, inclusive=(True, False))
    return keys


def _selector(residual: Predicate | None) -> Callable[[tuple[bytes, ...]], bool] | None:
    """What decides about a row's cells; cells that a row lacks are empty."""
    if residual is None or residual == ALWAYS:
        return None
    matches = matcher(residual)
    width = max(columns_of(residual), default=-1) + 1
    return lambda cells: matches(cells if len(cells) >= width else cells + (b"",) * (width - len(cells)))
