"""Cells that many change at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from hbstore import CommitStateUnknown, ConcurrentChange, connect
from hbstore.store import shared_cell
from hbstore.store.shared_cell import change_cell, content_of, read_cell
from tests.pauses import without_pauses
from tests.store.faults import Fault, FaultyRows

KEY, CELL = b"L", "d:ledger"


def add(some):
    return lambda content: (content + some, len(content))


def test_it_holds_nothing_before_it_is_changed(services):
    assert read_cell(services.rows, KEY, CELL) == b""
    assert change_cell(services.rows, KEY, CELL, add(b"a")) == 0
    assert change_cell(services.rows, KEY, CELL, add(b"b")) == 1
    assert read_cell(services.rows, KEY, CELL) == b"ab"
    assert content_of(services.rows.get(KEY), CELL) == b"ab"


def test_a_change_may_leave_it_or_fail(services):
    change_cell(services.rows, KEY, CELL, add(b"a"))
    before = services.rows.get(KEY)
    assert change_cell(services.rows, KEY, CELL, lambda content: (None, content)) == b"a"
    with pytest.raises(ZeroDivisionError):
        change_cell(services.rows, KEY, CELL, lambda _: (b"b", 1 // 0))
    assert services.rows.get(KEY) == before


def test_it_can_be_emptied_and_filled_again(services):
    change_cell(services.rows, KEY, CELL, add(b"a"))
    change_cell(services.rows, KEY, CELL, lambda _: (b"", None))
    assert read_cell(services.rows, KEY, CELL) == b""
    assert change_cell(services.rows, KEY, CELL, add(b"b")) == 0


def test_no_change_is_lost_among_threads(url):
    with connect(url) as store, ThreadPoolExecutor(6) as pool:
        store.rows.clear(KEY, CELL)
        found = list(pool.map(lambda _: change_cell(store.rows, KEY, CELL, add(b".")), range(60)))
        assert sorted(found) == list(range(60))
        assert read_cell(store.rows, KEY, CELL) == b"." * 60


def test_two_equal_states_are_not_the_same():
    """A change that arrives late finds another state, even where that looks like the one it began with."""
    with connect("memory://") as store:
        change_cell(store.rows, KEY, CELL, add(b"a"))
        late = FaultyRows(store.rows, Fault.LATE, 0)
        with pytest.raises(CommitStateUnknown):
            change_cell(late, KEY, CELL, lambda _: (b"late", None))
        for content in (b"b", b"a"):
            change_cell(store.rows, KEY, CELL, lambda _, content=content: (content, None))
        late.arrive()
        assert read_cell(store.rows, KEY, CELL) == b"a"


def test_one_that_is_always_beaten_gives_up(monkeypatch):
    without_pauses(monkeypatch)
    monkeypatch.setattr(shared_cell, "_ATTEMPTS", 5)
    with connect("memory://") as store:

        def beaten(content):
            change_cell(store.rows, KEY, CELL, add(b"."))
            return content + b"x", None

        with pytest.raises(ConcurrentChange):
            change_cell(store.rows, KEY, CELL, beaten)
        assert read_cell(store.rows, KEY, CELL) == b"." * 5
