"""Counting a table's partitions anew while others change them: totals, and the sketch of distinct prefixes.

All partitions cannot be read within one step, as somebody changes the table meanwhile. So they are counted a batch at
a time, and how far that has come stands in a cell of the table's row, ``s:recount``. A change of partitions that have
been passed already is counted there as well. So the cell is always right about the keys up to where it has come.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hbstore.errors import CorruptRow
from hbstore.keys.row_key import cell_at, successor
from hbstore.model.totals import NOTHING, Totals
from hbstore.rows.damage import RESTORE
from hbstore.rows.interface import PartitionRow
from hbstore.store.companion_keys import is_companion
from hbstore.store.sketch import Sketch
from hbstore.store.table_row import STATISTICS, TableRow, totals_state
from hbstore.transactions.transaction import RowView, Transaction
from hbstore.transactions.transactions import Transactions

RECOUNT: Final = "s:recount"
_BATCH: Final = 10_000
"""Partitions that one step counts; half as many each time that somebody was faster."""
_FEWEST: Final = 100


@dataclass(frozen=True, slots=True)
class Recount:
    """How far a table has been counted.

    Attributes:
        reached: the last key that is counted, without the table's prefix; empty before the first.
        totals: of the partitions up to there.
        sketch: of their keys.
    """

    reached: bytes
    totals: Totals
    sketch: Sketch

    def encode(self) -> bytes:
        """The cell's bytes: a line of JSON, and the sketch."""
        numbers = list(self.totals.to_dict().values())
        return json.dumps([self.reached.hex(), numbers]).encode() + b"\n" + self.sketch.encode()

    @staticmethod
    def decode(cell: bytes, columns: int) -> Recount:
        """The recount of `encode`'s bytes.

        Raises:
            CorruptRow: they are not.
        """
        line, _, sketch = cell.partition(b"\n")
        try:
            reached, numbers = json.loads(line)
            return Recount(bytes.fromhex(reached), Totals(*numbers), Sketch.decode(sketch, columns))
        except (ValueError, TypeError, struct.error) as error:
            raise CorruptRow("the recount of a table cannot be decoded", cell=cell[:80], hint=RESTORE) from error


def gained(puts: Iterable[PartitionRow], deletes: Iterable[bytes], stored: Mapping[bytes, bytes]) -> Totals:
    """What a table's totals gain by a change.

    Args:
        puts: rows that replace what is under their keys; companions are passed over.
        deletes: keys that go.
        stored: the payloads that are there now, by those of the keys that exist.
    """
    rows = [put for put in puts if not is_companion(put.key)]
    keys = {*(put.key for put in rows), *deletes} & stored.keys() if stored else ()
    return Totals.of(put.payload for put in rows) - Totals.of(stored[key] for key in keys if not is_companion(key))


def note_change(
    view: RowView, row: TableRow, puts: Sequence[PartitionRow], deletes: Sequence[bytes], stored: Mapping[bytes, bytes]
) -> None:
    """Count a change in the recount that is under way, if there is one, as far as that has passed its keys.

    Args:
        view: the table in the transaction of the change.
        row: what it says.
        puts: as for `gained`.
        deletes: likewise.
        stored: likewise.
    """
    cell = view.cells.get(RECOUNT)
    if cell is None:
        return
    try:
        recount = Recount.decode(cell, len(row.definition.schema.names))
    except CorruptRow:  # the repair that is under way says so, and the next one begins anew
        return
    last = row.definition.prefix + recount.reached
    passed = [put for put in puts if put.key <= last and not is_companion(put.key)]
    totals = recount.totals + gained(passed, [key for key in deletes if key <= last], stored)
    sketch = recount.sketch.add(put.cells for put in passed)
    view.put_cell(RECOUNT, Recount(recount.reached, totals, sketch).encode())


def recount(transactions: Transactions, key: bytes) -> bool:
    """Count a table's partitions anew; whether its totals were wrong. O(partitions), in steps of a batch each.

    Others may change partitions meanwhile, and count them as well.

    Args:
        transactions: on the rows.
        key: the row of the table.
    """

    def begin(transaction: Transaction) -> None:
        view = transaction.row(key)
        row = TableRow.of(view.key, view.log, view.cells)
        if row is not None:
            nothing = Recount(b"", NOTHING, Sketch.empty(len(row.definition.schema.names)))
            view.put_cell(RECOUNT, nothing.encode())

    transactions.run(begin)
    batch, is_miscounted = _BATCH, None
    while is_miscounted is None:
        tries = 0

        def step(transaction: Transaction) -> bool | None:
            nonlocal batch, tries
            if tries:
                batch = max(batch // 2, _FEWEST)
            tries += 1
            return _count_on(transaction.row(key), batch)

        is_miscounted = transactions.run(step)
    return is_miscounted


def _count_on(view: RowView, batch: int) -> bool | None:
    """Count a batch; at the end put the totals and the sketch: whether they were wrong, None before the end."""
    row = TableRow.of(view.key, view.log, view.cells)
    cell = view.cells.get(RECOUNT)
    if row is None or cell is None:  # it was dropped, or another process has counted the rest
        return False
    prefix, columns = row.definition.prefix, len(row.definition.schema.names)
    earlier = Recount.decode(cell, columns)
    start, stop = prefix + earlier.reached + (b"\0" if earlier.reached else b""), successor(prefix)
    rows = list(view.partition_rows(start, stop, batch))
    totals = earlier.totals + Totals.of(payload for _, payload in rows)
    sketch = earlier.sketch.add(tuple(cell_at(key, at, columns) for at in range(columns)) for key, _ in rows)
    if len(rows) == batch:
        view.put_cell(RECOUNT, Recount(rows[-1][0][len(prefix) :], totals, sketch).encode())
        return None
    view.put_cell(RECOUNT, b"")
    view.put_cell(STATISTICS, sketch.encode())
    view.set_state(totals_state(totals))
    return totals != row.totals
