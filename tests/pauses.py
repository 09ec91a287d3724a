"""Tests in which nobody waits: a pause takes no time for those who take part."""

from __future__ import annotations

import threading
import time


def without_pauses(monkeypatch):
    """`time.sleep` returns at once, but for threads that were there before.

    Some that py4j leaves behind ask again and again whether there is something to do, and would never let go.
    """
    sleep, me = time.sleep, threading.current_thread()
    others = {thread for thread in threading.enumerate() if thread is not me}
    monkeypatch.setattr(time, "sleep", lambda seconds: sleep(seconds) if threading.current_thread() in others else None)
