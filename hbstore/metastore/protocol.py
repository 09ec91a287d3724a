"""The service's methods as service.thrift has them: how arguments are read and results are written.

thriftpy2 reads the IDL and makes a class of each struct and exception (`THRIFT.LockRequest`, `THRIFT.MetaException`).
The bytes are read and written by `hbstore.wire`, for the reasons that stand there. Where the IDL names a struct that is
stored, its arguments arrive as hbstore's own value (`Table`, `Database`, `GivenPartition`), and results may be given as
such a value or as its stored bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import thriftpy2
from thriftpy2.thrift import TException, TType

from hbstore.layouts import DATABASE, GRANT, PARTITION, PRIVILEGES, TABLE, SharedStorage
from hbstore.model import Column, FrozenDict, Partition
from hbstore.service_structs import FUNCTION
from hbstore.structs import encode_database, encode_table
from hbstore.wire import BINARY, BOOL, DOUBLE, I16, I32, I64, SET, STRING, ListOf, MapOf, Struct, WireType, field_head

_FOLDER: Final = Path(__file__).parent
THRIFT: Final[Any] = thriftpy2.load(
    str(_FOLDER / "service.thrift"), module_name="hbstore_metastore_thrift", include_dirs=[str(_FOLDER.parent)]
)
"""What thriftpy2 made of the IDL: its structs and exceptions as classes."""

_SUCCESS: Final = 0
_STOP: Final = b"\0"
_STRUCT: Final = 12
_TEXTS: Final = ListOf(STRING)
_TEXTS_HEAD: Final = bytes((STRING.code,))
_SIZES: Final = [size.to_bytes(4, "big").decode("ascii") for size in range(128)]
"""What stands before a text of so many bytes, as far as that is ASCII."""

_SIMPLE: Final[Mapping[int, WireType]] = {
    TType.STRING: STRING,
    TType.BINARY: BINARY,
    TType.BOOL: BOOL,
    TType.DOUBLE: DOUBLE,
    TType.I16: I16,
    TType.I32: I32,
    TType.I64: I64,
}


@dataclass(frozen=True, slots=True)
class GivenPartition:
    """A partition as a client sends it: with the names of its database and table."""

    database: str | None
    table: str | None
    partition: Partition


@dataclass(frozen=True, slots=True)
class StoredStruct:
    """The kind of a struct that is stored: written from its bytes or from a value.

    Attributes:
        read: as of every kind.
        encode: the bytes of a value.
    """

    read: Callable[[bytes, int], tuple[Any, int]]
    encode: Callable[[Any], bytes]
    code: int = _STRUCT

    def write(self, value: Any) -> bytes:
        """From stored bytes, as they are, or from a value."""
        return value if isinstance(value, bytes) else self.encode(value)


@dataclass(frozen=True, slots=True)
class Texts:
    r"""list<string>, of which there may be 100,000: ASCII texts of less than 128 characters are written all at once.

    >>> Texts().write(["ds=1"]), Texts().write(["é"])
    (b'\x0b\x00\x00\x00\x01\x00\x00\x00\x04ds=1', b'\x0b\x00\x00\x00\x01\x00\x00\x00\x02\xc3\xa9')
    """

    code: int = _TEXTS.code

    def read(self, data: bytes, at: int) -> tuple[tuple[str, ...], int]:
        """A tuple of str."""
        return _TEXTS.read(data, at)

    def write(self, value: Sequence[str]) -> bytes:
        """From a sequence of str."""
        try:
            text = "".join([_SIZES[len(one)] + one for one in value]).encode("ascii")
        except (IndexError, UnicodeEncodeError):
            return _TEXTS.write(value)
        return _TEXTS_HEAD + len(value).to_bytes(4, "big") + text


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the service.

    Attributes:
        name: as on the wire.
        arguments: reads an object with the arguments as attributes; those that were not sent are None.
        success: the kind of its result; None where it returns nothing.
        exceptions: the exceptions that it declares, each with what stands before it in a result.
        oneway: clients do not wait for an answer.
        needed: the arguments without which a call says nothing: those that are structs, but for the context.
    """

    name: str
    arguments: Struct[Any]
    success: WireType | None
    exceptions: tuple[tuple[type[Exception], bytes, WireType], ...]
    oneway: bool
    needed: tuple[str, ...] = ()

    @property
    def success_head(self) -> bytes:
        """What stands before a result's value."""
        assert self.success is not None
        return field_head(self.success, _SUCCESS)

    def result(self, value: Any) -> bytes:
        """The bytes of a result.

        Raises:
            ValueError, TypeError, AttributeError, struct.error: the value is not of the declared type.
        """
        if self.success is None:
            return _STOP
        return self.success_head + self.success.write(value) + _STOP

    def failure(self, error: Exception) -> bytes | None:
        """The bytes of a result that is a declared exception; None where the method does not declare it."""
        for declared, head, kind in self.exceptions:
            if isinstance(error, declared):
                return head + kind.write(error) + _STOP
        return None

    def declares(self, exception: type[Exception]) -> bool:
        """Whether the method may answer with an exception."""
        return any(declared is exception for declared, _, _ in self.exceptions)


