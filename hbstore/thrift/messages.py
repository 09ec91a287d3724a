r"""Messages of Thrift's binary protocol: the head of a call, and the heads of replies.

A message is a head (version and kind, name, sequence id) and one struct: the arguments of a call, the result of a
reply. Clients of old write the head without a version; both are read, and replies have one.

>>> call = read_head(b"\x80\x01\x00\x01\x00\x00\x00\x07getName\x00\x00\x00\x05\x00")
>>> call.name, call.sequence, call.body
('getName', 5, 19)
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from hbstore.thrift.wire import I32, STRING, Struct

_INT32: Final = struct.Struct(">i")
_VERSION: Final = 0x80010000
_VERSION_MASK: Final = 0xFFFF0000
_CALL, _REPLY, _EXCEPTION, _ONEWAY = 1, 2, 3, 4
_MAX_NAME: Final = 256


class Refusal(IntEnum):
    """The kinds of a TApplicationException, as Thrift numbers them."""

    UNKNOWN_METHOD = 1
    INVALID_MESSAGE_TYPE = 2
    INTERNAL_ERROR = 6
    PROTOCOL_ERROR = 7


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a call.

    Attributes:
        name: the method.
        sequence: the client's number of this call, which the reply repeats.
        kind: 1 for a call, 4 for one that is not answered.
        body: where the arguments begin.
    """

    name: str
    sequence: int
    kind: int
    body: int

    @property
    def is_call(self) -> bool:
        """Whether a client may send this; the other kinds are a server's."""
        return self.kind in (_CALL, _ONEWAY)


@dataclass(frozen=True, slots=True)
class _ApplicationException:
    message: str
    type: int


_APPLICATION_EXCEPTION: Final = Struct(_ApplicationException, {1: ("message", STRING), 2: ("type", I32)})


def read_head(message: bytes) -> Head:
    """The head of a whole message.

    Raises:
        ValueError, IndexError, struct.error: this is no message.
    """
    first = _INT32.unpack_from(message, 0)[0]
    if first < 0:
        if first & _VERSION_MASK != _VERSION & _VERSION_MASK:
            raise ValueError("another version of the protocol")
        name, at = STRING.read(message, 4)
        return Head(name, _INT32.unpack_from(message, at)[0], first & 0xFF, at + 4)
    if first > _MAX_NAME:
        raise ValueError("the name cannot be the name of a method")
    name, at = STRING.read(message, 0)
    return Head(name, _INT32.unpack_from(message, at + 1)[0], message[at], at + 5)


def reply_head(call: Head) -> bytes:
    """What stands before the result of a call."""
    return _head(call, _REPLY)


def refusal(call: Head, kind: Refusal, text: str) -> bytes:
    """A whole reply that is a TApplicationException."""
    return _head(call, _EXCEPTION) + _APPLICATION_EXCEPTION.write(_ApplicationException(text, kind))


def _head(call: Head, kind: int) -> bytes:
    return _INT32.pack((_VERSION | kind) - (1 << 32)) + STRING.write(call.name) + _INT32.pack(call.sequence)
