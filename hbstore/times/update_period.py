"""Update periods: how often a table gets a partition, and which times its partitions may have.

Each period divides the years 1 to 9999, in UTC, into parts that touch: hours, ISO weeks (which begin on Mondays),
quarters (January, April, July, October). A partition's time is the beginning of a part. The parts are numbered from 0,
and it is these numbers, the *indexes*, that timelines work on: two parts touch where their indexes differ by 1,
whatever the calendar does.

    DAILY      2015-01-29       index 735626     [2015-01-29, 2015-01-30)
    WEEKLY     2015-W01         index 105088     [2014-12-29, 2015-01-05)
    QUARTERLY  2015-04          index 8057       [2015-04-01, 2015-07-01)

>>> day = UpdatePeriod.DAILY.parse("2015-01-29")
>>> UpdatePeriod.WEEKLY.format(UpdatePeriod.WEEKLY.floor(day)), UpdatePeriod.QUARTERLY.format(
...     UpdatePeriod.QUARTERLY.next(UpdatePeriod.QUARTERLY.floor(day)))
('2015-W05', '2015-04')
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from typing import Self

from hbstore.errors import InvalidTime, UnknownUpdatePeriod, did_you_mean
from hbstore.texts.arguments import expect_numbers
from hbstore.times.moments import (
    DAY,
    DAY_SECONDS,
    LIMIT,
    ORIGIN,
    SECOND,
    moment,
    moments,
    naive,
    out_of_years,
    time_at,
)

_SECONDS_IN_ALL = LIMIT // SECOND
_MONTHS_IN_ALL = 9_999 * 12
_MONTHS = 12


class UpdatePeriod(Enum):
    """A period, from the smallest to the largest.

    CONTINUOUS is for tables that are always up to date: its parts are seconds, and it counts as smaller than SECONDLY.

    Attributes:
        rank: orders the periods by their length.
        unit: what people call a part, such as ``day``.
        pattern: how its times are written.
        part_seconds: how long a part is; 0 where parts are months.
        part_months: how many months a part has; 0 where parts are seconds.
        limit: how many parts there are; indexes go from 0 to limit - 1, and ends of ranges up to limit.
    """

    CONTINUOUS = ("CONTINUOUS", "second", "yyyy-MM-dd-HH-mm-ss", 1, 0)
    SECONDLY = ("SECONDLY", "second", "yyyy-MM-dd-HH-mm-ss", 1, 0)
    MINUTELY = ("MINUTELY", "minute", "yyyy-MM-dd-HH-mm", 60, 0)
    HOURLY = ("HOURLY", "hour", "yyyy-MM-dd-HH", 3_600, 0)
    DAILY = ("DAILY", "day", "yyyy-MM-dd", DAY_SECONDS, 0)
    WEEKLY = ("WEEKLY", "week", "yyyy-Www", 7 * DAY_SECONDS, 0)
    MONTHLY = ("MONTHLY", "month", "yyyy-MM", 0, 1)
    QUARTERLY = ("QUARTERLY", "quarter", "yyyy-MM", 0, 3)
    YEARLY = ("YEARLY", "year", "yyyy", 0, 12)

    rank: int
    unit: str
    pattern: str
    part_seconds: int
    part_months: int
    limit: int

    def __new__(cls, name: str, unit: str, pattern: str, seconds: int, months: int) -> Self:
        """A period whose parts have a number of seconds, or of months."""
        self = object.__new__(cls)
        self._value_ = name
        self.rank = len(cls.__members__)
        self.unit = unit
        self.pattern = pattern
        self.part_seconds = seconds
        self.part_months = months
        self.limit = -(-_SECONDS_IN_ALL // seconds) if seconds else _MONTHS_IN_ALL // months
        self._text = re.compile(re.sub("[yMdHmsw]", "[0-9]", pattern))
        return self

    _text: re.Pattern[str]

    @classmethod
    def named(cls, name: str) -> UpdatePeriod:
        """The period of a name, in letters of any case.

        Raises:
            UnknownUpdatePeriod: there is none.

        >>> UpdatePeriod.named("daily")
        <UpdatePeriod.DAILY: 'DAILY'>
        """
        try:
            return cls[name.upper()]
        except (KeyError, AttributeError):  # a name that is no text has no upper case
            raise UnknownUpdatePeriod(
                "the update period is unknown",
                name=name if isinstance(name, str) else repr(name),
                update_periods=", ".join(cls.__members__),
                hint=did_you_mean(name, cls.__members__, "Use one of these update periods"),
            ) from None

    # Times.

    def floor(self, time: datetime) -> datetime:
        """The beginning of the part that holds a time. O(1).

        >>> UpdatePeriod.HOURLY.floor(datetime(2015, 1, 29, 6, 30, tzinfo=UTC)).isoformat()
        '2015-01-29T06:00:00+00:00'
        """
        return self.time(self.floor_index(moment(time)))

    def ceil(self, time: datetime) -> datetime:
        """The first beginning of a part at a time or after it. O(1).

        >>> UpdatePeriod.HOURLY.ceil(datetime(2015, 1, 29, 6, 30, tzinfo=UTC)).hour
        7
        """
        return self.time(self.ceil_index(moment(time)))

    def next(self, time: datetime, n: int = 1) -> datetime:
        """The beginning of the n-th part after the one that begins at a time. O(1).

        Raises:
            InvalidTime: no part begins at the time, or there are no years for the result.

        >>> UpdatePeriod.MONTHLY.next(datetime(2015, 1, 1, tzinfo=UTC), 14).isoformat()
        '2016-03-01T00:00:00+00:00'
        """
        expect_numbers(n=n)
        return self.time(self.index(time) + n)

    def previous(self, time: datetime, n: int = 1) -> datetime:
        """The beginning of the n-th part before the one that begins at a time. O(1).

        >>> UpdatePeriod.WEEKLY.previous(datetime(2015, 1, 5, tzinfo=UTC)).isoformat()
        '2014-12-29T00:00:00+00:00'
        """
        expect_numbers(n=n)
        return self.time(self.index(time) - n)

    def count(self, start: datetime, end: datetime) -> int:
        """How many whole parts lie in [start, end). O(1).

        Raises:
            InvalidTimeRange: it ends before it begins.

        >>> UpdatePeriod.WEEKLY.count(datetime(2015, 1, 1, tzinfo=UTC), datetime(2016, 1, 1, tzinfo=UTC))
        51
        """
        first, last = moments(start, end)
        return max(0, self.floor_index(last) - self.ceil_index(first))

    def iterate(self, start: datetime, end: datetime) -> Iterator[datetime]:
        """The beginnings of the whole parts in [start, end), in order.

        >>> days = UpdatePeriod.DAILY.iterate(datetime(2015, 1, 30, 6, tzinfo=UTC), datetime(2015, 2, 2, tzinfo=UTC))
        >>> [day.day for day in days]
        [31, 1]
        """
        first, last = moments(start, end)
        return self.times(self.ceil_index(first), self.floor_index(last))

    # Texts.

    def format(self, time: datetime) -> str:
        """The text of a part's beginning.

        Raises:
            InvalidTime: no part begins at the time.

        >>> UpdatePeriod.WEEKLY.format(datetime(2014, 12, 29, tzinfo=UTC))
        '2015-W01'
        """
        return self.format_index(self.index(time))

    def parse(self, text: str) -> datetime:
        """The time of a text in this period's pattern, exactly as `format` writes it.

        Raises:
            InvalidTime: the text is not of this pattern, there is no such time, or no part begins then.

        >>> UpdatePeriod.QUARTERLY.parse("2015-02")
        Traceback (most recent call last):
            ...
        hbstore.errors.InvalidTime: the time is not the beginning of a part of the update period: period=QUARTERLY, \
