"""Changes of a table's partitions, as values: what is put and deleted, and what must hold before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from hbstore.errors import HbstoreError
from hbstore.rows.interface import PartitionRow


@dataclass(frozen=True, slots=True)
class Change:
    """Rows to put, keys to delete, and what must hold before.

    Attributes:
        puts: rows that replace what is under their keys.
        deletes: keys that are removed; none of them is put.
        absent: keys that must not be there yet, with each partition's values for the error.
        present: keys that must be there, likewise.
        skip_present: leave out what is in ``absent`` and there already, rather than fail.
        skip_absent: leave out what is in ``present`` and not there, rather than fail.
        expected: keys with the payload that must be there still, or None where nothing must be.
        times: by key, the times of rows that are put, for a table that keeps timelines.
        untimed: by key, the errors of rows that have no times, unless what is there has none either.
    """

    puts: tuple[PartitionRow, ...] = ()
    deletes: tuple[bytes, ...] = ()
    absent: Mapping[bytes, tuple[str, ...]] = field(default_factory=dict)
    present: Mapping[bytes, tuple[str, ...]] = field(default_factory=dict)
    skip_present: bool = False
    skip_absent: bool = False
    expected: Mapping[bytes, bytes | None] = field(default_factory=dict)
    times: Mapping[bytes, list[tuple[str, int]]] = field(default_factory=dict)
    untimed: Mapping[bytes, HbstoreError] = field(default_factory=dict)

    def keys(self) -> set[bytes]:
        """The keys of all partitions that it touches, or that must be as expected."""
        return {*(row.key for row in self.puts), *self.absent, *self.present, *self.expected}

    def without(self, keys: set[bytes]) -> Change:
        """The change but for some keys."""
        puts = tuple(row for row in self.puts if row.key not in keys)
        deletes = tuple(key for key in self.deletes if key not in keys)
        times = {key: times for key, times in self.times.items() if key not in keys}
        return replace(self, puts=puts, deletes=deletes, times=times)
