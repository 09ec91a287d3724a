"""Rewriting all partition rows that a table has: the one write that is not a list of rows, as there may be millions.

A table that gets another name has its rows copied below that; one whose columns go to its partitions has
them changed where they are. Rows are written in batches, and how far that has come is said in the payload row: a
process that goes on with it begins there, and others wait as long as it makes progress.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from hbstore.errors import CorruptRow
from hbstore.keys.row_key import row_key, split_key, successor
from hbstore.model.objects import Column
from hbstore.rows.damage import RESTORE
from hbstore.rows.interface import PartitionRow, Rows
from hbstore.transactions.payload_change import PayloadChange
from hbstore.transactions.progress import Progress
from hbstore.transactions.templates import NO_TEMPLATES, Templates
from hbstore.transactions.unpacked_rows import stored

_BATCH_ROWS: Final = 1_000
_BATCH_BYTES: Final = 4 << 20


@dataclass(frozen=True, slots=True)
class Rewrite:
    """What becomes of all partition rows of a table.

    Attributes:
        source: what the rows' keys begin with.
        target: what the keys of the rewritten ones begin with; the same, where they stay.
        width: the number of partition columns.
        names: the database and the table that they belong to from now on.
        relocated: the beginning of locations, and what replaces it; None: they stay.
        columns: what the columns of their storage become; None: as before.
        templates: those of the table, with which its rows are packed before and afterwards.
    """

    source: bytes
    target: bytes
    width: int
    names: tuple[str, str]
    relocated: tuple[str, str] | None = None
    columns: tuple[Column, ...] | None = None
    templates: Templates = NO_TEMPLATES

    def apply(self, rows: Rows, sequence: int, progress: Progress) -> None:
        """Write all rows anew; those that another process has rewritten already become what they are.

        A process that falls behind may read rows of a table that was made here later: so it asks before it writes what
        it has read whether the others are through.
        """
        change = PayloadChange(self.names, self.relocated, self.columns)
        start = progress.reached() or self.source
        for batch in _in_batches(stored(rows).whole_rows(start, successor(self.source))):
            after = [PartitionRow(self._key(row.key), row.cells, self._changed(change, row.payload)) for row in batch]
            if progress.is_over():
                return
            rows.write([new for new, old in zip(after, batch, strict=True) if new != old], (), sequence)
            progress.say(batch[-1].key + b"\0")

    def _changed(self, change: PayloadChange, payload: bytes) -> bytes:
        return self.templates.packed(change.apply(self.templates.unpacked(payload)))

    def encode(self) -> bytes:
        """JSON."""
        columns = None if self.columns is None else [[one.name, one.type, one.comment] for one in self.columns]
        content = [self.source.hex(), self.target.hex(), self.width, self.names, self.relocated, columns]
        if self.templates.texts:
            content.append(b64encode(self.templates.encode()).decode())
        return json.dumps(content, separators=(",", ":")).encode()

    @staticmethod
    def decode(data: bytes) -> Rewrite:
        """The rewrite of `encode`'s bytes.

        Raises:
            CorruptRow: they are none.
        """
        try:
            source, target, width, names, relocated, columns, *templates = json.loads(data)
            return Rewrite(
                bytes.fromhex(source),
                bytes.fromhex(target),
                width,
                (names[0], names[1]),
                None if relocated is None else (relocated[0], relocated[1]),
                None if columns is None else tuple(Column(*one) for one in columns),
                Templates.of(b64decode(templates[0])) if templates else NO_TEMPLATES,
            )
        except (ValueError, TypeError, IndexError) as error:
            raise CorruptRow("the rewrite of a table cannot be decoded", bytes=len(data), hint=RESTORE) from error

    def _key(self, key: bytes) -> bytes:
        """A row's key below the target; a damaged key just changes its beginning."""
        if self.source == self.target:
            return key
        try:
            prefix, cells = split_key(key, self.width)
        except CorruptRow:
            prefix = b""
        return row_key(self.target, cells) if prefix == self.source else self.target + key[len(self.source) :]


def _in_batches(rows: Iterable[PartitionRow]) -> Iterator[list[PartitionRow]]:
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
