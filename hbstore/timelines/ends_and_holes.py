"""EndsAndHolesPartitionTimeline: the first time, the latest, and the holes between them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping

from hbstore.timelines.properties import chunks, elements
from hbstore.timelines.runs import Runs
from hbstore.timelines.texts import list_faults, listed, ranged, read_index, within_limit
from hbstore.timelines.timeline import PartitionTimeline, shown
from hbstore.times.update_period import UpdatePeriod


class EndsAndHolesPartitionTimeline(PartitionTimeline):
    """Keeps both ends and what is missing between them; the default, as most tables miss little.

    The properties list the holes one by one. In memory they are ranges, so that a gap of years takes no room.

    >>> timeline = EndsAndHolesPartitionTimeline("s1_fact1", UpdatePeriod.DAILY, "dt")
    >>> timeline.add_all(map(UpdatePeriod.DAILY.parse, ["2015-01-31", "2015-01-29"]))
    True
    >>> timeline.to_properties()
    {'first': '2015-01-29', 'latest': '2015-01-31', 'holes.size': '1', 'holes0': '2015-01-30'}
    """

    __slots__ = ("_holes", "_start", "_stop")

    def __init__(self, storage_table: str, update_period: UpdatePeriod, partition_column: str) -> None:
        super().__init__(storage_table, update_period, partition_column)
        self._start = self._stop = 0  # what is there lies in [start, stop); empty: both are 0
        self._holes = Runs()

    def to_properties(self) -> dict[str, str]:
        """The ends as ``first`` and ``latest``, empty if there are none, and the holes as ``holes``.

        >>> from hbstore.timelines import convert
        >>> convert(timeline, EndsAndHolesPartitionTimeline).to_properties()
        {'first': '2015-01-29', 'latest': '2015-02-01', 'holes.size': '1', 'holes0': '2015-01-31'}
        """
        self._sound()
        within_limit(self._holes.size(), self.storage_table, self.update_period)
        holes = chunks("holes", listed(self.update_period, self._holes))
        return {"first": self._text(self._first()), "latest": self._text(self._latest()), **holes}

    def _read(self, properties: Mapping[str, str]) -> list[str]:
        first, latest = (self._read_end(properties, key) for key in ("first", "latest"))
        holes = [read_index(self.update_period, "holes", text) for text in elements(properties, "holes")]
        faults = list(list_faults(self.update_period, "holes", holes))
        if (first is None) != (latest is None):
            faults.append(f"{'first' if first is None else 'latest'}: it is empty, and the other end is not")
        self._start, self._stop = (0, 0) if first is None or latest is None else (first, latest + 1)
        self._holes = Runs.of(holes)
        if not faults:
            faults = list(self._inspect())
        if faults:
            self._start, self._stop, self._holes = 0, 0, Runs()
        return faults

    def _read_end(self, properties: Mapping[str, str], key: str) -> int | None:
        text = properties.get(key, "").strip()  # some databases under a metastore keep no empty texts
        return read_index(self.update_period, key, text) if text else None

    def _inspect(self) -> Iterator[str]:
        text, start, stop, holes = self.update_period.format_index, self._start, self._stop, self._holes
        if not holes.in_order():
            yield "holes: they overlap, touch, or are not in order"
        elif not 0 <= min(start, stop) <= max(start, stop) <= self.update_period.limit:
            yield f"first, latest: there are no times of the indexes [{start}, {stop})"
        elif stop < start or stop == start > 0:
            yield f"first: {text(start)} is after the latest, {text(stop - 1)}"
        elif holes and start == stop:
            yield f"holes: {text(holes.starts[0])} is one, and there are no partitions"
        elif holes and holes.starts[0] <= start:
            yield f"holes: {text(holes.starts[0])} is not after the first"
        elif holes and holes.stops[-1] >= stop:
            yield f"holes: {text(holes.stops[-1] - 1)} is not before the latest"

    def _add(self, index: int) -> bool:
        if self._start <= index < self._stop:
            return self._holes.remove(index)
        if self._start == self._stop:
            self._start, self._stop = index, index + 1
        elif index >= self._stop:
            if index > self._stop:
                self._holes.unite(Runs([self._stop], [index]))
            self._stop = index + 1
        else:
            if index + 1 < self._start:
                self._holes.unite(Runs([index + 1], [self._start]))
            self._start = index
        return True

    def _drop(self, index: int) -> bool:
        if not self._has(index):
            return False
        self._holes.add(index)
        self._shrink()
        return True

    def _unite(self, runs: Runs) -> bool:
        if not runs:
            return False
        start, stop = runs.starts[0], runs.stops[-1]
        if self._start == self._stop:
            self._start, self._stop = start, start
        grows = stop > self._stop or start < self._start
        if stop > self._stop:
            self._holes.unite(Runs([self._stop], [stop]))
            self._stop = stop
        if start < self._start:
            self._holes.unite(Runs([start], [self._start]))
            self._start = start
        return self._holes.subtract(runs) or grows

    def _subtract(self, runs: Runs) -> bool:
        pairs = list(runs.between(self._start, self._stop))
        changed = self._holes.unite(Runs.of_ranges(pairs))
        self._shrink()
        return changed

    def _shrink(self) -> None:
        """Move the ends over holes that reach them."""
        holes = self._holes
        if holes.stops and holes.stops[-1] == self._stop:
            self._stop = holes.starts.pop()
            holes.stops.pop()
        if holes.starts and holes.starts[0] == self._start:
            self._start = holes.stops.pop(0)
            holes.starts.pop(0)
        if self._start == self._stop:
            self._start = self._stop = 0

    def _has(self, index: int) -> bool:
        return self._start <= index < self._stop and index not in self._holes

    def _first(self) -> int | None:
        return self._start if self._start < self._stop else None

    def _latest(self) -> int | None:
        return self._stop - 1 if self._start < self._stop else None

    def _between(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        return self._holes.gaps(max(start, self._start), min(stop, self._stop))

    def _count(self) -> int:
        return self._stop - self._start - self._holes.size()

    def _ahead(self, index: int) -> tuple[int, int] | None:
        begin, starts, stops = max(index, self._start), self._holes.starts, self._holes.stops
        at = bisect_right(stops, begin)
        if at < len(starts) and starts[at] <= begin:  # in a hole, which ends before the latest
            begin, at = stops[at], at + 1
        return (begin, starts[at] if at < len(starts) else self._stop) if begin < self._stop else None

    def _hole_count(self) -> int:
        return len(self._holes)

    def _text(self, index: int | None) -> str:
        return "" if index is None else self.update_period.format_index(index)

    def _shown(self) -> dict[str, str]:
        holes = shown(ranged(self.update_period, self._holes), len(self._holes))
        return {
            "first": self._text(self._first()) or "null",
            "holes": holes,
            "latest": self._text(self._latest()) or "null",
        }
