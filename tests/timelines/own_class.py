"""A timeline class as somebody else would write it: an import of hbstore.timelines, and nothing of its inside."""

from __future__ import annotations

from hbstore.errors import InvalidTime
from hbstore.timelines import PartitionTimeline, Runs, UnreadableProperty, UpdatePeriod


class CountedRunsTimeline(PartitionTimeline):
    """Keeps runs, and writes each as its first time and a count: ``2015-01-29*3``."""

    def __init__(self, storage_table: str, update_period: UpdatePeriod, partition_column: str) -> None:
        super().__init__(storage_table, update_period, partition_column)
        self.runs = Runs()

    def to_properties(self):
        self._sound()
        return {"runs": ",".join(f"{self.update_period.format_index(a)}*{b - a}" for a, b in self.runs)}

    def _read(self, properties):
        pairs = []
        for text in filter(None, properties.get("runs", "").split(",")):
            first, star, count = text.partition("*")
            if not star or not count.isdecimal() or len(count) > 12:
                raise UnreadableProperty("runs", f"{text!r} is no time and a count")
            try:
                start = self.update_period.parse_index(first)
            except InvalidTime as error:
                raise UnreadableProperty("runs", str(error)) from None
            pairs.append((start, start + int(count)))
        self.runs = Runs.of_ranges(pairs)
        faults = list(self._inspect())
        if faults:
            self.runs = Runs()
        return faults

    def _inspect(self):
        if not self.runs.in_order():
            yield "runs: they overlap, touch, or are not in order"
        elif self.runs and self.runs.stops[-1] > self.update_period.limit:
            yield "runs: the last one ends behind the calendar"

    def _shown(self):
        return self.to_properties()

    def _add(self, index):
        return self.runs.add(index)

    def _drop(self, index):
        return self.runs.remove(index)

    def _unite(self, runs):
        return self.runs.unite(runs)

    def _subtract(self, runs):
        return self.runs.subtract(runs)

    def _has(self, index):
        return index in self.runs

    def _first(self):
        return self.runs.starts[0] if self.runs else None

    def _latest(self):
        return self.runs.stops[-1] - 1 if self.runs else None

    def _between(self, start, stop):
        return self.runs.between(start, stop)


NAME = "tests.timelines.own_class.CountedRunsTimeline"
