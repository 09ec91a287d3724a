"""The part of time that a page shows: it can be moved and zoomed by addresses, ``?from=…&to=…``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from hbstore.errors import InvalidTimeRange
from hbstore.timelines import PartitionTimeline
from hbstore.timelines.picture import TimelineAxis
from hbstore.times.moments import LIMIT, SECOND, moment, time_at
from hbstore.times.time_range import parse_time, time_text
from hbstore.times.update_period import UpdatePeriod

_END_TEXT: Final = "9999-12-31-23:59:59,999"
"""Reads as the last millisecond, as there is no text for the end of time. A view widens it to whole parts."""


@dataclass(frozen=True, slots=True)
class View:
    """A range of parts of an update period.

    Attributes:
        period: the smallest of what is shown.
        start: the index of the first part.
        stop: that behind the last.
        whole: the start and the stop of all there is; None: nothing is there.
    """

    period: UpdatePeriod
    start: int
    stop: int
    whole: tuple[int, int] | None

    @staticmethod
    def of(timelines: Iterable[PartitionTimeline], start: str, end: str, now: datetime) -> View | None:
        """The view of some timelines that an address asks for; None where nothing is there, and it says no range.

        Args:
            timelines: what is shown.
            start: where the range begins, as people write it; empty: where the first timeline does.
            end: where it ends; empty: where the last timeline does.
            now: for relative times.

        Raises:
            TimeRangeSyntaxError, InvalidTime: a text is no time.
            InvalidTimeRange: the range is empty, or ends before it begins.
        """
        timelines = list(timelines)
        period = min((one.update_period for one in timelines), key=_rank, default=UpdatePeriod.HOURLY)
        ends = [pair for one in timelines if (pair := _ends(one)) is not None]
        whole = None
        if ends:
            first, last = min(begin for begin, _ in ends), max(stop for _, stop in ends)
            whole = period.floor_index(first), period.ceil_index(last)
        since = moment(parse_time(start, now)) if start.strip() else None
        until = moment(parse_time(end, now)) if end.strip() else None
        if since is None and until is None and whole is None:
            return None
        if since is None:
            since = period.moment(whole[0]) if whole else 0
        if until is None:
            until = period.moment(whole[1]) if whole else LIMIT
        if until <= since:
            raise InvalidTimeRange(
                "the time range is empty, or ends before it begins",
                start=_text(since),
                end=_text(until),
                hint="A range includes its start but not its end: choose an end after the start",
            )
        return View(period, period.floor_index(since), period.ceil_index(until), whole)

    def axis(self, width: int) -> TimelineAxis:
        """Its axis, in at most so many cells."""
        return TimelineAxis.over(self.period, self.start, self.stop, width)

    @property
    def begin(self) -> datetime:
        """When it begins."""
        return self.period.time(self.start)

    @property
    def end(self) -> datetime:
        """When it ends."""
        return self.period.time(self.stop)

    @property
    def texts(self) -> tuple[str, str]:
        """Its ends as an address has them."""
        return range_texts(self.period.moment(self.start), self.period.moment(self.stop))

    @property
    def all(self) -> View | None:
        """All there is; None where that is this view, or nothing."""
        return self._other(*self.whole) if self.whole else None

    @property
    def closer(self) -> View | None:
        """The half of it in the middle; None where it is one part."""
        size = self.stop - self.start
        start = self.start + size // 4
        return self._other(start, start + max(size // 2, 1))

    @property
    def wider(self) -> View | None:
        """Twice as much."""
        size = self.stop - self.start
        return self._other(self.start - -(-size // 2), self.stop + -(-size // 2))

    @property
    def earlier(self) -> View | None:
        """Half as far again to the left."""
        return self._moved(-max((self.stop - self.start) // 2, 1))

    @property
    def later(self) -> View | None:
        """Half as far again to the right."""
        return self._moved(max((self.stop - self.start) // 2, 1))

    def _moved(self, parts: int) -> View | None:
        parts = min(max(parts, -self.start), self.period.limit - self.stop)
        return self._other(self.start + parts, self.stop + parts)

    def _other(self, start: int, stop: int) -> View | None:
        found = replace(self, start=max(start, 0), stop=min(stop, self.period.limit))
        return None if found == self else found


def range_texts(start: int, stop: int) -> tuple[str, str]:
    """The moments of a range as an address has them."""
    return _text(start), _text(stop)


def _text(at: int) -> str:
    return _END_TEXT if at > LIMIT - SECOND else time_text(time_at(at))


def _ends(timeline: PartitionTimeline) -> tuple[int, int] | None:
    """The moments where the first time begins and the latest ends."""
    first, latest = timeline.first(), timeline.latest()
    if first is None or latest is None:
        return None
    period = timeline.update_period
    return moment(first), period.moment(period.index(latest) + 1)


def _rank(period: UpdatePeriod) -> int:
    return period.rank
