"""Ordered rows in a SQLite file: the embedded backend.

One file that several processes and threads read and write at once. A scan reads page by page, each in a statement of
its own that begins behind the last key: nothing stays open while the caller works on a page, or forgets about the
scan. Pages of a scan may therefore show different states; `SqliteRows.snapshot` makes them one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NoReturn

from hbstore.errors import not_picklable
from hbstore.model.name_lists import lay_out
from hbstore.rows.interface import TIMELINES, CatalogCell, Cells, Costs, PartitionRow, StoredRow
from hbstore.rows.predicate import ALWAYS, Predicate
from hbstore.rows.sqlite.connection import BATON, Connections, Snapshot, ThreadConnection, cell_columns
from hbstore.rows.sqlite.file import SqliteFile, parse_sqlite_url
from hbstore.rows.sqlite.origin import COPY, is_copy, set_origin
from hbstore.rows.sqlite.predicate import FIRST_COLUMNS
from hbstore.rows.sqlite.reserve import Reserve
from hbstore.rows.urls import StoreUrl

# Measured on a warm store of 100,000 rows of 777 bytes, on one core: a scan of one row, 200 keys at once, all rows,
# and a residual on a text in the third column that leaves 4,000 of them.
_COSTS: Final = Costs(seek=6e-6, get=2e-6, read=7e-7, check=2e-7)

_FIRST_PAGE, _LAST_PAGE, _PAGE_BYTES = 256, 4096, 1 << 24
_KEYS_AT_ONCE: Final = 256

_SCAN: Final = "SELECT key, payload FROM partitions WHERE key >= ? AND key < ?{} ORDER BY key LIMIT ?"
_PAYLOADS: Final = "SELECT payload FROM partitions WHERE key >= ? AND key < ? ORDER BY key LIMIT ?"
_FILLED_UP: Final = f"CASE WHEN length(payload) < ? THEN CAST(payload || x'{'ff' * 160}' AS BLOB) ELSE payload END"
_HEAD: Final = "SELECT substr(payload, 1, ?) FROM partitions WHERE key >= ? AND key < ?{} ORDER BY key LIMIT ?"
_HEADS: Final = (
    "SELECT count(*), CAST(group_concat(head, '') AS BLOB) FROM"
    f" (SELECT substr({_FILLED_UP}, 1, ?) AS head FROM partitions WHERE key >= ? AND key < ?{{}} ORDER BY key LIMIT ?)"
)
_FOLLOWING: Final = "SELECT key FROM partitions WHERE key >= ? AND key < ?{} ORDER BY key LIMIT 1 OFFSET ?"
_COUNT: Final = "SELECT count(*) FROM partitions WHERE key >= ? AND key < ?{}"
_WHOLE: Final = "SELECT * FROM partitions WHERE key >= ? AND key < ? ORDER BY key LIMIT ?"
_CATALOG: Final = (
    "SELECT key, cell, value FROM catalog WHERE key >= ? AND key < ?"
    f" AND cell < '{TIMELINES}'{{}} ORDER BY key, cell LIMIT ?"
)
_CELLS: Final = f"SELECT cell, value FROM catalog WHERE key = ? AND cell < '{TIMELINES}'"
_ALL_CELLS: Final = "SELECT cell, value FROM catalog WHERE key = ?"
_PUT_FIRST: Final = (
    "INSERT INTO catalog (key, cell, value) VALUES (?, ?, ?)"
    " ON CONFLICT (key, cell) DO UPDATE SET value = excluded.value WHERE value = x''"
)
_PUT_NEXT: Final = "UPDATE catalog SET value = ? WHERE key = ? AND cell = ? AND value = ?"
_PAYLOAD_AT: Final = 1 + FIRST_COLUMNS


class SqliteRows:
    """`Rows` in one SQLite file; threads and forked processes may share it."""

    def __init__(self, file: SqliteFile, *, create: bool = True) -> None:
        file.prepare(create=create)
        self._connections = Connections(file)

    def __repr__(self) -> str:
        return f"<SqliteRows {self.url}>"

    def __reduce__(self) -> NoReturn:
        raise not_picklable(self.url, "hbstore.connect")

    @property
    def url(self) -> str:
        """What `connect` was given."""
        return self._connections.file.url

    @property
    def atomic(self) -> bool:
        """Always."""
        return True

    @property
    def costs(self) -> Costs:
        """Measured on this backend."""
        return _COSTS

    def format_number(self) -> int:
        """What the file says."""
        with self._connections.mine() as sqlite:
            return int(sqlite.execute("PRAGMA user_version").fetchone()[0])

    def set_format_number(self, number: int) -> None:
        """Write it into the file, which versions that do not know it turn away from then on."""
        with self.transaction(), self._connections.mine() as sqlite:
            sqlite.execute(f"PRAGMA user_version = {number:d}")

    def doubt(self) -> str | None:
        """Whether the file is a copy that may lack what was written last."""
        with self._connections.mine() as sqlite:
            return COPY if is_copy(sqlite, self._connections.file.path) else None

    def settle_doubt(self) -> None:
        """Take the file for the store that it was copied from."""
        with self.transaction(), self._connections.mine() as sqlite:
            set_origin(sqlite, self._connections.file.path)

    def keep_reserve(self) -> None:
        """Keep a file of some megabytes beside the store, if its disk has plenty of room."""
        Reserve(self._connections.file.path).keep()

    def use_reserve(self) -> bool:
        """Remove that file."""
        return Reserve(self._connections.file.path).use()

    def give_back(self) -> None:
        """Write the file anew, without its free pages."""
        mine = self._connections.mine()
        with mine as sqlite:
            _check_writable(mine, sqlite)
            sqlite.execute("VACUUM")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside happens at once or not at all; no other writer runs, readers see the state before."""
        mine = self._connections.mine()
        if mine.span:
            raise RuntimeError("a transaction cannot begin within another transaction or a snapshot")
        mine.begin("transaction")
        try:
            yield
        except BaseException:
            mine.end(commit=False)
            raise
        mine.end(commit=True)

    def snapshot(self) -> AbstractContextManager[None]:
        """Reads inside see one state; writers are not held up."""
        mine = self._connections.mine()
        return nullcontext() if mine.span else Snapshot(mine)

    def get(self, key: bytes) -> Cells | None:
        """The cells of a catalog row. O(log n)."""
        with self._connections.mine() as sqlite:
            return dict(sqlite.execute(_CELLS, (key,)).fetchall()) or None

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, Cells]:
        """The cells of some catalog rows."""
        return {key: cells for key in keys if (cells := self.get(key))}

    def get_all(self, key: bytes) -> Cells:
        """All cells of a catalog row, timelines included. O(log n) and their bytes."""
        with self._connections.mine() as sqlite:
            return dict(sqlite.execute(_ALL_CELLS, (key,)).fetchall())

    def scan_catalog(
        self,
        start: bytes,
        stop: bytes,
        cells: Sequence[str] | None = None,
        holding: Sequence[tuple[str, bytes]] = (),  # noqa: ARG002
    ) -> Iterator[tuple[bytes, Cells]]:
        """Catalog rows in key order; all cells of a row are read at once."""
        size, names = _FIRST_PAGE, cells or ()
        statement = _CATALOG.format("" if cells is None else f" AND cell IN ({', '.join('?' * len(names))})")
        while start < stop:
            with self._connections.mine() as sqlite:
                page = sqlite.execute(statement, (start, stop, *names, size)).fetchall()
            rows = [(key, {cell: value for _, cell, value in row}) for key, row in groupby(page, itemgetter(0))]
            if len(page) == size:
                start = rows.pop()[0]  # more of its cells may follow: read it again, whole
                size *= 1 if rows else 4
            else:
                start = stop
            yield from rows

    def compare_and_put(self, key: bytes, cell: str, expected: bytes | None, value: bytes) -> bool:
        """Put one cell of a catalog row if it holds what is expected; an empty cell counts as absent."""
        mine = self._connections.mine()
        with mine as sqlite:
            _check_writable(mine, sqlite)
            if expected:
                return sqlite.execute(_PUT_NEXT, (value, key, cell, expected)).rowcount == 1
            return sqlite.execute(_PUT_FIRST, (key, cell, value)).rowcount == 1

    def put_cells(self, cells: Sequence[CatalogCell], sequence: int) -> None:
        """Put cells of catalog rows, all or none. The sequence is not needed: transactions order the writes."""
        mine = self._connections.mine()
        if mine.span is None:
            with self.transaction():
                self.put_cells(cells, sequence)
            return
        with mine as sqlite:
            _check_writable(mine, sqlite)
            sqlite.executemany(
                "INSERT OR REPLACE INTO catalog (key, cell, value) VALUES (?, ?, ?)",
                [cell for cell in cells if cell.value],
            )
            gone = [(key, name) for key, name, value in cells if not value]  # so that no list has to pass over them
            sqlite.executemany("DELETE FROM catalog WHERE key = ? AND cell = ?", gone)

    def remove_row(self, key: bytes) -> None:
        """Remove a catalog row."""
        mine = self._connections.mine()
        with mine as sqlite:
            _check_writable(mine, sqlite)
            sqlite.execute("DELETE FROM catalog WHERE key = ?", (key,))

    def multi_get(self, keys: Sequence[bytes]) -> list[StoredRow]:
        """Those of the partition rows that exist. O(log n) for each key."""
        stored: list[StoredRow] = []
        for first in range(0, len(keys), _KEYS_AT_ONCE):
            some = keys[first : first + _KEYS_AT_ONCE]
            size = 1 << (len(some) - 1).bit_length()  # few statements, so that they stay prepared
            with self._connections.mine() as sqlite:
                stored += sqlite.execute(_get(size), (*some, *[some[-1]] * (size - len(some)))).fetchall()
        return stored

    def first_key(self, start: bytes, stop: bytes) -> bytes | None:
        """The smallest partition key in a range. O(log n)."""
        statement = "SELECT key FROM partitions WHERE key >= ? AND key < ? ORDER BY key LIMIT 1"
        with self._connections.mine() as sqlite:
            found = sqlite.execute(statement, (start, stop)).fetchall()
        return found[0][0] if found else None

    def scan(
        self, start: bytes, stop: bytes, residual: Predicate | None = None, limit: int | None = None
    ) -> Iterator[Sequence[StoredRow]]:
        """Partition rows of a range that the residual selects, in pages that grow. O(log n + rows looked at)."""
        size = _FIRST_PAGE
        while start < stop and limit != 0:
            if limit is not None and limit < size:
                size = limit
            mine = self._connections.mine()
            with mine as sqlite:
                where, parameters = _where(mine, sqlite, residual)
                with BATON.lock if size > _FIRST_PAGE and residual is None else nullcontext():
                    rows = sqlite.execute(_scan(where), (start, stop, *parameters, size)).fetchall()
            if rows:
                yield rows
            if len(rows) < size:
                return
            if limit is not None:
                limit -= size
            start = rows[-1][0] + b"\0"
            size = min(4 * size, _LAST_PAGE, max(16, _PAGE_BYTES // (len(rows[-1][1]) + 1)))

    def payloads(
        self, start: bytes, stop: bytes, residual: Predicate | None = None, limit: int | None = None
    ) -> Iterator[Sequence[bytes]]:
        """The payloads of the rows that `scan` returns.

        A short range is read without its keys. A longer one goes on behind its last key, and a residual is not worth
        checking twice to find that: both are scans.
        """
        if residual is None and start < stop and (limit is None or limit > _FIRST_PAGE):
            with self._connections.mine() as sqlite:
                rows = sqlite.execute(_PAYLOADS, (start, stop, _FIRST_PAGE + 1)).fetchall()
            if len(rows) <= _FIRST_PAGE:
                if rows:
                    yield [payload for (payload,) in rows]
                return
        for batch in self.scan(start, stop, residual, limit):
            yield [payload for _, payload in batch]

    def heads(self, start: bytes, stop: bytes, size: int, residual: Predicate | None = None) -> Iterator[bytes]:
        """The beginnings of the payloads of the rows that `scan` returns, put together in SQLite, a page at once."""
        page = max(16, _PAGE_BYTES // size)
        while start < stop:
            mine = self._connections.mine()
            with self.snapshot(), mine as sqlite:
                where, parameters = _where(mine, sqlite, residual)
                page_parameters = (start, stop, *parameters, page)
                number, laid = sqlite.execute(_HEADS.format(where), (size, size, *page_parameters)).fetchone()
                if number and len(laid) != number * size:
                    laid = lay_out(
                        (head for (head,) in sqlite.execute(_HEAD.format(where), (size, *page_parameters))), size
                    )
                following = (
                    sqlite.execute(_FOLLOWING.format(where), page_parameters).fetchone() if number == page else None
                )
            if number:
                yield laid
            if following is None:
                return
            start = following[0]

    def count(self, start: bytes, stop: bytes, residual: Predicate | None = None) -> int:
        """How many rows `scan` would return. O(rows looked at)."""
        mine = self._connections.mine()
        with mine as sqlite:
            where, parameters = _where(mine, sqlite, residual)
            return int(sqlite.execute(_COUNT.format(where), (start, stop, *parameters)).fetchone()[0])

    def whole_rows(self, start: bytes, stop: bytes) -> Iterator[PartitionRow]:
        """Partition rows with all their cells, read in pages."""
        while start < stop:
            with self._connections.mine() as sqlite:
                rows = sqlite.execute(_WHOLE, (start, stop, _FIRST_PAGE)).fetchall()
            yield from map(_whole_row, rows)
            if len(rows) < _FIRST_PAGE:
                return
            start = rows[-1][0] + b"\0"

    def write(self, puts: Sequence[PartitionRow], deletes: Sequence[bytes], sequence: int) -> None:
        """Put and delete partition rows, all or none. The sequence is not needed: transactions order the writes."""
        mine = self._connections.mine()
        if mine.span is None:
            if puts or deletes:
                with self.transaction():
                    self.write(puts, deletes, sequence)
            return
        with mine as sqlite:
            _check_writable(mine, sqlite)
            try:
                _put(sqlite, puts)
                if deletes:
                    mine.trips += 1
                    sqlite.executemany("DELETE FROM partitions WHERE key = ?", [(key,) for key in deletes])
            except BaseException:
                if sqlite.in_transaction:  # nobody may commit half of it
                    sqlite.execute("ROLLBACK")
                raise

    def round_trips(self) -> int:
        """How many statements this thread has executed."""
        return self._connections.mine().trips

    def close(self) -> None:
        """Close the connections of all threads; what they are executing is interrupted."""
        self._connections.close()


def connect_sqlite(url: StoreUrl, *, create: bool = True) -> SqliteRows:
    """The rows in the file that a URL names; it is created where there is none, unless it must be there.

    Raises:
        InvalidUrl: no path, or an option that makes no sense.
        NotAStore: the file is something else.
        StoreUnavailable: the file cannot be opened, or is not there.
    """
    return SqliteRows(parse_sqlite_url(url), create=create)


def _check_writable(mine: ThreadConnection, sqlite: sqlite3.Connection) -> None:
    if mine.span == "transaction":
        mine.check_open(sqlite)
    elif mine.span:
        raise RuntimeError("a snapshot cannot contain a write")


def _where(mine: ThreadConnection, sqlite: sqlite3.Connection, residual: Predicate | None) -> tuple[str, Sequence[Any]]:
    if residual is None or residual == ALWAYS:
        return "", ()
    found = mine.where(sqlite, residual)
    return f" AND {found.sql}", found.parameters


def _scan(where: str) -> str:
    return _SCAN.format(where) if where else _SCAN_ALL


_SCAN_ALL: Final = _SCAN.format("")


@lru_cache(maxsize=16)
def _get(size: int) -> str:
    if size == 1:
        return "SELECT key, payload FROM partitions WHERE key = ?"
    return f"SELECT key, payload FROM partitions WHERE key IN ({', '.join('?' * size)}) ORDER BY key"


def _put(sqlite: sqlite3.Connection, puts: Sequence[PartitionRow]) -> None:
    by_width: dict[int, list[tuple[bytes, ...]]] = {}
    for key, cells, payload in puts:
        by_width.setdefault(len(cells), []).append((key, *cells, payload))
    for width, rows in by_width.items():
        if width > FIRST_COLUMNS:
            for column in range(cell_columns(sqlite), width):
                sqlite.execute(f"ALTER TABLE partitions ADD COLUMN k{column} BLOB")
        sqlite.executemany(_insert(width), rows)


@lru_cache(maxsize=64)
def _insert(width: int) -> str:
    columns = "".join(f"k{column}, " for column in range(width))
    return f"INSERT OR REPLACE INTO partitions (key, {columns}payload) VALUES (?{', ?' * (width + 1)})"


def _whole_row(row: tuple[Any, ...]) -> PartitionRow:
    """A row of all columns: the key, the first cells, the payload, the cells that were added later."""
    cells = row[1:_PAYLOAD_AT] + row[_PAYLOAD_AT + 1 :]
    width = len(cells)
    while width and cells[width - 1] is None:
        width -= 1
    return PartitionRow(row[0], cells[:width], row[_PAYLOAD_AT])
