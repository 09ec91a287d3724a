"""Gets of catalog rows by several threads at once: those that wait for one another go as one request.

Every question to a table begins or ends with a read of its row, so a busy server sends many small gets side by side,
and each costs the gateway and this process a turn. Here one thread sends, and what is asked meanwhile waits for the
next request, which asks for all of it. So a read never shares a request that was sent before it began: it sees whatever
was acknowledged before. One thread alone waits for nobody.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from threading import Lock

from hbstore.rows.interface import Cells


class _Wanted:
    """A key that a thread waits for; the lock is held until there is an answer, or it is its turn to send."""

    __slots__ = ("answer", "done", "error", "key", "turn")

    def __init__(self, key: bytes) -> None:
        self.key = key
        self.turn = Lock()
        self.done = False
        self.answer: Cells | None = None
        self.error: Exception | None = None


class SharedGets:
    """Reads catalog rows, one request at a time.

    Args:
        fetch: the rows of sorted, distinct keys, in one request; keys of rows that are not there are left out.
    """

    def __init__(self, fetch: Callable[[list[bytes]], Mapping[bytes, Cells]]) -> None:
        self._fetch = fetch
        self._waiting: list[_Wanted] = []
        self._sending = False
        self._reset()

    def get(self, key: bytes) -> Cells | None:
        """A row as it is at some moment between call and return; None if it is not there.

        Raises:
            Exception: whatever the request raised that this read was part of.
        """
        if self._process != os.getpid():
            self._reset()  # a fork copies the locks as other threads held them
        mine = _Wanted(key)
        with self._lock:
            self._waiting.append(mine)
            waits = self._sending
            self._sending = True
            if waits:
                mine.turn.acquire()
        if waits:
            mine.turn.acquire()
        if not mine.done:
            self._send(mine)
        if mine.error is not None:
            raise mine.error
        return mine.answer

    def _send(self, mine: _Wanted) -> None:
        """Ask for all that is waited for, and hand the turn on."""
        with self._lock:
            batch, self._waiting = self._waiting, []
        try:
            found = self._fetch(sorted({one.key for one in batch}))
        except Exception as error:  # noqa: BLE001  whoever was part of the request raises it
            for one in batch:
                one.error, one.done = error, True
        except BaseException:  # this thread is interrupted, and the others are not
            self._hand_on(back=[one for one in batch if one is not mine])
            raise
        else:
            for one in batch:
                one.answer, one.done = found.get(one.key), True
        self._hand_on(back=[])
        for one in batch:
            if one is not mine:
                one.turn.release()

    def _hand_on(self, back: list[_Wanted]) -> None:
        """Let the next thread send that waits, after those that have to wait again."""
        with self._lock:
            self._waiting = back + self._waiting
            following = self._waiting[0] if self._waiting else None
            self._sending = following is not None
        if following is not None:
            following.turn.release()

    def _reset(self) -> None:
        self._process = os.getpid()
        self._lock = Lock()
        self._waiting = []
        self._sending = False
