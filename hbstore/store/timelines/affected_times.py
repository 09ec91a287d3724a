"""Affected times: which times of a table's partitions a change brings and which it may take away."""

from __future__ import annotations

from dataclasses import dataclass, field

from hbstore.store.timelines.time_columns import TimelineName, Times


@dataclass(frozen=True, slots=True)
class AffectedTimes:
    """Times by timeline.

    Attributes:
        added: of partitions that are there afterwards.
        lost: of partitions that are not, or that have other times; other partitions may have these still.
        payloads: of the partitions that lose times or leave, as they are stored before the change.
    """

    added: Times = field(default_factory=dict)
    lost: Times = field(default_factory=dict)
    payloads: frozenset[bytes] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.added or self.lost)

    def names(self) -> list[TimelineName]:
        """The timelines that are affected, sorted."""
        return sorted({*self.added, *self.lost})
