"""Tests in which nobody waits: a pause takes no time for those who take part, and nobody lets others finish."""

from __future__ import annotations

import threading
import time

from hbstore.store import partition_store
from hbstore.transactions.waiting import Patience


def without_pauses(monkeypatch):
    """`time.sleep` returns at once, but for threads that were there before.

    Some that py4j leaves behind ask again and again whether there is something to do, and would never let go.
    """
    sleep, me = time.sleep, threading.current_thread()
    others = {thread for thread in threading.enumerate() if thread is not me}
    monkeypatch.setattr(time, "sleep", lambda seconds: sleep(seconds) if threading.current_thread() in others else None)


def without_patience(monkeypatch):
    """Whose change is in the way, that is written or given up at once."""
    monkeypatch.setattr(partition_store, "Patience", lambda total: Patience(total, decided=0.0, undecided=0.0))
