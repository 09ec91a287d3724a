"""What locks are asked for, and clients that run as processes of their own."""

from __future__ import annotations

import signal
from pathlib import Path

from hbstore import connect
from hbstore.model.service_objects import LockComponent, LockLevel, LockState, LockType
from hbstore.store.hive.lock_table import LockTableRow
from hbstore.store.hive.locks import Locks
from hbstore.transactions.transactions import Transactions
from tests.pauses import idle, until
from tests.processes import say

PAUSE = 0.002


def on(lock_type, database="shop", table=None, partition=None):
    """A component at the level that the names say."""
    level = LockLevel.DB if table is None else LockLevel.TABLE if partition is None else LockLevel.PARTITION
    return LockComponent(lock_type, level, database, table, partition)


def acquired(locks, user):
    """The id of the lock on the one table, once it is held."""
    lock = locks.lock([on(LockType.EXCLUSIVE, table="sales")], user, "here")
    until(lambda: locks.check(lock.id).state is not LockState.WAITING, look=PAUSE)
    return lock.id


def count(url, user, path, times, timeout):
    """Add one to the number in a file so many times, reading and writing it under the lock."""
    counter = Path(path)
    with connect(url) as store:
        locks = Locks(LockTableRow(Transactions(store.rows), float(timeout)))
        for _ in range(int(times)):
            held = acquired(locks, user)
            number = int(counter.read_text())
            idle(PAUSE)
            counter.write_text(str(number + 1))
            locks.release(held)
            say(held, number + 1)


def hold(url, user, timeout):
    """Take the lock and never give it back."""
    with connect(url) as store:
        say(acquired(Locks(LockTableRow(Transactions(store.rows), float(timeout))), user))
        signal.pause()
