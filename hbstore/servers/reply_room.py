"""Room for long replies, in memory and in temporary files, which all clients of a door share.

How long a reply gets is known only when it is made. If each took its room piece by piece, many that were begun at once
could fill it, and none could be finished. So a reply waits once, where it turns out to be long: in order, until there
is room and one of a few turns to be made. From then on it may grow to its end. What all hold is therefore at most

    the room + `MAKING` times the largest reply + `FREE` for each connection.

A reply gives its turn back when it is made, and its room when its client has taken it.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from typing import Final

from hbstore.errors import ServerBusy
from hbstore.servers.bounds import UNWATCHED, Bound, DoorWatch
from hbstore.servers.call_limits import LOOK_SECONDS, check_wanted

ROOM: Final = 384 * 1024 * 1024
"""Bytes for all long replies together, where the server is not told otherwise."""

FREE: Final = 1024 * 1024
"""Bytes of a reply that need no room."""

MAKING: Final = 2
"""Long replies that are made at the same time: more are not made faster, as Python runs one thread at a time."""

PATIENCE: Final = 60.0
"""Seconds that a reply waits for room."""


class ReplyRoom:
    """What is left for long replies.

    Args:
        total: bytes.
        patience: seconds that a reply waits.
        making: how many are made at the same time.
        watch: hears of bytes, of replies that wait, and of those that waited too long.
    """

    __slots__ = ("_changed", "_making", "_patience", "_total", "_turns", "_used", "_waiting", "_watch")

    def __init__(
        self, total: int = ROOM, patience: float = PATIENCE, making: int = MAKING, watch: DoorWatch = UNWATCHED
    ) -> None:
        self._total = total
        self._patience = patience
        self._turns = making
        self._watch = watch
        self._used = 0
        self._making = 0
        self._waiting: deque[ReplyShare] = deque()
        self._changed = threading.Condition()

    @property
    def used(self) -> int:
        """Bytes that are taken."""
        return self._used

    def begin(self, share: ReplyShare) -> None:
        """Wait until a long reply may be made.

        Raises:
            ServerBusy: there is no room for too long.
            CallAbandoned: the call takes too long, or its client is gone.
        """
        until = time.monotonic() + self._patience
        with self._changed:
            self._waiting.append(share)
            self._watch.waiting(1)
            try:
                while not self._may_begin(share):
                    left = until - time.monotonic()
                    if left <= 0:
                        raise self._too_long()
                    self._changed.wait(min(left, LOOK_SECONDS))
                    check_wanted()
                self._making += 1
            finally:
                self._waiting.remove(share)
                self._watch.waiting(-1)
                self._changed.notify_all()

    def take(self, size: int) -> None:
        """Take so many bytes more; below zero, give them back."""
        with self._changed:
            self._used += size
            self._changed.notify_all()
        self._watch.replies(size)

    def made(self) -> None:
        """A reply that was begun is made."""
        with self._changed:
            self._making -= 1
            self._changed.notify_all()

    def _may_begin(self, share: ReplyShare) -> bool:
        return self._waiting[0] is share and self._making < self._turns and self._used < self._total

    def _too_long(self) -> ServerBusy:
        self._watch.ended(Bound.REPLIES)
        return ServerBusy(
            "the server has no room for the reply, as other clients take theirs slowly",
            room=self._total,
            waited=f"{self._patience:g} s",
            hint="Ask for fewer partitions, or again later; or let the server be started with a larger --reply-room",
        )


class ReplyShare:
    """What the replies of one connection take, one after the other.

    >>> room = ReplyRoom(total=1)
    >>> share = ReplyShare(room)
    >>> share.grow(2 * FREE)
    >>> room.used == 2 * FREE, share.made(), share.release(), room.used
    (True, None, None, 0)
    """

    __slots__ = ("_makes", "_room", "_size", "_taken")

    def __init__(self, room: ReplyRoom) -> None:
        self._room = room
        self._size = self._taken = 0
        self._makes = False

    def grow(self, size: int) -> None:
        """The reply is so many bytes longer; below zero, shorter. It may have to wait where it turns out to be long."""
        self._size += size
        if self._size <= FREE and not self._taken:
            return
        if not self._makes and not self._taken:
            self._room.begin(self)
            self._makes = True
        more = self._size - self._taken
        self._taken += more
        self._room.take(more)

    def made(self) -> None:
        """The reply is made: it grows no more."""
        if self._makes:
            self._makes = False
            self._room.made()

    def release(self) -> None:
        """The reply is gone."""
        if self._size or self._makes:
            self.made()
            if self._taken:
                self._room.take(-self._taken)
            self._size = self._taken = 0


UNBOUNDED: Final = ReplyRoom(sys.maxsize, making=sys.maxsize)
"""Room without an end."""
