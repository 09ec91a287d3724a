"""Worlds: a table with partitions of which everything is known, and ways to load it into a store.

The expected order comes from typed values, not from keys: the null partition first, then values in their own order,
then texts that are no value of the type. A value that is respelled stands behind the value, by its text.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import count

from hbstore.keys.row_key import NULL_PARTITION
from hbstore.keys.types import parse_type
from hbstore.model.objects import Column, Partition, Table
from hbstore.store.table_row import STATISTICS
from tests.plans import naive

DATABASE = "exact"
STATISTICS_STATES = ("fresh", "refreshed", "stale", "unknown")
"""As adding left them; counted anew; counting partitions that are gone; nothing known."""

_numbers = count()


def place_of(kind, text):
    """Where a value's text stands among all texts of its column."""
    if text == NULL_PARTITION:
        return (0,)
    try:
        value = kind.parse(text)
    except ValueError:
        value = kind.read(text)
    if value is None:
        return (2, text)
    spelling = "" if kind.text(value) == text else text
    if isinstance(value, float):
        return (1, math.isnan(value), 0.0 if math.isnan(value) else value, spelling)
    return (1, value, spelling)


def order_of(kinds, values):
    """What partitions sort by, and what makes two of them one."""
    return tuple(map(place_of, kinds, values))


@dataclass(frozen=True)
class World:
    """A table's columns and its partitions' values; no two of them are one partition."""

    columns: tuple[tuple[str, str], ...]
    partitions: tuple[tuple[str, ...], ...]

    @staticmethod
    def of(columns, partitions):
        """With one of the partitions that are one, sorted as a listing has to be; empty values are stored as nulls."""
        kinds = [parse_type(kind) for _, kind in columns]
        distinct = {}
        for values in partitions:
            stored = tuple(text or NULL_PARTITION for text in values)
            distinct.setdefault(order_of(kinds, stored), stored)
        return World(tuple(columns), tuple(distinct[place] for place in sorted(distinct)))

    @cached_property
    def names(self):
        return tuple(name for name, _ in self.columns)

    @cached_property
    def kinds(self):
        return tuple(parse_type(kind) for _, kind in self.columns)

    @cached_property
    def typed(self):
        """Each partition's values with what the naive evaluation makes of them, by column."""
        names = [name.lower() for name in self.names]
        typed = ([naive._typed(*pair) for pair in zip(self.kinds, values, strict=True)] for values in self.partitions)
        return [
            (values, dict(zip(names, one, strict=True))) for values, one in zip(self.partitions, typed, strict=True)
        ]

    @cached_property
    def selected(self):
        """What filters select, as far as somebody asked: (filter, partitions' values) by the filter's id."""
        return {}

    @cached_property
    def kinds_by_name(self):
        return {name.lower(): kind for name, kind in zip(self.names, self.kinds, strict=True)}

    def texts(self, column):
        """The distinct texts of a column."""
        return sorted({values[column] for values in self.partitions})


def load(store, world, state="fresh"):
    """Create the world's table under a new name, with its statistics in some state; the name."""
    name = f"t{next(_numbers)}"
    columns = [Column(*column) for column in world.columns]
    store.create_database(DATABASE, if_not_exists=True)
    store.create_table(Table(DATABASE, name, partition_columns=columns, location="file:///exact"))
    if state == "stale":
        _come_and_go(store, world, name)
    store.add_partitions(DATABASE, name, map(Partition, world.partitions), invalid_values="keep")
    if state == "refreshed":
        store.repair(DATABASE, name)
    if state == "unknown":
        row = store._tables.open(DATABASE, name)
        assert store.rows.compare_and_put(row.key, STATISTICS, row.cells.get(STATISTICS), b"")
    return name


def _come_and_go(store, world, name):
    """Partitions that are dropped again, and stay counted."""
    gone = [(f"gone {at}",) * len(world.columns) for at in range(30)]
    store.add_partitions(DATABASE, name, map(Partition, gone), if_not_exists=True, invalid_values="keep")
    store.drop_partitions(DATABASE, name, gone)
