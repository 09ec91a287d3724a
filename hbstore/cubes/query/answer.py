"""An answer: the partitions and columns with which one resolution of a query is answered, and what it costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlglot import exp

from hbstore.cubes.concepts import Cube
from hbstore.cubes.covered import CoverRun, united
from hbstore.cubes.query.aggregate_calls import only_where
from hbstore.cubes.query.blocks import Block, Cost, best_blocks, missing_of
from hbstore.cubes.query.candidates import (
    MORE_BYTES,
    MORE_PARTITIONS,
    MORE_ROWS,
    MORE_WEIGHT,
    Candidate,
    Offer,
)
from hbstore.cubes.query.choice import index_runs
from hbstore.cubes.query.needs import Needs
from hbstore.cubes.query.ranges import ConditionRange, moments_text
from hbstore.cubes.query.rates import Compared, Rates
from hbstore.cubes.query.relations import Chosen
from hbstore.cubes.query.resolved import Resolved
from hbstore.cubes.query.shaping import Shaped, shape
from hbstore.cubes.query.star import Star
from hbstore.cubes.query.text import QueryText
from hbstore.cubes.query.units import AggregateUnit
from hbstore.cubes.query.writer import BLOCK, Columns, Part, value_text
from hbstore.errors import NoCandidate
from hbstore.filters.builder import Expression, col
from hbstore.times.moments import time_at
from hbstore.times.update_period import UpdatePeriod

_SHOWN = 8


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What all ways to answer a query share.

    Attributes:
        query: what was parsed.
        star: the documents.
        cube: the base cube that is asked.
        offers: the storage tables of its facts, the lightest first.
    """

    query: QueryText
    star: Star
    cube: Cube
    offers: Sequence[Offer]


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """One way to understand a query: names are resolved so, and partitions are chosen so.

    Attributes:
        question: what is asked.
        resolved: the query, with placeholders for its aggregates.
        shaped: what it asks of rows.
        able: by aggregate, or -1 for rows without one, the storage tables that can answer it.
    """

    question: Question
    resolved: Resolved
    shaped: Shaped
    able: Mapping[int, frozenset[Offer]]

    @staticmethod
    def of(question: Question, resolved: Resolved, by: Chosen) -> Way:
        """The way of a resolution.

        Raises:
            UnsupportedQuery: its answer could not be exact.
            NoCandidate: no storage table has what an aggregate needs.
        """
        question = replace(question, offers=[one.reaching(resolved.reached) for one in question.offers])
        shaped = shape(question.query, question.star, question.cube, resolved, by)
        return Way(question, resolved, shaped, _able(question, shaped.needs, shaped.units))

    @property
    def compared(self) -> set[Compared]:
        """The storage tables that it chooses from."""
        return {(offer, self.shaped.needs.by.column) for offers in self.able.values() for offer in offers}

    def answer(self, rates: Rates, *, partial: bool) -> Answer:
        """The answer that costs least, with ``partial`` of those of the same times for all that is asked.

        The rates are those between the tables of all ways.
        """
        shaped, order = self.shaped, self.question.offers
        cost, blocks = best_blocks(
            *(shaped.needs, shaped.units, self.able, order, shaped.stretches, rates), partial=partial
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
    shaped: Shaped
    rates: Rates
    blocks: Sequence[Block]
    cost: Cost

    @property
    def units(self) -> Sequence[AggregateUnit]:
        """The aggregates."""
        return self.shaped.units

    @property
    def needs(self) -> Needs:
        """What all rows need."""
        return self.shaped.needs

    @property
    def stretches(self) -> Sequence[ConditionRange]:
        """The time that is read."""
        return self.shaped.stretches

    @property
    def flagged(self) -> tuple[int, ...]:
        """The numbers of ranges that hold on some stretches only."""
        return self.shaped.flagged

    @property
    def star(self) -> Star:
        """The documents."""
        return self.question.star

    @property
    def by(self) -> Chosen:
        """By what partitions are chosen."""
        return self.needs.by

    @property
    def missing(self) -> list[tuple[int, int]]:
        """The moments that some block has no partitions of, sorted and joined."""
        return missing_of(self.blocks)

    @property
    def reads_rows(self) -> bool:
        """Whether there are partitions that it reads, or rows of a table without partitions."""
        return any(choice.runs for block in self.blocks for choice in block.choices)

    def incomplete(self) -> NoCandidate:
        """The error for an answer that lacks partitions, or such as are short enough."""
        missing = self.missing
        offers = [offer for block in self.blocks for offer in block.offers]
        between = self.shaped.between_partitions(offers, missing)
        if between == missing:
            return self._too_fine(missing)
        hints = ["Register them, ask for another range, or ask for what there is with partial=True (--partial)"]
        hints += [f"Note that no update period fits into {moments_text(between)}"] if between else []
        if not all(offer.raw for offer in self.question.offers):
            hints += dict.fromkeys(unit.refusal.hint for unit in self.units if unit.refusal.hint)
        clashing = [self.shaped.clashing(offer, missing) for offer in self.question.offers]
        hints += [f"Note that {one}: keep these on two storages, or as strings" for one in filter(None, clashing)][:1]
        return NoCandidate(
            "partitions are missing for the time range",
            cause="NO_CANDIDATE_FACT_AVAILABLE",
            missing=[(time_at(start), time_at(stop)) for start, stop in missing],
            candidates=self.candidates(),
            ranges=moments_text(missing),
            hint=". ".join(hints),
        )

    def _too_fine(self, missing: Sequence[tuple[int, int]]) -> NoCandidate:
        """The error where no partition could be registered of what is missing."""
        return NoCandidate(
            "no update period is fine enough for the time range",
            cause="NO_CANDIDATE_FACT_AVAILABLE",
            missing=[(time_at(start), time_at(stop)) for start, stop in missing],
            candidates=self.candidates(),
            ranges=moments_text(missing),
            hint="Ask for times at which a period of the facts begins or ends, or create a fact whose rows are not"
            f" rolled up and have {self.by.own} as a column of timestamps: of its partitions parts can be read",
        )

    def candidates(self) -> tuple[Candidate, ...]:
        """All storage tables, each taken or with its cause."""
        taken = {part.offer for part in self.parts() if part.runs or part.moments}
        return tuple(self._candidate(offer, taken=offer in taken) for offer in self.question.offers)

    def _candidate(self, offer: Offer, *, taken: bool) -> Candidate:
        alone = self.shaped.alone(self.question.cube, offer)
        if taken:
            return replace(alone, taken=True, cause=None, detail="")
        if not alone.able:
            return alone
        time = sum(one.stop - one.start for one in self.stretches) or 1
        weight, mean = offer.fact.weight or 0.0, self.cost[2] / time
        if Fraction(weight) > mean:
            return replace(alone, cause=MORE_WEIGHT, detail=f"weight {weight:g}, and the answer has {float(mean):g}")
        if self.rates.of(offer, self.by.column) > self.cost[3] / time:
            cause = MORE_BYTES if self.rates.what == "bytes" else MORE_ROWS
            return replace(alone, cause=cause, detail=f"others answer it from fewer {self.rates.what}")
        return replace(alone, cause=MORE_PARTITIONS, detail="others answer it by as few partitions, or fewer")

    # What the query reads

    def parts(self) -> Iterator[Part]:
        """The rows that are read: those of one storage table and block together, apart where their columns differ."""
        offers = {offer.table: offer for offer in self.question.offers}
        runs: dict[object, list[tuple[UpdatePeriod, int, int]]] = {}
        first: dict[object, tuple[Offer, int, Mapping[int, bool]]] = {}
        moments: dict[object, list[tuple[int, int]]] = {}
        for number, block in enumerate(self.blocks):
            for stretch, choice in zip(self.stretches, block.choices, strict=True):
                holds: Mapping[int, bool] = {at: stretch.holds[at] for at in self.flagged}
                for run, (source, start, stop) in zip(choice.runs, index_runs(choice), strict=True):
                    offer, period = offers[source.table], source.period
                    partitioned = isinstance(period, UpdatePeriod) and not offer.on.is_continuous
                    # Rows of partitions stand apart by period where that tells their times, or which of them are meant.
                    apart = source.cut or (partitioned and self.needs.times != self.needs.times_of_rows(offer))
                    key: object = (number, source.table, *holds.values(), period if apart else None, source.cut)
                    first.setdefault(key, (offer, number, holds))
                    if source.cut or not partitioned:
                        moments.setdefault(key, []).append((run.start, run.stop))
                    if isinstance(period, UpdatePeriod) and partitioned:
                        runs.setdefault(key, []).append((period, start, stop))
        for key, (offer, number, holds) in first.items():
            own_runs, ranges = _joined(runs.get(key, ())), united(moments.get(key, ()))
            yield Part(offer, number, tuple(own_runs), holds, tuple(ranges), self.needs.times_of_rows(offer))
        if not first:  # no rows, but with all columns
            yield Part(self.blocks[0].offers[0], 0, (), dict.fromkeys(self.flagged, False))

    def cover_runs(self) -> dict[str, list[CoverRun]]:
        """The partitions that are read, by storage table, in the order of time."""
        found: dict[str, set[tuple[UpdatePeriod, int, int]]] = {}
        for part in self.parts():
            if part.runs:
                found.setdefault(part.offer.table, set()).update(part.runs)
        made = {table: [CoverRun(*run, table) for run in _joined(list(some))] for table, some in sorted(found.items())}
        return {table: sorted(some, key=lambda run: run.period.moment(run.start)) for table, some in made.items()}

    def moments(self) -> dict[str, tuple[tuple[int, int], ...]]:
        """By storage table without partitions, the ranges of time of the rows that are read."""
        found: dict[str, set[tuple[int, int]]] = {}
        for part in self.parts():
            if part.moments and not part.runs:
                found.setdefault(part.offer.table, set()).update(part.moments)
        return {table: tuple(united(ranges)) for table, ranges in sorted(found.items())}

    def reads(self) -> dict[str, Expression | None]:
        """By storage table, the filter of the partitions that are read; None for one that has none."""
        offers = {offer.table: offer for offer in self.question.offers}
        # A table of which no partition is read stands in the query for its columns alone.
        filters: dict[str, Expression | None] = {}
        for offer in (part.offer for part in self.parts()):
            filters[offer.table] = None if offer.on.is_continuous else col(self.by.column).is_null()
        for table, runs in self.cover_runs().items():
            kind = offers[table].time_type(self.by.column)
            texts = [value_text(kind, run.period, at) for run in runs for at in range(run.start, run.stop)]
            filters[table] = col(self.by.column).isin(*texts)
        return filters

    def columns(self) -> Columns:
        """The columns of the rows that are read."""
        pieces: dict[str, dict[tuple[int, str], exp.Expr]] = {}
        for number, block in enumerate(self.blocks):
            offers = self._read_for(block)
            for offer in offers:
                own: dict[str, exp.Expr] = {name: exp.column(name, quoted=True) for name in self.needs.measures}
                for at in block.units:
                    own.update(self.units[at].pieces(offers, offer))
                # An attribute that only an aggregate looks at is to other blocks what their measures are to it.
                for name in own.keys() - self.needs.attributes:
                    pieces.setdefault(name, {})[number, offer.table] = own[name]
        return Columns(
            tuple(sorted(self.needs.attributes)),
            tuple(sorted(self.needs.times)),
            dict(sorted(pieces.items())),
            tuple(range(len(self.blocks))) if len(self.blocks) > 1 else (),
            self.flagged,
            frozenset(one.name for one in self.question.cube.dim_attributes if one.type.lower() == "date"),
        )

    def unit(self, number: int) -> exp.Expr:
        """An aggregate as it is computed from these rows."""
        ((at, block),) = ((at, one) for at, one in enumerate(self.blocks) if number in one.units)
        tree = self.units[number].computed(self._read_for(block))
        if len(self.blocks) == 1:
            return tree.copy()
        return only_where(tree, exp.column(f"{BLOCK}{at}", table=self.resolved.root, quoted=True))

    def _read_for(self, block: Block) -> list[Offer]:
        """The storage tables that are read for a block; where none is, one for its columns."""
        read = {run.source.table for choice in block.choices for run in choice.runs if run.source is not None}
        return [offer for offer in block.offers if offer.table in read] or [block.offers[0]]


def _able(question: Question, needs: Needs, units: Sequence[AggregateUnit]) -> dict[int, frozenset[Offer]]:
    """By aggregate, or -1 for rows without one, the storage tables that can answer it."""
    able: dict[int, frozenset[Offer]] = {}
    numbered: list[tuple[int, AggregateUnit | None]] = [*enumerate(units)] if units else [(-1, None)]
    for number, unit in numbered:
        reasons = {offer: needs.refusal(question.cube, offer, unit) for offer in question.offers}
        refused = [reason for reason in reasons.values() if reason is not None]
        able[number] = frozenset(offer for offer, reason in reasons.items() if reason is None)
        if not able[number]:
            raise NoCandidate(
                "no fact has what the query asks for",
                cause="NO_CANDIDATE_FACT_AVAILABLE",
                what="rows" if unit is None else unit.text,
                why="; ".join(map(str, refused[:_SHOWN])),
                candidates=refused,
                hint=(unit and unit.refusal.hint) or "Ask for other fields, or create a fact that has them",
            )
    return able


def _joined(runs: Iterable[tuple[UpdatePeriod, int, int]]) -> list[tuple[UpdatePeriod, int, int]]:
    """Runs by their periods, each with those that touch made one, as a cut partition may be in several."""
    spans: dict[UpdatePeriod, list[tuple[int, int]]] = {}
    for period, start, stop in runs:
        spans.setdefault(period, []).append((start, stop))
    return [(one, *span) for one in sorted(spans, key=lambda period: period.rank) for span in united(spans[one])]
