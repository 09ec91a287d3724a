"""Which batches of a stream a table has: what makes a batch that is written again change nothing.

A stream is a query and the place in it that writes, its sink. For each stream that writes into a table there is a row
of the catalog, ``S table-id key``, with the last batches and the digests of their rows. It stays with the table when
that is renamed, goes when it is dropped, and is never met by the next table of its name.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from hbstore.errors import CorruptRow, StreamConflict
from hbstore.keys.row_key import successor
from hbstore.rows.damage import RESTORE

REMEMBERED: Final = 16
"""Batches of a stream whose digests are kept; Spark writes only the last one again."""

_NONE: Final = -1


@dataclass(frozen=True, slots=True)
class Stream:
    """What writes batches.

    Attributes:
        query: the query's id, which stays the same when it is started again.
        sink: which of the query's writers it is.

    >>> print(Stream("4e5f", "shop.sales"))
    4e5f/shop.sales
    """

    query: str
    sink: str

    @property
    def key(self) -> str:
        """A name for it of 32 letters and digits. O(1).

        >>> len(Stream("4e5f", "shop.sales").key)
        32
        """
        return blake2b(f"{self.query}\0{self.sink}".encode(), digest_size=16).hexdigest()

    def __str__(self) -> str:
        return f"{self.query}/{self.sink}"


@dataclass(frozen=True, slots=True)
class StreamBatch:
    """A batch and what is in it.

    Attributes:
        stream: whose it is.
        number: from 0, rising.
        digest: equal for equal rows.

    >>> StreamBatch(Stream("4e5f", "shop.sales"), 7, "a1").number
    7
    """

    stream: Stream
    number: int
    digest: str


@dataclass(frozen=True, slots=True, repr=False)
class StreamRecord:
    """The batches of a stream that a table has.

    Attributes:
        stream: the stream.
        digests: those of the last batches, by number, rising.

    >>> record = StreamRecord(Stream("4e5f", "shop.sales"), ((7, "a1"),))
    >>> record.last, record.has(StreamBatch(record.stream, 7, "a1")), record.has(StreamBatch(record.stream, 8, "b2"))
    (7, True, False)
    """

    stream: Stream
    digests: tuple[tuple[int, str], ...] = ()

    def __repr__(self) -> str:
        return f"<StreamRecord of {self.stream}: last batch {self.last}>"

    @property
    def last(self) -> int:
        """The last batch's number; -1 if there is none.

        >>> StreamRecord(Stream("4e5f", "shop.sales")).last
        -1
        """
        return self.digests[-1][0] if self.digests else _NONE

    def has(self, batch: StreamBatch) -> bool:
        """Whether the table has a batch.

        Raises:
            StreamConflict: it has one of that number with other rows, or cannot tell any more.

        >>> record = StreamRecord(Stream("4e5f", "shop.sales"), ((7, "a1"),))
        >>> record.has(StreamBatch(record.stream, 7, "b2"))
        Traceback (most recent call last):
        hbstore.errors.StreamConflict: the batch was already written with other rows: ...
        """
        if batch.number > self.last:
            return False
        digest = dict(self.digests).get(batch.number)
        if digest == batch.digest:
            return True
        if digest is None:
            raise StreamConflict(
                "the batch is older than the table's record of the stream",
                stream=self.stream,
                batch=batch.number,
                last=self.last,
                hint="The checkpoint was reset to an old state. Start a new one that continues after the last batch",
            )
        raise StreamConflict(
            "the batch was already written with other rows",
            stream=self.stream,
            batch=batch.number,
            written=digest,
            found=batch.digest,
            hint="The rows of the first write stay. The source or the query returns other rows when it runs again: "
            "remove random values and the current time from the query, or start with a new checkpoint",
        )

    def after(self, batch: StreamBatch) -> StreamRecord:
        """The record once a batch was written; the same one where it is written again, however late.

        >>> record = StreamRecord(Stream("4e5f", "shop.sales"), ((7, "a1"),))
        >>> record.after(StreamBatch(record.stream, 8, "b2")).digests
        ((7, 'a1'), (8, 'b2'))
        """
        if batch.number <= self.last:
            return self
        return StreamRecord(self.stream, (*self.digests, (batch.number, batch.digest))[-REMEMBERED:])

    def encode(self) -> bytes:
        """JSON.

        >>> StreamRecord(Stream("4e5f", "shop.sales"), ((7, "a1"),)).encode()
        b'{"query":"4e5f","sink":"shop.sales","batches":[[7,"a1"]]}'
        """
        content = {"query": self.stream.query, "sink": self.stream.sink, "batches": self.digests}
        return json.dumps(content, separators=(",", ":")).encode()

    @staticmethod
    def decode(stream: Stream, data: bytes) -> StreamRecord:
        """The record of `encode`'s bytes; one without batches of no bytes.

        Raises:
            CorruptRow: they are not.

        >>> record = StreamRecord(Stream("4e5f", "shop.sales"), ((7, "a1"),))
        >>> StreamRecord.decode(record.stream, record.encode()) == record
        True
        """
        if not data:
            return StreamRecord(stream)
        try:
            found = json.loads(data)
            return StreamRecord(stream, tuple((int(number), str(digest)) for number, digest in found["batches"]))
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptRow("the record of a stream cannot be decoded", stream=stream, hint=RESTORE) from error


def record_key(table_id: bytes, stream: Stream) -> bytes:
    """The row of a stream's record."""
    return record_keys(table_id)[0] + stream.key.encode()


def record_keys(table_id: bytes) -> tuple[bytes, bytes]:
    """The range of the rows of all records of a table, and of all tables' of the empty id."""
    start = b"S" + table_id
    return start, successor(start)


def owner_of(key: bytes) -> bytes:
    """The id of the table of a stream's record, by its key."""
    return key[1 : -len(_ANY.key)]


def check_stream_record(key: bytes, state: bytes) -> None:
    """See that a row is that of a stream's record.

    Raises:
        CorruptRow: its key or its state is none.
    """
    try:
        document = json.loads(state)
        stream = Stream(document["query"], document["sink"])
    except (ValueError, KeyError, TypeError) as error:
        raise CorruptRow("the record of a stream cannot be decoded", key=key.hex(), hint=RESTORE) from error
    StreamRecord.decode(stream, state)
    if record_key(owner_of(key), stream) != key:
        raise CorruptRow("the row key is not that of the stream in it", stream=stream, hint=RESTORE)


_ANY: Final = Stream("", "")
