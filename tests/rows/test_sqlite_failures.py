"""Disks that are full, stores that are locked, errors that are swallowed: nothing is ever half written."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections import deque
from contextlib import suppress
from pathlib import Path

import pytest

from hbstore import Column, Partition, Table, connect
from hbstore import rows as ordered_rows
from hbstore.errors import StoreFull, StoreReadOnly, StoreUnavailable
from hbstore.rows.interface import PartitionRow
from hbstore.rows.predicate import CellLike
from hbstore.rows.sqlite import reserve
from tests.rows.contract import in_thread, read

EVERYTHING = (b"", b"\xff")


def batch(number, size=50, payload=2000):
    return [PartitionRow(b"%06d %06d" % (number, at), (b"\x01",), os.urandom(payload)) for at in range(size)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def rows(path):
    found = ordered_rows.connect(path)
    found.compare_and_put(b"D shop", "d:def", None, b"1")
    found.write(batch(0), [], 1)
    yield found
    found.close()


def write_until(rows, error, batches=1000):
    """Writes batches until that error; afterwards exactly the acknowledged ones are there, and reading works."""
    acknowledged = 0
    with pytest.raises(error) as caught:  # noqa: PT012
        for number in range(1, batches):
            rows.write(batch(number), [b"%06d %06d" % (number - 1, 0)], number)
            acknowledged = number
    found = {}
    for key, _ in read(rows, *EVERYTHING):
        found.setdefault(int(key[:6]), []).append(key)
    assert list(found) == list(range(acknowledged + 1))
    assert [len(keys) for keys in found.values()] == [49] * acknowledged + [50]
    return caught.value


def test_a_file_at_its_greatest_size(rows):
    with rows._connections.mine() as sqlite:
        sqlite.execute("PRAGMA max_page_count = 60")
    error = write_until(rows, StoreFull)
    assert error.hint
    with rows._connections.mine() as sqlite:
        sqlite.execute("PRAGMA max_page_count = 100000")
    rows.write(batch(900), [], 900)


def test_full_in_the_middle_of_a_transaction(rows):
    with rows._connections.mine() as sqlite:
        sqlite.execute("PRAGMA max_page_count = 40")
    with pytest.raises(StoreFull), rows.transaction():  # noqa: PT012
        rows.compare_and_put(b"D shop", "d:def", b"1", b"2")
        rows.write(batch(1), [], 1)
        rows.write(batch(2, 500), [], 1)
    assert rows.get(b"D shop") == {"d:def": b"1"}
    assert rows.count(*EVERYTHING) == 50


def test_a_swallowed_error_cannot_be_committed(rows):
    with rows._connections.mine() as sqlite:
        sqlite.execute("PRAGMA max_page_count = 40")
    with pytest.raises(StoreUnavailable, match="transaction has ended"), rows.transaction():  # noqa: PT012
        rows.compare_and_put(b"D shop", "d:def", b"1", b"2")
        with pytest.raises(StoreFull):
            rows.write(batch(2, 500), [], 1)
        with pytest.raises(StoreUnavailable, match="transaction has ended"):
            rows.compare_and_put(b"D shop", "d:def", b"1", b"3")
        with pytest.raises(StoreUnavailable, match="transaction has ended"):
            rows.write(batch(3, 1), [], 1)
    assert rows.get(b"D shop") == {"d:def": b"1"}
    assert rows.count(*EVERYTHING) == 50


def test_a_row_that_cannot_be_bound_undoes_its_batch(rows):
    with pytest.raises((sqlite3.Error, StoreUnavailable)):
        rows.write([*batch(1), PartitionRow(b"9", (object(),), b"")], [b"000000 000000"], 1)
    with pytest.raises(TypeError):
        rows.write([*batch(1), PartitionRow(b"9", None, b"")], [b"000000 000000"], 1)
    assert rows.count(*EVERYTHING) == 50


_LIMITED = """
import resource, sys
sys.path.insert(0, sys.argv[2])
from tests.rows.test_sqlite_failures import limited
limited(sys.argv[1], resource)
"""


def limited(url, resource):
    """Runs in a process that may not write files beyond 2 MB: writing fails as on a broken disk."""
    rows = ordered_rows.connect(url)
    rows.write(batch(0), [], 1)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, 2 << 20))
    write_until(rows, StoreUnavailable)
    os._exit(0)  # closing would copy the WAL into the file, which may not grow either


def test_a_file_size_limit_of_the_process(path):
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED, str(path), root], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    rows = ordered_rows.connect(path)
    with rows._connections.mine() as sqlite:
        assert sqlite.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    rows.close()


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 6 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("only root can mount")
    mount = ["mount", "-t", "tmpfs", "-o", "size=6m", "hbstore-test", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_disk_that_is_full(small_disk):
    rows = ordered_rows.connect(small_disk / "store.db")
    rows.write(batch(0), [], 1)
    write_until(rows, StoreFull)
    rows.close()
    rows = ordered_rows.connect(small_disk / "store.db")
    assert rows.count(*EVERYTHING) > 50
    rows.close()


@pytest.fixture
def shop_on_a_full_disk(small_disk, monkeypatch):
    """A store that is open, with a reserve."""
    monkeypatch.setattr(reserve, "PLENTY", 0)
    monkeypatch.setattr(reserve, "SIZE", 2 << 20)
    store = connect(f"sqlite://{small_disk / 'store.db'}")
    store.create_database("shop")
    store.create_table(Table("shop", "sales", partition_columns=[Column("n", "int")]))
    store.table("shop.sales").add(Partition((str(n),)) for n in range(500))
    store.rows.keep_reserve()
    yield store
    store.close()


def fill(folder):
    with suppress(OSError), (folder / "filler").open("wb", buffering=0) as file:
        while file.write(bytes(1 << 12)):
            pass


def test_what_is_removed_takes_the_reserve_of_a_full_disk(shop_on_a_full_disk, small_disk):
    sales = shop_on_a_full_disk.table("shop.sales")
    fill(small_disk)
    added = ([Partition((str(n),))] for n in range(500, 5_000))
    with pytest.raises(StoreFull):  # not at once: what an earlier change left beside the file has some room
        deque(map(sales.add, added), maxlen=0)
    assert (small_disk / "store.db-reserve").exists(), "adding takes none of it"
    there = sales.count()
    assert sales.drop([(str(n),) for n in range(400)]) == 400
    assert sales.count() == there - 400
    assert not (small_disk / "store.db-reserve").exists()


def test_a_store_is_opened_on_a_full_disk_by_a_part_of_the_reserve(shop_on_a_full_disk, small_disk):
    shop_on_a_full_disk.close()
    fill(small_disk)
    with connect(f"sqlite://{small_disk / 'store.db'}") as store:
        sales = store.table("shop.sales")
        assert sales.count() == 500
        assert (small_disk / "store.db-reserve").stat().st_size == 1 << 20
        fill(small_disk)  # what opening left of its part
        assert sales.drop([(str(n),) for n in range(400)]) == 400
    with connect(f"sqlite://{small_disk / 'store.db'}") as store:
        assert store.table("shop.sales").count() == 100


def test_a_reserve_is_kept_where_the_disk_has_plenty_of_room(path, monkeypatch):
    monkeypatch.setattr(reserve, "SIZE", 1 << 10)
    beside = Path(f"{path}-reserve")
    with connect(f"sqlite://{path}") as store:
        monkeypatch.setattr(reserve, "PLENTY", 1 << 60)
        store.rows.keep_reserve()
        assert not beside.exists()
        monkeypatch.setattr(reserve, "PLENTY", 1)
        store.rows.keep_reserve()
        beside.write_bytes(beside.read_bytes()[:10])
        store.rows.keep_reserve()
        assert beside.stat().st_size == 1 << 10
        assert store.rows.use_reserve()
        assert not store.rows.use_reserve()


def test_no_space_to_create_a_store(small_disk):
    (small_disk / "filler").write_bytes(b"x" * (6 << 20))
    with pytest.raises((StoreFull, StoreUnavailable)):
        ordered_rows.connect(small_disk / "store.db")
    (small_disk / "filler").unlink()
    rows = ordered_rows.connect(small_disk / "store.db")
    rows.write(batch(0), [], 1)
    rows.close()


def test_locked_beyond_the_timeout(rows, path):
    other = ordered_rows.connect(f"sqlite://{path}?timeout=0.1")
    with rows.transaction():
        rows.write(batch(1), [], 1)
        for attempt in (
            lambda: other.write(batch(2), [], 1),
            lambda: other.compare_and_put(b"D shop", "d:def", b"1", b"2"),
            lambda: other.transaction().__enter__(),
        ):
            with pytest.raises(StoreUnavailable, match="locked") as caught:
                attempt()
            assert "timeout" in caught.value.hint
        assert other.count(*EVERYTHING) == 50
    assert other.count(*EVERYTHING) == 100
    assert other.get(b"D shop") == {"d:def": b"1"}
    other.write(batch(2), [], 1)
    other.close()


def test_waiting_for_a_lock(rows, path):
    other = ordered_rows.connect(path)
    waiting = threading.Thread(target=lambda: other.write(batch(1), [], 1))
    with rows.transaction():
        waiting.start()
        waiting.join(0.1)
        assert waiting.is_alive()
    waiting.join()
    assert rows.count(*EVERYTHING) == 100
    other.close()


def test_a_snapshot_is_not_in_writers_way(rows, path):
    other = ordered_rows.connect(f"sqlite://{path}?timeout=0.1")
    with other.snapshot():
        rows.write(batch(1), [], 1)
        assert other.count(*EVERYTHING) == 50
    assert other.count(*EVERYTHING) == 100
    other.close()


def test_a_connection_that_may_only_read(rows):
    with rows._connections.mine() as sqlite:
        sqlite.execute("PRAGMA query_only = ON")
    with pytest.raises(StoreReadOnly):
        rows.write(batch(1), [], 1)


def test_closing_interrupts_other_threads(rows):
    started, failures = threading.Event(), []

    class Pattern:
        parts = ()

        def matches(self, _text):
            started.set()
            return False

    class NoType:
        width = 1

        def decode(self, _payload):
            return 0

        def text(self, _value):
            return ""

    in_thread(lambda: rows.write([PartitionRow(b"%09d" % at, (b"\x02a",), b"") for at in range(200_000)], [], 1))

    def search():
        try:
            while True:
                rows.count(*EVERYTHING, CellLike(0, Pattern(), NoType()))
        except StoreUnavailable as error:
            failures.append(error)

    thread = threading.Thread(target=search)
    thread.start()
    started.wait()
    rows.close()
    thread.join(60)
    assert not thread.is_alive()
    assert len(failures) == 1


def test_connections_of_threads_that_ended_are_closed(rows, path):
    rows.close()
    rows = ordered_rows.connect(path)
    for _ in range(20):
        in_thread(lambda: rows.get(b"D shop"))
    if os.path.isdir("/proc/self/fd"):  # noqa: PTH112
        names = [os.path.realpath(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")]  # noqa: PTH208
        assert names.count(str(path.resolve())) <= 3  # SQLite keeps one or two for later
    rows.close()
