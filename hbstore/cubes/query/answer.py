"""An answer: the partitions and columns with which one resolution of a query is answered, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from typing import Final, TypeVar

from sqlglot import exp

from hbstore.cubes.concepts import Cube
from hbstore.cubes.query.aggregate_inputs import Aggregate
from hbstore.cubes.query.blocks import Block, Cost, best_blocks, missing_of
from hbstore.cubes.query.candidates import (
    MORE_BYTES,
    MORE_PARTITIONS,
    MORE_ROWS,
    MORE_WEIGHT,
    Candidate,
    StorageCandidate,
)
from hbstore.cubes.query.from_clause import cube_of, read_ranges
from hbstore.cubes.query.needs import Needs
from hbstore.cubes.query.options import PARTIAL_ANSWER, QueryOptions
from hbstore.cubes.query.ranges import QueryRange, moments_text
from hbstore.cubes.query.rates import Compared, Rates
from hbstore.cubes.query.relations import ways_to_choose
from hbstore.cubes.query.resolution import resolve
from hbstore.cubes.query.resolved import Resolved
from hbstore.cubes.query.shaping import shape
from hbstore.cubes.query.star import Star
from hbstore.cubes.query.text import TIME_RANGE_IN, QueryText
from hbstore.cubes.query.ways import ResolutionWay, in_all_ways
from hbstore.errors import NoCandidate, did_you_mean
from hbstore.times.moments import time_at

T = TypeVar("T")
_SHOWN: Final = 8


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A query of a cube, and what all ways to answer it share.

    Attributes:
        query: what was parsed.
        star: the documents.
        cube: the base cube that is asked.
        ranges: the time ranges that the query has.
        options: of the query.
        candidates: the storage tables of the cube's facts, the lightest first.
    """

    query: QueryText
    star: Star
    cube: Cube
    ranges: Sequence[QueryRange]
    options: QueryOptions
    candidates: Sequence[StorageCandidate]

    @staticmethod
    def of(query: QueryText, star: Star, now: datetime, options: QueryOptions) -> Question | None:
        """The question of a query; None where it asks dimensions alone.

        Raises:
            UnknownField, UnsupportedQuery: FROM or a time range is none that can be answered.
            TableNotFound, ConcurrentChange: as of `StorageCandidate.all_of`.
        """
        ranges = read_ranges(query, star, now)
        cube = cube_of(query, star)
        if cube is None:
            return None
        if not ranges:
            hint = "Add time_range_in(time dimension, 'from', 'to') to WHERE, with AND"
            hints = [did_you_mean(call.name, [TIME_RANGE_IN], hint) for call in query.select.find_all(exp.Anonymous)]
            raise query.unsupported(
                "the query has no time range",
                None,
                cause="NO_TIMERANGE_FILTER",
                hint=next((one for one in hints if one != hint), hint),
            )
        return Question(query, star, cube, ranges, options, StorageCandidate.all_of(star, cube, now, options))

    def in_all_ways(self, of: Callable[[Resolved, Needs], T]) -> list[T]:
        """What is made of the query in each way in which its names can be resolved, and its partitions be chosen.

        Raises:
            CubeQueryError: there is no such way; the error is that of the first one.
        """
        columns = frozenset(name for candidate in self.candidates for name in candidate.columns)
        by = ways_to_choose(self.cube, [candidate.fact for candidate in self.candidates], self.ranges)

        def in_one_way(ways: ResolutionWay) -> T:
            resolved = resolve(self.query, self.star, self.ranges, columns, ways, self.options)
            needs = shape(self.query, self.star, self.cube, resolved, ways.one_of("partition column", by))
            return of(resolved, needs)

        return in_all_ways(in_one_way)


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """A way to understand a query: its names are resolved so, and its partitions chosen so.

    Attributes:
        question: what is asked; its candidates reach fields in this way.
        resolved: the query, with placeholders for its aggregates.
        needs: what it needs of rows.
        able: by aggregate, or -1 for rows without one, the storage tables that can answer it.
    """

    question: Question
    resolved: Resolved
    needs: Needs
    able: Mapping[int, frozenset[StorageCandidate]]

    @staticmethod
    def all_of(question: Question) -> list[Way]:
        """All ways to understand a question.

        Raises:
            UnsupportedQuery: its answer could not be exact.
            NoCandidate: no storage table has what an aggregate needs.
        """

        def of(resolved: Resolved, needs: Needs) -> Way:
            candidates = [candidate.reaching(resolved.reached) for candidate in question.candidates]
            return Way(replace(question, candidates=candidates), resolved, needs, _able(candidates, needs))

        return question.in_all_ways(of)

    @property
    def compared(self) -> set[Compared]:
        """The storage tables that it chooses from."""
        return {(candidate, self.needs.by.column) for candidates in self.able.values() for candidate in candidates}

    def answer(self, rates: Rates) -> Answer:
        """The answer that costs least, of the same times for all that is asked if a partial one will do.

        The rates are those between the tables of all ways.
        """
        cost, blocks = best_blocks(
            self.needs, self.able, self.question.candidates, rates, partial=self.question.options.partial
        )
        return Answer(self, rates, blocks, cost)


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """One way to answer a query.

    Attributes:
        way: how the query is understood.
        rates: of the storage tables.
        blocks: the partitions that are read.
        cost: of them.
    """

    way: Way
    rates: Rates
    blocks: Sequence[Block]
    cost: Cost

    @property
    def missing(self) -> list[tuple[int, int]]:
        """The moments that some block has no partitions of, sorted and joined."""
        return missing_of(self.blocks)

    @property
    def reads_rows(self) -> bool:
        """Whether there are partitions that it reads, or rows of a table without partitions."""
        return any(block.tables for block in self.blocks)

    def incomplete(self) -> NoCandidate:
        """The error for an answer that lacks partitions, or such as are short enough."""
        missing, needs, all_candidates = self.missing, self.way.needs, self.way.question.candidates
        candidates = [candidate for block in self.blocks for candidate in block.candidates]
        between = needs.between_partitions(candidates, missing)
        if between == missing:  # no partition could be registered of what is missing
            text = "no update period is fine enough for the time range"
            fact = f"whose rows are not rolled up and have {needs.by.own} as a column of timestamps"
            ask = "Ask for times at which a period of the facts begins or ends"
            hints = [f"{ask}, or create a fact {fact}: of its partitions parts can be read"]
        else:
            text = "partitions are missing for the time range"
            hints = [f"Register them, ask for another range, or ask for what there is with {PARTIAL_ANSWER}"]
            hints += [f"Note that no update period fits into {moments_text(between)}"] if between else []
            if not all(candidate.raw for candidate in all_candidates):
                hints += dict.fromkeys(
                    aggregate.refusal.hint for aggregate in needs.aggregates if aggregate.refusal.hint
                )
            clashing = filter(None, (needs.clashing(candidate, missing) for candidate in all_candidates))
            hints += [f"Note that {one}: keep these on two storages, or as strings" for one in clashing][:1]
        return NoCandidate(
            text,
            cause="NO_CANDIDATE_FACT_AVAILABLE",
            missing=[(time_at(start), time_at(stop)) for start, stop in missing],
            candidates=tuple(map(needs.alone, all_candidates)),  # none is taken
            ranges=moments_text(missing),
            hint=". ".join(hints),
        )

    def reports(self) -> tuple[Candidate, ...]:
        """All storage tables, each taken or with its cause."""
        taken = {table for block in self.blocks for table in block.tables}
        return tuple(
            self._report(candidate, taken=candidate.table in taken) for candidate in self.way.question.candidates
        )

    def _report(self, candidate: StorageCandidate, *, taken: bool) -> Candidate:
        needs = self.way.needs
        alone = needs.alone(candidate)
        if taken:
            return replace(alone, taken=True, cause=None, detail="")
        if not alone.able:
            return alone
        time = sum(stretch.stop - stretch.start for stretch in needs.stretches) or 1
        weight, mean = candidate.fact.weight or 0.0, self.cost[2] / time
        if Fraction(weight) > mean:
            return replace(alone, cause=MORE_WEIGHT, detail=f"weight {weight:g}, and the answer has {float(mean):g}")
        if self.rates.of(candidate, needs.by.column) > self.cost[3] / time:
            cause = MORE_BYTES if self.rates.what == "bytes" else MORE_ROWS
            return replace(alone, cause=cause, detail=f"others answer it from fewer {self.rates.what}")
        return replace(alone, cause=MORE_PARTITIONS, detail="others answer it by as few partitions, or fewer")


def _able(candidates: Iterable[StorageCandidate], needs: Needs) -> dict[int, frozenset[StorageCandidate]]:
    """By aggregate, or -1 for rows without one, the storage tables that can answer it."""
    able: dict[int, frozenset[StorageCandidate]] = {}
    numbered: list[tuple[int, Aggregate | None]] = [*enumerate(needs.aggregates)] or [(-1, None)]
    for number, aggregate in numbered:
        reasons = {candidate: needs.refusal(candidate, aggregate) for candidate in candidates}
        refused = [reason for reason in reasons.values() if reason is not None]
        able[number] = frozenset(candidate for candidate, reason in reasons.items() if reason is None)
        if not able[number]:
            raise NoCandidate(
                "no fact has what the query asks for",
                cause="NO_CANDIDATE_FACT_AVAILABLE",
                what="rows" if aggregate is None else aggregate.text,
                why="; ".join(map(str, refused[:_SHOWN])),
                candidates=refused,
                hint=(aggregate and aggregate.refusal.hint) or "Ask for other fields, or create a fact that has them",
            )
    return able
