"""Tables that are always up to date: those of the update period CONTINUOUS, which have no partitions.

Such a table holds all that its fact holds, up to this moment, and each row tells its time in a column: that of the time
dimension itself. So it answers any range that ends by now, and is read by a condition on the column:

    [2015-01-29-06, now)     lake_daily      DAILY [2015-01-30, 2015-02-28)
                             lake_live       start_time >= '2015-01-29 06:00' AND start_time < '2015-01-30' OR …

Where others have partitions and weigh no more, these are read instead. A column of dates tells whole days alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Protocol

from sqlglot import exp

from hbstore.cubes.query.times import timestamp
from hbstore.times.moments import time_at
from hbstore.times.update_period import UpdatePeriod
from hbstore.types import ColumnType, DateType


class Division(Protocol):
    """What divides time into parts that a source answers as a whole: an update period, or `MOMENTS`."""

    @property
    def rank(self) -> int:
        """Orders divisions by the length of their parts."""

    def floor_index(self, moment: int, /) -> int:
        """The part that holds a moment."""

    def ceil_index(self, moment: int, /) -> int:
        """The first part that begins at a moment or after it."""

    def moment(self, index: int, /) -> int:
        """When a part begins."""


class _Moments:
    """Time in single moments: the parts are microseconds, shorter than those of any update period."""

    rank = -1

    def floor_index(self, moment: int, /) -> int:
        return moment

    def ceil_index(self, moment: int, /) -> int:
        return moment

    def moment(self, index: int, /) -> int:
        return index


MOMENTS: Final = _Moments()


def division_of(kind: ColumnType) -> Division:
    """What a column of dates or timestamps tells of a row's time."""
    return UpdatePeriod.DAILY if isinstance(kind, DateType) else MOMENTS


def time_condition(column: exp.Expr, kind: ColumnType, ranges: Iterable[tuple[int, int]]) -> exp.Expr:
    """The condition that a column of dates or timestamps is in one of some ranges of moments."""
    conditions = [
        exp.and_(
            exp.GTE(this=column.copy(), expression=_literal(kind, start)),
            exp.LT(this=column.copy(), expression=_literal(kind, stop)),
        )
        for start, stop in ranges
    ]
    return exp.or_(*conditions) if conditions else exp.false()


def _literal(kind: ColumnType, at: int) -> exp.Expr:
    if isinstance(kind, DateType):
        return exp.cast(exp.Literal.string(time_at(at).date().isoformat()), "date")
    return timestamp(exp.Literal.string(time_at(at).strftime("%Y-%m-%d %H:%M:%S.%f")))
