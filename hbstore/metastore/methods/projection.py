"""Partitions of which only some fields are asked for, without the storage that most of them have alike.

A listing for a program that reads files needs locations and values, a tenth of what is stored. Bytes are cut from
bytes: no partition is decoded.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hbstore.metastore.methods.struct_cuts import Cut, cut_of, cut_struct, field_slices
from hbstore.model.alike_partitions import KINDS, Alike
from hbstore.model.layouts import PARAMETERS, PRIVILEGES
from hbstore.texts.like import parse_like
from hbstore.thrift.wire import I32, STRING, field_head

STORAGE_FIELD: Final = 6
"""The field of a partition that is its storage."""

_VALUES, _CREATED, _ACCESSED, _PARAMETERS, _PRIVILEGES = 1, 4, 5, 7, 8
"""Its other fields that a shared spec has, too."""

_LOCATION: Final = 2
"""A field of its storage."""

_CREATED_HEAD: Final = field_head(I32, 2)
_ACCESSED_HEAD: Final = field_head(I32, 3)
_RELATIVE_HEAD: Final = field_head(STRING, 4)
_PARAMETERS_HEAD: Final = field_head(PARAMETERS, 5)
_PRIVILEGES_HEAD: Final = field_head(PRIVILEGES, 6)
"""Heads of fields of a PartitionWithoutSD."""

_HEAD: Final = 3
_UINT32: Final = struct.Struct(">I")
_RELATIVE: Final = struct.Struct(">3sI").pack
_STOP: Final = b"\0"


@dataclass(frozen=True, slots=True)
class Projection:
    """What of a partition is asked for.

    Attributes:
        cut: the fields; None: all.
        wants: tells which parameters, by their names; None: all.
    """

    cut: Cut | None = None
    wants: Callable[[str], bool] | None = None

    def has(self, number: int) -> bool:
        """Whether a field, or something inside it, is asked for."""
        return self.cut is None or number in self.cut

    @property
    def has_location(self) -> bool:
        """Whether the location is asked for."""
        cut = self.cut
        return cut is None or (STORAGE_FIELD in cut and (cut[STORAGE_FIELD] is None or _LOCATION in cut[STORAGE_FIELD]))


def projection_of(partition: Any, fields: Sequence[str], include: str | None, exclude: str | None) -> Projection:
    """What a client asks for.

    Args:
        partition: thriftpy2's class of partitions.
        fields: names of fields; none are all.
        include: an SQL pattern of names of parameters; None or empty: all.
        exclude: likewise, of those that are left out.

    Raises:
        InvalidInput: a partition has no such field.
    """
    included, excluded = (parse_like(pattern, "sql") if pattern else None for pattern in (include, exclude))

    def wants(name: str) -> bool:
        return (included is None or included.matches(name)) and not (excluded is not None and excluded.matches(name))

    cut = cut_of(partition, fields) if fields else None
    return Projection(cut, None if included is None and excluded is None else wants)


@dataclass(frozen=True, slots=True)
class _Shared:
    """What partitions one behind the other share.

    Attributes:
        alike: the bytes between their fields.
        storage: what is asked for of their storage.
        rest: their bytes behind the parameters.
        end: what a PartitionWithoutSD has behind the parameters.
    """

    alike: Alike
    storage: bytes
    rest: bytes
    end: bytes


@dataclass(slots=True)
class PartitionCutter:
    """Cuts what is asked for out of the partitions of one table.

    Args:
        location: the table's; None: it has none.
        projection: what is asked for.
    """

    location: str | None
    projection: Projection
    _root: bytes = field(init=False)
    _shared: _Shared | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._root = (self.location or "").encode()

    def cut(self, payloads: Sequence[bytes]) -> Iterator[tuple[bytes | None, Sequence[bytes], list[bytes]]]:
        """Partitions one behind the other that can share a storage: this, they, and for each the PartitionWithoutSD.

        The storage has neither a location nor the end of the struct; without any storage among what is asked for, it is
        empty. It is None where the location is asked for and is not in the table's: then the bytes are the partition
        itself, of what is asked for. O(bytes).
        """
        at = 0
        while at < len(payloads):
            if self._shared is not None and (cuts := self._cut_alike(payloads, at, self._shared)):
                yield self._shared.storage, payloads[at : at + len(cuts)], cuts
                at += len(cuts)
            else:
                storage, cut = self._cut(payloads[at])
                yield storage, payloads[at : at + 1], [cut]
                at += 1

    def whole(self, payload: bytes) -> bytes:
        """The partition itself, with its storage, of what is asked for."""
        cut = self.projection.cut
        kept = payload if cut is None else cut_struct(payload, 0, cut)
        fields = {} if self.projection.wants is None else field_slices(kept, 0)
        if _PARAMETERS not in fields:
            return kept
        begin, end = fields[_PARAMETERS]
        head = kept[begin - _HEAD : begin]
        return kept[: begin - _HEAD] + self._parameters(head, kept[begin:end]) + kept[end:]

    def _cut(self, payload: bytes) -> tuple[bytes | None, bytes]:
        """As `cut`, of one partition in whatever order its fields are; those behind it may be alike."""
        fields, cut = field_slices(payload, 0), self.projection.cut
        begin, end = fields[STORAGE_FIELD]
        place = field_slices(payload, begin).get(_LOCATION)
        relative = None
        if self.projection.has_location:
            if place is None or not self._inside(payload[place[0] + 4 : place[1]]):
                return None, self.whole(payload)
            relative = payload[place[0] + 4 + len(self._root) : place[1]]
        storage = b""
        if self.projection.has(STORAGE_FIELD):
            around = (
                payload[begin:end] if place is None else payload[begin : place[0] - _HEAD] + payload[place[1] : end]
            )
            inside = None if cut is None else cut[STORAGE_FIELD]
            storage = (around if inside is None else cut_struct(around, 0, inside))[:-1]
        without = self._without_storage(payload, fields, relative)
        alike = Alike.learned(payload)
        self._shared = None
        if alike is not None:
            self._shared = _Shared(alike, storage, payload[fields[_PARAMETERS][1] :], self._end(payload, fields))
        return storage, without

    def _cut_alike(self, payloads: Sequence[bytes], first: int, shared: _Shared) -> list[bytes]:
        """What is asked for of partitions from the first on, up to one that is not alike. O(bytes)."""
        has, size, end, rest = self.projection.has, _UINT32.unpack_from, shared.end, shared.rest
        values, created, accessed, located = has(_VALUES), has(_CREATED), has(_ACCESSED), self.projection.has_location
        parameters = self._parameters if has(_PARAMETERS) else None
        to_rest = has(_PARAMETERS) or has(_PRIVILEGES)
        inside, root_length = (self._root.removesuffix(b"/") + b"/", len(self._root)) if located else (b"", 0)
        cuts: list[bytes] = []
        for payload, at, times, place, stop, number in shared.alike.places(payloads, first):
            if not payload.startswith(inside, place):
                break
            cut = payload[:at] if values else b""
            if created:
                cut += _CREATED_HEAD + payload[times : times + 4]
            if accessed:
                cut += _ACCESSED_HEAD + payload[times + 7 : times + 11]
            if located:
                cut += _RELATIVE(_RELATIVE_HEAD, stop - place - root_length) + payload[place + root_length : stop]
            if to_rest:
                behind = number + 4
                for _ in range(2 * size(payload, number)[0]):
                    behind += 4 + size(payload, behind)[0]
                if payload[behind:] != rest:
                    break
                if parameters is not None:
                    cut += parameters(_PARAMETERS_HEAD, payload[number - KINDS : behind])
            cuts.append(cut + end)
        return cuts

    def _inside(self, place: bytes) -> bool:
        root = self._root
        return bool(root) and place.startswith(root) and (root[-1:] == b"/" or place[len(root) :][:1] in {b"", b"/"})

    def _without_storage(self, payload: bytes, fields: dict[int, tuple[int, int]], relative: bytes | None) -> bytes:
        has = self.projection.has
        parts = [payload[: fields[_VALUES][1]] if has(_VALUES) else b""]
        for number, head in ((_CREATED, _CREATED_HEAD), (_ACCESSED, _ACCESSED_HEAD)):
            if has(number) and number in fields:
                parts += (head, payload[slice(*fields[number])])
        if relative is not None:
            parts += (_RELATIVE_HEAD, _UINT32.pack(len(relative)), relative)
        if has(_PARAMETERS) and _PARAMETERS in fields:
            parts.append(self._parameters(_PARAMETERS_HEAD, payload[slice(*fields[_PARAMETERS])]))
        return b"".join((*parts, self._end(payload, fields)))

    def _end(self, payload: bytes, fields: dict[int, tuple[int, int]]) -> bytes:
        """What stands behind the parameters of a PartitionWithoutSD."""
        if self.projection.has(_PRIVILEGES) and _PRIVILEGES in fields:
            return _PRIVILEGES_HEAD + payload[slice(*fields[_PRIVILEGES])] + _STOP
        return _STOP

    def _parameters(self, head: bytes, data: bytes) -> bytes:
        """The field of those parameters that are asked for; as in Hive, there is none where a pattern leaves none."""
        wants = self.projection.wants
        if wants is None:
            return head + data
        parameters, _ = PARAMETERS.read(data, 0)
        wanted = {name: value for name, value in parameters.items() if wants(name)}
        return head + PARAMETERS.write(wanted) if wanted else b""
