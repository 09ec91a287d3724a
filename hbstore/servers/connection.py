"""A client's connection, whatever the client speaks: what it may do, how it ends, and what the log says of that.

What the client speaks is a `Dialogue`: it reads calls from the connection's socket and writes replies. The server's own
thread never waits for a client: it lets a dialogue answer a short call that is there as a whole, and leaves everything
else to another thread, which may wait. So the socket blocks while another thread has it, and only then. (A flag of each
call would do the same, MSG_DONTWAIT, but macOS ignores it where something is sent.)

Whatever goes wrong ends this connection and no other, and is logged in one line.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import struct
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Protocol, TypeVar

from hbstore.errors import HbstoreError, ProtocolViolation, TooManyQueries
from hbstore.servers.bounds import UNWATCHED, Bound, BoundReached, DoorWatch
from hbstore.servers.framing import LEAST_RATE
from hbstore.servers.logs import Complaints
from hbstore.servers.sockets import prepare, send

WRITE_TIMEOUT: Final = 60.0
REFUSED_SECONDS: Final = 5.0
"""Seconds in which a client that the server has no room for must have come so far that it can be told so."""

MAX_FRAME: Final = (1 << 31) - 1
"""Bytes of a reply that fit in a frame."""

_LOG: Final = logging.getLogger("hbstore.servers.connection")
_FRAME: Final = struct.Struct(">i")
_Outcome = TypeVar("_Outcome", bound=bool | None)


class Dialogue(Protocol):
    """What a client speaks. One thread uses it at a time."""

    def serve(self) -> bool:
        """Answer the calls that have come, and wait for what is missing; whether the connection goes on.

        Raises:
            HbstoreError, OSError: why it does not.
        """

    def serve_short(self) -> bool | None:
        """Answer a call if it is short and all of it has come, without waiting for the client.

        Returns:
            Whether the connection goes on; None if `serve` has to be called, which may take long.

        Raises:
            HbstoreError, OSError: why it does not.
        """


class ClientSocket:
    """A client's connection, as its server and its dialogue have it.

    Args:
        sock: connected.
        address: of the other end.
        write_timeout: seconds after which a client that takes nothing of its reply is cut off.
        patience: seconds after which the connection ends where nothing comes; None: it never does.
        least_rate: bytes a second that it must take of a reply, on average, once that has taken longer.
        refused: the server has too many connections, so that the client shall be told so.
        complaints: where it is said that it was refused.
        watch: hears of bounds that end something.

    Attributes:
        answering: a call is under way.
        watch: hears of bounds that end something.

    Raises:
        OSError: the connection is broken already.
    """

    __slots__ = (
        *("_complaints", "_expected", "_is_over", "_least_rate", "_silent_since", "_write_timeout", "address"),
        *("answering", "patience", "refused", "sock", "watch"),
    )

    def __init__(
        self,
        sock: socket.socket,
        address: str,
        write_timeout: float = WRITE_TIMEOUT,
        patience: float | None = None,
        *,
        least_rate: int = LEAST_RATE,
        refused: bool = False,
        complaints: Complaints | None = None,
        watch: DoorWatch = UNWATCHED,
    ) -> None:
        self.sock = sock
        self._write_timeout = write_timeout
        self._least_rate = least_rate
        self._complaints = complaints or Complaints(_LOG)
        self.watch = watch
        self.address = address
        self.patience = patience
        self.refused = refused
        self.answering = False
        self._expected: tuple[float, BoundReached] | None = None
        self._is_over = False
        self._silent_since: float | None = time.monotonic()
        prepare(sock, write_timeout)
        sock.setblocking(False)

    def serve(self, dialogue: Dialogue) -> bool:
        """Let a dialogue answer calls and wait for the client; whether the connection goes on."""
        self._expected = None
        return self._served(lambda: self._serve_blocking(dialogue)) is True

    def serve_short(self, dialogue: Dialogue) -> bool | None:
        """Let a dialogue answer a call if it is short; None if `serve` has to be called."""
        return self._served(dialogue.serve_short)

    def expect(self, seconds: float, reached: BoundReached) -> None:
        """The rest of what the client has begun must come so soon, however often it sends a part of it.

        Args:
            seconds: from now on, where nothing is expected yet.
            reached: why the connection ends otherwise.
        """
        if self._expected is None:
            self._expected = time.monotonic() + seconds, reached

    def came(self) -> None:
        """What was expected has come."""
        self._expected = None

    def write(self, chunks: Iterable[bytes], size: int, *, framed: bool) -> None:
        """Send a reply, behind its size if it is framed.

        Raises:
            ProtocolViolation: it is too large for a frame.
            BoundReached: the client takes nothing for too long, or takes it too slowly.
            OSError: the connection broke.
        """
        until = time.monotonic() + self._write_timeout + size / self._least_rate
        for chunk in in_frame(chunks, size) if framed else chunks:
            send(self.sock, chunk, size, until)

    def close(self) -> None:
        """Close it, when nobody serves it any more."""
        self.sock.close()

    @property
    def silent_for(self) -> float:
        """Seconds since something came; 0 while it is served, or must go already."""
        since = self._silent_since
        return 0.0 if since is None or self._is_over else time.monotonic() - since

    def end_if_silent(self) -> None:
        """End it, unless it is served, if nothing has come for longer than it may, or not the rest of what began."""
        if self._silent_since is None or self._is_over:
            return
        if self._expected is not None and time.monotonic() >= self._expected[0]:
            self._end(self._expected[1])
        elif self.patience is not None and self.silent_for >= self.patience:
            self._end(BoundReached(Bound.SILENCE, "the client was silent for too long"))

    def end_in_favour_of_another(self) -> None:
        """Called by another thread: end it, as there is no room for all."""
        self._end(BoundReached(Bound.PLACE, "the client was silent, and another needed its place"))

    def end(self) -> None:
        """Called by another thread: no more calls; one that is under way is still answered."""
        self._shut(socket.SHUT_RD)

    def cut(self) -> None:
        """Called by another thread: nothing more at all."""
        self._shut(socket.SHUT_RDWR)

    def _end(self, reached: BoundReached) -> None:
        _LOG.info("cut off", extra=self._fields(str(reached)))
        self.watch.ended(reached.bound)
        self._is_over = True
        self.cut()

    def _serve_blocking(self, dialogue: Dialogue) -> bool:
        self.sock.setblocking(True)
        goes_on = dialogue.serve()
        if goes_on:
            self.sock.setblocking(False)
        return goes_on

    def _served(self, answer: Callable[[], _Outcome]) -> _Outcome | bool:
        """What a function says, or False after the error that ends the connection."""
        self._silent_since = None
        try:
            return answer()
        except HbstoreError as error:
            fields = self._fields(error.text, **error.fields, hint=error.hint)["fields"]
            self._complaints.say("refused", **fields)
        except OSError as error:
            if isinstance(error, BoundReached):
                self.watch.ended(error.bound)
            if not self._is_over:
                _LOG.info("cut off", extra=self._fields(error.strerror or str(error) or type(error).__name__))
        except BaseException:  # noqa: BLE001  a bug, or what ends a thread: the server goes on
            _LOG.exception("a connection failed")
        finally:
            self._silent_since = time.monotonic()
        return False

    def _shut(self, how: int) -> None:
        with contextlib.suppress(OSError):  # it is over already
            self.sock.shutdown(how)

    def _fields(self, why: str, **fields: object) -> dict[str, Any]:
        known = {name: value for name, value in fields.items() if value is not None}
        return {"fields": {"client": self.address, "why": why, **known}}


def no_room(limit: int) -> HbstoreError:
    """What a client hears that the server has no room for."""
    return TooManyQueries(
        "the server has too many connections",
        limit=limit,
        hint="Close connections that are not needed, or come later",
    )


def in_frame(chunks: Iterable[bytes], size: int) -> Iterator[bytes]:
    r"""A reply behind its size.

    Raises:
        ProtocolViolation: it is too large for a frame.

    >>> list(in_frame([b"re", b"ply"], 5))
    [b'\x00\x00\x00\x05re', b'ply']
    """
    if size > MAX_FRAME:
        raise ProtocolViolation(
            "a reply does not fit in a frame",
            size=size,
            hint="Fetch fewer rows; of a metastore, set hive.metastore.thrift.framed.transport.enabled to false",
        )
    head = _FRAME.pack(size)
    for chunk in chunks:
        yield head + chunk
        head = b""