time=2015-02-01T00:00:00+00:00, part=2015-01. Give the time at which its part begins
        """
        return self.time(self.parse_index(text))

    # Indexes.

    def index(self, time: datetime) -> int:
        """The number of the part that begins at a time. O(1), less than a microsecond.

        Raises:
            InvalidTime: no part begins then, or it is no time with a time zone in the years 1 to 9999.

        >>> UpdatePeriod.YEARLY.index(datetime(2015, 1, 1, tzinfo=UTC))
        2014
        """
        try:
            since = time - ORIGIN
        except TypeError:
            raise naive(time) from None
        if self.part_seconds:
            seconds = since.days * DAY_SECONDS + since.seconds
            if seconds % self.part_seconds or since.microseconds or not 0 <= seconds < _SECONDS_IN_ALL:
                raise self._misfit(time)
            return seconds // self.part_seconds
        found = self.floor_index(moment(time))
        if since != timedelta(microseconds=self.moment(found)):
            raise self._misfit(time)
        return found

    def indexes(self, times: Iterable[datetime]) -> Iterator[int]:
        """The index of each time. Where times follow one another, three times as fast as one by one.

        >>> list(UpdatePeriod.YEARLY.indexes([datetime(2015, 1, 1, tzinfo=UTC), datetime(2013, 1, 1, tzinfo=UTC)]))
        [2014, 2012]
        """
        step = timedelta(seconds=self.part_seconds) if self.part_seconds else None
        previous, number = ORIGIN, 0
        for time in times:
            # A difference within one time zone is one of clocks, which tells elapsed time in UTC only.
            if previous.tzinfo is UTC and getattr(time, "tzinfo", None) is UTC and time - previous == step:
                number += 1
            else:
                number = self.index(time)
            previous = time
            yield number

    def time(self, index: int) -> datetime:
        """When a part begins, or, for the index `limit`, END_OF_TIME. O(1).

        Raises:
            InvalidTime: there is no such part.

        >>> UpdatePeriod.YEARLY.time(2014).year
        2015
        """
        return time_at(self.moment(index))

    def times(self, start: int, stop: int) -> Iterator[datetime]:
        """When each of the parts from one index up to another begins.

        Raises:
            InvalidTime: there are no such parts; before the first time is given.

        >>> [time.year for time in UpdatePeriod.YEARLY.times(2014, 2016)]
        [2015, 2016]
        """
        if start < stop and stop > self.limit:
            raise out_of_years(f"part {stop - 1:,} of {self.name}")
        if not self.part_seconds:
            yield from map(self.time, range(start, stop))
        elif start < stop:
            step = timedelta(seconds=self.part_seconds)
            time = self.time(start)
            yield time
            for _ in range(stop - start - 1):
                time += step
                yield time

    def format_index(self, index: int) -> str:
        """The text of a part's beginning; that of the index `limit` is in the year 10000, as a range may end there.

        >>> UpdatePeriod.DAILY.format_index(735_626)
        '2015-01-29'
        """
        if index == self.limit:
            return f"10000{self.format_index(0)[4:]}"
        time = self.time(index)
        if self is UpdatePeriod.WEEKLY:
            year, week, _ = time.isocalendar()
            return f"{year:04}-W{week:02}"
        return time.isoformat()[: len(self.pattern)].replace("T", "-").replace(":", "-")

    def parse_index(self, text: str) -> int:
        """The index of a text as `format_index` writes it, the end in the year 10000 not included.

        >>> UpdatePeriod.DAILY.parse_index("2015-01-29")
        735626
        """
        if isinstance(text, str) and self._text.fullmatch(text):
            try:
                if self is UpdatePeriod.WEEKLY:
                    return (date.fromisocalendar(int(text[:4]), int(text[6:]), 1).toordinal() - 1) // 7
                time = _time_of([int(number) for number in text.split("-")])
            except ValueError:
                pass
            else:
                return self.index(time)
        raise InvalidTime(
            "the text is not a time of the update period",
            value=repr(text),
            period=self.name,
            expected=self.pattern,
            hint="Write the time as expected, or name the update period of this time",
        )

    def parse_end_index(self, text: str) -> int:
        """The index of a text as `format_index` writes it, the end in the year 10000 included.

        >>> UpdatePeriod.YEARLY.parse_end_index("10000") == UpdatePeriod.YEARLY.limit
        True
        """
        return self.limit if text == self.format_index(self.limit) else self.parse_index(text)

    # Moments.

    def floor_index(self, moment: int) -> int:
        """The part that holds a moment; `limit` for the end of time. O(1).

        >>> UpdatePeriod.DAILY.floor_index(moment(datetime(2015, 1, 29, 6, tzinfo=UTC)))
        735626
        """
        if moment == LIMIT:
            return self.limit
        if self.part_seconds:
            return moment // (self.part_seconds * SECOND)
        day = date.fromordinal(moment // DAY + 1)
        return ((day.year - 1) * _MONTHS + day.month - 1) // self.part_months

    def ceil_index(self, moment: int) -> int:
        """The first part that begins at a moment or after it. O(1).

        >>> UpdatePeriod.DAILY.ceil_index(moment(datetime(2015, 1, 29, 6, tzinfo=UTC)))
        735627
        """
        found = self.floor_index(moment)
        return found if self.moment(found) == moment else found + 1

    def moment(self, index: int) -> int:
        """When a part begins; for the index `limit`, the end of time. O(1).

        >>> time_at(UpdatePeriod.DAILY.moment(735_626)).isoformat()
        '2015-01-29T00:00:00+00:00'
        """
        if not 0 <= index < self.limit:
            if index == self.limit:
                return LIMIT
            raise out_of_years(f"part {index:,} of {self.name}")
        if self.part_seconds:
            return index * self.part_seconds * SECOND
        year, month = divmod(index * self.part_months, _MONTHS)
        return (date(year + 1, month + 1, 1).toordinal() - 1) * DAY

    def _misfit(self, time: datetime) -> InvalidTime:
        """The error for a time at which no part begins."""
        part = self.format_index(self.floor_index(moment(time)))
        return InvalidTime(
            "the time is not the beginning of a part of the update period",
            period=self.name,
            time=time.isoformat(),
            part=part,
            hint="Give the time at which its part begins",
        )


def _time_of(numbers: list[int]) -> datetime:
    """The time of a year, a month, a day, … as far as they are given.

    Raises:
        ValueError: there is none.
    """
    year, month, day, hour, minute, second = numbers + [1, 1, 1, 0, 0, 0][len(numbers) :]
    return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
