"""TCLIService over HTTP: a message in the body of each POST, and its reply in the body of the response.

A login stands in each request (Basic), and sessions do not end with a connection. No browser has a reason to come here:
a request with an Origin, of another type, or to a name that is not the server's is refused.
"""

from __future__ import annotations

import base64
import binascii
import io
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import h11

from hbstore.errors import AccessRefused, HbstoreError, ProtocolViolation, RequestRefused
from hbstore.hiveserver2.calls import Client
from hbstore.query_service.access import Access
from hbstore.thrift.budget import FREE, Budget, Share, weight
from hbstore.thrift.sockets import close_after_last_words, send
from hbstore.thrift.walker import Walker

MEDIA_TYPE: Final = b"application/x-thrift"
MAX_HEAD: Final = 16 * 1024
"""Bytes of a request's line and headers."""

_PIECE: Final = 64 * 1024
_WHAT_THIS_IS: Final = (
    "This is hbstore's port for SQL drivers: jdbc:hive2://HOST:PORT/;transportMode=http;httpPath=cliservice\n"
)
_HINT: Final = "Send calls by POST to /cliservice, as the Hive JDBC driver does with transportMode=http"
_REASONS: Final = {
    200: b"OK",
    400: b"Bad Request",
    401: b"Unauthorized",
    403: b"Forbidden",
    405: b"Method Not Allowed",
    408: b"Request Timeout",
    413: b"Content Too Large",
    415: b"Unsupported Media Type",
    503: b"Service Unavailable",
}
_MORE_HEADERS: Final = {401: [("WWW-Authenticate", 'Basic realm="hbstore"')], 405: [("Allow", "POST")]}


