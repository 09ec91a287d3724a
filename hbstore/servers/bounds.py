"""What bounds clients, by name, and who hears when a bound ends something: the metrics do.

>>> class Told(DoorWatch):
...     def ended(self, bound: Bound) -> None:
...         print("ended by", bound)
>>> try:
...     raise BoundReached(Bound.READING, "the client does not read")
... except TimeoutError as error:
...     Told().ended(error.bound)
ended by reading
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Bound(StrEnum):
    """Why a door refused, gave up or cut off something."""

    CONNECTIONS = "connections"
    """A client was refused, as there were too many."""
    PLACE = "place"
    """A silent client had to go, as another one needed its place."""
    SILENCE = "silence"
    """A client was silent for too long between two calls."""
    LOGIN = "login"
    """The first bytes, a login, or the head of a request took too long."""
    SENDING = "sending"
    """A call came too slowly."""
    READING = "reading"
    """A reply was taken too slowly."""
    REQUESTS = "requests"
    """A request was refused, as too many were under way."""
    MESSAGES = "messages"
    """A large call waited too long for memory."""
    REPLIES = "replies"
    """A long reply waited too long for room."""
    CALL = "call"
    """A call took too long."""
    GONE = "gone"
    """The client of a call had gone."""


class BoundReached(TimeoutError):
    """A client took too long.

    Args:
        bound: which bound that was.
        text: for the log.
    """

    def __init__(self, bound: Bound, text: str) -> None:
        super().__init__(text)
        self.bound = bound


class DoorWatch:
    """Hears what happens at a door, in any thread. This one does nothing of it; it raises nothing."""

    __slots__ = ()

    def connected(self, change: int) -> None:
        """So many more clients are connected."""

    def requests(self, change: int) -> None:
        """So many more requests are under way over HTTP."""

    def replies(self, size: int) -> None:
        """So many more bytes of long replies are in memory and in temporary files."""

    def waiting(self, change: int) -> None:
        """So many more long replies wait for room."""

    def ended(self, bound: Bound) -> None:
        """A bound ended something."""


UNWATCHED: Final = DoorWatch()
