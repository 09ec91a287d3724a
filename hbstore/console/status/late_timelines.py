"""Which timelines have holes, or lack parts of their update period that are over.

Nothing in a catalog says when data are due. What is known is how often a table gets a partition: a day that is over and
has none is one day that the timeline is *behind*, whether that is late or usual.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final

from hbstore.console.table_times import TimelineRow, declares_timelines, times_of
from hbstore.cubes.logical_tables import Fact
from hbstore.cubes.registration import validity
from hbstore.cubes.stored_model import Model
from hbstore.query_service.query import QueryProblem
from hbstore.store.partition_store import PartitionStore
from hbstore.timelines import PartitionTimeline, UpdatePeriod
from hbstore.times.moments import moment

_TABLES: Final = 500
"""Tables whose timelines are read at most: each takes one row, and memory until it changes (no partition is read)."""

_BUILT: Final = 20_000
"""Partitions that are read at most, to build timelines that nobody has read since their table was declared."""

_SHOWN: Final = 30


@dataclass(frozen=True, slots=True)
class LateTimeline:
    """A timeline with holes, or one that is behind.

    Attributes:
        database: of the table.
        table: its name.
        fact: the fact whose storage table it is; None: of none.
        row: the timeline in numbers.
        behind: how many parts of the update period are over, and have no partition behind the newest.
        ends: the moment where the newest part ends.
    """

    database: str
    table: str
    fact: str | None
    row: TimelineRow
    behind: int
    ends: int

    @property
    def last_hole(self) -> str | None:
        """The newest hole, from its first part to its last. O(ranges of the timeline)."""
        timeline = self.row.timeline
        period = timeline.update_period
        last_two = deque(timeline.index_ranges(0, period.limit), maxlen=2)
        if len(last_two) < 2:  # noqa: PLR2004
            return None
        first, last = (period.format_index(index) for index in (last_two[0][1], last_two[1][0] - 1))
        return first if first == last else f"{first} to {last}"


@dataclass(frozen=True, slots=True)
class LateTimelines:
    """The timelines of a store that are behind or have holes.

    Attributes:
        shown: those with the newest partitions first: what stood still years ago comes last.
        others: how many more there are.
        behind: how many are behind, of all that were looked at.
        with_holes: how many have holes, of all that were looked at.
        tables: how many tables were looked at.
        left_out: how many more tables keep timelines.
        unread: tables whose timelines could not be looked at, and why.
    """

    shown: Sequence[LateTimeline]
    others: int
    behind: int
    with_holes: int
    tables: int
    left_out: int
    unread: Mapping[str, str]


def late_timelines(store: PartitionStore, now: datetime, *, build: bool = True) -> LateTimelines:
    """What is behind or has holes. O(tables of the store), and a row for each of the first 500 that keep timelines.

    Args:
        store: where they are.
        now: the time.
        build: whether timelines that were never read are built, as long as that reads few partitions.

    Raises:
        StoreUnavailable: the store does not answer.
    """
    declared = [
        (database, table.name)
        for database in store.database_names()
        for table in store.tables(database)
        if declares_timelines(table)
    ]
    late: list[LateTimeline] = []
    unread: dict[str, str] = {}
    facts: dict[str, Mapping[str, Fact]] = {}
    left = _BUILT if build else 0
    for database, table in islice(declared, _TABLES):
        times = times_of(store, database, table, build=False)
        if times.note is not None and (partitions := store.totals(database, table).partitions) <= left:
            left -= partitions
            times = times_of(store, database, table)
        if times.problem is not None or times.note is not None:
            unread[f"{database}.{table}"] = times.note or QueryProblem.model_validate(times.problem).text
        if times.rows and database not in facts:
            facts[database] = dict(_storage_tables(store, database))
        late += _late_of(database, times.rows, facts.get(database, {}).get(table), table, now)
    late.sort(key=lambda line: (-line.ends, line.database, line.table, line.row.timeline.update_period.rank))
    return LateTimelines(
        late[:_SHOWN],
        max(len(late) - _SHOWN, 0),
        sum(line.behind > 0 for line in late),
        sum(line.row.holes > 0 for line in late),
        min(len(declared), _TABLES),
        max(len(declared) - _TABLES, 0),
        unread,
    )


def parts_behind(timeline: PartitionTimeline, until: datetime) -> int:
    """How many parts of the update period are over at a time, and come behind the newest that is there. O(1).

    >>> from hbstore.timelines import RangesPartitionTimeline
    >>> days = RangesPartitionTimeline("sales", UpdatePeriod.DAILY, "dt")
    >>> days.add(UpdatePeriod.DAILY.parse("2015-01-29"))
    True
    >>> noon = UpdatePeriod.HOURLY.parse("2015-01-31-12")
    >>> parts_behind(days, noon)
    1
    """
    latest, period = timeline.latest(), timeline.update_period
    if latest is None or period is UpdatePeriod.CONTINUOUS:
        return 0
    return max(period.floor_index(moment(until)) - period.index(latest) - 1, 0)


def _late_of(
    database: str, rows: Iterable[TimelineRow], fact: Fact | None, table: str, now: datetime
) -> Iterator[LateTimeline]:
    """Those of a table's timelines that are behind or have holes; a fact that has ended is not behind since."""
    end = None if fact is None else validity(fact, now)[1]
    until = now if end is None else min(now, end)
    for row in rows:
        latest, period = row.timeline.latest(), row.timeline.update_period
        behind = parts_behind(row.timeline, until)
        if latest is not None and (behind or row.holes):
            ends = period.moment(period.index(latest) + 1)
            yield LateTimeline(database, table, None if fact is None else fact.name, row, behind, ends)


def _storage_tables(store: PartitionStore, database: str) -> Iterator[tuple[str, Fact]]:
    """The facts of a database by the names of their storage tables. One scan."""
    for fact in Model(store, database).list("fact"):
        assert isinstance(fact, Fact)
        for on in fact.storage_tables:
            yield fact.table_name(on.storage), fact
