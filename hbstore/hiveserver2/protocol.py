r"""The methods of TCLIService, as tcliservice.thrift has them; its numbers that have a meaning, and its handles.

`THRIFT` has a class of each struct: ``THRIFT.TOpenSessionResp(sessionHandle=…)``. A TTableSchema and a TRowSet may also
be given as their bytes, as results are made in columns.

>>> METHODS["GetQueryId"].result(THRIFT.TGetQueryIdResp(queryId="5f"))
b'\x0c\x00\x00\x0b\x00\x01\x00\x00\x00\x025f\x00\x00'
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any, Final

from hbstore.thrift.kinds import ReadyStruct, StructKinds, load_idl
from hbstore.thrift.methods import methods_of
from hbstore.thrift.wire import WireType

THRIFT: Final = load_idl(Path(__file__).parent / "tcliservice.thrift", "hbstore_hiveserver2_thrift")
"""What thriftpy2 made of the IDL: its structs as classes."""

_HANDLE_SIZE: Final = 16
_PLAIN: Final = StructKinds({})


def _ready(struct: type) -> WireType:
    kind = _PLAIN.struct(struct)
    return ReadyStruct(kind.read, kind.write)


_READY: Final[Mapping[str, WireType]] = {
    "TTableSchema": _ready(THRIFT.TTableSchema),
    "TRowSet": _ready(THRIFT.TRowSet),
}
METHODS: Final = methods_of(THRIFT.TCLIService, StructKinds(_READY))
"""The methods that tcliservice.thrift has, by name."""

RESPONSES: Final[Mapping[str, Any]] = {
    name: getattr(THRIFT.TCLIService, f"{name}_result").thrift_spec[0][2] for name in METHODS
}
"""The struct that each method answers with, as a class, by the method's name."""


def lacking(struct: Any) -> str | None:
    """The first required field that a struct lacks, or that a struct within it lacks; None if all were sent.

    >>> lacking(THRIFT.TCloseSessionReq(sessionHandle=THRIFT.TSessionHandle()))
    'sessionHandle.sessionId'
    """
    for name, required in _REQUIRED[type(struct)]:
        value = getattr(struct, name)
        if value is None:
            if required:
                return name
        elif type(value) in _REQUIRED:
            inner = lacking(value)
            if inner is not None:
                return f"{name}.{inner}"
    return None


def _fields(struct: Any) -> tuple[tuple[str, bool], ...]:
    """The fields that may be lacking: those that are required, and those that are structs."""
    specs = struct.thrift_spec.values()
    return tuple((spec[1], spec[-1]) for spec in specs if spec[-1] or isinstance(spec[2], type))


_REQUIRED: Final = {
    struct: _fields(struct)
    for name, struct in vars(THRIFT).items()
    if isinstance(struct, type) and hasattr(struct, "thrift_spec")
}


@dataclass(frozen=True, slots=True)
class Handle:
    """What a client sends to name a session or an operation.

    Attributes:
        guid: sixteen bytes that name it.
        secret: sixteen that only its client knows, so that nobody guesses it.

    >>> handle = Handle.new()
    >>> handle.opens(handle), Handle(handle.guid, bytes(16)).opens(handle)
    (True, False)
    """

    guid: bytes
    secret: bytes = field(repr=False)

    @staticmethod
    def new() -> Handle:
        """A handle that no other has."""
        return Handle(secrets.token_bytes(_HANDLE_SIZE), secrets.token_bytes(_HANDLE_SIZE))

    @property
    def text(self) -> str:
        """The name in hexadecimal digits."""
        return self.guid.hex()

    def opens(self, other: Handle) -> bool:
        """Whether this is the other handle, secret and all."""
        return self.guid == other.guid and hmac.compare_digest(self.secret, other.secret)


class StatusCode(IntEnum):
    """Of TStatus: how a call went."""

    SUCCESS = 0
    SUCCESS_WITH_INFO = 1
    STILL_EXECUTING = 2
    ERROR = 3
    INVALID_HANDLE = 4


class ProtocolVersion(IntEnum):
    """Of OpenSession: which version of the protocol each side speaks. From V6 on, rows come in columns."""

    V1 = 0
    V2 = 1
    V3 = 2
    V4 = 3
    V5 = 4
    V6 = 5
    V7 = 6
    V8 = 7
    V9 = 8
    V10 = 9
    V11 = 10


class OperationType(IntEnum):
    """Of TOperationHandle: what the operation is."""

    EXECUTE_STATEMENT = 0
    GET_TYPE_INFO = 1
    GET_CATALOGS = 2
    GET_SCHEMAS = 3
    GET_TABLES = 4
    GET_TABLE_TYPES = 5
    GET_COLUMNS = 6
    GET_FUNCTIONS = 7
    UNKNOWN = 8


class OperationState(IntEnum):
    """Of GetOperationStatus: how far an operation is."""

    INITIALIZED = 0
    RUNNING = 1
    FINISHED = 2
    CANCELED = 3
    CLOSED = 4
    ERROR = 5
    UNKNOWN = 6
    PENDING = 7
    TIMED_OUT = 8


class JobExecutionStatus(IntEnum):
    """Of TProgressUpdateResp: whether there is a bar of progress to draw."""

    IN_PROGRESS = 0
    COMPLETE = 1
    NOT_AVAILABLE = 2


class FetchOrientation(IntEnum):
    """Of FetchResults: which rows."""

    NEXT = 0
    PRIOR = 1
    RELATIVE = 2
    ABSOLUTE = 3
    FIRST = 4
    LAST = 5


class FetchType(IntEnum):
    """Of FetchResults: rows, or lines of the operation's log."""

    ROWS = 0
    LOG = 1


class InfoType(IntEnum):
    """Of GetInfo: what is asked; those that drivers ask, and their neighbours that the server knows."""

    SERVER_NAME = 13
    SEARCH_PATTERN_ESCAPE = 14
    DBMS_NAME = 17
    DBMS_VERSION = 18
    IDENTIFIER_QUOTE_CHAR = 29
    MAX_COLUMN_NAME_LENGTH = 30
    MAX_SCHEMA_NAME_LENGTH = 32
    MAX_TABLE_NAME_LENGTH = 35
    USER_NAME = 47
    ODBC_KEYWORDS = 10006
