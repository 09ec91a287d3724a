"""Where clients of later versions get other answers than from a real Hive Metastore 4.0, and why."""

from __future__ import annotations

import re
from dataclasses import dataclass

ALL = ("3.1", "4.0", "4.1")


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference that is meant, or that the other side is to blame for.

    Attributes:
        topic: the conversation.
        call: a pattern of the call.
        place: a pattern of where the answers differ, and how.
        reason: why, as docs/metastore.md has it.
        releases: of the clients that meet it.
    """

    topic: str
    call: str
    place: str
    reason: str
    releases: tuple[str, ...] = ALL

    def tells(self, call, place):
        """Whether it is about a place in the answers to a call."""
        return bool(re.search(self.call, call) and re.search(self.place, place))


DIFFERENCES = ()
