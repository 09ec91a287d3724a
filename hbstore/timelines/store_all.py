"""StoreAllPartitionTimeline: every time, sorted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sortedcontainers import SortedList

from hbstore.timelines.properties import chunks, elements
from hbstore.timelines.runs import Runs
from hbstore.timelines.texts import list_faults, listed, read_index, within_limit
from hbstore.timelines.timeline import PartitionTimeline, shown
from hbstore.times.update_period import UpdatePeriod


class StoreAllPartitionTimeline(PartitionTimeline):
    """Keeps every time; for few of them, far apart.

    >>> timeline = StoreAllPartitionTimeline("s1_fact1", UpdatePeriod.DAILY, "dt")
    >>> timeline.add_all(map(UpdatePeriod.DAILY.parse, ["2015-01-31", "2015-01-29"]))
    True
    >>> timeline.to_properties()
    {'partitions.size': '1', 'partitions0': '2015-01-29,2015-01-31'}
    """

    __slots__ = ("_indexes",)

    def __init__(self, storage_table: str, update_period: UpdatePeriod, partition_column: str) -> None:
        super().__init__(storage_table, update_period, partition_column)
        self._indexes = SortedList()

    def to_properties(self) -> dict[str, str]:
        """The times as ``partitions``.

        >>> from hbstore.timelines import convert
        >>> convert(timeline, StoreAllPartitionTimeline).to_properties()
        {'partitions.size': '1', 'partitions0': '2015-01-29,2015-01-30,2015-02-01'}
        """
        self._sound()
        within_limit(len(self._indexes), self.storage_table, self.update_period)
        return chunks("partitions", map(self.update_period.format_index, self._indexes))

    def _read(self, properties: Mapping[str, str]) -> list[str]:
        period = self.update_period
        indexes = [read_index(period, "partitions", text) for text in elements(properties, "partitions")]
        faults = list(list_faults(period, "partitions", indexes))
        self._indexes = SortedList(() if faults else indexes)
        return faults

    def _inspect(self) -> Iterator[str]:
        indexes = list(self._indexes)
        strangers = [index for index in indexes if not 0 <= index < self.update_period.limit]
        if strangers:
            yield f"partitions: there are no times of the indexes {strangers}"
        else:
            yield from list_faults(self.update_period, "partitions", indexes)

    def _add(self, index: int) -> bool:
        if index in self._indexes:
            return False
        self._indexes.add(index)
        return True

    def _drop(self, index: int) -> bool:
        if index not in self._indexes:
            return False
        self._indexes.remove(index)
        return True

    def _unite(self, runs: Runs) -> bool:
        within_limit(len(self._indexes) + runs.size(), self.storage_table, self.update_period)
        fresh = [index for start, stop in runs for index in range(start, stop) if index not in self._indexes]
        self._indexes.update(fresh)
        return bool(fresh)

    def _subtract(self, runs: Runs) -> bool:
        kept = [index for index in self._indexes if index not in runs]
        changed = len(kept) < len(self._indexes)
        if changed:
            self._indexes = SortedList(kept)
        return changed

    def _has(self, index: int) -> bool:
        return index in self._indexes

    def _first(self) -> int | None:
        return self._indexes[0] if self._indexes else None

    def _latest(self) -> int | None:
        return self._indexes[-1] if self._indexes else None

    def _between(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        return iter(Runs.of(self._indexes.irange(start, stop, inclusive=(True, False))))

    def _ahead(self, index: int) -> tuple[int, int] | None:
        following = self._indexes.irange(index)
        begin = next(following, None)
        if begin is None:
            return None
        stop = begin + 1
        for number in following:
            if number != stop:
                break
            stop += 1
        return begin, stop

    def _count(self) -> int:
        return len(self._indexes)

    def _shown(self) -> dict[str, str]:
        texts = listed(self.update_period, ((index, index + 1) for index in self._indexes))
        return {"allPartitions": shown(texts, len(self._indexes))}
