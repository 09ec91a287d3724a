"""The bytes of databases, tables and partitions: the Hive Metastore's structs in Thrift's binary protocol.

What a partition's row gives is the very Partition struct that a metastore's reply holds, so a reply is a join of such
bytes. (`hbstore.transactions.templates` makes the rows smaller than that.)

Two things make it fast. Nothing is decoded before it is asked for: a listing makes `StoredPartition`s, which read
themselves when a field is read. And partitions of one table mostly share their storage but for the location: its
bytes are written once (`PartitionEncoder`) and recognised when they come again (`SharedStorage`).
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any, Final, SupportsIndex, TypeVar

from hbstore.errors import CorruptRow, HbstoreError, InvalidInput, InvalidPartitionValue
from hbstore.keys.partition_names import partition_namer
from hbstore.model.frozen import FrozenDict
from hbstore.model.layouts import (
    DATABASE,
    LOCATION_HEAD,
    PARAMETERS,
    PARTITION,
    PRIVILEGES,
    STORAGE,
    TABLE,
    SharedStorage,
    storage_around_location,
)
from hbstore.model.objects import Database, Partition, StorageDescriptor, Table
from hbstore.thrift.wire import STRING, Struct, field_head

T = TypeVar("T")
UNREADABLE: Final = (ValueError, IndexError, TypeError, struct.error, HbstoreError)
"""What reading bytes raises that are no such struct; UnicodeDecodeError is a ValueError."""
_UNWRITABLE = (ValueError, IndexError, TypeError, AttributeError, struct.error)
_FITTING: Final = "Texts must be UTF-8, numbers must fit into 32 bits, and parameters must map texts to texts"
(
    _VALUES_HEAD,
    _DATABASE_HEAD,
    _TABLE_HEAD,
    _CREATE_HEAD,
    _ACCESS_HEAD,
    _STORAGE_HEAD,
    _PARAMETERS_HEAD,
    _PRIVILEGES_HEAD,
) = (field_head(kind, number) for number, (_, kind) in PARTITION.fields.items())
VALUES_START: Final = _VALUES_HEAD + bytes((STRING.code,))
"""What a stored partition begins with; the number of its values follows, then each with its length before it."""
_NO_PARAMETERS: Final = PARAMETERS.write({})
_UINT32: Final = struct.Struct(">I")
_TIMES: Final = struct.Struct(">3si3si")
_FIELDS: Final = (
    "location",
    "parameters",
    "create_time",
    "last_access_time",
    "storage",
    "privileges",
    "later_fields",
)


def encode_database(database: Database) -> bytes:
    """The bytes of a database.

    Raises:
        InvalidInput: a field is of another type, too large, or not text that UTF-8 can carry.

    >>> decode_database(encode_database(Database("Shop"))).name
    'shop'
    """
    return encoded(database, lambda: DATABASE.write(database))


def decode_database(payload: bytes) -> Database:
    """The database of these bytes.

    Raises:
        CorruptRow: they are no Database struct.
    """
    return decoded("database", payload, DATABASE)


def encode_table(table: Table) -> bytes:
    """The bytes of a table.

    Raises:
        InvalidInput: a field is of another type, too large, or not text that UTF-8 can carry.

    >>> str(decode_table(encode_table(Table("shop", "sales"))))
    'shop.sales'
    """
    storage = replace(table.storage, columns=table.columns), table.location

    def write() -> bytes:
        sd = field_head(STORAGE, 7) + SharedStorage().write(storage)
        head, tail = TABLE.write_fields(table, range(1, 7)), TABLE.write_fields(table, range(8, 16))
        return head + sd + tail + TABLE.write_rest(table) + b"\0"

    return encoded(table, write)


def decode_table(payload: bytes) -> Table:
    """The table of these bytes.

    Raises:
        CorruptRow: they are no Table struct, or one of a table that cannot be.
    """
    return decoded("table", payload, TABLE)


class PartitionEncoder:
    """Turns partitions of one table into bytes; what they share is written once.

    Args:
        table: the table.
        created: the create time, in seconds since 1970, of partitions that have none.

    >>> from hbstore.model.objects import Column
    >>> table = Table("shop", "sales", partition_columns=[Column("ds", "date")], location="s3://shop/sales")
    >>> payload = PartitionEncoder(table).encode(Partition(values=["2013-01-01"]))
    >>> decode_partition(payload).location
    's3://shop/sales/ds=2013-01-01'
    """

    def __init__(self, table: Table, created: int = 0) -> None:
        self._table = table
        self._created = created
        self._columns = table.partition_column_names
        self._name = partition_namer(self._columns)
        self._root = None if table.location is None else table.location.rstrip("/")
        self._inherited = replace(table.storage, columns=table.columns)
        self._around: tuple[StorageDescriptor, bytes, bytes] | None = None
        self._names = _DATABASE_HEAD + STRING.write(table.database) + _TABLE_HEAD + STRING.write(table.name)

    def encode(self, partition: Partition) -> bytes:
        """The bytes of a partition. O(their number).

        A partition without a storage gets its table's; one without a location gets the table's location and its own
        name, if the table has one.

        Raises:
            InvalidPartitionValue: it has too many or too few values.
            InvalidInput: a field is of another type, too large, or not text that UTF-8 can carry.
        """
        if len(partition.values) != len(self._columns):
            raise InvalidPartitionValue(
                "the partition has too many or too few values",
                table=self._table,
                values=len(partition.values),
                hint=f"The partition columns are {', '.join(self._columns) or 'none'}",
            )
        return encoded(partition, lambda: self._bytes(partition))

    def _bytes(self, partition: Partition) -> bytes:
        head, tail = self._storage(partition.storage or self._inherited)
        location = partition.location
        if location is None and self._root is not None:
            location = f"{self._root}/{self._name(partition.values)}"
        parts = [VALUES_START, len(partition.values).to_bytes(4, "big")]
        for value in partition.values:  # what `STRINGS.write` does, written out: a million are added this way
            text = value.encode()
            parts += (len(text).to_bytes(4, "big"), text)
        parts += (
            self._names,
            _TIMES.pack(_CREATE_HEAD, partition.create_time or self._created, _ACCESS_HEAD, partition.last_access_time),
            head,
        )
        if location is not None:
            parts += (LOCATION_HEAD, STRING.write(location))
        parts += (
            tail,
            _PARAMETERS_HEAD,
            PARAMETERS.write(partition.parameters) if partition.parameters else _NO_PARAMETERS,
        )
        if partition.privileges is not None:
            parts += (_PRIVILEGES_HEAD, PRIVILEGES.write(partition.privileges))
        if partition.later_fields:
            parts.append(PARTITION.write_rest(partition))
        parts.append(b"\0")
        return b"".join(parts)

    def _storage(self, storage: StorageDescriptor) -> tuple[bytes, bytes]:
        """What stands around the location, from the last partition where that had the same storage."""
        if self._around is None or self._around[0] is not storage:
            head, tail = storage_around_location(storage)
            self._around = storage, _STORAGE_HEAD + head, tail
        return self._around[1:]


def encode_partition(table: Table, partition: Partition) -> bytes:
    """The bytes of one partition; `PartitionEncoder` is for many.

    Raises:
        InvalidPartitionValue: it has too many or too few values.
        InvalidInput: a field is of another type, too large, or not text that UTF-8 can carry.
    """
    return PartitionEncoder(table).encode(partition)


def decode_partition(payload: bytes) -> Partition:
    """The partition of these bytes, wholly decoded.

    Raises:
        CorruptRow: they are no Partition struct.
    """
    partition = partition_from_payload(payload)
    partition.location  # noqa: B018  reading a field decodes all of them
    return partition


def partition_values(payload: bytes) -> tuple[str, ...]:
    """The values of a partition's bytes, without decoding more.

    Raises:
        CorruptRow: they are no Partition struct, as far as they were read.
    """
    if not payload.startswith(VALUES_START):
        return decode_partition(payload).values
    # What `STRINGS.read` does, written out: names of 100,000 partitions are read this way.
    texts = []
    at, size = 8, _UINT32.unpack_from
    try:
        for _ in range(size(payload, 4)[0]):
            begin = at + 4
            at = begin + size(payload, at)[0]
            texts.append(payload[begin:at].decode())
        if at > len(payload):
            raise ValueError("the values are cut off")
    except UNREADABLE as error:
        raise _corrupt("partition", error) from error
    return tuple(texts)


class StoredPartition(Partition):
    """A partition whose fields still stand in its payload.

    The first read of a field finds its slot empty and fills all of them. Reading its values fills just their slot, as
    that is much cheaper.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name == "values":
            values = partition_values(self.payload or b"")
            object.__setattr__(self, name, values)
            return values
        if name not in _FIELDS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self._load(self.payload or b"")
        return getattr(self, name)

    def _load(self, payload: bytes) -> None:
        """Fill all fields. Threads that do it at once fill in the same."""
        fields = decoded("partition", payload, PARTITION)
        storage, location = fields.get("storage", (None, None))
        _put_values(self, fields["values"])
        _put_location(self, location)
        _put_parameters(self, fields.get("parameters") or FrozenDict())
        _put_create_time(self, fields.get("create_time", 0))
        _put_last_access_time(self, fields.get("last_access_time", 0))
        _put_storage(self, storage)
        _put_privileges(self, fields.get("privileges"))
        _put_later_fields(self, fields.get("later_fields", b""))

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        """Pickled as its bytes; a copy with other fields (`dataclasses.replace`) has none, and is pickled as it is."""
        if self.payload is None:
            return super().__reduce_ex__(protocol)
        return partition_from_payload, (self.payload,)


