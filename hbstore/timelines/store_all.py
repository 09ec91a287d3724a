"""StoreAllPartitionTimeline: every time, one by one."""

from __future__ import annotations

from collections.abc import Mapping

from hbstore.timelines.properties import chunks, elements, list_faults, listed, read_index, within_limit
from hbstore.timelines.runs import Runs
from hbstore.timelines.runs_timeline import RunsTimeline
from hbstore.timelines.timeline_class import shown


class StoreAllPartitionTimeline(RunsTimeline):
    """Writes every time; for few of them, far apart.

    >>> from hbstore.timelines import UpdatePeriod
    >>> timeline = StoreAllPartitionTimeline("s1_fact1", UpdatePeriod.DAILY, "dt")
    >>> timeline.add_all(map(UpdatePeriod.DAILY.parse, ["2015-01-31", "2015-01-29"]))
    True
    >>> timeline.to_properties()
    {'partitions.size': '1', 'partitions0': '2015-01-29,2015-01-31'}
    """

    __slots__ = ()

    def to_properties(self) -> dict[str, str]:
        """The times as ``partitions``.

        >>> from hbstore.timelines import convert
        >>> convert(timeline, StoreAllPartitionTimeline).to_properties()
        {'partitions.size': '1', 'partitions0': '2015-01-29,2015-01-30,2015-02-01'}
        """
        self._sound()
        within_limit(self._count(), self.storage_table, self.update_period)
        return chunks("partitions", listed(self.update_period, self._runs))

    def _read(self, properties: Mapping[str, str]) -> list[str]:
        period = self.update_period
        indexes = [read_index(period, "partitions", text) for text in elements(properties, "partitions")]
        faults = list(list_faults(period, "partitions", indexes))
        self._runs = Runs() if faults else Runs.of(indexes)
        return faults

    def _unite(self, runs: Runs) -> bool:
        within_limit(self._count() + runs.size(), self.storage_table, self.update_period)
        return super()._unite(runs)

    def _shown(self) -> dict[str, str]:
        return {"allPartitions": shown(listed(self.update_period, self._runs), self._count())}
