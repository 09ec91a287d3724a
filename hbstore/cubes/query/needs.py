"""What the rows of a query need, and which storage tables have it, with what sources of their partitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from sqlglot import exp

from hbstore.cubes.concepts import Cube
from hbstore.cubes.descriptions import value_text
from hbstore.cubes.query.aggregate_inputs import Aggregate
from hbstore.cubes.query.candidates import (
    COLUMN_NOT_FOUND,
    MISSING_DEFAULT_AGGREGATE,
    MISSING_PARTITIONS,
    NO_CANDIDATE_UPDATE_PERIODS,
    PART_COL_DOES_NOT_EXIST,
    STORAGE_NOT_AVAILABLE_IN_RANGE,
    Candidate,
    StorageCandidate,
)
from hbstore.cubes.query.choice import Chooser, PartitionSource, division_of
from hbstore.cubes.query.ranges import ConditionRange, moments_text
from hbstore.cubes.query.relations import PartitionTime
from hbstore.cubes.query.star import IS_AGGREGATED
from hbstore.cubes.query.times import TimeLook
from hbstore.keys.types import DateType
from hbstore.timelines.runs import Runs, gaps, joined
from hbstore.times.moments import moment
from hbstore.times.time_range import parse_time
from hbstore.times.update_period import UpdatePeriod


@dataclass(frozen=True, slots=True)
class Needs:
    """What a resolved query needs of the rows that answer it.

    Attributes:
        cube: the base cube that is asked.
        by: by what partitions are chosen.
        attributes: fields that all rows have to have.
        measures: measures that WHERE or GROUP BY looks at in each row.
        looks: what the query looks at of the time dimensions of the partition column.
        finer: what it looks at of any times that dates do not tell.
        aggregates: its aggregates; placeholders stand in their places.
        stretches: the time that is read.
        flagged: the numbers of ranges that hold on some stretches only.
    """

    cube: Cube
    by: PartitionTime
    attributes: frozenset[str]
    measures: frozenset[str]
    looks: Sequence[TimeLook]
    finer: Sequence[TimeLook]
    aggregates: Sequence[Aggregate]
    stretches: Sequence[ConditionRange]
    flagged: tuple[int, ...]

    @property
    def times(self) -> frozenset[str]:
        """The time dimensions that are told by the partition's time, where rows do not have them."""
        return frozenset(look.dimension for look in self.looks if look.periods)

    def refusal(self, candidate: StorageCandidate, aggregate: Aggregate | None) -> Candidate | None:
        """Why a storage table cannot answer an aggregate, or rows without one; None where it can."""
        return next((candidate.refusal(*why) for why in self._lacks(candidate, aggregate)), None)

    def _lacks(self, candidate: StorageCandidate, aggregate: Aggregate | None) -> Iterator[tuple[str, str]]:
        """The causes why it cannot, each with a detail."""
        if candidate.barred is not None:
            yield candidate.barred
            return
        if candidate.on.is_continuous:
            if candidate.own_time(self.by) is None:
                detail = f"it has no partitions, and no column {self.by.own} of dates or timestamps"
                yield PART_COL_DOES_NOT_EXIST, detail
                return
        elif self.by.column not in candidate.on.time_partition_columns:
            yield PART_COL_DOES_NOT_EXIST, f"it is not partitioned by {self.by.column}"
            return
        if not self.by.related(self.cube, candidate.fact):
            yield PART_COL_DOES_NOT_EXIST, f"it does not relate {self.by.dimension} to {self.by.column} like this"
        yield from self._lacks_of_rows(candidate, aggregate)
        is_up_to_date = candidate.on.is_continuous and self._allows(candidate, UpdatePeriod.CONTINUOUS)
        if not (is_up_to_date or self.periods(candidate)):
            yield NO_CANDIDATE_UPDATE_PERIODS, f"it has no update period {self._lacks_period(candidate)}"
        stretches = self.stretches
        if stretches and (candidate.until <= stretches[0].start or stretches[-1].stop <= candidate.since):
            yield STORAGE_NOT_AVAILABLE_IN_RANGE, f"it holds {moments_text([(candidate.since, candidate.until)])}"

    def _lacks_of_rows(self, candidate: StorageCandidate, aggregate: Aggregate | None) -> Iterator[tuple[str, str]]:
        needed = self.attributes | self.measures
        answers = aggregate is None or aggregate.answers(candidate)
        if aggregate is not None and answers:
            needed |= aggregate.needed(candidate)
        lacking = needed - candidate.fields
        if candidate.on.is_continuous:  # no partitions tell times
            lacking |= self.times - self.times_of_rows(candidate) - candidate.reached.keys()
        if missing := sorted(lacking):
            looks = (look for look in self.looks if look.dimension in missing and not look.periods)
            untold = dict.fromkeys(look.text for look in looks if not isinstance(look.tree, exp.Column))
            untold_text = f", and partitions do not tell {', '.join(untold)}" if untold else ""
            yield COLUMN_NOT_FOUND, f"it has no {', '.join(missing)}{untold_text}"
        blurred = [
            look for look in self.finer if look.dimension in needed and candidate.is_of(look.dimension, DateType)
        ]
        if blurred:
            names = " and ".join(dict.fromkeys(look.dimension for look in blurred))
            texts = ", ".join(dict.fromkeys(look.text for look in blurred))
            yield COLUMN_NOT_FOUND, f"its {names} has dates, which do not tell {texts}"
        rolled_up = f"needs rows that are not ({IS_AGGREGATED}: false)"
        if aggregate is not None and not answers:
            detail = f"its rows are rolled up, and {aggregate.text} {rolled_up}: {aggregate.refusal.reason}"
            yield MISSING_DEFAULT_AGGREGATE, detail
        if self.measures and not candidate.raw:
            detail = f"its rows are rolled up, and a condition on {', '.join(sorted(self.measures))} {rolled_up}"
            yield MISSING_DEFAULT_AGGREGATE, detail

    def periods(self, candidate: StorageCandidate) -> list[UpdatePeriod]:
        """The update periods of a storage table that will do."""
        looks = self._told(candidate)
        return [period for period in self._allowed(candidate) if all(period in look.periods for look in looks)]

    def _told(self, candidate: StorageCandidate) -> list[TimeLook]:
        """What the times of a storage table's partitions have to tell."""
        of_rows = self.times_of_rows(candidate)
        return [look for look in self.looks if look.periods and look.dimension not in of_rows]

    def times_of_rows(self, candidate: StorageCandidate) -> frozenset[str]:
        """The time dimensions that columns of a storage table tell; a date tells nothing that differs within days."""
        finer = {look.dimension for look in self.finer}
        names = self.times & candidate.columns.keys()
        return frozenset(name for name in names if name not in finer or not candidate.is_of(name, DateType))

    def _lacks_period(self, candidate: StorageCandidate) -> str:
        """Which update periods a storage table lacks."""
        allowed = self._allowed(candidate)
        if not allowed:
            return "that the options allow"
        looks = self._told(candidate)
        worst = [look for look in looks if look.periods.isdisjoint(allowed)] or looks
        return f"in which {' and '.join(dict.fromkeys(look.text for look in worst))} stays the same"

    def _allowed(self, candidate: StorageCandidate) -> list[UpdatePeriod]:
        """The update periods that a storage table has partitions of, and that the options allow."""
        periods = (period for period, column in candidate.timelines if column == self.by.column)
        return [period for period in periods if self._allows(candidate, period)]

    @staticmethod
    def _allows(candidate: StorageCandidate, period: UpdatePeriod) -> bool:
        return candidate.options.allows_period(candidate.fact.name, candidate.on.storage, period)

    def sources(
        self, candidate: StorageCandidate, aggregates: Iterable[Aggregate], rate: Fraction = Fraction(0)
    ) -> Iterator[PartitionSource]:
        """The sources of a storage table for some aggregates, with its rate where that counts."""
        used = set(self.attributes | self.measures)
        own = candidate.own_time(self.by)
        if own is not None:
            used.add(own[0])
        for aggregate in aggregates:
            used |= aggregate.needed(candidate)
        if own is not None:
            since, until = _bounds(candidate, used)
            whole = division_of(own[1])
            bounds = whole.ceil_index(since), whole.floor_index(until)
            yield PartitionSource(candidate.table, whole, partial(_within, bounds), candidate.fact.weight or 0.0, rate)
        cut_by = candidate.row_time(self.by)
        for cut in (False, True) if cut_by is not None else (False,):
            since, until = _bounds(candidate, {*used, cut_by} if cut and cut_by is not None else used)
            for period in self.periods(candidate):
                bounds = period.ceil_index(since), period.floor_index(until)
                ranges = partial(_ranges, candidate, self.by.column, period, bounds)
                yield PartitionSource(candidate.table, period, ranges, candidate.fact.weight or 0.0, rate, cut=cut)

    def alone(self, candidate: StorageCandidate) -> Candidate:
        """A storage table as one that can answer all of it alone, or with the first cause why it cannot."""
        aggregates: Sequence[Aggregate | None] = self.aggregates or [None]
        for aggregate in aggregates:
            refused = self.refusal(candidate, aggregate)
            if refused is not None:
                return refused
        chooser = Chooser(self.sources(candidate, self.aggregates))
        missing = joined(span for one in self.stretches for span in chooser.choose(one.start, one.stop).missing)
        if missing and self.between_partitions([candidate], missing) == missing:
            detail = f"none of its update periods fits into {moments_text(missing)}"
            return candidate.refusal(NO_CANDIDATE_UPDATE_PERIODS, detail, missing)
        if missing:
            detail = f"nothing for {moments_text(missing)}"
            clashing = self.clashing(candidate, missing)
            return candidate.refusal(
                MISSING_PARTITIONS, detail if clashing is None else f"{detail}; {clashing}", missing
            )
        return replace(candidate.report, able=True)

    def _answers_any_moment(self, candidate: StorageCandidate) -> bool:
        """Whether rows tell their times, so that a partition that is registered is read in part."""
        return candidate.on.is_continuous or (candidate.row_time(self.by) is not None and bool(self.periods(candidate)))

    def between_partitions(
        self, candidates: Sequence[StorageCandidate], missing: Sequence[tuple[int, int]]
    ) -> list[tuple[int, int]]:
        """What of some sorted moments is in no partition that lies within them, of the periods of storage tables."""
        if any(self._answers_any_moment(candidate) for candidate in candidates):
            return []
        periods = {period for candidate in candidates for period in self.periods(candidate)}
        left: list[tuple[int, int]] = []
        for start, stop in missing:
            whole = ((one.moment(one.ceil_index(start)), one.moment(one.floor_index(stop))) for one in periods)
            left += gaps(joined(sorted(span for span in whole if span[0] < span[1])), start, stop)
        return left

    def clashing(self, candidate: StorageCandidate, gaps: Sequence[tuple[int, int]]) -> str | None:
        """Which value is left out of what a storage table offers in some gaps, and why; None where none is."""
        column = self.by.column
        for period in self.periods(candidate):
            for start, stop in gaps:
                for at in candidate.clashes(column, period, period.floor_index(start), period.ceil_index(stop)):
                    value = value_text(candidate.time_type(column), period, at)
                    return f"in {candidate.table} partitions of several update periods have the {column} {value}"
        return None


