"""The bytes of functions, and of what stands beside a table or partition (its companion), in Thrift's binary protocol.

A function's bytes are the Hive Metastore's Function struct. A companion's are a struct of hbstore's own.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from hbstore.errors import CorruptRow, InvalidInput
from hbstore.service_model import ColumnStatistic, Function, Resource
from hbstore.structs import UNREADABLE
from hbstore.wire import BINARY, I32, I64, STRING, ListOf, Struct

T = TypeVar("T")
_UNWRITABLE: Final = (ValueError, IndexError, TypeError, AttributeError, struct.error)


@dataclass(frozen=True, slots=True)
class Companion:
    """What is known about a table or a partition besides itself.

    Attributes:
        statistics: at most one for each column, in order of the columns' names.
        events: kinds of events that it was marked for, rising.
    """

    statistics: tuple[ColumnStatistic, ...] = ()
    events: tuple[int, ...] = ()


NOTHING: Final = Companion()
"""The companion of a table or partition about which nothing is known; it is not stored."""


def _resource(type: int = 1, uri: str = "") -> Resource:
    return Resource(type, uri)


FUNCTION: Final = Struct(
    Function,
    {
        1: ("name", STRING),
        2: ("database", STRING),
        3: ("class_name", STRING),
        4: ("owner", STRING),
        5: ("owner_type", I32),
        6: ("create_time", I32),
        7: ("function_type", I32),
        8: ("resources", ListOf(Struct(_resource, {1: ("type", I32), 2: ("uri", STRING)}))),
    },
    rest="later_fields",
)
_STATISTIC: Final = Struct(
    ColumnStatistic, {1: ("column", STRING), 2: ("type", STRING), 3: ("data", BINARY), 4: ("analyzed", I64)}
)
_COMPANION: Final = Struct(Companion, {1: ("statistics", ListOf(_STATISTIC)), 2: ("events", ListOf(I32))})


def encode_function(function: Function) -> bytes:
    """The bytes of a function.

    Raises:
        InvalidInput: a field is of another type, too large, or not text that UTF-8 can carry.

    >>> decode_function(encode_function(Function("shop", "tax", "org.shop.Tax"))).class_name
    'org.shop.Tax'
    """
    return _encoded(FUNCTION, function)


def decode_function(payload: bytes) -> Function:
    """The function of these bytes.

    Raises:
        CorruptRow: they are no Function struct.
    """
    return _decoded("function", FUNCTION, payload)


def encode_companion(companion: Companion) -> bytes:
    """The bytes of a companion.

    Raises:
        InvalidInput: a field is of another type, too large, or not text that UTF-8 can carry.
    """
    return _encoded(_COMPANION, companion)


def decode_companion(payload: bytes) -> Companion:
    """The companion of these bytes.

    Raises:
        CorruptRow: they are none.
    """
    return _decoded("companion", _COMPANION, payload)


def _encoded(layout: Struct[Any], value: object) -> bytes:
    try:
        return layout.write(value)
    except _UNWRITABLE as error:
        raise InvalidInput(
            "a field cannot be stored",
            kind=type(value).__name__,
            reason=error,
            hint="Texts must be UTF-8, and numbers must fit their field",
        ) from error


def _decoded(kind: str, layout: Struct[T], payload: bytes) -> T:
    try:
        value, end = layout.read(payload, 0)
        if end != len(payload):
            raise ValueError(f"{len(payload) - end} bytes follow the end of the struct")
    except UNREADABLE as error:
        raise CorruptRow(
            "the stored bytes cannot be decoded",
            kind=kind,
            reason=error,
            hint="Run `hbstore check`: it lists all damaged rows",
        ) from error
    return value
