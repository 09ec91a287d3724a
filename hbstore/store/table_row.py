"""The rows of databases and tables: their keys, their cells, and what is made of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import NoneType
from typing import Final

from hbstore.byte_cache import remembered, size_of
from hbstore.errors import ConcurrentChange, CorruptRow, TimelineError
from hbstore.files.locations import same_place
from hbstore.keys.row_key import table_prefix
from hbstore.model.objects import Table
from hbstore.model.structs import decode_table, encode_table
from hbstore.model.totals import NOTHING, Totals
from hbstore.plans.schema import KeySchema
from hbstore.plans.statistics import Statistics
from hbstore.rows.damage import RESTORE
from hbstore.rows.interface import Cells, Rows
from hbstore.store.sketch import Sketch
from hbstore.store.time_columns import TimeColumns
from hbstore.texts.arguments import expect
from hbstore.transactions.log import Log
from hbstore.transactions.unpacked_rows import unpacked

DEFINITION: Final = "d:def"
STATISTICS: Final = "s:stats"


def database_key(name: str) -> bytes:
    """The row of a database."""
    return b"D" + name.encode()


def table_key(database: str, name: str) -> bytes:
    r"""The row of a table.

    >>> table_key("shop", "sales")
    b'Tshop\x00sales'
    """
    return b"T" + database.encode() + b"\x00" + name.encode()


def names_of(key: bytes) -> tuple[str, str]:
    """The database and the name of the table in a row, whether it is there or not.

    >>> names_of(table_key("shop", "sales"))
    ('shop', 'sales')
    """
    database, _, name = key[1:].decode().partition("\0")
    return database, name


def table_keys(database: str) -> tuple[bytes, bytes]:
    """The range of the rows of a database's tables."""
    return b"T" + database.encode() + b"\x00", b"T" + database.encode() + b"\x01"


DATABASE_KEYS: Final = (b"D", b"E")
TABLE_KEYS: Final = (b"T", b"U")
TABLE_ID: Final = 8
_HEAD: Final = 16
_MARK: Final = b"\xff"
"""Stands before the columns that hold respelled values; no struct begins with it."""
_PREFIX_MARK: Final = b"\xfe"
"""Stands before the prefix of a table's keys, where the table's present name does not tell it."""
_POSITION: Final = 2


def first_definition(table: Table, life: int = 0) -> bytes:
    """The ``d:def`` cell of a table that is created: 16 random bytes, then the Table struct.

    The first eight, the table id, tell this table from an equal one of the same name before or after it. The other
    eight, the version, become others when the table is renamed or altered with its partitions. So a process that is
    late to drop or to rename a table never meets another one, nor the same after it came back.

    Args:
        table: the table.
        life: 0 where no other table had the name before, else a number that none of them has.
    """
    prefix = table_prefix(table.database, table.name, life) if life else b""
    return os.urandom(_HEAD) + _marked(prefix) + encode_table(table)


def next_definition(cell: bytes, table: Table) -> bytes:
    """The ``d:def`` cell of a table that is altered."""
    return _upto_struct(cell) + encode_table(table)


def renewed_definition(cell: bytes, key: bytes, table: Table) -> bytes:
    """The ``d:def`` cell of a table that is renamed, or altered with its partitions.

    Args:
        cell: the one of the table as it is.
        key: the row that it is in.
        table: the table as it will be; its keys begin as before.
    """
    columns = cell[_HEAD : _upto_prefix(cell)]
    version = os.urandom(_HEAD - TABLE_ID)
    return cell[:TABLE_ID] + version + columns + _marked(prefix_of(key, cell)) + encode_table(table)


def prefix_of(key: bytes, cell: bytes) -> bytes:
    """What the keys of a table's partitions begin with, by its row's key and its ``d:def`` cell."""
    at = _upto_prefix(cell)
    stored = cell[at + len(_PREFIX_MARK) + _POSITION : len(_upto_struct(cell))]
    return stored or table_prefix(*names_of(key))


