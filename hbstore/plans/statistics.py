"""What is known of a table's rows: how many there are, and how many distinct values lead them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Statistics:
    """Numbers of distinct key prefixes, as estimates.

    Attributes:
        distinct: for each depth, how many distinct prefixes of that many cells there are: ``distinct[0]`` counts the
            leading column's values, ``distinct[-1]`` the partitions. Empty: nothing is known.

    >>> Statistics((250, 4_000, 100_000)).rows_below(1)
    400.0
    """

    distinct: tuple[int, ...] = ()

    @property
    def known(self) -> bool:
        """Whether there is anything to estimate from."""
        return bool(self.distinct) and self.distinct[-1] > 0

    def rows_below(self, cells: int) -> float | None:
        """Rows that share a prefix of so many cells, on average; None if nothing is known."""
        if not self.known:
            return None
        return self.distinct[-1] / max(1, self.distinct[cells - 1]) if cells else float(self.distinct[-1])

    def values_below(self, cells: int) -> float | None:
        """Distinct values of the column behind a prefix of so many cells, on average; None if nothing is known."""
        if not self.known or cells >= len(self.distinct):
            return None
        return self.distinct[cells] / max(1, self.distinct[cells - 1]) if cells else float(self.distinct[0])
