"""What a transaction promises on every backend."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import uuid

import pytest

from hbstore import connect
from hbstore.errors import AlreadyExists, CorruptRow, InvalidInput, StoreBusy
from hbstore.rows.interface import CatalogCell
from hbstore.rows.memory import MemoryRows
from hbstore.store.check import repair_catalog
from hbstore.transactions import attempt
from hbstore.transactions.identity import new_id
from hbstore.transactions.log import LOG, Commit, Intent, Log
from hbstore.transactions.payloads import PAYLOAD_KEYS, old_payloads, put_payload
from hbstore.transactions.transactions import Transactions
from hbstore.transactions.waiting import Patience
from tests.backends import BACKENDS, backend_url
from tests.transactions import steps


@pytest.fixture(params=BACKENDS)
def rows(request, tmp_path):
    with connect(backend_url(request, tmp_path)) as store:
        yield store.rows


@pytest.fixture
def row():
    """A row that no other test has, as one HBase serves them all."""
    return b"X" + uuid.uuid4().hex.encode()


def test_what_each_step_does_is_the_same_on_every_backend(rows, monkeypatch):
    """In the order of the table, and then once more: what cannot be done says so everywhere alike."""
    place = uuid.uuid4().hex[:8].encode()
    for name in ("DATABASE", "LEFT", "RIGHT", "COMPANION"):
        monkeypatch.setattr(steps, name, getattr(steps, name) + place)
    prefixes = {steps.LEFT: place + b"left\0", steps.RIGHT: place + b"right\0"}
    monkeypatch.setattr(steps, "PREFIX", prefixes)

    def told(rows):
        steps.prepare(Transactions(rows))
        said = []
        for step in [*steps.STEPS.values()] * 2:
            try:
                said.append(steps.run(step, rows))
            except Exception as error:  # noqa: BLE001  compared
                said.append(type(error).__name__)
            said.append(steps.run(steps.look, rows))
        return said

    assert told(rows) == told(connect("memory://").rows)


def test_an_error_leaves_everything_as_it_is(rows, row):
    transactions = Transactions(rows)
    transactions.run(lambda transaction: transaction.row(row).set_state(b"before"))

    def fail(transaction):
        for key in (row, row + b"other"):
            transaction.row(key).set_state(b"after")
            transaction.row(key).put_cell("d:def", b"after")
        raise AlreadyExists("something already exists")

    with pytest.raises(AlreadyExists):
        transactions.run(fail)
    log, cells = transactions.read(row)
    assert (log.state, log.sequence, log.intent, cells) == (b"before", 1, None, {})
    assert transactions.read(row + b"other") == (Log(turn=0), {})


def test_threads_count_without_losing_one(rows, row):
    """Each adds to two rows; the sum of both is what all have added, and numbers are without holes."""
    transactions = Transactions(rows)
    other = row + b"other"

    def add(transaction):
        order = (row, other) if threading.get_ident() % 2 else (other, row)
        for key in order:
            view = transaction.row(key)
            view.set_state(b"%d" % (int(view.state or b"0") + 1))

    def work():
        for _ in range(8):
            transactions.run(add)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for key in (row, other):
        log = transactions.read(key)[0]
        assert (log.state, log.sequence, log.intent) == (b"32", 32, None)


def test_what_is_large_is_written_whole(rows, row):
    """More than one cell of a payload row takes."""
    large = [steps.PartitionRow(row + b"/%d" % at, (), b"%d" % at * (1 << 20)) for at in range(10)]
    transactions = Transactions(rows)
    transactions.run(lambda transaction: transaction.row(row).write(large, []))
    assert rows.multi_get([put.key for put in large]) == [(put.key, put.payload) for put in large]
    assert not [key for key, cells in rows.scan_catalog(*PAYLOAD_KEYS) if row in key and cells]


@pytest.mark.parametrize(("size", "is_stored"), [(100, False), (5_000, True)])
def test_a_short_list_of_writes_needs_no_payload_row(monkeypatch, size, is_stored):
    rows, stored = MemoryRows(atomic=False), []
    monkeypatch.setattr(attempt, "put_payload", lambda *of: stored.append(put_payload(*of)))
    put = steps.PartitionRow(b"shop/1", (), b"x" * size)
    Transactions(rows).run(lambda transaction: transaction.row(b"Tshop").write([put], []))
    assert bool(stored) is is_stored
    assert rows.multi_get([put.key]) == [(put.key, put.payload)]


def locked(rows, row, primary):
    """A row that a transaction of another process has locked, which never ends."""
    intent = Intent("1732500000/lake1/4711/ab", primary, 0, 0)
    rows.compare_and_put(row, LOG, None, Log(intent=intent).encode())


def test_a_change_that_the_log_of_one_of_its_rows_cannot_list_is_refused_before_it_is_decided(monkeypatch):
    """A row that is locked shows its cells in its log once the primary has decided: then nobody could finish it."""
    monkeypatch.setattr(attempt, "MAX_CELLS", 100)
    transactions = Transactions(MemoryRows(atomic=False), Patience(total=0.0, decided=0.0, undecided=0.0))

    def step(transaction, size):
        transaction.row(b"Xprimary").set_state(b"new")
        transaction.row(b"Xother").put_cell("d:def", b"x" * size)

    with pytest.raises(InvalidInput, match="too much into one row"):
        transactions.run(lambda transaction: step(transaction, 101))
    assert transactions.read(b"Xprimary")[0].state == b""
    transactions.run(lambda transaction: step(transaction, 100))
    assert transactions.read(b"Xother")[1] == {"d:def": b"x" * 100}


def test_who_waits_too_long_is_told_for_whom(row):
    rows = connect("memory://?atomic=false").rows
    locked(rows, row, b"Xprimary")
    transactions = Transactions(rows, Patience(total=0.2, undecided=100.0))
    with pytest.raises(StoreBusy, match="holder=process 4711 on lake1"):
        transactions.change_state(row, lambda state: (state + b"!", None))
    assert transactions.state(row) == b""  # a reader does not wait


def test_a_dead_one_is_given_up(row):
    rows = connect("memory://?atomic=false").rows
    locked(rows, row, b"Xprimary")
    transactions = Transactions(rows, Patience(undecided=0.05))
    transactions.change_state(row, lambda state: (state + b"!", None))
    assert transactions.state(row) == b"!"
    assert Log.decode(rows.get(b"Xprimary")[LOG]).turn == 1


def test_open_writes_that_are_gone():
    rows = connect("memory://?atomic=false").rows
    steps.prepare(Transactions(rows))
    log = Log.decode(rows.get(steps.LEFT)[LOG])
    commit = Commit("1/lake/7/ab", log.sequence + 1, steps.LEFT, True, ((b"shop", b"shoq"),))
    rows.compare_and_put(steps.LEFT, LOG, log.encode(), log.committed(commit, log.state).encode())
    with pytest.raises(CorruptRow, match="writes of an open commit are missing"):
        steps.run(steps.look, rows)


_KILLED = """
import sys, threading, time
from hbstore import connect
from hbstore.transactions.transactions import Transactions
from tests.transactions import steps
rows = connect(sys.argv[1]).rows
tables = [key.encode() for key in sys.argv[2:]]
prefixes = [key + b"\\0" for key in tables]
while True:
    for here, there, source, target in ((*tables, *prefixes), (*tables[::-1], *prefixes[::-1])):
        def move(transaction):
            views = transaction.row(here), transaction.row(there)
            rows_there = list(views[0].partition_rows(source, source + b"\\xff"))
            views[0].write([], [key for key, _ in rows_there])
            views[1].write([steps.PartitionRow(target + key[len(source):], (), data) for key, data in rows_there], [])
            for view, sign in zip(views, (-1, 1)):
                view.set_state(b"%d" % (int(view.state or b"0") + sign * len(rows_there)))
        Transactions(rows).run(move)
        print("moved", flush=True)