def respelled_definition(cell: bytes, columns: Iterable[int]) -> bytes:
    """The ``d:def`` cell of a table of which some more columns, by their positions, hold respelled values.

    The mark stands in the definition, so who knows that knows the mark, and plans made without it are not used again.
    """
    marked = sorted(respelled_columns(cell).union(columns))
    positions = b"".join(at.to_bytes(_POSITION, "big") for at in marked)
    return cell[:_HEAD] + _MARK + len(marked).to_bytes(_POSITION, "big") + positions + cell[_upto_prefix(cell) :]


def respelled_columns(cell: bytes) -> frozenset[int]:
    """The positions of the columns that hold respelled values, by the ``d:def`` cell."""
    positions = cell[_HEAD + len(_MARK) + _POSITION : _upto_prefix(cell)]
    return frozenset(
        int.from_bytes(positions[at : at + _POSITION], "big") for at in range(0, len(positions), _POSITION)
    )


def id_and_version(cell: bytes) -> bytes:
    """What tells one state of a table's row from all others: table id and version."""
    return cell[:_HEAD]


def table_id_of(cell: bytes) -> bytes:
    """What tells a table from all others, as long as it lives."""
    return cell[:TABLE_ID]


def struct_of(cell: bytes) -> bytes:
    """The Table struct in a ``d:def`` cell."""
    return cell[len(_upto_struct(cell)) :]


def _upto_struct(cell: bytes) -> bytes:
    """What stands before the Table struct."""
    at = _upto_prefix(cell)
    if not cell.startswith(_PREFIX_MARK, at):
        return cell[:at]
    at += len(_PREFIX_MARK)
    return cell[: at + _POSITION + int.from_bytes(cell[at : at + _POSITION], "big")]


def _upto_prefix(cell: bytes) -> int:
    """Where the columns that hold respelled values end."""
    if not cell.startswith(_MARK, _HEAD):
        return _HEAD
    at = _HEAD + len(_MARK)
    return at + _POSITION * (1 + int.from_bytes(cell[at : at + _POSITION], "big"))


def _marked(prefix: bytes) -> bytes:
    return _PREFIX_MARK + len(prefix).to_bytes(_POSITION, "big") + prefix if prefix else b""


@dataclass(frozen=True, eq=False)
class Definition:
    """A decoded table and what planning needs of it; shared by all calls while the table is not altered.

    It is equal to itself alone, so it is a quick key for what is known of this version of the table.

    Attributes:
        table: the table.
        prefix: what the keys of its partitions begin with.
        respelled: the positions of partition columns that hold respelled values.
    """

    table: Table
    prefix: bytes
    respelled: frozenset[int] = frozenset()

    @cached_property
    def schema(self) -> KeySchema:
        """Its partition columns as keys see them."""
        return KeySchema(self.prefix, self.table.partition_column_names, self.table.key_types, self.respelled)

    @property
    def time_columns(self) -> TimeColumns | None:
        """Its time partition columns; None if it keeps no timelines, or declares what cannot be.

        They remember the times that they have read, so they live as long as a call, and not with the definition.
        """
        return None if self._time_columns is None else self._time_columns.afresh()

    @cached_property
    def _time_columns(self) -> TimeColumns | None:
        with suppress(TimelineError):
            return TimeColumns.of(self.table)
        return None

    @cached_property
    def size(self) -> int:
        """About how many bytes it takes in memory."""
        return size_of(self.table)

    def has_partition_columns_of(self, table: Table) -> bool:
        """Whether the partition columns of two tables have the same names, in any case, and types."""
        names = [[name.lower() for name in one.partition_column_names] for one in (self.table, table)]
        return names[0] == names[1] and self.table.key_types == table.key_types


