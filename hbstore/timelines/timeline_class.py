"""What a class of timelines does: it keeps indexes of an update period, and writes them as properties.

`PartitionTimeline` turns times into indexes and checks them before it calls a class. docs/timelines.md shows a whole
class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from hbstore.timelines.runs import Runs
from hbstore.times.update_period import UpdatePeriod

SHOWN: Final = 1_000
"""How many times or ranges `str` shows before it says how many more there are."""


class TimelineClass(ABC):
    """How the indexes of a timeline are kept. What adds or takes says whether that changed anything."""

    __slots__ = ()

    update_period: UpdatePeriod

    @abstractmethod
    def _add(self, index: int) -> bool: ...

    @abstractmethod
    def _drop(self, index: int) -> bool: ...

    @abstractmethod
    def _unite(self, runs: Runs) -> bool: ...

    @abstractmethod
    def _subtract(self, runs: Runs) -> bool: ...

    @abstractmethod
    def _has(self, index: int) -> bool: ...

    @abstractmethod
    def _first(self) -> int | None: ...

    @abstractmethod
    def _latest(self) -> int | None: ...

    @abstractmethod
    def _between(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """The indexes in [start, stop) as sorted ranges that do not touch."""

    def _count(self) -> int:
        """How many indexes there are; a class may know it sooner."""
        return sum(stop - start for start, stop in self._between(0, self.update_period.limit))

    def _ahead(self, index: int) -> tuple[int, int] | None:
        """The first range from an index on; a class may find it sooner."""
        return next(self._between(index, self.update_period.limit), None)

    def _hole_count(self) -> int:
        """How many holes there are; a class may know it sooner."""
        return max(sum(1 for _ in self._between(0, self.update_period.limit)) - 1, 0)

    @abstractmethod
    def _read(self, properties: Mapping[str, str]) -> list[str]:
        """Take over properties that are consistent; of others, become empty and return the faults."""

    @abstractmethod
    def _inspect(self) -> Iterator[str]:
        """The faults of what the class keeps."""

    @abstractmethod
    def _shown(self) -> dict[str, str]:
        """The class's own fields as `str` shows them."""


def shown(texts: Iterable[str], count: int) -> str:
    """A list as `str` shows it: the first thousand.

    >>> shown(["2015-04-12", "2015-04-13"], 2)
    '[2015-04-12, 2015-04-13]'
    """
    more = [f"… {count - SHOWN:,} more"] if count > SHOWN else []
    return f"[{', '.join([*islice(texts, SHOWN), *more])}]"
