"""Rows in HBase, through its Thrift gateway.

Two tables: ``<prefix>_catalog`` (families d, i, s, t) and ``<prefix>_partitions`` (``p:p`` the payload; ``k:0``,
``k:1`` … the cells of the partition columns). Partition rows carry their sequence number as HBase's timestamp.
docs/hbase.md says why, and what is promised.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import chain
from typing import Final, NoReturn, TypeAlias

from hbstore.errors import CommitStateUnknown, CorruptRow, HbstoreError, InvalidInput, StoreUnavailable, not_picklable
from hbstore.keys.row_key import MAX_KEY
from hbstore.model.name_lists import lay_out
from hbstore.rows.format_number import FORMAT, ensure_format, store_format, stored_format
from hbstore.rows.hbase.filters import holding_one_of, push
from hbstore.rows.hbase.idl import Mutation
from hbstore.rows.hbase.link import Link
from hbstore.rows.hbase.pool import Pool, Repeat
from hbstore.rows.hbase.scan import RangeScan, next_size
from hbstore.rows.hbase.shared_gets import SharedGets
from hbstore.rows.hbase.tables import CATALOG_FAMILIES, PARTITION_FAMILIES, ensure_tables
from hbstore.rows.hbase.url import parse_hbase_url
from hbstore.rows.hbase.wire import FoundRow, get_row, get_rows
from hbstore.rows.interface import TIMELINES, CatalogCell, Cells, Costs, PartitionRow, Rows, StoredRow
from hbstore.rows.predicate import ALWAYS, NEVER, Predicate, columns_of, matcher

COSTS: Final = Costs(seek=0.6e-3, get=25e-6, read=8e-6, check=2.5e-6)
"""Measured on one machine with HBase 2.6, 100,000 rows of 900 bytes."""

MAX_CELL: Final = 10 << 20
"""HBase takes no larger cell, its key included (``hbase.server.keyvalue.maxsize``)."""

_PAYLOAD: Final = b"p:p"
_CELLS: Final = b"k"
"""All cells of a row: region servers walk over them faster than they look for some, as far as rows are in memory."""
_KEY_SPACE: Final = 64
_GET_CHUNK: Final = 1_000
_CATALOG_BATCH: Final = 100
_SOME_CELLS_BATCH: Final = 500
"""Rows of the catalog may be large where all of their cells are read."""
_SMALL_FAMILIES: Final = [family.encode() for family in CATALOG_FAMILIES if f"{family}:" < TIMELINES]
_WRITE_ROWS: Final = 1_000
_WRITE_BYTES: Final = 4 << 20
_FIRST_KEY: Final = b"PageFilter(1) AND KeyOnlyFilter()"

_Change: TypeAlias = tuple[bytes, dict[bytes, bytes] | None]
"""A row's key, and the cells that are put; None: the row is deleted."""


def connect_hbase(url: str, *, create: bool = True) -> Rows:
    """The rows behind an ``hbase://`` URL; their tables are made when they are missing, unless not to be created.

    Raises:
        InvalidUrl: the URL is wrong.
        StoreUnavailable: HBase does not answer, or there is no such store.
        NotAStore: the tables there are not hbstore's, or another version's.
    """
    pool = Pool(parse_hbase_url(url))
    try:
        ensure_tables(pool, create=create)
        rows = HBaseRows(pool)
        ensure_format(rows)
    except BaseException:
        pool.close()
        raise
    return rows


