"""Check and repair: every row read and compared with itself, and open intents finished."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from itertools import chain
from typing import Final

from hbstore.errors import CorruptRow, HbstoreError, TableNotFound
from hbstore.keys import row_key, split_key, successor, text_cell
from hbstore.layouts import PARTITION
from hbstore.rows.damage import RESTORE
from hbstore.rows.interface import Cells, PartitionRow, Rows
from hbstore.store.counting import count_anew
from hbstore.store.database_drop import defined
from hbstore.store.documents import DOCUMENT_KEYS, check_document
from hbstore.store.finishing import Finisher
from hbstore.store.functions import FUNCTION_KEYS
from hbstore.store.records import RECORD_KEYS, check_record
from hbstore.store.reservation import Reservation
from hbstore.store.slots import Slots
from hbstore.store.table_row import (
    DATABASE_KEYS,
    DEFINITION,
    JOURNAL,
    TABLE_KEYS,
    TableRow,
    journal_of,
    names_of,
    struct_of,
)
from hbstore.store.tables import Tables
from hbstore.store.writer import refresh_statistics
from hbstore.structs import decode_database, decode_partition, decode_table
from hbstore.totals import NOTHING, Totals
from hbstore.transactions.log import LOG, Log
from hbstore.transactions.transactions import Transactions

SLOT_AGE: Final = 600.0
"""Seconds after which a change that was never decided is taken to be a dead writer's."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A row that is not what it should be.

    Attributes:
        table: ``database.table``, or the database where its own row is meant.
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
        miscounted: whether the table's totals were known and were not the sum of its partitions, which they are now.
    """

    intents: int
    slots: int
    miscounted: bool = False


def check_table(rows: Rows, row: TableRow) -> Iterator[Problem | None]:
    """Look at every partition row of a table: one item for each, None where all is well, and one for its totals.

    A row is well if its key splits into cells, its cell columns are those cells, its payload decodes and names this
    table, and the values in the payload make this very key. Totals are well if they are the sum of the rows; they are
    passed over where they are not known, or the table was changed meanwhile.
    """
    start = row.definition.prefix
    sum_of_all = NOTHING
    for found in rows.whole_rows(start, successor(start)):
        sum_of_all += Totals.of([found.payload])
        text = _problem(found, row)
        yield None if text is None else Problem(str(row.table), found.key.hex(), text)
    known = None if journal_of(row).intents else journal_of(row).totals_of(row.incarnation)
    if known not in (None, sum_of_all) and (rows.get(row.key) or {}).get(JOURNAL) == row.cells.get(JOURNAL):
        wrong = known.to_dict().items() - sum_of_all.to_dict().items()
        counted = sum_of_all.to_dict()
        text = ", ".join(f"{name} {number:,} instead of {counted[name]:,}" for name, number in sorted(wrong))
        yield Problem(str(row.table), row.key.hex(), f"the totals are wrong: {text}")


def check_catalog(rows: Rows) -> Iterator[tuple[str, str | None, Problem | None]]:
    """Look at the rows of all databases and tables: database, table (None for a database's own row), what is wrong.

    A row is well if all of its cells decode and its definition has the names that its key says. Of documents and
    records only those that are not well are named, documents by their databases.
    """
    for key, cells in chain(rows.scan_catalog(*DATABASE_KEYS), rows.scan_catalog(*TABLE_KEYS)):
        database, nul, name = key[1:].decode(errors="replace").partition("\0")
        table = name if nul else None
        try:
            there = _is_sound(rows, cells, key, table)
        except HbstoreError as error:
            yield database, table, Problem(f"{database}.{name}" if nul else database, key.hex(), str(error))
            continue
        if there:
            yield database, table, None
    for key, cells in rows.scan_catalog(*DOCUMENT_KEYS):
        try:
            state = Log.decode(cells.get(LOG)).state
            if state:
                check_document(key, state)
        except CorruptRow as error:
            database = key[1:].decode(errors="replace").partition("\0")[0]
            yield database, None, Problem(database, key.hex(), str(error))
    for key, cells in rows.scan_catalog(*RECORD_KEYS):
        try:
            state = Log.decode(cells.get(LOG)).state
            if state:
                check_record(key, state)
        except CorruptRow as error:
            yield "", None, Problem("records", key.hex(), str(error))


def _is_sound(rows: Rows, cells: Cells, key: bytes, table: str | None) -> bool:
    """Whether a row of the catalog is there; CorruptRow where it is not what it should be."""
    if table is None:
        if not defined(cells.get(DEFINITION)):
            return False
        found: object = decode_database(cells[DEFINITION]).name
        wanted: object = key[1:].decode()
    else:
        if not Tables(rows).is_there(cells):
            return False
        decoded = decode_table(struct_of(cells[DEFINITION]))
        found, wanted = (decoded.database, decoded.name), names_of(key)
    if found != wanted:
        raise CorruptRow("the name in the definition differs from the name in the row key", name=found, hint=RESTORE)
    return True


def repair(rows: Rows, tables: Tables, row: TableRow) -> Repaired:
    """Finish a table's open intents, free slots of dead writers, and count its distinct values and totals anew."""
    intents = journal_of(row).intents
    for intent in intents:
        Finisher(rows).finish(row.key, intent)
    slots = 0 if rows.atomic else Slots(rows).free(row.key, Finisher(rows).journal(row.key), SLOT_AGE)
    miscounted = False
    with suppress(TableNotFound):  # it was being renamed
        refresh_statistics(rows, tables.reopen(row))
        with rows.transaction() if rows.atomic else nullcontext():
            now = tables.reopen(row)
            known, counted = journal_of(now).totals_of(now.incarnation), count_anew(rows, now)
        miscounted = None not in (known, counted) and known != counted
    return Repaired(len(intents), slots, miscounted)


def repair_catalog(rows: Rows) -> int:
    """Finish what dead writers left of databases, tables and functions that are gone, or were to come; of how many."""
    finisher = Finisher(rows)
    dropped = [key[1:].decode() for key, cells in rows.scan_catalog(*DATABASE_KEYS) if cells.get(DEFINITION)]
    finished = sum(Tables(rows).finish_drop(name) for name in dropped) if not rows.atomic else 0
    for key, cells in [] if rows.atomic else list(rows.scan_catalog(*TABLE_KEYS)):
        with suppress(CorruptRow):  # `check_catalog` names it
            reservation = Reservation.of(cells)
            if reservation is None and Tables(rows).is_there(cells):
                continue
            unfinished = len(finisher.journal(key).intents)
            if reservation is not None:
                finisher.settle(key, reservation)
            finisher.finish_all(key)
            finished += bool(reservation or unfinished or Slots(rows).free(key, finisher.journal(key), SLOT_AGE))
    functions = [key for key, _ in rows.scan_catalog(*FUNCTION_KEYS)]  # a new name for one changes two rows
    return finished + sum(Transactions(rows).finish(key, SLOT_AGE) for key in functions)


def _problem(found: PartitionRow, row: TableRow) -> str | None:
    schema = row.definition.schema
    columns = len(schema.names)
    try:
        prefix, cells = split_key(found.key, columns)
        partition = decode_partition(found.payload)
    except CorruptRow as error:
        return str(error)
    names = PARTITION.read_fields(found.payload, 0)[0]
    if (names.get("database"), names.get("table")) != (row.table.database, row.table.name):
        return f"the payload names the table {names.get('database')}.{names.get('table')}"
    if prefix != schema.prefix:
        return "the key's trailer does not begin where the table's prefix ends"
    if tuple(found.cells[:columns]) != cells or any(found.cells[columns:]):
        return "the cell columns are not the cells of the key"
    if len(partition.values) != columns:
        return f"the payload has {len(partition.values)} values for {columns} partition columns"
    expected = row_key(schema.prefix, tuple(map(text_cell, schema.types, partition.values)))
    return None if expected == found.key else f"the payload's values {partition.values} belong to another key"
