"""Candidates: the storage tables of a cube's facts, and what each of them offers to a query (needs.py).

What keeps a candidate from being taken has the name that Lens gives it; Lens knows no bytes and rows.

Values of a partition column that partitions of two update periods have are left out of what a table offers, as a query
for the value gets the rows of both. In a ``date`` column the month of January and its first day are both
``2015-01-01``. If a table has no other partition column, only one of them can be there. Beside another one both can:
``2015-01-01/eu`` the day and ``2015-01-01/us`` the month. All other values tell their period, by the timelines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Any, Final

from hbstore.cubes.concepts import Cube
from hbstore.cubes.logical_tables import Column, Fact, LogicalTable, StorageTable
from hbstore.cubes.query.options import QueryOptions
from hbstore.cubes.query.relations import PartitionTime
from hbstore.cubes.query.resolved import Join, Reached
from hbstore.cubes.query.star import Star, is_raw
from hbstore.cubes.registration import validity
from hbstore.cubes.storage_tables import unreadable
from hbstore.errors import ConcurrentChange, HbstoreError, TableNotFound, TimelineNotFound
from hbstore.keys.types import ColumnType, DateType, StringType, TimestampType, parse_type
from hbstore.model.totals import Totals
from hbstore.store.timelines.stored_timelines import Timelines
from hbstore.timelines.runs import Runs
from hbstore.times.moments import LIMIT, moment, time_at
from hbstore.times.update_period import UpdatePeriod

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
class StorageCandidate:
    """A storage table, and what it offers to a query.

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
    def all_of(star: Star, cube: Cube, now: datetime, options: QueryOptions) -> list[StorageCandidate]:
        """A cube's storage tables, the lightest first: one read of each table's row.

        Where a table is gone as its fact was dropped or altered meanwhile, the facts are read anew.

        Raises:
            TableNotFound, TimelineNotFound: a fact's storage table is not in the catalog, or keeps no timelines.
            CorruptTimeline, TimelineTooLarge, UnknownTimelineClass: a stored timeline cannot be read.
            ConcurrentChange: other writers kept altering the facts.
        """

        def read() -> list[StorageCandidate]:
            facts = star.facts(cube)
            try:
                candidates = [
                    StorageCandidate._of(star, fact, on, now, options) for fact in facts for on in fact.storage_tables
                ]
            except (TableNotFound, TimelineNotFound) as error:
                if star.facts(cube) == facts:
                    raise
                raise ConcurrentChange(
                    "another writer altered the cube's facts", cube=cube.name, hint="Try again"
                ) from error
            return sorted(candidates, key=lambda candidate: (candidate.fact.weight or 0.0, candidate.table))

        text = "other writers kept altering the cube's facts while the query was answered"
        return star.model.store.patience.retry(read, text=text, hint="Ask again", cube=cube.name)

    @staticmethod
    def _of(star: Star, fact: Fact, on: StorageTable, now: datetime, options: QueryOptions) -> StorageCandidate:
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
                timelines, totals = star.model.store.timelines.read_with_totals(f"{star.model.database}.{name}")
        except (TableNotFound, TimelineNotFound) as error:
            say_whose(error, fact, on.storage)
            raise
        return StorageCandidate(
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

    def if_readable(self) -> StorageCandidate:
        """The storage table, barred if it is known that its files cannot be read by `hbstore.spark`."""
        what = unreadable(self.on) if self.barred is None else None
        if what is None:
            return self
        return replace(self, barred=(UNKNOWN_FORMAT, f"hbstore does not know the format of its files: {what}"))

    @property
    def report(self) -> Candidate:
        """As people see it."""
        return Candidate(self.table, self.fact.name, self.on.storage, self.fact.weight or 0.0)

    @property
    def fields(self) -> AbstractSet[str]:
        """The fields that its rows have, or reach."""
        return self.columns.keys() | self.reached.keys()

    def reaching(self, fields: Mapping[str, Sequence[Reached]]) -> StorageCandidate:
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
        return replace(self.report, cause=cause, detail=detail, missing=ranges)

    def time_type(self, column: str) -> ColumnType:
        """The type of a partition column."""
        return next(parse_type(one.type) for one in self.on.partition_columns if one.name == column)

    def is_of(self, name: str, kind: type[ColumnType]) -> bool:
        """Whether a field is a column of its rows that has a type."""
        return name in self.columns and isinstance(parse_type(self.columns[name].type), kind)

    def own_time(self, by: PartitionTime) -> tuple[str, ColumnType] | None:
        """The column that tells the times of rows where the table has no partitions, and its type; None without one."""
        column = self.columns.get(by.own)
        kind = None if column is None or not self.on.is_continuous else parse_type(column.type)
        return (column.name, kind) if column is not None and isinstance(kind, DateType | TimestampType) else None

    def row_time(self, by: PartitionTime) -> str | None:
        """The column that tells the time of each row in a partition; None where rows are rolled up, or have none."""
        return by.own if self.raw and self.is_of(by.own, TimestampType) else None

    def clashes(self, column: str, period: UpdatePeriod, start: int, stop: int) -> list[int]:
        """The indexes of a period in [start, stop) whose values do not tell that they are of this period."""
        if len(self.on.partition_columns) == 1:
            return []  # two partitions have two values
        return clashes(self.timelines, column, self.time_type(column), period, start, stop)


def say_whose(error: HbstoreError, logical: LogicalTable, storage: str) -> None:
    """Add to the error for a lost storage table to which fact or dimension table it belongs, and what to do."""
    error.fields = {**error.fields, logical.kind: logical.name, "storage": storage}
    whose = f"the {logical.kind} {logical.name}"
    error.hint = f"Make it anew: `hbstore model alter` with {whose} as it is; or drop the {logical.kind}"


def clashes(
    timelines: Timelines, column: str, kind: ColumnType, period: UpdatePeriod, start: int, stop: int
) -> list[int]:
    """The indexes of a period in [start, stop) whose values are those of partitions of other periods as well; sorted.

    O(parts of the larger period of each two).

    Args:
        timelines: of a storage table with several partition columns.
        column: the partition column.
        kind: its type.
        period: one of its update periods.
        start: the first of its indexes.
        stop: the one behind the last.
    """
    clashing: set[int] = set()
    begin, end = period.moment(start), period.moment(stop)
    for (other, of), timeline in timelines.items():
        if of != column or other is period or (isinstance(kind, StringType) and other.pattern != period.pattern):
            continue
        both = [(period, timelines[period, column]), (other, timeline)]
        (small, of_small), (large, of_large) = sorted(both, key=lambda one: one[0].rank)
        first, last = large.ceil_index(begin), large.ceil_index(end)
        for at in Runs.of_ranges(of_large.index_ranges(first, last) if first < last else ()).numbers():
            inside = small.floor_index(large.moment(at))
            if small.moment(inside) == large.moment(at) and any(of_small.index_ranges(inside, inside + 1)):
                clashing.add(at if large is period else inside)
    return sorted(clashing)
