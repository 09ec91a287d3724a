"""The timelines of tables for pages: those that can be read, and what is wrong with the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from hbstore.cubes.logical_tables import Fact
from hbstore.errors import HbstoreError
from hbstore.model.objects import Table
from hbstore.query_service.query import QueryProblem
from hbstore.store.partition_store import PartitionStore
from hbstore.timelines import PartitionTimeline
from hbstore.timelines.declaration import TIME_PARTITION_COLUMNS, UPDATE_PERIODS

_DECLARES: Final = (TIME_PARTITION_COLUMNS, UPDATE_PERIODS)


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """A timeline in numbers.

    Attributes:
        timeline: it.
        first, latest: the ends, as partitions of the update period are written; None: it is empty.
        there: how many times are there.
        missing: how many are missing between the ends.
        holes: in how many ranges.
    """

    timeline: PartitionTimeline
    first: str | None
    latest: str | None
    there: int
    missing: int
    holes: int

    @staticmethod
    def of(timeline: PartitionTimeline) -> TimelineRow:
        """The numbers of a timeline. No hole is looked at where the class counts them."""
        first, latest, period = timeline.first(), timeline.latest(), timeline.update_period
        if first is None or latest is None:
            return TimelineRow(timeline, None, None, 0, 0, 0)
        there = len(timeline)
        missing = period.index(latest) + 1 - period.index(first) - there
        return TimelineRow(timeline, period.format(first), period.format(latest), there, missing, timeline.hole_count())


@dataclass(frozen=True, slots=True)
class TableTimes:
    """The times of a table.

    Attributes:
        table: its name.
        rows: its timelines, the smallest update period first.
        storage: of a fact's storage table, the storage.
        note: why there are none, in words.
        problem: why they cannot be read.
    """

    table: str
    rows: Sequence[TimelineRow] = ()
    storage: str | None = None
    note: str | None = None
    problem: QueryProblem | None = None


def times_of(
    store: PartitionStore, database: str, table: str, storage: str | None = None, *, build: bool = True
) -> TableTimes:
    """The times of a table. One read of its row; where they cannot be read, the problem says so.

    Args:
        store: where it is.
        database: the table's database.
        table: its name.
        storage: of a fact's storage table, the storage.
        build: whether timelines that are missing are built, which reads all partitions; else a note says so.
    """
    try:
        name = f"{database}.{table}"
        timelines = store.timelines.read(name) if build else store.timelines.built(name)
    except HbstoreError as error:
        return TableTimes(table, storage=storage, problem=QueryProblem.of(error))
    if timelines is None:
        return TableTimes(table, storage=storage, note="its timelines are not built yet")
    return TableTimes(table, [TimelineRow.of(timeline) for timeline in timelines.values()], storage)


def times_of_fact(store: PartitionStore, database: str, fact: Fact) -> Iterator[TableTimes]:
    """The times of a fact's storage tables, in its order."""
    for on in fact.storage_tables:
        table = fact.table_name(on.storage)
        if on.is_continuous:
            yield TableTimes(table, storage=on.storage, note="always up to date: it has no partitions")
        elif not on.time_partition_columns:
            yield TableTimes(table, storage=on.storage, note="it has no time partition columns")
        else:
            yield times_of(store, database, table, on.storage)


def times_of_database(store: PartitionStore, database: str) -> Iterator[TableTimes]:
    """The times of all tables of a database that declare timelines."""
    for table in store.tables(database):
        if declares_timelines(table):
            yield times_of(store, database, table.name)


def declares_timelines(table: Table) -> bool:
    """Whether a table says that it keeps timelines."""
    return all(table.parameters.get(name) for name in _DECLARES)
