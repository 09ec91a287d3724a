"""Which files are opened, which are turned away, and that those are left as they were."""

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys

import pytest

from hbstore import rows as ordered_rows
from hbstore.errors import CorruptRow, NotAStore, StoreReadOnly, StoreUnavailable
from hbstore.keys.row_key import text_cell
from hbstore.keys.types import parse_type
from hbstore.rows.format_number import FORMAT
from hbstore.rows.interface import PartitionRow
from hbstore.rows.predicate import CellIn, CellLike
from hbstore.rows.sqlite.backup import restore
from hbstore.rows.sqlite.file import APPLICATION_ID, PAGE_SIZE, parse_sqlite_url
from hbstore.rows.urls import parse_url
from hbstore.texts.like import parse_like
from tests.rows.contract import read

ROW = PartitionRow(b"a\0b\0key", (b"\x02a\0",), b"payload")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def store(path):
    """A file with one partition row and one catalog row."""
    rows = ordered_rows.connect(path)
    rows.write([ROW], [], 1)
    rows.compare_and_put(b"D shop", "d:def", None, b"1")
    rows.close()
    return path


def fingerprint(folder):
    return {entry.name: hashlib.sha256(entry.read_bytes()).hexdigest() for entry in sorted(folder.iterdir())}


def write_in_transaction(rows, row=ROW, error=None):
    with rows.transaction():
        rows.write([row], [], 2)
        if error is not None:
            raise error


def assert_turned_away(path, error=NotAStore):
    before = fingerprint(path.parent)
    for mode in ("rw", "ro", "immutable"):
        with pytest.raises(error) as caught:
            ordered_rows.connect(f"sqlite://{path}?mode={mode}")
        assert caught.value.hint
    assert fingerprint(path.parent) == before


