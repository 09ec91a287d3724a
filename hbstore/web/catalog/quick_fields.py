"""Fields of many stored partitions, for replies: read where they stand, without an object for each partition.

The partitions of a table have the same bytes between their values, times, location and parameters, apart from those
where their storage differs. So the bytes between are learned from one partition that is wholly decoded. Where the next
has the same at the same place, its fields stand behind them, as a struct is read from left to right. Where it has not,
it is decoded, and learned from.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from hbstore.layouts import LOCATION_HEAD, PARAMETERS, PARTITION
from hbstore.structs import VALUES_START, decode_partition
from hbstore.wire import I32, STRING, field_head, find_field, skip

Fields: TypeAlias = tuple[str | None, dict[str, str], int, int]
"""Location, parameters, create time and last access time."""

_SIZE: Final = struct.Struct(">I")
_NUMBERS: Final = {name: number for number, (name, _) in PARTITION.fields.items()}
_CREATED: Final = field_head(I32, _NUMBERS["create_time"])
_ACCESSED: Final = field_head(I32, _NUMBERS["last_access_time"])
_STORAGE: Final = field_head(PARTITION.fields[_NUMBERS["storage"]][1], _NUMBERS["storage"])
_PARAMETERS: Final = field_head(PARAMETERS, _NUMBERS["parameters"])
_BOTH: Final = struct.Struct(">3si3si")
_TIMES: Final = _BOTH.size
_VALUES: Final = len(VALUES_START) + 4
"""Where the first value begins, with its size."""


@dataclass(frozen=True, slots=True)
class _Between:
    """Bytes that partitions share: behind the values, behind the times, and behind the location."""

    names: bytes
    storage: bytes
    tail: bytes


def quick_fields(payloads: Iterable[bytes]) -> list[Fields]:
    """Location, parameters and times of stored partitions, in their order.

    Args:
        payloads: Partition structs.

    Raises:
        CorruptRow: one is none.
    """
    between: _Between | None = None
    read = []
    for payload in payloads:
        fields = None if between is None else _read(payload, between)
        if fields is None:
            fields, between = _learn(payload)
        read.append(fields)
    return read


def _read(payload: bytes, between: _Between, size: Callable[..., tuple[int]] = _SIZE.unpack_from) -> Fields | None:
    """The fields of a partition that has the shared bytes where they are looked for; None of another one."""
    try:
        at = _VALUES
        for _ in range(size(payload, at - 4)[0]):
            at += 4 + size(payload, at)[0]
        if not (payload.startswith(VALUES_START) and payload.startswith(between.names, at)):
            return None
        at += len(between.names)
        created_head, created, accessed_head, accessed = _BOTH.unpack_from(payload, at)
        at += _TIMES
        if created_head != _CREATED or accessed_head != _ACCESSED or not payload.startswith(between.storage, at):
            return None
        at += len(between.storage)
        end = at + 4 + size(payload, at)[0]
        location = payload[at + 4 : end].decode()
        if not payload.startswith(between.tail, end):
            return None
        at = end + len(between.tail) + 4
        parameters = {}
        for _ in range(size(payload, at - 4)[0]):
            key = at + 4
            value = key + size(payload, at)[0] + 4
            at = value + size(payload, value - 4)[0]
            parameters[payload[key : value - 4].decode()] = payload[value:at].decode()
        if at >= len(payload):
            return None
    except (struct.error, IndexError, UnicodeDecodeError):
        return None  # the decoder says what is wrong
    return location, parameters, created, accessed


def _learn(payload: bytes) -> tuple[Fields, _Between | None]:
    """The fields of a partition, and what others may share with it, if they stand as hbstore writes them."""
    partition = decode_partition(payload)
    fields = partition.location, dict(partition.parameters), partition.create_time, partition.last_access_time
    if partition.location is None:
        return fields, None
    try:
        begin = find_field(payload, 0, VALUES_START[:3])
        begin = skip(payload, begin, PARTITION.fields[_NUMBERS["values"]][1].code)
        times = find_field(payload, begin, _CREATED) - len(_CREATED)
        storage = find_field(payload, begin, _STORAGE)
        place = find_field(payload, storage, LOCATION_HEAD)
        end = skip(payload, place, STRING.code)
        # The number of entries stands behind the types of names and values.
        number = find_field(payload, begin, _PARAMETERS) + 2
    except (ValueError, struct.error, IndexError):
        return fields, None
    between = _Between(payload[begin:times], payload[times + _TIMES : place], payload[end:number])
    # Another order of fields, as no writer of hbstore has, is noticed here: then nothing is shared.
    return fields, between if _read(payload, between) == fields else None