class _Refusal(Exception):
    """A request that is answered with a status and a text, after which the connection ends."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """What a connection may do.

    Attributes:
        body: bytes of a request's body.
        elements: of all containers of a call together.
        head_seconds: how long a request's line and headers may take.
        idle_seconds: how long a connection may be silent between requests.
    """

    body: int
    elements: int
    head_seconds: float
    idle_seconds: float


class HttpConnection:
    """One connection, from its first bytes to its end.

    Args:
        sock: blocking, with a limit of the time that a read waits.
        address: the client's.
        answer: the reply to a client's message.
        access: who may ask.
        limits: what the client may do.
        budget: the memory for large messages.
        refused: why no request is answered; None if they are.
    """

    __slots__ = ("_access", "_address", "_answer", "_budget", "_http", "_limits", "_refused", "_sock")

    def __init__(
        self,
        sock: socket.socket,
        address: str,
        answer: Callable[[Client, bytes], bytes],
        access: Access,
        limits: HttpLimits,
        budget: Budget,
        refused: HbstoreError | None = None,
    ) -> None:
        self._sock = sock
        self._address = address
        self._answer = answer
        self._access = access
        self._limits = limits
        self._budget = budget
        self._refused = refused
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD)

    def serve(self, received: bytes) -> None:
        """Answer requests until the connection is over.

        Args:
            received: the connection's first bytes.

        Raises:
            ProtocolViolation, AccessRefused, RequestRefused: a request was refused, and the client was told.
            TimeoutError: the client was silent for too long.
            OSError: the connection broke.
        """
        self._http.receive_data(received)
        try:
            while self._serve_one():
                self._http.start_next_cycle()
        except _Refusal as refusal:
            self._refuse(refusal.status, str(refusal))
            raise ProtocolViolation(str(refusal), status=refusal.status, hint=_HINT) from None
        except AccessRefused as error:
            self._refuse(401, str(error))
            raise
        except RequestRefused as error:
            self._refuse(403, str(error))
            raise
        except h11.RemoteProtocolError as error:
            self._refuse(error.error_status_hint if error.error_status_hint in _REASONS else 400, str(error))
            raise ProtocolViolation("the request is not valid HTTP", reason=error, hint=_HINT) from None

    def _serve_one(self) -> bool:
        """Answer a request; whether the connection goes on."""
        request = self._request()
        if request is None:
            return False
        if request.method in (b"GET", b"HEAD"):
            self._read_body(0)
            is_head = request.method == b"HEAD"
            self._send(200, _WHAT_THIS_IS.encode(), "text/plain; charset=utf-8", head=is_head, last=True)
            return False
        client = self._checked(request)
        if self._http.they_are_waiting_for_100_continue:
            send(self._sock, self._http.send(h11.InformationalResponse(status_code=100, headers=[])) or b"", 0)
        share = Share(self._budget)
        try:
            message = self._message(share)
            try:
                reply = self._answer(client, message)
            except (ValueError, IndexError) as error:
                raise _Refusal(400, f"the body is not a call of TCLIService: {error}") from None
        finally:
            share.release()
        self._send(200, reply, MEDIA_TYPE.decode())
        return self._goes_on()

    def _goes_on(self) -> bool:
        return self._http.our_state is h11.DONE and self._http.their_state is h11.DONE

    def _request(self) -> h11.Request | None:
        """The next request without its body; None where the client is gone."""
        began, silent = time.monotonic(), not self._http.trailing_data[0]
        while True:
            event = self._http.next_event()
            if isinstance(event, h11.Request):
                return event
            if event is not h11.NEED_DATA:
                return None  # the connection is closed
            limit = self._limits.idle_seconds if silent else self._limits.head_seconds
            try:
                data = self._sock.recv(_PIECE)
            except ConnectionResetError:
                return None
            except BlockingIOError:
                data = None
            now = time.monotonic()
            if data is not None:
                if silent:
                    silent, began = False, now
                self._http.receive_data(data)
            if now - began > limit:
                raise TimeoutError("the client was silent for too long" if silent else "a request came too slowly")

    def _checked(self, request: h11.Request) -> Client:
        """Who sends a request, if it may be answered.

        Raises:
            _Refusal, AccessRefused, RequestRefused: it may not.
        """
        if self._refused is not None:
            raise _Refusal(503, str(self._refused))
        if request.method != b"POST":
            raise _Refusal(405, "calls are sent by POST")
        headers = dict(request.headers)
        self._access.check_host(headers.get(b"host", b"").decode("latin-1"))
        if b"origin" in headers:
            raise RequestRefused(
                "a page of a browser may not call this port",
                hint="Use a HiveServer2 driver, or the port of --http-port",
            )
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if kind != MEDIA_TYPE:
            raise _Refusal(415, f"the Content-Type must be {MEDIA_TYPE.decode()}")
        user = password = None
        if b"authorization" in headers or self._access.tokens:
            name, password = _login(headers.get(b"authorization", b""))
            user = self._access.login(name, password)
        if int(headers.get(b"content-length", b"0")) > self._limits.body:
            raise _too_large(self._limits.body)
        return Client(self._address, user, password, held=False)

    def _message(self, share: Share) -> bytes:
        """The message in a request's body.

        Raises:
            _Refusal: it is none, or too large.
        """
        body = self._read_body(self._limits.body, share)
        walker = Walker(self._limits.body, elements=self._limits.elements)
        try:
            whole = walker.walk(body) and walker.at == len(body)
        except ProtocolViolation as error:
            raise _Refusal(400, str(error)) from None
        if not whole:
            raise _Refusal(400, "the body is not one whole message of Thrift's binary protocol")
        _take(share, len(body), walker.elements)
        return body

    def _read_body(self, limit: int, share: Share | None = None) -> bytes:
        body = io.BytesIO()
        while True:
            event = self._http.next_event()
            if isinstance(event, h11.Data):
                if body.tell() + len(event.data) > limit:
                    raise _too_large(limit)
                body.write(event.data)
                if share is not None:
                    _take(share, body.tell(), 0)
            elif isinstance(event, h11.EndOfMessage):
                return body.getvalue()
            elif event is h11.NEED_DATA:
                try:
                    self._http.receive_data(self._sock.recv(_PIECE))
                except BlockingIOError:
                    raise TimeoutError("the client was silent for too long") from None
            else:
                raise ConnectionAbortedError("the connection ended within a request")

    def _send(self, status: int, body: bytes, kind: str, *, head: bool = False, last: bool = False) -> None:
        headers = [
            ("Content-Type", kind),
            ("Content-Length", str(len(body))),
            ("X-Content-Type-Options", "nosniff"),
            ("Cache-Control", "no-store"),
            *_MORE_HEADERS.get(status, []),
            *([("Connection", "close")] if last else []),
        ]
        response = h11.Response(status_code=status, headers=headers, reason=_REASONS[status])
        parts = [self._http.send(response), *([] if head else [self._http.send(h11.Data(data=body))])]
        parts.append(self._http.send(h11.EndOfMessage()))
        send(self._sock, b"".join(part for part in parts if part), len(body))

    def _refuse(self, status: int, text: str) -> None:
        """Tell a client why its request is refused, and end the connection."""
        if self._http.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self._send(status, (text + "\n").encode(), "text/plain; charset=utf-8", last=True)
            close_after_last_words(self._sock)


def _login(authorization: bytes) -> tuple[str, str]:
    """The user and the password of a header Authorization.

    Raises:
        AccessRefused: it has none.

    >>> _login(b"Basic YW5uOnNlY3JldA==")
    ('ann', 'secret')
    """
    scheme, _, value = authorization.partition(b" ")
    try:
        if scheme.lower() == b"basic":
            user, colon, password = base64.b64decode(value.strip(), validate=True).decode().partition(":")
            if colon:
                return user, password
    except (binascii.Error, UnicodeDecodeError):
        pass
    raise AccessRefused(
        "the request needs a login", hint="Give the driver a user, and the access token as the password"
    )


def _take(share: Share, size: int, elements: int) -> None:
    """Take what a message weighs, if that is much."""
    needed = weight(size, elements)
    if needed > FREE:
        share.grow(needed)


def _too_large(limit: int) -> _Refusal:
    return _Refusal(413, f"the request is larger than {limit} bytes")
