"""A store's rows with two tables, and tests in which nobody waits."""

from __future__ import annotations

import pytest

from hbstore import connect
from hbstore.transactions import attempt
from hbstore.transactions.transactions import Transactions
from tests.pauses import without_pauses
from tests.store.copies import copies_of
from tests.transactions import steps


@pytest.fixture(params=[attempt.MAX_LISTED, 0], ids=["listed", "stored"])
def impatient(request, monkeypatch):
    """Nobody waits; what is written stands in the log, or all of it in payload rows."""
    monkeypatch.setattr(attempt, "MAX_LISTED", request.param)
    without_pauses(monkeypatch)


@copies_of
def fresh():
    """A store as it is before each run of a step."""
    store = connect("memory://?atomic=false")
    steps.prepare(Transactions(store.rows, steps.AT_ONCE))
    return store