class HBaseRows:
    """`Rows` in HBase; single rows are atomic, and nothing else is."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._catalog = pool.address.catalog
        self._partitions = pool.address.partitions
        self._shared_gets = SharedGets(self._catalog_rows)

    def __repr__(self) -> str:
        return f"<HBaseRows {self.url}>"

    def __reduce__(self) -> NoReturn:
        raise not_picklable(self.url, "hbstore.connect")

    @property
    def url(self) -> str:
        """What `connect_hbase` was given."""
        return self._pool.address.url

    @property
    def atomic(self) -> bool:
        """HBase has no transactions over rows."""
        return False

    @property
    def costs(self) -> Costs:
        """What reading costs here."""
        return COSTS

    def format_number(self) -> int:
        """What the catalog says: one request."""
        return stored_format(self) or FORMAT

    def set_format_number(self, number: int) -> None:
        """Write it into the catalog: one request."""
        store_format(self, number)

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
        """Ask for a major compaction of the partitions' table, which forgets deletes; HBase does it by and by."""
        self._pool.run(lambda link: link.compact_table(self._partitions, major=True), Repeat.WRITE)

    def transaction(self) -> AbstractContextManager[None]:
        """Raise: `atomic` says that there are none."""
        raise HbstoreError("HBase has no transactions", hint="Where `atomic` is false, use hbstore.transactions")

    def snapshot(self) -> AbstractContextManager[None]:
        """Do nothing: HBase has no state over several rows that could be held."""
        return contextlib.nullcontext()

    def get(self, key: bytes) -> Cells | None:
        """The cells of a catalog row: one request, which threads that ask at the same time share."""
        return self._shared_gets.get(key)

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, Cells]:
        """The cells of some catalog rows: one request for each 1,000."""
        chunks = (list(keys[at : at + _GET_CHUNK]) for at in range(0, len(keys), _GET_CHUNK))
        return {key: cells for chunk in chunks for key, cells in self._catalog_rows(chunk).items()}

    def get_all(self, key: bytes) -> Cells:
        """All cells of a catalog row, timelines included: one request."""
        rows = self._pool.run(partial(_rows, get_row(self._catalog, key, None)), Repeat.READ)
        return _cells(rows[0][1]) if rows else {}

    def _catalog_rows(self, keys: list[bytes]) -> dict[bytes, Cells]:
        if len(keys) == 1:
            request = get_row(self._catalog, keys[0], _SMALL_FAMILIES)
        else:
            request = get_rows(self._catalog, keys, _SMALL_FAMILIES)
        rows = self._pool.run(partial(_rows, request), Repeat.READ)
        return {key: found for key, cells in rows if (found := _cells(cells))}

    def scan_catalog(
        self,
        start: bytes,
        stop: bytes,
        cells: Sequence[str] | None = None,
        holding: Sequence[tuple[str, bytes]] = (),
    ) -> Iterator[tuple[bytes, Cells]]:
        """Catalog rows in key order; region servers leave out what is not needed."""
        columns = _SMALL_FAMILIES if cells is None else [cell.encode() for cell in cells]
        kept = holding_one_of(holding) if holding else None
        first = _CATALOG_BATCH if cells is None else _SOME_CELLS_BATCH
        for rows in RangeScan(self._pool, self._catalog, start, stop, columns, kept, first=first).batches():
            for key, found in rows:
                if row := _cells(found):
                    yield key, row

    def compare_and_put(self, key: bytes, cell: str, expected: bytes | None, value: bytes) -> bool:
        """One checkAndPut, which is never sent twice: its first answer is the only one that means anything."""
        _check_size(key, value)
        column = cell.encode()
        mutation = Mutation(column=column, value=value)
        return bool(
            self._pool.run(
                lambda link: link.client.checkAndPut(self._catalog, key, column, expected or b"", mutation, {}),
                Repeat.ONCE,
            )
        )

    def put_cells(self, cells: Sequence[CatalogCell], sequence: int) -> None:
        """One request, or more where values are large; the sequence is their timestamp, so it is repeated freely."""
        for key, _, value in cells:
            _check_size(key, value)
        for batch in _in_batches((key, {cell.encode(): value}) for key, cell, value in cells):
            self._pool.run(partial(_send, self._catalog, batch, sequence), Repeat.WRITE)

    def remove_row(self, key: bytes) -> None:
        """One request, which may be repeated: nobody writes the row any more."""
        self._pool.run(lambda link: link.table(self._catalog).delete(key, CATALOG_FAMILIES), Repeat.WRITE)

    def multi_get(self, keys: Sequence[bytes]) -> list[StoredRow]:
        """A request for each 1,000 keys, or for fewer where payloads are large."""
        stored: list[StoredRow] = []
        at, size = 0, _GET_CHUNK
        while at < len(keys):
            rows = self._get_rows(keys[at : at + size])
            stored += _stored(rows)
            at += size
            if rows:
                size = min(_GET_CHUNK, next_size(rows))
        return stored

    def _get_rows(self, keys: Sequence[bytes]) -> list[FoundRow]:
        one = len(keys) == 1
        call = get_row(self._partitions, keys[0], [_PAYLOAD]) if one else get_rows(self._partitions, keys, [_PAYLOAD])
        return self._pool.run(partial(_rows, call), Repeat.READ)

    def first_key(self, start: bytes, stop: bytes) -> bytes | None:
        """A scan that ends in the region server after one row and carries nothing but its key."""
        with contextlib.closing(self._scan(start, stop, [b"k:0"], _FIRST_KEY, page=1)) as batches:
            for rows in batches:
                return rows[0][0]
        return None

    def scan(
        self, start: bytes, stop: bytes, residual: Predicate | None = None, limit: int | None = None
    ) -> Iterator[Sequence[StoredRow]]:
        """Partition rows in key order. What the region servers cannot check is checked here."""
        left = limit
        with contextlib.closing(self._selected(start, stop, residual, payload=True, limit=limit)) as batches:
            for rows in batches:
                if left is not None and left <= len(rows):
                    yield _stored(rows[:left])
                    return
                yield _stored(rows)
                left = None if left is None else left - len(rows)

    def payloads(
        self, start: bytes, stop: bytes, residual: Predicate | None = None, limit: int | None = None
    ) -> Iterator[Sequence[bytes]]:
        """The payloads of the rows that `scan` returns; keys come with them from HBase anyway."""
        for batch in self.scan(start, stop, residual, limit):
            yield [payload for _, payload in batch]

    def heads(self, start: bytes, stop: bytes, size: int, residual: Predicate | None = None) -> Iterator[bytes]:
        """The beginnings of the payloads that `payloads` returns."""
        for batch in self.payloads(start, stop, residual):
            yield lay_out(batch, size)

    def count(self, start: bytes, stop: bytes, residual: Predicate | None = None) -> int:
        """A scan of the keys alone, and of the cells that have to be checked here."""
        return sum(len(rows) for rows in self._selected(start, stop, residual, payload=False))

    def _selected(
        self, start: bytes, stop: bytes, residual: Predicate | None, *, payload: bool, limit: int | None = None
    ) -> Generator[list[FoundRow]]:
        """Batches of the rows that the residual selects, with or without their payloads."""
        residual = ALWAYS if residual is None else residual
        if residual == NEVER or limit == 0:
            return
        pushed = push(residual)
        tested = pushed.columns if pushed.exact else pushed.columns | columns_of(residual)
        columns = [_PAYLOAD] if payload else []
        if tested:
            columns.append(_CELLS)
        text, page = pushed.text, None
        if limit is not None and pushed.exact:
            page = limit
            if text is None:
                text = b"PageFilter(%d)" % limit
        if not payload and pushed.exact:
            text = b"%s AND KeyOnlyFilter()" % text if text else b"KeyOnlyFilter()"
        batches = self._scan(start, stop, columns or [_PAYLOAD], text, page)
        with contextlib.closing(batches):
            if pushed.exact:
                yield from batches
                return
            matches = matcher(residual)
            wanted = [b"k:%d" % column for column in range(max(tested) + 1)]
            for rows in batches:
                chosen = [row for row in rows if matches([row[1].get(column, b"") for column in wanted])]
                if chosen:
                    yield chosen

    def whole_rows(self, start: bytes, stop: bytes) -> Iterator[PartitionRow]:
        """Partition rows with all their cells."""
        for rows in self._scan(start, stop, None):
            yield from map(_whole, rows)

    def write(self, puts: Sequence[PartitionRow], deletes: Sequence[bytes], sequence: int) -> None:
        """One request for each 1,000 rows, or for fewer large ones; the sequence is their timestamp.

        With a timestamp a request can be made twice, or late, without harm: so it is repeated after a failure.
        """
        for row in puts:
            _check_size(row.key, row.payload)
        for key in deletes:
            _check_key(key)
        done = False
        changes = chain(((row.key, _columns(row)) for row in puts), ((key, None) for key in deletes))
        for batch in _in_batches(changes):
            try:
                self._pool.run(partial(_send, self._partitions, batch, sequence), Repeat.WRITE)
            except StoreUnavailable as error:
                if done:
                    raise CommitStateUnknown(error.text, hint=error.hint, **error.fields) from error
                raise
            done = True

    def round_trips(self) -> int:
        """How many calls this thread has made to the gateway."""
        return self._pool.counter.calls

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    def _scan(
        self, start: bytes, stop: bytes, columns: list[bytes] | None, text: bytes | None = None, page: int | None = None
    ) -> Generator[list[FoundRow]]:
        return RangeScan(self._pool, self._partitions, start, stop, columns, text, page).batches()


