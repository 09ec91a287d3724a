"""Which threads wait for clients, so that Python's lock is not handed from core to core.

Python runs one thread at a time. A call lets go of Python's lock seven times, to sockets and to SQLite, and where each
client has a thread, another thread takes the lock whenever that happens. Each time a core has to be woken, which takes
longer than the rest of the call: four clients got 3,200 calls a second from four cores, and 10,000 from one.

`Lead` lets one thread wait for all clients and answer their calls one after the other, so that nobody else wants the
lock. That is right while calls are short. Where one is not, a watch lets another thread take the lead after `PATIENCE`,
and the first one goes on with its call. The watch sleeps as long as calls are short, as it needs Python's lock, too.

`SideBySide` is for a store where every call waits for another machine. There several threads wait for clients, and the
one that a client reaches sees to it that another one waits.
"""

from __future__ import annotations

import ctypes
import os
import queue
import threading
from collections.abc import Callable
from typing import Final, Protocol

PATIENCE: Final = 0.005
"""Seconds after which a call holds up no others."""

SPARE: Final = 16
"""Threads that stay when there is nothing to do for them."""


class Turns(Protocol):
    """Says which threads wait for clients."""

    def start(self) -> None:
        """Let the first thread wait."""

    def wait(self) -> bool:
        """Called by a thread that has nothing to do: returns when it is to wait for clients; False where it ends."""

    def begin(self) -> None:
        """Called by a thread that a client has reached."""

    def end(self) -> bool:
        """Called when that client is served; whether the thread is to wait for clients again."""

    def close(self) -> None:
        """No thread is to wait for clients any more."""


class Lead:
    """One thread waits for clients and serves them; another takes its place while it has a long call.

    Args:
        add_thread: starts one more thread; whether the system had one.
        patience: seconds that a call may take before that.
    """

    __slots__ = ("_add_thread", "_alarm", "_changed", "_closed", "_leader", "_spare", "_turn", "_wanted")

    def __init__(self, add_thread: Callable[[], bool], patience: float = PATIENCE) -> None:
        self._add_thread = add_thread
        self._alarm = Alarm(patience)
        self._changed = threading.Lock()
        self._leader: int | None = None
        self._turn = 0  # odd while the leader serves a client
        self._spare = 0
        self._wanted: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._closed = False

    def start(self) -> None:
        """Let a thread lead, and watch whether it does."""
        self._replace()
        threading.Thread(target=self._watch, name="hbstore-watch", daemon=True).start()

    def wait(self) -> bool:
        """Stand by until this thread is to lead."""
        with self._changed:
            if self._closed or self._spare >= SPARE:
                return False
            self._spare += 1
        if not self._wanted.get():
            return False
        self._leader = threading.get_ident()
        return True

    def begin(self) -> None:
        """The leader serves a client."""
        self._turn += 1
        self._alarm.set()

    def end(self) -> bool:
        """The client is served; whether this thread leads still."""
        with self._changed:
            if self._leader != threading.get_ident():
                return False
            self._turn += 1
            return not self._closed

    def close(self) -> None:
        """No thread leads any more; those that stand by end."""
        with self._changed:
            self._closed = True
            for _ in range(self._spare):
                self._wanted.put(False)
        self._alarm.set()

    def _replace(self) -> bool:
        """Let another thread lead; whether there is one."""
        with self._changed:
            if self._closed:
                return True
            if self._spare <= 0 and not self._add_thread():
                return False
            self._spare -= 1  # below zero, it is one that has yet to begin
            self._leader = None
            self._turn += self._turn % 2
            self._wanted.put(True)
            return True

    def _watch(self) -> None:
        """Replace the leader where it has been with a client for too long."""
        while not self._closed:
            self._alarm.wait()
            if self._turn % 2 and not self._replace():
                self._alarm.set()
        self._alarm.close()


class Alarm:
    """Wakes a thread when nobody has set it for some time.

    The system keeps the time, so that setting it anew wakes nobody and takes a microsecond.

    Args:
        seconds: that it waits since it was last set.
    """

    __slots__ = ("_file", "_time")

    def __init__(self, seconds: float) -> None:
        whole, rest = divmod(seconds, 1)
        self._file: int = _LIBC.timerfd_create(_CLOCK_MONOTONIC, os.O_CLOEXEC)
        if self._file < 0:
            raise OSError(ctypes.get_errno(), "no timer")
        self._time = (ctypes.c_long * 4)(0, 0, int(whole), int(rest * 1e9))  # an itimerspec, once

    def set(self) -> None:
        """Begin to wait, anew where it waits."""
        _LIBC.timerfd_settime(self._file, 0, self._time, None)

    def wait(self) -> None:
        """Wait until it wakes this thread."""
        os.read(self._file, 8)

    def close(self) -> None:
        """It is not needed any more; setting it does nothing."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def __del__(self) -> None:
        """Nobody ever waited for it."""
        self.close()


_CLOCK_MONOTONIC: Final = 1
_LIBC: Final = ctypes.PyDLL(None, use_errno=True)  # one that keeps Python's lock, as these return at once


class SideBySide:
    """As many threads wait for clients as had one, up to `SPARE`, and never none.

    Args:
        add_thread: starts one more thread; whether the system had one.
    """

    __slots__ = ("_add_thread", "_changed", "_closed", "_waiting")

    def __init__(self, add_thread: Callable[[], bool]) -> None:
        self._add_thread = add_thread
        self._changed = threading.Lock()
        self._waiting = 0
        self._closed = False

    def start(self) -> None:
        """Let a thread wait."""
        self._add_thread()

    def wait(self) -> bool:
        """Wait for clients, unless enough others do."""
        with self._changed:
            if self._closed or self._waiting >= SPARE:
                return False
            self._waiting += 1
            return True

    def begin(self) -> None:
        """This thread serves a client, so that another one has to wait."""
        with self._changed:
            self._waiting -= 1
            if not self._waiting and not self._closed:
                self._add_thread()

    def end(self) -> bool:
        """The client is served; whether this thread waits for the next one."""
        return self.wait()

    def close(self) -> None:
        """No thread waits any more."""
        self._closed = True
