"""An answer: the partitions and columns with which one resolution of a query is answered, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

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
from hbstore.cubes.query.needs import Needs, QueryShape
from hbstore.cubes.query.options import PARTIAL_ANSWER
from hbstore.cubes.query.ranges import moments_text
from hbstore.cubes.query.rates import Compared, Rates
from hbstore.cubes.query.relations import PartitionTime
from hbstore.cubes.query.resolved import Resolved
from hbstore.cubes.query.shaping import shape
from hbstore.cubes.query.star import Star
from hbstore.cubes.query.text import QueryText
from hbstore.errors import NoCandidate
from hbstore.times.moments import time_at

_SHOWN = 8


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What all ways to answer a query share.

    Attributes:
        query: what was parsed.
        star: the documents.
        cube: the base cube that is asked.
        candidates: the storage tables of its facts, the lightest first.
    """

    query: QueryText
    star: Star
    cube: Cube
    candidates: Sequence[StorageCandidate]


@dataclass(frozen=True, slots=True, eq=False)
class Interpretation:
    """One way to understand a query: names are resolved so, and partitions are chosen so.

    Attributes:
        question: what is asked.
        resolved: the query, with placeholders for its aggregates.
        shaped: what it asks of rows.
        able: by aggregate, or -1 for rows without one, the storage tables that can answer it.
    """

    question: Question
    resolved: Resolved
    shaped: QueryShape
    able: Mapping[int, frozenset[StorageCandidate]]

    @staticmethod
    def of(question: Question, resolved: Resolved, by: PartitionTime) -> Interpretation:
        """The way of a resolution.

        Raises:
            UnsupportedQuery: its answer could not be exact.
            NoCandidate: no storage table has what an aggregate needs.
        """
        question = replace(question, candidates=[one.reaching(resolved.reached) for one in question.candidates])
        shaped = shape(question.query, question.star, question.cube, resolved, by)
        return Interpretation(question, resolved, shaped, _able(question, shaped.needs, shaped.aggregates))

    @property
    def compared(self) -> set[Compared]:
        """The storage tables that it chooses from."""
        return {
            (candidate, self.shaped.needs.by.column) for candidates in self.able.values() for candidate in candidates
        }

    def answer(self, rates: Rates, *, partial: bool) -> Answer:
        """The answer that costs least, with ``partial`` of those of the same times for all that is asked.

        The rates are those between the tables of all ways.
        """
        shaped, order = self.shaped, self.question.candidates
        cost, blocks = best_blocks(
            *(shaped.needs, shaped.aggregates, self.able, order, shaped.stretches, rates), partial=partial
        )
        return Answer(self.question, self.resolved, shaped, rates, blocks, cost)


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """One way to answer a query.

    Attributes:
        question: what is asked.
        resolved: the query, with placeholders for its aggregates.
        shaped: what it asks of rows.
        rates: of the storage tables.
        blocks: the partitions that are read.
        cost: of them.
    """

    question: Question
    resolved: Resolved
    shaped: QueryShape
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
        missing, shaped = self.missing, self.shaped
        candidates = [candidate for block in self.blocks for candidate in block.candidates]
        between = shaped.between_partitions(candidates, missing)
        if between == missing:  # no partition could be registered of what is missing
            text = "no update period is fine enough for the time range"
            fact = f"whose rows are not rolled up and have {shaped.needs.by.own} as a column of timestamps"
            ask = "Ask for times at which a period of the facts begins or ends"
            hints = [f"{ask}, or create a fact {fact}: of its partitions parts can be read"]
        else:
            text = "partitions are missing for the time range"
            hints = [f"Register them, ask for another range, or ask for what there is with {PARTIAL_ANSWER}"]
            hints += [f"Note that no update period fits into {moments_text(between)}"] if between else []
            if not all(candidate.raw for candidate in self.question.candidates):
                hints += dict.fromkeys(
                    aggregate.refusal.hint for aggregate in shaped.aggregates if aggregate.refusal.hint
                )
            clashing = filter(None, (shaped.clashing(candidate, missing) for candidate in self.question.candidates))
            hints += [f"Note that {one}: keep these on two storages, or as strings" for one in clashing][:1]
        return NoCandidate(
            text,
            cause="NO_CANDIDATE_FACT_AVAILABLE",
            missing=[(time_at(start), time_at(stop)) for start, stop in missing],
            candidates=tuple(self._alone(candidate) for candidate in self.question.candidates),  # none is taken
            ranges=moments_text(missing),
            hint=". ".join(hints),
        )

    def reports(self) -> tuple[Candidate, ...]:
        """All storage tables, each taken or with its cause."""
        taken = {table for block in self.blocks for table in block.tables}
        return tuple(self._report(candidate, taken=candidate.table in taken) for candidate in self.question.candidates)

    def _alone(self, candidate: StorageCandidate) -> Candidate:
        return self.shaped.alone(self.question.cube, candidate)

    def _report(self, candidate: StorageCandidate, *, taken: bool) -> Candidate:
        alone = self._alone(candidate)
        if taken:
            return replace(alone, taken=True, cause=None, detail="")
        if not alone.able:
            return alone
        time = sum(one.stop - one.start for one in self.shaped.stretches) or 1
        weight, mean = candidate.fact.weight or 0.0, self.cost[2] / time
        if Fraction(weight) > mean:
            return replace(alone, cause=MORE_WEIGHT, detail=f"weight {weight:g}, and the answer has {float(mean):g}")
        if self.rates.of(candidate, self.shaped.needs.by.column) > self.cost[3] / time:
            cause = MORE_BYTES if self.rates.what == "bytes" else MORE_ROWS
            return replace(alone, cause=cause, detail=f"others answer it from fewer {self.rates.what}")
        return replace(alone, cause=MORE_PARTITIONS, detail="others answer it by as few partitions, or fewer")


def _able(question: Question, needs: Needs, aggregates: Sequence[Aggregate]) -> dict[int, frozenset[StorageCandidate]]:
    """By aggregate, or -1 for rows without one, the storage tables that can answer it."""
    able: dict[int, frozenset[StorageCandidate]] = {}
    numbered: list[tuple[int, Aggregate | None]] = [*enumerate(aggregates)] if aggregates else [(-1, None)]
    for number, aggregate in numbered:
        reasons = {candidate: needs.refusal(question.cube, candidate, aggregate) for candidate in question.candidates}
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
