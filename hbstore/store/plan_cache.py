"""What a store remembers of planning: one cache for all tables, bounded by estimated bytes.

Entries are kept by the definition of their table, which is another object after the table was altered, or dropped and
created again. So nobody asks for the entries of a table that is gone, and they leave first.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Any, Final

from hbstore.plans.scan_plan import MultiScanPlan, RelativeScan
from hbstore.rows.interface import Cells
from hbstore.rows.predicate import CellIn, CellLike, Predicate

PLAN_BYTES: Final = 32 * 1024 * 1024
"""Bytes, by estimate, of all plans and rows of tables that a store remembers."""
_LARGEST: Final = 8
"""What takes more than this part of the bound is not kept, as it would push out too much."""

_ENTRY: Final = 600
"""Bytes of an entry, its key and its value without what is counted below."""
_SCAN: Final = 330
"""Bytes of a scan, its markers and keys, without the keys' own bytes."""
_CONDITION: Final = 130
_RANGE: Final = 150
"""Bytes of a range in a residual, or of a pattern, with its bounds."""
_DECODED: Final = 5
"""How many times as large as its bytes a decoded Table is."""


class PlanCache:
    """Values by key; those that were not used for longest leave when all together weigh more than the bound.

    >>> cache = PlanCache(bound=80)
    >>> for key in "abcdefghi":
    ...     cache.put(key, key.upper(), size=10)
    >>> cache.get("a"), cache.get("b"), cache.size
    (None, 'B', 80)
    """

    def __init__(self, bound: int = PLAN_BYTES) -> None:
        self._bound = bound
        self._entries: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = Lock()
        self.size = 0

    def get(self, key: Hashable, default: object = None) -> Any:
        """The value of a key, or the default. O(1)."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return default
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: Hashable, value: object, size: int) -> None:
        """Keep a value in place of the key's last one, unless it is too large for this cache.

        Args:
            key: what `get` finds it by.
            value: anything, None included.
            size: about how many bytes it takes, with its key.
        """
        with self._lock:
            before = self._entries.pop(key, None)
            if before is not None:
                self.size -= before[1]
            if size * _LARGEST > self._bound:
                return
            self._entries[key] = value, size
            self.size += size
            while self.size > self._bound:
                self.size -= self._entries.popitem(last=False)[1][1]


def text_size(text: str) -> int:
    """About how many bytes an entry takes whose key holds this text."""
    return _ENTRY + len(text)


def row_size(cells: Cells) -> int:
    """About how many bytes a table's row takes, with the table that is decoded from it."""
    return _ENTRY + _DECODED * sum(map(len, cells.values()))


def plan_size(plan: MultiScanPlan) -> int:
    """About how many bytes a plan takes; residuals that scans share count once. O(scans and their conditions)."""
    size = 0
    residuals: dict[int, Predicate] = {}
    below: list[RelativeScan] = []
    for scan in plan.scans:
        size += _SCAN + len(scan.start.key) + len(scan.stop.key)
        if scan.residual is not None:
            residuals[id(scan.residual)] = scan.residual
        below += scan.below
    while below:
        relative = below.pop()
        size += _SCAN + sum(map(len, relative.cells)) + len(relative.start) + len(relative.stop)
        residuals[id(relative.residual)] = relative.residual
        below += relative.below
    return size + (_predicates_size(residuals) if residuals else 0)


def _predicates_size(seen: dict[int, Predicate]) -> int:
    size = 0
    left = list(seen.values())
    while left:
        predicate = left.pop()
        size += _CONDITION
        if isinstance(predicate, CellIn):
            size += _RANGE * len(predicate.ranges)
        elif isinstance(predicate, CellLike):
            size += _RANGE
        else:
            for child in predicate.children:
                if id(child) not in seen:
                    seen[id(child)] = child
                    left.append(child)
    return size