"""


@pytest.mark.parametrize("url", ["sqlite", pytest.param("hbase", marks=pytest.mark.hbase)])
def test_processes_that_are_killed_leave_all_in_one_of_two_places(request, tmp_path, url, row):
    """A process moves fifty partitions to and fro until it is killed, at any moment, again and again."""
    place = f"sqlite://{tmp_path}/store.db" if url == "sqlite" else request.getfixturevalue("hbase_url")
    tables = [row + b"/a", row + b"/b"]
    with connect(place) as store:
        transactions = Transactions(store.rows, Patience(undecided=0.1))

        def fill(transaction):
            view = transaction.row(tables[0])
            view.write([steps.PartitionRow(tables[0] + b"\0%02d" % at, (), b"%d" % at) for at in range(50)], [])
            view.set_state(b"50")

        transactions.run(fill)

        def look(transaction):
            views = [transaction.row(table) for table in tables]
            found = [list(view.partition_rows(view.key + b"\0", view.key + b"\1")) for view in views]
            return [int(view.state or b"0") for view in views], [len(some) for some in found]

        for round_number in range(6):
            process = subprocess.Popen(
                [sys.executable, "-c", _KILLED, place, *(table.decode() for table in tables)],
                stdout=subprocess.PIPE,
            )
            process.stdout.readline()
            try:
                process.wait(0.02 * round_number)
            except subprocess.TimeoutExpired:
                process.kill()
            process.wait()
            process.stdout.close()
            states, found = transactions.run(look)
            assert states == found
            assert sorted(found) == [0, 50]


def test_payload_rows_of_a_longer_key_are_anothers():
    """The key of a table's grants begins with that of its database's."""
    rows, now = MemoryRows(atomic=False), time.time() + 60
    for primary in (b"Gshop", b"Gshop\0sales"):
        put_payload(rows, primary, new_id(), b"what it writes")
    assert [len(list(old_payloads(rows, primary, now))) for primary in (b"Gshop", b"Gshop\0sales")] == [1, 1]


class MeasuredRows(MemoryRows):
    """Rows that note how many bytes of catalog cells were read."""

    read = 0

    def get(self, key):
        cells = super().get(key)
        self.read += sum(map(len, (cells or {}).values()))
        return cells

    def scan_catalog(self, start, stop, cells=None, holding=()):
        for key, found in super().scan_catalog(start, stop, cells, holding):
            self.read += sum(map(len, found.values()))
            yield key, found


def test_repair_of_the_catalog_reads_none_of_the_lists_of_writes_that_dead_processes_left():
    """They may be many and large: read into one list, they filled the memory of the process that repairs."""
    rows, half_written = MeasuredRows(atomic=False), MemoryRows(atomic=False)
    transactions = Transactions(rows)
    transactions.run(lambda transaction: transaction.row(b"Gshop").set_state(b"there"))
    for number in range(30):
        put_payload(rows, b"Gshop", f"1732500000/lake1/{number}/ab", bytes(5 << 20))
    put_payload(half_written, b"Gshop", "1732500000/lake1/30/ab", bytes(5 << 20))
    ((key, cells),) = half_written.scan_catalog(*PAYLOAD_KEYS)
    sent = next(iter(cells))  # before the process died
    rows.put_cells([CatalogCell(key, sent, cells[sent])], 1)
    assert repair_catalog(transactions) == 1
    assert rows.read < 1 << 20
    assert list(rows.scan_catalog(*PAYLOAD_KEYS)) == []
