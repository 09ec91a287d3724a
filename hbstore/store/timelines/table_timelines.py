"""TableTimelines: the timelines of one table, `store.table("shop.sales").timelines`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hbstore.errors import TimelineNotFound
from hbstore.store.timelines.stored_timelines import StoredTimelines
from hbstore.texts.arguments import expect, expect_texts
from hbstore.timelines.timeline import PartitionTimeline, repr_html
from hbstore.times.update_period import UpdatePeriod


@dataclass(frozen=True, slots=True, repr=False)
class TableTimelines:
    """The timelines of a table, read from its row at each question; those of the smallest update period first.

    A table keeps timelines where its parameters declare time partition columns and update periods (docs/timelines.md).
    Every question costs one read of the table's row, O(1) where that has not changed since the last. In a notebook
    they are a picture: what is there, and where the holes are.

    Raises, in all that follows:
        TableNotFound: the table was dropped.
        CorruptTimeline: a stored timeline is damaged; `rebuild` makes it anew.

    >>> from hbstore import Column, Partition, Table, connect
    >>> store = connect("memory://")
    >>> store.create_database("shop")
    >>> declared = {"cube.storagetable.time.partcols": "dt", "cube.storagetable.update.periods": "DAILY"}
    >>> store.create_table(Table("shop", "s1_sales", [Column("dt", "string")], parameters=declared))
    >>> sales = store.table("shop.s1_sales")
    >>> sales.add([{"dt": "2015-01-01"}, {"dt": "2015-01-02"}, {"dt": "2015-01-04"}])
    3
    >>> sales.timelines["DAILY.dt"]
    <EndsAndHolesPartitionTimeline DAILY dt of s1_sales: 3 times, 2015-01-01 to 2015-01-04, 1 missing>
    >>> UpdatePeriod.DAILY.parse("2015-01-03") in sales.timelines["DAILY"], len(sales.timelines)
    (False, 1)
    """

    stored: StoredTimelines
    database: str
    name: str

    @property
    def _table(self) -> str:
        return f"{self.database}.{self.name}"

    def __iter__(self) -> Iterator[PartitionTimeline]:
        """All timelines; copies, to be changed at will. None where the table keeps none."""
        try:
            return iter(self.stored.of(self._table))
        except TimelineNotFound:
            return iter(())

    def __len__(self) -> int:
        """How many timelines the table keeps."""
        return sum(1 for _ in self)

    def __getitem__(self, name: str) -> PartitionTimeline:
        """The timeline of an update period and a partition column, as ``"DAILY.dt"``, or of a period alone.

        Raises:
            TimelineNotFound: there is none.
            UnknownUpdatePeriod: the period has no such name.
        """
        period, _, column = expect("name", name, str, hint='Give a text, such as "DAILY.dt"').partition(".")
        return self.stored.of(self._table, UpdatePeriod.named(period), column or None)[0]

    def rebuild(self) -> None:
        """Build all timelines anew from the partitions. O(partitions).

        Raises:
            TimelineNotFound: the table keeps none.
            UnknownTimelineClass: its parameters name a class that there is not; nothing was changed.

        >>> rides.timelines.rebuild()
        """
        self.stored.rebuild(self._table)

    def convert(self, name: str, class_name: str) -> None:
        """Make a timeline one of another class, in place; no partition is read. O(size of the timeline).

        Args:
            name: update period and partition column, as ``"DAILY.dt"``.
            class_name: such as ``"RangesPartitionTimeline"``.

        Raises:
            UnknownTimelineClass: there is no such class.
            TimelineNotFound: there is no such timeline.
            TimelineTooLarge: it would not fit the table's row; nothing was changed.

        >>> rides.timelines.convert("DAILY.dt", "RangesPartitionTimeline")
        >>> rides.timelines["DAILY.dt"]
        <RangesPartitionTimeline DAILY dt of lake_rides_daily: 3 times, 2015-01-29 to 2015-02-01, 1 missing>
        """
        expect_texts(class_name=class_name)
        timeline = self[name]
        self.stored.convert(self._table, timeline.update_period, timeline.partition_column, class_name)

    def check(self) -> list[str]:
        """What is wrong with them, compared with the partitions; nothing: an empty list. O(partitions).

        >>> rides.timelines.check()
        []
        """
        return self.stored.check(self._table)

    def export(self) -> dict[str, str]:
        """All of them as properties of a table of Apache Lens. O(size of the timelines).

        >>> rides.timelines.export()["cube.storagetable.partition.timeline.cache.DAILY.dt.latest"]
        '2015-02-01'
        """
        return self.stored.export(self._table)

    def __repr__(self) -> str:
        return f"<timelines of {self._table}>"

    def _repr_html_(self) -> str:
        """A picture for notebooks. O(size of the timelines)."""
        return repr_html(list(self)) or f"<div>{self._table} keeps no timelines</div>"
