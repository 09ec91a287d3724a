r"""The methods of TCLIService, as tcliservice.thrift has them.

`THRIFT` has a class of each struct: ``THRIFT.TOpenSessionResp(sessionHandle=…)``. A TTableSchema and a TRowSet may also
be given as their bytes, as results are made in columns.

>>> METHODS["GetQueryId"].result(THRIFT.TGetQueryIdResp(queryId="5f"))
b'\x0c\x00\x00\x0b\x00\x01\x00\x00\x00\x025f\x00\x00'
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hbstore.thrift.kinds import ReadyStruct, StructKinds, load_idl
from hbstore.thrift.methods import methods_of
from hbstore.wire import WireType

THRIFT: Final = load_idl(Path(__file__).parent / "tcliservice.thrift", "hbstore_hiveserver2_thrift")
"""What thriftpy2 made of the IDL: its structs as classes."""

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
