"""Touched times: which times of a table's partitions a change brings and which it may take away, as one value.

It stands in the bytes of a change, so that every process that finishes it touches the same times: after the rows are
gone nobody could tell any more.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from hbstore.errors import CorruptRow
from hbstore.rows.damage import RESTORE
from hbstore.store.time_columns import TimelineName, Times
from hbstore.timelines.runs import Runs


@dataclass(frozen=True, slots=True)
class Touched:
    """Times by timeline.

    Attributes:
        added: of partitions that are there afterwards.
        doubtful: of partitions that are not, or that have other times; other partitions may have these still.
    """

    added: Times = field(default_factory=dict)
    doubtful: Times = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.added or self.doubtful)

    def names(self) -> list[TimelineName]:
        """The timelines that are touched, sorted."""
        return sorted({*self.added, *self.doubtful})

    def encode(self) -> bytes:
        """JSON: by timeline the ranges that are added and those that are doubtful; nothing for none."""
        if not self:
            return b""
        found = {name: [list(self.added.get(name, ())), list(self.doubtful.get(name, ()))] for name in self.names()}
        return json.dumps(found, separators=(",", ":")).encode()

    @staticmethod
    def decode(data: bytes) -> Touched:
        """The times of `encode`'s bytes.

        Raises:
            CorruptRow: they are not.
        """
        if not data:
            return Touched()
        try:
            found = json.loads(data)
            added = {str(name): Runs.of_ranges(pairs[0]) for name, pairs in found.items() if pairs[0]}
            doubtful = {str(name): Runs.of_ranges(pairs[1]) for name, pairs in found.items() if pairs[1]}
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise CorruptRow("the times of a change cannot be decoded", bytes=len(data), hint=RESTORE) from error
        return Touched(added, doubtful)
