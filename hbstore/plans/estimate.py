"""What a scan will cost: rows estimated from statistics, seconds from the backend's costs."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from hbstore.keys.row_key import TAG_END, TAG_NULL, TAG_TEXT, TAG_VALUE
from hbstore.plans.points import possible_values
from hbstore.plans.scan_plan import RelativeScan, ScanKind
from hbstore.plans.schema import KeySchema
from hbstore.plans.statistics import Statistics
from hbstore.rows.interface import Costs

_HALF_OPEN: Final = 1 / 3
"""The part of a column's values that a range of unknown extent is taken to hold."""


SKIP_STEP: Final = 15e-6
"""Seconds that a skip scan spends here, not in the backend, on each distinct value."""

PREPARE: Final = 5e-6
"""Seconds that it takes here to make and issue one read below a value."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What scans are expected to do, and how long that takes.

    What returning the selected rows takes is left out, as it is the same for every way of reading them.

    Attributes:
        seeks: ranges that are opened; a skip scan opens one to find each distinct value, too.
        gets: rows that are read by their keys.
        checked: rows of ranges, whether a residual drops them or not.
        visited: distinct values that skip scans visit.
        seconds: for all of it.
    """

    seeks: float
    gets: float
    checked: float
    visited: float
    seconds: float

    @property
    def rows(self) -> float:
        """Rows that are looked at, as `Measured.rows_read` counts them.

        >>> sales.explain("ds = '2013-01-01'").alternatives[0].estimate.rows
        24.0
        """
        return self.gets + self.checked + self.visited

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; numbers of rows and seeks are rounded.

        >>> sales.explain("ds = '2013-01-01'").alternatives[0].estimate.to_dict()["seeks"]
        1
        """
        numbers = {"seeks": self.seeks, "gets": self.gets, "rows": self.rows}
        return {**{name: round(number) for name, number in numbers.items()}, "seconds": self.seconds}


@dataclass(frozen=True, slots=True)
class Estimator:
    """Rows and seconds of the scans of one table on one backend.

    Attributes:
        schema: the table.
        statistics: what is known of its rows.
        costs: what reading costs on the backend.
        skip_step: seconds that a skip scan spends here on each distinct value.
        prepare: seconds that it takes here to make one read below a value.
    """

    schema: KeySchema
    statistics: Statistics
    costs: Costs
    skip_step: float = SKIP_STEP
    prepare: float = PREPARE

    def rows(self, column: int, start: bytes, stop: bytes) -> float | None:
        """Rows in a range on a column's line, below one prefix; None if nothing is known."""
        values = self.values(column, start, stop)
        each = self.statistics.rows_below(column + 1)
        return None if values is None or each is None else values * each

    def values(self, column: int, start: bytes, stop: bytes) -> float | None:
        """Distinct values in a range on a column's line, below one prefix; None if nothing is known."""
        all_values = self.statistics.values_below(column)
        if all_values is None:
            return None
        if start in (TAG_NULL, TAG_VALUE) and stop in (TAG_TEXT, TAG_END):
            return all_values
        possible = possible_values(self.schema.types[column], start, stop)
        return all_values * _HALF_OPEN if possible is None else min(float(possible), all_values)

    def scan(self, rows: float) -> float:
        """Seconds to read a range of so many rows, most of which the residual drops."""
        return self.costs.seek + rows * self.costs.check

    def skip(self, column: int, start: bytes, stop: bytes, below: Collection[RelativeScan]) -> float | None:
        """Seconds to visit the distinct values of a range and read below each of them."""
        values = self.values(column, start, stop)
        each = None if values is None else self.one_by_one(1, below, column + 1)
        return None if values is None or each is None else values * (self.costs.seek + self.skip_step + each)

    def one_by_one(self, count: int, below: Collection[RelativeScan], column: int) -> float | None:
        """Seconds to read the same scans below so many prefixes that end before ``column``."""
        each = self.seconds(below, column)
        return None if each is None else count * (each + self.prepare * len(below))

    def seconds(self, scans: Iterable[RelativeScan], column: int) -> float | None:
        """Seconds for scans below one prefix that ends before ``column``; None if it cannot be known."""
        total = 0.0
        gets = 0
        for scan in scans:
            if scan.kind is ScanKind.GET:
                gets += 1
                continue
            at = column + len(scan.cells)
            if scan.kind is ScanKind.SKIP:
                skip = self.skip(at, scan.start, scan.stop, scan.below)
                if skip is None:
                    return None
                total += skip
            else:
                rows = self.rows(at, scan.start, scan.stop)
                if rows is None:
                    return None
                total += self.scan(rows)
        return total + gets * self.costs.get

    def estimate(self, scans: Collection[RelativeScan]) -> Estimate | None:
        """What scans of the whole table do, and how long that takes; None if it cannot be known.

        Each number is what `seconds` says where that alone costs anything, so that there is one reckoning of costs.
        """
        seconds = self.seconds(scans, 0)
        if seconds is None:
            return None
        seeks, gets, checked, visited = (
            replace(self, costs=costs, skip_step=step, prepare=0).seconds(scans, 0) or 0.0 for costs, step in _ALONE
        )
        return Estimate(seeks, gets, checked, visited, seconds)


_ALONE: Final = (
    (Costs(seek=1, get=0, read=0, check=0), 0.0),
    (Costs(seek=0, get=1, read=0, check=0), 0.0),
    (Costs(seek=0, get=0, read=0, check=1), 0.0),
    (Costs(seek=0, get=0, read=0, check=0), 1.0),
)
"""Costs where seeks alone cost anything, or gets, or rows of ranges, or the values that a skip scan visits."""
