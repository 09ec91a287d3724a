"""Runs of an operation in which one of its writes goes wrong, for every write; and what the operation may say."""

from __future__ import annotations

import time
from functools import partial
from types import SimpleNamespace

from hbstore import CommitStateUnknown, StoreUnavailable
from hbstore.store import check, publication_change, purge
from hbstore.store.hive import services
from hbstore.store.hive.lock_table import LockTableRow
from hbstore.store.partition_store import PartitionStore
from hbstore.store.purge import Purger
from hbstore.store.timelines import stored_timelines
from tests.pauses import without_patience, without_pauses
from tests.store.faults import Crash, FaultyRows

MOST = 200
"""No operation writes so often."""

LOCK_TIME = 1_385_000_000.0
"""The time in seconds that a store's locks, transactions and publications are told."""

ids = {"ids": lambda one: getattr(one, "__name__", None)}
"""For parametrizations over operations: their names."""


def make_impatient(monkeypatch):
    """Nobody waits for anybody, what was begun is old at once, two rows are many, and no lock gets older."""
    later = SimpleNamespace(time=lambda: time.time() + 60, sleep=lambda _seconds: None)
    monkeypatch.setattr(stored_timelines, "time", later)
    monkeypatch.setattr(publication_change, "time", SimpleNamespace(time=lambda: LOCK_TIME))
    without_pauses(monkeypatch)
    without_patience(monkeypatch)
    monkeypatch.setattr(services, "LockTableRow", partial(LockTableRow, clock=lambda: LOCK_TIME))
    monkeypatch.setattr(check, "PAYLOAD_AGE", -1.0)
    monkeypatch.setattr(purge, "FEW", 1)
    monkeypatch.setattr(Purger, "begin", _purge_at_once)


def _purge_at_once(purger):
    """Of a purger: in the process that drops the table, not in a thread, so that it has its faults, too."""
    purger._again = True
    purger._run()


def struck(fresh, operation, fault, least=1):
    """Every run of the operation in which the fault happens: the store, the faulty rows, how the call ended.

    Args:
        fresh: makes the store of a run.
        operation: what to do with it.
        fault: what goes wrong.
        least: how many writes the operation makes at least.
    """
    for at in range(MOST):
        store = fresh()
        faulty = FaultyRows(store.rows, fault, at)
        try:
            operation(PartitionStore(faulty))
            ended = None
        except (Crash, StoreUnavailable, CommitStateUnknown) as error:
            ended = type(error)
        if not faulty.struck:
            assert at >= least, "the operation hardly writes"
            assert ended is None
            return
        yield store, faulty, ended
    raise AssertionError("the operation does not end")


def check_outcome(seen, ended, before, after):
    """What the operation said is true: what is there now is all of it, or nothing, or either where it could not say."""
    if ended is None:
        assert seen == after, "acknowledged, and not there"
    elif ended is StoreUnavailable:
        assert seen == before, "StoreUnavailable promises that nothing was changed"
    else:
        assert seen in (before, after), "neither all nor nothing"
