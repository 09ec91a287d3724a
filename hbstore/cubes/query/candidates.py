"""Candidates: the storage tables of a cube's facts, and what of a query each of them could answer.

What keeps a candidate from being taken has the name that Lens gives it; Lens knows no bytes and rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import Any, Final

from sqlglot import exp

from hbstore.cubes.concepts import Cube
from hbstore.cubes.logical_tables import Column, Fact, LogicalTable, StorageTable
from hbstore.cubes.query.choice import Source
from hbstore.cubes.query.clashes import clashes, without
from hbstore.cubes.query.continuous import division_of
from hbstore.cubes.query.options import QueryOptions
from hbstore.cubes.query.ranges import moments_text
from hbstore.cubes.query.relations import Chosen
from hbstore.cubes.query.resolved import Join, Reached
from hbstore.cubes.query.star import IS_AGGREGATED, Star, is_raw
from hbstore.cubes.query.times import TimeLook
from hbstore.cubes.query.units import AggregateUnit
from hbstore.cubes.registration import validity
from hbstore.cubes.storage_tables import unreadable
from hbstore.errors import ConcurrentChange, HbstoreError, TableNotFound, TimelineNotFound
from hbstore.store.timelines.stored_timelines import Timelines
from hbstore.times.moments import LIMIT, moment, time_at
from hbstore.times.time_range import parse_time
from hbstore.times.update_period import UpdatePeriod
from hbstore.totals import Totals
from hbstore.types import ColumnType, DateType, TimestampType, parse_type

COLUMN_NOT_FOUND: Final = "COLUMN_NOT_FOUND"
MISSING_DEFAULT_AGGREGATE: Final = "MISSING_DEFAULT_AGGREGATE"
PART_COL_DOES_NOT_EXIST: Final = "PART_COL_DOES_NOT_EXIST"
NO_CANDIDATE_UPDATE_PERIODS: Final = "NO_CANDIDATE_UPDATE_PERIODS"
STORAGE_NOT_AVAILABLE_IN_RANGE: Final = "STORAGE_NOT_AVAILABLE_IN_RANGE"
MISSING_PARTITIONS: Final = "MISSING_PARTITIONS"
UNKNOWN_FORMAT: Final = "UNKNOWN_FORMAT"
MORE_WEIGHT: Final = "MORE_WEIGHT"
MORE_BYTES: Final = "MORE_BYTES"
MORE_ROWS: Final = "MORE_ROWS"
MORE_PARTITIONS: Final = "MORE_PARTITIONS"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A storage table, and why it was taken or not.

    Attributes:
        table: its name.
        fact: of which fact.
        storage: on which storage.
        weight: the fact's.
        able: whether it could answer the whole query alone.
        taken: whether the answer reads it.
        cause: why not; None where it was taken, and where nothing was chosen but it is able.
        detail: what of the query it lacks, in words.
        missing: half open ranges of time that it has no partitions of, where it has all else.

    >>> one, *_ = cubes.candidates("rides", ["minutes"], ("start_time", "2015-01-29", "2015-01-31"))
    >>> one.table, one.able, str(one)
    ('lake_rides_daily', True, 'lake_rides_daily: can answer (weight 0)')
    """

    table: str
    fact: str
    storage: str
    weight: float
    able: bool = False
    taken: bool = False
    cause: str | None = None
    detail: str = ""
    missing: tuple[tuple[datetime, datetime], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The candidate as JSON would hold it.

        >>> one, *_ = cubes.candidates("rides", ["minutes"], ("start_time", "2015-01-29", "2015-02-01"))
        >>> one.to_dict()["missing"]
        [['2015-01-31T00:00:00+00:00', '2015-02-01T00:00:00+00:00']]
        """
        fields = ("table", "fact", "storage", "weight", "able", "taken", "cause", "detail")
        missing = [[start.isoformat(), end.isoformat()] for start, end in self.missing]
        return {**{name: getattr(self, name) for name in fields}, "missing": missing}

    def __str__(self) -> str:
        if self.cause is None:
            return f"{self.table}: {'taken' if self.taken else 'can answer'} (weight {self.weight:g})"
        return f"{self.table}: {self.cause}: {self.detail}" if self.detail else f"{self.table}: {self.cause}"


@dataclass(frozen=True, slots=True, eq=False)
class Offer:
    """What a storage table offers.

    Attributes:
        fact: whose it is.
        on: which of its storage tables.
        table: its name.
        columns: the columns of rows.
        raw: whether rows are not rolled up.
        timelines: by update period and partition column.
        totals: of its partitions, as the same row has them; None where they are not known.
        since, until: the first moment that the fact holds, and the one behind the last.
        now: for times of columns.
        options: which update periods may be read.
        barred: why it is not to be read, with the cause; None where it may be.
        reached: how its rows reach fields that are no columns of theirs.
    """

    fact: Fact
    on: StorageTable
    table: str
    columns: Mapping[str, Column]
    raw: bool
    timelines: Timelines
    totals: Totals | None
    since: int
    until: int
    now: datetime
    options: QueryOptions
    barred: tuple[str, str] | None
    reached: Mapping[str, Reached] = field(default_factory=dict)

    @staticmethod
    def all_of(star: Star, cube: Cube, now: datetime, options: QueryOptions) -> list[Offer]:
        """The offers of a cube's storage tables, the lightest first: one read of each table's row.

        Where a table is gone as its fact was dropped or altered meanwhile, the facts are read anew.

        Raises:
            TableNotFound, TimelineNotFound: a fact's storage table is not in the catalog, or keeps no timelines.
            CorruptTimeline, TimelineTooLarge, UnknownTimelineClass: a stored timeline cannot be read.
            ConcurrentChange: other writers kept altering the facts.
        """

        def read() -> list[Offer]:
            facts = star.facts(cube)
            try:
                offers = [Offer._of(star, fact, on, now, options) for fact in facts for on in fact.storage_tables]
            except (TableNotFound, TimelineNotFound) as error:
                if star.facts(cube) == facts:
                    raise
                raise ConcurrentChange(
                    "another writer altered the cube's facts", cube=cube.name, hint="Try again"
                ) from error
            return sorted(offers, key=lambda offer: (offer.fact.weight or 0.0, offer.table))

        text = "other writers kept altering the cube's facts while the query was answered"
        return star.catalog.store.patience.retry(read, text=text, hint="Ask again", cube=cube.name)

    @staticmethod
    def _of(star: Star, fact: Fact, on: StorageTable, now: datetime, options: QueryOptions) -> Offer:
        name, times = fact.table_name(on.storage), set(on.time_partition_columns)
        columns = {column.name: column for column in fact.columns} | {
            column.name: column for column in on.partition_columns
        }
        start, end = validity(fact, now)
        if on.is_continuous:
            end = now if end is None else min(end, now)
        barred = options.bars(fact.cube, fact.name, on.storage, name)
        timelines: Timelines = {}
        totals = None
        try:
            if times and barred is None:
                timelines, totals = star.catalog.store.timelines.read_with_totals(f"{star.catalog.database}.{name}")
        except (TableNotFound, TimelineNotFound) as error:
            say_whose(error, fact, on.storage)
            raise
        return Offer(
            fact,
            on,
            name,
            {column_name: column for column_name, column in columns.items() if column_name not in times},
            is_raw(fact),
            timelines,
            totals,
            0 if start is None else moment(start),
            LIMIT if end is None else moment(end),
            now,
            options,
            barred,
        )

    def if_readable(self) -> Offer:
        """The storage table, barred if it is known that its files cannot be read by `hbstore.spark`."""
        what = unreadable(self.on) if self.barred is None else None
        if what is None:
            return self
        return replace(self, barred=(UNKNOWN_FORMAT, f"hbstore does not know the format of its files: {what}"))

    @property
    def candidate(self) -> Candidate:
        """As people see it."""
        return Candidate(self.table, self.fact.name, self.on.storage, self.fact.weight or 0.0)

    @property
    def fields(self) -> AbstractSet[str]:
        """The fields that its rows have, or reach."""
        return self.columns.keys() | self.reached.keys()

    def reaching(self, fields: Mapping[str, Sequence[Reached]]) -> Offer:
        """The storage table with the fields that its rows reach, each by the first of some ways that they can go."""
        reached: dict[str, Reached] = {}
        joins: dict[str, Join] = {}
        for name in sorted(fields.keys() - self.columns.keys()):
            for one in fields[name]:
                if one.columns <= self.columns.keys() and all(joins.get(to.alias, to) == to for to in one.joins):
                    reached[name] = one
                    joins |= {to.alias: to for to in one.joins}
                    break
        return replace(self, reached=reached) if reached else self

    def own_columns(self, fields: Iterable[str]) -> frozenset[str]:
        """The columns of its rows that tell some fields."""
        mine = (self.reached[one].columns if one in self.reached else {one} for one in fields)
        return frozenset(chain.from_iterable(mine)).intersection(self.columns)

    def refusal(self, cause: str, detail: str, missing: Sequence[tuple[int, int]] = ()) -> Candidate:
        """The candidate with the reason why it was not taken, and the moments that it has no partitions of."""
        ranges = tuple((time_at(start), time_at(stop)) for start, stop in missing)
        return replace(self.candidate, cause=cause, detail=detail, missing=ranges)

    def time_type(self, column: str) -> ColumnType:
        """The type of a partition column."""
        return next(parse_type(one.type) for one in self.on.partition_columns if one.name == column)

    def own_time(self, by: Chosen) -> tuple[str, ColumnType] | None:
        """The column that tells the times of rows where the table has no partitions, and its type; None without one."""
        column = self.columns.get(by.own)
        kind = None if column is None or not self.on.is_continuous else parse_type(column.type)
        return (column.name, kind) if column is not None and isinstance(kind, DateType | TimestampType) else None

    def row_time(self, by: Chosen) -> str | None:
        """The column that tells the time of each row in a partition; None where rows are rolled up, or have none."""
        column = self.columns.get(by.own)
        tells = column is not None and self.raw and isinstance(parse_type(column.type), TimestampType)
        return column.name if column is not None and tells else None

    def clashes(self, column: str, period: UpdatePeriod, start: int, stop: int) -> list[int]:
        """The indexes of a period in [start, stop) whose values do not tell that they are of this period."""
        if len(self.on.partition_columns) == 1:
            return []  # two partitions have two values
        return clashes(self.timelines, column, self.time_type(column), period, start, stop)


@dataclass(frozen=True, slots=True)
class Needs:
    """What the rows of a query need.

    Attributes:
        by: by what partitions are chosen.
        attributes: fields that all rows have to have.
        looks: what the query looks at of the time dimensions of the partition column.
        measures: measures that WHERE or GROUP BY looks at in each row.
        start: the first moment that is asked for.
        stop: the moment behind the last.
    """

    by: Chosen
    attributes: frozenset[str]
    looks: Sequence[TimeLook] = ()
    measures: frozenset[str] = frozenset()
    start: int = 0
    stop: int = LIMIT

    @property
    def times(self) -> frozenset[str]:
        """The time dimensions that are told by the partition's time, where rows do not have them."""
        return frozenset(look.dimension for look in self.looks if look.periods)

    def refusal(self, cube: Cube, offer: Offer, unit: AggregateUnit | None) -> Candidate | None:
        """Why a storage table cannot answer a unit, or rows without one; None where it can."""
        return next((offer.refusal(*why) for why in self._lacks(cube, offer, unit)), None)

    def _lacks(self, cube: Cube, offer: Offer, unit: AggregateUnit | None) -> Iterator[tuple[str, str]]:
        """The causes why it cannot, each with a detail."""
        if offer.barred is not None:
            yield offer.barred
            return
        if offer.on.is_continuous:
            if offer.own_time(self.by) is None:
                detail = f"it has no partitions, and no column {self.by.own} of dates or timestamps"
                yield PART_COL_DOES_NOT_EXIST, detail
                return
        elif self.by.column not in offer.on.time_partition_columns:
            yield PART_COL_DOES_NOT_EXIST, f"it is not partitioned by {self.by.column}"
            return
        if not self.by.related(cube, offer.fact):
            yield PART_COL_DOES_NOT_EXIST, f"it does not relate {self.by.dimension} to {self.by.column} like this"
        yield from self._lacks_of_rows(offer, unit)
        if not (self._allows_own(offer) if offer.on.is_continuous else any(True for _ in self.periods(offer))):
            yield NO_CANDIDATE_UPDATE_PERIODS, f"it has no update period {self._lacks_period(offer)}"
        if offer.until <= self.start or self.stop <= offer.since:
            yield STORAGE_NOT_AVAILABLE_IN_RANGE, f"it holds {moments_text([(offer.since, offer.until)])}"

    def _lacks_of_rows(self, offer: Offer, unit: AggregateUnit | None) -> Iterator[tuple[str, str]]:
        needed = self.attributes | self.measures
        answers = unit is None or unit.answers(offer)
        if unit is not None and answers:
            needed |= unit.needed(offer)
        lacking = needed - offer.fields
        if offer.on.is_continuous:  # no partitions tell times
            lacking |= self.times - self.times_of_rows(offer) - offer.reached.keys()
        if missing := sorted(lacking):
            looks = (look for look in self.looks if look.dimension in missing and not look.periods)
            untold = dict.fromkeys(look.text for look in looks if not isinstance(look.tree, exp.Column))
            told = f", and partitions do not tell {', '.join(untold)}" if untold else ""
            yield COLUMN_NOT_FOUND, f"it has no {', '.join(missing)}{told}"
        rolled_up = f"needs rows that are not ({IS_AGGREGATED}: false)"
        if unit is not None and not answers:
            detail = f"its rows are rolled up, and {unit.text} {rolled_up}: {unit.refusal.reason}"
            yield MISSING_DEFAULT_AGGREGATE, detail
        if self.measures and not offer.raw:
            detail = f"its rows are rolled up, and a condition on {', '.join(sorted(self.measures))} {rolled_up}"
            yield MISSING_DEFAULT_AGGREGATE, detail

    def periods(self, offer: Offer) -> Iterator[UpdatePeriod]:
        """The update periods of a storage table that will do."""
        looks = self._told(offer)
        return (period for period in self._allowed(offer) if all(period in look.periods for look in looks))

    def _told(self, offer: Offer) -> list[TimeLook]:
        """What the times of a storage table's partitions have to tell."""
        of_rows = self.times_of_rows(offer)
        return [look for look in self.looks if look.periods and look.dimension not in of_rows]

    def times_of_rows(self, offer: Offer) -> frozenset[str]:
        """The time dimensions that columns of a storage table tell; a date tells nothing that differs within days."""
        finer = {look.dimension for look in self.looks if look.periods and UpdatePeriod.DAILY not in look.periods}
        kinds = {name: parse_type(offer.columns[name].type) for name in self.times if name in offer.columns}
        return frozenset(name for name, kind in kinds.items() if name not in finer or not isinstance(kind, DateType))

    def _lacks_period(self, offer: Offer) -> str:
        """Which update periods a storage table lacks."""
        allowed = self._allowed(offer)
        if not allowed:
            return "that the options allow"
        looks = self._told(offer)
        worst = [look for look in looks if look.periods.isdisjoint(allowed)] or looks
        return f"in which {' and '.join(dict.fromkeys(look.text for look in worst))} stays the same"

    def _allowed(self, offer: Offer) -> list[UpdatePeriod]:
        fact, storage = offer.fact.name, offer.on.storage
        periods = (period for period, column in offer.timelines if column == self.by.column)
        return [one for one in periods if offer.options.allows_period(fact, storage, one)]

    def _allows_own(self, offer: Offer) -> bool:
        return offer.options.allows_period(offer.fact.name, offer.on.storage, UpdatePeriod.CONTINUOUS)

    def sources(self, offer: Offer, units: Iterable[AggregateUnit], rate: Fraction = Fraction(0)) -> Iterator[Source]:
        """The sources of a storage table for some units, with its rate where that counts."""
        used = set(self.attributes | self.measures)
        own = offer.own_time(self.by)
        if own is not None:
            used.add(own[0])
        for unit in units:
            used |= unit.needed(offer)
        since, until = _bounds(offer, used)
        if own is not None:
            whole = division_of(own[1])
            bounds = whole.ceil_index(since), whole.floor_index(until)
            yield Source(offer.table, whole, partial(_within, bounds), offer.fact.weight or 0.0, rate)
        for period in self.periods(offer):
            bounds = period.ceil_index(since), period.floor_index(until)
            ranges = partial(_ranges, offer, self.by.column, period, bounds)
            yield Source(offer.table, period, ranges, offer.fact.weight or 0.0, rate)
        cut_by = offer.row_time(self.by)
        if cut_by is None:
            return
        since, until = _bounds(offer, {*used, cut_by})
        for period in self.periods(offer):
            bounds = period.ceil_index(since), period.floor_index(until)
            ranges = partial(_ranges, offer, self.by.column, period, bounds)
            yield Source(offer.table, period, ranges, offer.fact.weight or 0.0, rate, cut=True)


def _within(bounds: tuple[int, int], start: int, stop: int) -> list[tuple[int, int]]:
    low, high = max(start, bounds[0]), min(stop, bounds[1])
    return [(low, high)] if low < high else []


def _ranges(
    offer: Offer, column: str, period: UpdatePeriod, bounds: tuple[int, int], start: int, stop: int
) -> Iterable[tuple[int, int]]:
    """The indexes of a period in [start, stop) and within bounds that a storage table has, and whose values tell it."""
    low, high = max(start, bounds[0]), min(stop, bounds[1])
    if low >= high:
        return ()
    ranges, clashing = offer.timelines[period, column].index_ranges(low, high), offer.clashes(column, period, low, high)
    return without(ranges, clashing) if clashing else ranges


def _bounds(offer: Offer, used: Iterable[str]) -> tuple[int, int]:
    """The moments in which a storage table has all of some columns."""
    since, until = offer.since, offer.until
    for column in (offer.columns[name] for name in offer.own_columns(used)):
        if column.start_time is not None:
            since = max(since, moment(parse_time(column.start_time, offer.now)))
        if column.end_time is not None:
            until = min(until, moment(parse_time(column.end_time, offer.now)))
    return since, until


def say_whose(error: HbstoreError, logical: LogicalTable, storage: str) -> None:
    """Add to the error for a lost storage table to which fact or dimension table it belongs, and what to do."""
    error.fields = {**error.fields, logical.kind: logical.name, "storage": storage}
    whose = f"the {logical.kind} {logical.name}"
    error.hint = f"Make it anew: `hbstore model alter` with {whose} as it is; or drop the {logical.kind}"
