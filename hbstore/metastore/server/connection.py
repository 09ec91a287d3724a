"""One connection: calls are read, answered and their replies written, until the client goes.

The server's own thread answers a short call that is there as a whole, and never waits for a client. Everything else is
left to another thread, which may wait. So the socket blocks while another thread has it, and only then. (A flag of each
call would do the same, MSG_DONTWAIT, but macOS ignores it where something is sent.)

Whatever goes wrong ends this connection and no other, and is logged in one line.
"""

from __future__ import annotations

import logging
import socket
import struct
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from hbstore.errors import ProtocolViolation
from hbstore.metastore.calls import ClientSession, Endpoint
from hbstore.metastore.replies import Reply
from hbstore.metastore.server.strangers import hint_for
from hbstore.metastore.short_calls import LongCall
from hbstore.thrift.budget import Budget
from hbstore.thrift.framing import MessageReader, ReadLimits
from hbstore.thrift.messages import read_head
from hbstore.thrift.sockets import MAX_FRAME, prepare, send

WRITE_TIMEOUT: Final = 60.0
"""Seconds after which a client that takes nothing of its reply is cut off."""

_LOG: Final = logging.getLogger("hbstore.metastore.server.connection")
_FRAME: Final = struct.Struct(">i")
_TOO_LARGE: Final = "If you trust the client, raise --max-message"
_Outcome = TypeVar("_Outcome", bound=bool | None)


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """What a connection may do.

    Attributes:
        read: what it may send, and when.
        write_timeout: seconds after which a client that takes nothing of its reply is cut off.
    """

    read: ReadLimits = field(default_factory=ReadLimits)
    write_timeout: float = WRITE_TIMEOUT


