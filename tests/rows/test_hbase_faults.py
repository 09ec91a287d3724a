"""HBase and its gateway killed, stopped and restarted under a store's hands."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from hbstore.errors import CommitStateUnknown, StoreUnavailable
from hbstore.keys.row_key import successor
from hbstore.rows.hbase.filters import single_column
from hbstore.rows.hbase.idl import IllegalArgument
from hbstore.rows.hbase.rows import connect_hbase
from hbstore.rows.hbase.scan import RangeScan
from hbstore.rows.hbase.wire import read_scanner
from hbstore.rows.interface import PartitionRow
from tests import hbase_server
from tests.pauses import idle, until
from tests.processes import runs, state, threads

pytestmark = [pytest.mark.hbase, pytest.mark.slow]


@pytest.fixture
def prefix(request):
    return f"{request.node.name}\0".encode()


@pytest.fixture
def connect(own_hbase):
    stores = []

    def connected(options=""):
        stores.append(connect_hbase(own_hbase.url("faults") + options))
        return stores[-1]

    connected("?timeout=60")
    yield connected
    for rows in stores:
        rows.close()


def table_of(prefix, size):
    return [PartitionRow(b"%s%06d" % (prefix, at), (b"\x02%d\0" % (at % 9),), b"x" * 500) for at in range(size)]


def stored(table):
    return [(row.key, row.payload) for row in table]


def test_a_restarted_gateway_goes_unnoticed(own_hbase, connect, prefix):
    rows = connect("?timeout=20")
    table = table_of(prefix, 50)
    rows.write(table, [], 1)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda row: rows.multi_get([row.key]), table))
    own_hbase.kill_one("thrift")
    own_hbase.start()
    assert rows.multi_get([row.key for row in table]) == stored(table)
    own_hbase.kill_one("thrift")
    own_hbase.start()
    assert rows.compare_and_put(b"T " + prefix, "d:def", None, b"1")


def test_reads_wait_while_the_gateway_restarts(own_hbase, connect, prefix):
    rows = connect("?timeout=60&retries=20")
    table = table_of(prefix, 50)
    rows.write(table, [], 1)
    own_hbase.kill_one("thrift")
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(lambda: list(rows.scan(prefix, successor(prefix))))
        idle(0.5)
        own_hbase.start()
        assert reading.result() == [stored(table)]


def test_a_scan_goes_on_after_the_gateway_restarted(own_hbase, connect, prefix):
    rows = connect("?timeout=60&retries=20")
    table = table_of(prefix, 5000)
    rows.write(table, [], 1)
    for what in ("thrift", "hbase"):
        scan = rows.scan(prefix, successor(prefix))
        found = list(next(scan))
        own_hbase.kill_one(what)
        own_hbase.start()
        found += itertools.chain.from_iterable(scan)
        assert found == stored(table)


def test_a_scan_goes_on_after_its_scanner_expired(connect, prefix):
    rows = connect()
    table = table_of(prefix, 3000)
    rows.write(table, [], 1)
    scan = RangeScan(rows._pool, rows._partitions, prefix, successor(prefix), [b"p:p"])
    batches = scan.batches()
    found = list(next(batches))
    scan._scanner.link.orphans.append(scan._scanner.number)
    scan._scanner.link.send()
    found += itertools.chain.from_iterable(batches)
    assert [key for key, _ in found] == [row.key for row in table]


def test_a_scanner_is_closed_with_the_next_read(connect, prefix):
    rows = connect("?pool=1")
    table = table_of(prefix, 3)
    rows.write(table, [], 1)
    assert [one for batch in rows.scan(prefix, successor(prefix)) for one in batch] == stored(table)
    (link,) = rows._pool._idle
    (number,) = link.orphans
    assert rows.multi_get([table[0].key]) == stored(table[:1])
    assert link.orphans == []
    link.until(time.monotonic() + 10)
    link.send(read_scanner(number, 1))
    with pytest.raises(IllegalArgument):
        link.replies.rows()


def test_hbase_is_killed_in_the_middle_of_writes(own_hbase, connect, prefix):
    rows = connect("?timeout=3&retries=1")
    acknowledged, doubtful, unchanged = [], [], []
    stop = threading.Event()

    def write(writer):
        for number in itertools.count():
            if stop.is_set():
                return
            batch = table_of(b"%s%d-%05d-" % (prefix, writer, number), 20)
            try:
                rows.write(batch, [], number + 1)
            except CommitStateUnknown:
                doubtful.extend(batch)
            except StoreUnavailable:
                unchanged.extend(batch)
            else:
                acknowledged.extend(batch)

    with ThreadPoolExecutor(3) as pool:
        writers = [pool.submit(write, writer) for writer in range(3)]
        for what in ("hbase", "thrift", "hbase"):
            more_are_written(acknowledged)
            own_hbase.kill_one(what)
            idle(0.5)
            own_hbase.start()
        more_are_written(acknowledged)
        stop.set()
        for writer in writers:
            writer.result()
    patient = connect("?timeout=60")
    found = [one for batch in patient.scan(prefix, successor(prefix)) for one in batch]
    assert {row.key for row in acknowledged} <= {key for key, _ in found}
    assert not {row.key for row in unchanged} & {key for key, _ in found}
    assert {key for key, _ in found} <= {row.key for row in acknowledged + doubtful}
    patient.write(doubtful, [], 1)
    found = [one for batch in patient.scan(prefix, successor(prefix)) for one in batch]
    assert found == sorted(stored(acknowledged + doubtful))


def more_are_written(acknowledged):
    """Wait until writers have got on."""
    before = len(acknowledged)
    until(lambda: len(acknowledged) >= before + 100)


def fails(call, error):
    """It ends by itself, though nobody answers."""
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    assert caught.value.fields["host"] == "127.0.0.1"
    assert caught.value.hint


def all_calls_fail(rows, prefix):
    row = table_of(prefix, 1)[0]
    for call, error in (
        (lambda: rows.get(b"T x"), StoreUnavailable),
        (lambda: rows.multi_get([row.key]), StoreUnavailable),
        (lambda: list(rows.scan(prefix, successor(prefix))), StoreUnavailable),
        (lambda: rows.first_key(prefix, successor(prefix)), StoreUnavailable),
        (lambda: rows.write([row], [], 1), CommitStateUnknown),
        (lambda: rows.compare_and_put(b"T x", "d:def", b"never", b"1"), CommitStateUnknown),
    ):
        fails(call, error)


def wait_until_stopped(pid):
    """On a busy machine a process may still answer after it was told to stop."""
    until(lambda: all(state(f"{pid}/task/{thread}")[1] in ("", *"TtZX") for thread in threads(pid)))


@pytest.mark.parametrize("who", ["master", "gateway"])
def test_a_stopped_process_is_waited_for_until_the_timeout(own_hbase, connect, prefix, who):
    patient = connect("?timeout=60")
    patient.write(table_of(prefix, 10), [], 1)
    rows = connect("?timeout=1.5")
    process = getattr(own_hbase, who)
    process.signal(signal.SIGSTOP)
    try:
        wait_until_stopped(process.pid)
        all_calls_fail(rows, prefix)
        fails(lambda: connect("?timeout=1"), StoreUnavailable)
    finally:
        process.signal(signal.SIGCONT)
    assert patient.multi_get([prefix + b"000003"])
    assert rows.multi_get([prefix + b"000003"])


def test_hbase_is_gone_and_its_gateway_is_there(own_hbase, connect, prefix):
    patient = connect("?timeout=60")
    patient.write(table_of(prefix, 10), [], 1)
    rows = connect("?timeout=1.5&retries=1")
    own_hbase.kill_one("hbase")
    all_calls_fail(rows, prefix)
    own_hbase.start()
    assert patient.multi_get([prefix + b"000003"])
    assert len(rows.multi_get([row.key for row in table_of(prefix, 10)])) == 10


def test_nothing_is_in_doubt_when_the_gateway_is_gone(own_hbase, connect, prefix):
    rows = connect("?timeout=1.5&retries=1")
    own_hbase.kill_one("thrift")
    fails(lambda: rows.write(table_of(prefix, 1), [], 1), StoreUnavailable)
    fails(lambda: rows.compare_and_put(b"T x", "d:def", None, b"1"), StoreUnavailable)


def test_a_filter_that_selects_nothing_may_take_longer_than_the_timeout(connect, prefix):
    table = table_of(prefix, 10_000)
    patient = connect("?timeout=60")
    patient.write(table, [], 1)
    nothing = b" OR ".join(single_column(0, b"=", b"regexstring", b"\\A.*no%d.*such\\z" % at) for at in range(800))

    def selected(rows):
        scan = RangeScan(rows._pool, rows._partitions, prefix, successor(prefix), [b"p:p", b"k:0"], nothing)
        return list(scan.batches())

    began = time.monotonic()
    assert selected(patient) == []
    taken = time.monotonic() - began  # on a slow machine each request takes longer, too
    assert selected(connect(f"?timeout={max(1, taken / 2):.1f}&retries=0")) == []


def test_no_process_is_left_when_the_tests_are_killed(tmp_path):
    script = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tests.hbase_server import load_dev_hbase
hbase = load_dev_hbase().DevHBase(Path(sys.argv[1]), guarded=True, quick=True)
hbase.start()
print(hbase.master.pid, hbase.gateway.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    command = [sys.executable, "-c", script, str(tmp_path), str(hbase_server.ROOT)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    assert done.returncode == -signal.SIGKILL
    pids = [int(word) for word in done.stdout.split()]
    assert len(pids) == 2
    until(lambda: not any(runs(pid) for pid in pids))


def test_up_and_down(tmp_path):
    def server(*arguments):
        command = [sys.executable, str(hbase_server.ROOT / "dev" / "hbase" / "server.py"), *arguments]
        return subprocess.run([*command, "--name", f"test-{os.getpid()}"], capture_output=True, text=True, check=False)

    module = hbase_server.load_dev_hbase()
    port = str(module.free_ports(1)[0])
    try:
        up = server("up", "--quick", "--port", port, "--data", str(tmp_path / "data"))
        assert up.returncode == 0, up.stderr
        assert up.stdout == f"hbase://127.0.0.1:{port}/hbstore\n"
        again = server("up")
        assert again.stdout == up.stdout
        assert "running already" in again.stderr
        assert server("status").returncode == 0
        rows = connect_hbase(up.stdout.strip())
        rows.write(table_of(b"t", 3), [], 1)
        rows.close()
        assert server("down").returncode == 0
        assert server("status").returncode == 1
        assert server("up", "--quick").stdout == up.stdout
        rows = connect_hbase(up.stdout.strip() + "?timeout=60")
        assert rows.count(b"t", b"u") == 3
        rows.close()
    finally:
        server("down")
        module.DevHBase(hbase_server.ROOT / "dev" / "hbase" / "run" / f"test-{os.getpid()}").remove()
