"""Long reads from SQLite: one thread reads at a time, short reads do not wait, and mapped pages do not stay."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hbstore.rows import connect
from hbstore.rows.interface import PartitionRow
from hbstore.rows.sqlite.connection import BATON

ROOT = Path(__file__).parents[2]
ROWS = 3_000
EVERYTHING = (b"t", b"u")
SECONDS = 60

PROGRAM = """
import re, sys, threading
from pathlib import Path
from hbstore.rows import connect
from hbstore.rows.sqlite import connection

def mapped():
    return int(re.search(r"RssFile:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])

def read():
    with rows.snapshot():
        return sum(len(page) for page in rows.payloads(b"t", b"u"))

path, long_read, others = sys.argv[1:]
connection.LONG_READ = float(long_read)
rows = connect(path)
done = threading.Event()
for _ in range(int(others)):
    opened = threading.Event()
    threading.Thread(target=lambda: (rows.get(b"T"), opened.set(), done.wait())).start()
    opened.wait()
before = mapped()
read()
first = mapped()
assert read() == sum(1 for page in rows.payloads(b"t", b"u") for _ in page) == 40_000
read()
print(first - before, mapped() - before)
done.set()
"""


def filled(path, number, size=20):
    rows = connect(f"sqlite://{path}")
    rows.write(
        [PartitionRow(b"t%08d" % at, (b"\x02%08d\0" % at,), b"%08d" % at + bytes(size)) for at in range(number)], [], 1
    )
    return rows


@pytest.fixture
def rows(tmp_path):
    opened = filled(tmp_path / "store.db", ROWS)
    yield opened
    opened.close()


def in_thread(function):
    """A thread that runs a function, and what it returned, in a list."""
    found = []
    thread = threading.Thread(target=lambda: found.append(function()), daemon=True)
    thread.start()
    return thread, found


def everything(rows):
    return [payload for page in rows.payloads(*EVERYTHING) for payload in page]


def test_a_long_read_waits_for_another_and_short_ones_do_not(rows):
    keys = [b"t%08d" % at for at in range(100)]
    with BATON.lock:
        long_one, found = in_thread(lambda: everything(rows))
        short_ones = [
            in_thread(lambda: rows.multi_get(keys)),
            in_thread(lambda: list(rows.scan(*EVERYTHING, limit=200))),
            in_thread(lambda: list(rows.payloads(b"t", keys[-1]))),
            in_thread(lambda: rows.count(*EVERYTHING)),
        ]
        for thread, _ in short_ones:
            thread.join(SECONDS)
        assert all(given for _, given in short_ones)
        long_one.join(0.1)
        assert not found
    long_one.join(SECONDS)
    assert len(found[0]) == ROWS


def test_threads_that_read_everything_at_once(rows):
    expected = everything(rows)
    threads = [in_thread(lambda: everything(rows)) for _ in range(8)]
    for thread, found in threads:
        thread.join(SECONDS)
        assert found == [expected]


def test_a_forked_child_reads_though_nobody_gives_it_the_baton(rows):
    everything(rows)
    held, let_go = threading.Event(), threading.Event()

    def hold():
        with BATON.lock:
            held.set()
            let_go.wait(SECONDS)

    holder, _ = in_thread(hold)
    assert held.wait(SECONDS)
    child = os.fork()
    if not child:
        try:
            thread, found = in_thread(lambda: everything(rows))
            thread.join(SECONDS)
            os._exit(0 if found and len(found[0]) == ROWS else 1)
        finally:
            os._exit(2)
    let_go.set()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    holder.join(SECONDS)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")
def test_pages_of_a_long_read_do_not_stay_in_memory_where_others_map_the_file(tmp_path):
    filled(tmp_path / "store.db", 40_000, 780).close()  # 38 MB

    def run(long_read, others):
        words = [sys.executable, "-c", PROGRAM, f"sqlite://{tmp_path}/store.db", str(long_read), str(others)]
        return [int(word) for word in subprocess.run(words, capture_output=True, check=True, cwd=ROOT).stdout.split()]

    assert min(run(1e9, 3)) > 30_000  # kilobytes
    assert max(run(0, 3)) < 5_000
    assert min(run(0, 0)) > 30_000  # alone, they may as well stay
