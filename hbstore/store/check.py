"""Check and repair: every row read and compared with itself, and open changes finished."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

from hbstore.errors import CorruptRow, HbstoreError
from hbstore.keys import row_key, split_key, successor, text_cell
from hbstore.layouts import PARTITION
from hbstore.rows.damage import RESTORE
from hbstore.rows.interface import Cells, PartitionRow, Rows
from hbstore.store.documents import DOCUMENT_KEYS, check_document
from hbstore.store.records import RECORD_KEYS, check_record
from hbstore.store.table_row import (
    DATABASE_KEYS,
    TABLE_KEYS,
    TableRow,
    names_of,
    totals_of,
    totals_state,
)
from hbstore.store.writer import refresh_statistics
from hbstore.structs import decode_database, decode_partition
from hbstore.totals import NOTHING, Totals
from hbstore.transactions.log import LOG, Log
from hbstore.transactions.resolving import Resolver
from hbstore.transactions.transaction import Transaction
from hbstore.transactions.transactions import Transactions

PAYLOAD_AGE: Final = 600.0
"""Seconds after which a change that was never decided is taken to be a dead writer's."""
_ALL: Final = (b"D", b"W")
"""All rows of the catalog that have logs."""


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
        finished: unfinished changes that were finished, or given up where they were not decided.
        miscounted: whether the table's totals were not the sum of its partitions, which they are now.
    """

    finished: int
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
    known = row.totals
    if not row.log.commits and known != sum_of_all and Log.decode((rows.get(row.key) or {}).get(LOG)) == row.log:
        wrong = known.to_dict().items() - sum_of_all.to_dict().items()
        counted = sum_of_all.to_dict()
        text = ", ".join(f"{name} {number:,} instead of {counted[name]:,}" for name, number in sorted(wrong))
        yield Problem(str(row.table), row.key.hex(), f"the totals are wrong: {text}")


def check_catalog(rows: Rows) -> Iterator[tuple[str, str | None, Problem | None]]:
    """Look at the rows of all databases and tables: database, table (None for a database's own row), what is wrong.

    A row is well if all of its cells decode and its definition has the names that its key says. Of documents and
    records only those that are not well are named, documents by their databases.
    """
    for key, stored in chain(rows.scan_catalog(*DATABASE_KEYS), rows.scan_catalog(*TABLE_KEYS)):
        database, nul, name = key[1:].decode(errors="replace").partition("\0")
        table = name if nul else None
        try:
            there = _is_sound(key, *Resolver(rows).seen(key, stored), table)
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


def _is_sound(key: bytes, log: Log, cells: Cells, table: str | None) -> bool:
    """Whether a row of the catalog is there; CorruptRow where it is not what it should be."""
    if table is None:
        if not log.state:
            return False
        name: object = decode_database(log.state).name
        name_in_key: object = key[1:].decode()
    else:
        row = TableRow.of(key, log, cells)
        if row is None:
            return False
        totals_of(log)
        name, name_in_key = (row.table.database, row.table.name), names_of(key)
    if name != name_in_key:
        raise CorruptRow("the name in the definition differs from the name in the row key", name=name, hint=RESTORE)
    return True


def repair(transactions: Transactions, row: TableRow) -> Repaired:
    """Finish what dead writers left of a table, and count its distinct values and totals anew. O(partitions)."""
    finished = transactions.roll_forward_row(row.key, PAYLOAD_AGE)

    def count(transaction: Transaction) -> bool:
        view = transaction.row(row.key)
        now = TableRow.of(view.key, view.log, view.cells)
        if now is None:  # it was dropped
            return False
        prefix = now.definition.prefix
        totals = Totals.of(payload for _, payload in view.partition_rows(prefix, successor(prefix)))
        view.set_state(totals_state(totals))
        return totals != now.totals

    miscounted = transactions.run(count)
    refresh_statistics(transactions, row)
    return Repaired(finished, miscounted)


def repair_catalog(transactions: Transactions) -> int:
    """Finish what dead writers left of databases, tables and other rows of the catalog; of how many."""
    return sum(
        bool(transactions.roll_forward_row(row, PAYLOAD_AGE)) for row, _ in list(transactions.rows.scan_catalog(*_ALL))
    )


def _problem(partition_row: PartitionRow, row: TableRow) -> str | None:
    schema = row.definition.schema
    columns = len(schema.names)
    try:
        prefix, cells = split_key(partition_row.key, columns)
        partition = decode_partition(partition_row.payload)
    except CorruptRow as error:
        return str(error)
    names = PARTITION.read_fields(partition_row.payload, 0)[0]
    if (names.get("database"), names.get("table")) != (row.table.database, row.table.name):
        return f"the payload names the table {names.get('database')}.{names.get('table')}"
    if prefix != schema.prefix:
        return "the key's trailer does not begin where the table's prefix ends"
    if tuple(partition_row.cells[:columns]) != cells or any(partition_row.cells[columns:]):
        return "the cell columns are not the cells of the key"
    if len(partition.values) != columns:
        return f"the payload has {len(partition.values)} values for {columns} partition columns"
    expected = row_key(schema.prefix, tuple(map(text_cell, schema.types, partition.values)))
    return None if expected == partition_row.key else f"the payload's values {partition.values} belong to another key"
