"""EndsAndHolesPartitionTimeline: the first time, the latest, and the holes between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hbstore.timelines.properties import chunks, elements, list_faults, listed, ranged, read_index, within_limit
from hbstore.timelines.runs import Runs
from hbstore.timelines.runs_timeline import RunsTimeline
from hbstore.timelines.timeline_class import shown


class EndsAndHolesPartitionTimeline(RunsTimeline):
    """Writes both ends and what is missing between them; the default, as most tables miss little.

    The properties list the holes one by one. In memory they take no room, so that there may be gaps of years.

    >>> from hbstore.timelines import UpdatePeriod
    >>> timeline = EndsAndHolesPartitionTimeline("s1_fact1", UpdatePeriod.DAILY, "dt")
    >>> timeline.add_all(map(UpdatePeriod.DAILY.parse, ["2015-01-31", "2015-01-29"]))
    True
    >>> timeline.to_properties()
    {'first': '2015-01-29', 'latest': '2015-01-31', 'holes.size': '1', 'holes0': '2015-01-30'}
    """

    __slots__ = ()

    def to_properties(self) -> dict[str, str]:
        """The ends as ``first`` and ``latest``, empty if there are none, and the holes as ``holes``.

        >>> from hbstore.timelines import convert
        >>> convert(timeline, EndsAndHolesPartitionTimeline).to_properties()
        {'first': '2015-01-29', 'latest': '2015-02-01', 'holes.size': '1', 'holes0': '2015-01-31'}
        """
        self._sound()
        holes = self._holes()
        within_limit(sum(stop - start for start, stop in holes), self.storage_table, self.update_period)
        first, latest = self._end_texts()
        return {"first": first, "latest": latest, **chunks("holes", listed(self.update_period, holes))}

    def _read(self, properties: Mapping[str, str]) -> list[str]:
        first, latest = (self._read_end(properties, key) for key in ("first", "latest"))
        holes = [read_index(self.update_period, "holes", text) for text in elements(properties, "holes")]
        faults = list(list_faults(self.update_period, "holes", holes)) or list(self._faults_of(first, latest, holes))
        self._runs = Runs()
        if not faults and first is not None and latest is not None:
            missing = Runs.of(holes)  # between the ends, so that something is there before and behind each
            self._runs = Runs([first, *missing.stops], [*missing.starts, latest + 1])
        return faults

    def _read_end(self, properties: Mapping[str, str], key: str) -> int | None:
        text = properties.get(key, "").strip()  # some databases under a metastore keep no empty texts
        return read_index(self.update_period, key, text) if text else None

    def _faults_of(self, first: int | None, latest: int | None, holes: Sequence[int]) -> Iterator[str]:
        """What is wrong with the ends, or with holes that are sorted."""
        text = self.update_period.format_index
        if first is None or latest is None:
            if first is not latest:
                yield f"{'first' if first is None else 'latest'}: it is empty, and the other end is not"
            elif holes:
                yield f"holes: {text(holes[0])} is one, and there are no partitions"
        elif latest < first:
            yield f"first: {text(first)} is after the latest, {text(latest)}"
        elif holes and holes[0] <= first:
            yield f"holes: {text(holes[0])} is not after the first"
        elif holes and holes[-1] >= latest:
            yield f"holes: {text(holes[-1])} is not before the latest"

    def _holes(self) -> list[tuple[int, int]]:
        """The ranges of indexes between the first and the latest that are missing."""
        return list(zip(self._runs.stops[:-1], self._runs.starts[1:], strict=True))

    def _end_texts(self) -> tuple[str, str]:
        """The first and the latest time as texts, empty if there are none."""
        first, latest, text = self._first(), self._latest(), self.update_period.format_index
        return ("", "") if first is None or latest is None else (text(first), text(latest))

    def _shown(self) -> dict[str, str]:
        first, latest = self._end_texts()
        holes = shown(ranged(self.update_period, self._holes()), self._hole_count())
        return {"first": first or "null", "holes": holes, "latest": latest or "null"}
