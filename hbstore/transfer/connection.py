"""One connection to another metastore: a call's bytes go out, and what its reply holds comes back.

A reply in Thrift's binary protocol does not say how long it is, but no beginning of one is a whole one. So when nothing
more is there for the moment, and the last byte may be the last one of all, the reply is read; only if that fails, a
`Walker` looks whether it is cut off or no reply. Walking over every reply would take longer than reading it.
"""

from __future__ import annotations

import select
import socket
import struct
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from hbstore.errors import (
    HbstoreError,
    InvalidInput,
    InvalidUrl,
    MetastoreRefused,
    MetastoreUnavailable,
    ProtocolViolation,
)
from hbstore.thrift.messages import Refusal, read_head
from hbstore.thrift.walker import Walker
from hbstore.thrift.wire import I32, STRING, Struct, WireType, skip

PORT: Final = 9083
"""Where a metastore listens if its URI does not say."""

SECONDS: Final = 600.0
"""How long a reply may pause. A Hive Metastore adds a page of partitions on a slow file system in minutes."""

_MAX_REPLY: Final = 1 << 30
_FIRST: Final = 1 << 20
_CALL: Final = struct.Struct(">Ii")
_VERSION_AND_CALL: Final = 0x80010001
_VERSION_BYTE: Final = 0x80
_REPLY, _EXCEPTION = 2, 3
_UNREADABLE: Final = (ValueError, IndexError, TypeError, struct.error, InvalidInput)
_FIELD: Final = struct.Struct(">bh")
_EXPECTED: Final = "A reply in the binary protocol of Thrift is expected"
_AGAIN: Final = (
    "Check that the metastore runs, and repeat the command. It keeps what was copied, and continues from there"
)


@dataclass(frozen=True, slots=True)
class _Raised:
    """An exception of the service; in all of them the message is the first field."""

    message: str = ""
    type: int = 0


_RAISED: Final = Struct(_Raised, {1: ("message", STRING), 2: ("type", I32)})


@dataclass(frozen=True, slots=True)
class Address:
    """Where a metastore listens.

    >>> str(Address.of("thrift://127.0.0.1"))
    'thrift://127.0.0.1:9083'
    """

    host: str
    port: int

    @classmethod
    def of(cls, uri: str) -> Address:
        """The address in a URI.

        Raises:
            InvalidUrl: it is not ``thrift://host:port``.
        """
        try:
            parts = urlsplit(uri)
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        if parts.scheme != "thrift" or not parts.hostname or parts.path.strip("/") or parts.query:
            raise InvalidUrl(
                "the text is not the address of a metastore", url=uri, hint="Write it as thrift://host:9083"
            )
        return cls(parts.hostname, port or PORT)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"thrift://{host}:{self.port}"


