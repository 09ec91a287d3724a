"""Handles, by which clients name their sessions and operations."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from typing import Final

_SIZE: Final = 16


@dataclass(frozen=True, slots=True)
class Handle:
    """What a client sends to name a session or an operation.

    Attributes:
        guid: sixteen bytes that name it.
        secret: sixteen that only its client knows, so that nobody guesses it.

    >>> handle = Handle.new()
    >>> handle.opens(handle), Handle(handle.guid, bytes(16)).opens(handle)
    (True, False)
    """

    guid: bytes
    secret: bytes = field(repr=False)

    @staticmethod
    def new() -> Handle:
        """A handle that no other has."""
        return Handle(secrets.token_bytes(_SIZE), secrets.token_bytes(_SIZE))

    @property
    def text(self) -> str:
        """The name in hexadecimal digits."""
        return self.guid.hex()

    def opens(self, other: Handle) -> bool:
        """Whether this is the other handle, secret and all."""
        return self.guid == other.guid and hmac.compare_digest(self.secret, other.secret)
