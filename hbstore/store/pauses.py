"""How long to wait before something is tried again that another writer was faster at."""

from __future__ import annotations

import random
import time


def pause(attempt: int) -> None:
    """Let others go first, after a failed attempt longer and longer."""
    time.sleep(random.uniform(0, min(0.2, 0.002 * (attempt + 1))))  # noqa: S311
