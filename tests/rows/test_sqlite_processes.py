"""Several processes on one file: killed ones, racing ones, forked ones."""

import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from hbstore import rows as ordered_rows
from hbstore.errors import StoreUnavailable
from hbstore.rows.interface import PartitionRow
from tests.rows.contract import in_thread, read

ROOT = Path(__file__).parents[2]
EVERYTHING = (b"", b"\xff")
BATCH = 200
LARGE = 40_000
"""Rows of a transaction that does not fit the cache of its pages, so that a part of it is in the WAL already."""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


def start(function, *arguments):
    """A process of its own that runs one of this module's functions."""
    code = f"import sys; from tests.rows.test_sqlite_processes import {function} as run; run(*sys.argv[1:])"
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], cwd=ROOT, stdout=subprocess.PIPE)


def write_forever(path, first):
    rows = ordered_rows.connect(path)
    for number in range(int(first), 1_000_000):
        puts = [PartitionRow(b"%06d %03d" % (number, at), (b"\x01",), os.urandom(700)) for at in range(BATCH)]
        with rows.transaction():
            rows.write(puts[: BATCH // 2], [], number)
            rows.write(puts[BATCH // 2 :], [], number)
            rows.compare_and_put(b"T", "i:log", (rows.get(b"T") or {}).get("i:log"), b"%d" % number)
        os.write(1, b"%d\n" % number)


def test_a_killed_writer_leaves_whole_batches_and_all_that_were_acknowledged(path):
    first = 0
    for turn in range(12):
        writer = start("write_forever", path, first)
        acknowledged = [int(writer.stdout.readline()) for _ in range(turn + 1)]
        writer.send_signal(signal.SIGKILL)
        acknowledged += [int(line) for line in writer.stdout.read().split(b"\n") if line]
        writer.wait()
        rows = ordered_rows.connect(path)
        found = {}
        for key, _ in read(rows, *EVERYTHING):
            found[int(key[:6])] = found.get(int(key[:6]), 0) + 1
        assert set(found.values()) == {BATCH}
        last = max(found)
        assert list(found) == list(range(last + 1))
        assert acknowledged[-1] <= last <= acknowledged[-1] + 1
        assert rows.get(b"T") == {"i:log": b"%d" % last}
        with rows._connections.mine() as sqlite:
            assert sqlite.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        rows.close()
        first = last + 1


def count_up(path, times):
    rows = ordered_rows.connect(path)
    won = 0
    while won < int(times):
        current = (rows.get(b"T") or {}).get("i:log")
        won += rows.compare_and_put(b"T", "i:log", current, b"%d" % (int(current or 0) + 1))
    rows.close()


def test_processes_that_race_for_a_cell_lose_no_update(path):
    """They create the store at the same moment, too."""
    counters = [start("count_up", path, 50) for _ in range(4)]
    assert [counter.wait(120) for counter in counters] == [0] * 4
    for counter in counters:
        counter.stdout.close()
    rows = ordered_rows.connect(path)
    assert rows.get(b"T") == {"i:log": b"200"}
    rows.close()


def in_child(function):
    """What a forked child's function returns as text; the parent goes on behind it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            os.write(writing, str(function()).encode())
        except BaseException as error:  # noqa: BLE001  a child must not go on with the tests
            os.write(writing, repr(error).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return text


def put(rows, number):
    rows.write([PartitionRow(b"%06d" % number, (b"\x01",), b"p")], [], number)
    return rows.count(*EVERYTHING)


def test_a_forked_child_goes_on_with_a_connection_of_its_own(path):
    rows = ordered_rows.connect(path)
    assert put(rows, 1) == 1
    assert in_child(lambda: put(rows, 2)) == "2"
    assert put(rows, 3) == 3
    assert in_child(lambda: in_child(lambda: put(rows, 4))) == "4"
    assert rows.count(*EVERYTHING) == 4
    rows.close()


def test_connections_are_closed_before_a_fork(path):
    """A child that inherited one would believe in locks that are not its own, and lose writes to a deleted WAL."""
    rows = ordered_rows.connect(path)
    put(rows, 1)
    before_child, in_parent = os.pipe()
    ready, done = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            put(rows, 2)
            os.write(done, b"x")
            os.read(before_child, 1)  # by now the parent has closed the store
            put(rows, 3)
        finally:
            os._exit(0)
    os.read(ready, 1)
    put(rows, 4)
    rows.close()
    assert path.with_name("store.db-wal").exists(), "the child still uses it"
    os.write(in_parent, b"x")
    os.waitpid(child, 0)
    for descriptor in (before_child, in_parent, ready, done):
        os.close(descriptor)
    rows = ordered_rows.connect(path)
    assert [key for key, _ in read(rows, *EVERYTHING)] == [b"%06d" % number for number in (1, 2, 3, 4)]
    rows.close()


def test_a_fork_inside_a_transaction_leaves_it_to_the_parent(path):
    rows = ordered_rows.connect(f"sqlite://{path}?timeout=0.2")
    with rows.transaction():
        put(rows, 1)
        answer = in_child(lambda: put(rows, 2))
        assert answer.startswith("StoreUnavailable")
        assert "transaction has ended" in answer
        put(rows, 3)
    assert rows.count(*EVERYTHING) == 2
    assert in_child(lambda: put(rows, 4)) == "3"
    rows.close()


def fork_inside_a_transaction(path):
    """Its child ends as programs do, and so frees what it inherited; prints the rows that the parent has then."""
    rows = ordered_rows.connect(path)
    put(rows, 0)  # the WAL has a page of an earlier transaction
    with rows.transaction():
        rows.write([PartitionRow(b"%06d" % at, (b"\x01",), os.urandom(1_000)) for at in range(LARGE)], [], 1)
        child = os.fork()
        if child == 0:
            return
        os.waitpid(child, 0)
        os.write(1, b"%d " % sum(len(page) for page in rows.scan(*EVERYTHING)))
    os.write(1, b"%d" % sum(len(page) for page in rows.scan(*EVERYTHING)))


def test_the_end_of_a_child_takes_nothing_from_a_transaction(path):
    """Closing its connection would roll back, and the pages that the transaction has in the WAL already are lost."""
    process = start("fork_inside_a_transaction", path)
    assert process.communicate(timeout=60)[0].split() == [b"%d" % LARGE] * 2
    assert process.returncode == 0
    with closing(sqlite3.connect(path)) as sqlite:
        assert sqlite.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_fork_while_other_threads_read(path):
    rows = ordered_rows.connect(path)
    rows.write([PartitionRow(b"x%06d" % number, (b"\x01",), b"p" * 700) for number in range(5000)], [], 1)
    stop = []

    def read_on():
        rounds = 0
        while not stop:
            assert len(read(rows, b"x", b"y")) == 5000
            rounds += 1
        return rounds

    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(read_on) for _ in range(2)]
        try:
            answers = [in_child(lambda: in_thread(lambda: len(read(rows, b"x", b"y")))) for _ in range(30)]
        finally:
            stop.append(True)
        assert all(reader.result() for reader in readers)
    assert answers == ["5000"] * 30
    rows.close()


def test_a_closed_store_stays_closed_in_a_child(path):
    rows = ordered_rows.connect(path)
    put(rows, 1)
    rows.close()
    assert in_child(lambda: put(rows, 2)).startswith(StoreUnavailable.__name__)
