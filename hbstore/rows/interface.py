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

Cells: TypeAlias = Mapping[str, bytes]
"""The cells of a catalog row by name, such as ``d:def``; an empty cell counts as absent everywhere."""

TIMELINES: Final = "t:"
"""What the names of cells begin with that hold timelines; no other name sorts above it."""

StoredRow: TypeAlias = tuple[bytes, bytes]
"""Key and payload of a partition row."""


class PartitionRow(NamedTuple):
    """A whole partition row, as written and as `Rows.whole_rows` reads it."""

    key: bytes
    cells: tuple[bytes, ...]
    payload: bytes


@dataclass(frozen=True, slots=True)
class Costs:
    """What reading costs on a backend, in seconds; the planner chooses between plans by these.

    Attributes:
        seek: opening a range scan and reading its first row.
        get: one row of a multi-get by keys.
        read: one row of a scan that is returned.
        check: one row of a scan that the residual drops, next to the rows.
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
        """What `connect` was given."""

    @property
    def atomic(self) -> bool:
        """Whether `transaction` makes many writes one; where not, the store writes intents."""

    @property
    def costs(self) -> Costs:
        """What reading costs here."""

    def transaction(self) -> AbstractContextManager[None]:
        """Everything inside happens at once or not at all, alone. Not to be nested. Only where `atomic`."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Reads inside see one state, where the backend has such states; inside a transaction it does nothing."""

    def get(self, key: bytes) -> Cells | None:
        """The cells of a catalog row but for timelines (``t:…``), in one atomic read; None if there are none."""

    def get_all(self, key: bytes) -> Cells:
        """All cells of a catalog row in one atomic read, its timelines included, which may be large."""

    def scan_catalog(self, start: bytes, stop: bytes) -> Iterator[tuple[bytes, Cells]]:
        """Catalog rows with start <= key < stop, in key order, with the cells that `get` returns."""

    def compare_and_put(self, key: bytes, cell: str, expected: bytes | None, value: bytes) -> bool:
        """Put one cell of a catalog row if it holds ``expected`` (None: if it is absent or empty), atomically.

        Returns:
            Whether it was put.
        """

    def clear(self, key: bytes, cell: str) -> None:
        """Empty one cell of a catalog row, whatever it holds; sent once, and cheaper than comparing a large value.

        Only for cells that nobody else writes while they are full.
        """

    def multi_get(self, keys: Sequence[bytes]) -> list[StoredRow]:
        """Those of the keys' partition rows that exist, in key order; keys are sorted and distinct."""

    def first_key(self, start: bytes, stop: bytes) -> bytes | None:
        """The smallest partition key with start <= key < stop."""

    def scan(
        self, start: bytes, stop: bytes, residual: Predicate | None = None, limit: int | None = None
    ) -> Iterator[Sequence[StoredRow]]:
        """Partition rows with start <= key < stop that the residual selects, in key order, in batches.

        Args:
            start: the first key.
            stop: the key after the last.
            residual: what each row's cells must satisfy; it never lets a wrong row through.
            limit: how many rows at most; None for all.
        """

    def payloads(
        self, start: bytes, stop: bytes, residual: Predicate | None = None, limit: int | None = None
    ) -> Iterator[Sequence[bytes]]:
        """What `scan` returns without the keys, which costs less where nobody asks for them."""

    def heads(self, start: bytes, stop: bytes, size: int, residual: Predicate | None = None) -> Iterator[bytes]:
        """The first ``size`` bytes of the payloads that `scan` would return, as `lay_out` makes them of many.

        For what looks at the beginnings of many rows; it costs less where the rows are in this process.
        """

    def count(self, start: bytes, stop: bytes, residual: Predicate | None = None) -> int:
        """How many rows `scan` would return."""

    def whole_rows(self, start: bytes, stop: bytes) -> Iterator[PartitionRow]:
        """Partition rows with all their cells; a cell that is missing is empty."""

    def write(self, puts: Sequence[PartitionRow], deletes: Sequence[bytes], sequence: int) -> None:
        """Put and delete partition rows. A key stands in at most one of the two.

        Args:
            puts: rows, which replace what is there under their keys.
            deletes: keys; absent ones are passed over.
            sequence: rises with every change of a table. Backends without transactions order the writes of a row by
                it, whenever they arrive: repeating a write changes nothing, and an older one never hides a newer.
        """

    def round_trips(self) -> int:
        """How many requests this thread has made so far; only differences mean something."""

    def close(self) -> None:
        """Release connections; afterwards every call raises StoreUnavailable."""
