"""Blocks: which aggregates of a query are answered together, from the same rows.

If some storage tables have all that a query asks for, there is one block. Otherwise the aggregates are dealt out: each
block is answered by storage tables that have all of it, over the whole range, and each moment counts once in a block.
The blocks' rows stand below each other, with NULL for what belongs to another block, and the aggregates pass over it.

With few kinds of aggregates (as seen by the tables that can answer them) all ways to deal them out are tried, fewest
blocks first; with many each goes to the block with which it shares most tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

from hbstore.cubes.query.aggregates import Unit
from hbstore.cubes.query.candidates import Needs, Offer
from hbstore.cubes.query.choice import Choice, Chooser
from hbstore.cubes.query.ranges import Stretch
from hbstore.cubes.query.rates import Rates

_FEW: Final = 5
"""Kinds of aggregates for which all ways to deal them out are tried."""

Blocks: TypeAlias = list[list[frozenset[Offer]]]

Cost: TypeAlias = tuple[int, int, Fraction, Fraction, int]
"""Time missing, blocks, weight, bytes, partitions."""


@dataclass(frozen=True, slots=True)
class Block:
    """Aggregates that are answered from the same rows.

    Attributes:
        units: their numbers.
        offers: the storage tables that have all of them.
        choices: for each stretch of time the partitions that answer it.
    """

    units: tuple[int, ...]
    offers: tuple[Offer, ...]
    choices: tuple[Choice, ...]


def best_blocks(
    needs: Needs,
    units: Sequence[Unit],
    able: Mapping[int, frozenset[Offer]],
    order: Sequence[Offer],
    stretches: Sequence[Stretch],
    rates: Rates,
) -> tuple[Cost, list[Block]]:
    """The blocks that answer a query best.

    Args:
        needs: what all rows need.
        units: the aggregates; where there are none, rows alone are asked.
        able: by the number of a unit, the storage tables that can answer it; -1 for rows alone.
        order: the storage tables in the order in which they are preferred where they cost the same.
        stretches: the time that is asked for.
        rates: of the storage tables.
    """
    kinds: dict[frozenset[Offer], list[int]] = {}
    for number, offers in able.items():
        kinds.setdefault(offers, []).append(number)
    best: tuple[Cost, list[Block]] | None = None
    there: dict[frozenset[frozenset[Offer]], Block] = {}  # many ways to deal out have a block in common
    for blocks in _dealt(list(kinds)):
        for block in blocks:
            if frozenset(block) not in there:
                numbers = [number for kind in block for number in kinds[kind]]
                there[frozenset(block)] = _block(numbers, block, needs, units, order, stretches, rates)
        made = [there[frozenset(block)] for block in blocks]
        choices = [choice for block in made for choice in block.choices]
        missing, weight, size, count = (sum(one.cost[at] for one in choices) for at in range(4))
        cost: Cost = (int(missing), len(made), Fraction(weight), Fraction(size), int(count))
        if best is None or cost < best[0]:
            best = cost, made
    assert best is not None
    return best


def _block(
    numbers: Sequence[int],
    kinds: Sequence[frozenset[Offer]],
    needs: Needs,
    units: Sequence[Unit],
    order: Sequence[Offer],
    stretches: Sequence[Stretch],
    rates: Rates,
) -> Block:
    common = frozenset.intersection(*kinds)
    offers = tuple(one for one in order if one in common)
    own = [units[number] for number in numbers if number >= 0]
    column = needs.by.column
    chooser = Chooser(source for one in offers for source in needs.sources(one, own, rates.of(one, column)))
    choices = tuple(chooser.choose(one.start, one.stop) for one in stretches)
    return Block(tuple(sorted(number for number in numbers if number >= 0)), offers, choices)


def _dealt(kinds: Sequence[frozenset[Offer]]) -> Iterator[Blocks]:
    """The ways to deal kinds out to blocks such that some table can answer each block."""
    if len(kinds) > _FEW:
        yield _dealt_in_turn(kinds)
        return
    ways: list[Blocks] = [[]]
    for kind in kinds:
        ways = [
            [*way[:at], [*way[at], kind], *way[at + 1 :]] if at < len(way) else [*way, [kind]]
            for way in ways
            for at in range(len(way) + 1)
            if at == len(way) or frozenset.intersection(kind, *way[at])
        ]
    yield from sorted(ways, key=len)


def _dealt_in_turn(kinds: Sequence[frozenset[Offer]]) -> Blocks:
    blocks: Blocks = []
    for kind in sorted(kinds, key=len):
        shared = [len(frozenset.intersection(kind, *block)) for block in blocks]
        most = max(shared, default=0)
        if most:
            blocks[shared.index(most)].append(kind)
        else:
            blocks.append([kind])
    return blocks
