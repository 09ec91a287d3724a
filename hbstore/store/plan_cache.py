"""What a store remembers of planning, in one cache for all tables: about how many bytes each entry takes.

Entries are kept by the definition of their table, which is another object after the table was altered, or dropped and
created again. So nobody asks for the entries of a table that is gone, and they leave first.
"""

from __future__ import annotations

from typing import Final

from hbstore.plans.scan_plan import MultiScanPlan, RelativeScan
from hbstore.rows.predicate import CellIn, CellLike, Predicate
from hbstore.store.table_row import TableRow

PLAN_BYTES: Final = 32 * 1024 * 1024
"""Bytes, by estimate, of all plans and rows of tables that a store remembers."""
_ENTRY: Final = 600
"""Bytes of an entry, its key and its value without what is counted below."""
_SCAN: Final = 330
"""Bytes of a scan, its markers and keys, without the keys' own bytes."""
_CONDITION: Final = 130
_RANGE: Final = 150
"""Bytes of a range in a residual, or of a pattern, with its bounds."""
_CHARACTER: Final = 16
"""Bytes of a character of a pattern, with what its regular expression makes of it."""


def text_size(text: str) -> int:
    """About how many bytes an entry takes whose key holds this text."""
    return _ENTRY + len(text)


def row_size(row: TableRow) -> int:
    """About how many bytes a table's row takes, with the table that is decoded from it."""
    return _ENTRY + sum(map(len, row.cells.values())) + row.definition.size


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
            size += _RANGE + _CHARACTER * len(str(predicate.pattern))
        else:
            for child in predicate.children:
                if id(child) not in seen:
                    seen[id(child)] = child
                    left.append(child)
    return size