class PackedPartition(StoredPartition):
    """A stored partition of which what its row holds was read: that begins with its values, too.

    Its payload is unpacked when it is asked for, or a field that stands in it. `unpack` is one of the table's.
    """

    __slots__ = ("packed", "unpack")

    packed: bytes
    unpack: Callable[[bytes], bytes]

    def __getattr__(self, name: str) -> Any:
        if name == "values":
            values = partition_values(self.packed)
            object.__setattr__(self, name, values)
            return values
        if name == "payload":
            payload = self.unpack(self.packed)
            object.__setattr__(self, name, payload)
            return payload
        if name in _FIELDS:
            self._load(self.unpack(self.packed))  # and not kept, as few want both
            return getattr(self, name)
        return super().__getattr__(name)


# The slots of a frozen value, filled without asking each time which slot a name means.
(
    _put_values,
    _put_location,
    _put_parameters,
    _put_create_time,
    _put_last_access_time,
    _put_storage,
    _put_privileges,
    _put_later_fields,
    _put_payload,
) = (Partition.__dict__[name].__set__ for name in ("values", *_FIELDS, "payload"))
_put_packed: Final = PackedPartition.__dict__["packed"].__set__
_put_unpack: Final = PackedPartition.__dict__["unpack"].__set__


def partition_from_payload(payload: bytes) -> Partition:
    """The partition of these bytes, decoded when a field is read.

    Reading a field raises CorruptRow where the bytes are no Partition struct.
    """
    partition = object.__new__(StoredPartition)
    _put_payload(partition, payload)
    return partition


