"""Rates: how much there is to read in a storage table, by the time that its partitions cover.

The row of a table, which is read for its timelines, has its totals as well. The bytes of all its partitions, by the
time that they cover, are its rate:

    lake_daily    31 days and a month     8 GB     for 62 days of partitions    129 MB a day
    lake_raw      744 hours             620 GB     for 31 days of partitions     20 GB a day

The totals do not tell update periods apart, so all periods of a table have one rate: rates decide between tables, and
within a table the number of partitions does. Where some partitions do not say their bytes, and most do, the others
count as the average. Zeros say nothing, as metastores write 0 where nobody has counted.

Bytes are compared with bytes alone: if one of the tables that are compared does not say them, rows are compared, and if
one does not say those, neither counts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, TypeAlias

from hbstore.cubes.query.candidates import StorageCandidate
from hbstore.timelines import PartitionTimeline
from hbstore.times.moments import DAY, SECOND

Compared: TypeAlias = tuple[StorageCandidate, str]
"""A storage table, and the partition column by which its partitions are chosen."""

_UNIT: Final = 36_525 * DAY
"""A century: rates are whole numbers of bytes, or rows, in it, so that their sums stay small numbers."""


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates of storage tables.

    Attributes:
        what: "bytes" or "rows"; empty where neither is known of all.
        rates: bytes or rows in a microsecond; none where neither is known.
    """

    what: str = ""
    rates: Mapping[Compared, Fraction] = field(default_factory=dict)

    def of(self, candidate: StorageCandidate, column: str) -> Fraction:
        """The rate of a storage table by a partition column; 0 where rates do not count."""
        return self.rates.get((candidate, column), Fraction(0))

    @staticmethod
    def between(compared: Collection[Compared]) -> Rates:
        """The rates by which storage tables can be compared. O(holes in their timelines), if they say what they hold.

        A table without partitions is compared with nothing, so it does not need to say anything.
        """
        if len({candidate for candidate, _ in compared}) > 1:
            for what in ("bytes", "rows"):
                sums = {one: _sum(one[0], what) for one in compared}
                if not any(total is None and _has_rows(*one) for one, total in sums.items()):
                    return Rates(what, {one: _rate(total, _time(*one)) for one, total in sums.items() if total})
        return Rates()


def _sum(candidate: StorageCandidate, what: str) -> Fraction | None:
    """The bytes, or the rows, of all partitions of a storage table; None where too few of them say so."""
    totals = candidate.totals
    if totals is None:
        return None
    total, silent = (totals.size, totals.without_size) if what == "bytes" else (totals.rows, totals.without_rows)
    if total <= 0 or 2 * silent > totals.partitions:
        return None
    return Fraction(total * totals.partitions, totals.partitions - silent)


def _has_rows(candidate: StorageCandidate, column: str) -> bool:
    """Whether a storage table has partitions, or is one that needs none, and says nothing of its rows."""
    return candidate.on.is_continuous or any(
        not timeline.is_empty() for (_, one), timeline in candidate.timelines.items() if one == column
    )


def _time(candidate: StorageCandidate, column: str) -> int:
    """The time that the partitions of a storage table cover, those of each update period by themselves."""
    return sum(_length(timeline) for (_, one), timeline in candidate.timelines.items() if one == column)


def _length(timeline: PartitionTimeline) -> int:
    period = timeline.update_period
    if period.part_seconds:  # parts of one length
        return len(timeline) * period.part_seconds * SECOND
    return sum(period.moment(stop) - period.moment(start) for start, stop in timeline.index_ranges(0, period.limit))


def _rate(total: Fraction, time: int) -> Fraction:
    return Fraction(round(total * _UNIT / time), _UNIT) if time else Fraction(0)
