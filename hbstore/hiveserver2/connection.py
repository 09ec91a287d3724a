"""One connection of a driver, served by a thread of its own until the driver goes.

The first byte tells how the driver speaks: SASL, after which messages come in frames; bare messages; or HTTP. In the
first two a session ends with the connection that opened it.

All that goes wrong ends this connection and no other, and is logged in one line.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import struct
import time
from dataclasses import dataclass, field
from typing import Any, Final

from hbstore.errors import HbstoreError, ProtocolViolation
from hbstore.hiveserver2.calls import Client, DriverEndpoint
from hbstore.hiveserver2.http_transport import HttpConnection, HttpLimits
from hbstore.hiveserver2.sasl import START, Negotiation
from hbstore.query_service.access import Access
from hbstore.thrift.budget import Budget
from hbstore.thrift.framing import PIECE, MessageReader, ReadLimits
from hbstore.thrift.messages import Refusal, read_head, refusal
from hbstore.thrift.sockets import MAX_FRAME, close_after_last_words, limit_reads, prepare, send

MAX_MESSAGE: Final = 16 * 1024 * 1024
"""Bytes of one call: statements are its only large part, and shorter."""

MAX_ELEMENTS: Final = 100_000
"""Elements of one call, such as settings: many come from no driver, and would need memory."""

LOGIN_SECONDS: Final = 30.0
"""Seconds that the beginning of a connection may take, or the head of a request over HTTP."""

HTTP_IDLE: Final = 300.0
"""Seconds that a connection over HTTP stays without a request; drivers open another."""

WRITE_TIMEOUT: Final = 60.0

_LOG: Final = logging.getLogger("hbstore.hiveserver2.connection")
_SIZE: Final = struct.Struct(">i")
_BARE: Final = 0x80
_TLS: Final = 0x16
_SHOWN: Final = 8
_LEAST: Final = 0.001
"""Seconds of a wait; none at all would be a wait for ever."""

_UNREADABLE: Final = (ValueError, IndexError, struct.error)


@dataclass(frozen=True, slots=True)
class DriverConnectionLimits:
    """What a connection may do.

    Attributes:
        read: what it may send, and when.
        login_seconds: how long the beginning of a connection may take, or the head of a request over HTTP.
        http_idle: seconds that a connection over HTTP may be silent between requests.
        write_timeout: seconds after which a client that takes nothing of its reply is cut off.
    """

    read: ReadLimits = field(default_factory=lambda: ReadLimits(message=MAX_MESSAGE, elements=MAX_ELEMENTS))
    login_seconds: float = LOGIN_SECONDS
    http_idle: float = HTTP_IDLE
    write_timeout: float = WRITE_TIMEOUT


class DriverConnection:
    """A driver's connection.

    Args:
        sock: connected.
        address: of the other end.
        endpoint: answers.
        access: who may log in.
        limits: what the client may do.
        budget: the memory for large messages.
        refused: why the client is turned away, which it is told in its own protocol; None if it is served.

    Raises:
        OSError: the connection is broken already.
    """

    __slots__ = ("_access", "_address", "_budget", "_endpoint", "_limits", "_refused", "_sock")

    def __init__(
        self,
        sock: socket.socket,
        address: str,
        endpoint: DriverEndpoint[Any],
        access: Access,
        limits: DriverConnectionLimits,
        budget: Budget,
        refused: HbstoreError | None = None,
    ) -> None:
        self._sock = sock
        self._address = address
        self._endpoint = endpoint
        self._access = access
        self._limits = limits
        self._budget = budget
        self._refused = refused
        prepare(sock, limits.write_timeout)

    def serve(self) -> None:
        """Serve the connection until it is over, and close it."""
        try:
            self._serve()
        except OSError as error:
            _LOG.info("cut off", extra=self._told(error.strerror or str(error) or type(error).__name__))
        except HbstoreError as error:
            _LOG.warning("refused", extra=self._told(error.text, **error.fields, hint=error.hint))
        except Exception:  # noqa: BLE001  a bug: it ends this connection, and the server goes on
            _LOG.exception("a connection failed")
        finally:
            self._sock.close()

    def end(self) -> None:
        """Called by another thread: no more calls; one that is under way is still answered."""
        self._shut(socket.SHUT_RD)

    def cut(self) -> None:
        """Called by another thread: nothing more at all."""
        self._shut(socket.SHUT_RDWR)

    def _serve(self) -> None:
        until = time.monotonic() + self._limits.login_seconds
        first = self._receive(until)
        if not first:
            return
        if first[0] == START:
            self._serve_sasl(first, until)
        elif first[0] == _BARE:
            self._serve_messages(
                Client(self._address), first, framed=False, until=until if self._access.tokens else None
            )
        elif first[:1].isalpha():
            self._serve_http(first)
        else:
            raise ProtocolViolation(
                "the client speaks another protocol", begins=first[:_SHOWN].hex(), hint=_hint(first)
            )

    def _receive(self, until: float) -> bytes:
        self._wait_for_login(until)
        try:
            return self._sock.recv(PIECE)
        except BlockingIOError:
            raise TimeoutError("the client took too long to log in") from None

    def _wait_for_login(self, until: float) -> None:
        """Let the next read end when the client must have logged in."""
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the client took too long to log in")
        limit_reads(self._sock, max(left, _LEAST))

    # SASL, then frames

    def _serve_sasl(self, data: bytes, until: float) -> None:
        negotiation = Negotiation(self._login)
        while True:
            reply = negotiation.receive(data)
            if reply:
                send(self._sock, reply, len(reply))
            if negotiation.is_over:
                break
            data = self._receive(until)
            if not data:
                raise ConnectionAbortedError("the connection ended within a login")
        if negotiation.refused is not None:
            close_after_last_words(self._sock)
            raise negotiation.refused
        client = Client(self._address, negotiation.user, negotiation.password)
        self._serve_messages(client, negotiation.rest, framed=True)

    def _login(self, user: str, password: str) -> str | None:
        if self._refused is not None:
            raise self._refused
        return self._access.login(user, password)

    # Messages, bare or in frames

    def _serve_messages(self, client: Client, pending: bytes, *, framed: bool, until: float | None = None) -> None:
        """Answer messages.

        Args:
            client: who sends them.
            pending: what was received already.
            framed: whether they come in frames.
            until: when the client must have opened a session, by the monotonic clock; None if it has logged in.
        """
        reader = MessageReader(self._sock, self._limits.read, self._budget, framed=framed, pending=pending)
        try:
            if self._refused is not None:
                self._turn_away(reader)
            while data := self._next_piece(reader, until):
                if self._answer_quickly(reader, data):
                    continue
                self._answer(client, reader)
                if until is not None and client.sessions:
                    until = None
                    limit_reads(self._sock, self._limits.read.read_timeout)
        finally:
            reader.release()
            self._endpoint.gone(client)

    def _next_piece(self, reader: MessageReader, until: float | None) -> bytes:
        """The beginning of the next message; b"" where the client is gone."""
        if until is not None:
            self._wait_for_login(until)
            return reader.peek()
        began = None
        while True:
            try:
                return reader.peek()
            except TimeoutError:
                idle = self._limits.read.idle_timeout
                began = began or time.monotonic() - self._limits.read.read_timeout
                if idle is not None and time.monotonic() - began >= idle:
                    raise

    def _answer_quickly(self, reader: MessageReader, data: bytes) -> bool:
        """Answer calls whose replies are kept, as long as one follows the other; whether there was one.

        Drivers send one for each row that their program reads, so nothing else is done between two of them.

        Args:
            reader: gets what comes behind them.
            data: what has come.
        """
        quick = self._endpoint.quick.in_frames if reader.framed else self._endpoint.quick
        receive, send_all = self._sock.recv, self._sock.sendall
        answered = False
        while (reply := quick(data)) is not None:
            send_all(reply)
            answered = True
            try:
                data = receive(PIECE)
            except (BlockingIOError, ConnectionResetError):
                data = b""  # the client is silent for long, or gone: the reader finds out
        reader.resume(data)
        return answered

    def _answer(self, client: Client, reader: MessageReader) -> None:
        message = reader.read()
        assert message is not None, "there is something to read"
        try:
            reply = self._endpoint.answer(client, message)
        except _UNREADABLE as error:
            raise _no_call(error) from error
        del message
        reader.release()
        self._write(reply, framed=reader.framed)

    def _write(self, reply: bytes, *, framed: bool) -> None:
        if framed:
            if len(reply) > MAX_FRAME:
                raise ProtocolViolation("a reply does not fit in a frame", size=len(reply), hint="Fetch fewer rows")
            reply = _SIZE.pack(len(reply)) + reply
        send(self._sock, reply, len(reply))

    def _turn_away(self, reader: MessageReader) -> None:
        """Answer the first call with the reason why there will be no more."""
        assert self._refused is not None
        message = reader.read()
        if message is not None:
            try:
                head = read_head(message)
            except _UNREADABLE as error:
                raise _no_call(error) from error
            self._write(refusal(head, Refusal.INTERNAL_ERROR, str(self._refused)), framed=reader.framed)
            close_after_last_words(self._sock)
        raise self._refused

    # HTTP

    def _serve_http(self, first: bytes) -> None:
        read = self._limits.read
        limits = HttpLimits(read.message, read.elements, self._limits.login_seconds, self._limits.http_idle)
        limit_reads(self._sock, min(read.read_timeout, limits.head_seconds, limits.idle_seconds))
        HttpConnection(
            self._sock, self._address, self._endpoint.answer, self._access, limits, self._budget, self._refused
        ).serve(first)

    def _shut(self, how: int) -> None:
        with contextlib.suppress(OSError):  # it is over already
            self._sock.shutdown(how)

    def _told(self, why: str, **fields: object) -> dict[str, Any]:
        told = {name: value for name, value in fields.items() if value is not None}
        return {"fields": {"client": self._address, "why": why, **told}}


def _no_call(error: Exception) -> ProtocolViolation:
    return ProtocolViolation(
        "the message is not a call of HiveServer2", reason=error, hint="Use a HiveServer2 driver, as of Hive 2.3 to 4"
    )


def _hint(first: bytes) -> str:
    if first[0] == _TLS:
        return "The client speaks TLS: leave ssl=true out of the URL"
    return "Use a HiveServer2 driver; its auth may be plain or noSasl, its transport binary or http"
