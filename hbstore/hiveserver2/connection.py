"""One connection of a driver: the first byte tells how the driver speaks.

That is SASL, after which messages come in frames; bare messages; or HTTP, which another server takes over. In the first
two a session ends with the connection that opened it.
"""

from __future__ import annotations

import socket
import struct
import time
from typing import Any, Final

from hbstore.errors import HbstoreError, ProtocolViolation
from hbstore.hiveserver2.calls import Client, DriverEndpoint
from hbstore.hiveserver2.sasl import START, Negotiation
from hbstore.query_service.access import Access
from hbstore.servers.bounds import Bound, BoundReached
from hbstore.servers.connection import REFUSED_SECONDS, ClientSocket, no_room
from hbstore.servers.framing import PIECE, MessageReader, too_slow
from hbstore.servers.http import HttpDialogue, HttpServer
from hbstore.servers.limits import ServerLimits
from hbstore.servers.memory import Budget
from hbstore.servers.sockets import close_after_last_words, limit_reads, send
from hbstore.thrift.messages import Refusal, read_head, refusal

_BARE: Final = 0x80
_TLS: Final = 0x16
_SHOWN: Final = 8
_LEAST: Final = 0.001
"""Seconds of a wait; none at all would be a wait for ever."""

_UNREADABLE: Final = (ValueError, IndexError, struct.error)


