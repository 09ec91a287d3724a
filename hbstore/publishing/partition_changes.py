"""What a publication changes in a table's partitions: which it adds, alters and drops, with which statistics."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Final, NamedTuple

from hbstore.model import Partition
from hbstore.publishing.manifest import Manifest, PartitionWrite
from hbstore.store.partition_store import PartitionStore
from hbstore.store.puts import partition_key
from hbstore.store.table_row import TableRow

PUBLICATION: Final = "hbstore.publication"
"""The parameter of a partition that names the last publication that wrote it."""

_CHANGED: Final = "transient_lastDdlTime"
_OUTDATED: Final = ("spark.sql.statistics.", "COLUMN_STATS_ACCURATE", "rawDataSize")
"""What the names of parameters begin with that say what was true of the files before."""


class PartitionChanges(NamedTuple):
    """Partitions that are put and dropped, and the bytes that those which exist must still have."""

    put: list[Partition]
    drop: list[tuple[str, ...]]
    expected: dict[tuple[str | None, ...], bytes | None]


def partition_changes(store: PartitionStore, row: TableRow, manifest: Manifest) -> PartitionChanges:
    """What a publication has yet to do to the partitions as they are now: one read of them.

    Args:
        store: where they are.
        row: their table's.
        manifest: of the publication.
    """
    values = [write.values for write in manifest.partitions]
    stored = store.get_partitions(row.table.database, row.table.name, values)
    by_key = {partition_key(row, partition.values): partition for partition in stored}
    changes = PartitionChanges([], [], {})
    for write in manifest.partitions:
        before = by_key.get(partition_key(row, write.values))
        if write.drop:
            if before is not None:
                changes.drop.append(write.values)
                changes.expected[write.values] = before.payload
        elif before is None or before.parameters.get(PUBLICATION) != manifest.id:
            changes.put.append(_written(before, write, manifest.id))
            changes.expected[write.values] = None if before is None else before.payload
    return changes


def _written(before: Partition | None, write: PartitionWrite, publication_id: str) -> Partition:
    """A partition after a publication: its statistics are those of its files now, as far as writers counted them."""
    parameters = {} if before is None else before.parameters
    statistics = {}
    for name, number in write.statistics.items():
        if not write.append or before is None:
            statistics[name] = str(number)
        elif parameters.get(name, "").isdecimal():
            statistics[name] = str(int(parameters[name]) + number)
    kept = {
        key: value for key, value in parameters.items() if not key.startswith(_OUTDATED) and key not in write.statistics
    }
    own = {**statistics, **write.parameters, PUBLICATION: publication_id, _CHANGED: str(int(time.time()))}
    if before is None:
        return Partition(write.values, location=write.location, parameters=kept | own, create_time=int(time.time()))
    return replace(before, parameters=kept | own)