def test_a_new_store(store):
    assert not list(store.parent.glob("store.db-*"))
    sqlite = sqlite3.connect(store)
    values = {name: sqlite.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")}
    assert values == {"application_id": APPLICATION_ID, "user_version": FORMAT}
    assert sqlite.execute("PRAGMA page_size").fetchone() == (PAGE_SIZE,)
    assert sqlite.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    names = [name for _, name, *_ in sqlite.execute("PRAGMA table_info(partitions)")]
    assert names == ["key", *(f"k{column}" for column in range(8)), "payload"]
    assert sqlite.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    sqlite.close()


def test_every_connection_syncs_its_commits(store):
    rows = ordered_rows.connect(store)
    with rows._connections.mine() as sqlite:
        assert sqlite.execute("PRAGMA synchronous").fetchone() == (2,)
    rows.close()


def test_an_empty_file_becomes_a_store(path):
    path.touch()
    rows = ordered_rows.connect(path)
    rows.write([ROW], [], 1)
    rows.close()
    assert read(ordered_rows.connect(path), b"", b"\xff") == [(ROW.key, ROW.payload)]


@pytest.mark.parametrize("content", [b"key,value\n1,2\n", b"\0", b"SQLite format 4\0" * 1000, os.urandom(20_000)])
def test_not_a_database(path, content):
    path.write_bytes(content)
    assert_turned_away(path)


@pytest.mark.parametrize("journal_mode", ["delete", "wal"])
@pytest.mark.parametrize("application_id", [0, 7])
def test_another_programs_database(path, journal_mode, application_id):
    sqlite = sqlite3.connect(path)
    sqlite.execute(f"PRAGMA journal_mode = {journal_mode}")
    sqlite.execute(f"PRAGMA application_id = {application_id}")
    sqlite.execute("CREATE TABLE theirs (x)")
    sqlite.execute("PRAGMA user_version = 99")
    sqlite.close()
    assert_turned_away(path)


def test_another_programs_database_that_is_in_use(path):
    sqlite = sqlite3.connect(path)
    sqlite.execute("PRAGMA journal_mode = wal")
    sqlite.execute("CREATE TABLE theirs (x)")
    assert_turned_away(path)
    sqlite.close()


@pytest.mark.parametrize(("number", "what_to_do"), [(FORMAT + 1, "upgrade hbstore"), (1, "hbstore import")])
def test_a_store_of_another_version(store, number, what_to_do):
    sqlite = sqlite3.connect(store)
    sqlite.execute(f"PRAGMA user_version = {number}")
    sqlite.close()
    assert_turned_away(store)
    with pytest.raises(NotAStore, match=what_to_do) as caught:
        ordered_rows.connect(store)
    assert caught.value.fields == {"store": str(store), "version": number, "supported": FORMAT}


def test_a_damaged_file(store):
    content = bytearray(store.read_bytes())
    content[PAGE_SIZE : 3 * PAGE_SIZE] = b"\x55" * (2 * PAGE_SIZE)
    store.write_bytes(content)
    rows = ordered_rows.connect(store)
    with pytest.raises(CorruptRow):
        read(rows, b"", b"\xff")
    rows.close()


def test_a_folder_and_a_missing_folder(tmp_path):
    with pytest.raises(NotAStore):
        ordered_rows.connect(tmp_path)
    with pytest.raises(StoreUnavailable, match="mkdir"):
        ordered_rows.connect(tmp_path / "missing" / "store.db")


@pytest.mark.parametrize("create", [True, False])
def test_what_is_no_regular_file(path, create):
    os.mkfifo(path)
    for place in (path, "/dev/null"):
        with pytest.raises(NotAStore, match="not a regular file") as caught:
            ordered_rows.connect(place, create=create)
        assert caught.value.hint
    assert path.is_fifo()


def test_a_path_that_is_no_text(tmp_path):
    path = tmp_path / os.fsdecode(b"\xff?%.db")
    for value in (b"1", b"2"):
        rows = ordered_rows.connect(path)
        assert rows.compare_and_put(b"D shop", "d:def", None if value == b"1" else b"1", value)
        rows.close()
    assert list(tmp_path.iterdir()) == [path]


def test_read_only_needs_a_store(path):
    with pytest.raises(StoreUnavailable, match="the store does not exist"):
        ordered_rows.connect(f"sqlite://{path}?mode=ro")
    path.touch()
    with pytest.raises(NotAStore):
        ordered_rows.connect(f"sqlite://{path}?mode=ro")
    assert path.stat().st_size == 0


@pytest.mark.parametrize("mode", ["ro", "immutable"])
def test_read_only(store, mode):
    rows = ordered_rows.connect(f"sqlite://{store}?mode={mode}")
    assert rows.get(b"D shop") == {"d:def": b"1"}
    with rows.snapshot():
        assert read(rows, b"", b"\xff") == [(ROW.key, ROW.payload)]
    with pytest.raises(StoreReadOnly):
        rows.write([ROW._replace(payload=b"new")], [], 2)
    with pytest.raises(StoreReadOnly):
        rows.compare_and_put(b"D shop", "d:def", b"1", b"2")
    with pytest.raises(StoreReadOnly):
        write_in_transaction(rows)
    assert read(rows, b"", b"\xff") == [(ROW.key, ROW.payload)]
    rows.close()


def test_a_file_is_not_taken_for_all_of_a_store_that_was_open(store, tmp_path):
    rows = ordered_rows.connect(store)
    rows.write([ROW._replace(payload=b"new")], [], 2)
    copy = tmp_path / "copy.db"
    for suffix in ("", "-wal"):
        shutil.copy(f"{store}{suffix}", f"{copy}{suffix}")
    rows.close()
    with pytest.raises(StoreUnavailable, match="written last is not in the file"):
        ordered_rows.connect(f"sqlite://{copy}?mode=immutable")
    with pytest.raises(StoreUnavailable, match="It is no backup"):
        restore(copy, parse_sqlite_url(parse_url(str(tmp_path / "restored.db"))))
    rows = ordered_rows.connect(copy)  # brings both together
    assert read(rows, b"", b"\xff") == [(ROW.key, b"new")]
    rows.close()


def test_read_only_sees_what_others_write(store):
    writer, reader = ordered_rows.connect(store), ordered_rows.connect(f"sqlite://{store}?mode=ro")
    writer.write([ROW._replace(payload=b"new")], [], 2)
    assert read(reader, b"", b"\xff") == [(ROW.key, b"new")]
    writer.close()
    reader.close()


_AS_SOMEONE = """
import os, sys
from hbstore import rows
from hbstore.errors import HbstoreError
from hbstore.rows.sqlite import rows as sqlite_rows
os.setgid(65534)
os.setuid(65534)
try:
    found = rows.connect(sys.argv[1])
    print(found.get(b"D shop"))
    found.compare_and_put(b"D shop", "d:def", b"1", b"2")
except HbstoreError as error:
    print(type(error).__name__, error)
"""


def as_someone_else(url):
    """What a user prints who owns nothing."""
    if os.geteuid() != 0:
        pytest.skip("only root can become someone else")
    command = [sys.executable, "-c", _AS_SOMEONE, url]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()


def open_up(folder, mode):
    folder.chmod(mode)
    for parent in folder.parents:
        if parent.stat().st_mode & 0o005 != 0o005:
            parent.chmod(parent.stat().st_mode | 0o005)
        if parent.name.startswith("pytest-of"):
            break


def test_a_new_store_is_its_users_alone(tmp_path):
    before = os.umask(0)
    try:
        rows = ordered_rows.connect(tmp_path / "new.db")
        rows.write([ROW], [], 1)
        assert {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {
            "new.db": 0o600,
            "new.db-shm": 0o600,
            "new.db-wal": 0o600,
        }
        rows.close()
    finally:
        os.umask(before)


def test_a_file_that_may_only_be_read(store):
    open_up(store.parent, 0o777)
    store.chmod(0o644)
    found = as_someone_else(str(store))
    assert found[0] == "{'d:def': b'1'}"
    assert found[1].startswith("StoreReadOnly")


def test_a_folder_that_may_only_be_read(store):
    open_up(store.parent, 0o755)
    store.chmod(0o644)
    found = as_someone_else(f"sqlite://{store}?mode=ro")
    assert found[0].startswith("StoreUnavailable")
    assert "mode=immutable" in found[0]
    found = as_someone_else(f"sqlite://{store}?mode=immutable")
    assert found[0] == "{'d:def': b'1'}"
    assert found[1].startswith("StoreReadOnly")


def test_a_folder_that_may_not_be_entered(store):
    open_up(store.parent, 0o700)
    (line,) = as_someone_else(str(store))
    assert line.startswith("StoreUnavailable the store cannot be opened: ")
    assert "Permission denied" in line


def test_a_name_that_is_too_long(tmp_path):
    with pytest.raises(StoreUnavailable, match=r"cannot be opened: .*too long"):
        ordered_rows.connect(f"sqlite://{tmp_path}/{'n' * 256}.db")


def test_a_file_that_went_away(store):
    rows = ordered_rows.connect(store)
    store.unlink()
    with pytest.raises(StoreUnavailable):
        rows.get(b"D shop")
    assert not store.exists()


def test_a_copy_of_a_closed_store_is_a_store(store, tmp_path):
    shutil.copy(store, tmp_path / "copy.db")
    rows = ordered_rows.connect(tmp_path / "copy.db")
    assert read(rows, b"", b"\xff") == [(ROW.key, ROW.payload)]
    rows.close()


def test_columns_that_another_connection_added(store):
    number = parse_type("int")
    wide = PartitionRow(b"a\0b\0wide", tuple(text_cell(number, str(at)) for at in range(20)), b"wide")
    residual = CellIn(19, ((wide.cells[19], wide.cells[19] + b"\0"),))
    one, two = ordered_rows.connect(store), ordered_rows.connect(store)
    assert list(one.whole_rows(b"", b"\xff")) == [ROW]
    assert one.count(b"", b"\xff", residual) == 0
    two.write([wide], [], 2)
    assert one.count(b"", b"\xff", residual) == 1
    assert list(one.whole_rows(b"", b"\xff")) == [ROW, wide]
    one.write([wide._replace(key=b"a\0b\0wider", cells=(*wide.cells, b"\x01"))], [wide.key], 3)
    assert [len(row.cells) for row in two.whole_rows(b"", b"\xff")] == [1, 21]
    one.close()
    two.close()


def test_columns_added_in_a_transaction_that_failed(store):
    wide = PartitionRow(b"a\0b\0wide", (b"\x01",) * 12, b"wide")
    rows = ordered_rows.connect(store)
    with pytest.raises(InterruptedError):
        write_in_transaction(rows, wide, InterruptedError())
    assert list(rows.whole_rows(b"", b"\xff")) == [ROW]
    rows.write([wide], [], 2)
    assert list(rows.whole_rows(b"", b"\xff")) == [ROW, wide]
    rows.close()


def test_a_cell_that_does_not_decode_is_a_corrupt_row(store):
    rows = ordered_rows.connect(store)
    rows.write([ROW._replace(cells=(b"\x02\xff\xfe\0",))], [], 2)
    like = CellLike(0, parse_like("_b%", "sql"), parse_type("string"))
    assert read(rows, b"", b"\xff", like) == []
    with pytest.raises(CorruptRow):
        read(rows, b"", b"\xff", CellLike(0, parse_like("_%", "sql"), parse_type("string")))
    assert rows.count(b"", b"\xff") == 1
    rows.close()
