"""Warnings about what may happen thousands of times a second, such as connections that a server refuses."""

from __future__ import annotations

import logging
import time
from typing import Final

_MINUTE: Final = 60.0


class Complaints:
    """Warnings that are said once a minute at most, each.

    Args:
        log: where they are said.
    """

    __slots__ = ("_log", "_said")

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._said: dict[str, float] = {}

    def say(self, text: str, **fields: object) -> None:
        """Say a warning, if it was not said within the last minute."""
        now = time.monotonic()
        if now - self._said.get(text, -_MINUTE) >= _MINUTE:
            self._said[text] = now
            self._log.warning(text, extra={"fields": fields})