def partitions_from_payloads(payloads: Iterable[bytes]) -> list[Partition]:
    """The partitions of many payloads, in their order, each decoded when one of its fields is read.

    O(number), without a step of Python for each: a listing of 100,000 takes about 80 ms. Half of it goes to Python's
    garbage collector, which stays on: it is the whole process's, and a listing with its rows takes some 13 % longer.
    """
    given = list(payloads)
    made: list[Partition] = list(map(object.__new__, repeat(StoredPartition, len(given))))
    deque(map(_put_payload, made, given), maxlen=0)
    return made


def packed_partitions(stored: Sequence[bytes], unpack: Callable[[bytes], bytes]) -> list[Partition]:
    """The partitions of many rows as these hold them, in their order; each is unpacked when its payload is needed.

    As fast as `partitions_from_payloads`, and a listing of 100,000 of which few are looked at unpacks just these.
    """
    made: list[Partition] = list(map(object.__new__, repeat(PackedPartition, len(stored))))
    deque(map(_put_packed, made, stored), maxlen=0)
    deque(map(_put_unpack, made, repeat(unpack)), maxlen=0)
    return made


def encoded(value: object, write: Callable[[], bytes], hint: str = _FITTING) -> bytes:
    """What a function writes of a value.

    Raises:
        InvalidInput: a field cannot be written.
    """
    try:
        return write()
    except _UNWRITABLE as error:
        raise InvalidInput("a field cannot be stored", kind=type(value).__name__, reason=error, hint=hint) from error


def decoded(kind: str, payload: bytes, layout: Struct[T]) -> T:
    """The value of a payload.

    Args:
        kind: what it is, for people.
        payload: the bytes, to their end.
        layout: how to read them.

    Raises:
        CorruptRow: they are no such struct.
    """
    try:
        value, end = layout.read(payload, 0)
        if end != len(payload):
            raise ValueError(f"{len(payload) - end} bytes follow the end of the struct")
    except UNREADABLE as error:
        raise _corrupt(kind, error) from error
    return value


def _corrupt(kind: str, error: Exception) -> CorruptRow:
    return CorruptRow(
        "the stored bytes cannot be decoded", kind=kind, reason=error, hint="Run `hbstore check` to list all such rows"
    )
