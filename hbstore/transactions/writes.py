"""What a transaction writes: for each of its catalog rows a list of writes, as one value that can be stored.

It holds all that writing it takes, so that any process that meets an open commit does the same as the one that decided
it, any number of times.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from hbstore.errors import CorruptRow, NotAStore
from hbstore.rows.damage import RESTORE
from hbstore.rows.interface import CatalogCell, PartitionRow, Rows
from hbstore.transactions.log import Span, spans_of

T = TypeVar("T")
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
        changed: whether anything of the row changes; if not, it was only read.
    """

    row: bytes
    sequence: int
    state: bytes
    cells: Mapping[str, bytes] = field(default_factory=dict)
    puts: Sequence[PartitionRow] = ()
    deletes: Sequence[bytes] = ()
    changed: bool = True

    @property
    def has_partition_rows(self) -> bool:
        """Whether partition rows are written."""
        return bool(self.puts or self.deletes)

    def spans(self) -> tuple[Span, ...]:
        """Where its partition rows lie."""
        return spans_of([*(put.key for put in self.puts), *self.deletes])

    def apply(self, rows: Rows) -> None:
        """Write all but the log; doing so again, at once with others or late, changes nothing."""
        rows.write(self.puts, self.deletes, self.sequence)
        if self.cells:
            cells = [CatalogCell(self.row, name, value) for name, value in self.cells.items()]
            rows.put_cells(cells, self.sequence)


def moves_partitions(writes: Sequence[RowWrites]) -> bool:
    """Whether partition rows go and others come, in one row or between two."""
    return any(one.puts for one in writes) and any(one.deletes for one in writes)


def only_removes(writes: Iterable[RowWrites]) -> bool:
    """Whether rows go and none comes."""
    changed = [row_writes for row_writes in writes if row_writes.changed]
    goes = any(row_writes.deletes or not row_writes.state for row_writes in changed)
    return goes and not any(row_writes.puts for row_writes in changed)


def encode_writes(writes: Iterable[RowWrites]) -> bytes:
    """The bytes of lists of writes."""
    return b"".join(_sequence(list(writes), _encoded))


def decode_writes(data: bytes) -> tuple[RowWrites, ...]:
    """The lists of writes of `encode_writes`'s bytes.

    Raises:
        CorruptRow: they are not.
        NotAStore: up to format 5 they could be of another kind.
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
    yield from (_LENGTH.pack(0), _LENGTH.pack(0))  # up to format 5: ranges that went, and what became of a whole table
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
        row, sequence, state = self.text(), _NUMBER.unpack(self.take(_NUMBER.size))[0], self.text()
        cells, puts, deletes = dict(self.sequence(self.cell)), self.sequence(self.put), self.sequence(self.text)
        if self.sequence(self.text) or self.text():
            raise NotAStore(
                "an earlier version of hbstore dropped, renamed or altered a table, and did not finish",
                row=row,
                hint="Nothing was changed; run `hbstore repair` of that version, and open the store with this one then",
            )
        return RowWrites(row, sequence, state, cells, puts, deletes, changed=self.take(1) == b"\x01")


def _prefixed(data: bytes) -> Iterator[bytes]:
    yield _LENGTH.pack(len(data))
    yield data


def _sequence(items: Sequence[T] | Iterable[T], encode: Callable[[T], Iterable[bytes]]) -> Iterator[bytes]:
    listed = list(items)
    yield _LENGTH.pack(len(listed))
    for item in listed:
        yield from encode(item)
