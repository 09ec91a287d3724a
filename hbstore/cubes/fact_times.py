"""The times of a fact: the timelines of its storage tables, and covers of ranges by the partitions of all of them.

Who waits until nothing of a range is missing looks at the timelines again and again. No writer has to tell anybody, so
a commit of any process is seen.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hbstore.cubes.concepts import Cube
from hbstore.cubes.cover import Cover, CoverPartitions, cover
from hbstore.cubes.logical_tables import Fact, StorageTable
from hbstore.cubes.registration import storage_table_of, validity
from hbstore.cubes.stored_model import Model
from hbstore.errors import NoStorageTables, TableNotFound, Uncoverable, UnknownTimeDimension, did_you_mean
from hbstore.texts.arguments import expect
from hbstore.timelines import PartitionTimeline, UpdatePeriod
from hbstore.timelines.runs import joined
from hbstore.times.moments import moments, time_at


@dataclass(frozen=True, slots=True)
class Coverable:
    """What covers of a fact are made of, as it was at a moment.

    Attributes:
        timelines: those of all storage tables, by update period; shared, and not to be changed.
        bounds: from when up to when partitions count.
    """

    timelines: Mapping[UpdatePeriod, Sequence[PartitionTimeline]]
    bounds: tuple[datetime | None, datetime | None]

    def cover(self, start: datetime, end: datetime, *, partial: bool) -> Cover:
        """The best set of partitions for [start, end), none of which begins before or ends after the bounds.

        The rest of the range counts as missing:

            range       [2015-01-01                     2015-03-01)
            bounds                 [2015-01-10   2015-02-20)
            missing     [01-01, 01-10)           [02-20, 03-01)      and what no partition covers in between

        Raises:
            Uncoverable: something is missing, unless ``partial``; ``missing`` of the error says what.
            InvalidTime, InvalidTimeRange: the range is none.
        """
        start, end = map(time_at, moments(start, end))
        first, last = self.bounds
        since = start if first is None else min(max(start, first), end)
        until = end if last is None else max(min(end, last), since)
        inside = cover(self.timelines, since, until, partial=True) if since < until else Cover(CoverPartitions([]), [])
        around = ((start, since), *inside.missing, (until, end))
        missing = joined((begin, after) for begin, after in around if begin < after)
        if missing and not partial:
            raise Uncoverable(missing)
        return Cover(inside.partitions, missing)

    def cover_since(self, time: datetime, start: datetime, end: datetime, *, partial: bool) -> Cover:
        """What the cover of [start, end) says from a time on, so that pages of a cover are together the cover.

        A partition may lie across the time that was the end of a page before it was registered: what follows the page
        is covered by itself then. Raises as `cover`.
        """
        rest = self.cover(start, end, partial=partial).since(time)
        return self.cover(time, end, partial=partial) if rest is None else rest

    def is_as(self, earlier: Coverable) -> bool:
        """Whether all covers are as they were: the store hands out the same timelines while nothing has changed."""
        return (
            self.bounds == earlier.bounds
            and self.timelines.keys() == earlier.timelines.keys()
            and all(
                list(map(id, now)) == list(map(id, before))
                for now, before in zip(self.timelines.values(), earlier.timelines.values(), strict=True)
            )
        )


@dataclass(frozen=True, slots=True)
class FactTimes:
    """The times for which a fact has partitions.

    Attributes:
        model: the model.
        fact: the fact.
    """

    model: Model
    fact: Fact

    @staticmethod
    def of(model: Model, name: str) -> FactTimes:
        """The times of the fact of a name.

        Raises:
            ModelNotFound: there is none.
        """
        fact = model.get("fact", name)
        assert isinstance(fact, Fact)
        return FactTimes(model, fact)

    def timelines(
        self, storage: str | None, period: UpdatePeriod | None, time_dimension: str | None
    ) -> list[PartitionTimeline]:
        """The timelines of a storage, an update period and a time dimension; None stands for all of them.

        They are in the order of the storages, the smallest period first. Raises as `Cubes.timelines`.
        """
        fact, store = self.fact, self.model.store
        tables = fact.storage_tables if storage is None else [storage_table_of(fact, storage)]
        column = None if time_dimension is None else self._column(tables, time_dimension)
        return [
            timeline
            for table in tables
            if table.time_partition_columns and (column is None or column in table.time_partition_columns)
            for timeline in store.timelines.of(f"{self.model.database}.{fact.table_name(table.storage)}")
            if period in (None, timeline.update_period) and column in (None, timeline.partition_column)
        ]

    def cover(
        self, start: datetime, end: datetime, time_dimension: str | None, now: datetime, *, partial: bool
    ) -> Cover:
        """The best set of partitions for [start, end). One read of the row of each storage table.

        Raises as `Cubes.cover`.
        """
        return self.coverable(time_dimension, now).cover(start, end, partial=partial)

    def coverable(self, time_dimension: str | None, now: datetime) -> Coverable:
        """What covers are made of at this moment. One read of the row of each storage table.

        Raises:
            NoStorageTables, UnknownTimeDimension: as `Cubes.cover`.
            ModelNotFound: the fact was dropped since it was read.
        """
        try:
            return self._coverable(time_dimension, now)
        except TableNotFound:  # a process has dropped the fact, or altered it, since it was read: what it is now counts
            return FactTimes.of(self.model, self.fact.name)._coverable(time_dimension, now)  # noqa: SLF001  own class

    def _coverable(self, time_dimension: str | None, now: datetime) -> Coverable:
        fact, store = self.fact, self.model.store
        tables = [table for table in fact.storage_tables if table.time_partition_columns]
        if not tables:
            raise NoStorageTables(
                "the fact has no storage table with time partition columns",
                fact=fact.name,
                hint="Add such a storage table to the fact",
            )
        column = self._column(tables, time_dimension)
        timelines: dict[UpdatePeriod, list[PartitionTimeline]] = {}
        for table in tables:
            if column in table.time_partition_columns:
                stored = store.timelines.read(f"{self.model.database}.{fact.table_name(table.storage)}")
                for (period, of_column), timeline in stored.items():
                    if of_column == column:
                        timelines.setdefault(period, []).append(timeline)
        return Coverable(timelines, validity(fact, now))

    def _column(self, tables: Sequence[StorageTable], time_dimension: str | None) -> str:
        """The partition column of a time dimension, or the only one."""
        columns = list(dict.fromkeys(column for table in tables for column in table.time_partition_columns))
        if time_dimension is None and len(columns) == 1:
            return columns[0]
        cube = self.model.find("cube", self.fact.cube)
        dimensions = dict(cube.time_dimensions) if isinstance(cube, Cube) else {}
        if time_dimension is not None:
            expect("time_dimension", time_dimension, str, hint="Give the name of a time dimension, or None")
            column = dimensions.get(time_dimension.lower(), time_dimension.lower())
            if column in columns:
                return column
        names = [name for name, column in dimensions.items() if column in columns]
        raise UnknownTimeDimension(
            "the fact has several time partition columns"
            if time_dimension is None
            else "no storage table is partitioned by the time dimension",
            fact=self.fact.name,
            time_dimension=time_dimension,
            choices=", ".join(dict.fromkeys([*names, *columns])),
            hint=did_you_mean(
                time_dimension or "",
                [*names, *columns],
                "Name one of the choices: a time dimension, or its partition column",
            ),
        )


LOOKS_PER_SECOND: Final = 20
_SHARE: Final = 0.1
"""Of the time, that looking may take."""


def pause_after(took: float) -> float:
    """How many seconds to wait after a look that took so many.

    >>> pause_after(0.001), pause_after(0.1)
    (0.049, 0.9)
    """
    return max(1 / LOOKS_PER_SECOND - took, took / _SHARE - took)


def covered(look: Callable[[], Cover], seconds: float | None) -> Cover:
    """The cover in which nothing is missing, or the last one when the time is over.

    Args:
        look: gives the cover as it is.
        seconds: how long to wait; None: as long as it takes.
    """
    until = float("inf") if seconds is None else time.monotonic() + seconds
    while True:
        began = time.monotonic()
        latest = look()
        now = time.monotonic()
        if not latest.missing or now >= until:
            return latest
        time.sleep(min(pause_after(now - began), until - now))
