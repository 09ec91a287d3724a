"""Where the fields of many stored partitions stand, found without decoding each of them.

The partitions of a table have the same bytes between their values, times, location and parameters, apart from those
where their storage differs. So the bytes between are learned from one partition. Where the next has the same at the
same place, its fields stand behind them, as a struct is read from left to right.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from hbstore.model.layouts import LOCATION_HEAD, PARAMETERS, PARTITION
from hbstore.model.structs import VALUES_START
from hbstore.thrift.wire import I32, STRING, field_head, find_field, skip

_SIZE: Final = struct.Struct(">I")
_NUMBERS: Final = {name: number for number, (name, _) in PARTITION.fields.items()}
_VALUES: Final = field_head(PARTITION.fields[_NUMBERS["values"]][1], _NUMBERS["values"])
_CREATED: Final = field_head(I32, _NUMBERS["create_time"])
_ACCESSED: Final = field_head(I32, _NUMBERS["last_access_time"])
_STORAGE: Final = field_head(PARTITION.fields[_NUMBERS["storage"]][1], _NUMBERS["storage"])
_PARAMETERS: Final = field_head(PARAMETERS, _NUMBERS["parameters"])
_FIRST: Final = len(VALUES_START) + 4
"""Where the first value begins, with its size."""

KINDS: Final = 2
"""Bytes that say what parameters are, before their number."""

TIMES: Final = struct.Struct(">i3xi")
"""A partition's two times, with the head of the second between."""


Places: TypeAlias = tuple[bytes, int, int, int, int, int]
"""A partition's bytes, and where its fields stand in them: the end of its values, its two `TIMES`, the beginning and
the end of the text of its location, and the number of its parameters, which are the rest of that field."""


@dataclass(frozen=True, slots=True)
class Alike:
    """The bytes that partitions have alike.

    Attributes:
        start: before the first value.
        names: behind the values, before the first time.
        storage: behind the times, before the location's size.
        tail: behind the location, before the number of parameters.
    """

    start: bytes
    names: bytes
    storage: bytes
    tail: bytes

    @staticmethod
    def learned(payload: bytes) -> Alike | None:
        """What others may have alike with a partition; None where its fields do not stand as hbstore writes them.

        >>> from hbstore.model.structs import encode_partition
        >>> payloads = [encode_partition(sales.definition, one) for one in sales.partitions("hour = 5")]
        >>> len(list(Alike.learned(payloads[0]).places(payloads, 0)))
        3
        """
        try:
            values = skip(payload, find_field(payload, 0, _VALUES), _VALUES[0])
            times = find_field(payload, values, _CREATED)
            storage = find_field(payload, values, _STORAGE)
            place = find_field(payload, storage, LOCATION_HEAD)
            end = skip(payload, place, STRING.code)
            number = find_field(payload, values, _PARAMETERS) + KINDS
        except (ValueError, struct.error, IndexError):
            return None
        if not _FIRST <= values < times < storage <= place < end < number:
            return None
        behind = times + TIMES.size
        alike = Alike(payload[:_FIRST], payload[values:times], payload[behind:place], payload[end:number])
        read = next(alike.places([payload], 0), None)
        return alike if read == (payload, values, times, place + 4, end, number) else None

    def places(self, payloads: Sequence[bytes], first: int) -> Iterator[Places]:
        """The places in partitions from the first on, up to one that is not alike. O(bytes before parameters)."""
        size, columns = _SIZE.unpack_from, range(_SIZE.unpack_from(self.start, _FIRST - 4)[0])
        start, names, storage, tail = self.start, self.names, self.storage, self.tail
        to_times, to_location, to_number = len(names), TIMES.size + len(storage) + 4, len(tail)
        try:
            for number in range(first, len(payloads)):
                payload = payloads[number]
                at = _FIRST
                for _ in columns:
                    at += 4 + size(payload, at)[0]
                times = at + to_times
                place = times + to_location
                end = place + size(payload, place - 4)[0]
                if not (
                    payload.startswith(start)
                    and payload.startswith(names, at)
                    and payload.startswith(_ACCESSED, times + 4)
                    and payload.startswith(storage, times + TIMES.size)
                    and payload.startswith(tail, end)
                ):
                    return
                yield payload, at, times, place, end, end + to_number
        except struct.error:
            return  # bytes are missing: the decoder says it
