"""PartitionTimeline: which times of an update period a storage table has partitions for.

A timeline belongs to a storage table, an update period and a partition column. It answers in microseconds what would
otherwise take a question to the store for each partition. Three classes keep the same set of times (`RunsTimeline`),
and write it in different ways into the table's properties:

| class | writes | is small for |
|---|---|---|
| `StoreAllPartitionTimeline` | every time | few times, far apart |
| `EndsAndHolesPartitionTimeline` | the first, the latest, and the holes between them | long histories with few holes |
| `RangesPartitionTimeline` | the ranges of times that follow one another | anything |

This module holds what all timelines have in common: times go in and out, indexes of the update period are what they
work with. `TimelineClass` has the methods by which a class says how it keeps the indexes.

Properties that were read and contradict themselves are never guessed at. `init_from_properties` says False, and from
then on the timeline answers nothing but `is_consistent` and `faults`: everything else raises CorruptTimeline, until
consistent properties are read.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from html import escape
from itertools import islice
from typing import Final

from hbstore.errors import CorruptTimeline, InvalidInput, InvalidTime, InvalidTimeRange
from hbstore.texts.arguments import expect, expect_numbers, expect_texts
from hbstore.timelines.picture import TimelineBar, svg
from hbstore.timelines.properties import UnreadableProperty
from hbstore.timelines.runs import Runs, gaps
from hbstore.timelines.timeline_class import TimelineClass
from hbstore.times.moments import moment, moments
from hbstore.times.update_period import UpdatePeriod

_TIMES: Final = "Give a list of aware datetimes"


class PartitionTimeline(TimelineClass, AbstractSet[datetime]):
    """The times of one storage table, update period and partition column; a mutable, sorted Python set of datetimes.

    Times are aware datetimes and begin a part of the update period: others raise InvalidTime, before anything changes.
    In the complexities below n is the number of times in the arguments and s the size of what the class keeps.

    All of Python's set operators work, with other timelines and with sets of datetimes; ``&``, ``|``, ``-`` and ``^``
    give plain sets. Two timelines are equal if they hold the same times, whatever their tables and classes.

    Args:
        storage_table: the table, ``<storage>_<fact>``.
        update_period: how often it gets a partition.
        partition_column: the column that holds the times.

    >>> from hbstore.timelines import RangesPartitionTimeline
    >>> timeline = RangesPartitionTimeline("s1_fact1", UpdatePeriod.DAILY, "dt")
    >>> timeline.add_all(map(UpdatePeriod.DAILY.parse, ["2015-01-29", "2015-01-31"]))
    True
    >>> len(timeline), UpdatePeriod.DAILY.parse("2015-01-30") in timeline, [time.day for time in timeline]
    (2, False, [29, 31])
    >>> timeline == {UpdatePeriod.DAILY.parse("2015-01-31"), UpdatePeriod.DAILY.parse("2015-01-29")}
    True
    """

    __slots__ = ("_faults", "partition_column", "storage_table", "update_period")

    def __init__(self, storage_table: str, update_period: UpdatePeriod, partition_column: str) -> None:
        expect_texts(storage_table=storage_table, partition_column=partition_column)
        expect("update_period", update_period, UpdatePeriod, hint="Give an UpdatePeriod, such as UpdatePeriod.DAILY")
        self.storage_table = storage_table
        self.update_period = update_period
        self.partition_column = partition_column
        self._faults: tuple[str, ...] = ()

    # Changes.

    def add(self, time: datetime) -> bool:
        """Put a time in; False if it is there. O(log s); not at the end, and one insert into an array.

        >>> timeline.add(UpdatePeriod.DAILY.parse("2015-01-31")), timeline.add(UpdatePeriod.DAILY.parse("2015-01-31"))
        (True, False)
        """
        self._sound()
        return self._add(self.update_period.index(time))

    def drop(self, time: datetime) -> bool:
        """Take a time out; False if it is not there. O(log s); not at the end, and one insert into an array.

        >>> timeline.drop(UpdatePeriod.DAILY.parse("2015-01-29")), len(timeline)
        (True, 2)
        """
        self._sound()
        return self._drop(self.update_period.index(time))

    def add_all(self, times: Iterable[datetime]) -> bool:
        """Put times in, in any order; whether that changed anything. One merge: O(n + s), n log n if not in order.

        >>> timeline.add_all(map(UpdatePeriod.DAILY.parse, ["2015-01-31", "2015-01-01"])), len(timeline)
        (True, 5)
        """
        self._sound()
        return self._unite(Runs.of(self.update_period.indexes(expect("times", times, Iterable, hint=_TIMES))))

    def add_index_ranges(self, ranges: Iterable[tuple[int, int]]) -> bool:
        """Put ranges of indexes in, sorted and apart as `index_ranges` gives them; whether that changed anything.

        O(ranges + s).

        Raises:
            InvalidTimeRange: they are not sorted and apart, or the update period has no such indexes.

        >>> first = UpdatePeriod.DAILY.parse_index("2015-03-01")
        >>> timeline.add_index_ranges([(first, first + 31)]), len(timeline)
        (True, 34)
        """
        self._sound()
        return self._unite(self._whole_runs(ranges))

    def drop_index_ranges(self, ranges: Iterable[tuple[int, int]]) -> bool:
        """Take ranges of indexes out, sorted and apart; whether that changed anything. O(ranges + s).

        Raises:
            InvalidTimeRange: they are not sorted and apart, or the update period has no such indexes.

        >>> first = UpdatePeriod.DAILY.parse_index("2015-01-01")
        >>> timeline.drop_index_ranges([(first, first + 31)]), len(timeline)
        (True, 1)
        """
        self._sound()
        return self._subtract(self._whole_runs(ranges))

    def drop_all(self, times: Iterable[datetime]) -> bool:
        """Take times out, in any order; whether that changed anything. One merge, as for `add_all`.

        >>> timeline.drop_all(list(timeline)), timeline.is_empty()
        (True, True)
        """
        self._sound()
        return self._subtract(Runs.of(self.update_period.indexes(expect("times", times, Iterable, hint=_TIMES))))

    # Questions.

    def exists(self, time: datetime) -> bool:
        """Whether a time is in. O(log s).

        >>> timeline.exists(UpdatePeriod.DAILY.parse("2015-01-31"))
        False
        """
        if self._faults:  # here a call would take a tenth of the time
            self._sound()
        return self._has(self.update_period.index(time))

    def is_empty(self) -> bool:
        """Whether there are no times. O(1).

        >>> timeline.is_empty()
        False
        """
        self._sound()
        return self._first() is None

    def first(self) -> datetime | None:
        """The earliest time; None if there are none. O(1).

        >>> timeline.first().isoformat()
        '2015-01-29T00:00:00+00:00'
        """
        self._sound()
        return self._time(self._first())

    def latest(self) -> datetime | None:
        """The last time; None if there are none. O(1).

        >>> timeline.latest().isoformat()
        '2015-02-01T00:00:00+00:00'
        """
        self._sound()
        return self._time(self._latest())

    def hole_count(self) -> int:
        """How many holes there are between the first and the latest time. O(1).

        >>> timeline.hole_count()
        1
        """
        self._sound()
        return self._hole_count()

    def iterate(self, start: datetime | None = None, end: datetime | None = None) -> Iterator[datetime]:
        """The times in order; with a start or an end, those whose parts lie whole in [start, end).

        >>> [time.day for time in timeline.iterate(start=UpdatePeriod.DAILY.parse("2015-01-30"))]
        [30, 1]
        """
        ranges = self.index_ranges(*self._bounds(start, end))
        return (time for begin, stop in ranges for time in self.update_period.times(begin, stop))

    def ranges(self, start: datetime | None = None, end: datetime | None = None) -> list[tuple[datetime, datetime]]:
        """The times as ranges [first, end of the last), sorted; of those that `iterate` gives. O(log s + ranges).

        >>> [(start.day, end.day) for start, end in timeline.ranges()]
        [(29, 31), (1, 2)]
        """
        return self._pairs(self.index_ranges(*self._bounds(start, end)))

    def holes(self, start: datetime | None = None, end: datetime | None = None) -> list[tuple[datetime, datetime]]:
        """What is missing, as ranges, sorted: whole parts in [start, end), by default between the first and the latest.

        O(log s + holes).

        >>> [(start.day, end.day) for start, end in timeline.holes()]
        [(31, 1)]
        """
        low, high = self._bounds(start, end)
        return self._pairs(gaps(self.index_ranges(low, high), low, high))

    def index_ranges(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """The indexes in [start, stop) as sorted ranges: what plans are made of. O(log s + ranges).

        >>> list(timeline.index_ranges(0, UpdatePeriod.DAILY.limit))
        [(735626, 735628), (735629, 735630)]
        """
        self._sound()
        expect_numbers(start=start, stop=stop)
        return self._between(start, stop)

    def range_ahead(self, index: int) -> tuple[int, int] | None:
        """The first range of indexes from an index on, cut there; None if nothing is there. O(log s).

        >>> timeline.range_ahead(735_627), timeline.range_ahead(735_630)
        ((735627, 735628), None)
        """
        if self._faults:  # here a call would take a tenth of the time
            self._sound()
        return self._ahead(index)

    # Consistency.

    def is_consistent(self) -> bool:
        """Whether what the class keeps is as it has to be. O(s).

        >>> timeline.is_consistent()
        True
        """
        return next(self.faults(), None) is None

    def faults(self) -> Iterator[str]:
        """What is wrong: in the properties last read, or in what the class keeps. O(s).

        >>> list(timeline.faults())
        []
        """
        return iter(self._faults) if self._faults else self._inspect()

    def _check(self) -> None:
        """Raise AssertionError with the faults and the state, if there are any."""
        faults = list(islice(self.faults(), 10))
        slots = [name for cls in type(self).__mro__ for name in vars(cls).get("__slots__", ())]
        state = {name: getattr(self, name) for name in slots}
        assert not faults, f"{faults} in {type(self).__name__} {state}"

    # Properties.

    @abstractmethod
    def to_properties(self) -> dict[str, str]:
        """What the class keeps as short properties such as ``first`` and ``holes0``. O(s).

        >>> timeline.to_properties()
        {'ranges.size': '1', 'ranges0': '[2015-01-29, 2015-01-31),[2015-02-01, 2015-02-02)'}
        """

    def init_from_properties(self, properties: Mapping[str, str]) -> bool:
        """Take over what `to_properties` wrote; properties of other names are passed over. O(s).

        Returns:
            Whether it is consistent. If not, the timeline is unusable, and `faults` says why.

        Raises:
            CorruptTimeline: a property is missing or does not parse; the timeline is what it was.

        >>> timeline.init_from_properties({"ranges": "[2015-01-01, 2015-02-01)"}), len(timeline)
        (True, 31)
        """
        expect("properties", properties, Mapping, hint="Give a dict, as `to_properties` returns it")
        try:
            self._faults = tuple(self._read(properties))
        except UnreadableProperty as error:
            raise self._corrupt("a property of the timeline cannot be read", error.key, error.reason) from None
        return not self._faults

    # A Python set of times.

    def __contains__(self, time: object) -> bool:
        """Whether a time is in; False for all that no time of the update period is. O(log s)."""
        self._sound()
        if not isinstance(time, datetime):
            return False
        try:
            return self._has(self.update_period.index(time))
        except InvalidTime:
            return False

    def __iter__(self) -> Iterator[datetime]:
        """The times in order."""
        return self.iterate()

    def __len__(self) -> int:
        """How many times there are. O(s)."""
        self._sound()
        return self._count()

    @classmethod
    def _from_iterable(cls, times: Iterable[datetime]) -> set[datetime]:  # type: ignore[override]
        """What ``&``, ``|``, ``-`` and ``^`` give: any times, which no update period may hold together."""
        return set(times)

    def __eq__(self, other: object) -> bool:
        """Whether the other timeline or set holds the same times. A damaged timeline equals nothing. O(s)."""
        if self._faults or (isinstance(other, PartitionTimeline) and other._faults):
            return False
        if not isinstance(other, PartitionTimeline) or other.update_period is not self.update_period:
            return super().__eq__(other)
        limit = self.update_period.limit
        return list(self._between(0, limit)) == list(other._between(0, limit))

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __str__(self) -> str:
        own = {"damaged": self._faults[0]} if self._faults else self._shown()
        shown = ", ".join(f"{name}={value}" for name, value in own.items())
        return (
            f"{type(self).__name__}(super=PartitionTimeline(storageTableName={self.storage_table}, "
            f"updatePeriod={self.update_period.name}, partCol={self.partition_column}, all=null), {shown})"
        )

    def __repr__(self) -> str:
        """One line, however many times there are."""
        of = f"<{type(self).__name__} {self.update_period.name} {self.partition_column} of {self.storage_table}: "
        if self._faults:
            return f"{of}damaged, {self._faults[0]}>"
        first, latest = self._first(), self._latest()
        if first is None or latest is None:
            return f"{of}no times>"
        times, text = len(self), self.update_period.format_index
        missing = latest + 1 - first - times
        span = text(first) if first == latest else f"{text(first)} to {text(latest)}"
        return f"{of}{times:,} {'time' if times == 1 else 'times'}, {span}, {missing:,} missing>"

    def _repr_html_(self) -> str:
        """A picture for notebooks: what is there and what is missing. O(s)."""
        return repr_html([self])

    # Between times and indexes.

    def _sound(self) -> None:
        if self._faults:
            raise self._corrupt("the timeline is inconsistent", None, self._faults[0])

    def _corrupt(self, text: str, key: str | None, reason: str) -> CorruptTimeline:
        fields = {} if key is None else {"key": key}
        return CorruptTimeline(
            text,
            storage_table=self.storage_table,
            period=self.update_period.name,
            column=self.partition_column,
            **fields,
            reason=reason,
            hint="Rebuild it from the partitions",
        )

    def _whole_runs(self, ranges: Iterable[tuple[int, int]]) -> Runs:
        try:
            runs = Runs.of_ranges(ranges)
        except (TypeError, ValueError):
            hint = "Give pairs of indexes, as `index_ranges` gives them"
            raise InvalidInput("not ranges of indexes", type=type(ranges).__name__, hint=hint) from None
        if not runs.in_order() or (runs and not 0 <= runs.starts[0] < runs.stops[-1] <= self.update_period.limit):
            hint = "Give ranges that rise and do not overlap, within the years 1 to 9999"
            raise InvalidTimeRange(
                "the ranges of indexes are not sorted or overlap", period=self.update_period.name, hint=hint
            )
        return runs

    def _time(self, index: int | None) -> datetime | None:
        return None if index is None else self.update_period.time(index)

    def _bounds(self, start: datetime | None, end: datetime | None) -> tuple[int, int]:
        """The indexes of the whole parts between two times; without them, from the first to the latest."""
        self._sound()
        first, latest = self._first(), self._latest()
        low, high = (0, 0) if first is None or latest is None else (first, latest + 1)
        period = self.update_period
        if start is not None and end is not None:
            moments(start, end)
        if start is not None:
            low = period.ceil_index(moment(start))
        if end is not None:
            high = period.floor_index(moment(end))
        return low, high

    def _pairs(self, ranges: Iterable[tuple[int, int]]) -> list[tuple[datetime, datetime]]:
        time = self.update_period.time
        return [(time(start), time(stop)) for start, stop in ranges]


def repr_html(timelines: Sequence[PartitionTimeline]) -> str:
    """A picture of some timelines for notebooks; damaged ones say so below it."""
    bars = [
        TimelineBar(
            (timeline.storage_table, timeline.update_period.name, timeline.partition_column),
            timeline.update_period,
            list(timeline.index_ranges(0, timeline.update_period.limit)),
        )
        for timeline in timelines
        if not next(timeline.faults(), None)
    ]
    damaged = [f"<div>{escape(repr(timeline))}</div>" for timeline in timelines if next(timeline.faults(), None)]
    return "".join([svg(bars) if bars else "", *damaged])
