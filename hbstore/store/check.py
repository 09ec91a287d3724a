"""Check and repair: every row read and compared with itself, and open intents finished."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from hbstore.errors import CorruptRow
from hbstore.keys import row_key, split_key, successor, text_cell
from hbstore.rows.interface import PartitionRow, Rows
from hbstore.store.table_row import TableRow
from hbstore.store.tables import Tables
from hbstore.store.writer import refresh_statistics
from hbstore.structs import decode_partition

SLOT_AGE: Final = 600.0
"""Seconds after which a change that was never decided is taken to be a dead writer's."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A row that is not what it should be.

    Attributes:
        table: ``database.table``.
        key: the row key in hex.
        text: what is wrong.
    """

    table: str
    key: str
    text: str

    def __str__(self) -> str:
        return f"{self.table}: {self.text} (row {self.key})"


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a repair did.

    Attributes:
        intents: unfinished changes that were finished.
        slots: slots of dead writers that were freed.
    """

    intents: int
    slots: int


def check_table(rows: Rows, row: TableRow) -> Iterator[Problem | None]:
    """Look at every partition row of a table: one item for each, None where all is well.

    A row is well if its key splits into cells, its cell columns are those cells, its payload decodes, and the values in
    the payload make this very key.
    """
    start = row.definition.prefix
    for found in rows.whole_rows(start, successor(start)):
        text = _problem(found, row)
        yield None if text is None else Problem(str(row.table), found.key.hex(), text)


def repair(rows: Rows, tables: Tables, row: TableRow) -> Repaired:
    """Finish a table's open intents, free slots of dead writers, and count its distinct values anew."""
    journal = tables.journal()
    intents = row.journal.intents
    for intent in intents:
        journal.finish(row, intent)
    row = tables.reopen(row)
    slots = 0 if rows.atomic else journal.free_slots(row, SLOT_AGE)
    refresh_statistics(rows, tables.reopen(row))
    return Repaired(len(intents), slots)


def _problem(found: PartitionRow, row: TableRow) -> str | None:
    schema = row.definition.schema
    columns = len(schema.names)
    try:
        prefix, cells = split_key(found.key, columns)
        partition = decode_partition(found.payload)
    except CorruptRow as error:
        return str(error)
    if prefix != schema.prefix:
        return "the key's trailer does not begin where the table's prefix ends"
    if tuple(found.cells[:columns]) != cells or any(found.cells[columns:]):
        return "the cell columns are not the cells of the key"
    if len(partition.values) != columns:
        return f"the payload has {len(partition.values)} values for {columns} partition columns"
    expected = row_key(schema.prefix, tuple(map(text_cell, schema.types, partition.values)))
    return None if expected == found.key else f"the payload's values {partition.values} belong to another key"