class DriverDialogue:
    """A driver's calls on one connection.

    Args:
        connection: the driver's.
        endpoint: answers.
        access: who may log in.
        limits: what the driver may do.
        budget: the memory for large messages.
        http: serves drivers that speak HTTP.
    """

    __slots__ = (
        *("_access", "_budget", "_client", "_connection", "_endpoint", "_http", "_limits", "_over_http", "_reader"),
        "_until",
    )

    def __init__(
        self,
        connection: ClientSocket,
        endpoint: DriverEndpoint[Any],
        access: Access,
        limits: ServerLimits,
        budget: Budget,
        http: HttpServer,
    ) -> None:
        self._connection = connection
        self._endpoint = endpoint
        self._access = access
        self._limits = limits
        self._budget = budget
        self._http = http
        self._client = Client(connection.address)
        self._over_http: HttpDialogue | None = None  # once it is known that it does
        self._reader: MessageReader | None = None  # once it is known how the driver speaks
        seconds = limits.login_seconds
        if connection.refused:
            connection.patience = seconds = min(seconds, REFUSED_SECONDS)
        self._until: float | None = time.monotonic() + seconds  # when it must have logged in; None: it has

    def serve_short(self) -> bool | None:
        """Take what has come of a call, and hand over who speaks HTTP; every whole call may wait for Spark."""
        try:
            if self._over_http is None and self._reader is None:
                self._look_how()
            if self._over_http is None and (self._reader is None or self._reader.gather()):
                return None
        except BlockingIOError:
            return True  # it was a false alarm
        except (HbstoreError, OSError):
            return None  # `serve` says what is wrong, and closes the driver's sessions
        if self._over_http is not None:
            return self._over_http.serve_short()
        if self._until is None:
            self._connection.expect(self._limits.read.read_timeout, too_slow())
        else:
            self._connection.expect(self._until - time.monotonic(), _late())
        return True

    def serve(self) -> bool:
        """Answer calls until the driver goes, or pauses; whether the connection goes on."""
        if self._over_http is not None:
            return self._over_http.serve()
        goes_on = False
        try:
            if self._reader is None:
                self._reader = self._begin()
            goes_on = self._reader is not None and self._answer_calls(self._reader)
        finally:
            if self._reader is not None:
                self._reader.release()
            if not goes_on:
                self._endpoint.closed(self._client)
        return goes_on

    def _look_how(self) -> None:
        """Find out by the first byte whether the driver speaks HTTP, or sends bare messages."""
        first = self._connection.sock.recv(1, socket.MSG_PEEK)
        if first.isalpha():
            self._over_http = HttpDialogue(self._connection, self._http, self._limits)
        elif first[:1] == bytes((_BARE,)):
            self._reader = self._bare()

    def _begin(self) -> MessageReader | None:
        """Let the driver log in; None where nothing more is to be read here."""
        first = self._receive(1, socket.MSG_PEEK)
        if not first:
            return None
        if first[0] == START:
            return self._log_in()
        if first[0] == _BARE:
            return self._bare()
        begins = self._receive(_SHOWN, socket.MSG_PEEK)
        raise ProtocolViolation("the client speaks another protocol", begins=begins.hex(), hint=_hint(first))

    def _bare(self) -> MessageReader:
        """Messages without a login before them; with tokens, OpenSession is one."""
        if not self._access.tokens:
            self._until = None
        return self._messages(framed=False)

    def _log_in(self) -> MessageReader:
        """SASL, after which messages come in frames."""
        negotiation = Negotiation(self._login)
        while not negotiation.is_over:
            data = self._receive(PIECE)
            if not data:
                raise ConnectionAbortedError("the connection ended within a login")
            reply = negotiation.receive(data)
            if reply:
                send(self._connection.sock, reply, len(reply))
        if negotiation.refused is not None:
            close_after_last_words(self._connection.sock)
            raise negotiation.refused
        self._client.user, self._client.password = negotiation.user, negotiation.password
        self._client.logins.add((negotiation.user or "", negotiation.password or ""))
        self._until = None
        return self._messages(framed=True, pending=negotiation.rest)

    def _login(self, user: str, password: str) -> str | None:
        if self._connection.refused:
            raise self._no_room()
        return self._access.login(user, password)

    def _messages(self, *, framed: bool, pending: bytes = b"") -> MessageReader:
        self._connection.patience = self._limits.read.idle_timeout
        return MessageReader(self._connection.sock, self._limits.read, self._budget, framed=framed, pending=pending)

    def _receive(self, size: int, flags: int = 0) -> bytes:
        self._wait_for_login()
        try:
            return self._connection.sock.recv(size, flags)
        except BlockingIOError:
            raise _late() from None

    def _wait_for_login(self) -> None:
        """Let the next read end when the driver must have logged in."""
        assert self._until is not None
        left = self._until - time.monotonic()
        if left <= 0:
            raise _late()
        limit_reads(self._connection.sock, max(left, _LEAST))

    def _answer_calls(self, reader: MessageReader) -> bool:
        """Answer calls; whether the connection goes on, as it does where the driver pauses between two of them."""
        if self._connection.refused:
            self._turn_away(reader)
        quick = self._endpoint.quick.in_frames if reader.framed else self._endpoint.quick
        peek, send_all = reader.peek, self._connection.sock.sendall
        while True:
            try:
                if self._until is not None:
                    self._wait_for_login()
                data = peek()
            except TimeoutError:
                if self._until is not None:
                    raise
                return True
            if (reply := quick(data)) is not None:  # drivers ask at each row, so nothing else is done for such a call
                reader.pass_over()
                send_all(reply)
                continue
            if not data:
                return False
            self._answer(reader)
            if self._until is not None and self._client.sessions:  # a bare connection logs in by OpenSession
                self._until = None
                limit_reads(self._connection.sock, self._limits.read.read_timeout)

    def _answer(self, reader: MessageReader) -> None:
        message = reader.read()
        assert message is not None, "there is something to read"
        for login in self._client.logins:  # its token may have been taken out of the file meanwhile
            self._access.login(*login)
        self._connection.answering = True
        try:
            reply = self._endpoint.answer(self._client, message)
        except _UNREADABLE as error:
            raise _no_call(error) from error
        del message
        reader.release()
        self._connection.write((reply,), len(reply), framed=reader.framed)
        self._connection.answering = False

    # Drivers that there is no room for

    def _no_room(self) -> HbstoreError:
        return no_room(self._limits.connections)

    def _turn_away(self, reader: MessageReader) -> None:
        """Answer the first call with the reason why there will be no more."""
        message = reader.read()
        if message is not None:
            try:
                head = read_head(message)
            except _UNREADABLE as error:
                raise _no_call(error) from error
            reply = refusal(head, Refusal.INTERNAL_ERROR, str(self._no_room()))
            self._connection.write((reply,), len(reply), framed=reader.framed)
            close_after_last_words(self._connection.sock)
        raise self._no_room()


def _late() -> BoundReached:
    return BoundReached(Bound.LOGIN, "the client took too long to log in")


def _no_call(error: Exception) -> ProtocolViolation:
    return ProtocolViolation(
        "the message is not a call of HiveServer2", reason=error, hint="Use a HiveServer2 driver, as of Hive 2.3 to 4"
    )


def _hint(first: bytes) -> str:
    if first[0] == _TLS:
        return "The client speaks TLS: leave ssl=true out of the URL"
    return "Use a HiveServer2 driver; its auth may be plain or noSasl, its transport binary or http"