class ClientConnection:
    """One connection, opened by the first call. For one thread at a time.

    Args:
        address: where the metastore listens.
        seconds: how long it may be silent.
    """

    def __init__(self, address: Address, seconds: float = SECONDS) -> None:
        self.address = address
        self._seconds = seconds
        self._socket: socket.socket | None = None
        self._buffer = bytearray(_FIRST)

    def close(self) -> None:
        """Close it; the next call opens another one."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def call(self, method: str, arguments: bytes, result: WireType | None = None) -> Any:
        """Call a method.

        Args:
            method: its name.
            arguments: the bytes of the struct of its arguments.
            result: the kind of what it returns; None where that is nothing, or nobody wants it.

        Raises:
            MetastoreUnavailable: nobody listens, the connection broke, or nothing came for too long.
            MetastoreRefused: it answered with an exception. ``fields["unknown"]`` says that it has no such method.
        """
        name = method.encode()
        message = _CALL.pack(_VERSION_AND_CALL, len(name)) + name + b"\0\0\0\1" + arguments
        try:
            return self._exchange(method, message, result)
        except OSError as error:
            self.close()
            raise MetastoreUnavailable(
                "the metastore does not answer", metastore=self.address, call=method, reason=error, hint=_AGAIN
            ) from error
        except MetastoreRefused:
            raise
        except ProtocolViolation as error:
            self.close()
            raise MetastoreRefused(
                "the metastore's reply cannot be read",
                metastore=self.address,
                call=method,
                reason=error,
                hint="Check that the server is a Hive Metastore without TLS, SASL and framed transport",
            ) from error
        except HbstoreError:  # what it holds cannot be here; who knows whether all of it came
            self.close()
            raise

    def _exchange(self, method: str, message: bytes, result: WireType | None) -> Any:
        if self._socket is None:
            self._socket = socket.create_connection((self.address.host, self.address.port), min(self._seconds, 30.0))
            self._socket.settimeout(self._seconds)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(message)
        walker, size = Walker(_MAX_REPLY), 0
        while True:
            size += self._receive(size)
            if self._buffer[0] != _VERSION_BYTE:
                raise ProtocolViolation(
                    "the reply begins with unexpected bytes",
                    beginning=bytes(self._buffer[: min(size, 16)]),
                    hint=_EXPECTED,
                )
            if self._buffer[size - 1] != 0 or self._has_more():
                continue
            with memoryview(self._buffer) as whole:
                data = bytes(whole[:size])
            try:
                return self._value(method, data, result)
            except _UNREADABLE as error:
                if walker.at < size and walker.walk(data):
                    raise ProtocolViolation("the reply cannot be decoded", reason=error, hint=_EXPECTED) from error

    def _receive(self, size: int) -> int:
        """Receive what is there, behind so many bytes; how many."""
        assert self._socket is not None
        if size > _MAX_REPLY:
            raise ProtocolViolation(
                "the reply is too large", limit=_MAX_REPLY, hint="Ask for fewer partitions at a time"
            )
        if size == len(self._buffer):
            self._buffer.extend(bytes(size))
        with memoryview(self._buffer) as whole:
            got = self._socket.recv_into(whole[size:])
        if not got:
            raise ConnectionResetError("the connection was closed")
        return got

    def _has_more(self) -> bool:
        """Whether something can be received at once; the end of the connection is nothing."""
        assert self._socket is not None
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return bool(poll.poll(0) and self._socket.recv(1, socket.MSG_PEEK))

    def _value(self, method: str, data: bytes, result: WireType | None) -> Any:
        """What a whole reply holds.

        Raises:
            ValueError, IndexError, struct.error: it is none, or cut off.
            MetastoreRefused: it is an exception.
        """
        head = read_head(data)
        if head.kind not in (_REPLY, _EXCEPTION) or head.name != method:
            raise ProtocolViolation(
                "the reply is for another method",
                method=head.name,
                kind=head.kind,
                hint="A reply names the method that was called",
            )
        at = head.body
        if head.kind == _EXCEPTION:
            raised = self._whole(data, _RAISED.read(data, at), 0)
            raise self._refused(method, raised.message, unknown=raised.type == Refusal.UNKNOWN_METHOD)
        if data[at] == 0:
            if result is not None:
                raise self._refused(method, "the reply holds no result")
            return None
        code, number = _FIELD.unpack_from(data, at)
        if number != 0:
            raised = self._whole(data, _RAISED.read(data, at + _FIELD.size), 1)
            raise self._refused(method, raised.message, exception=number)
        if result is None:
            self._whole(data, (None, skip(data, at + _FIELD.size, code)), 1)
            return None
        if code != result.code:
            raise ValueError("the result has another type")
        return self._whole(data, result.read(data, at + _FIELD.size), 1)

    @staticmethod
    def _whole(data: bytes, found: tuple[Any, int], stops: int) -> Any:
        """A value that was read, if nothing but the ends of structs stands behind it."""
        value, end = found
        if data[end : end + stops] != bytes(stops) or len(data) != end + stops:
            raise ValueError("the reply is longer than its result")
        return value

    def _refused(self, method: str, message: str, **fields: Any) -> MetastoreRefused:
        return MetastoreRefused(
            "the metastore refused the call",
            metastore=self.address,
            call=method,
            message=message,
            **fields,
            hint="The metastore's log says more",
        )
