"""Partition grid: how many partitions a table has for values of its first two partition columns, in few enough bins.

Nothing is decoded: values come from keys, and the backend counts what lies between two of them. Of a table with many
values of the first column, one value of each bin is counted; the grid says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Final

from hbstore.console.plans.sampled_values import SampledValues, sampled_values
from hbstore.keys.row_key import TAG_END, TAG_NULL, TAG_TEXT, TAG_VALUE, value_part
from hbstore.keys.types import ColumnType
from hbstore.plans.schema import KeySchema
from hbstore.plans.statistics import Statistics
from hbstore.rows.interface import Rows

_PLACES: Final = 62
"""Bins of the first column at most: two months of days."""
_LINES: Final = 24
"""Bins of the second column at most: a day of hours."""
_VALUES: Final = 1_000
"""Values of the first column that are looked for."""
_SPARSE: Final = 4
"""How many times wider than its values a line is of which empty places are left out."""
_SECONDS: Final = 0.1
"""What counting may take by the backend's costs; beyond that there are fewer bins."""
_FEWEST: Final = 120
"""Counts that are made in any case."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Values of a column that are counted together.

    Attributes:
        start: where they begin on the column's line.
        stop: where they stop.
        cells: those of them that are counted.
    """

    start: bytes
    stop: bytes
    cells: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class PartitionGrid:
    """Numbers of partitions.

    Attributes:
        across: bins of the first column.
        down: bins of the second column; one of all partitions where there is no second column.
        counts: by the numbers of both bins; none where there are no partitions.
        complete: whether all partitions are counted. If not, only those of `Bin.cells` are, and there are more values.
    """

    across: tuple[Bin, ...]
    down: tuple[Bin, ...]
    counts: dict[tuple[int, int], int]
    complete: bool


def partition_grid(rows: Rows, schema: KeySchema, statistics: Statistics) -> PartitionGrid:
    """The grid of a table with partition columns. O(bins) counts of what lies between two keys.

    Args:
        rows: where the table is.
        schema: the table.
        statistics: what is known of its rows.
    """
    budget = max(int(_SECONDS / rows.costs.seek), _FEWEST)
    first = sampled_values(rows, schema, (), min(_VALUES, budget), statistics.values_below(0))
    down = _down(rows, schema, first, statistics, max(1, min(_LINES, budget // max(1, min(_PLACES, len(first.cells))))))
    whole = first.complete and len(first.cells) * len(down) <= budget
    across = _across(first.cells, schema.types[0])
    if not whole:
        across = tuple(Bin(one.start, one.stop, one.cells[:1]) for one in across)
    counts: dict[tuple[int, int], int] = {}
    for place, values in enumerate(across):
        for cell in values.cells:
            for line, range_ in enumerate(down):
                base = schema.prefix + cell
                number = rows.count(base + range_.start, base + range_.stop)
                if number:
                    counts[place, line] = counts.get((place, line), 0) + number
    return PartitionGrid(across, down, counts, whole)


def _across(cells: Sequence[bytes], column_type: ColumnType) -> tuple[Bin, ...]:
    """Bins of the first column: of equal width where its values are nearly all there, so that holes are seen."""
    values = [cell for cell in cells if cell[:1] == TAG_VALUE]
    others = [Bin(cell, cell + b"\0", (cell,)) for cell in cells if cell[:1] == TAG_TEXT]
    nulls = [Bin(TAG_NULL, TAG_VALUE, (TAG_NULL,))] if TAG_NULL in cells else []
    width = column_type.width
    if width is None or not values:
        return (*nulls, *_chunks(values, _PLACES, column_type), *others[:1])
    numbers = [int.from_bytes(cell[1 : 1 + width], "big") for cell in values]
    low, high = numbers[0], numbers[-1]
    step = -(-(high - low + 1) // _PLACES)
    if high - low > _SPARSE * _PLACES and (high - low) // step > _SPARSE * len(values):
        return (*nulls, *_chunks(values, _PLACES, column_type), *others[:1])
    listed: dict[int, list[bytes]] = {}
    for number, cell in zip(numbers, values, strict=True):
        listed.setdefault((number - low) // step, []).append(cell)
    bins = []
    for at in range((high - low) // step + 1):
        start, stop = (min(low + step * one, (1 << 8 * width) - 1).to_bytes(width, "big") for one in (at, at + 1))
        bins.append(Bin(TAG_VALUE + start, TAG_VALUE + stop, tuple(listed.get(at, ()))))
    return (*nulls, *bins, *others[:1])


def _down(rows: Rows, schema: KeySchema, first: SampledValues, statistics: Statistics, most: int) -> tuple[Bin, ...]:
    """Bins of the second column, by its values below some values of the first; each partition is in one of them."""
    if len(schema.names) == 1 or not first.cells:
        return (Bin(b"", TAG_END, ()),)
    expected = statistics.values_below(1)
    looked = {first.cells[0], first.cells[len(first.cells) // 2], first.cells[-1]}
    cells = {
        cell for leading in looked for cell in sampled_values(rows, schema, (leading,), 4 * _LINES, expected).cells
    }
    bins = _chunks(sorted(cells), most, schema.types[1])
    starts = [TAG_NULL if TAG_NULL in cells else TAG_VALUE, *(one.start for one in bins[1:]), TAG_END]
    return tuple(Bin(starts[at], starts[at + 1], one.cells) for at, one in enumerate(bins))


def _chunks(cells: Sequence[bytes], most: int, column_type: ColumnType) -> list[Bin]:
    """At most so many bins with equal numbers of values; all spellings of a value are in one."""
    spellings: dict[bytes, list[bytes]] = {}
    for cell in cells:
        spellings.setdefault(value_part(column_type, cell), []).append(cell)
    size = max(1, -(-len(spellings) // most))
    firsts = [*range(0, len(spellings), size), len(spellings)]
    ends, groups = [*spellings, TAG_TEXT], list(spellings.values())
    return [
        Bin(ends[start], ends[stop], tuple(chain.from_iterable(groups[start:stop]))) for start, stop in pairwise(firsts)
    ]
