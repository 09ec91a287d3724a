"""Check and repair: every row read and compared with itself, and open changes finished."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Final

from hbstore.errors import CorruptRow, HbstoreError, InvalidPartitionValue
from hbstore.keys.row_key import row_key, split_key, successor, text_cell
from hbstore.model.layouts import PARTITION
from hbstore.model.service_structs import decode_companion
from hbstore.model.structs import decode_database, decode_partition
from hbstore.model.totals import NOTHING, Totals
from hbstore.rows.damage import RESTORE
from hbstore.rows.interface import Cells, PartitionRow, Rows
from hbstore.store.belongings import outlived, unsound
from hbstore.store.companion_keys import table_companion_key
from hbstore.store.constraints_cell import CONSTRAINTS, TableConstraints
from hbstore.store.leftovers import REMOVE, leftovers, remove_rows_of_no_table
from hbstore.store.manifest import Manifest
from hbstore.store.manifest_rows import manifest_key, manifests_of, unpacked_manifest
from hbstore.store.noted_tables import end_noting, notes_of
from hbstore.store.publications_cell import publications_of
from hbstore.store.recount import recount
from hbstore.store.table_row import (
    DATABASE_KEYS,
    DEFINITION,
    TABLE_KEYS,
    TableRow,
    id_and_version,
    names_of,
    totals_of,
)
from hbstore.store.tables import Tables
from hbstore.transactions.log import LOG, Log
from hbstore.transactions.resolving import Resolver
from hbstore.transactions.transactions import Transactions

PAYLOAD_AGE: Final = 600.0
"""Seconds after which a change that was never decided is taken to be a dead writer's."""
_ALL: Final = (b"D", b"W")
"""All rows of the catalog that have logs."""
_OF_DATABASES: Final = (b"F", b"G", b"M")
"""What the keys of rows begin with that name a database."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A row that is not what it should be.

    Attributes:
        table: ``database.table``, or the database where its own row is meant.
        key: the row key in hex; empty where the store as a whole is meant.
        text: what is wrong.
        of_partition: whether it is the row of a partition.
    """

    table: str
    key: str
    text: str
    of_partition: bool = False

    def __str__(self) -> str:
        return f"{self.table}: {self.text}" + (f" (row {self.key})" if self.key else "")


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
    """Look at every partition row of a table: one item for each, None where all is well, and one for each other fault.

    A row is well if its key splits into cells, its cell columns are those cells, its payload decodes and names this
    table, and the values in the payload make this very key. Totals are well if they are the sum of the rows; they are
    passed over where they are not known, or the table was changed meanwhile, and so are rows that seem to be damaged if
    it was renamed, or its partitions were written anew. Constraints, and the rows of statistics, marks and manifests
    are well if they decode, and there is a manifest for each publication.
    """
    start = row.definition.prefix
    sum_of_all = NOTHING
    for stored in row.unpacked(rows).whole_rows(start, successor(start)):
        sum_of_all += Totals.of([stored.payload])
        text = _problem(stored, row)
        if text is not None and not _is_same(rows, row):
            text = None  # it may have come after a rename, of which what was read of the table does not tell
        yield None if text is None else Problem(str(row.table), stored.key.hex(), text, of_partition=True)
    known = row.totals
    if known != sum_of_all and _is_at_rest(rows, row):
        wrong = known.to_dict().items() - sum_of_all.to_dict().items()
        counted = sum_of_all.to_dict()
        text = ", ".join(f"{name} {number:,} instead of {counted[name]:,}" for name, number in sorted(wrong))
        yield Problem(str(row.table), row.key.hex(), f"the totals are wrong: {text}")
    try:
        TableConstraints.decode(row.cells.get(CONSTRAINTS))
    except CorruptRow as error:
        yield Problem(str(row.table), row.key.hex(), str(error))
    yield from _companion_problems(rows, row)


