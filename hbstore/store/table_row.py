"""The rows of databases and tables: their keys, their cells, and what is made of them."""

from __future__ import annotations

import os
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Final

from hbstore.keys import table_prefix
from hbstore.model import Table
from hbstore.plans.schema import KeySchema
from hbstore.plans.statistics import Statistics
from hbstore.rows.interface import Cells
from hbstore.store.journal_cell import Journal
from hbstore.store.sketch import Sketch
from hbstore.structs import decode_table, encode_table

DEFINITION: Final = "d:def"
JOURNAL: Final = "i:journal"
STATISTICS: Final = "s:stats"

_REMEMBERED: Final = 1_024
"""Definitions kept decoded."""


def database_key(name: str) -> bytes:
    """The row of a database."""
    return b"D" + name.encode()


def table_key(database: str, name: str) -> bytes:
    r"""The row of a table.

    >>> table_key("shop", "sales")
    b'Tshop\x00sales'
    """
    return b"T" + database.encode() + b"\x00" + name.encode()


def table_keys(database: str) -> tuple[bytes, bytes]:
    """The range of the rows of a database's tables."""
    return b"T" + database.encode() + b"\x00", b"T" + database.encode() + b"\x01"


DATABASE_KEYS: Final = (b"D", b"E")
TABLE_KEYS: Final = (b"T", b"U")
INTENT_KEYS: Final = (b"I", b"J")


_INCARNATION: Final = 8


def first_definition(table: Table) -> bytes:
    """The ``d:def`` cell of a table that is created: random bytes, then the Table struct.

    The random bytes tell this table from an equal one of the same name before or after it, so that a late
    compare-and-put of someone who drops the one never meets the other.
    """
    return os.urandom(_INCARNATION) + encode_table(table)


def next_definition(cell: bytes, table: Table) -> bytes:
    """The ``d:def`` cell of a table that is altered."""
    return cell[:_INCARNATION] + encode_table(table)


@dataclass(frozen=True)
class Definition:
    """A decoded table and what planning needs of it; shared by all calls while the table is not altered."""

    table: Table

    @cached_property
    def prefix(self) -> bytes:
        """What the keys of its partitions begin with."""
        return table_prefix(self.table.database, self.table.name)

    @cached_property
    def schema(self) -> KeySchema:
        """Its partition columns as keys see them."""
        return KeySchema(self.prefix, self.table.partition_column_names, self.table.key_types)


@dataclass(frozen=True, slots=True)
class TableRow:
    """One atomic read of a table's row.

    Attributes:
        key: its key in the catalog.
        cells: as read.
        definition: the table.
    """

    key: bytes
    cells: Cells
    definition: Definition

    @property
    def table(self) -> Table:
        """The table."""
        return self.definition.table

    @property
    def journal(self) -> Journal:
        """Open intents and the last sequence number."""
        return Journal.decode(self.cells.get(JOURNAL))

    @property
    def sketch(self) -> Sketch:
        """What is known of the table's rows."""
        return Sketch.decode(self.cells.get(STATISTICS), len(self.definition.schema.names))

    @property
    def statistics(self) -> Statistics:
        """What is known of the table's rows, as the planner wants it."""
        return self.sketch.statistics()


@dataclass(slots=True)
class Definitions:
    """Decoded definitions by their bytes: a table is decoded once for each version of it."""

    _known: OrderedDict[bytes, Definition] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def of(self, data: bytes) -> Definition:
        """The definition of these bytes. O(bytes) for the look-up."""
        with self._lock:
            found = self._known.get(data)
            if found is not None:
                self._known.move_to_end(data)
                return found
        made = Definition(decode_table(data[_INCARNATION:]))
        with self._lock:
            self._known[data] = made
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return made
