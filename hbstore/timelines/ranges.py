"""RangesPartitionTimeline: the ranges of times that follow one another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hbstore.timelines.properties import UnreadableProperty, chunks, elements, read_index, run_faults
from hbstore.timelines.runs import Runs
from hbstore.timelines.runs_timeline import RunsTimeline
from hbstore.timelines.timeline_class import shown


class RangesPartitionTimeline(RunsTimeline):
    """Writes the ranges [first, end of the last) of times; for any set of times.

    >>> from hbstore.timelines import UpdatePeriod
    >>> timeline = RangesPartitionTimeline("s1_fact1", UpdatePeriod.DAILY, "dt")
    >>> timeline.add(UpdatePeriod.DAILY.parse("2015-01-29")), timeline.add(UpdatePeriod.DAILY.parse("2015-01-29"))
    (True, False)
    >>> timeline.to_properties()
    {'ranges.size': '1', 'ranges0': '[2015-01-29, 2015-01-30)'}
    """

    __slots__ = ()

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
        runs = Runs(starts, stops)
        faults = list(run_faults(period, runs))
        self._runs = Runs() if faults else runs
        return faults

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
