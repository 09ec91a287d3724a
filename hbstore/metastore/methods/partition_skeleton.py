"""What partitions of a table have alike, and what differs, cut out of one after the other in a loop.

Thousands of partitions follow each other that have the same bytes between their values, times, location and
parameters. So these bytes are learned from one of them. Where the next has them at the same places, its fields are what
stands between, and no field is looked for.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from hbstore.layouts import PARAMETERS
from hbstore.wire import I32, STRING, field_head

_UINT32: Final = struct.Struct(">I")
_HEAD: Final = 3
_TWO_TIMES: Final = 4 + _HEAD + 4
"""Bytes of a partition's two times behind the head of the first."""

KINDS: Final = 2
"""Bytes that say what parameters are, before their number."""

CREATED_HEAD: Final = field_head(I32, 2)
ACCESSED_HEAD: Final = field_head(I32, 3)
RELATIVE_HEAD: Final = field_head(STRING, 4)
PARAMETERS_HEAD: Final = field_head(PARAMETERS, 5)
"""Heads of fields of a PartitionWithoutSD."""

_RELATIVE: Final = struct.Struct(">3sI").pack


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The bytes that partitions have alike, in the order in which they are stored, and what is cut out between.

    Attributes:
        start: before the first value.
        columns: how many values there are.
        names: behind the values, before the first time.
        before: behind the times, before the location.
        after: behind the location, before the number of parameters.
        rest: behind the parameters, to the end; None: nothing from the parameters on is asked for.
        storage: what all of them share of their storage, as far as it is asked for.
        values: whether the values are asked for.
        created: likewise the first time.
        accessed: likewise the second time.
        root: what a location begins with that is told as a relative one; None: no location is asked for.
        parameters: makes what is told of their bytes; None: they are not asked for.
        end: what is told behind the parameters.
    """

    start: bytes
    columns: int
    names: bytes
    before: bytes
    after: bytes
    rest: bytes | None
    storage: bytes
    values: bool
    created: bool
    accessed: bool
    root: bytes | None
    parameters: Callable[[bytes], bytes] | None
    end: bytes

    def cut(self, payloads: Sequence[bytes], first: int) -> list[bytes]:  # noqa: C901  one loop, as calls cost most here
        """What is asked for of partitions from the first on, up to one that is not alike. O(bytes).

        Each is the bytes of a PartitionWithoutSD.
        """
        size, columns = _UINT32.unpack_from, range(self.columns)
        start, names, before, after = self.start, self.names, self.before, self.after
        values, created, accessed = self.values, self.created, self.accessed
        to_storage = len(names) + _TWO_TIMES
        to_location = to_storage + len(before)
        root, rest, parameters, end = self.root, self.rest, self.parameters, self.end
        inside = b"" if root is None else root.removesuffix(b"/") + b"/"
        root_length = 0 if root is None else len(root)
        cuts = []
        for number in range(first, len(payloads)):
            payload = payloads[number]
            if not payload.startswith(start):
                break
            at = len(start)
            for _ in columns:
                at += 4 + size(payload, at)[0]
            if not (payload.startswith(names, at) and payload.startswith(before, at + to_storage)):
                break
            place = at + to_location + 4
            stop = place + size(payload, place - 4)[0]
            if not (payload.startswith(inside, place) and payload.startswith(after, stop)):
                break
            cut = payload[:at] if values else b""
            if created:
                cut += CREATED_HEAD + payload[at + len(names) : at + len(names) + 4]
            if accessed:
                cut += ACCESSED_HEAD + payload[at + to_storage - 4 : at + to_storage]
            if root is not None:
                cut += _RELATIVE(RELATIVE_HEAD, stop - place - root_length) + payload[place + root_length : stop]
            if rest is not None:
                begin = stop + len(after)
                stop = begin + 4
                for _ in range(2 * size(payload, begin)[0]):
                    stop += 4 + size(payload, stop)[0]
                if payload[stop:] != rest:
                    break
                if parameters is not None:
                    cut += PARAMETERS_HEAD + parameters(payload[begin - KINDS : stop])
            cuts.append(cut + end)
        return cuts
