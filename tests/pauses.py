"""How tests wait: for something that comes, however slow the machine is, or not at all. Only this module sleeps.

`tests/test_waiting.py` refuses other ways. A test that waits for an event takes as long as the event needs; one that
sleeps takes too long on one machine, and fails on a slower one.
"""

from __future__ import annotations

import asyncio
import threading
import time

from hbstore.store import partition_store
from hbstore.transactions.waiting import Patience

SECONDS = 120
"""Nothing that a test waits for takes longer, however busy the machine is."""

LOOK_SECONDS = 0.01
"""Between two looks, at least."""

REST, REST_SECONDS = 5, 0.2
"""So many times as long as a look takes, and at most so long, nobody looks: what is waited for needs the processor."""


def until(condition, seconds=SECONDS, look=LOOK_SECONDS):
    """Wait until a condition holds, where no event says it; what it returned."""
    deadline = time.monotonic() + seconds
    while True:
        began = time.monotonic()
        if found := condition():
            return found
        now = time.monotonic()
        assert now < deadline, f"it did not come within {seconds} seconds"
        time.sleep(max(look, min(REST * (now - began), REST_SECONDS)))


async def until_in_loop(condition):
    """The same in a coroutine, while others of its loop go on."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"it did not come within {SECONDS} seconds"
        await asyncio.sleep(LOOK_SECONDS)


def let_go_on(random, longest, meanwhile=None):
    """Let another process go on for as long as chance says, and kill it then, wherever it is.

    Args:
        random: says how long.
        longest: in seconds.
        meanwhile: called again and again, at least once.
    """
    end = time.monotonic() + random.uniform(0, longest)
    if meanwhile is None:
        time.sleep(max(0.0, end - time.monotonic()))
        return
    meanwhile()
    while time.monotonic() < end:
        meanwhile()


def idle(seconds):
    """Be slow on purpose: a client or server that does nothing for so long, or anything that must not happen meanwhile.

    The test must pass however much longer the pause gets.
    """
    time.sleep(seconds)


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
