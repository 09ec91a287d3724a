"""TableChange: a change of a whole table, its definition and every one of its rows, as one value.

It holds all that applying it takes, so that every process that finds its intent does the same as its writer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from hbstore.errors import CorruptRow
from hbstore.keys import row_key, split_key, table_prefix
from hbstore.rows.damage import RESTORE
from hbstore.rows.interface import PartitionRow
from hbstore.store.payloads import PayloadChange
from hbstore.store.table_row import names_of, restamped_definition, stamp_of, struct_of
from hbstore.structs import decode_table

_BATCH_ROWS: Final = 1_000
_BATCH_BYTES: Final = 4 << 20


@dataclass(frozen=True, slots=True)
class TableChange:
    """What a table becomes.

    Attributes:
        definition: its definition's cell afterwards, with a new stamp, so that nobody mistakes it for the old one.
        replaced: incarnation and stamp of the definition that it replaces.
        relocated: the beginning of partitions' locations, and what replaces it.
        cascade: whether the partitions' columns become the table's.
        redeclared: whether it declares other timelines, or none any more.
        expected: the digest of the only cell that it may replace; empty: whatever the table was altered to meanwhile.
    """

    definition: bytes
    replaced: bytes
    relocated: tuple[str, str] | None = None
    cascade: bool = False
    redeclared: bool = False
    expected: bytes = b""

    def may_replace(self, cell: bytes) -> bool:
        """Whether a definition's cell is one that it was made for."""
        return not self.expected or digest_of(cell) == self.expected

    def outcome(self, cell: bytes) -> bytes:
        """What the definition's cell becomes. Where it is not the expected one, its stamp alone changes.

        From then on nobody can make this change, and its writer sees that it was not made.
        """
        return self.definition if self.may_replace(cell) else restamped_definition(cell, self.refusal)

    @property
    def refusal(self) -> bytes:
        """The stamp that says that the change was not made; all who finish it know it."""
        return blake2b(stamp_of(self.definition), digest_size=8).digest()

    @property
    def rewrites(self) -> bool:
        """Whether rows change that stay where they are."""
        return self.cascade or self.relocated is not None

    def encode(self) -> bytes:
        """A line of JSON, then the definition."""
        header = {
            "replaced": self.replaced.hex(),
            "relocated": self.relocated,
            "cascade": self.cascade,
            "redeclared": self.redeclared,
            "expected": self.expected.hex(),
        }
        return json.dumps(header).encode() + b"\n" + self.definition

    @staticmethod
    def decode(data: bytes) -> TableChange:
        """The change of `encode`'s bytes.

        Raises:
            CorruptRow: they are not.
        """
        header, _, definition = data.partition(b"\n")
        try:
            document = json.loads(header)
            pair = document["relocated"]
            relocated = None if pair is None else (str(pair[0]), str(pair[1]))
            flags = bool(document["cascade"]), bool(document.get("redeclared"))
            expected = bytes.fromhex(document.get("expected", ""))
            return TableChange(definition, bytes.fromhex(document["replaced"]), relocated, *flags, expected)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise CorruptRow("the change of a table cannot be decoded", bytes=len(data), hint=RESTORE) from error

    def of_rows(self, source: bytes, target: bytes) -> Callable[[PartitionRow], PartitionRow]:
        """What makes a row of the changed table from one of the table as it was.

        Args:
            source: the row key of the table as it was.
            target: the row key of the changed one.
        """
        table = decode_table(struct_of(self.definition))
        columns = table.columns if self.cascade else None
        payloads = PayloadChange(names_of(target), self.relocated, columns)
        old, new = prefix_of(source), prefix_of(target)
        width = len(table.partition_columns)

        def changed(row: PartitionRow) -> PartitionRow:
            key = row.key if old == new else moved_key(row.key, old, new, width)
            return PartitionRow(key, row.cells, payloads.apply(row.payload))

        return changed


def digest_of(cell: bytes) -> bytes:
    """What tells a definition's cell from all others."""
    return blake2b(cell, digest_size=16).digest()


def prefix_of(table: bytes) -> bytes:
    """What the keys of a table's partitions begin with, by the key of its row."""
    return table_prefix(*names_of(table))


def moved_key(key: bytes, old: bytes, new: bytes, columns: int) -> bytes:
    """A partition's key under another table's prefix; a damaged key just changes its prefix."""
    try:
        prefix, cells = split_key(key, columns)
    except CorruptRow:
        prefix = b""
    return row_key(new, cells) if prefix == old else new + key[len(old) :]


def in_batches(rows: Iterable[PartitionRow]) -> Iterator[list[PartitionRow]]:
    """Rows in batches that are worth a request and fit into memory many times."""
    batch: list[PartitionRow] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += len(row.payload)
        if len(batch) == _BATCH_ROWS or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
