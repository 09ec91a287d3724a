"""Branches: the rows of an answer, as the SELECTs that stand below each other by UNION ALL, and their columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from hbstore.cubes.cover import CoverRun
from hbstore.cubes.descriptions import value_text
from hbstore.cubes.query.aggregate_calls import only_where
from hbstore.cubes.query.answer import Answer
from hbstore.cubes.query.blocks import Block
from hbstore.cubes.query.candidates import StorageCandidate
from hbstore.cubes.query.choice import index_runs
from hbstore.filters.builder import Expression, col
from hbstore.timelines.runs import joined
from hbstore.times.update_period import UpdatePeriod

BLOCK: Final = "block "
"""What the columns of rows are called that say to which block a row belongs."""


@dataclass(frozen=True, slots=True)
class Branch:
    """Rows of one storage table in the answer.

    Attributes:
        candidate: the storage table.
        block: the number of the block whose measures they have.
        runs: their partitions: update periods, each with the first index and the one behind the last.
        moments: where partitions are not read as wholes, or the table has none, the ranges of time of the rows.
        holds: which ranges of the query they are in, by number.
        times: the time dimensions that columns tell; partitions tell the others.
    """

    candidate: StorageCandidate
    block: int
    runs: tuple[tuple[UpdatePeriod, int, int], ...]
    holds: Mapping[int, bool]
    moments: tuple[tuple[int, int], ...] = ()
    times: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class UnionColumns:
    """The columns of the rows that a query is computed from.

    Attributes:
        attributes: fields that all branches have.
        times: time dimensions that are told by the partition's time.
        inputs: what aggregates look at, by name: what it is in the branches of a block and a table; NULL in others.
        flags: numbers of blocks that rows say whether they belong to.
        ranges: numbers of ranges that rows say whether they are in.
        dates: fields that are dates in the model; a table may have them as timestamps.
    """

    attributes: tuple[str, ...]
    times: tuple[str, ...]
    inputs: Mapping[str, Mapping[tuple[int, str], exp.Expr]]
    flags: tuple[int, ...]
    ranges: tuple[int, ...]
    dates: frozenset[str]


def branches_of(answer: Answer) -> Iterator[Branch]:
    """The rows that are read: those of one storage table and block together, apart where their columns differ."""
    candidates = {candidate.table: candidate for candidate in answer.way.question.candidates}
    needs = answer.way.needs
    runs: dict[object, list[tuple[UpdatePeriod, int, int]]] = {}
    first: dict[object, tuple[StorageCandidate, int, Mapping[int, bool]]] = {}
    moments: dict[object, list[tuple[int, int]]] = {}
    for number, block in enumerate(answer.blocks):
        for stretch, choice in zip(needs.stretches, block.choices, strict=True):
            holds: Mapping[int, bool] = {at: stretch.holds[at] for at in needs.flagged}
            for run, (source, start, stop) in zip(choice.runs, index_runs(choice), strict=True):
                candidate, period = candidates[source.table], source.period
                partitioned = isinstance(period, UpdatePeriod) and not candidate.on.is_continuous
                # Rows of partitions stand apart by period where that tells their times, or which of them are meant.
                apart = source.cut or (partitioned and needs.times != needs.times_of_rows(candidate))
                key: object = (number, source.table, *holds.values(), period if apart else None, source.cut)
                first.setdefault(key, (candidate, number, holds))
                if source.cut or not partitioned:
                    moments.setdefault(key, []).append((run.start, run.stop))
                if isinstance(period, UpdatePeriod) and partitioned:
                    runs.setdefault(key, []).append((period, start, stop))
    for key, (candidate, number, holds) in first.items():
        own_runs, ranges = _joined(runs.get(key, ())), joined(sorted(moments.get(key, ())))
        yield Branch(candidate, number, tuple(own_runs), holds, tuple(ranges), needs.times_of_rows(candidate))
    if not first:  # no rows, but with all columns
        yield Branch(answer.blocks[0].candidates[0], 0, (), dict.fromkeys(needs.flagged, False))


def cover_runs(answer: Answer) -> dict[str, list[CoverRun]]:
    """The partitions that are read, by storage table, in the order of time."""
    runs: dict[str, set[tuple[UpdatePeriod, int, int]]] = {}
    for branch in branches_of(answer):
        if branch.runs:
            runs.setdefault(branch.candidate.table, set()).update(branch.runs)
    by_table = {table: [CoverRun(*run, table) for run in _joined(some)] for table, some in sorted(runs.items())}
    return {table: sorted(some, key=lambda run: run.period.moment(run.start)) for table, some in by_table.items()}


def read_moments(answer: Answer) -> dict[str, tuple[tuple[int, int], ...]]:
    """By storage table without partitions, the ranges of time of the rows that are read."""
    moments: dict[str, set[tuple[int, int]]] = {}
    for branch in branches_of(answer):
        if branch.moments and not branch.runs:
            moments.setdefault(branch.candidate.table, set()).update(branch.moments)
    return {table: tuple(joined(sorted(ranges))) for table, ranges in sorted(moments.items())}


def read_filters(answer: Answer) -> dict[str, Expression | None]:
    """By storage table, the filter of the partitions that are read; None for one that has none."""
    candidates = {candidate.table: candidate for candidate in answer.way.question.candidates}
    column = answer.way.needs.by.column
    # A table of which no partition is read stands in the query for its columns alone.
    filters: dict[str, Expression | None] = {}
    for candidate in (branch.candidate for branch in branches_of(answer)):
        filters[candidate.table] = None if candidate.on.is_continuous else col(column).is_null()
    for table, runs in cover_runs(answer).items():
        kind = candidates[table].time_type(column)
        texts = [value_text(kind, run.period, at) for run in runs for at in range(run.start, run.stop)]
        filters[table] = col(column).isin(*texts)
    return filters


def columns_of(answer: Answer) -> UnionColumns:
    """The columns of the rows that are read."""
    needs = answer.way.needs
    inputs: dict[str, dict[tuple[int, str], exp.Expr]] = {}
    for number, block in enumerate(answer.blocks):
        candidates = _read_for(block)
        for candidate in candidates:
            own: dict[str, exp.Expr] = {name: exp.column(name, quoted=True) for name in needs.measures}
            for at in block.aggregates:
                own.update(needs.aggregates[at].inputs(candidates, candidate))
            # An attribute that only an aggregate looks at is to other blocks what their measures are to it.
            for name in own.keys() - needs.attributes:
                inputs.setdefault(name, {})[number, candidate.table] = own[name]
    return UnionColumns(
        tuple(sorted(needs.attributes)),
        tuple(sorted(needs.times)),
        dict(sorted(inputs.items())),
        tuple(range(len(answer.blocks))) if len(answer.blocks) > 1 else (),
        needs.flagged,
        frozenset(one.name for one in answer.way.question.cube.dim_attributes if one.type.lower() == "date"),
    )


def computed(answer: Answer, number: int) -> exp.Expr:
    """An aggregate as it is computed from these rows."""
    ((at, block),) = ((at, one) for at, one in enumerate(answer.blocks) if number in one.aggregates)
    tree = answer.way.needs.aggregates[number].computed(_read_for(block))
    if len(answer.blocks) == 1:
        return tree.copy()
    return only_where(tree, exp.column(f"{BLOCK}{at}", table=answer.way.resolved.root, quoted=True))


def _read_for(block: Block) -> list[StorageCandidate]:
    """The storage tables that are read for a block; where none is, one for its columns."""
    return [candidate for candidate in block.candidates if candidate.table in block.tables] or [block.candidates[0]]


def _joined(runs: Iterable[tuple[UpdatePeriod, int, int]]) -> list[tuple[UpdatePeriod, int, int]]:
    """Runs by their periods, each with those that touch made one, as a cut partition may be in several."""
    spans: dict[UpdatePeriod, list[tuple[int, int]]] = {}
    for period, start, stop in runs:
        spans.setdefault(period, []).append((start, stop))
    return [
        (one, *span) for one in sorted(spans, key=lambda period: period.rank) for span in joined(sorted(spans[one]))
    ]
