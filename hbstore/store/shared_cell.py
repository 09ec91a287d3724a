"""A cell of the catalog that many servers change: read, compute, compare-and-put, and again if another was faster.

A cell's bytes begin with 8 random ones, new with every change. So a compare-and-put never mistakes a state for an equal
one before it, and where its answer is lost on the way, reading the cell mostly tells what became of it.
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


def read_cell(rows: Rows, key: bytes, cell: str) -> bytes:
    """What a cell holds; nothing where it was never changed."""
    return content_of(rows.get(key) or {}, cell)


def content_of(cells: Cells, cell: str) -> bytes:
    """What one of a row's cells holds, where it is such a cell."""
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
        _pause(attempt)
        known = (rows.get(key) or {}).get(cell)
        content, result = change((known or b"")[_MARK:])
        if content is None or swap_cell(rows, key, cell, known, marked(content)):
            return result
    raise _busy(cell)


def drop_cell(rows: Rows, key: bytes, cell: str, check: Callable[[bytes], object]) -> bool:
    """Remove a cell; whether it was there.

    Args:
        rows: where the cell is.
        key: the catalog row's key.
        cell: the cell's name.
        check: sees what the cell holds; what it raises leaves the cell as it is.

    Raises:
        ConcurrentChange, CommitStateUnknown: as of `change_cell`.
    """
    for attempt in range(_ATTEMPTS):
        _pause(attempt)
        known = (rows.get(key) or {}).get(cell)
        if not known:
            return False
        check(known[_MARK:])
        if swap_cell(rows, key, cell, known, b""):
            return True
    raise _busy(cell)


def swap_cell(rows: Rows, key: bytes, cell: str, known: bytes | None, new: bytes) -> bool:
    """A compare-and-put; where its answer is lost, the cell mostly tells whether it was made.

    Args:
        rows: where the cell is.
        key: the catalog row's key.
        cell: the cell's name.
        known: what it must hold; None: nothing.
        new: what it is to hold, `marked`; nothing removes it.

    Raises:
        CommitStateUnknown: the cell does not tell, as it holds something else, or the store does not answer.
    """
    try:
        return rows.compare_and_put(key, cell, known, new)
    except CommitStateUnknown:
        with suppress(StoreUnavailable):
            if (rows.get(key) or {}).get(cell, b"") == new:
                return True
        raise


def marked(content: bytes) -> bytes:
    """A content as a cell holds it, behind 8 new random bytes."""
    return os.urandom(_MARK) + content


def _pause(attempt: int) -> None:
    if attempt:
        time.sleep(random.uniform(0, min(_LONGEST_PAUSE, 0.001 * attempt)))  # noqa: S311


def _busy(cell: str) -> ConcurrentChange:
    return ConcurrentChange("other writers kept changing the same cell", cell=cell, hint="Try again")
