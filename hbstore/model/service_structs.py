"""The bytes of functions, and of what stands beside a table or partition (its companion), in Thrift's binary protocol.

A function's bytes are the Hive Metastore's Function struct. A companion's are a struct of hbstore's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hbstore.model.service_objects import ColumnStatistic, Function, Resource
from hbstore.model.structs import decoded, encoded
from hbstore.thrift.wire import BINARY, I32, I64, STRING, ListOf, Struct

_FITTING: Final = "Texts must be UTF-8, and numbers must fit their field"


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
    return encoded(function, lambda: FUNCTION.write(function), _FITTING)


def decode_function(payload: bytes) -> Function:
    """The function of these bytes.

    Raises:
        CorruptRow: they are no Function struct.
    """
    return decoded("function", payload, FUNCTION)


def encode_companion(companion: Companion) -> bytes:
    """The bytes of a companion.

    Raises:
        InvalidInput: a field is of another type, too large, or not text that UTF-8 can carry.
    """
    return encoded(companion, lambda: _COMPANION.write(companion), _FITTING)


def decode_companion(payload: bytes) -> Companion:
    """The companion of these bytes.

    Raises:
        CorruptRow: they are none.
    """
    return decoded("companion", payload, _COMPANION)
