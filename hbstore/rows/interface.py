"""Ordered rows: the one small interface that every backend implements.

A backend keeps two sets of rows, both sorted by key:

* **catalog rows** (databases and tables): a few named cells each, changed one cell at a time by compare-and-put;
* **partition rows**: a payload and one cell for each partition column, read by key, by range, and by range with a
  residual predicate that the backend evaluates next to the rows.

tests/rows holds the contract as tests, which run on every backend.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol, TypeAlias

from hbstore.rows.predicate import Predicate
from hbstore.texts.wording import clipped, plural

Cells: TypeAlias = Mapping[str, bytes]
"""The cells of a catalog row by name, such as ``d:def``; an empty cell counts as absent everywhere."""

TIMELINES: Final = "t:"
"""What the names of cells begin with that hold timelines; no other name sorts above it."""

_REPR: Final = 80
"""Characters of a key in a repr."""

StoredRow: TypeAlias = tuple[bytes, bytes]
"""Key and payload of a partition row."""


class PartitionRow(NamedTuple):
    """A whole partition row, as written and as `Rows.whole_rows` reads it.

    Attributes:
        key: where it stands among all.
        cells: those of the partition columns, in their order.
        payload: the partition itself.

    >>> PartitionRow(b"key", (b"cell",), b"payload").cells
    (b'cell',)
    """

    key: bytes
    cells: tuple[bytes, ...]
    payload: bytes

    def __repr__(self) -> str:
        return f"<PartitionRow {clipped(self.key.hex(), _REPR)}: {plural(len(self.payload), 'byte')}>"


class CatalogCell(NamedTuple):
    r"""One cell of a catalog row, as `Rows.put_cells` writes it.

    Attributes:
        key: the catalog row's key.
        cell: the cell's name.
        value: what it is to hold; nothing removes it.

    >>> CatalogCell(b"Tshop\0sales", "d:def", b"").cell
    'd:def'
    """

    key: bytes
    cell: str
    value: bytes


@dataclass(frozen=True, slots=True)
class Costs:
    """What reading costs on a backend, in seconds; the planner chooses between plans by these.

    Attributes:
        seek: opening a range scan and reading its first row.
        get: one row of a multi-get by keys.
        read: one row of a scan that is returned.
        check: one row of a scan that the residual drops, next to the rows.

    >>> Costs(seek=20e-6, get=15e-6, read=2e-6, check=0.5e-6).read
    2e-06
    """

    seek: float
    get: float
    read: float
    check: float


class Rows(Protocol):
    """A store of ordered rows.

    Every method raises StoreUnavailable where the backend does not answer (nothing was changed), and methods that write
    raise StoreReadOnly, StoreFull, or CommitStateUnknown where the backend went away in the middle.
    """

    @property
    def url(self) -> str:
        """What `connect` was given.

        >>> store.rows.url
        'memory://'
        """

    @property
    def atomic(self) -> bool:
        """Whether `transaction` makes many writes one; where not, `hbstore.transactions` does.

        >>> store.rows.atomic
        True
        """

    @property
    def costs(self) -> Costs:
        """What reading costs here.

        >>> store.rows.costs.seek >= store.rows.costs.read
        True
        """

    def format_number(self) -> int:
        """The number of the store's format; `hbstore.rows.format_number` says which this version takes.

        >>> store.rows.format_number()
        6
        """

    def set_format_number(self, number: int) -> None:
        """Say that all rows of the store have a format now.

        >>> store.rows.set_format_number(5)
        """

    def doubt(self) -> str | None:
        """Why rows may be missing though all that are there are sound, in words; None where nothing says so.

        >>> store.rows.doubt()
        """

    def settle_doubt(self) -> None:
        """Take the rows for all that there are: `doubt` says nothing from then on.

        >>> store.rows.settle_doubt()
        """

    def keep_reserve(self) -> None:
        """Keep some room on the disk under the rows for `use_reserve`, if the disk has plenty.

        >>> store.rows.keep_reserve()
        """

    def use_reserve(self) -> bool:
        """Give the room that is kept to the disk, which is full, so that rows can be removed; whether there was any.

        >>> store.rows.use_reserve()
        False
        """

    def give_back(self) -> None:
        """Give the room that rows no longer take to the disk; nothing where the backend does so by itself.

        On SQLite it takes as long as copying the rows, and for a while as much room again; writers wait. HBase is asked
        for a major compaction, and does it by and by.

        >>> store.rows.give_back()
        """

    def transaction(self) -> AbstractContextManager[None]:
        """Everything inside happens at once or not at all, alone. Not to be nested. Only where `atomic`.

        >>> with store.rows.transaction():
        ...     store.rows.compare_and_put(b"Xrow", "d:a", None, b"1")
        True
        """

    def snapshot(self) -> AbstractContextManager[None]:
        """Reads inside see one state, where the backend has such states; inside a transaction it does nothing.

        >>> with store.rows.snapshot():
        ...     sales.count()
        72
        """

    def get(self, key: bytes) -> Cells | None:
        """The cells of a catalog row but for timelines (``t:…``), in one atomic read; None if there are none.

        >>> sorted(store.rows.get(b"Dshop"))
        ['i:log']
        """

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, Cells]:
        """What `get` returns of those of some catalog rows that there are, each in one atomic read.

        >>> sorted(store.rows.get_many([b"Dshop", b"Dnone"]))
        [b'Dshop']
        """

    def get_all(self, key: bytes) -> Cells:
        """All cells of a catalog row in one atomic read, its timelines included, which may be large.

        >>> sorted(store.rows.get_all(b"Dshop"))
        ['i:log']
        """

    def scan_catalog(
        self,
        start: bytes,
        stop: bytes,
        cells: Sequence[str] | None = None,
        holding: Sequence[tuple[str, bytes]] = (),
    ) -> Iterator[tuple[bytes, Cells]]:
        r"""Catalog rows with start <= key < stop, in key order, with the cells that `get` returns.

        Args:
            start: the first key.
            stop: the key behind the last.
            cells: the names of those to read; a row that has none of them is left out.
            holding: a row that has none of these texts in these cells is not needed, and may be left out; the empty
                text stands for any. Only rows that a backend would have to send somewhere are worth leaving out.

        >>> [key for key, _ in store.rows.scan_catalog(b"D", b"U")]
        [b'Dshop', b'Tshop\x00sales']
        >>> [(key, list(cells)) for key, cells in store.rows.scan_catalog(b"D", b"U", ["d:def"])]
        [(b'Tshop\x00sales', ['d:def'])]
        """

    def compare_and_put(self, key: bytes, cell: str, expected: bytes | None, value: bytes) -> bool:
        """Put one cell of a catalog row if it holds ``expected`` (None: if it is absent or empty), atomically.

        Returns:
            Whether it was put.

        >>> put = store.rows.compare_and_put
        >>> put(b"Xrow", "d:a", None, b"1"), put(b"Xrow", "d:a", b"0", b"2")
        (True, False)
        """

    def put_cells(self, cells: Sequence[CatalogCell], sequence: int) -> None:
        """Put cells of catalog rows, whatever they hold; those of one row at once.

        Only for cells that compare-and-put never writes: HBase orders the two by different clocks.

        Args:
            cells: the cells.
            sequence: rises with every change of a row. Backends without transactions order the writes of a cell by it,
                as `write` does.

        >>> store.rows.put_cells([CatalogCell(b"Xrow", "d:b", b"1")], sequence=1)
        >>> store.rows.get(b"Xrow")
        {'d:b': b'1'}
        """

    def remove_row(self, key: bytes) -> None:
        """Remove a catalog row with all its cells; doing so again does no harm.

        Only for rows that nobody writes afterwards.

        >>> store.rows.put_cells([CatalogCell(b"Xrow", "d:b", b"1")], sequence=1)
        >>> store.rows.remove_row(b"Xrow")
        >>> store.rows.get(b"Xrow")
        """

    def multi_get(self, keys: Sequence[bytes]) -> list[StoredRow]:
        """Those of the keys' partition rows that exist, in key order; keys are sorted and distinct.

        >>> key = sales.plan("ds = '2013-01-01' and hour = 5").get_plans()[0].start.key
        >>> [found for found, _ in store.rows.multi_get([key])] == [key]
        True
        """

    def first_key(self, start: bytes, stop: bytes) -> bytes | None:
        """The smallest partition key with start <= key < stop.

        >>> scan = sales.plan("ds = '2013-01-02'").get_plans()[0]
        >>> store.rows.first_key(scan.start.key, scan.stop.key) > scan.start.key
        True
        """

    def scan(
        self, start: bytes, stop: bytes, residual: Predicate | None = None, limit: int | None = None
    ) -> Iterator[Sequence[StoredRow]]:
        """Partition rows with start <= key < stop that the residual selects, in key order, in batches.

        Args:
            start: the first key.
            stop: the key after the last.
            residual: what each row's cells must satisfy; it never lets a wrong row through.
            limit: how many rows at most; None for all.

        >>> scan = sales.plan("ds = '2013-01-02'").get_plans()[0]
        >>> sum(len(batch) for batch in store.rows.scan(scan.start.key, scan.stop.key, scan.residual))
        24
        """

    def payloads(
        self, start: bytes, stop: bytes, residual: Predicate | None = None, limit: int | None = None
    ) -> Iterator[Sequence[bytes]]:
        """What `scan` returns without the keys, which costs less where nobody asks for them.

        >>> scan = sales.plan("ds = '2013-01-02'").get_plans()[0]
        >>> sum(len(batch) for batch in store.rows.payloads(scan.start.key, scan.stop.key, limit=5))
        5
        """

    def heads(self, start: bytes, stop: bytes, size: int, residual: Predicate | None = None) -> Iterator[bytes]:
        """The first ``size`` bytes of the payloads that `scan` would return, as `lay_out` makes them of many.

        For what looks at the beginnings of many rows; it costs less where the rows are in this process.

        >>> scan = sales.plan("ds = '2013-01-02'").get_plans()[0]
        >>> any(store.rows.heads(scan.start.key, scan.stop.key, 40))
        True
        """

    def count(self, start: bytes, stop: bytes, residual: Predicate | None = None) -> int:
        """How many rows `scan` would return.

        >>> scan = sales.plan("ds = '2013-01-02'").get_plans()[0]
        >>> store.rows.count(scan.start.key, scan.stop.key)
        24
        """

    def whole_rows(self, start: bytes, stop: bytes) -> Iterator[PartitionRow]:
        """Partition rows with all their cells; a cell that is missing is empty.

        >>> scan = sales.plan("ds = '2013-01-02'").get_plans()[0]
        >>> len(next(store.rows.whole_rows(scan.start.key, scan.stop.key)).cells)
        2
        """

    def write(self, puts: Sequence[PartitionRow], deletes: Sequence[bytes], sequence: int) -> None:
        """Put and delete partition rows. A key stands in at most one of the two.

        Args:
            puts: rows, which replace what is there under their keys.
            deletes: keys; absent ones are passed over.
            sequence: rises with every change of a table. Backends without transactions order the writes of a row by
                it, whenever they arrive: repeating a write changes nothing, and an older one never hides a newer.

        >>> row = next(store.rows.whole_rows(b"shop", b"shoq"))
        >>> store.rows.write([], [row.key], sequence=1)
        >>> sales.count()
        71
        """

    def round_trips(self) -> int:
        """How many requests this thread has made so far; only differences mean something.

        >>> before = store.rows.round_trips()
        >>> sales.count()
        72
        >>> store.rows.round_trips() > before
        True
        """

    def close(self) -> None:
        """Release connections; afterwards every call raises StoreUnavailable.

        >>> store.rows.close()
        """
