"""Gets of catalog rows by several threads at once: those that wait for one another go as one request.

Every question to a table begins or ends with a read of its row, so a busy server sends many small gets side by side,
and each costs the gateway and this process a turn. Here what threads ask for while a request is under way gathers in a
batch, and the thread that began the batch sends it when that request ends. So a read never shares a request that was
sent before the read began: it sees whatever was acknowledged before. One thread alone waits for nobody.

A thread may be interrupted anywhere (Ctrl-C, a signal handler that raises). One that waits just leaves; where it is the
one that sends, the others of its batch ask again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from copy import copy
from threading import Event, Lock
from typing import Final
from weakref import WeakSet

from hbstore.errors import HbstoreError
from hbstore.rows.interface import Cells


class _Batch:
    """Keys that one request asks for, and its outcome: ``done`` without rows or an error if its sender is gone."""

    __slots__ = ("done", "error", "keys", "rows")

    def __init__(self) -> None:
        self.keys: set[bytes] = set()
        self.done = Event()
        self.rows: Mapping[bytes, Cells] | None = None
        self.error: HbstoreError | None = None


class SharedGets:
    """Reads catalog rows, one request at a time.

    Args:
        fetch: the rows of sorted, distinct keys, in one request; keys of rows that are not there are left out.
    """

    def __init__(self, fetch: Callable[[list[bytes]], Mapping[bytes, Cells]]) -> None:
        self._fetch = fetch
        self._begin()
        _ALL.add(self)

    def begin_in_child(self) -> None:
        """Forget the threads that wait and send: a fork copies their locks, not them."""
        self._begin()

    def _begin(self) -> None:
        self._lock = Lock()
        self._sending = Lock()
        self._gathering: _Batch | None = None

    def get(self, key: bytes) -> Cells | None:
        """A row as it is at some moment between call and return; None if it is not there.

        Raises:
            HbstoreError: a copy, for this thread alone, of what the request raised that this read was part of.
        """
        while True:
            own: _Batch | None = None
            try:
                with self._lock:
                    batch = self._gathering
                    if batch is None or batch.done.is_set():
                        batch = own = _Batch()
                        self._gathering = own
                    batch.keys.add(key)
                if own is None:
                    batch.done.wait()
                else:
                    self._send(own)
            finally:  # whatever interrupts the thread, the others of its batch go on
                if own is not None:
                    own.done.set()
            if batch.error is not None:
                raise copy(batch.error) from batch.error
            if batch.rows is not None:
                return batch.rows.get(key)

    def _send(self, batch: _Batch) -> None:
        with self._sending:
            with self._lock:
                self._gathering = None
            try:
                batch.rows = self._fetch(sorted(batch.keys))
            except HbstoreError as error:
                batch.error = error


_ALL: Final[WeakSet[SharedGets]] = WeakSet()


def _after_fork_in_child() -> None:
    for gets in _ALL:
        gets.begin_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
