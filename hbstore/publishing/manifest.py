"""Manifest: all that a publication does, for whoever finishes it.

data/part-0.parquet                                staged, below the table's folder, where nobody looks
ds=2013-01-01/region=eu/.<id>-part-0.parquet       prepared: in place, under a hidden name
ds=2013-01-01/region=eu/part-0-<id>.parquet        shown
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from hbstore.errors import CorruptRow
from hbstore.store.stream_batches import Stream, StreamBatch

STAGING: Final = "_hbstore"
"""The folder in a table's folder that holds what jobs are writing; Hive and Spark pass over it."""

_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class PartitionWrite:
    """What becomes of one partition.

    Attributes:
        values: the partition's.
        location: its folder.
        files: names in that folder: hidden before, shown afterwards.
        replaced: names of files in the folder that are gone afterwards.
        append: whether statistics are added to those that it has; else they replace them.
        statistics: numbers by parameter, such as ``numRows``.
        parameters: further parameters.
        drop: the partition is dropped and its folder removed; the rest is empty then.
    """

    values: tuple[str, ...]
    location: str
    files: Mapping[str, str] = field(default_factory=dict)
    replaced: tuple[str, ...] = ()
    append: bool = True
    statistics: Mapping[str, int] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    drop: bool = False


@dataclass(frozen=True, slots=True)
class Manifest:
    """A publication.

    Attributes:
        id: unique; it stands in the names of files.
        staging: the folder that is removed in the end.
        partitions: what becomes of each.
        batch: the batch of a stream that it is; None for others.

    >>> manifest = Manifest("7", "file:/data/_hbstore/7", (PartitionWrite(("x",), "file:/data/ds=x"),))
    >>> Manifest.decode(manifest.encode()) == manifest
    True
    """

    id: str
    staging: str
    partitions: tuple[PartitionWrite, ...]
    batch: StreamBatch | None = None

    def encode(self) -> bytes:
        """JSON."""
        content: dict[str, Any] = {"version": _VERSION, "id": self.id, "staging": self.staging}
        if self.batch is not None:
            content["batch"] = asdict(self.batch)
        return json.dumps({**content, "partitions": [asdict(one) for one in self.partitions]}).encode()

    @staticmethod
    def decode(data: bytes) -> Manifest:
        """The manifest of `encode`'s bytes.

        Raises:
            CorruptRow: they are not.
        """
        try:
            found = json.loads(data)
            if found["version"] != _VERSION:
                raise CorruptRow("a publication is of another version of hbstore", version=found["version"])
            partitions = tuple(_write(one) for one in found["partitions"])
            return Manifest(found["id"], found["staging"], partitions, _batch(found.get("batch")))
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptRow("a publication does not decode", bytes=len(data)) from error


def hidden_name(publication_id: str, number: int) -> str:
    """The name of a prepared file. O(1)."""
    return f".{publication_id}-{number}"


def _write(found: dict[str, Any]) -> PartitionWrite:
    return PartitionWrite(**{**found, "values": tuple(found["values"]), "replaced": tuple(found["replaced"])})


def _batch(found: dict[str, Any] | None) -> StreamBatch | None:
    return None if found is None else StreamBatch(Stream(**found["stream"]), found["number"], found["digest"])
