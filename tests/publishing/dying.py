"""Processes that die before the n-th thing that they change, and the time by which they are taken for dead."""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress

import pytest

from hbstore import PartitionStore
from hbstore.files.local_files import LocalFiles
from hbstore.files.warehouse import Warehouse
from hbstore.publishing import Publisher
from tests.store.faults import Crash, FaultyRows


class Dying:
    """A process that dies before it changes something.

    Args:
        store: the store that it works on.
        at: how many files, folders and rows it changes before.

    Attributes:
        store: the store as the process sees it.
        died: whether it is dead.
    """

    def __init__(self, store, at):
        self._left = at
        self.died = False
        self.store = PartitionStore(_CountingRows(store.rows, self))

    def step(self):
        """Called before each change."""
        self.died = self._left == 0
        if self.died:
            raise Crash
        self._left -= 1


@contextmanager
def dying(store, at):
    """Inside, this process is one that dies before a change; outside, the next one begins."""
    process = Dying(store, at)
    with pytest.MonkeyPatch.context() as patch, suppress(Crash):
        for owner, name in (*((Warehouse, one) for one in ("move", "copy", "delete")), (LocalFiles, "bring")):
            patch.setattr(owner, name, _counted(getattr(owner, name), process))
        yield process


@contextmanager
def much_later(seconds=100):
    """Inside, all jobs are dead that do not say that they are alive."""
    now = time.time()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time", lambda: now + seconds)
        yield


def recover_later(store, *tables, seconds=100):
    """Have somebody look after tables when all jobs are dead."""
    with much_later(seconds):
        for table in tables:
            Publisher(store).recover(".".join(table))


def _counted(change, process):
    def counted(*arguments, **options):
        process.step()
        return change(*arguments, **options)

    return counted


class _CountingRows(FaultyRows):
    """Rows whose every written row counts."""

    def __init__(self, rows, process):
        super().__init__(rows)
        self._process = process

    def _write(self, write):
        self._process.step()
        return write()
