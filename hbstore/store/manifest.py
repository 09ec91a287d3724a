"""Manifest: all that a publication does, for the step that decides it and the process that moves its files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from hbstore.errors import CorruptRow
from hbstore.rows.damage import RESTORE
from hbstore.store.stream_batches import Stream, StreamBatch
from hbstore.texts.wording import clipped, plural

EXCHANGES: Final = "exchange-"
"""What the ids of exchanges begin with: they can be told from other publications without a look at the manifest."""
TRUNCATIONS: Final = "truncation-"
"""The same of truncations, which delete the files of the partitions that they lease."""

_VERSION: Final = 1
_REPR: Final = 120


@dataclass(frozen=True, slots=True, repr=False)
class PartitionWrite:
    """What becomes of one partition.

    Attributes:
        values: the partition's.
        location: its folder.
        files: names in that folder: hidden before, shown afterwards.
        replaced: names of files in the folder that are gone afterwards; of a partition that is dropped, all.
        append: whether statistics are added to those that it has; else they replace them.
        statistics: numbers by parameter, such as ``numRows``.
        parameters: further parameters.
        drop: the partition is dropped, with its files; the rest is empty then.
    """

    values: tuple[str, ...]
    location: str
    files: Mapping[str, str] = field(default_factory=dict)
    replaced: tuple[str, ...] = ()
    append: bool = True
    statistics: Mapping[str, int] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    drop: bool = False

    def __repr__(self) -> str:
        what = "dropped" if self.drop else plural(len(self.files), "file")
        return f"<PartitionWrite {clipped(str(self.values), _REPR)}: {what}>"


@dataclass(frozen=True, slots=True)
class Exchange:
    """Between which tables partitions are exchanged, and where their folders go.

    Attributes:
        source: database and name of the table that they leave.
        target: those of the table that they come to.
        home: the source's folder; None where no folder moves.
        new_home: the target's.
    """

    source: tuple[str, str]
    target: tuple[str, str]
    home: str | None = None
    new_home: str | None = None

    def place(self, location: str | None) -> str | None:
        """Where the folder at a location goes; None for one that stays, as it is not in the source's.

        >>> exchange = Exchange(("shop", "sales"), ("attic", "old"), "file:/shop/sales/", "file:/attic/old")
        >>> exchange.place("file:/shop/sales/ds=1"), exchange.place("file:/far/ds=1")
        ('file:/attic/old/ds=1', None)
        """
        if location is None or self.home is None or self.new_home is None:
            return None
        old = self.home.rstrip("/")
        return self.new_home.rstrip("/") + location.removeprefix(old) if location.startswith(f"{old}/") else None


@dataclass(frozen=True, slots=True)
class Removal:
    """How the files of dropped partitions are deleted.

    Attributes:
        purge: whether they pass the trash.
        trash: its location; None where there is none.
    """

    purge: bool
    trash: str | None


@dataclass(frozen=True, slots=True, repr=False)
class Manifest:
    """A publication.

    Attributes:
        id: unique; it stands in the names of files.
        staging: the folder that is removed in the end.
        partitions: what becomes of each.
        batch: the batch of a stream that it is; None for others.
        exchange: of partitions between tables: then ``partitions`` say only which they are, and where; else None.
        hidden: whether files are in their partitions' folders, under hidden names, when it is decided. If not, as where
            they cannot be renamed, they are in the staging folder, and partitions name them by their paths in it.
        removal: of the files of partitions that were dropped; None for others.
        names_drops: whether partitions that a job drops name their files in ``replaced``; those of earlier versions do
            not, and their folders go whole.

    >>> manifest = Manifest("7", "file:/data/_hbstore/7", (PartitionWrite(("x",), "file:/data/ds=x"),))
    >>> Manifest.decode(manifest.encode()) == manifest
    True
    """

    id: str
    staging: str
    partitions: tuple[PartitionWrite, ...]
    batch: StreamBatch | None = None
    exchange: Exchange | None = None
    hidden: bool = True
    removal: Removal | None = None
    names_drops: bool = False

    def __repr__(self) -> str:
        return f"<Manifest {self.id}: {plural(len(self.partitions), 'partition')}>"

    def encode(self) -> bytes:
        """JSON.

        >>> Manifest("7", "file:/data/_hbstore/7", ()).encode()[:20]
        b'{"version": 1, "id":'
        """
        content: dict[str, Any] = {"version": _VERSION, "id": self.id, "staging": self.staging}
        if self.exchange is not None:
            places = [(write.values, write.location) for write in self.partitions]
            return json.dumps({**content, "exchange": asdict(self.exchange), "places": places}).encode()
        if self.removal is not None:
            drops = [(write.values, write.location, write.replaced) for write in self.partitions]
            return json.dumps({**content, "removal": asdict(self.removal), "drops": drops}).encode()
        if self.batch is not None:
            content["batch"] = asdict(self.batch)
        if not self.hidden:
            content["hidden"] = False
        if self.names_drops:
            content["names_drops"] = True
        return json.dumps({**content, "partitions": [asdict(write) for write in self.partitions]}).encode()

    def prepared(self, write: PartitionWrite, name: str) -> str:
        """Where a file of a partition is when the publication is decided.

        >>> write = PartitionWrite(("x",), "s3://data/ds=x", {".7-0": "part-0"})
        >>> Manifest("7", "s3://data/_hbstore/7", (write,)).prepared(write, ".7-0")
        's3://data/ds=x/.7-0'
        """
        return f"{write.location if self.hidden else self.staging}/{name}"

    def shares(self, other: Manifest) -> bool:
        """Whether another publication is about one of these partitions, and not this one.

        >>> one = Manifest("7", "file:/data/_hbstore/7", (PartitionWrite(("x",), "file:/data/ds=x"),))
        >>> one.shares(one), one.shares(Manifest("8", "file:/data/_hbstore/8", one.partitions))
        (False, True)
        """
        mine = {one.values for one in self.partitions}
        return self.id != other.id and any(one.values in mine for one in other.partitions)

    @staticmethod
    def decode(data: bytes) -> Manifest:
        """The manifest of `encode`'s bytes.

        Raises:
            CorruptRow: they are not.

        >>> Manifest.decode(Manifest("7", "file:/data/_hbstore/7", ()).encode()).id
        '7'
        """
        try:
            document = json.loads(data)
            if document["version"] != _VERSION:
                raise CorruptRow(
                    "another version of hbstore wrote the publication",
                    version=document["version"],
                    hint="Use the version of hbstore that wrote it, or a newer one",
                )
            if "exchange" in document:
                places = tuple(PartitionWrite(tuple(values), location) for values, location in document["places"])
                return Manifest(document["id"], document["staging"], places, exchange=_exchange(document["exchange"]))
            if "removal" in document:
                drops = tuple(
                    PartitionWrite(tuple(values), where, replaced=tuple(names), drop=True)
                    for values, where, names in document["drops"]
                )
                return Manifest(document["id"], document["staging"], drops, removal=Removal(**document["removal"]))
            partitions = tuple(_write(one) for one in document["partitions"])
            batch, hidden = _batch(document.get("batch")), document.get("hidden", True)
            names = document.get("names_drops", False)
            return Manifest(document["id"], document["staging"], partitions, batch, hidden=hidden, names_drops=names)
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptRow("a publication cannot be decoded", bytes=len(data), hint=RESTORE) from error


def _write(found: dict[str, Any]) -> PartitionWrite:
    return PartitionWrite(**{**found, "values": tuple(found["values"]), "replaced": tuple(found["replaced"])})


def _exchange(found: dict[str, Any]) -> Exchange:
    return Exchange(tuple(found["source"]), tuple(found["target"]), found["home"], found["new_home"])


def _batch(found: dict[str, Any] | None) -> StreamBatch | None:
    return None if found is None else StreamBatch(Stream(**found["stream"]), found["number"], found["digest"])
