"""Names of many partitions from their stored bytes: ``ds=2013-01-01/hour=5``.

Clients list the names of large tables often, and a step of Python for each value of each partition is slow. So the
first bytes of many partitions are laid one behind the other at one distance. Neighbours whose values have the same
lengths are taken together: the k-th byte of all of them is one slice, and their names are put together byte by byte,
all at once. 100,000 names of three columns take 40 ms instead of 190.

>>> from hbstore.model.objects import Column, Partition, Table
>>> from hbstore.model.structs import encode_partition
>>> table = Table("shop", "sales", partition_columns=[Column("ds", "date"), Column("hour", "int")])
>>> payloads = [encode_partition(table, Partition(("2013-01-01", str(hour)))) for hour in (5, 10)]
>>> partition_names(["ds", "hour"], payloads)
['ds=2013-01-01/hour=5', 'ds=2013-01-01/hour=10']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from hbstore.byte_cache import remembered
from hbstore.errors import CorruptRow
from hbstore.keys.partition_names import escape_name, partition_namer
from hbstore.model.structs import VALUES_START, partition_values

HEAD: Final = 160
"""Bytes of each partition that are laid out; a partition whose values end behind them is named on its own."""

_BLOCK: Final = 4_096
"""Partitions that are laid out at once, so that what is laid out stays in the processor's cache."""

_FEWEST: Final = 16
"""Partitions that are worth taking together."""

_LONG: Final = 64
"""How long runs of values of one length are on average where neighbours are taken as they stand."""

_SIZE: Final = 4
"""Bytes before a list, and before a text, that say how long it is."""

_RUN: Final = re.compile(rb"(.)\1*", re.DOTALL)
_ESCAPED: Final = bytes(code for code in range(128) if escape_name(chr(code)) != chr(code))


def partition_names(columns: Sequence[str], payloads: Sequence[bytes]) -> list[str]:
    """The names of partitions, in their order.

    Args:
        columns: the table's partition columns.
        payloads: Partition structs.

    Raises:
        CorruptRow: one is none, as far as it was read.
    """
    name_of = partition_namer(columns)
    all_names: list[str] = []
    for begin in range(0, len(payloads), _BLOCK):
        block = payloads[begin : begin + _BLOCK]
        names = _names_together(columns, lay_out(block, HEAD))
        if "" in names:
            try:
                names = [name or name_of(partition_values(one)) for name, one in zip(names, block, strict=True)]
            except ValueError as error:  # more or fewer values than columns
                hint = "Run `hbstore check` to list all such rows"
                raise CorruptRow("a partition has no name", reason=error, hint=hint) from error
        all_names += names
    return all_names


def names_of_heads(columns: Sequence[str], laid: bytes) -> list[str] | None:
    """The same from the first `HEAD` bytes of each partition; None where the values of one do not end in them."""
    name_of = partition_namer(columns)
    all_names: list[str] = []
    for begin in range(0, len(laid), _BLOCK * HEAD):
        block = laid[begin : begin + _BLOCK * HEAD]
        names = _names_together(columns, block)
        if "" in names:
            try:
                for place, name in enumerate(names):
                    if not name:
                        names[place] = name_of(partition_values(block[place * HEAD : (place + 1) * HEAD]))
            except (CorruptRow, ValueError):  # or so it seems, where they are cut off
                return None
        all_names += names
    return all_names


def lay_out(payloads: Iterable[bytes], size: int) -> bytes:
    r"""The first bytes of each payload, one behind the other; short ones are filled up with FF, which no text holds.

    >>> lay_out([b"abcd", b"e"], 2)
    b'abe\xff'
    """
    return b"".join([payload[:size].ljust(size, b"\xff") for payload in payloads])


