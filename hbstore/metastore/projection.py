"""Partitions of which only some fields are asked for, without the storage that most of them have alike.

A listing for a program that reads files needs locations and values, a tenth of what is stored. Bytes are cut from
bytes: no partition is decoded.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hbstore.layouts import PARAMETERS, PRIVILEGES
from hbstore.like import parse_like
from hbstore.metastore.struct_cuts import Cut, cut_of, cut_struct, field_slices
from hbstore.structs import VALUES_START
from hbstore.wire import I32, STRING, field_head

STORAGE_FIELD: Final = 6
"""The field of a partition that is its storage."""

_VALUES, _CREATED, _ACCESSED, _PARAMETERS, _PRIVILEGES = 1, 4, 5, 7, 8
"""Its other fields that a shared spec has, too."""

_LOCATION: Final = 2
"""A field of its storage."""

_RELATIVE_HEAD: Final = field_head(STRING, 4)
_PARAMETERS_HEAD: Final = field_head(PARAMETERS, 5)
_OTHERS: Final = {
    _CREATED: field_head(I32, 2),
    _ACCESSED: field_head(I32, 3),
    _PRIVILEGES: field_head(PRIVILEGES, 6),
}
"""Fields that stand under other numbers where the storage is shared: the heads that they have there."""

_HEAD: Final = 3
_TIME: Final = _HEAD + 4
"""Bytes of each of a partition's two times, with its head."""

_UINT32: Final = struct.Struct(">I")
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
    wanted, unwanted = (parse_like(pattern, "sql") if pattern else None for pattern in (include, exclude))

    def wants(name: str) -> bool:
        return (wanted is None or wanted.matches(name)) and not (unwanted is not None and unwanted.matches(name))

    cut = cut_of(partition, fields) if fields else None
    return Projection(cut, None if wanted is None and unwanted is None else wants)


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the bytes of a table's partitions have alike, in the order in which they are stored.

    Attributes:
        names: behind the values and before the times.
        before: behind the times and before the location's text.
        after: behind the location, to the end of the storage.
        storage: the fields of the storage that are asked for, but for the location, without the end of the struct.
    """

    names: bytes
    before: bytes
    after: bytes
    storage: bytes


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
    _only_location: bool = field(init=False)
    _shape: _Shape | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._root = (self.location or "").encode()
        self._only_location = not any(map(self.projection.has, (*_OTHERS, _PARAMETERS)))

    def cut(self, payload: bytes) -> tuple[bytes | None, bytes]:
        """A storage that can be shared, and the bytes of a PartitionWithoutSD.

        The storage has neither a location nor the end of the struct; without any storage among what is asked for, it is
        empty. It is None where the location is asked for and is not in the table's: then the bytes are the partition
        itself, of what is asked for. O(bytes).
        """
        if not self.projection.has_location:
            fields, cut = field_slices(payload, 0), (self.projection.cut or {}).get(STORAGE_FIELD)
            storage = b"" if cut is None else cut_struct(payload, fields[STORAGE_FIELD][0], cut)[:-1]
            return storage, self._without_storage(payload, fields, None)
        found = self._by_shape(payload)
        if found is None and self._take_shape(payload):
            found = self._by_shape(payload)
        if found is None or self._shape is None:
            return None, self.whole(payload)
        values_end, times, begin, end = found
        place = payload[begin:end]
        if not self._inside(place):
            return None, self.whole(payload)
        relative = place[len(self._root) :]
        if self._only_location:
            values = payload[:values_end] if self.projection.has(_VALUES) else b""
            return self._shape.storage, _joined(values, relative)
        fields = {
            _VALUES: (_HEAD, values_end),
            _CREATED: (times + _HEAD, times + _TIME),
            _ACCESSED: (times + _TIME + _HEAD, times + 2 * _TIME),
            **field_slices(payload, end + len(self._shape.after)),
        }
        return self._shape.storage, self._without_storage(payload, fields, relative)

    def _by_shape(self, payload: bytes) -> tuple[int, int, int, int] | None:
        """Of a partition of the last one's shape: the values' end, the times, the location's begin and end."""
        shape, size = self._shape, _UINT32.unpack_from
        if shape is None or not payload.startswith(VALUES_START):
            return None
        end = _HEAD + 5
        for _ in range(size(payload, _HEAD + 1)[0]):
            end += 4 + size(payload, end)[0]
        at = end + len(shape.names)
        begin = at + 2 * _TIME + len(shape.before) + 4
        if not (payload.startswith(shape.names, end) and payload.startswith(shape.before, at + 2 * _TIME)):
            return None
        last = begin + size(payload, begin - 4)[0]
        return (end, at, begin, last) if payload.startswith(shape.after, last) else None

    def _take_shape(self, payload: bytes) -> bool:
        """Expect the shape of a partition from now on; False where it has no location."""
        cut = None if self.projection.cut is None else self.projection.cut[STORAGE_FIELD]
        fields = field_slices(payload, 0)
        if not fields.keys() >= {_VALUES, _CREATED, _ACCESSED, STORAGE_FIELD}:
            return False
        storage, stop = fields[STORAGE_FIELD]
        place = field_slices(payload, storage).get(_LOCATION)
        if place is None:
            return False
        around = payload[storage : place[0] - _HEAD] + payload[place[1] : stop]
        self._shape = _Shape(
            payload[fields[_VALUES][1] : fields[_CREATED][0] - _HEAD],
            payload[fields[_ACCESSED][1] : place[0]],
            payload[place[1] : stop],
            (around if cut is None else cut_struct(around, 0, cut))[:-1],
        )
        return True

    def _inside(self, place: bytes) -> bool:
        root = self._root
        return bool(root) and place.startswith(root) and (root[-1:] == b"/" or place[len(root) :][:1] in {b"", b"/"})

    def _without_storage(self, payload: bytes, fields: dict[int, tuple[int, int]], relative: bytes | None) -> bytes:
        has = self.projection.has
        parts = [payload[: fields[_VALUES][1]] if has(_VALUES) else b""]
        for number in (_CREATED, _ACCESSED):
            if has(number) and number in fields:
                parts += (_OTHERS[number], payload[slice(*fields[number])])
        if relative is not None:
            parts += (_RELATIVE_HEAD, _UINT32.pack(len(relative)), relative)
        if has(_PARAMETERS) and _PARAMETERS in fields:
            parts += (_PARAMETERS_HEAD, self._parameters(payload, fields[_PARAMETERS]))
        if has(_PRIVILEGES) and _PRIVILEGES in fields:
            parts += (_OTHERS[_PRIVILEGES], payload[slice(*fields[_PRIVILEGES])])
        return b"".join((*parts, _STOP))

    def whole(self, payload: bytes) -> bytes:
        """The partition itself, with its storage, of what is asked for."""
        cut, wants = self.projection.cut, self.projection.wants
        kept = payload if cut is None else cut_struct(payload, 0, cut)
        fields = {} if wants is None else field_slices(kept, 0)
        if _PARAMETERS not in fields:
            return kept
        begin, end = fields[_PARAMETERS]
        return kept[:begin] + self._parameters(kept, (begin, end)) + kept[end:]

    def _parameters(self, data: bytes, where: tuple[int, int]) -> bytes:
        wants = self.projection.wants
        if wants is None:
            return data[slice(*where)]
        parameters, _ = PARAMETERS.read(data, where[0])
        return PARAMETERS.write({name: value for name, value in parameters.items() if wants(name)})


def _joined(values: bytes, relative: bytes) -> bytes:
    return b"".join((values, _RELATIVE_HEAD, _UINT32.pack(len(relative)), relative, _STOP))
