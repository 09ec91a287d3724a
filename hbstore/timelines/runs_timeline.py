"""RunsTimeline: a timeline that keeps its times as runs, the ranges of times that follow one another."""

from __future__ import annotations

from collections.abc import Iterator

from hbstore.timelines.properties import run_faults
from hbstore.timelines.runs import Runs
from hbstore.timelines.timeline import PartitionTimeline
from hbstore.times.update_period import UpdatePeriod


class RunsTimeline(PartitionTimeline):
    """What hbstore's own classes keep. They differ in the properties that they write and read."""

    __slots__ = ("_runs",)

    def __init__(self, storage_table: str, update_period: UpdatePeriod, partition_column: str) -> None:
        super().__init__(storage_table, update_period, partition_column)
        self._runs = Runs()

    def _inspect(self) -> Iterator[str]:
        return run_faults(self.update_period, self._runs)

    def _add(self, index: int) -> bool:
        return self._runs.add(index)

    def _drop(self, index: int) -> bool:
        return self._runs.remove(index)

    def _unite(self, runs: Runs) -> bool:
        return self._runs.unite(runs)

    def _subtract(self, runs: Runs) -> bool:
        return self._runs.subtract(runs)

    def _has(self, index: int) -> bool:
        return index in self._runs

    def _first(self) -> int | None:
        return self._runs.starts[0] if self._runs.starts else None

    def _latest(self) -> int | None:
        return self._runs.stops[-1] - 1 if self._runs.stops else None

    def _between(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        return self._runs.between(start, stop)

    def _count(self) -> int:
        return self._runs.size()

    def _ahead(self, index: int) -> tuple[int, int] | None:
        return self._runs.ahead(index)

    def _hole_count(self) -> int:
        return max(len(self._runs) - 1, 0)