def _within(bounds: tuple[int, int], start: int, stop: int) -> list[tuple[int, int]]:
    low, high = max(start, bounds[0]), min(stop, bounds[1])
    return [(low, high)] if low < high else []


def _ranges(
    candidate: StorageCandidate, column: str, period: UpdatePeriod, bounds: tuple[int, int], start: int, stop: int
) -> Iterable[tuple[int, int]]:
    """The indexes of a period in [start, stop) and within bounds that a storage table has, and whose values tell it."""
    low, high = max(start, bounds[0]), min(stop, bounds[1])
    if low >= high:
        return ()
    ranges, clashing = (
        candidate.timelines[period, column].index_ranges(low, high),
        candidate.clashes(column, period, low, high),
    )
    return Runs.of_ranges(ranges).minus(Runs.of(clashing)) if clashing else ranges


def _bounds(candidate: StorageCandidate, used: Iterable[str]) -> tuple[int, int]:
    """The moments in which a storage table has all of some columns."""
    since, until = candidate.since, candidate.until
    for column in (candidate.columns[name] for name in candidate.own_columns(used)):
        if column.start_time is not None:
            since = max(since, moment(parse_time(column.start_time, candidate.now)))
        if column.end_time is not None:
            until = min(until, moment(parse_time(column.end_time, candidate.now)))
    return since, until
