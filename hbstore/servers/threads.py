"""Threads for what may take long: calls that are not short, and clients that send or read slowly.

There are as many threads as there are connections that need one at the same time, so that nobody waits for a thread
that a slow client holds. `concurrent.futures` has no such pool: its threads stay for good, and the end of the process
waits for them, which a call that hangs would hold up for ever.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

IDLE: Final = 16
"""Threads that stay when there is nothing to do for them."""

_LOG: Final = logging.getLogger("hbstore.servers.threads")
_STACK: Final = 1024 * 1024
"""Bytes of a thread's stack: an eighth of the usual, as there may be thousands."""


@contextmanager
def beside(task: Callable[[threading.Event], object], name: str) -> Iterator[None]:
    """Run a task in a thread beside a block, which ends when the task has.

    Args:
        task: takes an event that is set when the block is over; it returns soon then.
        name: the thread's, behind ``hbstore-``.

    >>> with beside(lambda over: print(over.wait(60)), "waiting"):
    ...     pass
    True
    """
    over = threading.Event()
    thread = threading.Thread(target=task, args=(over,), name=f"hbstore-{name}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class TaskThreads:
    """Runs tasks, each at once in a thread of its own; threads are used again.

    Args:
        refused: hears why the system does not start a thread. The task then waits for one that is busy.
    """

    __slots__ = ("_changed", "_closed", "_free", "_refused", "_tasks")

    def __init__(self, refused: Callable[[str], object]) -> None:
        self._refused = refused
        self._changed = threading.Lock()
        self._tasks: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._free = 0  # threads without a task, less the tasks without a thread
        self._closed = False

    def run(self, task: Callable[[], object]) -> None:
        """Let a thread run a task, which is over when it returns or raises."""
        with self._changed:
            self._free -= 1
            lacking = self._free < 0
        self._tasks.put(task)
        if lacking:
            self.start()

    def close(self) -> None:
        """Let the threads end when they have nothing to do."""
        with self._changed:
            self._closed = True
            for _ in range(self._free):
                self._tasks.put(None)
            self._free = 0

    def start(self) -> None:
        """Start one more thread, which then stands by."""
        before = threading.stack_size(_STACK)
        try:
            threading.Thread(target=self._work, name="hbstore-calls", daemon=True).start()
        except RuntimeError as error:
            self._refused(str(error))
        else:
            with self._changed:
                self._free += 1
        finally:
            threading.stack_size(before)

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            try:
                task()
            except BaseException:  # noqa: BLE001  SystemExit, too: the thread is counted, and goes on
                _LOG.exception("a thread failed")
            with self._changed:
                if self._closed or self._free >= IDLE:
                    return
                self._free += 1