@dataclass(frozen=True, slots=True, repr=False)
class TableRow:
    """One atomic read of a table's row.

    Attributes:
        key: its key in the catalog.
        cells: as read, without the log.
        log: its log, whose state holds the table's totals.
        definition: the table.
    """

    key: bytes
    cells: Cells
    log: Log
    definition: Definition

    @staticmethod
    def of(key: bytes, log: Log, cells: Cells) -> TableRow | None:
        """What a table's log and cells say; None if no table is there.

        >>> row = store.table_row("shop", "sales")
        >>> TableRow.of(row.key, row.log, row.cells)
        <TableRow shop.sales>
        """
        definition = cells.get(DEFINITION)
        return TableRow(key, cells, log, definition_of(definition)) if definition else None

    def __repr__(self) -> str:
        return f"<TableRow {'.'.join(names_of(self.key))}>"

    @property
    def table(self) -> Table:
        """The table.

        >>> store.table_row("shop", "sales").table.name
        'sales'
        """
        return self.definition.table

    @property
    def struct(self) -> bytes:
        """The table as it is stored: the bytes of the Hive Metastore's Table struct.

        >>> store.table_row("shop", "sales").struct == store.read_table("shop", "sales")
        True
        """
        return struct_of(self.cells[DEFINITION])

    def unpacked(self, rows: Rows) -> Rows:
        """The rows of a backend for this table: its partitions are the structs that were written.

        >>> row = store.table_row("shop", "sales")
        >>> len(next(row.unpacked(store.rows).payloads(row.definition.prefix, b"shoq", limit=5)))
        5
        """
        return unpacked(rows, self.key, self.cells)

    @property
    def totals(self) -> Totals:
        """How many partitions the table has, and what these say of their rows, files and bytes.

        >>> store.table_row("shop", "sales").totals.partitions
        72
        """
        return totals_of(self.log)

    @property
    def table_id(self) -> bytes:
        """Eight bytes that no other table has, nor had; it keeps them when it is altered or renamed.

        So what is kept under them goes along with the table: its sequence numbers, too, only rise on that way.

        >>> len(store.table_row("shop", "sales").table_id)
        8
        """
        return table_id_of(self.cells[DEFINITION])


def check_same_table(now: TableRow, before: TableRow | Table | None) -> None:
    """See that a table is the one that was read before, altered or not.

    Args:
        now: the table that has the name.
        before: its row, or its definition: then its folder has to be the one that this says, if it has any; None: it
            may be any table.

    Raises:
        ConcurrentChange: it is another table, or was given another location; nothing was changed.
    """
    expect("same_as", before, TableRow, Table, NoneType, hint="Give the row of store.table_row, or None")
    if isinstance(before, TableRow):
        if now.table_id != before.table_id:
            hint = "Nothing was changed; read the table again"
            raise ConcurrentChange("another table has this name now", table=before.table, hint=hint)
    elif before is not None and now.table.location and not same_place(now.table.location, before.location):
        raise ConcurrentChange(
            "the table has another location than when it was read, or another table has its name now",
            table=before,
            location=now.table.location,
            hint="Nothing was changed; try again",
        )


def totals_of(log: Log) -> Totals:
    """The totals in the state of a table's log.

    Raises:
        CorruptRow: the state is no list of numbers.
    """
    return totals_in(log.state) if log.state else NOTHING


@lru_cache(maxsize=1_024)
def totals_in(state: bytes) -> Totals:
    """The totals that `totals_state` wrote.

    Raises:
        CorruptRow: the state is no list of numbers.
    """
    try:
        return Totals(*json.loads(state))
    except (ValueError, TypeError) as error:
        raise CorruptRow("the totals of a table cannot be decoded", totals=state[:80], hint=RESTORE) from error


def totals_state(totals: Totals) -> bytes:
    """The state of a table's log: its totals as a JSON list."""
    return json.dumps(list(totals.to_dict().values()), separators=(",", ":")).encode()


def statistics_of(row: TableRow) -> Statistics:
    """What the planner knows of the table's rows.

    >>> statistics_of(store.table_row("shop", "sales")).distinct[0]
    3
    """
    return Sketch.decode(row.cells.get(STATISTICS), len(row.definition.schema.names)).statistics()


@remembered
def definition_of(cell: bytes) -> Definition:
    """The definition in a ``d:def`` cell, decoded once while it is remembered. O(bytes) for the look-up."""
    table = decode_table(struct_of(cell))
    return Definition(table, prefix_of(table_key(table.database, table.name), cell), respelled_columns(cell))