def _companion_problems(rows: Rows, row: TableRow) -> Iterator[Problem]:
    """What is wrong with the rows beside a table's partitions: statistics, marks, and what publications do."""
    start, manifests = table_companion_key(row), set()
    for key, payload in chain.from_iterable(rows.scan(start, successor(start))):
        if key.startswith(notes_of(row.cells[DEFINITION])):
            continue  # of a copy that is being made, or died
        try:
            if key.startswith(manifests_of(row)):
                manifests.add(key)
                Manifest.decode(unpacked_manifest(row.table, payload))
            else:
                decode_companion(payload)
        except CorruptRow as error:
            yield Problem(str(row.table), key.hex(), str(error))
    try:
        due = {manifest_key(row, one.id) for one in publications_of(row)}
    except CorruptRow as error:
        yield Problem(str(row.table), row.key.hex(), str(error))
        return
    if due != manifests and _is_at_rest(rows, row):
        for key in sorted(due ^ manifests):
            text = "a publication does not say what it does" if key in due else "no publication is of this manifest"
            yield Problem(str(row.table), key.hex(), text)


def _is_same(rows: Rows, row: TableRow) -> bool:
    """Whether a table has had its name, and its partitions were of the same epochs, since its row was read."""
    now = Resolver(rows).read(row.key)[1].get(DEFINITION)
    return now is not None and id_and_version(now) == id_and_version(row.cells[DEFINITION])


def _is_at_rest(rows: Rows, row: TableRow) -> bool:
    """Whether nothing is being changed in a table's row, nor was since it was read."""
    return not row.log.commits and Log.decode((rows.get(row.key) or {}).get(LOG)) == row.log


def check_catalog(rows: Rows) -> Iterator[tuple[str, str | None, Problem | None]]:
    """Look at the rows of all databases and tables: database, table (None for a database's own row), what is wrong.

    A row is well if all of its cells decode and its definition has the names that its key says. Of all other rows only
    those that are not well are named, by their databases where they have one. Where the backend doubts that all
    rows are there, that comes first.
    """
    doubt = rows.doubt()
    if doubt is not None:
        yield "", None, Problem("catalog", "", f"{doubt}; `hbstore repair` takes the file for the store")
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
    for key, problem in unsound(rows):
        name = key[1:].decode(errors="replace").partition("\0")[0] if key[:1] in _OF_DATABASES else ""
        yield name, None, Problem(name or ("records" if key[:1] == b"Q" else "catalog"), key.hex(), str(problem))
    with suppress(CorruptRow):  # of a table, which is named above
        for key, _ in outlived(Tables(Transactions(rows))):
            yield "", None, Problem("catalog", key.hex(), "the row outlived its table; `hbstore repair` removes it")
    yield from _rows_of_no_table(rows)


def _rows_of_no_table(rows: Rows) -> Iterator[tuple[str, str | None, Problem]]:
    """Those that a table's would-be name tells have its names; the key is what their keys begin with."""
    for start, _, row in leftovers(Transactions(rows)):
        database, name = ("", None) if row is None else names_of(row)
        shown = f"{database}.{name}" if name else "no table"
        yield database, name, Problem(shown, start.hex(), f"rows are left that belong to no table; {REMOVE}")


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
    return Repaired(finished, recount(transactions, row.key))


def repair_catalog(transactions: Transactions) -> int:
    """Finish what dead writers left of databases, tables and other rows of the catalog, and remove rows of no table.

    Returns:
        Of how many rows of the catalog, of how many tables for a copy that died, and under how many names.
    """
    if transactions.rows.doubt():
        transactions.rows.settle_doubt()
    logs = transactions.rows.scan_catalog(*_ALL, (LOG,))  # payload rows have none; they may be large, and many
    finished = sum(bool(transactions.roll_forward_row(row, PAYLOAD_AGE)) for row, _ in logs)
    return finished + end_noting(transactions) + remove_rows_of_no_table(transactions)


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
    expected = None
    with suppress(InvalidPartitionValue):  # of an older store, with a key that is longer now than it may be
        expected = row_key(schema.prefix, tuple(map(text_cell, schema.types, partition.values)))
    return None if expected == partition_row.key else f"the payload's values {partition.values} belong to another key"
