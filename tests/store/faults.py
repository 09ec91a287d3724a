"""Rows whose n-th write goes wrong, in every way in which a process or a connection can.

Writes of several rows become several writes of one row, as HBase may stop between any two rows. Reads count as nothing,
but fail as well where the process is dead or the connection gone.
"""

from __future__ import annotations

import sys
from enum import Enum

from hbstore.errors import CommitStateUnknown, StoreUnavailable


class Crash(BaseException):
    """The process is dead: no error that the store could catch."""


class Fault(Enum):
    """What happens at the n-th write."""

    CRASH = "the process dies before it"
    CRASH_AFTER = "the process dies after it"
    REFUSED = "this one write is refused"
    GONE = "the connection is gone before it, for good"
    LOST_ANSWER = "it is made, and its answer lost"
    LOST_CALL = "it is not made, and nobody knows"
    LOST_ANSWER_AND_GONE = "it is made, its answer lost, and the connection gone for good"
    LATE = "nobody knows, and it is made much later"


_MADE = {Fault.CRASH_AFTER, Fault.LOST_ANSWER, Fault.LOST_ANSWER_AND_GONE}
_ERRORS = {
    Fault.CRASH: Crash,
    Fault.CRASH_AFTER: Crash,
    Fault.REFUSED: StoreUnavailable,
    Fault.GONE: StoreUnavailable,
}
_FOR_GOOD = {
    Fault.CRASH: Crash,
    Fault.CRASH_AFTER: Crash,
    Fault.GONE: StoreUnavailable,
    Fault.LOST_ANSWER_AND_GONE: StoreUnavailable,
}


class FaultyRows:
    """`Rows` with one fault.

    Args:
        rows: where the rows are.
        fault: what goes wrong.
        at: with which write, from 0; without it, only what `die` does.
    """

    def __init__(self, rows, fault=Fault.CRASH, at=sys.maxsize):
        self._rows = rows
        self._fault = fault
        self._at = at
        self._over = None
        self.writes = 0
        self.late = []

    @property
    def struck(self):
        """Whether the fault has happened."""
        return self.writes > self._at

    @property
    def url(self):
        return self._rows.url

    @property
    def atomic(self):
        return self._rows.atomic

    @property
    def costs(self):
        return self._rows.costs

    def __getattr__(self, name):
        found = getattr(self._rows, name)

        def read(*arguments, **named):
            self._alive()
            return found(*arguments, **named)

        return read

    def compare_and_put(self, key, cell, expected, value):
        return self._write(lambda: self._rows.compare_and_put(key, cell, expected, value))

    def write(self, puts, deletes, sequence):
        for row in puts:
            self._write(lambda row=row: self._rows.write((row,), (), sequence))
        for key in deletes:
            self._write(lambda key=key: self._rows.write((), (key,), sequence))

    def put_cells(self, cells, sequence):
        for key in dict.fromkeys(cell.key for cell in cells):
            some = [cell for cell in cells if cell.key == key]
            self._write(lambda some=some: self._rows.put_cells(some, sequence))

    def remove_row(self, key):
        self._write(lambda: self._rows.remove_row(key))

    def die(self):
        """From now on the process is dead."""
        self._over = Crash

    def arrive(self):
        """The late write arrives."""
        for write in self.late:
            write()

    def _alive(self):
        if self._over is not None:
            raise self._over("gone")

    def _write(self, write):
        self._alive()
        number, self.writes = self.writes, self.writes + 1
        if number != self._at:
            return write()
        self._over = _FOR_GOOD.get(self._fault)
        if self._fault in _MADE:
            write()
        if self._fault is Fault.LATE:
            self.late.append(write)
        raise _ERRORS.get(self._fault, CommitStateUnknown)("at this write")
