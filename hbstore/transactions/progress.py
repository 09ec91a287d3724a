"""How far a long write has come: what others wait for, and where they go on if its process is dead."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Of one transaction."""

    def reached(self) -> bytes | None:
        """The key up to which all is written; None where nothing was said yet."""

    def say(self, key: bytes) -> None:
        """Say that all is written up to a key."""

    def is_over(self) -> bool:
        """Whether others have written all of it."""


class NoProgress:
    """Of a transaction that nobody else can see before it is over."""

    def reached(self) -> bytes | None:
        """See `Progress`."""
        return None

    def say(self, key: bytes) -> None:
        """See `Progress`."""

    def is_over(self) -> bool:
        """See `Progress`."""
        return False