class ServedConnection:
    """A client's connection, served by one thread at a time.

    Args:
        sock: connected.
        client: the address at the other end.
        endpoint: answers.
        limits: what the client may do.
        budget: the memory for large messages.

    Attributes:
        answering: a call is under way.

    Raises:
        OSError: the connection is broken already.
    """

    __slots__ = (
        "_client",
        "_endpoint",
        "_idle_since",
        "_message",
        "_reader",
        "_session",
        "_sock",
        "_unsent",
        "answering",
    )

    def __init__(
        self,
        sock: socket.socket,
        client: str,
        endpoint: Endpoint,
        limits: ConnectionLimits,
        budget: Budget,
    ) -> None:
        self._sock = sock
        self._client = client
        self._endpoint = endpoint
        self._session = ClientSession(client)
        self._idle_since: float | None = time.monotonic()
        self._message: bytes | None = None  # a call that `serve_short` left to `serve`
        self._unsent = b""  # of a reply, likewise
        self.answering = False
        prepare(sock, limits.write_timeout)
        sock.setblocking(False)
        self._reader = MessageReader(sock, replace(limits.read, too_large=_TOO_LARGE, strangers=hint_for), budget)

    def serve(self) -> bool:
        """Answer the calls that have come, and wait for what is missing; whether the connection goes on."""
        self._sock.setblocking(True)
        goes_on = self._served(self._answer_calls)
        self._sock.setblocking(False)
        return goes_on

    def serve_short(self, short: frozenset[str]) -> bool | None:
        """Answer a call if it is short and all of it has come, without waiting for the client.

        Args:
            short: the methods whose calls are short.

        Returns:
            Whether the connection goes on; None if `serve` has to be called, which may take long.
        """
        return self._served(lambda: self._answer_short(short))

    def _served(self, answer: Callable[[], _Outcome]) -> _Outcome | bool:
        """What a function says, or False after the error that ends the connection."""
        self._idle_since = None
        try:
            return answer()
        except ProtocolViolation as error:
            _LOG.warning("refused", extra=self._told(error.text, **error.fields, hint=error.hint))
        except OSError as error:
            _LOG.info("cut off", extra=self._told(error.strerror or str(error) or type(error).__name__))
        finally:
            self._idle_since = time.monotonic()
        return False

    def close(self) -> None:
        """Close it, after the last `serve`."""
        self._sock.close()

    def end_if_idle(self, seconds: float) -> None:
        """Called by another thread: end it if no call has come for so long."""
        since = self._idle_since
        if since is not None and time.monotonic() - since >= seconds:
            _LOG.info("cut off", extra=self._told("the client was silent for too long"))
            self.cut()

    def end(self) -> None:
        """Called by another thread: no more calls; one that is under way is still answered."""
        self._shut(socket.SHUT_RD)

    def cut(self) -> None:
        """Called by another thread: nothing more at all."""
        self._shut(socket.SHUT_RDWR)

    def _answer_short(self, short: frozenset[str]) -> bool | None:
        reader = self._reader
        try:
            message = reader.read_small()
        except BlockingIOError:
            return True  # it was a false alarm
        if not message:
            return None if message is None else False
        self.answering = True
        try:
            if not _is_short(message, short):
                raise LongCall  # noqa: TRY301  as it may be found out later, too
            reply = self._reply(message)
        except LongCall:
            self._message = message
            return None
        if reply is not None and not self._write_at_once(reply):
            return None
        self.answering = False
        return None if reader.has_more else True

    def _answer_calls(self) -> bool:
        reader = self._reader
        try:
            if self._unsent:
                self._send((self._unsent,), len(self._unsent))
                self._unsent = b""
                self.answering = False
                if not reader.has_more:
                    return True
            while (message := self._next_message()) is not None:
                self.answering = True
                reply = self._reply(message)
                del message
                reader.release()
                if reply is not None:
                    self._write(reply, framed=reader.framed)
                self.answering = False
                if not reader.has_more:
                    return True
        finally:
            reader.release()
        return False

    def _next_message(self) -> bytes | None:
        message, self._message = self._message, None
        return self._reader.read() if message is None else message

    def _reply(self, message: bytes) -> Reply | None:
        try:
            return self._endpoint.answer(self._session, message)
        except (ValueError, IndexError, struct.error) as error:
            raise ProtocolViolation(
                "the message is not a call of the Hive Metastore",
                reason=error,
                hint="Send calls as hive_metastore.thrift describes them, in the binary protocol",
            ) from error

    def _write(self, reply: Reply, *, framed: bool) -> None:
        try:
            self._send(_in_frame(reply) if framed else reply.chunks(), reply.size)
        finally:
            reply.close()

    def _write_at_once(self, reply: Reply) -> bool:
        """Send what the system takes of a reply; whether that is all of it."""
        data = b"".join(_in_frame(reply) if self._reader.framed else reply.chunks())
        reply.close()
        try:
            sent = self._sock.send(data)
        except BlockingIOError:
            sent = 0
        self._unsent = data[sent:]
        return not self._unsent

    def _send(self, chunks: Iterable[bytes], size: int) -> None:
        for chunk in chunks:
            send(self._sock, chunk, size)

    def _shut(self, how: int) -> None:
        try:
            self._sock.shutdown(how)
        except OSError:
            return  # it is over already

    def _told(self, why: str, **fields: object) -> dict[str, Any]:
        given = {name: value for name, value in fields.items() if value is not None}
        return {"fields": {"client": self._client, "why": why, **given}}


def _is_short(message: bytes, short: frozenset[str]) -> bool:
    try:
        return read_head(message).name in short
    except (ValueError, IndexError, struct.error):
        return False  # `serve` says what is wrong with it


def _in_frame(reply: Reply) -> Iterator[bytes]:
    """A reply behind its size."""
    if reply.size > MAX_FRAME:
        raise ProtocolViolation(
            "a reply does not fit in a frame",
            size=reply.size,
            hint="Set hive.metastore.thrift.framed.transport.enabled to false at the client",
        )
    head = _FRAME.pack(reply.size)
    for chunk in reply.chunks():
        yield head + chunk
        head = b""
