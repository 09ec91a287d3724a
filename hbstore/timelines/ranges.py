"""RangesPartitionTimeline: the ranges of times that follow one another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from hbstore.timelines.properties import UnreadableProperty, chunks, elements
from hbstore.timelines.runs import Runs
from hbstore.timelines.texts import read_index
from hbstore.timelines.timeline import PartitionTimeline, shown
from hbstore.times.update_period import UpdatePeriod


class RangesPartitionTimeline(PartitionTimeline):
    """Keeps the ranges [first, end of the last) of times; for any set of times.

    >>> timeline = RangesPartitionTimeline("s1_fact1", UpdatePeriod.DAILY, "dt")
    >>> timeline.add(UpdatePeriod.DAILY.parse("2015-01-29")), timeline.add(UpdatePeriod.DAILY.parse("2015-01-29"))
    (True, False)
    >>> timeline.to_properties()
    {'ranges.size': '1', 'ranges0': '[2015-01-29, 2015-01-30)'}
    """

    __slots__ = ("_runs",)

    def __init__(self, storage_table: str, update_period: UpdatePeriod, partition_column: str) -> None:
        super().__init__(storage_table, update_period, partition_column)
        self._runs = Runs()

    def to_properties(self) -> dict[str, str]:
        """The ranges as ``ranges``.

        >>> timeline.to_properties()
        {'ranges.size': '1', 'ranges0': '[2015-01-29, 2015-01-31),[2015-02-01, 2015-02-02)'}
        """
        self._sound()
        return chunks("ranges", self._texts())

    def _read(self, properties: Mapping[str, str]) -> list[str]:
        texts = elements(properties, "ranges")
        if len(texts) % 2:
            raise UnreadableProperty("ranges", "the last range has no end")
        period = self.update_period
        starts = [read_index(period, "ranges", _inner(text, "[", "")) for text in texts[::2]]
        stops = [read_index(period, "ranges", _inner(text, "", ")"), end=True) for text in texts[1::2]]
        faults = list(_range_faults(period, zip(starts, stops, strict=True)))
        self._runs = Runs() if faults else Runs(starts, stops)
        return faults

    def _inspect(self) -> Iterator[str]:
        if len(self._runs.starts) != len(self._runs.stops):
            yield "ranges: as many starts as stops are needed"
            return
        for start, stop in self._runs:
            if start < 0 or stop > self.update_period.limit:
                yield f"ranges: there are no times of the indexes [{start}, {stop})"
                return
        yield from _range_faults(self.update_period, self._runs)

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

    def _texts(self) -> Iterator[str]:
        text = self.update_period.format_index
        return (f"[{text(start)}, {text(stop)})" for start, stop in self._runs)

    def _shown(self) -> dict[str, str]:
        return {"ranges": shown(self._texts(), len(self._runs))}


def _inner(text: str, before: str, after: str) -> str:
    """A text without its bracket."""
    if not text.startswith(before) or not text.endswith(after):
        raise UnreadableProperty("ranges", f"{text!r} is not half of a range [begin, end)")
    return text.removeprefix(before).removesuffix(after).strip()


def _range_faults(period: UpdatePeriod, ranges: Iterable[tuple[int, int]]) -> Iterator[str]:
    """What is wrong with some ranges: each has to be non-empty and to begin after the end of the one before."""
    text = period.format_index
    end = -1
    for start, stop in ranges:
        if start >= stop:
            yield f"ranges: [{text(start)}, {text(stop)}) holds nothing"
        if start == end:
            yield f"ranges: one ends and another begins at {text(start)}"
        elif start < end:
            yield f"ranges: one begins at {text(start)}, before the end of the one before it"
        end = stop
