import threading

import pytest

from hbstore import rows
from hbstore.keys.row_key import text_cell
from hbstore.keys.types import parse_type
from hbstore.rows.interface import PartitionRow
from hbstore.rows.memory import MemoryRows
from hbstore.rows.predicate import AnyOf, CellIn

STRING = parse_type("string")


def row(text, payload=b"p"):
    cell = text_cell(STRING, text)
    return PartitionRow(cell, (cell,), payload)


def write_and_fail(found):
    with found.transaction():
        found.write([row("b")], [row("a").key], 2)
        raise InterruptedError


def test_every_connect_is_a_store_of_its_own():
    one, two = rows.connect("memory://"), rows.connect("memory://")
    one.write([row("a")], [], 1)
    assert two.count(b"", b"\xff") == 0


def test_without_transactions_it_says_so():
    found = rows.connect("memory://?atomic=false")
    assert not found.atomic
    with pytest.raises(RuntimeError), found.transaction():
        pass


def test_an_old_delete_leaves_no_trace_that_hides_a_newer_put():
    found = MemoryRows(atomic=False)
    found.write([], [row("a").key], 5)
    found.write([row("a", b"older")], [], 4)
    assert found.multi_get([row("a").key]) == []
    found.write([row("a", b"newer")], [], 6)
    assert found.multi_get([row("a").key]) == [(row("a").key, b"newer")]


def test_readers_wait_for_a_transaction():
    found = MemoryRows()
    seen, started = [], threading.Event()

    def read():
        started.set()
        seen.append(found.count(b"", b"\xff"))

    reader = threading.Thread(target=read)
    with found.transaction():
        found.write([row("a")], [], 1)
        reader.start()
        started.wait()
        reader.join(0.05)
        assert not seen
        found.write([row("b")], [], 1)
    reader.join()
    assert seen == [2]


def test_a_transaction_in_spite_of_a_snapshot_elsewhere_is_rolled_back_whole():
    found = MemoryRows()
    found.write([row("a")], [], 1)
    pinned, done = threading.Event(), threading.Event()
    seen = []

    def hold():
        with found.snapshot():
            pinned.set()
            done.wait()
            seen.append(found.count(b"", b"\xff"))

    holder = threading.Thread(target=hold)
    holder.start()
    pinned.wait()
    with pytest.raises(InterruptedError):
        write_and_fail(found)
    found.write([row("c")], [], 3)
    done.set()
    holder.join()
    assert seen == [1]
    assert [key for batch in found.scan(b"", b"\xff") for key, _ in batch] == [row("a").key, row("c").key]


def test_cells_that_a_row_lacks_are_empty():
    found = MemoryRows()
    found.write([row("a")], [], 1)
    assert found.count(b"", b"\xff", CellIn(3, ((b"\x01", b"\xff"),))) == 0
    assert found.count(b"", b"\xff", CellIn(3, ((b"", b"\xff"),))) == 1
    assert found.count(b"", b"\xff", AnyOf((CellIn(3, ((b"\x01", b"\xff"),)), CellIn(0, ((b"\x02", b"\x03"),))))) == 1


def test_what_get_returns_is_the_callers():
    found = MemoryRows()
    found.compare_and_put(b"D x", "d:def", None, b"1")
    dict(found.get(b"D x")).clear()
    taken = found.get(b"D x")
    found.compare_and_put(b"D x", "d:def", b"1", b"2")
    assert taken == {"d:def": b"1"}
