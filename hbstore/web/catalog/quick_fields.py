"""Fields of many stored partitions, for replies: read where they stand, without an object for each partition."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from hbstore.model.alike_partitions import TIMES, Alike
from hbstore.model.structs import decode_partition

Fields: TypeAlias = tuple[str | None, dict[str, str], int, int]
"""Location, parameters, create time and last access time."""

_SIZE: Final = struct.Struct(">I")


def quick_fields(payloads: Sequence[bytes]) -> list[Fields]:
    """Location, parameters and times of stored partitions, in their order.

    Args:
        payloads: Partition structs.

    Raises:
        CorruptRow: one is none.
    """
    alike: Alike | None = None
    read: list[Fields] = []
    while len(read) < len(payloads):
        if alike is not None:
            read += _alike(payloads, len(read), alike)
        if len(read) < len(payloads):
            payload = payloads[len(read)]
            partition = decode_partition(payload)
            parameters = dict(partition.parameters)
            read.append((partition.location, parameters, partition.create_time, partition.last_access_time))
            alike = Alike.learned(payload)
    return read


def _alike(payloads: Sequence[bytes], first: int, alike: Alike) -> Iterator[Fields]:
    """The fields of partitions from the first on, up to one that is not alike, or none."""
    size, times_of = _SIZE.unpack_from, TIMES.unpack_from
    for payload, _, times, location, end, number in alike.places(payloads, first):
        parameters = {}
        at = number + 4
        try:
            for _ in range(size(payload, number)[0]):
                key = at + 4
                value = key + size(payload, at)[0] + 4
                at = value + size(payload, value - 4)[0]
                parameters[payload[key : value - 4].decode()] = payload[value:at].decode()
            text = payload[location:end].decode()
        except (struct.error, UnicodeDecodeError):
            return  # the decoder says what is wrong
        if at >= len(payload):
            return
        yield text, parameters, *times_of(payload, times)
