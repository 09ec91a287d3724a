"""What a publication changes in a table's partitions: which it adds, alters and drops, with which statistics."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final, NoReturn

from hbstore.errors import ConcurrentChange, InvalidPartitionValue
from hbstore.files.locations import absolute_location, location_or_none
from hbstore.keys.partition_names import partition_name
from hbstore.model.objects import Partition
from hbstore.model.structs import partition_from_payload
from hbstore.store.changes import Change
from hbstore.store.companion_keys import companion_keys
from hbstore.store.manifest import Manifest, PartitionWrite
from hbstore.store.puts import Puts, partition_key
from hbstore.store.table_row import TableRow

PUBLICATION: Final = "hbstore.publication"
"""The parameter of a partition that names the last publication that wrote it: so its bytes differ after each one."""

_WRITE_AGAIN: Final = "write again to put the files into the new location"
_CHANGED: Final = "transient_lastDdlTime"
_OUTDATED: Final = ("spark.sql.statistics.", "COLUMN_STATS_ACCURATE", "rawDataSize")
"""What the names of parameters begin with that say what was true of the files before."""


def written_keys(row: TableRow, manifest: Manifest) -> dict[bytes, PartitionWrite]:
    """What a publication does with partitions, by their keys.

    Raises:
        InvalidPartitionValue: a partition stands there twice, or has too many or too few values.
    """
    writes: dict[bytes, PartitionWrite] = {}
    columns = row.table.partition_column_names
    for write in manifest.partitions:
        other = writes.setdefault(partition_key(row, write.values), write)
        if other is not write:
            raise InvalidPartitionValue(
                "a partition stands in the manifest twice",
                table=row.table,
                partition=partition_name(columns, write.values),
                hint="Give all files of a partition in one place",
            )
    return writes


def publication_change(row: TableRow, manifest: Manifest, stored: Mapping[bytes, bytes]) -> Change:
    """What a publication does to partitions that are what they were when they were read.

    Args:
        row: their table.
        manifest: of the publication.
        stored: the bytes of those partitions of the manifest that are there, by their keys.

    Raises:
        InvalidInput, InvalidPartitionValue, InvalidTime, TimelineMismatch: the table does not take one of them.
        ConcurrentChange: the table or a partition was given another location since the files were staged.
    """
    _check_place(row, manifest)
    writes, puts, drops = written_keys(row, manifest), Puts(row, "keep"), []
    for key, write in writes.items():
        payload = stored.get(key)
        if not write.drop:
            before = None if payload is None else partition_from_payload(payload)
            _check_folder(row, before, write)
            puts.put(_written(before, write, manifest.id))
        elif payload is not None:
            drops.append(key)
    deletes = tuple(sorted([*drops, *companion_keys(row, drops)]))
    expected = {key: stored.get(key) for key in writes}
    return Change(tuple(puts.rows.values()), deletes, expected=expected, times=puts.times)


def drop_change(
    row: TableRow,
    manifest: Manifest,
    read: Callable[[Iterable[bytes]], Mapping[bytes, bytes]],
    expected: Mapping[tuple[str | None, ...], bytes | None],
) -> Change:
    """The drop of partitions whose files are where the manifest says.

    Args:
        row: their table.
        manifest: of the drop.
        read: gives the bytes of those of some partitions that are there, by their keys.
        expected: bytes by values that partitions must still have.

    Raises:
        ConcurrentChange: the files of one are elsewhere.
    """
    writes = written_keys(row, manifest)
    for key, payload in read(writes).items():
        location = partition_from_payload(payload).location or ""
        if location != writes[key].location:
            _raise_moved(row, writes[key], location)
    bytes_expected = {partition_key(row, values): payload for values, payload in expected.items()}
    deletes = tuple(sorted([*writes, *companion_keys(row, writes)]))
    return Change(
        deletes=deletes, present={key: write.values for key, write in writes.items()}, expected=bytes_expected
    )


def _check_place(row: TableRow, manifest: Manifest) -> None:
    """See that the files are staged in the table's folder: else it was another one when the job began."""
    staging = location_or_none(manifest.staging)
    if not row.table.location or staging is None or not staging.is_below(absolute_location(row.table.location)):
        raise ConcurrentChange(
            "the location of the table changed while its files were written",
            table=row.table,
            location=row.table.location,
            staged=manifest.staging,
            hint=f"Nothing was changed; {_WRITE_AGAIN}",
        )


def _check_folder(row: TableRow, before: Partition | None, write: PartitionWrite) -> None:
    """See that the files are on their way into the folder that the partition has, or one that is new may have.

    One that was elsewhere when the job began, and is gone, does not come back there: it may be another table's folder.
    """
    place = location_or_none(write.location)
    if before is None and place is not None and row.table.location:
        if not place.is_below(absolute_location(row.table.location)):
            _raise_moved(row, write, "")
    elif before is not None and before.location is not None and location_or_none(before.location) != place:
        _raise_moved(row, write, before.location)


def _raise_moved(row: TableRow, write: PartitionWrite, location: str) -> NoReturn:
    what, hint = ("dropped", "try again") if write.drop else ("written", _WRITE_AGAIN)
    raise ConcurrentChange(
        f"the location of a partition changed while its files were {what}",
        table=row.table,
        partition=partition_name(row.table.partition_column_names, write.values),
        location=location,
        files=write.location,
        hint=f"Nothing was changed; {hint}",
    )


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
