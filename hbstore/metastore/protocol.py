"""The service's methods as service.thrift has them: how arguments are read and results are written.

thriftpy2 reads the IDL and makes a class of each struct and exception (`THRIFT.LockRequest`, `THRIFT.MetaException`).
The bytes are read and written by `hbstore.thrift.wire`, for the reasons that stand there. Where the IDL names a struct
that is stored, its arguments arrive as hbstore's own value (`Table`, `Database`, `SentPartition`), and results may be
given as such a value or as its stored bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hbstore.model.frozen import FrozenDict
from hbstore.model.layouts import DATABASE, GRANT, PARTITION, PRIVILEGES, TABLE, SharedStorage
from hbstore.model.objects import Column, Partition
from hbstore.model.service_structs import FUNCTION
from hbstore.model.structs import encode_database, encode_table
from hbstore.thrift.kinds import ReadyStruct, StructKinds, load_idl
from hbstore.thrift.methods import methods_of
from hbstore.thrift.wire import BINARY, I64, SET, STRING, ListOf, Struct, WireType, field_head

_FOLDER: Final = Path(__file__).parent
THRIFT: Final = load_idl(_FOLDER / "service.thrift", "hbstore_metastore_thrift", includes=[_FOLDER.parent])
"""What thriftpy2 made of the IDL: its structs and exceptions as classes."""


@dataclass(frozen=True, slots=True)
class SentPartition:
    """A partition as a client sends it: with the names of its database and table."""

    database: str | None
    table: str | None
    partition: Partition


def _column(name: str = "", type: str = "", comment: str | None = None) -> Column:
    """A column in a request may be named only."""
    return Column(name, type, comment)


def _given_partition(
    database: str | None = None,
    table: str | None = None,
    values: tuple[str, ...] = (),
    storage: tuple[Any, str | None] = (None, None),
    **fields: Any,
) -> SentPartition:
    return SentPartition(database, table, Partition(values, storage=storage[0], location=storage[1], **fields))


def _stored_bytes(value: Any) -> bytes:
    """A partition's stored bytes; one that was not read from a store has none."""
    payload: bytes | None = value.payload
    if payload is None:
        raise TypeError("only stored partitions can be sent")
    return payload


def _read_table(data: bytes, at: int) -> tuple[Any, int]:
    """A table as a client sends it; one without a name is refused for its name."""
    fields, end = TABLE.read_fields(data, at)
    return TABLE.make(**{"database": "", "name": "", **fields}), end


_TXNS: Final = ListOf(I64)
_OPEN_TXNS: Final[Struct[dict[str, Any]]] = Struct(
    dict,
    {
        1: ("txn_high_water_mark", I64),
        2: ("open_txns", ListOf(I64, SET)),
        3: ("min_open_txn", I64),
        4: ("abortedBits", BINARY),
    },
)


def _open_txns_in_both_forms(value: Any) -> bytes:
    """A reply whose field 2 is there twice, as clients pass over a field that is of another type than they expect.

    Hive 2.3 has a set of open transactions, later versions have a list under the same number.
    """
    fields = _OPEN_TXNS.write(value)[:-1]
    if value.open_txns is not None:
        fields += field_head(_TXNS, 2) + _TXNS.write(value.open_txns)
    return fields + b"\0"


_STORED: Final[Mapping[str, WireType]] = {
    "Database": ReadyStruct(DATABASE.read, encode_database),
    "CreateDatabaseRequest": ReadyStruct(DATABASE.read, encode_database),  # the same fields, and kept like those
    "GetOpenTxnsResponse": ReadyStruct(_OPEN_TXNS.read, _open_txns_in_both_forms),
    "Table": ReadyStruct(_read_table, encode_table),
    "Partition": ReadyStruct(Struct(_given_partition, PARTITION.fields, rest=PARTITION.rest).read, _stored_bytes),
    "FieldSchema": Struct(_column, {1: ("name", STRING), 2: ("type", STRING), 3: ("comment", STRING)}),
    "StorageDescriptor": SharedStorage(),
    "PrincipalPrivilegeSet": PRIVILEGES,
    "PrivilegeGrantInfo": GRANT,
    "Function": FUNCTION,
}


_KINDS: Final = StructKinds(_STORED, FrozenDict)
struct_kind: Final = _KINDS.struct
"""The kind of a struct of the IDL, given as thriftpy2's class of it."""

METHODS: Final = methods_of(THRIFT.ThriftHiveMetastore, _KINDS, optional={THRIFT.EnvironmentContext})
"""The methods that service.thrift has, by name."""
