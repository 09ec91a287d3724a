"""The line and headers of a client's first request over HTTP, which may come piece by piece."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hbstore.servers.bounds import Bound, BoundReached
from hbstore.servers.connection import ClientSocket

_PIECE: Final = 64 * 1024
_LONGEST: Final = 16 * 1024
"""Bytes of a head for whose end the server waits."""


@dataclass(slots=True)
class RequestHead:
    """What has come of a head. No thread waits for the rest: the client's connection keeps it.

    Attributes:
        client: the connection, whose socket does not block.
        seconds: in which all of the head has to come.
        data: what has come.
        has_end: all of the head has come.
    """

    client: ClientSocket
    seconds: float
    data: bytes = b""
    has_end: bool = False

    def gather(self) -> bool:
        """Receive what has come.

        Returns:
            Whether nothing more is waited for: the head is over, too long or no request's, or the client is gone.

        Raises:
            OSError: the connection broke.
        """
        try:
            piece = self.client.sock.recv(_PIECE)
        except BlockingIOError:
            return False  # it was a false alarm
        self.data += piece
        last = self.data[-len(piece) - 3 :]
        self.has_end = b"\n\r\n" in last or b"\n\n" in last  # some clients end lines without carriage returns
        if self.has_end or not piece or len(self.data) > _LONGEST or not self.data[:1].isalpha():
            return True
        why = "the client took too long to send a request"
        self.client.expect(self.seconds, BoundReached(Bound.LOGIN, why))
        return False
