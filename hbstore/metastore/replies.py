"""Replies, and how big ones stay out of memory.

A reply that lists partitions is the head of a message, the number of partitions, and the bytes that were stored, one
after the other. They are gathered in a `PartitionSpool`: up to `IN_MEMORY` bytes in memory, more in a temporary file,
which the system's page cache holds while there is room. So a call costs the server that much and no more, however
many clients list the largest table at once and however slowly they read.
"""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Final

from hbstore.metastore.short_calls import leave_selector
from hbstore.servers.memory import release_memory
from hbstore.servers.reply_room import FREE, UNBOUNDED, ReplyShare

IN_MEMORY: Final = 8 * 1024 * 1024
"""Bytes of one reply that stay in memory; what is beyond goes to a temporary file."""

CHUNK: Final = 1024 * 1024
"""Bytes that are written to a client at once."""

_UINT32: Final = struct.Struct(">I")
_STRUCT_CODE: Final = 12
_FIRST_LIST: Final = b"\x0f\0\x01"
"""The head of a struct's field 1 that is a list."""

_STOP: Final = b"\0"


@dataclass(frozen=True, slots=True)
class Whole:
    """A reply that is made already."""

    data: bytes

    @property
    def size(self) -> int:
        """Its bytes."""
        return len(self.data)

    def chunks(self) -> Iterator[bytes]:
        """Its bytes, in parts."""
        yield self.data

    def close(self) -> None:
        """Nothing to release but what making it took, if it is large: of a list of names ten times its size."""
        if len(self.data) > CHUNK:
            release_memory()


class PartitionSpool:
    """Stored bytes of partitions, in order, on their way into a reply.

    Args:
        in_memory: bytes that stay in memory.
        share: of the room for long replies; None: there is room without an end.

    >>> spool = PartitionSpool()
    >>> spool.extend([[b"one"], [b"two"]])
    >>> spool.count, b"".join(spool.chunks())
    (2, b'onetwo')
    """

    __slots__ = ("_file", "_held", "_in_memory", "_parts", "_share", "count", "size")

    def __init__(self, in_memory: int = IN_MEMORY, share: ReplyShare | None = None) -> None:
        self._share = ReplyShare(UNBOUNDED) if share is None else share
        self._in_memory = in_memory
        self._parts: list[bytes] = []
        self._held = 0
        self._file: IO[bytes] | None = None
        self.count = 0
        self.size = 0

    def extend(self, batches: Iterable[Sequence[bytes]]) -> None:
        """Add partitions.

        Raises:
            ServerBusy: the reply is long, and there is no room for it.
            OSError: the temporary file cannot be written.
        """
        for batch in batches:
            self._parts += batch
            self.count += len(batch)
            added = sum(map(len, batch))
            self.size += added
            if self.size > FREE:
                leave_selector()  # it may have to wait for room
            self._share.grow(added)
            self._held += added
            if self._held > (self._in_memory if self._file is None else CHUNK):
                self._spill()

    def clear(self) -> None:
        """Begin anew, as a read that has to be repeated does."""
        self.close()
        self._share.grow(-self.size)
        self.count = self.size = 0

    def chunks(self) -> Iterator[bytes]:
        """The bytes in parts of about `CHUNK`, once."""
        if self._file is not None:
            self._file.seek(0)
            while data := self._file.read(CHUNK):
                yield data
        yield from _joined(self._parts)

    def close(self) -> None:
        """Release memory and file."""
        self._parts = []
        self._held = 0
        if self._file is not None:
            self._file.close()
            self._file = None
            release_memory()

    def _spill(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="hbstore-reply-", buffering=0)  # noqa: SIM115  until `close`
        for data in _joined(self._parts):
            view = memoryview(data)
            while view:
                view = view[self._file.write(view) :]
        self._parts = []
        self._held = 0


@dataclass(frozen=True, slots=True)
class PartitionList:
    """A result that holds a list of partitions: what stands before the list, the partitions, what stands behind.

    Attributes:
        spool: the partitions.
        before: within the result's value, such as the head of the field that holds the list.
        after: likewise.
    """

    spool: PartitionSpool
    before: bytes = b""
    after: bytes = b""

    def in_struct(self) -> PartitionList:
        """The same as the first field of a struct, which has no other fields."""
        return PartitionList(self.spool, _FIRST_LIST + self.before, self.after + _STOP)


@dataclass(frozen=True, slots=True)
class PartitionLists:
    """A result that holds several lists of partitions, one behind the other.

    Attributes:
        before: what stands before the first of them.
        lists: each with what stands around it.
        after: what stands behind the last of them.
    """

    before: bytes
    lists: tuple[PartitionList, ...]
    after: bytes


class Streamed:
    """A reply around lists of partitions, written as they are read from their spools."""

    __slots__ = ("_after", "_head", "_lists", "size")

    def __init__(self, head: bytes, lists: PartitionList | PartitionLists, after: bytes) -> None:
        if isinstance(lists, PartitionList):
            lists = PartitionLists(b"", (lists,), b"")
        self._head = head + lists.before
        self._after = lists.after + after
        self._lists = [
            (_begun(partition_list), partition_list.spool, partition_list.after) for partition_list in lists.lists
        ]
        inside = sum(len(before) + spool.size + len(behind) for before, spool, behind in self._lists)
        self.size = len(self._head) + inside + len(self._after)

    def chunks(self) -> Iterator[bytes]:
        """Its bytes, in parts; once."""
        if self.size <= CHUNK:
            yield b"".join(self._pieces())  # one packet for what is small
        else:
            yield from self._pieces()

    def close(self) -> None:
        """Release the partitions."""
        for _, spool, _ in self._lists:
            spool.close()

    def _pieces(self) -> Iterator[bytes]:
        between = self._head
        for before, spool, behind in self._lists:
            yield between + before
            yield from spool.chunks()
            between = behind
        yield between + self._after


Reply = Whole | Streamed


def _begun(partition_list: PartitionList) -> bytes:
    """What stands before the partitions of a list: their number is the last of it."""
    return partition_list.before + bytes((_STRUCT_CODE,)) + _UINT32.pack(partition_list.spool.count)


def _joined(parts: Sequence[bytes]) -> Iterator[bytes]:
    """Parts joined to pieces of about `CHUNK` bytes."""
    begin = held = 0
    for at, part in enumerate(parts, start=1):
        held += len(part)
        if held >= CHUNK:
            yield b"".join(parts[begin:at])
            begin, held = at, 0
    if begin < len(parts):
        yield b"".join(parts[begin:])