def _column(name: str = "", type: str = "", comment: str | None = None) -> Column:
    """A column in a request may be named only."""
    return Column(name, type, comment)


def _given_partition(
    database: str | None = None,
    table: str | None = None,
    values: tuple[str, ...] = (),
    storage: tuple[Any, str | None] = (None, None),
    **fields: Any,
) -> GivenPartition:
    return GivenPartition(database, table, Partition(values, storage=storage[0], location=storage[1], **fields))


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


_STORED: Final[Mapping[str, WireType]] = {
    "Database": StoredStruct(DATABASE.read, encode_database),
    "Table": StoredStruct(_read_table, encode_table),
    "Partition": StoredStruct(Struct(_given_partition, PARTITION.fields, rest=PARTITION.rest).read, _stored_bytes),
    "FieldSchema": Struct(_column, {1: ("name", STRING), 2: ("type", STRING), 3: ("comment", STRING)}),
    "StorageDescriptor": SharedStorage(),
    "PrincipalPrivilegeSet": PRIVILEGES,
    "PrivilegeGrantInfo": GRANT,
    "Function": FUNCTION,
}


@cache
def struct_kind(made: type) -> WireType:
    """The kind of a struct of the IDL, given as thriftpy2's class of it."""
    stored = _STORED.get(made.__name__)
    if stored is not None:
        return stored
    fields = {
        number: (spec[1], _kind(spec[0], spec[2] if len(spec) > 3 else None))  # noqa: PLR2004
        for number, spec in sorted(made.thrift_spec.items())  # type: ignore[attr-defined]
    }
    return Struct(made, fields)


def _kind(code: int, inner: Any) -> WireType:
    """The kind of a type as thriftpy2 gives it: a code, and of containers and structs what is inside."""
    if code == TType.STRUCT:
        return struct_kind(inner)
    if code == TType.LIST and inner == TType.STRING:
        return Texts()
    if code in (TType.LIST, TType.SET):
        return ListOf(_item(inner), *([SET] if code == TType.SET else []))
    if code == TType.MAP:
        return MapOf(_item(inner[0]), _item(inner[1]), FrozenDict)
    return _SIMPLE[code]


def _item(given: Any) -> WireType:
    """The kind of a container's items: a bare code, or a pair of a code and what is inside."""
    return _kind(*given) if isinstance(given, tuple) else _kind(given, None)


def _methods() -> dict[str, Method]:
    service = THRIFT.ThriftHiveMetastore
    made = {}
    for name in service.thrift_services:
        result = getattr(service, f"{name}_result")
        exceptions = []
        success = None
        for number, spec in sorted(result.thrift_spec.items()):
            kind = _kind(spec[0], spec[2] if len(spec) > 3 else None)  # noqa: PLR2004
            if number == _SUCCESS:
                success = kind
            elif issubclass(spec[2], TException):
                exceptions.append((spec[2], field_head(kind, number), kind))
        given = getattr(service, f"{name}_args")
        arguments = struct_kind(given)
        assert isinstance(arguments, Struct)
        structs = [spec for spec in given.thrift_spec.values() if spec[0] == TType.STRUCT]
        needed = tuple(spec[1] for spec in structs if spec[2] is not THRIFT.EnvironmentContext)
        made[name] = Method(name, arguments, success, tuple(exceptions), oneway=result.oneway, needed=needed)
    return made


METHODS: Final = _methods()
"""The methods that service.thrift has, by name."""
