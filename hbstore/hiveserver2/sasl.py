r"""SASL as drivers begin a connection with it: the mechanism PLAIN, a user and a password.

A message is a status byte, the size of its body in 4 bytes, and the body. The client sends START with the name of the
mechanism and, without waiting, OK or COMPLETE with ``authzid NUL user NUL password``. The server answers COMPLETE; to
all else it answers BAD with a text, which drivers show, and ends the connection.

>>> negotiation = Negotiation(lambda user, password: user)
>>> negotiation.receive(b"\x01\0\0\0\5PLAIN" + b"\5\0\0\0\x0b\0ann\0secret" + b"a frame")
b'\x05\x00\x00\x00\x00'
>>> negotiation.is_over, negotiation.user, negotiation.rest
(True, 'ann', b'a frame')
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

from hbstore.errors import AccessRefused, HbstoreError, ProtocolViolation

START: Final = 1
"""The first byte of a connection that begins with SASL."""

MAX_BODY: Final = 16 * 1024
"""Bytes of one message."""

_OK, _BAD, _COMPLETE = 2, 3, 5
_HEAD: Final = struct.Struct(">Bi")
_MECHANISM: Final = b"PLAIN"
_PARTS: Final = 3
_SHOWN: Final = 40


class Negotiation:
    """The server's side of one negotiation.

    Args:
        login: the user of a name and a password, or what it raises: an HbstoreError, whose text the driver shows.

    Attributes:
        user: who logged in; None for a login without a name, or before it is over.
        password: of the login.
        refused: why the login failed; None if it did not.
        is_over: nothing more belongs to the negotiation.
    """

    __slots__ = ("_login", "_received", "_started", "is_over", "password", "refused", "user")

    def __init__(self, login: Callable[[str, str], str | None]) -> None:
        self._login = login
        self._received = b""
        self._started = False
        self.user: str | None = None
        self.password: str | None = None
        self.refused: HbstoreError | None = None
        self.is_over = False

    @property
    def rest(self) -> bytes:
        """What was received behind the negotiation's end."""
        return self._received

    def receive(self, data: bytes) -> bytes:
        """What to answer to bytes, in whatever pieces they come; b"" where more is missing."""
        self._received += data
        while not self.is_over and len(self._received) >= _HEAD.size:
            status, size = _HEAD.unpack_from(self._received)
            if not 0 <= size <= MAX_BODY:
                return self._refuse(_violation("the size of a message is not allowed", size=size, limit=MAX_BODY))
            end = _HEAD.size + size
            if len(self._received) < end:
                break
            body, self._received = self._received[_HEAD.size : end], self._received[end:]
            if not self._started:
                if status != START:
                    return self._refuse(_violation("it begins with another message than START", status=status))
                if body != _MECHANISM:
                    return self._refuse(_unsupported(body))
                self._started = True
            else:
                return self._answer(status, body)
        return b""

    def _answer(self, status: int, body: bytes) -> bytes:
        if status not in (_OK, _COMPLETE):
            return self._refuse(_violation("the client ends it", status=status))
        try:
            authzid, user, password = (part.decode() for part in body.split(b"\0"))
        except ValueError:
            return self._refuse(_violation("the login is no name and password"))
        if authzid not in ("", user):
            return self._refuse(AccessRefused("a user may not act for another", hint="Log in as that user"))
        try:
            self.user = self._login(user, password)
        except HbstoreError as error:
            return self._refuse(error)
        self.password = password
        self.is_over = True
        return _HEAD.pack(_COMPLETE, 0)

    def _refuse(self, error: HbstoreError) -> bytes:
        self.refused, self.is_over = error, True
        text = str(error).encode()
        return _HEAD.pack(_BAD, len(text)) + text


def _violation(reason: str, **fields: object) -> ProtocolViolation:
    return ProtocolViolation(
        "the client's login by SASL is invalid",
        reason=reason,
        hint="Use a HiveServer2 driver with auth=plain",
        **fields,
    )


def _unsupported(mechanism: bytes) -> ProtocolViolation:
    name = mechanism[:_SHOWN].decode("ascii", "replace")
    return ProtocolViolation(
        f"Unsupported mechanism type {name}",
        hint="The server has PLAIN: log in by user and password, and leave Kerberos out of the URL",
    )
