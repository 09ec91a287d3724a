"""Blocks: which aggregates of a query are answered together, from the same rows.

If some storage tables have all that a query asks for, there is one block. Otherwise the aggregates are dealt out: each
block is answered by storage tables that have all of it, over the whole range, and each moment counts once in a block.
The blocks' rows stand below each other, with NULL for what belongs to another block, and the aggregates pass over it.

Aggregates are of one kind if the same tables can answer them, in the same times. With few kinds all ways to deal them
out are tried: the least time is missing, then the blocks are fewest, then they cost least. With many, each kind goes to
the block with which it shares most tables; if time is missing then, each kind is a block of its own, which answers all
that can be answered.

Time is missing if one block lacks it. A partial answer has none of it in any block, as a ratio of what is of other
times would be none of the cube's rows:

    fares      ████████░░██████    one day is missing
    minutes    ████░░██████████    another day is missing
    both       ████░░██░░██████    what is read of each
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, TypeAlias

from hbstore.cubes.query.aggregate_inputs import Aggregate
from hbstore.cubes.query.candidates import StorageCandidate
from hbstore.cubes.query.choice import Choice, Chooser
from hbstore.cubes.query.needs import Needs
from hbstore.cubes.query.ranges import ConditionRange
from hbstore.cubes.query.rates import Rates
from hbstore.timelines.runs import Runs, joined

_FEW: Final = 5
"""Kinds of aggregates for which all ways to deal them out are tried."""

Dealt: TypeAlias = list[list["AggregateKind"]]
"""Kinds of aggregates, dealt out to blocks."""

Cost: TypeAlias = tuple[int, int, Fraction, Fraction, int]
"""Time missing, blocks, weight, bytes, partitions."""


@dataclass(frozen=True, slots=True)
class Block:
    """Aggregates that are answered from the same rows.

    Attributes:
        aggregates: their numbers.
        candidates: the storage tables that have all of them.
        chooser: chooses among their partitions.
        choices: for each stretch of time the partitions that answer it.
    """

    aggregates: tuple[int, ...]
    candidates: tuple[StorageCandidate, ...]
    chooser: Chooser
    choices: tuple[Choice, ...]

    @property
    def tables(self) -> set[str]:
        """The storage tables of which something is read."""
        return {run.source.table for choice in self.choices for run in choice.runs if run.source is not None}

    def without(self, missing: Runs, stretches: Sequence[ConditionRange]) -> Block:
        """The same aggregates, answered for what some missing moments leave of the stretches."""
        choices = (self.chooser.choose(one.start, one.stop, missing.between(one.start, one.stop)) for one in stretches)
        return replace(self, choices=tuple(choices))


@dataclass(frozen=True, slots=True)
class AggregateKind:
    """Aggregates that are answered together wherever one of them is.

    Attributes:
        aggregates: their numbers; -1 for rows without one.
        candidates: the storage tables that can answer them.
    """

    aggregates: tuple[int, ...]
    candidates: frozenset[StorageCandidate]


def best_blocks(
    needs: Needs,
    able: Mapping[int, frozenset[StorageCandidate]],
    order: Sequence[StorageCandidate],
    rates: Rates,
    *,
    partial: bool,
) -> tuple[Cost, list[Block]]:
    """The blocks that answer a query best.

    Args:
        needs: of the query: its aggregates, and the time that is asked for.
        able: by the number of an aggregate, the storage tables that can answer it; -1 for rows alone.
        order: the storage tables in the order in which they are preferred where they cost the same.
        rates: of the storage tables.
        partial: whether the blocks are to be of the same times, where some lack time.
    """
    best: tuple[Cost, list[Block]] | None = None
    by_kinds: dict[frozenset[AggregateKind], Block] = {}  # many ways to deal out have a block in common
    for dealt in _dealt(_kinds(needs.aggregates, able, order)):
        if best is not None and not best[0][0] and len(dealt) > len(best[1]):
            break  # more blocks cost more
        for kinds in dealt:
            if frozenset(kinds) not in by_kinds:
                by_kinds[frozenset(kinds)] = _block(kinds, needs, order, rates)
        blocks = [by_kinds[frozenset(kinds)] for kinds in dealt]
        cost = _cost(blocks)
        if partial and cost[0] and (best is None or cost[:2] <= best[0][:2]):
            blocks = _of_the_same_times(blocks, needs.stretches)
            cost = _cost(blocks)
        if best is None or cost < best[0]:
            best = cost, blocks
    assert best is not None
    return best


def missing_of(blocks: Iterable[Block]) -> list[tuple[int, int]]:
    """The moments that some block has no partitions of, sorted and joined."""
    return joined(sorted(span for block in blocks for choice in block.choices for span in choice.missing))


def _cost(blocks: Sequence[Block]) -> Cost:
    choices = [choice for block in blocks for choice in block.choices]
    weight, size, count = (sum(one.cost[at] for one in choices) for at in range(1, 4))
    return _length(missing_of(blocks)), len(blocks), Fraction(weight), Fraction(size), int(count)


def _of_the_same_times(blocks: list[Block], stretches: Sequence[ConditionRange]) -> list[Block]:
    """Blocks without the time that one of them lacks.

    A partition that lies across such a time answers nothing any more. So more may be missing then, and this is done
    again until all lack the same.
    """
    missing = missing_of(blocks)
    while any(_length(missing_of([block])) < _length(missing) for block in blocks):
        blocks = [block.without(Runs.of_ranges(missing), stretches) for block in blocks]
        missing = missing_of(blocks)
    return blocks


def _length(ranges: Iterable[tuple[int, int]]) -> int:
    return sum(stop - start for start, stop in ranges)


def _kinds(
    aggregates: Sequence[Aggregate], able: Mapping[int, frozenset[StorageCandidate]], order: Sequence[StorageCandidate]
) -> list[AggregateKind]:
    """The kinds of aggregates. Columns that a table has for some time only make kinds of their own."""
    some_time = {
        candidate: frozenset(name for name, one in candidate.columns.items() if one.start_time or one.end_time)
        for candidate in order
    }
    dated = {candidate: names for candidate, names in some_time.items() if names}
    numbers_by_kind: dict[Hashable, list[int]] = {}
    for number, candidates in able.items():
        needed = frozenset(
            (candidate, candidate.own_columns(aggregates[number].needed(candidate)) & dated[candidate])
            for candidate in candidates & dated.keys()
            if number >= 0
        )
        numbers_by_kind.setdefault((candidates, needed), []).append(number)
    return [AggregateKind(tuple(numbers), able[numbers[0]]) for numbers in numbers_by_kind.values()]


def _block(kinds: Sequence[AggregateKind], needs: Needs, order: Sequence[StorageCandidate], rates: Rates) -> Block:
    common = _common(kinds)
    candidates = tuple(one for one in order if one in common)
    numbers = tuple(sorted(number for kind in kinds for number in kind.aggregates if number >= 0))
    own, column = [needs.aggregates[number] for number in numbers], needs.by.column
    chooser = Chooser(source for one in candidates for source in needs.sources(one, own, rates.of(one, column)))
    return Block(numbers, candidates, chooser, tuple(chooser.choose(one.start, one.stop) for one in needs.stretches))


def _common(kinds: Iterable[AggregateKind]) -> frozenset[StorageCandidate]:
    return frozenset.intersection(*(kind.candidates for kind in kinds))


def _dealt(kinds: Sequence[AggregateKind]) -> Iterator[Dealt]:
    """The ways to deal kinds out to blocks such that some table can answer each block, that with fewest blocks first.

    With many kinds, a way with few blocks, and that in which each is a block of its own.
    """
    if len(kinds) > _FEW:
        yield _dealt_in_turn(kinds)
        yield [[kind] for kind in kinds]
        return
    ways: list[Dealt] = [[]]
    for kind in kinds:
        ways = [
            [*way[:at], [*way[at], kind], *way[at + 1 :]] if at < len(way) else [*way, [kind]]
            for way in ways
            for at in range(len(way) + 1)
            if at == len(way) or _common([kind, *way[at]])
        ]
    yield from sorted(ways, key=len)


def _dealt_in_turn(kinds: Sequence[AggregateKind]) -> Dealt:
    blocks: Dealt = []
    for kind in sorted(kinds, key=lambda one: len(one.candidates)):
        shared = [len(_common([kind, *block])) for block in blocks]
        most = max(shared, default=0)
        if most:
            blocks[shared.index(most)].append(kind)
        else:
            blocks.append([kind])
    return blocks
