"""A cell that many change at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from hbstore import CommitStateUnknown, ConcurrentChange, connect
from hbstore.store import shared_cell
from hbstore.store.shared_cell import change_cell, content_of
from tests.pauses import without_pauses
from tests.store.faults import Fault, FaultyRows

KEY, CELL = b"Tcells\0shared", "i:writes"


@pytest.fixture
def rows(services):
    services.rows.clear(KEY, CELL)
    return services.rows


def content(rows):
    return content_of(rows.get(KEY) or {}, CELL)


def add(some):
    return lambda content: (content + some, len(content))


def test_it_can_be_filled_and_emptied(rows):
    assert content(rows) == b""
    assert change_cell(rows, KEY, CELL, add(b"a")) == 0
    assert change_cell(rows, KEY, CELL, add(b"b")) == 1
    assert content(rows) == b"ab"
    change_cell(rows, KEY, CELL, lambda _: (b"", None))
    assert content(rows) == b""
    assert change_cell(rows, KEY, CELL, add(b"b")) == 0


def test_a_change_may_leave_it_or_fail(rows):
    change_cell(rows, KEY, CELL, add(b"a"))
    before = rows.get(KEY)
    assert change_cell(rows, KEY, CELL, lambda content: (None, content)) == b"a"
    with pytest.raises(ZeroDivisionError):
        change_cell(rows, KEY, CELL, lambda _: (b"b", 1 // 0))
    assert rows.get(KEY) == before


def test_no_change_is_lost_among_threads(rows):
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: change_cell(rows, KEY, CELL, add(b".")), range(60)))
    assert sorted(found) == list(range(60))
    assert content(rows) == b"." * 60


def test_two_equal_states_are_not_the_same():
    """A change that arrives late finds another state, even where that looks like the one it began with."""
    with connect("memory://") as store:
        change_cell(store.rows, KEY, CELL, add(b"a"))
        late = FaultyRows(store.rows, Fault.LATE, 0)
        with pytest.raises(CommitStateUnknown):
            change_cell(late, KEY, CELL, lambda _: (b"late", None))
        for text in (b"b", b"a"):
            change_cell(store.rows, KEY, CELL, lambda _, text=text: (text, None))
        late.arrive()
        assert content(store.rows) == b"a"


def test_one_that_is_always_beaten_gives_up(monkeypatch):
    without_pauses(monkeypatch)
    monkeypatch.setattr(shared_cell, "_ATTEMPTS", 5)
    with connect("memory://") as store:

        def beaten(found):
            change_cell(store.rows, KEY, CELL, add(b"."))
            return found + b"x", None

        with pytest.raises(ConcurrentChange):
            change_cell(store.rows, KEY, CELL, beaten)
        assert content(store.rows) == b"." * 5
