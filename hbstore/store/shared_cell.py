"""A cell of a table's row that many jobs change: read, compute, compare-and-put, and again if another was faster.

The cell's bytes begin with 8 random ones, new with every change. So a compare-and-put never mistakes a state for an
equal one before it, and where its answer is lost on the way, reading the cell mostly tells what became of it.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar

from hbstore.errors import CommitStateUnknown, ConcurrentChange, StoreUnavailable
from hbstore.rows.interface import Cells, Rows

T = TypeVar("T")
_MARK: Final = 8
_ATTEMPTS: Final = 500
_LONGEST_PAUSE: Final = 0.05
"""Seconds between two attempts."""


def content_of(cells: Cells, cell: str) -> bytes:
    """What one of a row's cells holds, where it is such a cell; nothing where it was never changed."""
    return cells.get(cell, b"")[_MARK:]


def change_cell(rows: Rows, key: bytes, cell: str, change: Callable[[bytes], tuple[bytes | None, T]]) -> T:
    """Change what a cell holds, as if nobody else did at the same time.

    Args:
        rows: where the cell is.
        key: the catalog row's key.
        cell: the cell's name.
        change: takes what the cell holds and gives what it is to hold (None: as it is) and a result; it is called again
            where another writer was faster, and what it raises leaves the cell as it is.

    Returns:
        The result of the last call, whose change was made.

    Raises:
        ConcurrentChange: other writers were always faster; nothing was changed.
        CommitStateUnknown: the connection broke, and another writer has changed the cell meanwhile.
    """
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(random.uniform(0, min(_LONGEST_PAUSE, 0.001 * attempt)))  # noqa: S311
        known = (rows.get(key) or {}).get(cell)
        content, result = change((known or b"")[_MARK:])
        if content is None or _swap(rows, key, cell, known, os.urandom(_MARK) + content):
            return result
    raise ConcurrentChange("other writers kept changing the same cell", cell=cell, hint="Try again")


def _swap(rows: Rows, key: bytes, cell: str, known: bytes | None, new: bytes) -> bool:
    """A compare-and-put; where its answer is lost, the cell mostly tells whether it was made."""
    try:
        return rows.compare_and_put(key, cell, known, new)
    except CommitStateUnknown:
        with suppress(StoreUnavailable):
            if (rows.get(key) or {}).get(cell, b"") == new:
                return True
        raise
