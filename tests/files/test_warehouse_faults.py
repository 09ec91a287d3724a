"""File systems that fail, are missing, or are used by several at once."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fsspec.implementations.memory import MemoryFileSystem
from pyarrow.fs import PyFileSystem

from hbstore.errors import FileOperationFailed, StoreUnavailable
from hbstore.files.new_folders import making_folders
from hbstore.files.remote_files import RemoteFiles, open_remote
from hbstore.files.warehouse import Warehouse
from tests.files.warehouses import Copying, world


@pytest.fixture
def wh(tmp_path):
    return Warehouse(str(tmp_path / "wh"))


def test_nothing_is_imported_for_local_files():
    code = (
        "import sys; from hbstore.files.warehouse import Warehouse; Warehouse('/wh').exists('/wh/x');"
        " print({'pyarrow', 'fsspec'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


@pytest.mark.parametrize(("missing", "text"), [("pyarrow", "pyarrow is not installed"), ("fsspec", "not installed")])
def test_a_missing_package_is_named(monkeypatch, missing, text):
    for module in [name for name in sys.modules if name.split(".")[0] == missing]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(FileOperationFailed, match=text) as raised:
        Warehouse("memory://bucket/wh").make_folder("memory://bucket/wh/t")
    assert "[files]" in raised.value.hint


@pytest.mark.parametrize("scheme", ["local", "ftp", "http", "simplecache", "memory", "x"])
def test_clients_choose_among_known_file_systems(wh, tmp_path, scheme):
    (tmp_path / "t").mkdir()
    location = f"{scheme}://{tmp_path}/t"
    for call in (wh.exists, wh.make_folder, lambda place: wh.delete(place, inside=[place], purge=True)):
        with pytest.raises(FileOperationFailed, match="the scheme of the location is unknown"):
            call(location)
    assert (tmp_path / "t").is_dir()


def test_the_warehouse_may_be_on_any_file_system():
    with pytest.raises(FileOperationFailed, match="no library can open this file system"):
        Warehouse("nosuchthing://bucket/wh").exists("nosuchthing://bucket/wh")


def test_s3_is_pyarrows_under_all_its_names(monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")  # so that it does not ask for the bucket's region
    for scheme in ("s3", "s3a", "s3n"):
        assert open_remote(scheme, "bucket")._fs.type_name == "s3"


def test_a_remote_file_system_that_does_not_answer_is_told(monkeypatch):
    for name, value in {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(FileOperationFailed, match="folder cannot be made"):
        Warehouse("s3://bucket/wh").make_folder("s3://bucket/wh/t")


def test_what_the_machine_refuses_is_told(wh, tmp_path):
    (tmp_path / "wh").mkdir()
    (tmp_path / "wh" / "file").touch()
    too_long = f"{wh.root}/{'x' * 300}"
    for call in (
        lambda: wh.make_folder(too_long),
        lambda: wh.make_folder(f"{wh.root}/file/below"),
        lambda: wh.delete(too_long, inside=[], purge=True),
        lambda: wh.move(f"{wh.root}/file", too_long, inside=[]),
        lambda: wh.move(f"{wh.root}/file", f"{wh.root}/file2/../file/x", inside=[]),
    ):
        with pytest.raises(FileOperationFailed) as raised:
            call()
        assert raised.value.hint
        assert raised.value.fields["location"]
        assert raised.value.fields["reason"]
    assert [path.name for path in (tmp_path / "wh").iterdir()] == ["file"]


def test_a_tree_deeper_than_python_recurses_is_refused_or_removed(wh, tmp_path):
    """Either is fine; what must not be is any other error, or a stop of the process."""
    (tmp_path / "wh" / "deep").mkdir(parents=True)
    folder = os.open(tmp_path / "wh" / "deep", os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=folder)
        inner = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    try:
        assert wh.delete(f"{wh.root}/deep", inside=[], purge=True)
    except FileOperationFailed:
        subprocess.run(["rm", "-rf", str(tmp_path / "wh" / "deep")], check=True)
    assert not wh.exists(f"{wh.root}/deep")


class FailsInTheMiddle(Copying):
    """Copies one file, then none."""

    def __init__(self, fs):
        super().__init__(fs)
        self.copied = 0

    def copy_file(self, src, dest):
        self.copied += 1
        if self.copied > 1:
            raise OSError("the connection broke")
        super().copy_file(src, dest)


@pytest.fixture
def half_copied(tmp_path):
    """A folder ``t`` of five files, of which one was copied to ``u`` when the connection broke."""
    here = world("copying", tmp_path)
    broken = PyFileSystem(FailsInTheMiddle(MemoryFileSystem()))
    here.warehouse._systems._open["test", "bucket"] = RemoteFiles(broken, here.base)
    for number in range(5):
        here.write(f"{here.warehouse.root}/t/{number}")
    with pytest.raises(FileOperationFailed, match="connection broke"):
        here.warehouse.move(f"{here.warehouse.root}/t", f"{here.warehouse.root}/u", inside=[])
    here.warehouse._systems._open["test", "bucket"] = RemoteFiles(PyFileSystem(Copying(MemoryFileSystem())), here.base)
    return here


def test_a_copy_that_fails_leaves_the_source_whole_and_is_gone_on_with(half_copied):
    wh = half_copied.warehouse
    assert sum(name.startswith("wh/t/") for name in half_copied.files()) == 5
    with pytest.raises(FileOperationFailed, match="already exists"):
        wh.move(f"{wh.root}/t", f"{wh.root}/u", inside=[])
    half_copied.write(f"{wh.root}/t/late", b"written meanwhile")
    assert wh.move(f"{wh.root}/t", f"{wh.root}/u", inside=[], again=True)
    moved = {f"wh/u/{number}": b"data" for number in range(5)}
    assert half_copied.files() == moved | {"wh/u/late": b"written meanwhile"}
    assert not wh.move(f"{wh.root}/t", f"{wh.root}/u", inside=[], again=True)


def test_a_source_stays_whose_copies_another_process_removes(half_copied, monkeypatch):
    wh, copy_file = half_copied.warehouse, Copying.copy_file

    def copied_and_removed(self, src, dest):
        copy_file(self, src, dest)
        self.delete_file(dest)

    monkeypatch.setattr(Copying, "copy_file", copied_and_removed)
    with pytest.raises(FileOperationFailed, match="removed copies"):
        wh.move(f"{wh.root}/t", f"{wh.root}/u", inside=[], again=True)
    assert sum(name.startswith("wh/t/") for name in half_copied.files()) == 5


def test_a_copy_takes_no_other_file_for_its_own(half_copied):
    wh = half_copied.warehouse
    half_copied.write(f"{wh.root}/u/3", b"of somebody else")
    before = half_copied.files()
    with pytest.raises(FileOperationFailed, match="another file"):
        wh.move(f"{wh.root}/t", f"{wh.root}/u", inside=[], again=True)
    assert half_copied.files() == before


def test_many_remove_one_tree(wh, tmp_path):
    for _ in range(20):
        for number in range(200):
            Path(tmp_path, "wh", "t", f"p={number % 10}", f"q={number}").mkdir(parents=True)
        start = threading.Barrier(4)

        def remove(start=start):
            start.wait()
            return wh.delete(f"{wh.root}/t", inside=[], purge=True)

        with ThreadPoolExecutor(4) as pool:
            removed = [future.result() for future in [pool.submit(remove) for _ in range(4)]]
        assert any(removed)
        assert not wh.exists(f"{wh.root}/t")


def test_folders_that_are_made_and_unmade_at_once(wh):
    """A call that fails removes the empty folders above its own: others that need them make them again."""
    start = threading.Barrier(4)

    def failing(number):
        start.wait()
        for _ in range(200):
            with pytest.raises(StoreUnavailable), making_folders(wh, [f"{wh.root}/t/ds=1/hour={number}"], list):
                raise StoreUnavailable("gone")

    def working(number):
        start.wait()
        for minute in range(200):
            with making_folders(wh, [location := f"{wh.root}/t/ds=1/minute={minute}-{number}"], list) as made:
                assert made == [True]
                assert wh.exists(location)
            wh.delete(location, inside=[], purge=True)
            wh.delete_empty_parents(location, below=wh.root)

    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(job, number) for number, job in enumerate((failing, failing, working, working))]
        for future in futures:
            future.result()
    assert not wh.exists(f"{wh.root}/t/ds=1")
