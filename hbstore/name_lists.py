"""Names of many partitions from their stored bytes: ``ds=2013-01-01/hour=5``.

Clients list the names of large tables often, and a step of Python for each value of each partition is slow. So the
first bytes of many partitions are laid one behind the other at one distance, and those whose values have the same
lengths are taken together: the k-th byte of all of them is one slice, and their names are put together byte by byte,
all at once. 100,000 names of three columns take 50 ms instead of 200.

>>> from hbstore.model import Column, Partition, Table
>>> from hbstore.structs import encode_partition
>>> table = Table("shop", "sales", partition_columns=[Column("ds", "date"), Column("hour", "int")])
>>> payloads = [encode_partition(table, Partition(("2013-01-01", str(hour)))) for hour in (5, 10)]
>>> partition_names(["ds", "hour"], payloads)
['ds=2013-01-01/hour=5', 'ds=2013-01-01/hour=10']
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from hbstore.errors import CorruptRow
from hbstore.names import escape_name, partition_namer
from hbstore.structs import VALUES_START, partition_values

HEAD_SIZES: Final = (160, 1_280)
"""Bytes of each partition that are laid out: few at first, more where values do not end in them."""

_FEWEST: Final = 16
"""Partitions that are worth taking together."""

_SIZE: Final = 4
"""Bytes before a list, and before a text, that say how long it is."""

_ESCAPED: Final = bytes(code for code in range(128) if escape_name(chr(code)) != chr(code))


class HeadsTooShort(Exception):  # noqa: N818  no failure: the caller takes longer ones
    """Values do not end in the bytes that were laid out."""


@dataclass(frozen=True, slots=True)
class _Group:
    """Partitions whose first values have the same lengths.

    Attributes:
        places: where they stand among all.
        heads: their first bytes, laid out.
        distance: from one to the next.
        sizes: the lengths of their first values.
    """

    places: Sequence[int]
    heads: bytes
    distance: int
    sizes: tuple[int, ...]

    def byte(self, at: int) -> bytes:
        """The byte at one position of all of them."""
        return self.heads[at :: self.distance]

    def head(self, number: int) -> bytes:
        """The first bytes of one of them."""
        return self.heads[number * self.distance : (number + 1) * self.distance]


def partition_names(columns: Sequence[str], payloads: Sequence[bytes]) -> list[str]:
    """The names of partitions, in their order.

    Args:
        columns: the table's partition columns.
        payloads: Partition structs.

    Raises:
        CorruptRow: one is none, as far as it was read.
    """
    for size in HEAD_SIZES:
        try:
            return names_of_heads(columns, lay_out(payloads, size), size)
        except HeadsTooShort:
            continue
    return list(map(partition_namer(columns), map(partition_values, payloads)))


def lay_out(payloads: Iterable[bytes], size: int) -> bytes:
    r"""The first bytes of each payload, one behind the other; short ones are filled up with FF, which no text holds.

    >>> lay_out([b"abcd", b"e"], 2)
    b'abe\xff'
    """
    return b"".join([payload[:size].ljust(size, b"\xff") for payload in payloads])


def names_of_heads(columns: Sequence[str], heads: bytes, size: int) -> list[str]:
    """The names of partitions, in their order, from their first bytes as `lay_out` gives them.

    Raises:
        HeadsTooShort: the values of one do not end in them, or they are no Partition's.
    """
    name_of = partition_namer(columns)
    found = [""] * (len(heads) // size)
    pending = [_Group(range(len(found)), heads, size, ())]
    while pending:
        group = pending.pop()
        names = None
        if len(group.places) >= _FEWEST and (names := _names(columns, group)) is None:
            parts = _split(group, len(columns))
            if parts:
                pending += parts
                continue
        if names is None:
            names = [name_of(_values(group.head(number))) for number in range(len(group.places))]
        if len(names) == len(found):
            return names
        for place, name in zip(group.places, names, strict=True):
            found[place] = name
    return found


def _values(head: bytes) -> tuple[str, ...]:
    try:
        return partition_values(head)
    except CorruptRow:
        raise HeadsTooShort from None


def _split(group: _Group, columns: int) -> list[_Group]:
    """A group by the length of the next value; no groups where there is none, or bytes are not what they should be."""
    start = VALUES_START + columns.to_bytes(_SIZE, "big")
    at = _begin(group.sizes)
    if len(group.sizes) == columns or at > group.distance:
        return []
    if not group.sizes and any(group.byte(place).strip(start[place : place + 1]) for place in range(len(start))):
        return []
    if any(group.byte(at - back).strip(b"\0") for back in range(2, _SIZE + 1)):
        return []
    last = group.byte(at - 1)
    sizes = set(last)
    if len(sizes) == 1:
        return [_Group(group.places, group.heads, group.distance, (*group.sizes, sizes.pop()))]
    parts = []
    for size in sizes:
        mine = [number for number, byte in enumerate(last) if byte == size]
        places = [group.places[number] for number in mine]
        heads = b"".join(map(group.head, mine))
        parts.append(_Group(places, heads, group.distance, (*group.sizes, size)))
    return parts


def _begin(sizes: tuple[int, ...]) -> int:
    """Where the value begins that stands behind values of these lengths."""
    return len(VALUES_START) + _SIZE + sum(sizes) + _SIZE * (len(sizes) + 1)


def _names(columns: Sequence[str], group: _Group) -> list[str] | None:
    """The names of a group, put together at once.

    None where not all lengths are known yet, or a value has to be escaped, is not ASCII, or is cut off.
    """
    if len(group.sizes) < len(columns) or _begin(group.sizes) - _SIZE > group.distance:
        return None
    form = bytearray()
    moves: list[tuple[int, int]] = []
    for number, (column, size) in enumerate(zip(columns, group.sizes, strict=True)):
        form += f"{'/' if number else ''}{escape_name(column)}=".encode()
        begin = _begin(group.sizes[:number])
        moves += zip(range(begin, begin + size), range(len(form), len(form) + size), strict=True)
        form += bytes(size)
    length = len(form)
    made = form * len(group.places)
    for source, target in moves:
        given = group.byte(source)
        if not given.isascii() or len(given.translate(None, _ESCAPED)) != len(given):
            return None
        made[target::length] = given
    text = made.decode()
    return [text[at : at + length] for at in range(0, len(text), length)]
