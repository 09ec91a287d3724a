"""The commands that register what a cover lacks.

A range that is missing is divided into parts as a cover would, if everything were there: as few and as large as the
fact's storage tables can have, each of the first storage that has its update period.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final

from hbstore.console.time_view import range_texts
from hbstore.cubes.cover import CoverPartitions, cover
from hbstore.cubes.logical_tables import Fact, StorageTable
from hbstore.timelines import RangesPartitionTimeline, UpdatePeriod
from hbstore.times.moments import moments

MOST: Final = 12
"""Commands for a range at most."""


@dataclass(frozen=True, slots=True)
class MissingRange:
    """A range of time that is missing.

    Attributes:
        start: where it begins.
        end: where it ends; not part of it.
        commands: those that register its partitions, from the first on.
        more: how many more partitions it takes.
        is_valid: whether the fact may hold data of some of it.
        is_open: whether values of other partition columns have to be put in.
    """

    start: datetime
    end: datetime
    commands: Sequence[str]
    more: int
    is_valid: bool
    is_open: bool

    @property
    def texts(self) -> tuple[str, str]:
        """Its ends as an address has them."""
        return range_texts(*moments(self.start, self.end))


def missing_ranges(
    database: str,
    fact: Fact,
    column: str,
    bounds: tuple[datetime | None, datetime | None],
    missing: Sequence[tuple[datetime, datetime]],
) -> Iterator[MissingRange]:
    """What is missing, with its commands. O(commands) for each range.

    Args:
        database: of the fact.
        fact: what lacks partitions.
        column: the time partition column that the ranges are of.
        bounds: from when up to when the fact may hold data; None: always.
        missing: the ranges.
    """
    on = {fact.table_name(one.storage): one for one in fact.storage_tables if column in one.time_partition_columns}
    for start, end in missing:
        since, until = max(start, bounds[0] or start), min(end, bounds[1] or end)
        if since >= until:
            yield MissingRange(start, end, (), 0, is_valid=False, is_open=False)
            continue
        parts = _parts(on, column, since, until)
        commands = [
            _command(database, fact, on[table], column, period, time) for period, time, table in islice(parts, MOST)
        ]
        is_open = any(_has_others(on[run.storage_table]) for run in parts.runs)
        yield MissingRange(start, end, commands, max(len(parts) - MOST, 0), is_valid=True, is_open=is_open)


def _parts(on: dict[str, StorageTable], column: str, start: datetime, end: datetime) -> CoverPartitions:
    """The partitions that would cover a range, where every one of them could be registered."""
    first, last = moments(start, end)
    timelines: dict[UpdatePeriod, list[RangesPartitionTimeline]] = {}
    for table, one in on.items():
        for period in one.update_periods:
            full = RangesPartitionTimeline(table, period, column)
            begin, stop = period.ceil_index(first), period.floor_index(last)
            if begin < stop:
                full.add_index_ranges([(begin, stop)])
            timelines.setdefault(period, []).append(full)
    partitions = cover(timelines, start, end, partial=True).partitions
    assert isinstance(partitions, CoverPartitions)  # cover makes no others
    return partitions


def _command(database: str, fact: Fact, on: StorageTable, column: str, period: UpdatePeriod, time: datetime) -> str:
    words = ["hbstore", "fact", "partitions", "add", f"{database}.{fact.name}", "--storage-name", on.storage]
    words += ["--update-period", period.name, "--time", f"{column}={period.format(time)}"]
    for other in on.partition_columns:
        if other.name != column:
            option, value = ("--time", "TIME") if other.name in on.time_partition_columns else ("--spec", "VALUE")
            words += [option, f"{other.name}={value}"]
    return shlex.join(words)


def _has_others(on: StorageTable) -> bool:
    """Whether a partition of the table needs more than one time."""
    return len(on.partition_columns) > 1