@dataclass(frozen=True, slots=True)
class _Run:
    """Partitions that are laid out next to each other, and whose first values have the same lengths.

    Attributes:
        laid: the first bytes of these and others.
        places: where all those stand among the partitions.
        start: the first of these.
        stop: the one behind the last.
        sizes: the lengths of their first values.
    """

    laid: bytes
    places: Sequence[int]
    start: int
    stop: int
    sizes: tuple[int, ...]

    def byte(self, at: int) -> bytes:
        """The byte at one position of all of them."""
        return self.laid[self.start * HEAD + at : self.stop * HEAD : HEAD]


def _names_together(columns: Sequence[str], laid: bytes) -> list[str]:
    """The names of partitions that are laid out; an empty one for each that has to be named on its own."""
    size = len(laid) // HEAD
    names = [""] * size
    pending = [_Run(laid, range(size), 0, size, ())]
    while pending:
        run = pending.pop()
        if run.stop - run.start < _FEWEST:
            continue
        if len(run.sizes) < len(columns):
            pending += _split(run, len(columns))
            continue
        made = _names(columns, run)
        if isinstance(run.places, range):
            names[run.start : run.stop] = made
        else:
            for place, name in zip(run.places[run.start : run.stop], made, strict=True):
                names[place] = name
    return names


def _split(run: _Run, columns: int) -> Iterator[_Run]:
    """A run by the length of the next value; nothing where the bytes are not what they are taken for.

    Where lengths change too often, the partitions are laid out anew in the order of that length.
    """
    at = _begin(run.sizes)
    start = VALUES_START + columns.to_bytes(_SIZE, "big")
    if at > HEAD or any(run.byte(at - back).strip(b"\0") for back in range(2, _SIZE + 1)):
        return
    if not run.sizes and any(run.byte(place).strip(start[place : place + 1]) for place in range(len(start))):
        return
    last = run.byte(at - 1)
    if len(last) < _FEWEST * len(set(last)):
        return
    runs = list(_RUN.finditer(last))
    if len(runs) * _LONG > len(last) and len(runs) > 1:
        order = sorted(range(run.start, run.stop), key=run.laid[at - 1 :: HEAD].__getitem__)
        laid = b"".join([run.laid[place * HEAD : (place + 1) * HEAD] for place in order])
        run = _Run(laid, [run.places[place] for place in order], 0, len(order), run.sizes)
        last = run.byte(at - 1)
        runs = list(_RUN.finditer(last))
    for found in runs:
        begin, end = run.start + found.start(), run.start + found.end()
        yield _Run(run.laid, run.places, begin, end, (*run.sizes, last[found.start()]))


def _begin(sizes: tuple[int, ...]) -> int:
    """Where the value begins that stands behind values of these lengths."""
    return len(VALUES_START) + _SIZE + sum(sizes) + _SIZE * (len(sizes) + 1)


def _names(columns: Sequence[str], run: _Run) -> list[str]:
    """The names of a run, put together at once; empty ones where one is to be escaped, is not ASCII, or is too long."""
    count = run.stop - run.start
    form, moves = _form(tuple(columns), run.sizes)
    length = len(form)
    if _begin(run.sizes) - _SIZE <= HEAD:
        buffer = bytearray(form) * count
        for source, target in moves:
            buffer[target::length] = run.byte(source)
        plain = count * (len(form.translate(None, _ESCAPED)) + len(moves))
        if buffer.isascii() and len(buffer.translate(None, _ESCAPED)) == plain:
            text = buffer.decode()
            return [text[at : at + length] for at in range(0, len(text), length)]
    return [""] * count


@remembered
def _form(columns: tuple[str, ...], sizes: tuple[int, ...]) -> tuple[bytes, list[tuple[int, int]]]:
    """A name with zeros for values of these lengths, and for each byte of them where it stands and where it goes."""
    form = b""
    moves: list[tuple[int, int]] = []
    for number, (column, size) in enumerate(zip(columns, sizes, strict=True)):
        form += f"{'/' if number else ''}{escape_name(column)}=".encode()
        begin = _begin(sizes[:number])
        moves += zip(range(begin, begin + size), range(len(form), len(form) + size), strict=True)
        form += bytes(size)
    return form, moves