def _columns(row: PartitionRow) -> dict[bytes, bytes]:
    """All cells of a row; put together, they are one atomic Put of HBase's."""
    return {b"k:%d" % column: cell for column, cell in enumerate(row.cells)} | {_PAYLOAD: row.payload}


def _in_batches(changes: Iterable[_Change]) -> Iterator[list[_Change]]:
    """Changes that make a request each."""
    batch: list[_Change] = []
    size = 0
    for change in changes:
        batch.append(change)
        size += sum(map(len, change[1].values())) if change[1] else 0
        if len(batch) >= _WRITE_ROWS or size >= _WRITE_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _send(table: bytes, changes: Sequence[_Change], sequence: int, link: Link) -> None:
    """Make changes of rows in one request, with a timestamp."""
    batch = link.table(table).batch(timestamp=sequence)
    for key, cells in changes:
        if cells is None:
            batch.delete(key, PARTITION_FAMILIES)
        else:
            batch.put(key, cells)
    batch.send()


def _check_key(key: bytes) -> None:
    if not key:
        raise InvalidInput("the row key is empty", hint="Give a key of one byte or more")
    if len(key) > MAX_KEY:
        raise InvalidInput("the row key is too long for HBase", bytes=len(key), limit=MAX_KEY, hint="Shorten the names")


