"""What a transaction writes: for each of its catalog rows a list of writes, as one value that can be stored.

It holds all that writing it takes, so that any process that meets an open commit does the same as the one that decided
it, any number of times.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from hbstore.errors import CorruptRow
from hbstore.keys.row_key import successor
from hbstore.rows.damage import RESTORE
from hbstore.rows.interface import CatalogCell, PartitionRow, Rows
from hbstore.transactions.log import Span, spans_of
from hbstore.transactions.progress import Progress
from hbstore.transactions.rewriting import Rewrite
from hbstore.transactions.unpacked_rows import stored

T = TypeVar("T")
CLEAR_BATCH: Final = 5_000
"""Partition rows that are deleted at once where a whole range goes."""

_LENGTH: Final = struct.Struct(">I")
_NUMBER: Final = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class RowWrites:
    """What becomes of one catalog row, and of the partition rows that belong to it.

    Attributes:
        row: the catalog row's key.
        sequence: the number of the change in the row's log.
        state: what the state in its log becomes.
        cells: other cells of the row that are put; an empty value removes one.
        puts: partition rows that replace what is under their keys.
        deletes: keys of partition rows that go; none of them is put.
        cleared: beginnings of keys all of whose partition rows go; none of them is put.
        rewrite: what becomes of all partition rows of a table; None: nothing.
        changed: whether anything of the row changes; if not, it was only read.
    """

    row: bytes
    sequence: int
    state: bytes
    cells: Mapping[str, bytes] = field(default_factory=dict)
    puts: Sequence[PartitionRow] = ()
    deletes: Sequence[bytes] = ()
    cleared: Sequence[bytes] = ()
    rewrite: Rewrite | None = None
    changed: bool = True

    @property
    def has_partition_rows(self) -> bool:
        """Whether partition rows are written."""
        return bool(self.puts or self.deletes or self.is_long)

    @property
    def is_long(self) -> bool:
        """Whether there may be any number of them."""
        return bool(self.cleared or self.rewrite)

    def spans(self) -> tuple[Span, ...]:
        """Where its partition rows lie."""
        keys = [put.key for put in self.puts]
        keys += self.deletes
        for prefix in (*self.cleared, *([] if self.rewrite is None else [self.rewrite.target])):
            keys += (prefix, successor(prefix))
        return spans_of(keys)

    def apply(self, rows: Rows, progress: Progress) -> None:
        """Write all but the log; doing so again, at once with others or late, changes nothing."""
        if self.rewrite is not None:
            self.rewrite.apply(rows, self.sequence, progress)
        rows.write(self.puts, self.deletes, self.sequence)
        for prefix in self.cleared:
            for keys in _in_batches(key for batch in stored(rows).scan(prefix, successor(prefix)) for key, _ in batch):
                rows.write((), keys, self.sequence)
                progress.say(keys[-1])
        if self.cells:
            cells = [CatalogCell(self.row, name, value) for name, value in self.cells.items()]
            rows.put_cells(cells, self.sequence)


def moves_partitions(writes: Sequence[RowWrites]) -> bool:
    """Whether partition rows go and others come, in one row or between two."""
    return any(one.puts or one.rewrite for one in writes) and any(one.deletes or one.cleared for one in writes)


def only_removes(writes: Iterable[RowWrites]) -> bool:
    """Whether rows go and none comes."""
    changed = [row_writes for row_writes in writes if row_writes.changed]
    goes = any(row_writes.deletes or row_writes.cleared or not row_writes.state for row_writes in changed)
    return goes and not any(row_writes.puts or row_writes.rewrite for row_writes in changed)


def encode_writes(writes: Iterable[RowWrites]) -> bytes:
    """The bytes of lists of writes."""
    return b"".join(_sequence(list(writes), _encoded))


def decode_writes(data: bytes) -> tuple[RowWrites, ...]:
    """The lists of writes of `encode_writes`'s bytes.

    Raises:
        CorruptRow: they are not.
    """
    reader = _Reader(data)
    try:
        return reader.sequence(reader.writes)
    except (struct.error, EOFError, UnicodeDecodeError) as error:
        raise CorruptRow("the writes of a commit cannot be decoded", bytes=len(data), hint=RESTORE) from error


def _encoded(writes: RowWrites) -> Iterator[bytes]:
    yield from _prefixed(writes.row)
    yield _NUMBER.pack(writes.sequence)
    yield from _prefixed(writes.state)
    yield from _sequence(writes.cells.items(), lambda cell: (*_prefixed(cell[0].encode()), *_prefixed(cell[1])))
    yield from _sequence(
        writes.puts, lambda put: (*_prefixed(put.key), *_sequence(put.cells, _prefixed), *_prefixed(put.payload))
    )
    yield from _sequence(writes.deletes, _prefixed)
    yield from _sequence(writes.cleared, _prefixed)
    yield from _prefixed(b"" if writes.rewrite is None else writes.rewrite.encode())
    yield bytes([writes.changed])


@dataclass(slots=True)
class _Reader:
    data: bytes
    at: int = 0

    def number(self) -> int:
        number: int = _LENGTH.unpack_from(self.data, self.at)[0]
        self.at += _LENGTH.size
        return number

    def text(self) -> bytes:
        return self.take(self.number())

    def take(self, size: int) -> bytes:
        start, self.at = self.at, self.at + size
        if self.at > len(self.data):
            raise EOFError
        return self.data[start : self.at]

    def sequence(self, read: Callable[[], T]) -> tuple[T, ...]:
        return tuple(read() for _ in range(self.number()))

    def cell(self) -> tuple[str, bytes]:
        return self.text().decode(), self.text()

    def put(self) -> PartitionRow:
        return PartitionRow(self.text(), self.sequence(self.text), self.text())

    def writes(self) -> RowWrites:
        return RowWrites(
            self.text(),
            _NUMBER.unpack(self.take(_NUMBER.size))[0],
            self.text(),
            dict(self.sequence(self.cell)),
            self.sequence(self.put),
            self.sequence(self.text),
            self.sequence(self.text),
            Rewrite.decode(rewrite) if (rewrite := self.text()) else None,
            self.take(1) == b"\x01",
        )


def _prefixed(data: bytes) -> Iterator[bytes]:
    yield _LENGTH.pack(len(data))
    yield data


def _sequence(items: Sequence[T] | Iterable[T], encode: Callable[[T], Iterable[bytes]]) -> Iterator[bytes]:
    listed = list(items)
    yield _LENGTH.pack(len(listed))
    for item in listed:
        yield from encode(item)


def _in_batches(keys: Iterator[bytes]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    for key in keys:
        batch.append(key)
        if len(batch) >= CLEAR_BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
