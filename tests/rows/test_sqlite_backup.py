"""Backups of a store in a file: one moment of what writers do, verified, and whole or not there after a kill."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hbstore import (
    Column,
    CorruptRow,
    InvalidInput,
    NotAStore,
    Partition,
    StoreBusy,
    StoreUnavailable,
    Table,
    connect,
)
from hbstore.rows.sqlite.backup import back_up, restore
from hbstore.rows.sqlite.file import parse_sqlite_url
from hbstore.rows.urls import parse_url
from tests.pauses import until
from tests.processes import ROOT

WRITERS = 4
WRITER = """
import sys
from hbstore import Partition, connect
number, path = int(sys.argv[1]), sys.argv[2]
mine, before = f"shop.t{number}", f"shop.t{(number - 1) % 4}"
with connect(f"sqlite://{path}") as store:
    for value in range(100_000):
        while number and store.table(before).count(f"n = {value}") == 0:
            pass
        while not number and value and store.table("shop.t3").count(f"n = {value - 1}") == 0:
            pass
        store.table(mine).add([Partition((str(value),))])
"""
"""Writes the partitions 0, 1, … of its table, each after the writer before it has written its own."""


def file_of(path):
    return parse_sqlite_url(parse_url(str(path)))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "catalog.db"
    with connect(f"sqlite://{path}") as store:
        store.create_database("shop")
        for number in range(WRITERS):
            store.create_table(Table("shop", f"t{number}", partition_columns=[Column("n", "int")]))
    return path


def values(path):
    """The partitions of each table, in order."""
    with connect(f"sqlite://{path}", create=False) as store:
        assert not [one for number in range(WRITERS) for one in store.check("shop", f"t{number}") if one]
        return [
            [int(one.values[0]) for one in store.table(f"shop.t{number}").partitions()] for number in range(WRITERS)
        ]


def add(path, *numbers):
    with connect(f"sqlite://{path}") as store:
        store.table("shop.t0").add([Partition((str(number),)) for number in numbers])


def test_a_backup_under_writers_is_one_moment_of_their_history(path, tmp_path):
    command = [sys.executable, "-c", WRITER]
    writers = [subprocess.Popen([*command, str(number), str(path)], cwd=ROOT) for number in range(WRITERS)]
    try:
        backups = []
        with connect(f"sqlite://{path}") as store:
            for number in range(12):
                until(lambda: store.table("shop.t3").count() > 3 * number)  # noqa: B023  called here
                backups.append(back_up(file_of(path), tmp_path / f"{number}.db").path)
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
    seen = []
    for number, one in enumerate(backups):
        again = tmp_path / f"again{number}.db"
        restore(one, file_of(again))
        found = values(again)
        counts = [len(numbers) for numbers in found]
        assert found == [list(range(count)) for count in counts]
        assert counts == sorted(counts, reverse=True)
        assert counts[0] - counts[-1] <= 1
        seen.append(sum(counts))
    assert seen == sorted(seen)
    assert len(set(seen)) > 1


def test_a_backup_is_one_file_that_has_what_was_in_the_log(path, tmp_path):
    with connect(f"sqlite://{path}") as store:
        store.table("shop.t0").add([Partition(("1",))])
        copied = back_up(file_of(path), tmp_path / "copy.db")
        assert (tmp_path / "catalog.db-wal").stat().st_size > 0
    assert copied.size == copied.path.stat().st_size
    assert sorted(one.name for one in tmp_path.iterdir() if one.name.startswith("copy")) == ["copy.db"]
    assert values(copied.path)[0] == [1]


def test_in_a_folder_it_is_named_after_the_store_and_the_time(path, tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    copied = back_up(file_of(path), folder, datetime(2013, 1, 1, 5, tzinfo=UTC))
    assert copied.path == folder / "catalog-20130101T050000Z.db"


def test_a_backup_takes_no_file_s_place(path, tmp_path):
    (tmp_path / "there").write_text("mine")
    with pytest.raises(InvalidInput, match="there already"):
        back_up(file_of(path), tmp_path / "there")
    assert (tmp_path / "there").read_text() == "mine"
    with pytest.raises(StoreUnavailable, match="mkdir -p"):
        back_up(file_of(path), tmp_path / "no" / "copy.db")
    with pytest.raises(StoreUnavailable, match=r"mkdir -p \S+/backups;.*backups\.db"):
        back_up(file_of(path), tmp_path / "backups")
    assert not (tmp_path / "backups").exists()
    with pytest.raises(StoreUnavailable, match="does not exist"):
        back_up(file_of(tmp_path / "no.db"), tmp_path / "copy.db")


def test_a_store_is_restored_to_what_it_was(path, tmp_path):
    add(path, 1, 2)
    copied = back_up(file_of(path), tmp_path / "copy.db")
    add(path, 3)
    with pytest.raises(InvalidInput, match="--replace"):
        restore(copied.path, file_of(path))
    assert values(path)[0] == [1, 2, 3]
    restore(copied.path, file_of(path), replace=True)
    assert values(path)[0] == [1, 2]
    add(path, 4)
    assert values(path)[0] == [1, 2, 4]
    assert values(copied.path)[0] == [1, 2]


def test_a_store_that_is_open_is_not_replaced(path, tmp_path):
    copied = back_up(file_of(path), tmp_path / "copy.db")
    with connect(f"sqlite://{path}") as store:
        store.table("shop.t0").add([Partition(("3",))])
        with pytest.raises(StoreBusy, match="open in a process"):
            restore(copied.path, file_of(path), replace=True)
        assert store.table("shop.t0").count() == 1
    restore(copied.path, file_of(path), replace=True)
    assert values(path)[0] == []


def test_what_is_no_backup_is_refused(path, tmp_path):
    target = file_of(tmp_path / "new.db")
    with pytest.raises(StoreUnavailable, match="the backup does not exist"):
        restore(tmp_path / "no.db", target)
    (tmp_path / "text").write_text("no backup" * 1000)
    with pytest.raises(NotAStore):
        restore(tmp_path / "text", target)
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE a (b)")
    other.close()
    with pytest.raises(NotAStore):
        restore(tmp_path / "other.db", target)
    copied = back_up(file_of(path), tmp_path / "copy.db").path
    later = sqlite3.connect(copied)
    later.execute("PRAGMA user_version = 99")
    later.close()
    with pytest.raises(NotAStore, match="newer version"):
        restore(copied, target)
    assert not Path(target.path).exists()
    with pytest.raises(NotAStore, match="another program"):
        restore(back_up(file_of(path), tmp_path / "good.db").path, file_of(tmp_path / "other.db"), replace=True)


def test_a_damaged_backup_is_refused_and_the_store_stays(path, tmp_path):
    add(path, *range(20_000))
    copied = back_up(file_of(path), tmp_path / "copy.db").path
    with copied.open("r+b") as file:
        file.seek(copied.stat().st_size // 2)
        file.write(b"\xff" * 65_536)
    add(path, 20_000)
    with pytest.raises(CorruptRow, match="damaged"):
        restore(copied, file_of(path), replace=True)
    assert len(values(path)[0]) == 20_001


LARGE = 30_000


@pytest.fixture
def large(path):
    """The store with partitions enough for a kill on the way."""
    add(path, *range(LARGE))
    return path


def killed(size, *words):
    """Run a command of hbstore and kill it when a size of a file is reached; whether it had ended before."""
    process = subprocess.Popen([sys.executable, "-m", "hbstore", *words], cwd=ROOT, stdout=subprocess.DEVNULL)
    until(lambda: size() or process.poll() is not None)
    process.kill()
    return process.wait() == 0


def has(folder, pattern, size):
    """Whether a file of the folder has a size."""
    for path in folder.glob(pattern):
        with suppress(FileNotFoundError):
            if path.stat().st_size >= size:
                return True
    return False


def test_a_backup_that_is_killed_is_whole_or_not_there(large, tmp_path):
    whole = back_up(file_of(large), tmp_path / "first.db").size
    ended = []
    for step in range(6):
        target = tmp_path / f"{step}.db"
        words = ("--store", str(large), "backup", str(target))
        ended.append(killed(lambda: has(tmp_path, f".{step}.db.*", whole * step // 5), *words))  # noqa: B023
        assert target.exists() or not ended[-1]
        if target.exists():
            assert len(values(target)[0]) == LARGE
    assert not all(ended)


def test_a_restore_that_is_killed_leaves_the_old_store_or_the_new_one(large, tmp_path):
    copied = back_up(file_of(large), tmp_path / "copy.db")
    words = ("--store", str(large), "restore", str(copied.path), "--replace")
    ended = []
    for step in range(6):
        add(large, LARGE)
        ended.append(killed(lambda: has(tmp_path, "catalog.db-*", copied.size * step // 5 + 1), *words))  # noqa: B023
        assert len(values(large)[0]) in ((LARGE,) if ended[-1] else (LARGE, LARGE + 1))
        restore(copied.path, file_of(large), replace=True)
    assert not all(ended)
