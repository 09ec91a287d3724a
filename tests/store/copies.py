"""Stores in memory that are prepared once, and copied for each run of a test that has thousands of runs."""

from __future__ import annotations

from functools import wraps

from hbstore.rows.memory import MemoryRows
from hbstore.store.partition_store import PartitionStore


def copies_of(prepare):
    """A function like ``prepare``, which is called but once: each call gives a copy of the store that it made.

    Nothing is known in a copy of what the first store keeps in memory, as in another process.
    """
    made = []

    @wraps(prepare)
    def copy():
        if not made:
            made.append(prepare().rows)
        return PartitionStore(_copied(made[0]))

    return copy


def _copied(rows):
    copy = MemoryRows(rows.url, atomic=rows.atomic)
    copy._state.catalog.update(rows._state.catalog)  # rows are never changed in place
    copy._state.partitions.update(rows._state.partitions)
    copy._sequences.update(rows._sequences)
    copy._cell_sequences.update(rows._cell_sequences)
    return copy
