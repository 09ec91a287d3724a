"""The timelines of tables: read from the table's row, kept in memory while that stays the same, built when missing."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import NoneType
from typing import Final, TypeAlias

from hbstore.byte_cache import ByteCache, size_of
from hbstore.errors import (
    ConcurrentChange,
    CorruptTimeline,
    TimelineMismatch,
    TimelineNotFound,
    TimelineTooLarge,
    UnknownTimelineClass,
    did_you_mean,
)
from hbstore.keys.partition_names import table_name
from hbstore.keys.row_key import successor
from hbstore.model.totals import Totals
from hbstore.rows.interface import TIMELINES
from hbstore.store.table_row import DEFINITION, TableRow
from hbstore.store.tables import Tables
from hbstore.store.time_columns import TimeColumns, TimelineName
from hbstore.store.timeline_cell import (
    MAX_TOGETHER,
    Building,
    Stored,
    TooLarge,
    cell_name,
    decode_state,
    encode_state,
    state_of,
    stored_timeline,
    total_size,
)
from hbstore.store.timeline_classes import class_parameter
from hbstore.store.timeline_presence import present
from hbstore.store.timelines.build import Collected, TimelineBuilder, set_parameters, state_or_none, time_columns
from hbstore.store.timelines.comparison import difference, differences, first_times, times_of
from hbstore.texts.arguments import expect, expect_dict, expect_texts
from hbstore.timelines.classes import class_name, is_known, short_name, timeline_class
from hbstore.timelines.factory import PRESENT, STORAGE_CLASS, convert, table_properties, timeline_of
from hbstore.timelines.runs import Runs
from hbstore.timelines.timeline import PartitionTimeline
from hbstore.times.update_period import UpdatePeriod
from hbstore.transactions.transaction import Transaction

Timelines: TypeAlias = Mapping[tuple[UpdatePeriod, str], PartitionTimeline]
"""The timelines of a table by update period and partition column."""

_LONGEST_PAUSE: Final = 0.5
_A_PERIOD: Final = "Give an UpdatePeriod, such as UpdatePeriod.DAILY"
TIMELINE_BYTES: Final = 64 * 1024 * 1024
"""Bytes of all timelines that a store keeps in memory; those of one table may take half of it."""


@dataclass(frozen=True, slots=True)
class _CachedTimelines:
    """Timelines as they were when the table had this definition, and its last change was this one."""

    definition: bytes
    change: str
    timelines: Timelines

    def holds(self, row: TableRow) -> bool:
        return self.definition == row.cells[DEFINITION] and self.change == row.log.last


class _MissingTimelinesError(Exception):
    """The timelines have to be built."""

    def __init__(self, wait_until: float = 0.0) -> None:
        super().__init__()
        self.wait_until = wait_until


@dataclass(frozen=True, slots=True, repr=False)
class StoredTimelines:
    """The timelines of a store's tables. Names are of any case.

    A table keeps timelines if its parameters declare time partition columns and update periods
    (`hbstore.timelines.declaration`). Whatever adds, drops, alters, renames or exchanges its partitions keeps them
    true.

    Raises, in all that follows:
        TimelineNotFound: the table keeps none.
        CorruptTimeline: a stored one is damaged; `rebuild` makes it anew.

    >>> from hbstore import Column, Partition, Table, connect
    >>> store = connect("memory://")
    >>> store.create_database("shop")
    >>> declared = {"cube.storagetable.time.partcols": "dt", "cube.storagetable.update.periods": "DAILY"}
    >>> store.create_table(Table("shop", "s1_sales", [Column("dt", "string")], parameters=declared))
    >>> store.add_partitions("shop", "s1_sales", [Partition([f"2015-01-{day:02}"]) for day in (1, 2, 4)])
    3
    >>> [timeline.to_properties() for timeline in store.timelines.of("shop.s1_sales")]
    [{'first': '2015-01-01', 'latest': '2015-01-04', 'holes.size': '1', 'holes0': '2015-01-03'}]
    """

    tables: Tables
    _cache: ByteCache = field(default_factory=lambda: ByteCache(TIMELINE_BYTES, largest=2))

    def __repr__(self) -> str:
        return f"<StoredTimelines of {self.tables.transactions.rows.url}>"

    def of(self, table: str, period: UpdatePeriod | None = None, column: str | None = None) -> list[PartitionTimeline]:
        """Timelines of a table, those of the smallest period first; copies, to be changed at will.

        Raises:
            TimelineNotFound: there is none of the period and the column.

        >>> cubes.store.timelines.of("shop.lake_rides_daily", UpdatePeriod.DAILY)
        [<EndsAndHolesPartitionTimeline DAILY dt of lake_rides_daily: 3 times, 2015-01-29 to 2015-02-01, 1 missing>]
        """
        expect("period", period, UpdatePeriod, NoneType, hint=f"{_A_PERIOD}, or None for all")
        expect_texts(or_none=True, column=column)
        timelines = [
            convert(timeline, type(timeline))
            for (one, name), timeline in self.read(table).items()
            if period in (None, one) and (column is None or column.lower() == name.lower())
        ]
        if not timelines:
            raise TimelineNotFound(
                "the table does not keep this timeline",
                table=table,
                period=None if period is None else period.name,
                column=column,
                hint=f"List the timelines with `hbstore timeline show {table}`",
            )
        return timelines

    def read(self, table: str) -> Timelines:
        """All timelines of a table, shared with other callers: not to be changed.

        One read of the table's row; while that is what it was, nothing else. Where the table's flag is not "true", or a
        timeline is missing, they are built first, O(partitions); where somebody else builds them, this waits.

        Raises:
            TimelineTooLarge: one does not fit the table's row.

        >>> list(cubes.store.timelines.read("shop.lake_rides_daily"))
        [(<UpdatePeriod.DAILY: 'DAILY'>, 'dt')]
        """
        return self.read_with_totals(table)[0]

    def built(self, table: str) -> Timelines | None:
        """All timelines of a table, as `read`, but none is built: None where one would be. O(size of the timelines).

        >>> cubes.store.timelines.built("shop.lake_rides_daily") is None
        True
        >>> read = cubes.store.timelines.read("shop.lake_rides_daily")
        >>> cubes.store.timelines.built("shop.lake_rides_daily") is read
        True
        """
        text = "other writers kept changing the table's timelines while they were read"
        try:
            return self.tables.transactions.patience.retry(lambda: self._read(table)[0], text=text, table=table)
        except _MissingTimelinesError:
            return None

    def read_with_totals(self, table: str) -> tuple[Timelines, Totals]:
        """All timelines of a table, as `read`, and its totals from the same row.

        >>> _, totals = cubes.store.timelines.read_with_totals("shop.lake_rides_daily")
        >>> totals.partitions
        3
        """
        text = "other writers kept changing the table's timelines while they were read"
        return self.tables.transactions.patience.retry(lambda: self._read_or_build(table), text=text, table=table)

    def rebuild(self, table: str) -> Collected:
        """Build all timelines of a table from its partitions, and say so in its parameters. O(partitions).

        Where the parameters name a class that there is not, the default takes its place, and the result says so.

        >>> cubes.store.timelines.rebuild("shop.lake_rides_daily").left_out
        ()
        """
        unknown = self._builder.without_unknown_classes(*table_name(table))
        return replace(self._builder.build(*table_name(table)), unknown_classes=unknown)

    def convert(self, table: str, period: UpdatePeriod, column: str, name: str) -> TimelineName:
        """Make a timeline one of another class, in place: without reading partitions, and never wrong meanwhile.

        One of a class that there is not is built from the partitions, with the table's others.

        Args:
            table: ``"shop.sales"``.
            period: the timeline's update period.
            column: its time partition column, in any case.
            name: of the class.

        Returns:
            Which timeline it is, as the table calls it: ``DAILY.dt``.

        Raises:
            UnknownTimelineClass: there is no such class.
            TimelineNotFound: there is no such timeline.
            TimelineTooLarge: it would not fit the table's row; nothing was changed.

        >>> name = "RangesPartitionTimeline"
        >>> cubes.store.timelines.convert("shop.lake_rides_daily", UpdatePeriod.DAILY, "dt", name)
        'DAILY.dt'
        """
        expect("period", period, UpdatePeriod, hint=_A_PERIOD)
        expect_texts(column=column, name=name)
        cls = timeline_class(name)
        row = self.tables.open(*table_name(table))
        columns = time_columns(row)
        names = {(one, place.lower()): (timeline, place) for timeline, one, place in columns.names()}
        if (period, column.lower()) not in names:
            hint = f"List the timelines with `hbstore timeline show {row.table}`"
            kept = [timeline for timeline, _ in names.values()]
            raise TimelineNotFound(
                "the table does not keep this timeline",
                table=row.table,
                period=period.name,
                column=column,
                hint=did_you_mean(f"{period.name}.{column}", kept, hint),
            )
        timeline_name, column = names[period, column.lower()]
        try:
            self.read(table)
        except UnknownTimelineClass:
            self._name_class(table, period, column, cls)
            with suppress(UnknownTimelineClass):  # of another of the table's timelines
                self._builder.build(*table_name(table))
            return timeline_name

        def convert_stored(transaction: Transaction) -> None:
            view, now = self.tables.view(transaction, *table_name(table))
            cells, columns = view.all_cells(), time_columns(now)
            state = state_or_none(cells, columns, timeline_name)
            if not isinstance(state, Stored):
                raise CorruptTimeline(
                    "the timeline cannot be converted, because it is damaged, too large or still being built",
                    table=row.table,
                    timeline=timeline_name,
                    hint=f"Rebuild it from the partitions: `hbstore timeline rebuild {row.table}`",
                )
            converted = state_of(convert(stored_timeline(columns, period, column, state), cls))
            cell = encode_state(cells, columns, converted)
            others = {
                name: cells[name] for name in cells if name.startswith(TIMELINES) and name != cell_name(timeline_name)
            }
            is_other = isinstance(converted, TooLarge) or converted.properties[STORAGE_CLASS] != class_name(cls)
            if is_other or total_size(others) + len(cell) > MAX_TOGETHER:
                raise TimelineTooLarge(
                    "the timeline would be too large in this class",
                    table=row.table,
                    name=short_name(cls),
                    hint="Use RangesPartitionTimeline, which takes the least space",
                )
            view.put_cell(cell_name(timeline_name), cell)
            set_parameters(view, now, {class_parameter(period, column): class_name(cls)})

        self.tables.transactions.run(convert_stored)
        return timeline_name

    def check(self, table: str) -> list[str]:
        """What is wrong with a table's timelines: damaged ones, and differences from the partitions. O(partitions).

        Partitions may come and go meanwhile: what differs is looked at again.

        >>> cubes.store.timelines.check("shop.lake_rides_daily")
        []
        """
        try:
            timelines = self.read(table)
        except (CorruptTimeline, TimelineTooLarge, UnknownTimelineClass) as error:
            return [str(error)]
        row = self.tables.open(*table_name(table))
        columns = time_columns(row)
        prefix = row.definition.prefix
        collected = self._builder.collect(row, columns, prefix, successor(prefix))
        problems = []
        for name, period, column in columns.names():
            listed = times_of(timelines.get((period, column)))
            differing = difference(listed, collected.times.get(name, Runs()))
            if not differing:
                continue
            there = present(self.tables.transactions.rows, row, columns, period, column, differing)
            now = times_of(self.read(table).get((period, column)))
            differing.subtract(difference(listed, now))  # what came or went meanwhile
            problems += list(differences(name, period, now, differing, there))
        left_out = [f"the times of partition {one} cannot be determined" for one in collected.left_out]
        more = collected.left_out_count - len(left_out)
        return problems + left_out + ([f"… and the times of {more:,} more partitions"] if more else [])

    def export(self, table: str) -> dict[str, str]:
        """A table's timelines as properties of a table of Apache Lens.

        >>> len(cubes.store.timelines.export("shop.lake_rides_daily"))
        6
        """
        properties = {PRESENT: "true"}
        for timeline in self.read(table).values():
            properties |= table_properties(timeline)
        return properties

    def take_over(self, table: str, properties: Mapping[str, str]) -> None:
        """Take over timelines' classes from properties of a table of Apache Lens, if their times are those here.

        Raises:
            CorruptTimeline: a property cannot be read, or they contradict themselves; nothing was changed.
            TimelineMismatch: the table's partitions have other times; nothing was changed.
            UnknownTimelineClass: there is no such class; nothing was changed.

        >>> properties = cubes.store.timelines.export("shop.lake_rides_daily")
        >>> cubes.store.timelines.take_over("shop.lake_rides_daily", properties)
        """
        expect_dict("properties", properties, str, hint="Give the properties in a dict, as `export` returns them")
        row = self.tables.open(*table_name(table))
        timelines = self.read(table)
        listed_timelines = {
            (period, column): timeline_of(row.table.name, period, column, properties)
            for _, period, column in time_columns(row).names()
        }
        for key, timeline in listed_timelines.items():
            listed, stored = times_of(timeline), times_of(timelines[key])
            if listed != stored:
                raise TimelineMismatch(
                    "the times in the properties differ from the times of the table's partitions",
                    table=row.table,
                    timeline=f"{key[0].name}.{key[1]}",
                    only_in_properties=first_times(key[0], listed, stored),
                    only_in_table=first_times(key[0], stored, listed),
                    hint="Add the missing partitions, or drop those that are gone, then try again",
                )
        for (period, column), timeline in listed_timelines.items():
            self.convert(table, period, column, class_name(type(timeline)))

    @property
    def _builder(self) -> TimelineBuilder:
        return TimelineBuilder(self.tables)

    def _name_class(self, table: str, period: UpdatePeriod, column: str, named_class: type[PartitionTimeline]) -> None:
        """Name a timeline's class in the table's parameters, so that it is built as that from then on."""

        def name_class(transaction: Transaction) -> None:
            view, row = self.tables.view(transaction, *table_name(table))
            set_parameters(view, row, {class_parameter(period, column): class_name(named_class)})

        self.tables.transactions.run(name_class)

    def _read_or_build(self, table: str) -> tuple[Timelines, Totals]:
        """See `read_with_totals`; ConcurrentChange where they have been built, and are to be read now."""
        waits = 0
        while True:
            try:
                return self._read(table)
            except _MissingTimelinesError as missing:
                left = missing.wait_until - time.time()
                if left <= 0:
                    break
            waits += 1  # for as long as the builder says in time that it is at it
            time.sleep(min(left, _LONGEST_PAUSE, 0.01 * waits))
        self._builder.build(*table_name(table))
        raise ConcurrentChange("the timelines were built just now", table=table, hint="Try again")

    def _read(self, table: str) -> tuple[Timelines, Totals]:
        """Timelines are kept for one state of the row; else all of it is read at once, as it is by then."""
        row = self.tables.open(*table_name(table))
        cached: _CachedTimelines | None = self._cache.get(row.key)
        if cached is not None and cached.holds(row):
            return cached.timelines, row.totals
        time_columns(row)
        now = TableRow.of(row.key, *self.tables.transactions.read(row.key, timelines=True))
        if now is None:
            raise ConcurrentChange("the table was dropped while its timelines were read", table=table, hint="Try again")
        for commit in now.log.commits:  # a time that is told has its partitions
            if any(name.startswith(TIMELINES) for name in commit.cells):
                self.tables.transactions.roll_forward(row.key, commit)
        timelines = dict(self._stored(now, time_columns(now)))
        cached = _CachedTimelines(now.cells[DEFINITION], now.log.last, timelines)
        self._cache.put(row.key, cached, size_of(row.key, cached))
        return timelines, now.totals

    def _stored(
        self, row: TableRow, columns: TimeColumns
    ) -> Iterator[tuple[tuple[UpdatePeriod, str], PartitionTimeline]]:
        present_flag = row.table.parameters.get(PRESENT, "").lower() == "true"
        for name, period, column in columns.names():
            state = decode_state(row.cells, columns, name)
            if isinstance(state, Building):
                raise _MissingTimelinesError(state.until)
            if state is None or not present_flag:
                raise _MissingTimelinesError
            if isinstance(state, TooLarge):
                raise TimelineTooLarge(
                    "the timeline is too large for the table's row",
                    table=row.table,
                    timeline=name,
                    bytes=state.size,
                    hint="Declare larger update periods: the timeline has too many ranges",
                )
            try:
                yield (period, column), stored_timeline(columns, period, column, state)
            except UnknownTimelineClass:
                if is_known(row.table.parameters.get(class_parameter(period, column))):
                    raise _MissingTimelinesError from None  # the table names another class by now
                raise