def _check_size(key: bytes, value: bytes) -> None:
    _check_key(key)
    if len(key) + len(value) + _KEY_SPACE > MAX_CELL:
        raise InvalidInput(
            "the cell is too large for HBase",
            bytes=len(value),
            limit=MAX_CELL,
            hint="Make the change in smaller parts, or shorten the parameters of the partitions",
        )


def _rows(call: bytes, link: Link) -> list[FoundRow]:
    link.send(call)
    return link.replies.rows()


def _cells(found: dict[bytes, bytes]) -> Cells:
    return {column.decode(): value for column, value in found.items() if value}


def _stored(rows: Sequence[FoundRow]) -> list[StoredRow]:
    try:
        return [(key, cells[_PAYLOAD]) for key, cells in rows]
    except KeyError:
        keys = [key.hex() for key, cells in rows if _PAYLOAD not in cells]
        raise CorruptRow(
            "the partition row has no payload", key=keys[0], hint="Run `hbstore check`: it lists all damaged rows"
        ) from None


def _whole(row: FoundRow) -> PartitionRow:
    key, cells = row
    size = max((int(column[2:]) + 1 for column in cells if column.startswith(b"k:")), default=0)
    found = tuple(cells.get(b"k:%d" % column, b"") for column in range(size))
    return PartitionRow(key, found, cells.get(_PAYLOAD, b""))
